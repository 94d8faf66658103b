#![doc = include_str!("../README.md")]

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
/// [`Error::ShapeMismatch`] when problem, penalty and start disagree in size; [`Error::InvalidParameter`] for
/// a start that is not finite or a tolerance out of range; [`Error::Unsupported`] for a penalty that is not a
/// convex sum over blocks.
pub fn solve(
    problem: &Quadratic,
    penalty: &dyn Penalty,
    start: &[f64],
    control: &Control<'_>,
) -> Result<Solution, Error> {
    CoordinateDescent::default().minimise(problem, penalty, start, control)
}
