//! The best method at each number of features, and the differences of the others from it.

use fewest::eval::compare;
use fewest::eval::significance::TestResult;

use crate::Report;

/// The methods at one number of features by one metric.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct DifferenceColumn {
    /// The number of features.
    pub k: usize,
    /// The index of the best method; at a tie the first.
    pub best: usize,
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
    /// The difference from the best method; `None` for the best itself, and where not all folds are finished.
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

/// A column for each number of features, by the metric at `m`; none where there is no such metric.
pub fn columns(report: &Report, m: usize) -> Vec<DifferenceColumn> {
    let sign = if report.greater_is_better(m) { 1.0 } else { -1.0 };
    let Some(metric) = report.metrics().get(m) else { return Vec::new() };
    let summaries: Vec<_> = report.methods.iter().map(|method| method.evaluation.summaries()).collect();
    let column = |&k: &usize| {
        let of_k: Vec<_> = summaries
            .iter()
            .map(|summaries| summaries.iter().find(|summary| summary.k == k && summary.metric == *metric))
            .collect::<Option<_>>()?;
        let mut best = 0;
        for (i, summary) in of_k.iter().enumerate() {
            if sign * summary.mean > sign * of_k[best].mean {
                best = i;
            }
        }
        let difference = |i: usize| {
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
                difference: difference(i),
            })
            .collect();
        Some(DifferenceColumn { k, best, cells })
    };
    report.ks().iter().filter_map(column).collect()
}
