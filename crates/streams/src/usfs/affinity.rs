//! Which samples are alike, by the features held.

use fewest_core::{Error, room, state};

use super::METHOD;

/// Squared distances of all pairs of samples.
#[derive(Debug, Clone, Default)]
pub(super) struct Affinity {
    n: usize,
    /// Of sample `i` to those before it, one sample after the other.
    squared: Vec<f64>,
}

state!(Affinity { n, squared });

impl Affinity {
    /// By no feature.
    ///
    /// # Errors
    /// Where there is no memory for all pairs.
    pub(super) fn none(n: usize) -> Result<Self, Error> {
        let pairs = n * n.saturating_sub(1) / 2;
        // Distances with and without the new feature.
        drop(room("memory for the pairs of samples", &[2, pairs], METHOD, "use fewer samples")?);
        Ok(Self { n, squared: vec![0.0; pairs] })
    }

    /// By the features `columns`, one after the other.
    pub(super) fn of(columns: &[f64], n: usize) -> Self {
        let start = Self { n, squared: vec![0.0; n * n.saturating_sub(1) / 2] };
        columns.chunks_exact(n).fold(start, |mut all, column| {
            all.add(column);
            all
        })
    }

    /// With a further feature.
    pub(super) fn with(&self, column: &[f64]) -> Self {
        let mut all = self.clone();
        all.add(column);
        all
    }

    fn add(&mut self, column: &[f64]) {
        let mut pairs = self.squared.iter_mut();
        for i in 0..self.n {
            for (squared, other) in pairs.by_ref().take(i).zip(&column[..i]) {
                *squared += (column[i] - other).powi(2);
            }
        }
    }

    /// `(D − S) v` for every column of `values`, with `S = exp(−d² / scale)`.
    pub(super) fn laplacian_product(&self, values: &[f64], scale: f64) -> Vec<f64> {
        let n = self.n;
        let width = values.len() / n;
        // By samples, so that the values of one are together.
        let mut rows = vec![0.0; values.len()];
        for (k, column) in values.chunks_exact(n).enumerate() {
            rows.iter_mut().skip(k).step_by(width).zip(column).for_each(|(row, value)| *row = *value);
        }
        let mut product = vec![0.0; values.len()];
        let mut pairs = self.squared.iter();
        let mut own = vec![0.0; width];
        for i in 0..n {
            own.fill(0.0);
            for (j, squared) in pairs.by_ref().take(i).enumerate() {
                let alike = (-squared / scale).exp();
                for k in 0..width {
                    let pull = alike * (rows[i * width + k] - rows[j * width + k]);
                    own[k] += pull;
                    product[j * width + k] -= pull;
                }
            }
            product[i * width..][..width].iter_mut().zip(&own).for_each(|(sum, own)| *sum += own);
        }
        let mut columns = vec![0.0; values.len()];
        for (k, column) in columns.chunks_exact_mut(n).enumerate() {
            column
                .iter_mut()
                .zip(product.iter().skip(k).step_by(width))
                .for_each(|(out, value)| *out = *value);
        }
        columns
    }

    /// Floating-point numbers it holds.
    pub(super) fn size(&self) -> usize {
        self.squared.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_laplacian_is_that_of_all_pairs() {
        let n = 9;
        let columns: Vec<f64> = (0..27).map(|i| f64::from(i * i % 11) / 3.0).collect();
        let affinity = Affinity::of(&columns, n);
        let found = affinity.laplacian_product(&columns, 6.0);
        for k in 0..3 {
            for i in 0..n {
                let mut expected = 0.0;
                for j in 0..n {
                    let squared: f64 =
                        columns.chunks_exact(n).map(|column| (column[i] - column[j]).powi(2)).sum();
                    expected += (-squared / 6.0).exp() * (columns[k * n + i] - columns[k * n + j]);
                }
                assert!((found[k * n + i] - expected).abs() < 1e-12);
            }
        }
        assert_eq!(
            Affinity::none(n).unwrap().with(&columns[..n]).squared,
            Affinity::of(&columns[..n], n).squared
        );
    }
}
