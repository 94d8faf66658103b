#![doc = include_str!("../README.md")]

mod quadratic;
mod solver;
mod step;

use fewest_solver::{Composite, Control, Datafit, Error, Solution};

pub use solver::ProximalGradient;

/// Minimises `problem` from `start` (empty for zero) by [`ProximalGradient`] with its defaults.
///
/// # Errors
/// [`Error::ShapeMismatch`] for a start of the wrong length; [`Error::InvalidParameter`] for a start that is
/// not finite or a tolerance out of range; [`Error::Numerical`] when the loss is not finite at the start.
pub fn solve<F: Datafit + ?Sized>(
    problem: Composite<'_, F>,
    start: &[f64],
    control: &Control<'_>,
) -> Result<Solution, Error> {
    let mut solver = ProximalGradient::default().tolerance(control.tolerance);
    fewest_solver::run(problem, &mut solver, start.to_vec(), control)
}
