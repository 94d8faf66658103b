#![doc = include_str!("../README.md")]

mod problem;
mod solver;

use fewest_solver::{Control, Error, Solution};

pub use problem::DifferenceOfConvex;
pub use solver::Dca;

/// Finds a critical point of `problem` from `start` by [`Dca`] with its defaults.
///
/// # Errors
/// [`Error::ShapeMismatch`] for a start of the wrong length; [`Error::InvalidParameter`] for a start that is
/// not finite or a tolerance out of range; [`Error::Numerical`] when the objective is not finite at the
/// start; what [`DifferenceOfConvex::minimise_above`] returns.
pub fn solve<P: DifferenceOfConvex + ?Sized>(
    problem: &P,
    start: Vec<f64>,
    control: &Control<'_>,
) -> Result<Solution, Error> {
    let mut solver = Dca::default().tolerance(control.tolerance);
    fewest_solver::run(problem, &mut solver, start, control)
}
