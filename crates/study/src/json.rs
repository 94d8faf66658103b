//! Documents for programs. Names and order of the keys do not change; new keys may be added.
//!
//! Numbers that JSON cannot hold are written as the strings `inf` and `-inf`, and NaN as null. Nothing but
//! `seconds`, which comes last, and an evaluation's `timings` before it depends on the machine or on the
//! number of threads.

mod evaluation;
mod stream;
mod table;

pub use evaluation::{comparison, evaluation};
pub use stream::{StreamInfo, orders, stream_line};
pub use table::table;

use fewest::core::{
    Approximation, FalseDiscoveries, Path, PathPoint, Related, Scores, Selection, SolverReport, ViewWeight,
};
use fewest::data::Reduction;
use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::catalogue::{Parameters, Value};
use crate::{DataInfo, Error, RunInfo, VERSION};

#[derive(serde::Serialize)]
struct Document<'a> {
    fewest: &'a str,
    method: &'a str,
    params: Params<'a>,
    seed: u64,
    data: Data<'a>,
    features: Vec<Feature<'a>>,
    /// Of the features that are returned.
    #[serde(skip_serializing_if = "Option::is_none")]
    objective: Option<Number>,
    solver: Option<Solver<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<Vec<Point>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    choice: Option<Chosen<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    false_discoveries: Option<Bound>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    views: Vec<View<'a>>,
    status: &'a str,
    notes: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    reduction: Option<&'a Reduction>,
    seconds: f64,
}

struct Params<'a>(&'a Parameters);

/// The weight of a view.
#[derive(serde::Serialize)]
struct View<'a> {
    name: &'a str,
    weight: Number,
}

#[derive(serde::Serialize)]
struct Data<'a> {
    file: &'a str,
    n_samples: usize,
    n_features: usize,
    task: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    n_classes: Option<usize>,
    target: &'a [String],
    missing: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    weights: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    links: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    authors: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    follows: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    passes: Option<Passes>,
}

/// How often a table was read that was not in memory at once.
#[derive(serde::Serialize)]
struct Passes {
    passes: usize,
    parts: usize,
    rows: u64,
    table_bytes: u64,
    memory: u64,
}

/// The coefficients at one penalty of a path.
#[derive(serde::Serialize)]
struct Point {
    lambda: Number,
    /// Among the features, from 0.
    index: Vec<usize>,
    coefficient: Vec<Number>,
}

/// How a penalty of the path was chosen.
#[derive(serde::Serialize)]
struct Chosen<'a> {
    criterion: &'a str,
    /// Among the points of the path, from 0.
    point: usize,
    lambda: Option<Number>,
    /// By point of the path.
    values: Vec<Number>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    standard_errors: Vec<Number>,
}

#[derive(serde::Serialize)]
struct Feature<'a> {
    rank: usize,
    /// Among the features, from 0.
    index: usize,
    name: &'a str,
    score: Number,
    #[serde(skip_serializing_if = "Option::is_none")]
    p_value: Option<Number>,
    #[serde(skip_serializing_if = "Option::is_none")]
    q_value: Option<Number>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related: Vec<RelatedFeature<'a>>,
    /// Among the columns of the file, from 0.
    column: Option<usize>,
}

#[derive(serde::Serialize)]
struct RelatedFeature<'a> {
    index: usize,
    name: &'a str,
    relatedness: Number,
}

#[derive(serde::Serialize)]
struct Solver<'a> {
    name: &'a str,
    status: &'a str,
    objective: Number,
    gap: Number,
    iterations: usize,
    lambda: Number,
    /// The kind of `gap`: `gap`, `stationarity` or `none`.
    certificate: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    approximation: Option<ScoreError<'a>>,
}

/// The error that an approximation leaves in the scores, relative to the largest.
#[derive(serde::Serialize)]
struct ScoreError<'a> {
    kind: &'a str,
    scores: Number,
}

/// The bound on irrelevant features; what belongs to the other kind of bound is left out.
#[derive(serde::Serialize)]
struct Bound {
    /// `rate` or `number`.
    kind: &'static str,
    bound: f64,
    #[serde(flatten)]
    by: By,
    assumption: &'static str,
}

/// How a bound is kept.
#[derive(serde::Serialize)]
#[serde(untagged)]
enum By {
    Knockoffs {
        offset: usize,
        draws: usize,
        covariance: &'static str,
        factors: usize,
        #[serde(skip_serializing_if = "Option::is_none")]
        pairs: Option<usize>,
        #[serde(skip_serializing_if = "Option::is_none")]
        shrinkage: Option<f64>,
        construction: &'static str,
        statistic: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        folds: Option<usize>,
    },
    Stability {
        per_half: f64,
        threshold: f64,
        halves: usize,
    },
}

