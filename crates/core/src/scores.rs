//! A score for each feature, and the cut-off that turns scores into a selection.

use crate::{
    Budget, Context, Dataset, Error, PassSelector, SampleStream, Selection, Selector, Status, StreamScorer,
    order, streams,
};

/// A score for every feature.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Scores {
    /// One value for each feature. NaN means that no value could be computed; it is ranked last.
    pub values: Vec<f64>,
    /// Whether a larger value is a better feature.
    pub higher_is_better: bool,
    /// The p-value of each feature, for scores that are tests. NaN means that there was nothing to test, as
    /// of a constant.
    pub p_values: Option<Vec<f64>>,
    /// How the computation ended.
    pub status: Status,
    /// Notes for the user.
    pub notes: Vec<String>,
}

impl Scores {
    /// Scores where the largest is the best.
    pub fn descending(values: Vec<f64>) -> Self {
        let (status, notes) = (Status::Converged, Vec::new());
        Self { values, higher_is_better: true, p_values: None, status, notes }
    }

    /// Scores where the smallest is the best.
    pub fn ascending(values: Vec<f64>) -> Self {
        Self { higher_is_better: false, ..Self::descending(values) }
    }

    /// With how the run ended. Where it was stopped, features without a score were not reached, and a note
    /// says how many were.
    #[must_use]
    pub fn with_status(mut self, status: Status) -> Self {
        self.status = status;
        if status.is_stopped() {
            let n_scored = self.values.iter().filter(|score| !score.is_nan()).count();
            self.notes.push(format!(
                "the run was stopped when {n_scored} of {} features had a score; the others are not known",
                self.values.len()
            ));
        }
        self
    }

