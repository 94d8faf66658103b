//! Convex quadratic programs over the dependences between features: `½ θᵀ D θ − cᵀ θ`.

mod ckta;
mod fvm;
mod information;
mod qpfs;
mod similarity;

use fewest_core::{Budget, Context, Error, Selection, SolverReport};
use fewest_solver::Control;

pub use ckta::Ckta;
pub use fvm::Fvm;
pub use qpfs::{Qpfs, RelevanceWeight};
pub use similarity::FeatureSimilarity;

/// Most path steps.
const MOST_ITERATIONS: u64 = 1_000_000;

fn control<'a>(context: &Context<'a>) -> Control<'a> {
    Control { max_iterations: MOST_ITERATIONS, ..Control::from(context) }
}

/// Why there are no more features, where no penalty has a part in it.
const NO_OTHERS: &str = "the others have a weight of 0 at the optimum";

/// Features by the size of their weights, ties to the lower index, as far as the budget goes; `no_others`
/// says why there are no more.
///
/// # Errors
/// [`Error::Stopped`] where there is none since the run was stopped.
fn ranked(
    mut weights: Vec<(usize, f64)>,
    n_features: usize,
    budget: Budget,
    report: SolverReport,
    no_others: &str,
) -> Result<Selection, Error> {
    weights.retain(|(_, weight)| *weight != 0.0);
    let mut selection = Selection::by_weight(weights, n_features, budget, report.status);
    selection.solver = Some(report);
    selection.note_missing_features(budget, no_others);
    selection.unless_stopped_before("a feature had a weight")
}
