//! Difference-of-convex programming, on argmin.
//!
//! # Problem
//!
//! ```text
//! minimise over x   f(x) = g(x) − h(x),     g and h convex
//! ```
//!
//! Every function with a bounded Hessian can be written so, and neither part need be smooth. What a problem
//! must offer is [`DifferenceOfConvex`]: the values of `g` and `h`, a subgradient of `h`, and the minimum of
//! `g` less a linear function.
//!
//! # Method
//!
//! ```text
//! sₖ ∈ ∂h(xₖ),     xₖ₊₁ = argmin g(x) − ⟨sₖ, x⟩
//! ```
//!
//! (Tao and An 1997; Eq. 15 of Xue, Song and Xu 2017). The function that is minimised lies above `f` and touches it at
//! `xₖ`, so `f` never rises: where `g` and `h` are strongly convex with moduli `τ_g` and `τ_h`, it falls by at least
//! `½ (τ_g + τ_h) ‖xₖ₊₁ − xₖ‖²` (Proposition 1 there, whose `τ` is this half of the sum).
//!
//! *Accelerated* (Phan, Le and Le Thi 2018, with `q = 0`): the subgradient is taken at a point ahead of `xₖ`, by
//! Nesterov's momentum, whenever `f` is no larger there than at `xₖ`. So `f` still never rises.
//!
//! # When it stops
//!
//! A problem that is not convex has no duality gap. What a run's tolerance is compared with, and what
//! [`SolverState::duality_gap`](fewest_solver::SolverState::duality_gap) and
//! [`Solution::duality_gap`] hold, is the larger of
//!
//! ```text
//! (f(xₖ) − f(xₖ₊₁)) / max(|f(xₖ₊₁)|, |f(x₀)|)     and     ‖xₖ₊₁ − xₖ‖² / max(‖xₖ₊₁‖², ‖xₖ‖²)
//! ```
//!
//! Both vanish at a critical point, `∂g(x) ∩ ∂h(x) ≠ ∅`, and only there when `g` or `h` is strongly convex. A critical point need
//! not be a minimum.
//!
//! # Complexity
//!
//! One convex problem and one subgradient an iteration; memory three vectors. The rate is linear for strongly convex
//! pieces, the slower the larger the part of the curvature that `h` takes away again.
//!
//! # Example
//!
//! The capped norm `min(|x|, 1)` does not shrink what is clearly not zero.
//!
//! ```
//! use fewest_dca::DifferenceOfConvex;
//! use fewest_solver::{Control, Error};
//!
//! /// `½‖x − a‖² + λ Σ min(|xⱼ|, 1)`, with `g = ½‖x − a‖² + λ‖x‖₁` and `h = λ Σ max(|xⱼ| − 1, 0)`.
//! struct Capped {
//!     a: Vec<f64>,
//!     lambda: f64,
//! }
//!
//! impl DifferenceOfConvex for Capped {
//!     fn n_coefficients(&self) -> usize {
//!         self.a.len()
//!     }
//!     fn g(&self, x: &[f64]) -> f64 {
//!         x.iter().zip(&self.a).map(|(x, a)| 0.5 * (x - a).powi(2) + self.lambda * x.abs()).sum()
//!     }
//!     fn h(&self, x: &[f64]) -> f64 {
//!         x.iter().map(|x| self.lambda * (x.abs() - 1.0).max(0.0)).sum()
//!     }
//!     fn subgradient_of_h(&self, x: &[f64], out: &mut [f64]) {
//!         for (s, x) in out.iter_mut().zip(x) {
//!             *s = if x.abs() > 1.0 { self.lambda * x.signum() } else { 0.0 };
//!         }
//!     }
//!     fn minimise_above(&self, slope: &[f64], _start: &[f64]) -> Result<Vec<f64>, Error> {
//!         let shrunk = |z: f64| (z.abs() - self.lambda).max(0.0).copysign(z);
//!         Ok(self.a.iter().zip(slope).map(|(a, s)| shrunk(a + s)).collect())
//!     }
//! }
//!
//! let problem = Capped { a: vec![3.0, -0.4], lambda: 0.5 };
//! let solution = fewest_dca::solve(&problem, vec![0.0; 2], &Control::default())?;
//! assert_eq!(solution.coefficients, [3.0, 0.0]);
//! # Ok::<(), Error>(())
//! ```
//!
//! # References
//!
//! - Tao, An, *Convex analysis approach to D.C. programming: theory, algorithms and applications*, 1997.
//! - Xue, Song, Xu, *Multiple indefinite kernel learning for feature selection*, 2017: Eq. 11–15, Proposition 1.
//! - Phan, Le, Le Thi, *Accelerated difference of convex functions algorithm and its application*, 2018.

mod problem;
mod solver;

use fewest_solver::{Control, Error, Solution};

pub use problem::DifferenceOfConvex;
pub use solver::Dca;

/// Finds a critical point of `problem` from `start` by [`Dca`] with its defaults.
///
/// # Errors
/// [`Error::ShapeMismatch`] for a start of the wrong length; [`Error::InvalidParameter`] for a start that is not
/// finite or a tolerance out of range; [`Error::Numerical`] when the objective is not finite at the start; what
/// [`DifferenceOfConvex::minimise_above`] returns.
pub fn solve<P: DifferenceOfConvex + ?Sized>(
    problem: &P,
    start: Vec<f64>,
    control: &Control<'_>,
) -> Result<Solution, Error> {
    let mut solver = Dca::default().tolerance(control.tolerance);
    fewest_solver::run(problem, &mut solver, start, control)
}
