//! Block coordinate descent for least squares with a sparse penalty, on argmin.
//!
//! # Problem
//!
//! ```text
//! minimise over w   ½ wᵀGw − cᵀw + ½‖b‖² + Ω(w)
//! ```
//!
//! with the Gram matrix `G` of the atoms, their products `c` with the target `b`, and a convex
//! [`Penalty`] `Ω` that is a sum over [blocks](fewest_solver::BlockPenalty) of coefficients: l1, elastic net,
//! group lasso, each with or without `w ≥ 0`. `G` may be singular: atoms may be equal, opposite or zero.
//!
//! # Method
//!
//! Each block in turn is moved to the minimum of its own model,
//! `w_b ← prox(w_b + q_b / L_b)` with `q = c − Gw` and a bound `L_b` of the largest eigenvalue of `G_bb`; for
//! a block of one coefficient this is the exact minimum (Friedman, Hastie and Tibshirani 2010). An iteration
//! consists of
//!
//! 1. a sweep over all blocks that the gap-safe sphere has not proved to be zero (Ndiaye et al. 2017); when
//!    most blocks that enter leave again in the steps below, only the most violating zero blocks take part,
//!    down to one;
//! 2. up to 10 sweeps over the non-zero blocks alone, with Anderson extrapolation every fifth, kept only if
//!    the objective falls (Bertrand and Massias 2021);
//! 3. Newton steps on the non-zero coefficients, which stop where one becomes zero: with l1, the solution of
//!    `G_SS w_S = c_S − λ sign(w_S)`. They make the answer as exact as rounding allows, however
//!    ill-conditioned `G` is, once the non-zeros are right;
//! 4. `q` computed afresh and the duality gap of the whole problem.
//!
//! It is deterministic, and the objective never rises by more than rounding. When neither gap nor objective
//! improves in ten iterations the run ends as [`AlmostConverged`](fewest_solver::Status::AlmostConverged) or
//! [`Stalled`](fewest_solver::Status::Stalled). A block whose level is 0 leaves the certificate no dual point,
//! so such a run ends as stalled even at the optimum.
//!
//! # Complexity
//!
//! For `n` coefficients of which `k` are not zero: `O(n k)` for a sweep and for the gap, `O(k²)` for a sweep
//! over the non-zeros, `k³ / 3` for a Newton step; memory `n² + O(n)`. A few iterations are usual. For many
//! atoms use it through [`working_set::solve`](fewest_solver::working_set::solve), which keeps `n` small.
//!
//! # Example
//!
//! ```
//! use fewest_cd::CoordinateDescent;
//! use fewest_solver::{Control, L1, Quadratic, QuadraticSolver, Status};
//!
//! // Three atoms, the last two nearly equal; the target is the first plus twice the second.
//! let gram = vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.99, 0.0, 0.99, 1.0];
//! let problem = Quadratic::new(gram, vec![1.0, 2.0, 1.98], 5.0)?;
//! let penalty = L1::new(0.1, 3)?.nonnegative();
//! let solution = CoordinateDescent::default().minimise(&problem, &penalty, &[], &Control::default())?;
//! assert_eq!(solution.status, Status::Converged);
//! assert!(solution.duality_gap <= 1e-9);
//! for (found, expected) in solution.coefficients.iter().zip([0.9, 1.9, 0.0]) {
//!     assert!((found - expected).abs() < 1e-12);
//! }
//! # Ok::<(), fewest_solver::Error>(())
//! ```
//!
//! # References
//!
//! - Tseng, *Convergence of a block coordinate descent method for nondifferentiable minimization*, 2001.
//! - Friedman, Hastie, Tibshirani, *Regularization paths for generalized linear models via coordinate
//!   descent*, 2010.
//! - Ndiaye, Fercoq, Gramfort, Salmon, *Gap safe screening rules for sparsity enforcing penalties*, 2017.
//! - Bertrand, Massias, *Anderson acceleration of coordinate descent*, 2021.
//! - Keerthi, DeCoste, *A modified finite Newton method for fast solution of large scale linear SVMs*, 2005.
//! - Li, Sun, Toh, *A highly efficient semismooth Newton augmented Lagrangian method for solving lasso
//!   problems*, 2018 (the prox Jacobians).

mod anderson;
mod hinge;
mod newton;
mod solver;
mod sweep;

use fewest_solver::{Control, Error, Penalty, Quadratic, QuadraticSolver, Solution};

pub use hinge::SquaredHingeDescent;
pub use solver::CoordinateDescent;

/// Minimises `problem + penalty` from `start` (empty for zero) by [`CoordinateDescent`] with its defaults.
///
/// # Errors
/// [`Error::ShapeMismatch`] when problem, penalty and start disagree in size; [`Error::InvalidParameter`] for a
/// start that is not finite or a tolerance out of range; [`Error::Unsupported`] for a penalty that is not a
/// convex sum over blocks.
pub fn solve(
    problem: &Quadratic,
    penalty: &dyn Penalty,
    start: &[f64],
    control: &Control<'_>,
) -> Result<Solution, Error> {
    CoordinateDescent::default().minimise(problem, penalty, start, control)
}
