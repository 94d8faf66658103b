//! One fold of an experiment.

use std::sync::Arc;
use std::time::Instant;

use fewest_core::{Context, Dataset, DenseColumns, Error, Selection, derive_seed};

use super::records::budget;
use super::{AUTO_K, Experiment, ExperimentError, FoldRecord, Network, Outcome, Plan, Stage};
use crate::features::{check_features, describe, gather, some_columns};
use crate::learners::{constant, predict};
use crate::{ClassScoring, Predictions, Split, redundancy_rate};

/// Most features of which every pair is compared: more would take longer than to select them.
const MOST_COMPARED: usize = 1000;

/// The record of fold `fold`, or `None` when it was stopped before its end. Features are taken from
/// `earlier` if given; `network` is what the selector sees of it, and `covariates` are what the learner has
/// beside them.
pub(super) fn run(
    experiment: &Experiment<'_>,
    plan: &Plan,
    data: &Dataset,
    split: &Split,
    (fold, earlier, network, covariates): (usize, Option<&FoldRecord>, Network, &[usize]),
    context: &Context<'_>,
) -> Result<Option<FoldRecord>, ExperimentError> {
    let fail = |stage: Stage| {
        move |source: Error| ExperimentError::Fold { fold, n_folds: plan.n_folds, stage, source }
    };
    let seed = derive_seed(derive_seed(context.seed, 1), fold as u64);
    let inside = Context { seed, ..*context };
    let mut train = data.subset(&split.train)?;
    let prepared;
    let mut data = data;
    if let Some(prepare) = experiment.prepare {
        prepared = prepare(&train, data).map_err(fail(Stage::Preparation))?;
        data = &prepared;
        train = data.subset(&split.train)?;
    }
    let is_linked = data.sample_graph().is_some() || data.authors().is_some();
    if network == Network::Transductive && is_linked {
        train = train.with_surroundings(data, split.train.clone())?;
    }
    let target = data.target().subset(&split.test);

    let found = match select(experiment, plan, &train, earlier, &inside) {
        Ok(found) => found,
        Err((_, Error::Stopped { .. })) if context.stopped().is_some() => return Ok(None),
        Err((k, error)) => return Err(fail(Stage::Selection { k })(error)),
    };
    if found.iter().any(|found| !found.finished) {
        return Ok(None);
    }
    let needs = experiment.metrics.iter().map(|metric| metric.needs());
    let needed = needs.max().unwrap_or_default();
    let mut chosen: Option<(usize, Chosen<'_>)> = None;
    let mut outcomes = Vec::with_capacity(plan.ks.len());
    for &k in &plan.ks {
        // Nested selections have one entry for all numbers of features, others one for each.
        let at = found.iter().position(|found| found.k == k).unwrap_or(0);
        if chosen.as_ref().is_none_or(|(known, _)| at > *known)
            && let Some(found) = found.get(at)
        {
            let gathered = found.gathered(data, split, covariates);
            chosen = Some((at, gathered.map_err(fail(Stage::Selection { k: found.k }))?));
        }
        let Some((_, chosen)) = &chosen else { return Ok(None) };
        let features = &chosen.features[..chosen.features.len().min(k)];
        let start = Instant::now();
        let places = chosen.places(features);
        let (predicted, facts) = if places.is_empty() {
            let n_test = split.test.len();
            (constant::predict(train.target(), n_test).map_err(fail(Stage::Fit { k }))?, Vec::new())
        } else {
            let x = some_columns(&chosen.train, &places)?;
            let known: Vec<usize> = places.iter().map(|&place| chosen.columns[place]).collect();
            let subset = describe(Dataset::new(x, train.target().clone())?, data, &known)?;
            let fitted = match needed {
                ClassScoring::None => experiment.learner.fit_to_predict(&subset, &inside),
                _ => experiment.learner.fit(&subset, &inside),
            };
            let model = match fitted {
                Ok(model) => model,
                Err(Error::Stopped { .. }) if context.stopped().is_some() => return Ok(None),
                Err(error) => return Err(fail(Stage::Fit { k })(error)),
            };
            let x = some_columns(&chosen.test, &places)?;
            let predicted = predict(&*model, experiment.learner.scoring(), needed, &x);
            (predicted.map_err(fail(Stage::Prediction { k }))?, model.facts())
        };
        let fit_seconds = start.elapsed().as_secs_f64();
        let scores = score(experiment, &target, &predicted)
            .map_err(|(name, error)| fail(Stage::Metric { name, k })(error))?;
        let positions: Vec<usize> = (0..features.len()).collect();
        outcomes.push(Outcome {
            k,
            features: features.to_vec(),
            scores,
            redundancy: match positions.len() > MOST_COMPARED {
                true => None,
                false => redundancy_rate(&*chosen.train, &positions)?,
            },
            selection_seconds: chosen.seconds,
            fit_seconds,
            facts: facts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
        });
    }
    Ok(Some(FoldRecord { fold, n_train: split.train.len(), n_test: split.test.len(), outcomes }))
}

/// The selected features, without their values.
struct Found {
    /// The requested number.
    k: usize,
    features: Vec<usize>,
    seconds: f64,
    finished: bool,
}

/// The features chosen on the training samples, and their values on both sides.
struct Chosen<'a> {
    features: &'a [usize],
    /// The feature of every column: those chosen, then the other covariates.
    columns: Vec<usize>,
    covariates: &'a [usize],
    train: Arc<DenseColumns>,
    test: Arc<DenseColumns>,
    seconds: f64,
}

