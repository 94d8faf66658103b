//! Summaries of records: means, stability, the number of features to use, comparisons.

use fewest_core::{Error, order};

use super::{AUTO_K, Evaluation, Outcome};
use crate::significance::{
    TestResult, corrected_resampled_t_test, equal, paired_differences, paired_t_test, wilcoxon_signed_rank,
};
use crate::stability::{Stability, nogueira};

/// One metric with the best `k` features, over the finished folds.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// The requested number of features, or [`AUTO_K`](crate::AUTO_K).
    pub k: usize,
    /// The metric's name.
    pub metric: String,
    /// Number of folds.
    pub n_folds: usize,
    /// The mean over the folds.
    pub mean: f64,
    /// The standard deviation over the folds (dividing by one less than their number); `None` for a single
    /// fold.
    pub standard_deviation: Option<f64>,
    /// The standard deviation divided by the root of the number of folds; 0 for values that only rounding
    /// makes different. Training parts of folds overlap, so
    /// the error of the mean is larger than this.
    pub standard_error: Option<f64>,
    /// The mean redundancy rate of the features.
    pub redundancy: Option<f64>,
    /// Mean number of features found, at most `k`.
    pub mean_features: f64,
}

impl Summary {
    /// Whether the mean is better than that of `other`, and by more than rounding: means that are equal in
    /// exact arithmetic are not better than each other.
    pub fn is_better(&self, other: &Self, greater_is_better: bool) -> bool {
        self.is_better_by(0.0, other, greater_is_better)
    }

    /// Whether the mean is better than that of `other` by more than one standard error of its own, as
    /// [`KRule::OneStandardError`] judges; without one, for a single fold, as [`is_better`](Self::is_better).
    pub fn is_clearly_better(&self, other: &Self, greater_is_better: bool) -> bool {
        self.is_better_by(self.standard_error.unwrap_or(0.0), other, greater_is_better)
    }

    /// By how many features it is compared with others: `k`, or as many as were found where the method
    /// decides.
    pub fn count(&self) -> f64 {
        if self.k == AUTO_K { self.mean_features } else { self.k as f64 }
    }

    /// Whether the mean is better than that of `other` by more than `slack`.
    fn is_better_by(&self, slack: f64, other: &Self, greater_is_better: bool) -> bool {
        // Where scores of both signs cancel, their spread says how large they are.
        let size = |summary: &Self| summary.mean.abs() + summary.standard_deviation.unwrap_or(0.0);
        let gain = if greater_is_better { self.mean - other.mean } else { other.mean - self.mean };
        gain > slack && !equal(gain, slack, size(self).max(size(other)))
    }

    /// The index of the best of several summaries; of equal ones the first.
    pub fn best<'a>(
        summaries: impl Iterator<Item = &'a Self> + Clone,
        greater_is_better: bool,
    ) -> Option<usize> {
        let sign = if greater_is_better { 1.0 } else { -1.0 };
        let top = summaries.clone().reduce(|a, b| if sign * b.mean > sign * a.mean { b } else { a })?;
        summaries.into_iter().position(|summary| !top.is_better(summary, greater_is_better))
    }
}

/// The rule that chooses the number of features from the means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum KRule {
    /// The best mean; at a tie, also one that only rounding breaks, the fewest features.
    #[default]
    Best,
    /// The fewest features whose mean is within one standard error of the best mean (Breiman et al. 1984).
    /// The standard error is that of the best mean; without one, for a single fold, as [`KRule::Best`].
    OneStandardError,
}

/// The number of features that `rule` chooses from the summaries of one metric; `None` without summaries.
pub(crate) fn choose_k(summaries: &[Summary], greater_is_better: bool, rule: KRule) -> Option<usize> {
    let counts: Vec<f64> = summaries.iter().map(Summary::count).collect();
    let by_k: Vec<&Summary> = order::ascending(&counts).into_iter().map(|at| &summaries[at]).collect();
    let best = by_k[Summary::best(by_k.iter().copied(), greater_is_better)?];
    let slack = match rule {
        KRule::Best => 0.0,
        KRule::OneStandardError => best.standard_error.unwrap_or(0.0),
    };
    by_k.iter().find(|summary| !best.is_better_by(slack, summary, greater_is_better)).map(|summary| summary.k)
}

/// Mean, and standard deviation where there is more than one value: 0 where all are equal but for rounding.
fn moments(values: &[f64]) -> (f64, Option<f64>) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let largest = values.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
    let all_equal = values.iter().all(|value| equal(*value, mean, largest));
    let deviation = || if all_equal { 0.0 } else { (squares / (n - 1.0)).sqrt() };
    (mean, (values.len() > 1).then(deviation))
}

impl Evaluation {
    fn outcomes(&self, k: usize) -> Vec<&Outcome> {
        self.folds.iter().filter_map(|fold| fold.outcomes.iter().find(|outcome| outcome.k == k)).collect()
    }

    fn metric(&self, name: &str) -> Result<usize, Error> {
        self.plan.metrics.iter().position(|metric| metric == name).ok_or_else(|| {
            Error::parameter("metric", name, format!("one of {}", self.plan.metrics.join(", ")))
        })
    }

