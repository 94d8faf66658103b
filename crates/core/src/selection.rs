//! The result of a selector.

use crate::{
    AlternationSummary, Context, Dataset, DescentSummary, Error, FalseDiscoveries, PassSelector,
    RelaxationSummary, SolverReport, order,
};

/// How many features are wanted.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Budget {
    /// The best `k`; fewer if the other features are irrelevant.
    Count(usize),
    /// Those whose score is at this value or better.
    Threshold(f64),
    /// The method decides how many.
    Auto,
}

impl Budget {
    /// Checks the budget against the number of features.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for a count of 0 or above `n_features`, or a threshold that is NaN.
    pub fn check(self, n_features: usize) -> Result<(), Error> {
        match self {
            Budget::Count(0) => Err(Error::parameter("k", 0, "at least 1")),
            Budget::Count(k) if k > n_features => {
                Err(Error::parameter("k", k, format!("at most the number of features, {n_features}")))
            }
            Budget::Threshold(threshold) if threshold.is_nan() => {
                Err(Error::parameter("threshold", threshold, "a number"))
            }
            _ => Ok(()),
        }
    }

    /// The number of features, for a method that needs one unless a parameter of `decided_by` is given.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] where there is none.
    pub fn count(self, decided_by: &[&str]) -> Result<usize, Error> {
        let value = match self {
            Budget::Count(k) => return Ok(k),
            Budget::Auto => "auto",
            Budget::Threshold(_) => "not given",
        };
        let expected = match decided_by {
            [] => "a number of features".to_owned(),
            names => format!("a number of features; without one, give `{}`", names.join("` or `")),
        };
        Err(Error::parameter("k", value, expected))
    }
}

/// How a computation ended. With every status, the best result found is returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Status {
    /// The certificate met the tolerance, or nothing had to converge and all was computed.
    Converged,
    /// The certificate is within a factor of 1000 of the tolerance, and rounding allows no more.
    AlmostConverged,
    /// The iteration limit was reached.
    MaxIterations,
    /// The time limit was reached.
    TimeLimit,
    /// The caller asked to stop.
    Interrupted,
    /// No step makes progress any more, although the certificate does not meet the tolerance.
    Stalled,
    /// All samples that there were have been learnt from, as often as was asked for: a method that
    /// learns from
    /// one after the other does not converge, and more of them may change its answer.
    Ended,
}

impl Status {
    /// Every status.
    pub(crate) const ALL: [Self; 7] = [
        Self::Converged,
        Self::AlmostConverged,
        Self::MaxIterations,
        Self::TimeLimit,
        Self::Interrupted,
        Self::Stalled,
        Self::Ended,
    ];

    /// Whether the caller or the time limit ended it.
    pub fn is_stopped(self) -> bool {
        matches!(self, Status::Interrupted | Status::TimeLimit)
    }

    /// How a computation that makes no more progress ended, by its certificate: converged within `tolerance`,
    /// almost converged within a thousand times that, and stalled beyond it or where it is no number.
    ///
    /// ```
    /// use fewest_core::Status;
    /// assert_eq!(Status::by_certificate(1e-9, 1e-8), Status::Converged);
    /// assert_eq!(Status::by_certificate(1e-6, 1e-8), Status::AlmostConverged);
    /// assert_eq!(Status::by_certificate(f64::NAN, 1e-8), Status::Stalled);
    /// ```
    pub fn by_certificate(value: f64, tolerance: f64) -> Self {
        match value / tolerance {
            share if share <= 1.0 => Self::Converged,
            share if share <= 1e3 => Self::AlmostConverged,
            _ => Self::Stalled,
        }
    }

