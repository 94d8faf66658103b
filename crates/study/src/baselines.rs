//! What is reached without a selection: what any selection has to beat.

use fewest::core::{Budget, Context, Dataset, Error, Selection, Selector, Status, Target};
use fewest::eval::{Experiment, FoldRecord, Metric, Plan, RunOptions};

use crate::design::Design;
use crate::error::why;
use crate::study::Fill;
use crate::{Baseline, Report, Store, differences};

/// Largest table, in values, of which all features are learned: each fold copies them.
const LARGEST: usize = 50_000_000;

/// The same selection from all data: no feature, or every one.
struct Fixed(Vec<usize>);

impl Selector for Fixed {
    fn select(&self, data: &Dataset, _: Budget, _: &Context<'_>) -> Result<Selection, Error> {
        let scores = vec![1.0; self.0.len()];
        Ok(Selection::new(self.0.clone(), scores, data.n_features(), Status::Converged))
    }
}

/// What folds without a selection are stored as.
const STORED: &str = "baseline ";

/// Whether stored folds of this label are those of a baseline, whose numbers of features are its own.
pub(crate) fn is_baseline(label: &str) -> bool {
    label.starts_with(STORED)
}

/// What is reached without a selection.
pub(crate) struct Reached {
    /// The results without features, and with all; none that are not finished.
    pub baselines: Vec<Baseline>,
    /// How it ended.
    pub status: Status,
    /// What was left out, and why.
    pub notes: Vec<String>,
}

impl Reached {
    /// Nothing, after methods that ended so: where nothing else is `wanted`, or where they were stopped.
    pub(crate) fn nothing(wanted: bool, status: Status) -> Self {
        let because = if wanted { why(status) } else { "as asked for" };
        let notes = vec![format!("the results without a selection are left out: {because}")];
        Self { baselines: Vec::new(), status, notes }
    }
}

/// The results without features, and with all. One that fails says nothing about the methods: it is noted.
/// `store` has folds that are not run again, and stores the new ones.
pub(crate) fn baselines(
    design: &Design,
    data: &Dataset,
    fill: &Fill<'_>,
    store: Option<&Store>,
    context: &Context<'_>,
) -> Reached {
    let metrics: Vec<&dyn Metric> = design.metrics.iter().map(|metric| &**metric).collect();
    let covariates = &design.terms.covariates;
    let nothing = match data.target() {
        _ if !covariates.is_empty() => "covariates",
        Target::Class(_) => "majority-class",
        Target::Survival(_) => "equal-risk",
        _ => "mean",
    };
    let d = data.n_features();
    // What can be selected: an offset is no feature of the learner, and covariates it has anyway.
    let is_free = |j: &usize| !covariates.contains(j) && !design.terms.offset.contains(j);
    let run = |id: &'static str, all: bool| {
        let selected: Vec<usize> = if all { (0..d).filter(is_free).collect() } else { Vec::new() };
        let (n_features, k) = (selected.len(), selected.len().max(1));
        let experiment = Experiment {
            label: format!("{STORED}{id} | {}", design.identity),
            selector: &Fixed(selected),
            learner: &*design.learner,
            splitter: &*design.splitter,
            metrics: &metrics,
            ks: vec![k],
            nested: true,
            prepare: Some(fill),
        };
        let finished = store.and_then(|store| store.finished(&experiment.label));
        let keep = |plan: &Plan, record: &FoldRecord| {
            let mut record = record.clone();
            // All features in their order: a file does not need to say so for each fold.
            record.outcomes.iter_mut().for_each(|outcome| outcome.features.clear());
            if let Some(store) = store {
                store.add(plan, &record);
            }
        };
        let options = RunOptions {
            finished: finished.as_ref(),
            on_fold: Some(&keep),
            covariates,
            ..RunOptions::default()
        };
        let evaluation = experiment.run_with(data, options, context).map_err(|error| error.to_string())?;
        let mut summaries = evaluation.summaries();
        summaries.iter_mut().for_each(|summary| summary.mean_features = n_features as f64);
        Ok((evaluation.status(), Baseline::new(id, n_features, summaries)))
    };
    let mut reached = Reached { baselines: Vec::new(), status: Status::Converged, notes: Vec::new() };
    for (id, all) in [(nothing, false), ("all-features", true)] {
        let result = if all && data.n_samples().saturating_mul(d) > LARGEST {
            Err(format!("the table has more than {LARGEST} values"))
        } else if reached.status == Status::Converged {
            run(id, all)
        } else {
            Err(why(reached.status).to_owned())
        };
        let left_out = match result {
            Ok((Status::Converged, baseline)) => {
                reached.baselines.push(baseline);
                continue;
            }
            Ok((stopped, _)) => {
                reached.status = stopped;
                why(stopped).to_owned()
            }
            Err(error) => error,
        };
        reached.notes.push(format!("the results of {id} are left out: {left_out}"));
    }
    reached
}

/// A note for each that is better than the best mean: no features unless the best is better, all features if
/// they are better by more than one standard error.
pub(crate) fn better_baselines(report: &Report) -> Vec<String> {
    let Some((_, best)) = differences::best(report, 0) else { return Vec::new() };
    let greater = report.greater_is_better(0);
    let note = |known: &Baseline| {
        let own = known.summaries.first()?;
        let metric = &own.metric;
        match known.n_features {
            0 => (!best.is_better(own, greater)).then(|| {
                let what = match report.covariates.is_empty() {
                    true => "guessing without features",
                    false => "the covariates alone",
                };
                format!("by {metric}, no selection is better than {what} (none)")
            }),
            _ => own.is_clearly_better(&best, greater).then(|| {
                format!(
                    "by {metric}, all features are better than every selection by more than one standard error (all)"
                )
            }),
        }
    };
    report.baselines.iter().filter_map(note).collect()
}