    /// Adds the scores of the features that come after these, by the same method.
    pub(crate) fn append(&mut self, next: Self) {
        self.values.extend(next.values);
        self.p_values = self.p_values.take().zip(next.p_values).map(|(own, next)| [own, next].concat());
        self.status = Status::worst([self.status, next.status]);
        for note in next.notes {
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
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

    /// The q-value of each feature, over all features with a p-value; `None` for scores that are no tests,
    /// and for those of a run that was stopped before all features were tested.
    pub fn q_values(&self) -> Option<Vec<f64>> {
        let is_partly_tested = |p_values: &[f64]| p_values.iter().any(|p| p.is_nan());
        if self.status.is_stopped() && self.p_values.as_deref().is_some_and(is_partly_tested) {
            return None;
        }
        self.p_values.as_deref().map(q_values)
    }

    /// The `most` best features, or all, as a selection: with p-values and q-values, and with notes on
    /// features that have none and on infinite scores.
    pub fn best(&self, most: Option<usize>) -> Selection {
        let mut order = self.ranking();
        order.truncate(most.unwrap_or(usize::MAX));
        let mut selection = self.selection(order);
        let untested = self.untested().count();
        selection.note_untested_features(untested, "constant, or categories that the test cannot use");
        selection.note_infinite_scores();
        selection
    }

    /// The features without a p-value, of a score that is a test.
    fn untested(&self) -> impl Iterator<Item = usize> {
        let p_values = self.p_values.iter().flatten().enumerate();
        p_values.filter(|(_, p)| p.is_nan()).map(|(j, _)| j)
    }

    /// The features of `order` with their scores, p-values and q-values, and the notes.
    pub fn selection(&self, order: Vec<usize>) -> Selection {
        let value = |values: &[f64], j: usize| values.get(j).copied().unwrap_or(f64::NAN);
        let of = |values: &[f64]| order.iter().map(|&j| value(values, j)).collect::<Vec<f64>>();
        let (p_values, q_values) = (self.p_values.as_deref().map(of), self.q_values().as_deref().map(of));
        let scores = of(&self.values);
        let selection = Selection::new(order, scores, self.values.len(), self.status);
        Selection { p_values, q_values, notes: self.notes.clone(), ..selection }
    }
}

/// The q-values of Benjamini and Hochberg (1995): `q₍ᵢ₎ = min over j ≥ i of m p₍ⱼ₎ / j`, at most 1, where
/// `p₍ⱼ₎` is the `j`-th smallest of the `m` p-values that are not NaN. Of the features with `q ≤ 0.05`, at
/// most 5 % are expected to be unrelated to the target, where the tests are independent or positively
/// dependent. NaN stays NaN.
///
/// ```
/// use fewest_core::q_values;
/// assert_eq!(q_values(&[0.01, 0.5, 0.02, f64::NAN])[..3], [0.03, 0.5, 0.03]);
/// ```
pub fn q_values(p_values: &[f64]) -> Vec<f64> {
    let mut order = order::ascending(p_values);
    order.retain(|&j| !p_values[j].is_nan());
    let tested = order.len() as f64;
    let mut q_values = vec![f64::NAN; p_values.len()];
    let mut smallest = 1.0_f64;
    for (place, &j) in order.iter().enumerate().rev() {
        smallest = smallest.min(p_values[j] * tested / (place + 1) as f64);
        q_values[j] = smallest;
    }
    q_values
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

    /// Itself, where it can read the rows in passes, so that they need not be in memory. A method that is a
    /// [`StreamScorer`] says so by `Some(self)`.
    fn in_passes(&self) -> Option<&dyn StreamScorer> {
        None
    }
}

impl<S: Scorer + ?Sized> Scorer for Box<S> {
    fn score(&self, data: &Dataset, context: &Context<'_>) -> Result<Scores, Error> {
        (**self).score(data, context)
    }

    fn in_passes(&self) -> Option<&dyn StreamScorer> {
        (**self).in_passes()
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

    fn in_passes(&self) -> Option<&dyn PassSelector> {
        self.scorer.in_passes().is_some().then_some(self)
    }
}

impl<S: Scorer> PassSelector for Ranked<S> {
    fn select_stream(
        &self,
        stream: &mut dyn SampleStream,
        budget: Budget,
        context: &Context<'_>,
    ) -> Result<Selection, Error> {
        match self.scorer.in_passes() {
            Some(scorer) => streams::ranked(scorer, stream, budget, context),
            None => Err(Error::Unsupported {
                method: "a ranking",
                what: "reading rows in passes with this score".to_owned(),
                instead: "read them into one table".to_owned(),
            }),
        }
    }

    fn reads_parts(&self) -> bool {
        self.scorer.in_passes().is_some_and(StreamScorer::reads_parts)
    }

    fn times_in_memory(&self) -> u64 {
        self.scorer.in_passes().map_or(1, StreamScorer::times_in_memory)
    }

    fn sums_rows(&self) -> bool {
        self.scorer.in_passes().is_some_and(StreamScorer::sums_rows)
    }
}

/// The features that `budget` selects by their `scores`, without the `constant` ones.
pub(crate) fn cut(scores: &Scores, constant: &[usize], budget: Budget) -> Selection {
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
    let mut selection = scores.selection(order);
    selection.note_constant_features(constant.len());
    let untested = scores.untested().filter(|j| constant.binary_search(j).is_err()).count();
    selection.note_untested_features(untested, "categories that the test cannot use");
    selection.note_missing_features(budget, "the others are constant or have no score");
    selection.note_infinite_scores();
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

    /// By the definition, for each feature over all larger p-values; a NaN is no test.
    #[test]
    fn q_values_are_those_of_the_definition() {
        let p = [0.04, 0.001, NAN, 0.9, 0.04, 0.0, 1.0, 0.03];
        let tested: Vec<f64> = p.iter().copied().filter(|p| !p.is_nan()).collect();
        for (p, q) in p.into_iter().zip(q_values(&p)) {
            let up_to = |bound: f64| tested.iter().filter(|other| **other <= bound).count() as f64;
            let ratios = tested.iter().filter(|other| **other >= p).map(|p| p * 7.0 / up_to(*p));
            let expected = ratios.fold(1.0, f64::min);
            assert!(p.is_nan() && q.is_nan() || (q - expected).abs() < 1e-15, "{p}: {q} for {expected}");
        }
        assert_eq!(q_values(&[]), [0.0; 0]);
        assert!(q_values(&[NAN])[0].is_nan());
    }

    /// Over all features that were tested, not the chosen ones alone.
    #[test]
    fn a_selection_has_the_q_values_of_all_features() {
        let mut scores = Scores::descending(vec![3.0, 1.0, 2.0, 0.5]);
        scores.p_values = Some(vec![0.01, 0.4, 0.02, 0.8]);
        let selection = cut(&scores, &[], Budget::Count(2));
        assert_eq!(selection.p_values, Some(vec![0.01, 0.02]));
        assert_eq!(selection.q_values, Some(vec![0.04, 0.04]));
    }

    /// A run that was stopped says so in whatever is made of its scores.
    #[test]
    fn a_selection_ends_as_its_scores_did() {
        let mut scores = Scores::descending(vec![3.0, 1.0]);
        scores.status = Status::TimeLimit;
        scores.notes = vec!["stopped after 3 of 9".to_owned()];
        for selection in [cut(&scores, &[], Budget::Count(1)), scores.best(Some(1))] {
            assert_eq!((selection.status, &selection.notes), (Status::TimeLimit, &scores.notes));
        }
    }

    /// What was not tested is no test, and told: constants by their own note.
    #[test]
    fn features_without_a_p_value_are_told() {
        let mut scores = Scores::descending(vec![3.0, 0.0, 2.0, NAN]);
        scores.p_values = Some(vec![0.01, NAN, 0.02, NAN]);
        let told = |selection: Selection| selection.notes.concat();
        let listed = scores.best(None);
        assert_eq!(listed.q_values.as_ref().map(|q| q[..2].to_vec()), Some(vec![0.02, 0.02]));
        assert!(told(listed).starts_with("2 features have no p-value and do not count as tests"));
        assert!(told(cut(&scores, &[1], Budget::Count(1))).contains("1 feature has no p-value and does not"));
        scores.p_values = None;
        assert!(told(scores.best(None)).is_empty());
    }

    /// Two scores that overflow are equal, and their order says nothing.
    #[test]
    fn infinite_scores_are_told() {
        for told in [
            |scores: Scores| cut(&scores, &[], Budget::Count(2)).notes,
            |scores: Scores| scores.best(None).notes,
        ] {
            let notes = |values: Vec<f64>| told(Scores::descending(values));
            assert!(notes(vec![1.0, 2.0, f64::INFINITY])[0].starts_with("one score is infinite"));
            assert!(notes(vec![f64::INFINITY, 2.0, f64::INFINITY])[0].starts_with("2 scores are infinite"));
            assert!(notes(vec![1.0, 2.0, 3.0]).is_empty());
        }
    }

    #[test]
    fn scores_are_ranked_the_way_they_say() {
        let values = vec![0.5, NAN, 2.0, 0.5];
        assert_eq!(Scores::descending(values.clone()).ranking(), [2, 0, 3, 1]);
        assert_eq!(Scores::ascending(values).ranking(), [0, 3, 2, 1]);
    }
}