/// Features for every number of the plan, or for the largest alone, and as many as the method decides, where
/// orders are nested; fewer after a stop. An error has the requested number.
fn select(
    experiment: &Experiment<'_>,
    plan: &Plan,
    train: &Dataset,
    earlier: Option<&FoldRecord>,
    context: &Context<'_>,
) -> Result<Vec<Found>, (usize, Error)> {
    let (counts, auto) = plan.ks.split_at(plan.ks.partition_point(|k| *k != AUTO_K));
    let ks = match (plan.nested, counts) {
        (true, [.., largest]) => [&[*largest], auto].concat(),
        _ => plan.ks.clone(),
    };
    match earlier {
        // All of them exist: this was checked before.
        Some(record) => {
            Ok(record.outcomes.iter().filter(|outcome| ks.contains(&outcome.k)).map(taken).collect())
        }
        None => choose(experiment, train, &ks, context),
    }
}

fn taken(outcome: &Outcome) -> Found {
    let (features, seconds) = (outcome.features.clone(), outcome.selection_seconds);
    Found { k: outcome.k, features, seconds, finished: true }
}

/// Runs the selector once for all numbers of features of a fold.
fn choose(
    experiment: &Experiment<'_>,
    train: &Dataset,
    ks: &[usize],
    context: &Context<'_>,
) -> Result<Vec<Found>, (usize, Error)> {
    if ks.is_empty() {
        return Ok(Vec::new());
    }
    let selector = experiment.selector;
    let budgets: Vec<_> = ks.iter().map(|&k| budget(k)).collect();
    let start = Instant::now();
    let selections = selector.select_many(train, &budgets, context);
    let seconds = start.elapsed().as_secs_f64() / ks.len() as f64;
    let found = |(selection, &k): (Selection, &usize)| {
        let finished = !selection.status.is_stopped();
        let mut features = selection.order;
        features.truncate(k);
        Found { k, features, seconds, finished }
    };
    match selections {
        Ok(selections) => Ok(selections.into_iter().zip(ks).map(found).collect()),
        Err(error) => {
            // To find the number of features that failed, they are run one by one.
            let fails = |&k: &usize| Some((k, selector.select(train, budget(k), context).err()?));
            let ask = ks.len() > 1 && context.stopped().is_none();
            let first = if ask { ks.iter().find_map(fails) } else { None };
            Err(first.unwrap_or((ks.first().copied().unwrap_or(0), error)))
        }
    }
}

impl Found {
    fn gathered<'a>(
        &'a self,
        data: &Dataset,
        split: &Split,
        covariates: &'a [usize],
    ) -> Result<Chosen<'a>, Error> {
        let features = &self.features[..];
        let mut columns = features.to_vec();
        for &covariate in covariates {
            if !columns.contains(&covariate) {
                columns.push(covariate);
            }
        }
        check_features(&columns, data.n_features())?;
        let train = Arc::new(gather(data, &split.train, &columns)?);
        let test = Arc::new(gather(data, &split.test, &columns)?);
        Ok(Chosen { features, columns, covariates, train, test, seconds: self.seconds })
    }
}

impl Chosen<'_> {
    /// The columns of the learner: the first of the chosen features, and the covariates that are not among
    /// them.
    fn places(&self, first: &[usize]) -> Vec<usize> {
        let beside =
            (first.len()..self.columns.len()).filter(|&place| self.covariates.contains(&self.columns[place]));
        (0..first.len()).chain(beside).collect()
    }
}

fn score(
    experiment: &Experiment<'_>,
    target: &fewest_core::Target,
    predicted: &Predictions,
) -> Result<Vec<f64>, (&'static str, Error)> {
    experiment
        .metrics
        .iter()
        .map(|metric| {
            let name = metric.name();
            let score = metric.score(target, predicted).map_err(|error| (name, error))?;
            if score.is_finite() {
                return Ok(score);
            }
            let hint = format!("it is {score}: predictions or targets are too large");
            Err((name, Error::Numerical { what: "a metric", hint }))
        })
        .collect()
}
