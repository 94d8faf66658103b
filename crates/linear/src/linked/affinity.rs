//! How alike samples are by their attributes, and what lies between them.

use fewest_core::method::KernelWidth;
use fewest_core::{Context, Error, Graph, derive_seed};
use fewest_neighbours::median_above_zero;
use nalgebra::DMatrix;

use super::network::Network;
use crate::columns::LinearColumns;
use crate::lines::{Line, WIDTH, lines};
use crate::projections::{Between, FeatureRows};

/// Pairs of samples up to which all are compared.
const ALL_PAIRS: usize = 1 << 21;

/// Pairs compared by one task.
const PAIRS: usize = 1 << 14;

/// The affinity `exp(−d²/t)` of pairs of samples, as a graph.
pub(super) struct Affinity {
    pub(super) graph: Graph,
    pub(super) notes: Vec<String>,
}

impl Affinity {
    /// Of all pairs, or, where these are too many, of `per_sample` drawn ones for each sample, which then
    /// count for the others.
    pub(super) fn new(
        columns: &LinearColumns<'_>,
        rows: &FeatureRows,
        scale: KernelWidth,
        per_sample: usize,
        context: &Context<'_>,
    ) -> Result<Self, Error> {
        let n = columns.n_samples();
        let all = n * (n - 1) / 2;
        let mut notes = Vec::new();
        let pairs = if all <= ALL_PAIRS {
            (0..n).flat_map(|i| (i + 1..n).map(move |j| (i as u32, j as u32))).collect()
        } else {
            let pairs = drawn(n, per_sample.min(ALL_PAIRS / n.max(1) * 8).max(1), context.seed);
            notes
                .push(format!("the affinity of {} drawn pairs of samples counts for all {all}", pairs.len()));
            pairs
        };
        let squares = squared_distances(columns, rows, &pairs, context)?;
        let t = match scale {
            KernelWidth::Value(t) if t > 0.0 && t.is_finite() => t,
            KernelWidth::Value(t) => return Err(Error::parameter("t", t, "a finite number above 0")),
            KernelWidth::Median => match median_above_zero(squares.clone()) {
                median if median > 0.0 => median,
                _ => 1.0,
            },
            other => {
                return Err(Error::parameter("t", format!("{other:?}"), "a number above 0, or median"));
            }
        };
        let share = all as f64 / pairs.len().max(1) as f64;
        let links: Vec<(usize, usize, f64)> = pairs
            .into_iter()
            .zip(&squares)
            .map(|((i, j), square)| (i as usize, j as usize, share * (-square / t).exp()))
            .filter(|&(.., weight)| weight > 0.0)
            .collect();
        Ok(Self { graph: Graph::undirected(n, &links)?, notes })
    }
}

/// Different pairs, in order: about `per_sample` with each sample as their first or second.
fn drawn(n: usize, per_sample: usize, seed: u64) -> Vec<(u32, u32)> {
    let mut pairs = Vec::with_capacity(n * per_sample);
    for i in 0..n {
        for k in 0..per_sample {
            let random = derive_seed(derive_seed(seed, i as u64), k as u64);
            // One of the others, all alike but for a share of n / 2⁶⁴.
            let other = (random % (n as u64 - 1)) as usize;
            let j = if other >= i { other + 1 } else { other };
            pairs.push((i.min(j) as u32, i.max(j) as u32));
        }
    }
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

/// The squared distance of each pair on the standardised columns.
fn squared_distances(
    columns: &LinearColumns<'_>,
    rows: &FeatureRows,
    pairs: &[(u32, u32)],
    context: &Context<'_>,
) -> Result<Vec<f64>, Error> {
    let n = columns.n_samples();
    let mut squares = vec![0.0; pairs.len()];
    for panel in rows.columns.chunks(WIDTH) {
        context.go_on("samples were compared")?;
        let samples = lines(&columns.gather(panel)?, n);
        fewest_parallel::chunks(&mut squares, PAIRS, |at, out| {
            for (square, &(i, j)) in out.iter_mut().zip(&pairs[at * PAIRS..]) {
                let (Line(own), Line(other)) = (samples[i as usize], samples[j as usize]);
                // Halves onto each other, so that the additions do not wait for one another.
                let [a, b, c, d, e, f, g, h] =
                    std::array::from_fn(|k| (own[k] - other[k]) * (own[k] - other[k]));
                *square += ((a + e) + (c + g)) + ((b + f) + (d + h));
            }
        });
    }
    Ok(squares)
}

/// `K = L + α (I − F Fᵀ)`: attributes make samples alike, and links make them social dimensions `F`.
pub(super) struct SocialScatter<'a> {
    pub(super) affinity: Network<'a>,
    pub(super) alpha: f64,
    pub(super) dimensions: DMatrix<f64>,
}

