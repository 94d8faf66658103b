//! One fold of an experiment.

use std::sync::Arc;
use std::time::Instant;

use fewest_core::{Budget, Context, Dataset, DenseColumns, Error, derive_seed};

use super::{Experiment, ExperimentError, FoldRecord, Outcome, Plan, Stage};
use crate::features::{check_features, describe, first_features, gather};
use crate::learners::constant;
use crate::{Predictions, Split, redundancy_rate};

/// The record of fold `fold`, or `None` when it was stopped on the way. Features are taken from `earlier` where it is given.
pub(super) fn run(
    experiment: &Experiment<'_>,
    plan: &Plan,
    data: &Dataset,
    split: &Split,
    (fold, earlier): (usize, Option<&FoldRecord>),
    context: &Context<'_>,
) -> Result<Option<FoldRecord>, ExperimentError> {
    let fail = |stage: Stage| {
        move |source: Error| ExperimentError::Fold { fold, n_folds: plan.n_folds, stage, source }
    };
    let seed = derive_seed(derive_seed(context.seed, 1), fold as u64);
    // Progress is told by fold: messages from inside would come from several threads at once.
    let inside = Context { seed, progress: None, ..*context };
    let mut train = data.subset(&split.train)?;
    let prepared;
    let mut data = data;
    if let Some(prepare) = experiment.prepare {
        prepared = prepare(&train, data).map_err(fail(Stage::Preparation))?;
        data = &prepared;
        train = data.subset(&split.train)?;
    }
    let truth = data.target().subset(&split.test);

    let mut selected: Option<Chosen> = None;
    let mut outcomes = Vec::with_capacity(plan.ks.len());
    for &k in plan.ks.iter() {
        let wanted = if plan.nested { plan.ks.last().copied().unwrap_or(k) } else { k };
        if selected.is_none() || !plan.nested {
            let stage = Stage::Selection { k: wanted };
            let found =
                match earlier.and_then(|record| record.outcomes.iter().find(|outcome| outcome.k == wanted)) {
                    Some(outcome) => Ok(taken(outcome)),
                    None => choose(experiment, &train, wanted, &inside),
                };
            match found.and_then(|found| found.gathered(data, split)) {
                Ok(chosen) => selected = Some(chosen),
                Err(Error::Stopped { .. }) if context.stopped().is_some() => return Ok(None),
                Err(error) => return Err(fail(stage)(error)),
            }
        }
        let Some(chosen) = &selected else { return Ok(None) };
        if !chosen.finished {
            return Ok(None);
        }
        let features = &chosen.features[..chosen.features.len().min(k)];
        let start = Instant::now();
        let (predicted, facts) = if features.is_empty() {
            let n_test = split.test.len();
            (constant::predict(train.target(), n_test).map_err(fail(Stage::Fit { k }))?, Vec::new())
        } else {
            let x = first_features(&chosen.train, features.len())?;
            let subset = describe(Dataset::new(x, train.target().clone())?, data, features)?;
            let model = match experiment.learner.fit(&subset, &inside) {
                Ok(model) => model,
                Err(Error::Stopped { .. }) if context.stopped().is_some() => return Ok(None),
                Err(error) => return Err(fail(Stage::Fit { k })(error)),
            };
            let x = first_features(&chosen.test, features.len())?;
            (model.predict(&x).map_err(fail(Stage::Prediction { k }))?, model.facts())
        };
        let fit_seconds = start.elapsed().as_secs_f64();
        let scores = judge(experiment, &truth, &predicted)
            .map_err(|(name, error)| fail(Stage::Metric { name, k })(error))?;
        let positions: Vec<usize> = (0..features.len()).collect();
        outcomes.push(Outcome {
            k,
            features: features.to_vec(),
            scores,
            redundancy: redundancy_rate(&*chosen.train, &positions)?,
            selection_seconds: chosen.seconds,
            fit_seconds,
            facts: facts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
        });
    }
    Ok(Some(FoldRecord { fold, n_train: split.train.len(), n_test: split.test.len(), outcomes }))
}

/// Features, before their values are looked up.
struct Found {
    features: Vec<usize>,
    seconds: f64,
    finished: bool,
}

/// The features chosen on the training samples, and their values on both sides.
struct Chosen {
    features: Vec<usize>,
    train: Arc<DenseColumns>,
    test: Arc<DenseColumns>,
    seconds: f64,
    finished: bool,
}

fn taken(outcome: &Outcome) -> Found {
    Found { features: outcome.features.clone(), seconds: outcome.selection_seconds, finished: true }
}

fn choose(
    experiment: &Experiment<'_>,
    train: &Dataset,
    k: usize,
    context: &Context<'_>,
) -> Result<Found, Error> {
    let start = Instant::now();
    let selection = experiment.selector.select(train, Budget::Count(k), context)?;
    let seconds = start.elapsed().as_secs_f64();
    let finished = !selection.status.is_stopped();
    let mut features = selection.order;
    features.truncate(k);
    Ok(Found { features, seconds, finished })
}

impl Found {
    fn gathered(self, data: &Dataset, split: &Split) -> Result<Chosen, Error> {
        let Self { features, seconds, finished } = self;
        check_features(&features, data.n_features())?;
        Ok(Chosen {
            train: Arc::new(gather(data, &split.train, &features)?),
            test: Arc::new(gather(data, &split.test, &features)?),
            features,
            seconds,
            finished,
        })
    }
}

fn judge(
    experiment: &Experiment<'_>,
    truth: &fewest_core::Target,
    predicted: &Predictions,
) -> Result<Vec<f64>, (&'static str, Error)> {
    experiment
        .metrics
        .iter()
        .map(|metric| {
            let name = metric.name();
            let score = metric.score(truth, predicted).map_err(|error| (name, error))?;
            if score.is_finite() {
                return Ok(score);
            }
            let hint = format!("it is {score}: predictions or targets are too large");
            Err((name, Error::Numerical { what: "a metric", hint }))
        })
        .collect()
}
