//! The penalty of methods to which features arrive, chosen for all features of a table.

use fewest_core::method::Regularization;
use fewest_core::{Budget, Context, Error, Selection, Status};
use fewest_solver::bisection::{self, PenaltyCandidate, Tried};

/// The smallest `lambda` tried, as a share of the largest.
const SMALLEST_RATIO: f64 = 1e-4;

/// The answer at a penalty.
#[derive(Clone)]
struct Answer(Selection);

impl PenaltyCandidate for Answer {
    fn n_features(&self) -> usize {
        self.0.order.len()
    }

    fn status(&self) -> Status {
        self.0.status
    }
}

/// What `run` selects at the `lambda` that `regularization` asks for, cut to the budget: for `Count` the
/// smallest one found that leaves at most so many features, each of which is a pass. `largest` is the
/// smallest `lambda` that admits none.
///
/// # Errors
/// For a budget without a number where one is needed; those of `largest` and `run`; [`Error::Stopped`] before
/// a feature had a weight.
pub(crate) fn select(
    regularization: Regularization,
    budget: Budget,
    context: &Context<'_>,
    largest: impl Fn() -> Result<f64, Error>,
    run: impl Fn(f64) -> Result<Selection, Error>,
) -> Result<Selection, Error> {
    let mut selection = match regularization {
        Regularization::Value(lambda) => run(lambda)?,
        Regularization::Count => {
            let k = budget.count(&["lambda", "lambda_ratio"])?;
            let solve = |lambda: f64, _: Option<&Answer>| run(lambda).map(Answer);
            let (Answer(mut found), stopped) =
                bisection::search(largest()?, SMALLEST_RATIO, k, context, &mut Tried::none(), solve)?;
            found.status = stopped.unwrap_or(found.status);
            found
        }
        ratio => run(ratio.lambda(Some(largest()?))?)?,
    };
    let n_kept = match budget {
        Budget::Count(k) => k,
        Budget::Threshold(threshold) => {
            selection.scores.iter().take_while(|score| score.abs() >= threshold).count()
        }
        _ => usize::MAX,
    };
    selection.order.truncate(n_kept);
    selection.scores.truncate(n_kept);
    selection.note_missing_features(budget, "no other admitted feature has a weight");
    selection.unless_stopped_before("a feature had a weight")
}
