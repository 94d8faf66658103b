//! What is reached without a selection: what any selection has to beat.

use fewest::core::{Budget, Context, Dataset, Error, Selection, Selector, Status, Target};
use fewest::eval::{Experiment, Metric};

use crate::Baseline;
use crate::design::Design;
use crate::study::Fill;

/// Largest table, in values, of which all features are learned: each fold copies them.
const LARGEST: usize = 50_000_000;

/// The same selection from all data: no feature, or every one.
struct Fixed {
    all: bool,
}

impl Selector for Fixed {
    fn select(&self, data: &Dataset, _: Budget, _: &Context<'_>) -> Result<Selection, Error> {
        let order: Vec<usize> = if self.all { (0..data.n_features()).collect() } else { Vec::new() };
        let scores = vec![1.0; order.len()];
        Ok(Selection::new(order, scores, data.n_features(), Status::Converged))
    }
}

/// The results without features, and with all; without those that fail, or that a stop cuts short.
pub(crate) fn baselines(
    design: &Design,
    data: &Dataset,
    fill: &Fill<'_>,
    context: &Context<'_>,
) -> Vec<Baseline> {
    let metrics: Vec<&dyn Metric> = design.metrics.iter().map(|metric| &**metric).collect();
    let nothing = if matches!(data.target(), Target::Class(_)) { "majority-class" } else { "mean" };
    let d = data.n_features();
    let run = |id: &'static str, all: bool| {
        let (n_features, k) = if all { (d, d) } else { (0, 1) };
        let experiment = Experiment {
            label: id.to_owned(),
            selector: &Fixed { all },
            learner: &*design.learner,
            splitter: &*design.splitter,
            metrics: &metrics,
            ks: vec![k],
            nested: true,
            prepare: Some(fill),
        };
        // A learner that cannot take all features says nothing about the methods.
        let evaluation = experiment.run(data, context).ok()?;
        let finished = evaluation.status() == Status::Converged;
        finished.then(|| Baseline::new(id, n_features, evaluation.summaries()))
    };
    let small = data.n_samples().saturating_mul(d) <= LARGEST;
    run(nothing, false).into_iter().chain(small.then(|| run("all-features", true)).flatten()).collect()
}
