//! Centred Gram matrices as thin factors.

use std::sync::Arc;

use fewest_core::Error;
use fewest_kernels::{Factor, Leading, LeadingBuffers, ScalarKernel, Stacked, squared_cross_norms};

use super::output::Output;
use super::{Measure, Outline, Representation};

/// Rank up to which the factor of one feature may grow: smooth kernels stay below 40.
const MOST_RANK: usize = 500;

/// Rank of a smooth kernel of one feature, about.
const USUAL_RANK: usize = 16;

/// Share of its Frobenius norm that the leading columns of a factor may leave out: two or three of some ten
/// columns then do.
const LEADING_TOLERANCE: f64 = 0.1;

/// Numbers in a panel of atoms: 2 MB.
const PANEL_NUMBERS: usize = 1 << 18;

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
        self.compact(self.finish(output.factor(self.cholesky_tolerance())?)?)
    }

    /// What may be left of the trace by the pivoted Cholesky factorisation. NOCCO lifts small eigenvalues:
    /// one of `μ` becomes `μ / (μ + ε n)`, so what is left out must be small against `ε` as well.
    fn cholesky_tolerance(&self) -> f64 {
        match self.measure {
            Measure::Hsic => self.tolerance,
            Measure::Nocco { epsilon } => self.tolerance * epsilon.min(1.0),
        }
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
    type Buffers = LeadingBuffers;

    fn input(&self, kernel: &dyn ScalarKernel, points: &[f64], memory: Vec<f64>) -> Result<Factor, Error> {
        let most_rank = self.n_samples.min(MOST_RANK);
        self.finish(Factor::new_in(memory, kernel, points, self.cholesky_tolerance(), most_rank)?)
    }

    fn recycled(&self, atom: Factor) -> Vec<f64> {
        atom.into_values()
    }

    /// Every product costs the rank squared, so the fewest columns that do are kept.
    fn compact(&self, factor: Factor) -> Result<Factor, Error> {
        factor.compress(self.tolerance)
    }

    fn outline(&self, factor: &Factor, target: &Stacked, buffers: &mut LeadingBuffers) -> Outline<Factor> {
        let mut target_product = [0.0];
        let Leading { squared_norm, part } =
            factor.leading_and_products(LEADING_TOLERANCE, target, &mut target_product, buffers);
        let [target_product] = target_product;
        let norm = squared_norm.sqrt();
        // What is left out is positive semidefinite, with at most this share of the trace; and the trace is
        // at most the root of the rank times the norm.
        let rank = factor.rank() as f64;
        let is_cut = factor.rank() == MOST_RANK && MOST_RANK < self.n_samples;
        let approximation_error = if is_cut { f64::INFINITY } else { self.tolerance * (1.0 + rank.sqrt()) };
        Outline {
            target_product,
            squared_norm,
            approximation_error,
            leading: part.map(|(part, left_out)| (part, left_out / norm)),
        }
    }

    fn panel(&self) -> usize {
        (PANEL_NUMBERS / (USUAL_RANK * self.n_samples)).clamp(4, 24)
    }

    fn bytes(&self, atom: &Factor) -> usize {
        size_of_val(atom.values())
    }

    fn stack(&self, atoms: &[Arc<Factor>]) -> Result<Stacked, Error> {
        Stacked::from_factors(self.n_samples, atoms.iter().map(|atom| &**atom))
    }

    fn products(&self, rows: &Stacked, columns: &Stacked, out: &mut [f64]) {
        squared_cross_norms(rows, columns, out);
    }
}
