//! Methods whose parameters are chosen by cross-validation within the training samples, as papers do.

use std::collections::BTreeMap;
use std::sync::Mutex;

use fewest::core::{Budget, Context, Dataset, DenseColumns, Error, Selection, Selector, derive_seed};
use fewest::eval::{Experiment, KFold, Learner, Metric, Split, Splitter};
use fewest::registry::{Parameters, Registry};

/// Folds that choose a parameter.
const FOLDS: usize = 5;

/// Parameters that all methods share, chosen once for the training samples of a run: for instance the
/// machine's cost.
pub(super) struct Shared<'a> {
    choose: &'a Choose,
    /// By the seed of the run.
    chosen: Mutex<BTreeMap<u64, Vec<String>>>,
}

/// Finds parameters, as `NAME=VALUE`, on training samples.
pub(super) type Choose = dyn Fn(&Dataset, &Context<'_>) -> Result<Vec<String>, Error> + Send + Sync;

impl<'a> Shared<'a> {
    /// Parameters that `choose` finds.
    pub(super) fn new(choose: &'a Choose) -> Self {
        Self { choose, chosen: Mutex::default() }
    }

    /// The parameters for these training samples.
    pub(super) fn parameters(&self, data: &Dataset, context: &Context<'_>) -> Result<Vec<String>, Error> {
        let known = |chosen: &BTreeMap<u64, Vec<String>>| chosen.get(&context.seed).cloned();
        let lock = || self.chosen.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(parameters) = known(&lock()) {
            return Ok(parameters);
        }
        let parameters = (self.choose)(data, context)?;
        lock().insert(context.seed, parameters.clone());
        Ok(parameters)
    }
}

/// The score of `learner` on all features in each fold of a cross-validation.
pub(super) fn cross_validated(
    learner: &dyn Learner,
    metric: &dyn Metric,
    data: &Dataset,
    context: &Context<'_>,
) -> Result<Vec<f64>, Error> {
    let splits = KFold { folds: FOLDS, ..KFold::default() }.splits(data, context.seed)?;
    let score = |split: &Split| {
        let model = learner.fit(&data.subset(&split.train)?, context)?;
        let test = data.subset(&split.test)?;
        metric.score(test.target(), &model.predict(test.x())?)
    };
    splits.iter().map(score).collect()
}

/// A learner with parameters given as `NAME=VALUE`.
pub(super) type MakeLearner = dyn Fn(&[String]) -> Result<Box<dyn Learner>, Error> + Send + Sync;

/// Parameters chosen for one method and each number of features it is to select.
#[derive(Clone, Copy)]
pub(super) struct Own<'a> {
    /// Parameters to try together, as `NAME=VALUE`; they replace shared ones.
    pub choices: &'a [Vec<String>],
    /// What predicts from the features selected with each, given the shared parameters.
    pub learner: &'a MakeLearner,
    /// What judges the predictions.
    pub metric: &'a dyn Metric,
}

/// A method of the registry with parameters found on the training samples.
pub(super) struct Tuned<'a> {
    /// Its id.
    pub id: &'static str,
    /// Parameters that are given.
    pub fixed: &'a [&'static str],
    /// Parameters that all methods share; those that the method does not have are left out.
    pub shared: &'a Shared<'a>,
    /// Its own parameters, if any.
    pub own: Option<Own<'a>>,
    /// Of more features than this, only as many with the largest Fisher score are candidates.
    pub most_candidates: Option<usize>,
}

/// The name in `NAME=VALUE`.
fn name(assignment: &str) -> &str {
    assignment.split('=').next().unwrap_or_default()
}

impl Tuned<'_> {
    fn build(&self, parameters: &[String]) -> Result<Box<dyn Selector>, Error> {
        let method = Registry::standard().find(self.id)?;
        let has = |assignment: &&str| {
            method.parameters().iter().any(|parameter| parameter.name == name(assignment))
        };
        let fixed = self.fixed.iter().copied();
        let parameters: Vec<&str> = parameters.iter().map(String::as_str).filter(has).chain(fixed).collect();
        Ok(method.build(&Parameters::parse(method, &parameters)?)?.into_selector())
    }

    fn parameters(&self, data: &Dataset, k: usize, context: &Context<'_>) -> Result<Vec<String>, Error> {
        let shared = self.shared.parameters(data, context)?;
        let Some(Own { choices, learner, metric }) = self.own else { return Ok(shared) };
        let learner = learner(&shared)?;
        let mut best: Option<(f64, Vec<String>)> = None;
        for choice in choices {
            let mut parameters = choice.clone();
            let replaced = |given: &&String| choice.iter().any(|chosen| name(chosen) == name(given));
            parameters.extend(shared.iter().filter(|given| !replaced(given)).cloned());
            let selector = self.build(&parameters)?;
            let experiment = Experiment {
                label: String::new(),
                selector: &*selector,
                learner: &*learner,
                splitter: &KFold { folds: FOLDS, ..KFold::default() },
                metrics: &[metric],
                ks: vec![k],
                nested: false,
                prepare: None,
            };
            let inside = Context { seed: derive_seed(context.seed, 7), progress: None, ..*context };
            let evaluation = experiment.run(data, &inside).map_err(|error| Error::Numerical {
                what: "the cross-validation of a parameter",
                hint: error.to_string(),
            })?;
            let score = evaluation.summaries().first().map_or(f64::NAN, |summary| summary.mean);
            let score = if metric.greater_is_better() { score } else { -score };
            // The first of several that are as good.
            if best.as_ref().is_none_or(|(largest, _)| score > *largest) {
                best = Some((score, parameters));
            }
        }
        Ok(best.map_or(shared, |(_, parameters)| parameters))
    }

    /// The features that may be selected, by increasing index.
    fn candidates(&self, data: &Dataset, context: &Context<'_>) -> Result<Vec<usize>, Error> {
        let most = self.most_candidates.unwrap_or(usize::MAX);
        if data.n_features() <= most {
            return Ok((0..data.n_features()).collect());
        }
        let method = Registry::standard().find("fisher")?;
        let fisher = method.build(&Parameters::defaults(method))?.into_selector();
        let mut candidates = fisher.select(data, Budget::Count(most), context)?.order;
        candidates.sort_unstable();
        Ok(candidates)
    }
}

impl Selector for Tuned<'_> {
    fn select(&self, data: &Dataset, budget: Budget, context: &Context<'_>) -> Result<Selection, Error> {
        let k = match budget {
            Budget::Count(k) => k,
            _ => data.n_features(),
        };
        let candidates = self.candidates(data, context)?;
        let mut columns = Vec::with_capacity(candidates.len());
        for &j in &candidates {
            let mut values = vec![0.0; data.n_samples()];
            data.x().copy_column(j, &mut values)?;
            columns.push(values);
        }
        let data = Dataset::new(DenseColumns::from_columns(&columns)?, data.target().clone())?;
        let selector = self.build(&self.parameters(&data, k, context)?)?;
        let mut selection = selector.select(&data, budget, context)?;
        for j in &mut selection.order {
            *j = candidates[*j];
        }
        Ok(selection)
    }
}
