#![doc = include_str!("../README.md")]

mod problem;
mod solver;

use fewest_solver::{Control, Error, Solution};

pub use problem::{Judgement, Split, Splitting};
pub use solver::Admm;

/// Solves `problem` from `z = start` by [`Admm`] with its defaults. The coefficients of the solution are `z`.
///
/// # Errors
/// [`Error::ShapeMismatch`] for a start of the wrong length; [`Error::InvalidParameter`] for a start that is
/// not finite or a tolerance out of range; [`Error::Numerical`] when a step is not finite; what the functions
/// of the problem return.
pub fn solve<P: Splitting + ?Sized>(
    problem: &P,
    start: Vec<f64>,
    control: &Control<'_>,
) -> Result<Solution, Error> {
    fewest_solver::run(problem, &mut Admm::default().tolerance(control.tolerance), start, control)
}
