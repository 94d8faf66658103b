//! Centred Gram matrices as thin factors.

use std::sync::Arc;

use fewest_core::Error;
use fewest_kernels::{Factor, ScalarKernel, Stacked, squared_cross_norms};

use super::output::Output;
use super::{Measure, Representation};

/// Rank up to which the factor of one feature may grow: smooth kernels stay below 40.
const MOST_RANK: usize = 500;

/// `K̄ ≈ Φ Φᵀ`, so that `tr(K̄ L̄) = ‖ΦᵀΨ‖²_F` costs `n · r²` instead of `n²`.
pub(super) struct LowRank {
    n_samples: usize,
    measure: Measure,
    tolerance: f64,
}

impl LowRank {
    pub(super) fn new(n_samples: usize, measure: Measure, tolerance: f64) -> Self {
        Self { n_samples, measure, tolerance }
    }

    pub(super) fn output(&self, output: &Output) -> Result<Factor, Error> {
        self.finish(output.factor(self.tolerance)?)
    }

    fn finish(&self, mut factor: Factor) -> Result<Factor, Error> {
        factor.centre();
        match self.measure {
            Measure::Hsic => Ok(factor),
            Measure::Nocco { epsilon } => factor.nocco(epsilon),
        }
    }
}

impl Representation for LowRank {
    type Atom = Factor;
    type Stack = Stacked;

    fn input(&self, kernel: &dyn ScalarKernel, points: &[f64]) -> Result<Factor, Error> {
        self.finish(Factor::new(kernel, points, self.tolerance, self.n_samples.min(MOST_RANK))?)
    }

    fn bytes(&self, atom: &Factor) -> usize {
        size_of_val(atom.values())
    }

    fn stack(&self, atoms: &[Arc<Factor>]) -> Stacked {
        Stacked::new(atoms.iter().map(|atom| &**atom))
    }

    fn products(&self, rows: &[Arc<Factor>], stack: &Stacked) -> Vec<f64> {
        let mut products = vec![0.0; rows.len() * stack.len()];
        for (row, out) in rows.iter().zip(products.chunks_exact_mut(stack.len())) {
            squared_cross_norms(row, stack, out);
        }
        products
    }

    fn squared_norm(&self, atom: &Factor) -> f64 {
        atom.inner(atom)
    }
}