    /// The worst of several: interrupted, then out of time, out of iterations, stalled, almost
    /// converged, ended.
    /// Converged where there is none.
    ///
    /// ```
    /// use fewest_core::Status;
    /// assert_eq!(Status::worst([Status::Stalled, Status::TimeLimit, Status::Converged]), Status::TimeLimit);
    /// ```
    pub fn worst(statuses: impl IntoIterator<Item = Self>) -> Self {
        let badness = |status: &Self| match status {
            Self::Converged => 0,
            Self::Ended => 1,
            Self::AlmostConverged => 2,
            Self::Stalled => 3,
            Self::MaxIterations => 4,
            Self::TimeLimit => 5,
            Self::Interrupted => 6,
        };
        statuses.into_iter().max_by_key(badness).unwrap_or(Self::Converged)
    }

    /// The name used in JSON: `converged`, `max-iterations`, …
    pub fn name(self) -> &'static str {
        match self {
            Status::Converged => "converged",
            Status::AlmostConverged => "almost-converged",
            Status::MaxIterations => "max-iterations",
            Status::TimeLimit => "time-limit",
            Status::Interrupted => "interrupted",
            Status::Stalled => "stalled",
            Status::Ended => "ended",
        }
    }
}

/// The selected features, best first, with the diagnostics of the method.
///
/// May be shorter than requested. `order[i]` has the score `scores[i]`.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Selection {
    /// Feature indices, best first.
    pub order: Vec<usize>,
    /// The score of each chosen feature.
    pub scores: Vec<f64>,
    /// The p-value of each chosen feature, for scores that are tests.
    pub p_values: Option<Vec<f64>>,
    /// The [q-value](crate::q_values) of each chosen feature, over all features tested.
    pub q_values: Option<Vec<f64>>,
    /// Number of features of the data set.
    pub n_features: usize,
    /// How the computation ended.
    pub status: Status,
    /// The value of the criterion of the selected set, for methods that have one besides the objective
    /// of a solver.
    pub objective: Option<f64>,
    /// The solver's certificate, for methods that solve an optimisation problem.
    pub solver: Option<SolverReport>,
    /// The regularisation path, for methods that follow one.
    pub path: Option<Path>,
    /// For each selected feature the features most related to it, for methods that compute them.
    pub related: Vec<Vec<Related>>,
    /// The similarity of the selected features, for methods that compute it.
    pub similarity: Option<Similarity>,
    /// The convergence of an alternating method on a problem that is not convex.
    pub alternation: Option<AlternationSummary>,
    /// The descent of a method for a problem that is not convex.
    pub descent: Option<DescentSummary>,
    /// Bounds on the best set, for methods that round a relaxation.
    pub relaxation: Option<RelaxationSummary>,
    /// The bound on irrelevant features among the selected ones, for selections that keep one.
    pub false_discoveries: Option<FalseDiscoveries>,
    /// The weight of every view, for methods that weigh views.
    pub views: Vec<ViewWeight>,
    /// Notes for the user: fewer features than requested, ties, features set aside.
    pub notes: Vec<String>,
}

/// The weight of a view of the features in a selection.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ViewWeight {
    /// The name of the view.
    pub name: String,
    /// Its weight, in the units of the method: at least 0.
    pub weight: f64,
}

impl ViewWeight {
    /// The weights of the views of these names.
    ///
    /// ```
    /// use fewest_core::ViewWeight;
    /// let weights = ViewWeight::of(&["image".to_owned(), "text".to_owned()], &[0.25, 0.75]);
    /// assert_eq!((weights[1].name.as_str(), weights[1].weight), ("text", 0.75));
    /// ```
    pub fn of(names: &[String], weights: &[f64]) -> Vec<Self> {
        names.iter().zip(weights).map(|(name, &weight)| Self { name: name.clone(), weight }).collect()
    }
}

