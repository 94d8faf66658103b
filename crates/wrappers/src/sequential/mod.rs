//! Sequential search over sets of features by the cross-validated score of a learner.

mod floating;
mod judge;

use fewest_core::method::Options;
use fewest_core::{Budget, Context, Dataset, Error, Forecast, Selection, Selector, Status, options};
use fewest_eval::ChosenLearner;

pub(crate) use judge::better;
use judge::{First, Judge, best, without};

use crate::stop::{UNJUDGED, how_stopped};

/// Where a search starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Without features; they are added.
    Forward,
    /// With all features; they are removed.
    Backward,
}

options! {
    /// Sequential forward and backward selection (Whitney 1971; Marill and Green 1963), and their floating
    /// forms (Pudil, Novovičová and Kittler 1994), by the score of any [`Learner`] in cross-validation: the
    /// mean accuracy for classes, minus the mean squared error for real targets.
    ///
    /// Forward search adds the feature that gives the best score; backward search removes the feature without
    /// which the score is best. Floating search follows each such step by steps back as long as these give a
    /// better set of their size than any before, so that early choices are not final.
    ///
    /// Forward, the score of a feature is that of the set when it was added, and with `Budget::Auto` the
    /// search ends when no addition makes it better. Backward, features go down to the last, which is the
    /// best; the score of a feature is that of the set it was taken from, and with `Budget::Auto` the result
    /// is the best set of the search, at a tie the smallest. Floating, features are ordered by how much worse
    /// the score becomes without each, which is their score (a single feature has its own score), and with
    /// `Budget::Auto` the answer is the best set of any size. `Selection::objective` is the score of the set.
    ///
    /// Folds are drawn once, with `Context::seed`, in an order of the samples that depends on their
    /// values: neither the order of rows nor that of columns changes the result. Ties go to the lower
    /// index.
    ///
    /// Cost: `folds` fits for each candidate, `O(k d)` candidates forward, `O(d²)` backward, and floating a
    /// few times as many. Memory twice the data.
    ///
    /// # Errors
    /// Those of the learner; folds out of range; a NaN or an infinity (naming the cell); sample weights;
    /// `Budget::Threshold`; a mean squared error that is no number. If stopped early, forward search returns
    /// the features found so far, in its first step those judged alone; backward search those left in the
    /// order of its last step, then those that went. Before that it is [`Error::Stopped`].
    ///
    /// ```
    /// use fewest_core::{Budget, Context, Dataset, DenseColumns, Selector, Target};
    /// use fewest_eval::NearestNeighbours;
    /// use fewest_wrappers::{Direction, SequentialSearch};
    ///
    /// // The classes are the exclusive or of two features, which are irrelevant alone.
    /// let bit = |of: usize| (0..64).map(|i| f64::from(u8::from(i & of > 0))).collect::<Vec<f64>>();
    /// let labels: Vec<bool> = (0..64).map(|i| (i & 1 > 0) != (i & 8 > 0)).collect();
    /// let x = DenseColumns::from_columns(&[bit(1), bit(2), bit(8), bit(16)])?;
    /// let data = Dataset::new(x, Target::from_labels(&labels))?;
    /// let search = SequentialSearch::new(NearestNeighbours::default(), Direction::Backward);
    /// let mut order = search.select(&data, Budget::Count(2), &Context::default())?.order;
    /// order.sort();
    /// assert_eq!(order, [0, 2]);
    /// # Ok::<(), fewest_core::Error>(())
    /// ```
    #[derive(Debug, Clone)]
    pub struct SequentialSearch {
        /// The learner.
        pub learner: ChosenLearner = ChosenLearner::default();
        /// Folds of the cross-validation.
        ///
        /// At most the number of samples.
        pub folds: usize = 5, Count(2);
        /// Where the search starts.
        pub direction: Direction = Direction::Forward, hidden;
        /// Whether steps may be taken back.
        pub floating: bool = false, hidden;
    }
}