impl Point {
    fn of(point: &PathPoint) -> Self {
        let (index, coefficient) = point.coefficients.iter().map(|(j, value)| (*j, Number(*value))).unzip();
        Self { lambda: Number(point.lambda), index, coefficient }
    }
}

impl<'a> Chosen<'a> {
    fn of(path: &'a Path) -> Option<Self> {
        let choice = path.choice.as_ref()?;
        let numbers = |values: &[f64]| values.iter().copied().map(Number).collect();
        Some(Self {
            criterion: &choice.criterion,
            point: choice.chosen,
            lambda: path.points.get(choice.chosen).map(|point| Number(point.lambda)),
            values: numbers(&choice.values),
            standard_errors: numbers(&choice.standard_errors),
        })
    }
}

impl<'a> Solver<'a> {
    fn of(solver: &'a SolverReport) -> Self {
        let error = |error: Approximation| ScoreError { kind: error.name(), scores: Number(error.value()) };
        Self {
            name: solver.name,
            status: solver.status.name(),
            objective: Number(solver.objective),
            gap: Number(solver.certificate.value()),
            iterations: solver.iterations,
            lambda: Number(solver.lambda),
            certificate: solver.certificate.name(),
            approximation: solver.approximation.map(error),
        }
    }
}

impl Bound {
    fn of(found: FalseDiscoveries) -> Option<Self> {
        let by = match found {
            FalseDiscoveries::Rate(rate) => By::Knockoffs {
                offset: rate.offset,
                draws: rate.draws,
                covariance: rate.covariance,
                factors: rate.factors,
                pairs: (rate.covariance == "graph").then_some(rate.pairs),
                shrinkage: matches!(rate.covariance, "shrunk" | "ledoit-wolf").then_some(rate.shrinkage),
                construction: rate.construction,
                statistic: rate.statistic,
                folds: (rate.folds > 0).then_some(rate.folds),
            },
            FalseDiscoveries::Number(number) => By::Stability {
                per_half: number.per_half,
                threshold: number.threshold,
                halves: number.halves,
            },
            _ => return None,
        };
        Some(Self { kind: found.name(), bound: found.target(), by, assumption: found.assumption() })
    }
}

/// A number, also one that JSON cannot represent.
struct Number(f64);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.is_infinite() {
            serializer.serialize_str(if self.0 > 0.0 { "inf" } else { "-inf" })
        } else {
            serializer.serialize_f64(self.0)
        }
    }
}

impl Serialize for Params<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.iter().count()))?;
        for (name, value) in self.0.iter() {
            match value {
                Value::Real(value) => map.serialize_entry(name, value)?,
                Value::Count(value) => map.serialize_entry(name, value)?,
                Value::Features(indices) => map.serialize_entry(name, indices)?,
                word => map.serialize_entry(name, &word.to_string())?,
            }
        }
        map.end()
    }
}

/// The document of a selection, best feature first, as `fewest select` writes it; with what is needed to make
/// the selected features from other rows, as [`reduction_of`] reads it.
///
/// # Errors
/// [`Error::Json`] where the document cannot be written.
///
/// ```
/// use fewest::core::{Budget, Context, Dataset, DenseColumns, Target};
/// use fewest::registry::{Parameters, Registry};
/// use fewest_study::{DataInfo, RunInfo, json};
///
/// let x = DenseColumns::from_columns(&[vec![0.0, 1.0, 0.0, 1.0], vec![0.1, 0.2, 0.9, 0.8]])?;
/// let data = Dataset::new(x, Target::from_labels(&["a", "a", "b", "b"]))?;
/// let method = Registry::standard().find("f-score")?;
/// let parameters = Parameters::defaults(method);
/// let selector = method.build(&parameters)?.into_selector();
/// let selection = selector.select(&data, Budget::Count(1), &Context::default())?;
///
/// let run = RunInfo { method: method.clone(), parameters, seed: 0, data: DataInfo::new("four", &data), seconds: 0.01 };
/// let document = json::selection(&selection, None, &run)?;
/// assert!(document.starts_with("{\n  \"fewest\": \"") && document.ends_with("\"seconds\": 0.01\n}\n"));
/// # Ok::<(), fewest_study::Error>(())
/// ```
pub fn selection(
    selection: &Selection,
    reduction: Option<&Reduction>,
    run: &RunInfo,
) -> Result<String, Error> {
    let found = Found {
        features: features(selection, run),
        objective: selection.objective,
        solver: selection.solver.as_ref(),
        path: selection.path.as_ref(),
        false_discoveries: selection.false_discoveries.and_then(Bound::of),
        views: &selection.views,
        status: selection.status.name(),
        notes: &selection.notes,
    };
    document(run, found, reduction)
}