impl SocialScatter<'_> {
    /// `xⱼᵀ K xⱼ` of the columns that vary.
    pub(super) fn diagonal_of_columns(
        &self,
        columns: &LinearColumns<'_>,
        rows: &FeatureRows,
        context: &Context<'_>,
    ) -> Result<Vec<f64>, Error> {
        let n = columns.n_samples();
        let mut diagonal = Vec::with_capacity(rows.len());
        for panel in rows.columns.chunks(WIDTH) {
            context.go_on("a first point was found")?;
            let samples = lines(&columns.gather(panel)?, n);
            let sums = self.affinity.squared_differences(&samples);
            diagonal.extend_from_slice(&sums[..panel.len()]);
        }
        let along = columns.products_with(&rows.columns, self.dimensions.as_slice())?;
        let width = self.dimensions.ncols();
        for (at, value) in diagonal.iter_mut().enumerate() {
            let inside: f64 = along[at * width..][..width].iter().map(|product| product * product).sum();
            *value += self.alpha * (n as f64 - inside).max(0.0);
        }
        Ok(diagonal)
    }
}

impl Between for SocialScatter<'_> {
    fn product(&self, v: &DMatrix<f64>) -> DMatrix<f64> {
        let inside = &self.dimensions * self.dimensions.tr_mul(v);
        self.affinity.laplacian_product(v) + (v - inside) * self.alpha
    }

    fn trace(&self) -> f64 {
        let n = self.affinity.n() as f64;
        self.affinity.degrees().iter().sum::<f64>() + self.alpha * (n - self.dimensions.norm_squared())
    }

    fn dense(&self) -> DMatrix<f64> {
        self.product(&DMatrix::identity(self.affinity.n(), self.affinity.n()))
    }
}

#[cfg(test)]
mod tests {
    use fewest_core::{Dataset, DenseColumns, Target};

    use super::*;

    /// The diagonal without the matrix is that of the matrix.
    #[test]
    fn the_diagonal_is_that_of_the_matrix() -> Result<(), Error> {
        let (n, d) = (50, WIDTH + 3);
        let value = |i: usize, j: usize| derive_seed(i as u64, j as u64) as f64 / u64::MAX as f64 - 0.5;
        let table: Vec<Vec<f64>> = (0..d).map(|j| (0..n).map(|i| value(i, j)).collect()).collect();
        let data = Dataset::new(DenseColumns::from_columns(&table)?, Target::None)?;
        let context = Context::default();
        let columns = LinearColumns::with_outputs(&data, "lufs", Vec::new(), &context)?;
        let rows = FeatureRows::new(&columns, d);
        let affinity = Affinity::new(&columns, &rows, KernelWidth::Median, 16, &context)?;
        for dimensions in [DMatrix::zeros(n, 0), DMatrix::from_fn(n, 2, |i, j| 0.1 * value(i, d + j))] {
            let affinity = Network::new(&affinity.graph);
            let between = SocialScatter { affinity, alpha: 1.7, dimensions };
            let x = DMatrix::from_vec(n, d, columns.gather(&rows.columns)?);
            let whole = x.tr_mul(&between.product(&x));
            for (j, value) in between.diagonal_of_columns(&columns, &rows, &context)?.into_iter().enumerate()
            {
                assert!((value - whole[(j, j)]).abs() < 1e-9 * whole[(j, j)], "{j}");
            }
        }
        Ok(())
    }
}
