//! One selection: what `fewest select` does, on data in memory.

use fewest::core::{Budget, Context, Dataset, Error, Ranked, Scorer, Scores, Selection, Selector};
use fewest::data::Missing;
use fewest::registry::{Built, Method, Parameters, Registry};
use fewest_study::{DataInfo, RunInfo, json};
use numpy::{PyArray1, ToPyArray};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::data::Data;
use crate::errors::{of_run, wrong};
use crate::report::Found;
use crate::run::{Run, run};

/// How many features: a number, the word `auto`, or nothing.
#[derive(Clone, FromPyObject, IntoPyObject)]
pub(crate) enum Number {
    Count(usize),
    Word(String),
}

/// The method of this id with these parameters, given by name.
pub(crate) fn configured(id: &str, given: &[(String, String)]) -> PyResult<(&'static Method, Parameters)> {
    let method = Registry::standard().find(id).map_err(wrong)?;
    let mut parameters = Parameters::defaults(method);
    let known = method.parameters();
    for (name, text) in given {
        parameters.set(name, text).map_err(|error| match known.iter().any(|known| known.name == name) {
            true => wrong(error),
            // As Python says it of an argument that a function does not take.
            false => PyTypeError::new_err(error.to_string()),
        })?;
    }
    parameters.check().map_err(wrong)?;
    Ok((method, parameters))
}

/// The budget that a number stands for, by the rule of the command.
pub(crate) fn budget(
    number: Option<Number>,
    method: &Method,
    parameters: &Parameters,
    n_features: usize,
) -> PyResult<Budget> {
    let budget = match number {
        Some(Number::Count(k)) => Budget::Count(k),
        Some(Number::Word(word)) if word == "auto" => {
            if matches!(method.build(parameters).map_err(wrong)?, Built::Scorer(_)) {
                return Err(no_own_number(method));
            }
            Budget::Auto
        }
        Some(Number::Word(word)) => {
            return Err(wrong(Error::parameter("k", word, "a whole number, auto, or None")));
        }
        None => fewest_study::usual_budget(parameters, n_features),
    };
    budget.check(n_features).map_err(wrong)?;
    Ok(budget)
}

/// Scores that were computed before.
struct Known<'a>(&'a Scores);

impl Scorer for Known<'_> {
    fn score(&self, _data: &Dataset, _context: &Context<'_>) -> Result<Scores, Error> {
        Ok(self.0.clone())
    }
}

/// Selects from the data; of a method that scores every feature also returns these scores.
pub(crate) fn selected(
    built: Built,
    data: &Dataset,
    budget: Budget,
    context: &Context<'_>,
) -> Result<(Selection, Option<Scores>), Error> {
    match built {
        Built::Scorer(scorer) => {
            let scores = scorer.score(data, context)?;
            let selection = Ranked::new(Known(&scores)).select(data, budget, context)?;
            Ok((selection, Some(scores)))
        }
        built => Ok((built.into_selector().select(data, budget, context)?, None)),
    }
}

/// Selects features, and returns what was found as [`told`] writes it.
#[pyfunction]
pub(crate) fn select<'py>(
    py: Python<'py>,
    data: &Data,
    method: &str,
    given: Vec<(String, String)>,
    k: Option<Number>,
    how: Run,
) -> PyResult<Bound<'py, PyDict>> {
    let (method, parameters) = configured(method, &given)?;
    let dataset = &data.dataset;
    let budget = budget(k, method, &parameters, dataset.n_features())?;
    let built = method.build(&parameters).map_err(wrong)?;
    let (answer, seconds) = run(py, &how, |context| selected(built, dataset, budget, context))?;
    let (selection, scores) = answer.map_err(|error| match error {
        Error::InvalidParameter { name: "k", .. } if budget == Budget::Auto => no_own_number(method),
        error => of_run(&error),
    })?;
    let scores = scores.map(Everywhere::from);
    let about = About { method, parameters, seed: how.seed, seconds, missing: data.missing };
    told(py, dataset, selection, scores, about)
}

/// How something was found.
#[derive(Clone)]
pub(crate) struct About {
    pub(crate) method: &'static Method,
    pub(crate) parameters: Parameters,
    pub(crate) seed: u64,
    pub(crate) seconds: f64,
    pub(crate) missing: Missing,
}

impl About {
    /// The same for documents and reports, of data of this description.
    pub(crate) fn run(self, data: DataInfo) -> RunInfo {
        let Self { method, parameters, seed, seconds, missing } = self;
        let data = DataInfo { missing, ..data };
        RunInfo { method: method.clone(), parameters, seed, data, seconds }
    }
}

/// Values of all features.
pub(crate) struct Everywhere {
    pub(crate) scores: Vec<f64>,
    pub(crate) p_values: Option<Vec<f64>>,
    pub(crate) q_values: Option<Vec<f64>>,
}

impl From<Scores> for Everywhere {
    fn from(scores: Scores) -> Self {
        Self { q_values: scores.q_values(), scores: scores.values, p_values: scores.p_values }
    }
}

/// What was found, as a dictionary: `order` and `scores` of the features selected, best first, with
/// `p_values` and `q_values` of tests; of methods that score every feature `all_scores`, `all_p_values` and
/// `all_q_values`; the `document` that the command writes, as JSON, without features unless it says more of
/// them than arrays do; and `found`, from which a report is made.
pub(crate) fn told<'py>(
    py: Python<'py>,
    data: &Dataset,
    mut selection: Selection,
    scores: Option<Everywhere>,
    about: About,
) -> PyResult<Bound<'py, PyDict>> {
    let found = PyDict::new(py);
    let numbers = |values: &Option<Vec<f64>>| values.as_ref().map(|values| values.to_pyarray(py));
    let order: Vec<i64> = selection.order.iter().map(|&j| j as i64).collect();
    found.set_item("order", PyArray1::from_vec(py, order))?;
    found.set_item("scores", selection.scores.to_pyarray(py))?;
    found.set_item("p_values", numbers(&selection.p_values))?;
    found.set_item("q_values", numbers(&selection.q_values))?;
    let (all, all_p_values, all_q_values) =
        scores.map_or((None, None, None), |all| (Some(all.scores), all.p_values, all.q_values));
    found.set_item("all_scores", numbers(&all))?;
    found.set_item("all_p_values", numbers(&all_p_values))?;
    found.set_item("all_q_values", numbers(&all_q_values))?;

    // Python knows the names, of which there may be a million: it needs the numbers of features.
    let nameless = DataInfo::of_target("", data.target(), data.n_samples(), data.n_features());
    let run = about.clone().run(nameless);
    let document = if selection.related.iter().all(Vec::is_empty) {
        // A million features need not be written as text and read again.
        let features = (std::mem::take(&mut selection.order), std::mem::take(&mut selection.scores));
        let document = json::selection(&selection, None, &run);
        (selection.order, selection.scores) = features;
        document
    } else {
        json::selection(&selection, None, &run)
    };
    found.set_item("document", document.map_err(wrong)?)?;
    found.set_item("found", Found { selection, about, n_samples: data.n_samples() })?;
    Ok(found)
}

pub(crate) fn no_own_number(method: &Method) -> PyErr {
    let deciding = method.deciding_parameters();
    wrong(fewest_study::Error::NoOwnNumber { method: method.id, deciding })
}
