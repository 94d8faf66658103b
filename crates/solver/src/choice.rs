//! Which solver a method uses.

use std::fmt;
use std::sync::Arc;

use crate::QuadraticSolver;

/// The solver.
#[derive(Clone, Default)]
pub enum SolverChoice {
    /// The exact path where there is one (l1 and elastic net by number of features), else coordinate descent.
    #[default]
    Auto,
    /// This one, of one of the crates under `crates/solvers` or of another crate. Where the
    /// answer is a number of features, the path finds λ, and this solver solves there, from zero.
    Use(Arc<dyn QuadraticSolver>),
}

impl fmt::Debug for SolverChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Auto => "Auto",
            Self::Use(solver) => solver.name(),
        })
    }
}
