//! Ridge regressions with a weight for each column.

use fewest_core::{Context, Error};
use fewest_linalg::{Cholesky, gram_unless};
use nalgebra::DMatrix;

use super::stopped;
use crate::projections::times;

/// A factored system with `XᵀX + D`, `D` diagonal.
pub(crate) enum WeightedRidge {
    /// That matrix.
    ByColumns(Cholesky),
    /// `I + X D⁻¹ Xᵀ`, and `D`.
    BySamples(Cholesky, Vec<f64>),
}

impl WeightedRidge {
    /// `gram` is `XᵀX`, with no more columns than samples.
    pub(crate) fn new(
        x: &DMatrix<f64>,
        gram: Option<&[f64]>,
        diagonal: Vec<f64>,
        context: &Context<'_>,
    ) -> Result<Self, Error> {
        let is_stopped = || context.stopped().is_some();
        let (n, p) = x.shape();
        if let Some(gram) = gram {
            let mut matrix = gram.to_vec();
            matrix.iter_mut().step_by(p + 1).zip(&diagonal).for_each(|(value, d)| *value += d);
            let factor = Cholesky::of_unless(matrix, p, &is_stopped);
            return factor.map(Self::ByColumns).ok_or_else(|| stopped(context));
        }
        let roots: Vec<f64> = diagonal.iter().map(|value| value.sqrt().recip()).collect();
        let scaled = times(&roots, &x.transpose());
        let mut matrix = gram_unless(scaled.as_slice(), p, &is_stopped);
        matrix.iter_mut().step_by(n + 1).for_each(|value| *value += 1.0);
        let factor = Cholesky::above_identity_unless(matrix, n, &is_stopped);
        if is_stopped() { Err(stopped(context)) } else { Ok(Self::BySamples(factor, diagonal)) }
    }

    /// `(XᵀX + D)⁻¹ Xᵀ G`.
    pub(crate) fn coefficients(&self, x: &DMatrix<f64>, g: &DMatrix<f64>) -> DMatrix<f64> {
        let solve = |factor: &Cholesky, mut b: DMatrix<f64>| {
            let rows = b.nrows();
            b.as_mut_slice().chunks_exact_mut(rows).for_each(|column| factor.solve(column));
            b
        };
        match self {
            Self::ByColumns(factor) => solve(factor, x.tr_mul(g)),
            Self::BySamples(factor, diagonal) => {
                let inverse: Vec<f64> = diagonal.iter().map(|value| value.recip()).collect();
                times(&inverse, &x.tr_mul(&solve(factor, g.clone())))
            }
        }
    }
}
