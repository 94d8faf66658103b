//! The global geometric pattern: affinities of samples, averaged over the sources.

use fewest_columns::{finite_values, parts, standardise};
use fewest_core::method::KernelWidth;
use fewest_core::{Context, Dataset, Error, FeatureKind, Views, room};
use fewest_linalg::{dot, transposed_products};
use fewest_neighbours::{DistanceMetric, heat_scale, standardised_distances};

/// Samples whose affinities are computed between two looks at the clock.
const STRETCH: usize = 256;

/// `S = 1/m Σᵥ Sᵥ`, with `(Sᵥ)ᵢⱼ = exp(−‖xᵢ − xⱼ‖² / tᵥ)` on the standardised features of view `v`: `n²`
/// numbers.
pub(super) struct Geometry {
    similarity: Vec<f64>,
    /// `S 1`.
    degrees: Vec<f64>,
    /// `1ᵀ S 1`.
    total: f64,
}

/// A column of a candidate as the covariance needs it.
pub(super) struct Centred {
    /// `x − 1 (xᵀS1 / 1ᵀS1)`, so that `S − S11ᵀS/1ᵀS1` is `S` for it.
    pub(super) values: Vec<f64>,
    /// `xᵀ D x` of the column of mean 0.
    pub(super) squared_length: f64,
}

impl Geometry {
    pub(super) fn new(
        data: &Dataset,
        views: &Views,
        scale: KernelWidth,
        context: &Context<'_>,
    ) -> Result<Self, Error> {
        let n = data.n_samples();
        let who = format!("the affinities of {n} samples");
        let mut similarity = room("affinities of all pairs of samples", &[n, n], &who, "take fewer samples")?;
        similarity.resize(n * n, 0.0);
        let share = 1.0 / views.n_views() as f64;
        for set in views.sets() {
            let view = data.feature_subset(&set)?;
            let distances = standardised_distances(&view, DistanceMetric::SquaredEuclidean, context)
                .map_err(|error| error.in_columns(&set))?;
            let t = heat_scale(scale, "t", &distances, context)?;
            for first in (0..n).step_by(STRETCH) {
                let rows = first..n.min(first + STRETCH);
                let affinities = distances.map_rows(rows, context, |_, distances| {
                    distances.iter().map(|distance| share * (-distance / t).exp()).collect::<Vec<f64>>()
                })?;
                for (row, affinities) in similarity[first * n..].chunks_exact_mut(n).zip(affinities) {
                    row.iter_mut().zip(affinities).for_each(|(sum, affinity)| *sum += affinity);
                }
            }
        }
        let degrees: Vec<f64> = similarity.chunks_exact(n).map(|row| row.iter().sum()).collect();
        let total = degrees.iter().sum();
        Ok(Self { similarity, degrees, total })
    }

    pub(super) fn n_samples(&self) -> usize {
        self.degrees.len()
    }

    /// The column with mean 0, prepared.
    pub(super) fn centred(&self, column: &[f64]) -> Centred {
        let shift = dot(column, &self.degrees) / self.total;
        Centred {
            values: column.iter().map(|value| value - shift).collect(),
            squared_length: column
                .iter()
                .zip(&self.degrees)
                .map(|(value, degree)| degree * value * value)
                .sum(),
        }
    }

    /// `S` times columns, one after the other.
    pub(super) fn product(&self, columns: &[f64]) -> Vec<f64> {
        transposed_products(&self.similarity, columns, self.n_samples())
    }
}

/// The columns of mean 0 that stand for feature `j`: none for a constant one, its values for a number or a
/// category of two levels, else an indicator for each level. `standard` brings each to standard deviation 1.
pub(super) fn columns_of(data: &Dataset, j: usize, standard: bool) -> Result<Vec<Vec<f64>>, Error> {
    let values = finite_values(data, j)?;
    let mut columns = parts(values, data.feature_kind(j));
    if matches!(data.feature_kind(j), FeatureKind::Categorical { .. }) && columns.len() <= 2 {
        // The other level is the opposite.
        columns.truncate(1);
    }
    let one = columns.len() == 1;
    columns.retain_mut(|column| {
        if standard || one {
            return standardise(column);
        }
        fewest_linalg::centre(column);
        column.iter().any(|value| *value != 0.0)
    });
    Ok(columns)
}
