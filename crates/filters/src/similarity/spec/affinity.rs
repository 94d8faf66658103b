//! The graph that joins all samples by a Gaussian of their distance.

use fewest_core::{Context, Error};
use fewest_kernels::exp_in_place;
use fewest_neighbours::Distances;
use nalgebra::{DMatrix, DVector};

/// Rows of the graph that are held at a time.
const BLOCK: usize = 512;
/// Rows of the graph in one product of matrices.
const STRIP: usize = 32;

/// `S_ij = exp(−d_ij² / 2σ²)` with `S_ii = 1`, never held as a whole.
pub(super) struct Affinity<'a> {
    distances: &'a Distances,
    factor: f64,
    roots: Vec<f64>,
}

impl<'a> Affinity<'a> {
    pub(super) fn new(
        distances: &'a Distances,
        sigma_squared: f64,
        context: &Context<'_>,
    ) -> Result<Self, Error> {
        let mut affinity =
            Self { distances, factor: (-0.5 / sigma_squared).max(f64::MIN), roots: Vec::new() };
        let n = distances.n_samples();
        affinity.roots =
            distances.map_rows(0..n, context, |_, row| affinity.row(row).iter().sum::<f64>().sqrt())?;
        Ok(affinity)
    }

    /// The row of `S` that belongs to these distances.
    fn row(&self, distances: &[f64]) -> Vec<f64> {
        let mut row: Vec<f64> = distances.iter().map(|distance| distance * self.factor).collect();
        exp_in_place(&mut row);
        row
    }

    /// The diagonal of `D^½`.
    pub(super) fn roots_of_degrees(&self) -> &[f64] {
        &self.roots
    }

    /// `ξ₁ = D^½ 1 / ‖D^½ 1‖`, which belongs to the eigenvalue 0 of `𝓛`.
    pub(super) fn trivial_eigenvector(&self) -> DVector<f64> {
        DVector::from_column_slice(&self.roots).normalize()
    }

    /// `Y D^−½ S D^−½` for the rows of `y`, each a value a sample.
    pub(super) fn normalised_product(
        &self,
        y: &DMatrix<f64>,
        context: &Context<'_>,
    ) -> Result<DMatrix<f64>, Error> {
        let n = self.roots.len();
        let mut product = DMatrix::zeros(y.nrows(), n);
        for start in (0..n).step_by(BLOCK) {
            let end = n.min(start + BLOCK);
            let rows = self.distances.map_rows(start..end, context, |i, distances| {
                let mut row = self.row(distances);
                let own = self.roots[i];
                row.iter_mut().zip(&self.roots).for_each(|(value, root)| *value /= own * root);
                row
            })?;
            let strips = fewest_parallel::map(rows.len().div_ceil(STRIP), |at| {
                let strip = &rows[at * STRIP..rows.len().min((at + 1) * STRIP)];
                y * DMatrix::from_fn(n, strip.len(), |j, i| strip[i][j])
            });
            let mut at = start;
            for strip in strips {
                product.columns_mut(at, strip.ncols()).copy_from(&strip);
                at += strip.ncols();
            }
            context.report("spec", end, n);
        }
        Ok(product)
    }
}
