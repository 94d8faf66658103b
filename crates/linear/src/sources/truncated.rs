//! Sparse principal components by the truncated power method.

use fewest_core::{Context, Error, Status, order};
use fewest_linalg::{Krylov, largest_eigenpairs};
use nalgebra::DMatrix;

/// Most steps from a start.
const MOST_STEPS: usize = 1000;

/// The Krylov space of the leading eigenvector: its width, its blocks, and the residual, relative to the
/// eigenvalue, that suffices for a start and a bound.
const WIDTH: usize = 4;
const BLOCKS: usize = 8;
const RESIDUAL: f64 = 1e-6;

/// `x ← truncate_k(C x) / ‖·‖` (Yuan and Zhang 2013, Algorithm 1), for a covariance that is known by its
/// products with columns.
pub(super) struct Truncated<'a> {
    /// `C` times columns, one after the other.
    pub(super) product: &'a dyn Fn(&[f64]) -> Vec<f64>,
    /// The diagonal of `C`.
    pub(super) diagonal: &'a [f64],
    pub(super) tolerance: f64,
    pub(super) context: &'a Context<'a>,
}

/// A stationary point of `xᵀCx` over `‖x‖ = 1` with at most `k` values.
pub(super) struct Point {
    pub(super) loadings: Vec<f64>,
    /// `xᵀCx`.
    pub(super) variance: f64,
    /// `‖x − the next x‖`.
    pub(super) step: f64,
    pub(super) status: Status,
    pub(super) iterations: usize,
}

impl Truncated<'_> {
    /// The leading eigenvector with its eigenvalue, an upper bound of the variance of any point but for the
    /// residual, which is added.
    pub(super) fn leading(&self) -> Result<(Vec<f64>, f64), Error> {
        let p = self.diagonal.len();
        // Fixed numbers without a pattern: the answer does not depend on the seed.
        let entry = |i: usize, j: usize| ((i * 7919 + j * 104_729 + 12_345) % 65_537) as f64 / 32_768.0 - 1.0;
        let start = DMatrix::from_fn(p, WIDTH.min(p), entry);
        let scale = self.diagonal.iter().copied().fold(0.0, f64::max);
        let product = |columns: &DMatrix<f64>| {
            self.context.go_on("the leading component was found")?;
            let images = (self.product)(columns.as_slice());
            Ok::<_, Error>(DMatrix::from_column_slice(p, columns.ncols(), &images))
        };
        let found = largest_eigenpairs(start, 1, &[], Krylov::new(BLOCKS, RESIDUAL * scale), product)?;
        let found = found.filter(|pairs| !pairs.values.is_empty()).ok_or_else(|| Error::Numerical {
            what: "the leading component",
            hint: "a number is not finite".to_owned(),
        })?;
        Ok((found.vectors.column(0).iter().copied().collect(), found.values[0] + found.residual))
    }

    /// The better of the points from the leading eigenvector and from the column of the largest variance.
    pub(super) fn best(&self, k: usize, leading: &[f64]) -> Point {
        let mut single = vec![0.0; self.diagonal.len()];
        if let Some(&first) = order::descending(self.diagonal).first() {
            single[first] = 1.0;
        }
        let points = [self.from(leading, k), self.from(&(self.product)(&single), k)];
        let [first, second] = points;
        // A difference of rounding size decides nothing.
        if second.variance > first.variance * (1.0 + 1e-12) { second } else { first }
    }

    fn from(&self, start: &[f64], k: usize) -> Point {
        let mut x = truncated(start, k);
        let mut iterations = 0;
        loop {
            let image = (self.product)(&x);
            let variance = x.iter().zip(&image).map(|(x, image)| x * image).sum();
            let next = truncated(&image, k);
            let step = x.iter().zip(&next).map(|(x, next)| (x - next).powi(2)).sum::<f64>().sqrt();
            let status = match self.context.stopped() {
                Some(status) => Some(status),
                None if step <= self.tolerance => Some(Status::Converged),
                None if iterations >= MOST_STEPS => Some(Status::MaxIterations),
                None => None,
            };
            if let Some(status) = status {
                let loadings = x.iter().map(|x| x.abs()).collect();
                return Point { loadings, variance, step, status, iterations };
            }
            iterations += 1;
            x = next;
        }
    }
}

/// The `k` largest values by size, ties to the lower index, as a vector of length 1.
fn truncated(values: &[f64], k: usize) -> Vec<f64> {
    let sizes: Vec<f64> = values.iter().map(|value| value.abs()).collect();
    let mut kept = vec![0.0; values.len()];
    for &at in order::descending(&sizes).iter().take(k) {
        kept[at] = values[at];
    }
    let length = kept.iter().map(|value| value * value).sum::<f64>().sqrt();
    if length > 0.0 {
        kept.iter_mut().for_each(|value| *value /= length);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On a small covariance no other set of features has more variance, and the bound is that of all.
    #[test]
    fn a_block_is_found_and_no_set_is_better() {
        let entry = |i: usize, j: usize| match (i, j) {
            _ if i == j => 1.0,
            _ if [2, 4, 5].contains(&i) && [2, 4, 5].contains(&j) => 0.7,
            _ => 0.1 * ((i * j) % 3) as f64,
        };
        let c = DMatrix::from_fn(7, 7, |i, j| entry(i.min(j), i.max(j)));
        let product = |columns: &[f64]| {
            (&c * DMatrix::from_column_slice(7, columns.len() / 7, columns)).as_slice().to_vec()
        };
        let context = Context::default();
        let method =
            Truncated { product: &product, diagonal: &[1.0; 7], tolerance: 1e-12, context: &context };
        let (leading, bound) = method.leading().unwrap();
        let all = fewest_linalg::symmetric_eigenvalues(c.clone()).unwrap().max();
        assert!((bound - all).abs() < 1e-5, "{bound} {all}");
        let point = method.best(3, &leading);
        let support: Vec<usize> = (0..7).filter(|&j| point.loadings[j] > 0.0).collect();
        assert_eq!((support, point.status), (vec![2, 4, 5], Status::Converged));
        let variance = |set: &[usize]| {
            let part = c.select_rows(set).select_columns(set);
            fewest_linalg::symmetric_eigenvalues(part).unwrap().max()
        };
        assert!((point.variance - variance(&[2, 4, 5])).abs() < 1e-9);
        for a in 0..7 {
            for b in a + 1..7 {
                for d in b + 1..7 {
                    assert!(variance(&[a, b, d]) < point.variance + 1e-9);
                }
            }
        }
    }
}
