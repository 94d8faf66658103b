//! Multiple kernel learning in the dual of support vector machines: the baselines of MIK-FS.

mod gmkl;
mod interior;
mod product;
mod rfmkl;
mod terms;
mod working;

use fewest_core::{Budget, Context, Dataset, Error, Selection, Status};

pub use gmkl::Gmkl;
pub use rfmkl::Rfmkl;
pub use terms::Spectrum;

use crate::indefinite::objective::Task;
use crate::indefinite::tasks::tasks;

/// What a run without weights is stopped before.
const STEPPED: &str = "the first step was taken";

/// Weights below this, relative to the largest, count as zero (Section 5.1).
const THRESHOLD: f64 = 1e-5;

/// The samples of a support vector machine and which of them are positive.
struct Machine {
    rows: Vec<usize>,
    positive: Vec<bool>,
}

impl Machine {
    /// The labels, ±1.
    fn labels(&self) -> impl Iterator<Item = f64> {
        self.positive.iter().map(|&positive| if positive { 1.0 } else { -1.0 })
    }

    /// How many samples the smaller class has.
    fn smaller(&self) -> f64 {
        let positive = self.positive.iter().filter(|positive| **positive).count();
        positive.min(self.positive.len() - positive) as f64
    }

    /// Whether both classes are equally large.
    fn is_even(&self) -> bool {
        2.0 * self.smaller() == self.positive.len() as f64
    }

    /// Multipliers times labels at `C = 1` that are optimal for a kernel that is zero: as many as can be of
    /// each class, alike within it.
    fn balanced(&self) -> Vec<f64> {
        let n = self.rows.len() as f64;
        let positive = self.positive.iter().filter(|positive| **positive).count() as f64;
        let least = self.smaller();
        self.labels().map(|y| if y > 0.0 { least / positive } else { -least / (n - positive) }).collect()
    }
}

/// A machine for each pair of classes.
fn machines(data: &Dataset, method: &'static str) -> Result<Vec<Machine>, Error> {
    data.classes(method)?;
    let machine =
        |task: Task| Machine { positive: task.y.iter().map(|y| *y > 0.0).collect(), rows: task.rows };
    Ok(tasks(data, 0.0, method)?.tasks.into_iter().map(machine).collect())
}

/// What there is to select where no kernel gains anything.
fn nothing(n_features: usize) -> Selection {
    let mut selection = Selection::new(Vec::new(), Vec::new(), n_features, Status::Converged);
    selection.notes.push("no feature's kernel has anything in common with the target".to_owned());
    selection
}

/// What a run has that was stopped before it had weights: the features in the order of what their kernels are
/// worth one by one, at no weights.
///
/// # Errors
/// [`Error::Stopped`] where no number of features is asked for, since it is weights that tell one.
fn by_worth(
    worths: &[f64],
    features: &[usize],
    n_features: usize,
    budget: Budget,
    context: &Context<'_>,
) -> Result<Selection, Error> {
    let Budget::Count(_) = budget else {
        return Err(Error::Stopped { before: STEPPED });
    };
    let mut scores = vec![0.0; n_features];
    features.iter().zip(worths).for_each(|(&feature, &worth)| scores[feature] = worth);
    let mut selection = selection(&scores, budget, context.stopped().unwrap_or(Status::TimeLimit));
    selection.notes.push(
        "stopped before there were weights: the scores are what each kernel has in common with the target by \
         itself"
            .to_owned(),
    );
    selection.unless_stopped_before(STEPPED)
}

/// The features with a score, within the budget.
fn selection(scores: &[f64], budget: Budget, status: Status) -> Selection {
    let weights = scores.iter().copied().enumerate().filter(|(_, score)| *score > 0.0).collect();
    let mut selection = Selection::by_weight(weights, scores.len(), budget, status);
    selection.note_missing_features(budget, "no others have a weight");
    selection
}