impl Selection {
    /// A selection without diagnostics.
    pub fn new(order: Vec<usize>, scores: Vec<f64>, n_features: usize, status: Status) -> Self {
        Self {
            order,
            scores,
            p_values: None,
            q_values: None,
            n_features,
            status,
            objective: None,
            solver: None,
            path: None,
            related: Vec::new(),
            similarity: None,
            alternation: None,
            descent: None,
            relaxation: None,
            false_discoveries: None,
            views: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// The features with the largest weights by absolute value, as many as the budget allows; ties go to
    /// the lower index. A weight that is NaN is never selected.
    ///
    /// ```
    /// use fewest_core::{Budget, Selection, Status};
    /// let weights = vec![(1, 0.5), (4, -2.0), (6, 0.5)];
    /// let selection = Selection::by_weight(weights, 9, Budget::Count(2), Status::Converged);
    /// assert_eq!((selection.order, selection.scores), (vec![4, 1], vec![-2.0, 0.5]));
    /// ```
    pub fn by_weight(
        mut weights: Vec<(usize, f64)>,
        n_features: usize,
        budget: Budget,
        status: Status,
    ) -> Self {
        weights.retain(|(_, weight)| !weight.is_nan());
        order::sort_entries(&mut weights);
        let sizes: Vec<f64> = weights.iter().map(|(_, weight)| weight.abs()).collect();
        let mut chosen = order::descending(&sizes);
        match budget {
            Budget::Count(k) => chosen.truncate(k),
            Budget::Threshold(threshold) => chosen.retain(|&at| sizes[at] >= threshold),
            Budget::Auto => {}
        }
        let (order, scores) = chosen.into_iter().map(|at| weights[at]).unzip();
        Self::new(order, scores, n_features, status)
    }

    /// Notes that `n` features are constant and so cannot be selected; nothing if there are none.
    pub fn note_constant_features(&mut self, n: usize) {
        if n > 0 {
            let plural = if n == 1 { "feature is" } else { "features are" };
            self.notes.push(format!("{n} {plural} constant and cannot be selected"));
        }
    }

    /// Notes that `n` features have no p-value, with the reason `what_they_are`. Nothing for none.
    pub(crate) fn note_untested_features(&mut self, n: usize, what_they_are: &str) {
        let told = match n {
            0 => return,
            1 => "1 feature has no p-value and does not count as a test".to_owned(),
            _ => format!("{n} features have no p-value and do not count as tests"),
        };
        self.notes.push(format!("{told}: {what_they_are}"));
    }

    /// Notes that scores are infinite, and what that makes of the order.
    pub(crate) fn note_infinite_scores(&mut self) {
        let told = match self.scores.iter().filter(|score| score.is_infinite()).count() {
            0 => return,
            1 => "one score is infinite, beyond the largest number or a division by 0".to_owned(),
            n => format!(
                "{n} scores are infinite, beyond the largest number or a division by 0: the order of these \
                 features is that of the table"
            ),
        };
        self.notes.push(told);
    }

    /// Notes that there are fewer features than the count of the budget, or none at all, with the reason
    /// `no_others` (and what to do), or that the run was stopped. Nothing if there are enough.
    ///
    /// ```
    /// use fewest_core::{Budget, Selection, Status};
    /// let mut none = Selection::new(Vec::new(), Vec::new(), 9, Status::Converged);
    /// none.note_missing_features(Budget::Auto, "every weight is 0: lower `lambda`");
    /// assert_eq!(none.notes, ["no feature was selected: every weight is 0: lower `lambda`"]);
    /// ```
    pub fn note_missing_features(&mut self, budget: Budget, no_others: &str) {
        let missing = match budget {
            Budget::Count(k) if self.order.len() < k => format!("{} of {k} features", self.order.len()),
            _ if self.order.is_empty() => "no feature was selected".to_owned(),
            _ => return,
        };
        let why = match budget {
            _ if self.status.is_stopped() => "the run was stopped before others were found",
            Budget::Threshold(_) => "no other score reaches the threshold",
            _ => no_others,
        };
        self.notes.push(format!("{missing}: {why}"));
    }

    /// Notes that the count of the budget left out some of `n_found` features, which are `what_they_are`.
    /// Nothing if all are there.
    ///
    /// ```
    /// use fewest_core::{Budget, Selection, Status};
    /// let mut two = Selection::new(vec![4, 1], vec![2.0, 1.0], 9, Status::Converged);
    /// two.note_left_out(6, Budget::Count(2), "features with a coefficient");
    /// assert_eq!(two.notes, ["2 of the 6 features with a coefficient, as many as were asked for: `k` = auto gives all"]);
    /// ```
    pub fn note_left_out(&mut self, n_found: usize, budget: Budget, what_they_are: &str) {
        if let Budget::Count(_) = budget
            && self.order.len() < n_found
        {
            let n = self.order.len();
            self.notes.push(format!(
                "{n} of the {n_found} {what_they_are}, as many as were asked for: `k` = auto gives all"
            ));
        }
    }

    /// The selection, unless the run was stopped before there was any feature.
    ///
    /// # Errors
    /// [`Error::Stopped`] then, before `what`: an empty selection would look like an answer.
    pub fn unless_stopped_before(self, what: &'static str) -> Result<Self, Error> {
        if self.order.is_empty() && self.status.is_stopped() {
            return Err(Error::Stopped { before: what });
        }
        Ok(self)
    }

    /// The selection of a call for one budget.
    ///
    /// # Errors
    /// [`Error::Stopped`] when there is none.
    pub fn only(mut selections: Vec<Self>) -> Result<Self, Error> {
        selections.pop().ok_or(Error::Stopped { before: "anything was selected" })
    }

    /// Which features were selected, as one flag for each feature.
    pub fn mask(&self) -> Vec<bool> {
        let mut mask = vec![false; self.n_features];
        for &j in &self.order {
            mask[j] = true;
        }
        mask
    }
}

/// Coefficients along decreasing penalties.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Path {
    /// The points, by decreasing `lambda`.
    pub points: Vec<PathPoint>,
    /// Features in the order in which they first entered.
    pub entered: Vec<usize>,
    /// How one of the points was chosen, for methods that let the data choose.
    pub choice: Option<PathChoice>,
}

impl Path {
    /// Adds a point, with the features that enter there.
    ///
    /// ```
    /// let mut path = fewest_core::Path::default();
    /// path.push(1.0, vec![(7, 0.5)]);
    /// path.push(0.5, vec![(2, 0.1), (7, 0.8)]);
    /// assert_eq!(path.entered, [7, 2]);
    /// ```
    pub fn push(&mut self, lambda: f64, coefficients: Vec<(usize, f64)>) {
        for (feature, _) in &coefficients {
            if !self.entered.contains(feature) {
                self.entered.push(*feature);
            }
        }
        self.points.push(PathPoint { lambda, coefficients });
    }
}

/// How one of the points of a [`Path`] was chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct PathChoice {
    /// What was to be small: "cross-validated error", "BIC".
    pub criterion: String,
    /// Its value at every point; infinite where the point is no candidate.
    pub values: Vec<f64>,
    /// The standard errors of the values, where there are any.
    pub standard_errors: Vec<f64>,
    /// The point chosen.
    pub chosen: usize,
}

