//! The pages of HTML that the command writes, for what was found in Python.

use fewest::core::{Selection, Target};
use fewest::eval::{Evaluation, FoldRecord, KRule, Outcome, Plan};
use fewest_report::Origin;
use fewest_study::{Chosen, DataInfo, Evaluated, Report};
use pyo3::prelude::*;

use crate::data::Data;
use crate::errors::wrong;
use crate::select::{About, configured};

/// A selection with how it was found.
#[pyclass(frozen, module = "fewest._fewest")]
pub(crate) struct Found {
    pub(crate) selection: Selection,
    pub(crate) about: About,
    pub(crate) n_samples: usize,
}

#[pymethods]
impl Found {
    /// The page of the selection from `data`, which is called `name`, with the names of the target's columns.
    fn report(
        &self,
        py: Python<'_>,
        data: &Data,
        name: &str,
        targets: Vec<String>,
        call: String,
    ) -> PyResult<String> {
        let data = &data.dataset;
        let (found, given) =
            ((self.n_samples, self.selection.n_features), (data.n_samples(), data.n_features()));
        if found != given {
            return Err(wrong(format!(
                "the report draws the data of the fit, {} samples and {} features after missing values, but these are \
                 {} and {}: give those",
                found.0, found.1, given.0, given.1
            )));
        }
        let mut run = self.about.clone().run(DataInfo::new(name, data));
        run.data.targets = targets;
        let origin = Origin::new(call);
        let what = "Feature selection";
        py.detach(|| fewest_report::selection(what, &self.selection, &run, data, &origin)).map_err(wrong)
    }
}

/// An evaluation that Python made: a dictionary.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Measured {
    name: String,
    n_features: usize,
    task: String,
    /// Each class with its number of samples.
    classes: Vec<(String, usize)>,
    targets: Vec<String>,
    learner: String,
    splitter: String,
    metric: String,
    ks: Vec<usize>,
    /// Training and test samples of every fold.
    folds: Vec<(usize, usize)>,
    methods: Vec<MeasuredMethod>,
    seconds: f64,
    call: String,
}

/// The features, the score, the seconds to select, and those to learn and predict.
type Measurement = (Vec<usize>, f64, f64, f64);

#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct MeasuredMethod {
    id: String,
    /// What the page calls it.
    name: String,
    given: Vec<(String, String)>,
    seed: u64,
    /// For each fold an outcome for each number of features.
    outcomes: Vec<Vec<Measurement>>,
}

/// The words of [`DataInfo::task`] for a target.
const TASKS: [&str; 3] = ["classification", "regression", "survival"];

/// The page of an evaluation or a comparison.
#[pyfunction]
pub(crate) fn evaluation(measured: Measured) -> PyResult<String> {
    let Measured { name, n_features, classes, targets, learner, splitter, metric, ks, folds, .. } = measured;
    let n_samples = folds.first().map_or(0, |(train, test)| train + test);
    let nothing = DataInfo::of_target(name, &Target::None, n_samples, n_features);
    let task = TASKS.into_iter().find(|task| *task == measured.task).unwrap_or(nothing.task);
    let data = DataInfo { task, classes, targets, ..nothing };
    let seed = measured.methods.first().map_or(0, |method| method.seed);
    let mut report = Report::new(seed, data, learner.clone(), splitter, folds.len());
    report.seconds = measured.seconds;
    for method in measured.methods {
        let (entry, parameters) = configured(&method.id, &method.given)?;
        let plan = Plan {
            label: method.name.clone(),
            learner: learner.clone(),
            metrics: vec![metric.clone()],
            // As all scores of scikit-learn.
            greater_is_better: vec![true],
            ks: ks.clone(),
            nested: entry.is_nested(),
            seed: method.seed,
            n_folds: folds.len(),
            n_features,
            fingerprint: 0,
        };
        let record = |(fold, (outcomes, (n_train, n_test)))| FoldRecord {
            fold,
            n_train,
            n_test,
            outcomes: outcomes_of(&ks, outcomes),
        };
        let folds = method.outcomes.into_iter().zip(folds.iter().copied()).enumerate().map(record).collect();
        let evaluation = Evaluation { plan, folds, out_of_time: false };
        let rules = [KRule::Best, KRule::OneStandardError];
        let chosen = rules
            .into_iter()
            .filter_map(|rule| evaluation.choose_k(&metric, rule).ok().map(|k| Chosen::new(rule, k, None)));
        let chosen = chosen.collect();
        let mut evaluated = Evaluated::new(entry.clone(), parameters, evaluation, chosen);
        evaluated.name = method.name;
        report.methods.push(evaluated);
    }
    Ok(fewest_report::evaluation(&report, &Origin::new(measured.call)))
}

fn outcomes_of(ks: &[usize], outcomes: Vec<Measurement>) -> Vec<Outcome> {
    let outcome = |(&k, (features, score, selection_seconds, fit_seconds))| Outcome {
        k,
        features,
        scores: vec![score],
        redundancy: None,
        selection_seconds,
        fit_seconds,
        facts: Vec::new(),
    };
    ks.iter().zip(outcomes).map(outcome).collect()
}
