//! The best method at each number of features, and the differences of the others from it.

use fewest::core::Status;
use fewest::eval::significance::TestResult;
use fewest::eval::{Summary, compare};

use crate::Report;

/// The methods at one number of features by one metric.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct DifferenceColumn {
    /// The number of features, or [`AUTO_K`](fewest::eval::AUTO_K).
    pub k: usize,
    /// The index of the best method; at a tie, also one that only rounding breaks, the first. `None` where
    /// there is nothing to compare: a single method, or folds that are not finished.
    pub best: Option<usize>,
    /// One entry for each method.
    pub cells: Vec<DifferenceCell>,
}

/// A method against the best one.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct DifferenceCell {
    /// Mean over the folds.
    pub mean: f64,
    /// Standard error of that mean; `None` for a single fold.
    pub standard_error: Option<f64>,
    /// Whether no method is better, but for rounding: the best method and those with an equal mean. False
    /// where there is nothing to compare.
    pub is_best: bool,
    /// The difference from the best method; `None` for the best itself, and where there is none.
    pub difference: Option<Difference>,
}

/// A paired difference.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Difference {
    /// The best method minus this one, mean over the folds.
    pub mean: f64,
    /// Nadeau and Bengio's test.
    pub corrected_t: TestResult,
    /// Wilcoxon's signed-rank test.
    pub wilcoxon: TestResult,
}

/// Whether there are several methods on the same folds: a mean over some folds may be better than one over
/// all of them because these are the easier ones.
fn are_comparable(report: &Report) -> bool {
    report.methods.len() > 1
        && report.methods.iter().all(|method| method.evaluation.status() == Status::Converged)
}

/// A column for each number of features, by the metric at `m`; none where there is no such metric.
pub fn columns(report: &Report, m: usize) -> Vec<DifferenceColumn> {
    let greater = report.greater_is_better(m);
    let Some(metric) = report.metrics().get(m) else { return Vec::new() };
    let summaries: Vec<_> = report.methods.iter().map(|method| method.evaluation.summaries()).collect();
    let column = |&k: &usize| {
        let of_k: Vec<&Summary> = summaries
            .iter()
            .map(|summaries| summaries.iter().find(|summary| summary.k == k && summary.metric == *metric))
            .collect::<Option<_>>()?;
        let comparable = are_comparable(report);
        let best = Summary::best(of_k.iter().copied(), greater).filter(|_| comparable);
        let difference = |i: usize| {
            let best = best?;
            let (first, second) = (&report.methods[best].evaluation, &report.methods[i].evaluation);
            let comparison = (i != best).then(|| compare(first, second, k, metric).ok()).flatten()?;
            Some(Difference {
                mean: comparison.mean_difference,
                corrected_t: comparison.corrected_t,
                wilcoxon: comparison.wilcoxon,
            })
        };
        let cells = of_k
            .iter()
            .enumerate()
            .map(|(i, summary)| DifferenceCell {
                mean: summary.mean,
                standard_error: summary.standard_error,
                is_best: best.is_some_and(|best| !of_k[best].is_better(summary, greater)),
                difference: difference(i),
            })
            .collect();
        Some(DifferenceColumn { k, best, cells })
    };
    report.ks().iter().filter_map(column).collect()
}

/// The best mean of all by the metric at `m`: the index of the method and its summary. Of equal ones, also
/// where only rounding breaks the tie, the fewest features, then the first method. `None` without means.
pub fn best(report: &Report, m: usize) -> Option<(usize, Summary)> {
    let metric = report.metrics().get(m)?;
    let of_k = |&k: &usize| {
        let methods = report.methods.iter().enumerate();
        let means = methods.map(|(i, method)| (i, method.evaluation.summaries()));
        let own = move |summary: &Summary| summary.k == k && summary.metric == *metric;
        means.filter_map(move |(i, summaries)| Some((i, summaries.into_iter().find(own)?)))
    };
    let mut all: Vec<(usize, Summary)> = report.ks().iter().flat_map(of_k).collect();
    // Stable, so that of equal numbers the first method stays first.
    all.sort_by(|(_, a), (_, b)| a.count().total_cmp(&b.count()));
    let at = Summary::best(all.iter().map(|(_, summary)| summary), report.greater_is_better(m))?;
    Some(all.swap_remove(at))
}
