//! A score for each feature, and the cut-off that turns scores into a selection.

use crate::{Budget, Context, Dataset, Error, Selection, Selector, Status, order};

/// A score for every feature.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Scores {
    /// One value for each feature. NaN means that no value could be computed; it is ranked last.
    pub values: Vec<f64>,
    /// Whether a larger value is a better feature.
    pub higher_is_better: bool,
    /// The p-value of each feature, for scores that are tests.
    pub p_values: Option<Vec<f64>>,
}

impl Scores {
    /// Scores where the largest is the best.
    pub fn descending(values: Vec<f64>) -> Self {
        Self { values, higher_is_better: true, p_values: None }
    }

    /// Scores where the smallest is the best.
    pub fn ascending(values: Vec<f64>) -> Self {
        Self { values, higher_is_better: false, p_values: None }
    }

    /// All features, best first; ties go to the lower index, NaN comes last.
    ///
    /// ```
    /// use fewest_core::Scores;
    /// assert_eq!(Scores::descending(vec![1.0, f64::NAN, 2.0, 1.0]).ranking(), [2, 0, 3, 1]);
    /// ```
    pub fn ranking(&self) -> Vec<usize> {
        rank(&self.values, self.higher_is_better)
    }
}

/// Indices of `values`, best first; ties go to the lower index, NaN comes last.
pub fn rank(values: &[f64], higher_is_better: bool) -> Vec<usize> {
    // Adding zero turns -0.0 into 0.0; a NaN of the right sign is larger than all other values.
    let last = f64::NAN.copysign(if higher_is_better { -1.0 } else { 1.0 });
    let key = |&value: &f64| if value.is_nan() { last } else { value + 0.0 };
    let keys: Vec<f64> = values.iter().map(key).collect();
    if higher_is_better { order::descending(&keys) } else { order::ascending(&keys) }
}

/// A method that scores every feature separately.
pub trait Scorer: Send + Sync {
    /// The score of every feature of `data`.
    ///
    /// # Errors
    /// When the data or the method's parameters do not allow it.
    fn score(&self, data: &Dataset, context: &Context<'_>) -> Result<Scores, Error>;
}

impl<S: Scorer + ?Sized> Scorer for Box<S> {
    fn score(&self, data: &Dataset, context: &Context<'_>) -> Result<Scores, Error> {
        (**self).score(data, context)
    }
}

/// A scorer with a cut-off: the [`Selector`] that takes the best features by score.
///
/// `Budget::Count(k)` selects the `k` best, `Budget::Threshold(t)` those at `t` or better,
/// `Budget::Auto` all with a score. Features that are constant or whose score is NaN are never
/// selected.
#[derive(Debug, Clone)]
pub struct Ranked<S> {
    scorer: S,
}

impl<S: Scorer> Ranked<S> {
    /// Selects by the scores of `scorer`.
    pub fn new(scorer: S) -> Self {
        Self { scorer }
    }
}

impl<S: Scorer> Selector for Ranked<S> {
    fn select(&self, data: &Dataset, budget: Budget, context: &Context<'_>) -> Result<Selection, Error> {
        budget.check(data.n_features())?;
        let scores = self.scorer.score(data, context)?;
        Ok(cut(&scores, &data.constant_features()?, budget))
    }

    /// One set of scores serves all budgets.
    fn select_many(
        &self,
        data: &Dataset,
        budgets: &[Budget],
        context: &Context<'_>,
    ) -> Result<Vec<Selection>, Error> {
        budgets.iter().try_for_each(|budget| budget.check(data.n_features()))?;
        if budgets.is_empty() {
            return Ok(Vec::new());
        }
        let scores = self.scorer.score(data, context)?;
        let constant = data.constant_features()?;
        Ok(budgets.iter().map(|&budget| cut(&scores, &constant, budget)).collect())
    }
}

/// The features that `budget` selects by their `scores`, without the `constant` ones.
fn cut(scores: &Scores, constant: &[usize], budget: Budget) -> Selection {
    let good_enough = |value: f64| match budget {
        Budget::Threshold(threshold) if scores.higher_is_better => value >= threshold,
        Budget::Threshold(threshold) => value <= threshold,
        Budget::Count(_) | Budget::Auto => !value.is_nan(),
    };
    let mut order = scores.ranking();
    // A constant feature has the same score as an irrelevant one, so the score alone does not exclude it.
    order.retain(|j| constant.binary_search(j).is_err() && good_enough(scores.values[*j]));
    if let Budget::Count(k) = budget {
        order.truncate(k);
    }
    let chosen = order.iter().map(|&j| scores.values[j]).collect();
    let mut selection = Selection::new(order, chosen, scores.values.len(), Status::Converged);
    selection.note_constant_features(constant.len());
    selection.note_missing_features(budget, "no other feature has a score");
    if budget == Budget::Auto {
        selection.notes.push("every feature with a score: scores alone do not decide how many".to_owned());
    }
    selection
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAN: f64 = f64::NAN;

    #[test]
    fn the_two_zeros_tie_and_the_lower_index_wins() {
        for zeros in [[0.0, -0.0], [-0.0, 0.0]] {
            let values = [zeros[0], 1.0, zeros[1], -1.0, zeros[0]];
            assert_eq!(rank(&values, true), [1, 0, 2, 4, 3]);
            assert_eq!(rank(&values, false), [3, 0, 2, 4, 1]);
        }
    }

    /// Whatever its sign, and in the order of the indices.
    #[test]
    fn not_a_number_comes_last_both_ways() {
        let values = [NAN, f64::INFINITY, -NAN, -2.0, f64::NEG_INFINITY, NAN];
        assert_eq!(rank(&values, true), [1, 3, 4, 0, 2, 5]);
        assert_eq!(rank(&values, false), [4, 3, 1, 0, 2, 5]);
        assert_eq!(rank(&[NAN, -NAN], true), [0, 1]);
        assert_eq!(rank(&[], true), [0; 0]);
    }

    #[test]
    fn scores_are_ranked_the_way_they_say() {
        let values = vec![0.5, NAN, 2.0, 0.5];
        assert_eq!(Scores::descending(values.clone()).ranking(), [2, 0, 3, 1]);
        assert_eq!(Scores::ascending(values).ranking(), [0, 3, 2, 1]);
    }
}
