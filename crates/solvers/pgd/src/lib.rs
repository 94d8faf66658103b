//! Projected and proximal gradient descent for any smooth loss with any penalty, on argmin.
//!
//! # Problem
//!
//! ```text
//! minimise over w   f(w) + Ω(w)
//! ```
//!
//! with a smooth [`Datafit`] `f`, of which values and gradients are all that is
//! used, and a [`Penalty`](fewest_solver::Penalty) `Ω` with a prox. When `Ω` is the indicator of `w ≥ 0`, that
//! is [`L1`](fewest_solver::L1) with `lambda` 0 made non-negative, the prox is the projection and the method is
//! the projected gradient descent of Algorithm 3 in Xue, Song and Xu (2017).
//!
//! # Method
//!
//! ```text
//! w⁺ = prox(w − step ∇f(w))
//! ```
//!
//! - *Accelerated* (the default; Beck and Teboulle 2009): the step starts from a point ahead of `w`. Its length
//!   is halved until the quadratic bound holds. Momentum is given up whenever the objective would rise or
//!   the step turns back (O'Donoghue and Candès 2015), so the objective never rises and the rate adapts to
//!   the curvature there is.
//! - *Plain*: the first trial length is that of Barzilai and Borwein (1988), halved until Armijo's rule
//!   `P(w⁺) ≤ P(w) − 10⁻⁴ ‖w⁺ − w‖² / step` holds.
//!
//! An iteration is ten steps and a certificate: the duality gap relative to the objective at zero where
//! datafit and penalty have a dual, and otherwise (no dual value, a level of 0, a penalty that is not a
//! convex sum over blocks) the largest violation of the optimality conditions relative to the largest entry
//! of `∇f(0)`. Algorithm 3 as printed stops on a small gradient; at a bound the gradient need not vanish, so
//! the projected gradient is what must be small.
//!
//! # Complexity
//!
//! A step takes a gradient and at least one value of `f`. To reach the same certificate the accelerated
//! form takes steps in proportion to the square root of the condition of `f`'s Hessian on the non-zeros, the
//! plain one up to the condition itself. On 200 bumps that overlap until their Gram matrix is singular to
//! rounding, a gap of 1e-9 takes 10 000 to 90 000 accelerated steps, and the plain form has reached 1e-6 after
//! 100 000: there, coordinate descent with its Newton steps is the better choice. What this one needs of a
//! problem is less.
//!
//! As [`QuadraticSolver`](fewest_solver::QuadraticSolver) it scales the step of each block by one over the
//! block's squared norms, so that the units of the atoms do not count.
//!
//! # Example
//!
//! Logistic regression with an l1 penalty.
//!
//! ```
//! use fewest_pgd::ProximalGradient;
//! use fewest_solver::{Composite, Control, DenseOperator, L1, Logistic, Status};
//!
//! // Six samples; the first feature tells the classes apart but for one, the second says nothing.
//! let x = vec![-1.5, -1.0, 0.5, -0.5, 1.0, 1.5, 0.3, -0.3, 0.1, 0.3, -0.3, -0.1];
//! let y = vec![-1.0, -1.0, -1.0, 1.0, 1.0, 1.0];
//! let datafit = Logistic::new(DenseOperator::new(x, 6, 2)?, y)?;
//! let penalty = L1::new(0.5, 2)?;
//! let problem = Composite::new(&datafit, &penalty)?;
//! let solution = fewest_pgd::solve(problem, &[], &Control::default())?;
//! assert_eq!(solution.status, Status::Converged);
//! assert!(solution.coefficients[0] > 0.5);
//! assert_eq!(solution.coefficients[1], 0.0);
//! # Ok::<(), fewest_solver::Error>(())
//! ```
//!
//! # References
//!
//! - Xue, Song, Xu, *Multiple indefinite kernel learning for feature selection*, 2017: Algorithm 3.
//! - Beck, Teboulle, *A fast iterative shrinkage-thresholding algorithm*, 2009.
//! - O'Donoghue, Candès, *Adaptive restart for accelerated gradient schemes*, 2015.
//! - Barzilai, Borwein, *Two-point step size gradient methods*, 1988.
//! - Wright, Nowak, Figueiredo, *Sparse reconstruction by separable approximation*, 2009.

mod quadratic;
mod solver;
mod step;

use fewest_solver::{Composite, Control, Datafit, Error, Solution};

pub use solver::ProximalGradient;

/// Minimises `problem` from `start` (empty for zero) by [`ProximalGradient`] with its defaults.
///
/// # Errors
/// [`Error::ShapeMismatch`] for a start of the wrong length; [`Error::InvalidParameter`] for a start that is not
/// finite or a tolerance out of range; [`Error::Numerical`] when the loss is not finite at the start.
pub fn solve<F: Datafit + ?Sized>(
    problem: Composite<'_, F>,
    start: &[f64],
    control: &Control<'_>,
) -> Result<Solution, Error> {
    let mut solver = ProximalGradient::default().tolerance(control.tolerance);
    fewest_solver::run(problem, &mut solver, start.to_vec(), control)
}