/// What a document of [`selection`] says about making the selected features from other rows.
///
/// # Errors
/// [`Error::Json`] for what is no JSON; [`Error::NoReduction`] for another document;
/// [`Error::WrongReduction`] where that part of it lacks something.
pub fn reduction_of(document: &[u8]) -> Result<Reduction, Error> {
    let mut document: serde_json::Value = serde_json::from_slice(document)?;
    match document.get_mut("reduction") {
        Some(reduction) => serde_json::from_value(reduction.take()).map_err(Error::WrongReduction),
        None => Err(Error::NoReduction),
    }
}

/// The document of scores, best first, as `fewest score` writes it: those of the `most` best features, or of
/// every feature.
///
/// # Errors
/// [`Error::Json`] where the document cannot be written.
pub fn scores(scores: &Scores, most: Option<usize>, run: &RunInfo) -> Result<String, Error> {
    let listed = scores.best(most);
    let notes = [&run.data.notes[..], &listed.notes].concat();
    let found = Found {
        features: features(&listed, run),
        objective: None,
        solver: None,
        path: None,
        false_discoveries: None,
        views: &[],
        status: listed.status.name(),
        notes: &notes,
    };
    document(run, found, None)
}

/// What was found, of a document.
struct Found<'a> {
    features: Vec<Feature<'a>>,
    objective: Option<f64>,
    solver: Option<&'a SolverReport>,
    path: Option<&'a Path>,
    false_discoveries: Option<Bound>,
    views: &'a [ViewWeight],
    status: &'a str,
    notes: &'a [String],
}

fn features<'a>(selection: &'a Selection, run: &'a RunInfo) -> Vec<Feature<'a>> {
    let at = |values: &Option<Vec<f64>>, i: usize| values.as_ref()?.get(i).copied().map(Number);
    let related = |other: &Related| RelatedFeature {
        index: other.feature,
        name: run.data.name(other.feature),
        relatedness: Number(other.relatedness),
    };
    let feature = |(i, (&j, &score)): (usize, (&usize, &f64))| Feature {
        rank: i + 1,
        index: j,
        name: run.data.name(j),
        score: Number(score),
        p_value: at(&selection.p_values, i),
        q_value: at(&selection.q_values, i),
        related: selection.related.get(i).map_or(&[][..], Vec::as_slice).iter().map(related).collect(),
        column: run.data.column(j),
    };
    selection.order.iter().zip(&selection.scores).enumerate().map(feature).collect()
}

fn document(run: &RunInfo, found: Found<'_>, reduction: Option<&Reduction>) -> Result<String, Error> {
    let Found { features, objective, solver, path, false_discoveries, views, status, notes } = found;
    let document = Document {
        fewest: VERSION,
        method: run.method.id,
        params: Params(&run.parameters),
        seed: run.seed,
        data: data(&run.data),
        features,
        objective: objective.map(Number),
        solver: solver.map(Solver::of),
        path: path.map(|path| path.points.iter().map(Point::of).collect()),
        choice: path.and_then(Chosen::of),
        false_discoveries,
        views: views.iter().map(|view| View { name: &view.name, weight: Number(view.weight) }).collect(),
        status,
        notes,
        reduction,
        seconds: run.seconds,
    };
    written(&document)
}

fn data(data: &DataInfo) -> Data<'_> {
    Data {
        file: &data.file,
        n_samples: data.n_samples,
        n_features: data.n_features,
        task: data.task,
        n_classes: (data.task == "classification").then_some(data.classes.len()),
        target: &data.targets,
        missing: data.missing.name(),
        weights: data.samples.weights.as_deref(),
        links: data.samples.links.as_deref(),
        authors: data.samples.authors.as_deref(),
        follows: data.samples.follows.as_deref(),
        passes: data.passes.as_ref().map(|read| Passes {
            passes: read.passes,
            parts: read.parts,
            rows: read.rows,
            table_bytes: read.table_bytes,
            memory: read.memory,
        }),
    }
}

fn written(document: &impl Serialize) -> Result<String, Error> {
    let mut text = serde_json::to_string_pretty(document)?;
    text.push('\n');
    Ok(text)
}

#[cfg(test)]
mod tests;