/// One point of a [`Path`].
#[derive(Debug, Clone, PartialEq)]
pub struct PathPoint {
    /// The penalty.
    pub lambda: f64,
    /// The non-zero coefficients, by increasing feature index.
    pub coefficients: Vec<(usize, f64)>,
}

/// A feature that is similar to a selected one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Related {
    /// The feature's index.
    pub feature: usize,
    /// How related, by the method's own measure in `[0, 1]`.
    pub relatedness: f64,
}

/// The similarity of the selected features: a symmetric matrix in the order of [`Selection::order`].
#[derive(Debug, Clone, PartialEq)]
pub struct Similarity {
    /// Entry `(i, j)` at `i + j * len`.
    pub values: Vec<f64>,
    /// Number of chosen features.
    pub len: usize,
}

/// A method that chooses features.
pub trait Selector: Send + Sync {
    /// Chooses features of `data` within `budget`.
    ///
    /// # Errors
    /// When the data, the budget or the method's parameters do not allow it.
    fn select(&self, data: &Dataset, budget: Budget, context: &Context<'_>) -> Result<Selection, Error>;

    /// A selection for each of `budgets`, the same as [`Selector::select`] returns for each. Methods that
    /// can share work between budgets, such as one path or one ranking, do it once.
    ///
    /// # Errors
    /// As [`Selector::select`] for any of them; [`Error::Stopped`] when the context says so between two.
    fn select_many(
        &self,
        data: &Dataset,
        budgets: &[Budget],
        context: &Context<'_>,
    ) -> Result<Vec<Selection>, Error> {
        let mut selections = Vec::with_capacity(budgets.len());
        for &budget in budgets {
            if !selections.is_empty() && context.stopped().is_some() {
                return Err(Error::Stopped { before: "features were selected for every budget" });
            }
            selections.push(self.select(data, budget, context)?);
        }
        Ok(selections)
    }

    /// Itself, where it can read the rows in passes, so that they need not be in memory. A method that is a
    /// [`PassSelector`] says so by `Some(self)`.
    fn in_passes(&self) -> Option<&dyn PassSelector> {
        None
    }
}

impl<S: Selector + ?Sized> Selector for Box<S> {
    fn select(&self, data: &Dataset, budget: Budget, context: &Context<'_>) -> Result<Selection, Error> {
        (**self).select(data, budget, context)
    }

