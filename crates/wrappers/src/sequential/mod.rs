//! Sequential search over sets of features by the cross-validated score of a learner.

mod floating;
mod judge;

use fewest_core::method::Options;
use fewest_core::{Budget, Context, Dataset, Error, Selection, Selector, Status, options};
use fewest_eval::ChosenLearner;

pub(crate) use judge::better;
use judge::{Judge, without};

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
    /// `Budget::Threshold`. If stopped early, forward search returns the features found so far; backward
    /// search has no result then.
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
        let mut outside = judge.varying.clone();
        let mut found =
            Found { order: Vec::new(), scores: Vec::new(), objective: None, status: Status::Converged };
        while !outside.is_empty() && wanted.is_none_or(|most| found.order.len() < most) {
            let (j, score) = match judge.best_addition(&found.order, &outside, context) {
                Ok(best) => best,
                Err(Error::Stopped { .. }) if !found.order.is_empty() => {
                    found.status = context.stopped().unwrap_or(Status::TimeLimit);
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
            context.report("forward search", found.order.len(), wanted.unwrap_or(judge.varying.len()));
        }
        Ok(found)
    }

    fn backward(judge: &Judge<'_>, wanted: Option<usize>, context: &Context<'_>) -> Result<Found, Error> {
        let mut inside = judge.varying.clone();
        let (mut gone, mut scores) = (Vec::new(), Vec::new());
        let mut score = judge.scores(&[inside.clone()], context)?.first().copied().unwrap_or(f64::NAN);
        while let [_, _, ..] = inside[..] {
            let (j, next) = judge.best_removal(&inside, context)?;
            inside = without(&inside, j);
            gone.push(j);
            scores.push(score);
            score = next;
            context.report("backward search", gone.len(), judge.varying.len());
        }
        gone.extend(inside);
        scores.push(score);
        gone.reverse();
        scores.reverse();
        // The set of the first features of the answer has the score of its last.
        let size = wanted.unwrap_or_else(|| {
            let better_size =
                |best: usize, size: usize| if better(scores[size], scores[best]) { size } else { best };
            (1..scores.len()).fold(0, better_size) + 1
        });
        gone.truncate(size);
        scores.truncate(size);
        Ok(Found { order: gone, objective: scores.last().copied(), scores, status: Status::Converged })
    }
}

/// What a search found.
struct Found {
    order: Vec<usize>,
    scores: Vec<f64>,
    objective: Option<f64>,
    status: Status,
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
            (true, direction) => floating::search(&judge, direction, wanted, context)?,
            (false, Direction::Forward) => Self::forward(&judge, wanted, context)?,
            (false, Direction::Backward) => Self::backward(&judge, wanted, context)?,
        };
        let mut selection = Selection::new(found.order, found.scores, data.n_features(), found.status);
        selection.objective = found.objective;
        selection.note_constant_features(data.n_features() - judge.varying.len());
        Ok(selection)
    }
}