impl SequentialSearch {
    /// No steps back, five folds.
    pub fn new(learner: impl Into<ChosenLearner>, direction: Direction) -> Self {
        Self { learner: learner.into(), direction, ..Self::default() }
    }

    fn forward(judge: &Judge<'_>, wanted: Option<usize>, context: &Context<'_>) -> Result<Found, Error> {
        let most = wanted.unwrap_or(judge.varying.len());
        // Where the score ends the search, nobody knows how many steps there will be.
        let steps = wanted.map_or(0.0, |wanted| additions(judge.varying.len(), wanted));
        let mut progress = Forecast::start(FORWARD, steps);
        let first = match judge.first_addition(context)? {
            First::Best(j, score) => (j, score),
            First::Stopped(scored) => return Found::of_single_features(judge, scored, wanted, context),
        };
        let mut found = Found::new(vec![first.0], vec![first.1], Some(first.1));
        let mut outside = without(&judge.varying, first.0);
        progress.report(1, most, context);
        while !outside.is_empty() && found.order.len() < most {
            let (j, score) = match judge.best_addition(&found.order, &outside, context) {
                Ok(best) => best,
                Err(Error::Stopped { .. }) => {
                    found.status = how_stopped(context);
                    break;
                }
                Err(error) => return Err(error),
            };
            if wanted.is_none() && found.objective.is_some_and(|last| !better(score, last)) {
                break;
            }
            outside = without(&outside, j);
            found.order.push(j);
            found.scores.push(score);
            found.objective = Some(score);
            progress.report(found.order.len(), most, context);
        }
        Ok(found)
    }

    fn backward(judge: &Judge<'_>, wanted: Option<usize>, context: &Context<'_>) -> Result<Found, Error> {
        let mut inside = judge.varying.clone();
        let (mut gone, mut scores, mut removals) = (Vec::new(), Vec::new(), Vec::new());
        let mut status = Status::Converged;
        let mut progress = Forecast::start(BACKWARD, removals_to(judge.varying.len(), 1));
        let mut score = match judge.score_of(&inside, context) {
            Ok(score) => score,
            Err(Error::Stopped { .. }) => return Err(UNJUDGED),
            Err(error) => return Err(error),
        };
        while let [_, _, ..] = inside[..] {
            match judge.removals(&inside, context) {
                Ok(found) => removals = found,
                Err(Error::Stopped { .. }) if removals.is_empty() => return Err(UNJUDGED),
                Err(Error::Stopped { .. }) => {
                    status = how_stopped(context);
                    break;
                }
                Err(error) => return Err(error),
            }
            let (j, next) = best(removals.iter().copied());
            inside = without(&inside, j);
            gone.push(j);
            scores.push(score);
            score = next;
            progress.report(gone.len(), judge.varying.len(), context);
        }
        // One is left, unless the search was stopped.
        let n_left = inside.len();
        let mut order = ranked(&inside, &removals);
        order.extend(gone.into_iter().rev());
        let mut all_scores = vec![score; n_left];
        all_scores.extend(scores.into_iter().rev());
        // The set of the first features of the answer has the score of its last.
        let size = wanted.unwrap_or_else(|| {
            let better_size = |best: usize, size: usize| {
                if better(all_scores[size], all_scores[best]) { size } else { best }
            };
            (n_left..all_scores.len()).fold(n_left - 1, better_size) + 1
        });
        order.truncate(size);
        all_scores.truncate(size);
        let objective = all_scores.last().copied().filter(|_| size >= n_left);
        let notes = if status.is_stopped() { vec![left_note(n_left)] } else { Vec::new() };
        Ok(Found { order, scores: all_scores, objective, status, notes })
    }
}

const FORWARD: &str = "forward search";
const BACKWARD: &str = "backward search";

/// How many of the first step `most` additions to nothing are worth.
fn additions(n_features: usize, most: usize) -> f64 {
    let sum: usize = (0..most.min(n_features)).map(|inside| n_features - inside).sum();
    sum as f64 / n_features.max(1) as f64
}

