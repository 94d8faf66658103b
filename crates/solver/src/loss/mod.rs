//! Convex losses of fitted values, one file each.
//!
//! A [`Loss`] knows neither features nor penalty: solvers such as `fewest-newton` combine it with any
//! [`BlockPenalty`](crate::BlockPenalty). Most losses are a sum over samples of a function of one fitted
//! value; such a function is a [`ScalarLoss`], and [`Separable`] is the loss.

mod cox;
mod huber;
mod logistic;
mod multinomial;
mod poisson;
mod profiled;
mod row_norm;
mod samples;
mod separable;
mod squared;
mod squared_hinge;

pub use cox::{Cox, Ties};
pub use huber::Huber;
pub use logistic::Logistic;
pub(crate) use logistic::{log_loss, misfit};
pub use multinomial::Multinomial;
pub use poisson::Poisson;
pub use profiled::Profiled;
pub use row_norm::RowNorm;
pub use samples::Samples;
pub use separable::{ScalarLoss, Separable};
pub use squared::Squared;
pub use squared_hinge::SquaredHinge;

use crate::Error;

/// The longest step of a fitted value, in the unit of the loss, that a curvature near 0 may lead to.
pub(crate) const LONGEST_STEP: f64 = 1e3;

/// A convex loss `ℓ(Z)` of the fitted values `Z = XW + 1bᵀ`, `n` samples by `c` outputs.
///
/// Fitted values and dual points have `n c` entries, output after output. The dual point that belongs to `Z`
/// is `Θ = −∇ℓ(Z)`. The value is at least 0; sample weights and offsets are part of it ([`Samples`]).
pub trait Loss: Sync {
    /// `n`.
    fn n_samples(&self) -> usize;

    /// `c`.
    fn n_outputs(&self) -> usize {
        1
    }

    /// `ℓ(Z)`; infinite where it overflows.
    fn value(&self, fitted: &[f64]) -> f64;

    /// Writes `Θ = −∇ℓ(Z)`.
    fn dual_point(&self, fitted: &[f64], out: &mut [f64]);

    /// Writes the curvature of every sample, a symmetric positive semidefinite `c × c` matrix: entry `(k, l)`
    /// of sample `i` at `i + n (k + c l)`.
    ///
    /// It is the Hessian, or an upper bound of it where [`reductions`](Loss::reductions) are to be taken off.
    /// Where it is almost zero it is made so large that a Newton step moves no fitted value very far.
    fn curvature(&self, fitted: &[f64], out: &mut [f64]);

    /// `RX`, column after column, for the columns of `X` in `columns`, each of which changes the fitted
    /// values of one of the outputs, named in `outputs`: the Hessian of a loss that is no sum over samples is
    /// the curvature less `RᵀR`. Nothing, which is the default, for `R = 0`.
    fn reductions(&self, _fitted: &[f64], _columns: &[f64], _outputs: &[usize]) -> Vec<f64> {
        Vec::new()
    }

    /// The curvature, where it is the same number for every sample and output, whatever the fitted values:
    /// least squares. Its dual point is then linear in the fitted values, and its value `‖Θ‖²` divided by
    /// twice the number. Default: it is not.
    fn constant_curvature(&self) -> Option<f64> {
        None
    }

    /// Checks that some intercepts are the best.
    ///
    /// # Errors
    /// [`Error::TooFew`] where they would be infinite, as for labels of one class.
    fn check_intercept(&self) -> Result<(), Error> {
        Ok(())
    }

    /// The best intercepts without any coefficient, where a formula has them. Default: Newton steps find
    /// them.
    fn best_intercepts(&self) -> Option<Vec<f64>> {
        None
    }

    /// Moves a dual point by as little as needed to where every output sums to zero, inside the domain of the
    /// conjugate: the dual constraint of an intercept without a penalty.
    fn balance(&self, dual: &mut [f64]);

    /// `ℓ(Z) + ℓ*(−tΘ) + t ⟨Θ, Z⟩ ≥ 0`, the part of the loss in a duality gap, for the scale `t ∈ [0, 1]` of
    /// the dual point `Θ` of `Z`, perhaps [balanced](Loss::balance).
    ///
    /// With `V = XᵀΘ` and, if there is an intercept, `Σᵢ Θᵢ = 0`, the gap of `W` is this plus
    /// `Ω(W) + Ω*(tV) − t ⟨W, V⟩`.
    fn loss_gap(&self, fitted: &[f64], dual: &[f64], scale: f64) -> f64;
}