    fn select_many(
        &self,
        data: &Dataset,
        budgets: &[Budget],
        context: &Context<'_>,
    ) -> Result<Vec<Selection>, Error> {
        (**self).select_many(data, budgets, context)
    }

    fn in_passes(&self) -> Option<&dyn PassSelector> {
        (**self).in_passes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_no_answer_of_a_run_that_was_stopped() {
        let of = |order: Vec<usize>, status| {
            let scores = vec![1.0; order.len()];
            Selection::new(order, scores, 4, status).unless_stopped_before("a feature was found")
        };
        for status in [Status::TimeLimit, Status::Interrupted] {
            assert_eq!(of(Vec::new(), status), Err(Error::Stopped { before: "a feature was found" }));
            assert_eq!(of(vec![2], status).map(|found| found.order), Ok(vec![2]));
        }
        assert_eq!(of(Vec::new(), Status::Converged).map(|found| found.order), Ok(Vec::new()));
    }

    #[test]
    fn missing_features_are_told_with_the_reason() {
        let notes = |n: usize, status, budget| {
            let mut selection = Selection::new((0..n).collect(), vec![1.0; n], 4, status);
            selection.note_missing_features(budget, "lower `lambda`");
            selection.notes
        };
        let done = Status::Converged;
        assert_eq!(notes(1, done, Budget::Count(2)), ["1 of 2 features: lower `lambda`"]);
        assert_eq!(notes(0, done, Budget::Auto), ["no feature was selected: lower `lambda`"]);
        assert_eq!(
            notes(0, done, Budget::Threshold(0.5)),
            ["no feature was selected: no other score reaches the threshold"]
        );
        assert_eq!(
            notes(0, Status::TimeLimit, Budget::Count(1)),
            ["0 of 1 features: the run was stopped before others were found"]
        );
        for budget in [Budget::Count(2), Budget::Auto, Budget::Threshold(0.5)] {
            assert!(notes(2, done, budget).is_empty());
        }
    }

    #[test]
    fn the_mask_has_a_flag_for_every_feature() {
        let mask = |order: &[usize]| {
            Selection::new(order.to_vec(), vec![0.0; order.len()], 4, Status::Converged).mask()
        };
        assert_eq!(mask(&[3, 0]), [true, false, false, true]);
        assert_eq!(mask(&[]), [false; 4]);
        assert_eq!(mask(&[2, 3, 1, 0]), [true; 4]);
    }
}