/// How many of the first step the removals down to `least` features are worth.
fn removals_to(n_features: usize, least: usize) -> f64 {
    (least + 1..=n_features).sum::<usize>() as f64 / n_features.max(1) as f64
}

/// The features of a set by the score of a set without each when it was last judged: first those without
/// which it was worst.
fn ranked(features: &[usize], removals: &[(usize, f64)]) -> Vec<usize> {
    let score =
        |j: &usize| removals.iter().find(|(other, _)| other == j).map_or(f64::NAN, |(_, score)| *score);
    let scores: Vec<f64> = features.iter().map(score).collect();
    fewest_core::rank(&scores, false).into_iter().map(|at| features[at]).collect()
}

/// What a backward search that was stopped says of the features left.
fn left_note(n_left: usize) -> String {
    format!("stopped with {n_left} features left: they are in the order of the last step that was finished")
}

/// What a search found.
struct Found {
    order: Vec<usize>,
    scores: Vec<f64>,
    objective: Option<f64>,
    status: Status,
    notes: Vec<String>,
}

impl Found {
    fn new(order: Vec<usize>, scores: Vec<f64>, objective: Option<f64>) -> Self {
        Self { order, scores, objective, status: Status::Converged, notes: Vec::new() }
    }

    /// Of a forward search that was stopped in its first step, with the features `scored` by then.
    fn of_single_features(
        judge: &Judge<'_>,
        scored: Vec<(usize, f64)>,
        wanted: Option<usize>,
        context: &Context<'_>,
    ) -> Result<Self, Error> {
        if scored.is_empty() {
            return Err(UNJUDGED);
        }
        let note = format!(
            "stopped when {} of {} features had been judged, each alone: these are in that order",
            scored.len(),
            judge.varying.len()
        );
        let (features, values): (Vec<usize>, Vec<f64>) = scored.into_iter().unzip();
        let places = fewest_core::rank(&values, true).into_iter().take(wanted.unwrap_or(values.len()));
        let (order, scores) = places.map(|at| (features[at], values[at])).unzip();
        Ok(Self { status: how_stopped(context), notes: vec![note], ..Self::new(order, scores, None) })
    }
}

impl Selector for SequentialSearch {
    fn select(&self, data: &Dataset, budget: Budget, context: &Context<'_>) -> Result<Selection, Error> {
        self.check()?;
        budget.check(data.n_features())?;
        let wanted = match budget {
            Budget::Count(k) => Some(k),
            Budget::Auto => None,
            _ => {
                let expected =
                    "left out: the score belongs to a set, not to single features; ask for a number of them";
                return Err(Error::parameter("threshold", "given", expected));
            }
        };
        let judge = Judge::new(data, &self.learner, self.folds, context.seed)?;
        if judge.varying.is_empty() {
            return Err(Error::TooFew { what: "features that vary", minimum: 1, found: 0 });
        }
        let wanted = wanted.map(|k| k.min(judge.varying.len()));
        let found = match (self.floating, self.direction) {
            (true, Direction::Forward) => floating::forward(&judge, wanted, context)?,
            (true, Direction::Backward) => floating::backward(&judge, wanted, context)?,
            (false, Direction::Forward) => Self::forward(&judge, wanted, context)?,
            (false, Direction::Backward) => Self::backward(&judge, wanted, context)?,
        };
        let in_target_units = |score: f64| judge.in_target_units(score);
        let scores = found.scores.into_iter().map(in_target_units).collect::<Result<Vec<f64>, Error>>()?;
        let mut selection = Selection::new(found.order, scores, data.n_features(), found.status);
        selection.objective = found.objective.map(in_target_units).transpose()?;
        selection.notes = found.notes;
        selection.note_constant_features(data.n_features() - judge.varying.len());
        Ok(selection)
    }
}