    /// Every metric for every number of features, sorted by number of features. Empty without finished folds.
    pub fn summaries(&self) -> Vec<Summary> {
        let mut summaries = Vec::new();
        for &k in &self.plan.ks {
            let outcomes = self.outcomes(k);
            if outcomes.is_empty() {
                continue;
            }
            let n = outcomes.len() as f64;
            let redundancies: Vec<f64> = outcomes.iter().filter_map(|outcome| outcome.redundancy).collect();
            for (m, metric) in self.plan.metrics.iter().enumerate() {
                let scores: Vec<f64> =
                    outcomes.iter().filter_map(|outcome| outcome.scores.get(m).copied()).collect();
                let (mean, standard_deviation) = moments(&scores);
                summaries.push(Summary {
                    k,
                    metric: metric.clone(),
                    n_folds: outcomes.len(),
                    mean,
                    standard_deviation,
                    standard_error: standard_deviation.map(|deviation| deviation / n.sqrt()),
                    redundancy: (!redundancies.is_empty()).then(|| moments(&redundancies).0),
                    mean_features: outcomes.iter().map(|outcome| outcome.features.len() as f64).sum::<f64>()
                        / n,
                });
            }
        }
        summaries
    }

    /// The value of `metric` with `k` features in each finished fold, by fold.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for a metric or a number of features that is not in the plan.
    pub(crate) fn scores(&self, k: usize, metric: &str) -> Result<Vec<f64>, Error> {
        let m = self.metric(metric)?;
        if !self.plan.ks.contains(&k) {
            return Err(Error::parameter("k", k, format!("one of {:?}", self.plan.ks)));
        }
        Ok(self.outcomes(k).iter().filter_map(|outcome| outcome.scores.get(m).copied()).collect())
    }

    /// The stability of the selections of `k` features over the folds.
    ///
    /// # Errors
    /// As [`nogueira`]: fewer than two folds, or all folds select nothing or everything.
    pub fn stability(&self, k: usize) -> Result<Stability, Error> {
        let selections: Vec<&[usize]> =
            self.outcomes(k).into_iter().map(|outcome| outcome.features.as_slice()).collect();
        nogueira(&selections, self.plan.n_features, 0.95)
    }

    /// The number of features that `rule` chooses by `metric`.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for a metric that is not in the plan; [`Error::TooFew`] without
    /// finished folds.
    pub fn choose_k(&self, metric: &str, rule: KRule) -> Result<usize, Error> {
        let m = self.metric(metric)?;
        let summaries: Vec<Summary> =
            self.summaries().into_iter().filter(|summary| summary.metric == metric).collect();
        let greater = self.plan.greater_is_better.get(m).copied().unwrap_or(true);
        choose_k(&summaries, greater, rule).ok_or(Error::TooFew {
            what: "finished folds",
            minimum: 1,
            found: 0,
        })
    }
}

/// Two experiments compared fold by fold.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// Number of folds.
    pub n_folds: usize,
    /// The mean of first minus second.
    pub mean_difference: f64,
    /// Student's t-test of the differences. Folds overlap, so its p-values are too small; see `corrected_t`.
    pub paired_t: TestResult,
    /// Nadeau and Bengio's t-test, which accounts for the overlap of the training parts.
    pub corrected_t: TestResult,
    /// Wilcoxon's signed-rank test of the differences.
    pub wilcoxon: TestResult,
}

/// Compares `metric` with `k` features between two experiments on the same folds.
///
/// # Errors
/// [`Error::InvalidParameter`] unless folds and target are the same and both are complete; those of the
/// tests.
pub fn compare(first: &Evaluation, second: &Evaluation, k: usize, metric: &str) -> Result<Comparison, Error> {
    if first.plan.fingerprint != second.plan.fingerprint || !first.is_complete() || !second.is_complete() {
        let expected = "two complete evaluations with the same data, splitter and seed";
        return Err(Error::parameter("evaluations", "not of the same folds", expected));
    }
    let differences = paired_differences(&first.scores(k, metric)?, &second.scores(k, metric)?)?;
    let tested: usize = first.folds.iter().map(|fold| fold.n_test).sum();
    let trained: usize = first.folds.iter().map(|fold| fold.n_train).sum();
    Ok(Comparison {
        n_folds: differences.len(),
        mean_difference: moments(&differences).0,
        paired_t: paired_t_test(&differences)?,
        corrected_t: corrected_resampled_t_test(&differences, tested as f64 / trained as f64)?,
        wilcoxon: wilcoxon_signed_rank(&differences)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The mean of ten times 0.7 is not 0.7, and the deviations from it are not 0.
    #[test]
    fn equal_values_have_no_deviation() {
        let (mean, deviation) = moments(&[0.7; 10]);
        assert!(mean != 0.7, "what the rule is for");
        assert_eq!(deviation, Some(0.0));
        assert_eq!(moments(&[0.1 + 0.2, 0.3, 0.3]).1, Some(0.0));
        assert!(moments(&[0.3, 0.3, 0.3 + 1e-9]).1.is_some_and(|deviation| deviation > 0.0));
        assert_eq!(moments(&[0.0, 0.0]), (0.0, Some(0.0)));
        assert_eq!(moments(&[0.7]).1, None);
    }
}
