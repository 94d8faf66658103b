//! Documents of streams: a line for each answer.

use fewest::streams::DriftOptions;

use super::{Data, Feature, Number, Params, Solver, written};
use crate::catalogue::{Method, Parameters};
use crate::stream::{Answer, Drift, InForce, Orders};
use crate::{DataInfo, Error, VERSION};

/// An answer, on one line.
#[derive(serde::Serialize)]
struct Line<'a> {
    fewest: &'a str,
    method: &'a str,
    params: Params<'a>,
    seed: u64,
    data: StreamData<'a>,
    arrives: &'a str,
    arrived: usize,
    left_out: usize,
    /// Whether it is the answer at the end.
    last: bool,
    features: Vec<Feature<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    forgetting: Option<Forgotten>,
    #[serde(skip_serializing_if = "Option::is_none")]
    drift: Option<Watched<'a>>,
    held: Held,
    #[serde(skip_serializing_if = "Option::is_none")]
    solver: Option<Solver<'a>>,
    status: &'a str,
    notes: &'a [String],
    seconds: f64,
}

/// The data as far as they are known.
#[derive(serde::Serialize)]
struct StreamData<'a> {
    file: &'a str,
    n_samples: usize,
    n_features: usize,
    task: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    n_classes: Option<usize>,
    target: &'a [String],
    missing: &'a str,
}

/// How older samples are forgotten.
#[derive(serde::Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
enum Forgotten {
    Window { samples: usize },
    HalfLife { samples: Number, block: usize },
    Drift { block: usize, reference: usize, watched: usize, delta: Number },
}

impl From<InForce> for Forgotten {
    fn from(own: InForce) -> Self {
        match own {
            InForce::Window { samples } => Self::Window { samples },
            InForce::HalfLife { samples, block } => Self::HalfLife { samples: Number(samples), block },
            InForce::Drift(options) => {
                let DriftOptions { block, reference, watched, delta } = options;
                Self::Drift { block, reference, watched, delta: Number(delta) }
            }
        }
    }
}

/// What watching for changes has found.
#[derive(serde::Serialize)]
struct Watched<'a> {
    alarms: u64,
    last: Option<LastAlarm<'a>>,
}

/// When the selection no longer held.
#[derive(serde::Serialize)]
struct LastAlarm<'a> {
    sample: u64,
    since: u64,
    before: Number,
    after: Number,
    rank_correlation: Number,
    left: &'a [String],
    entered: &'a [String],
}

impl<'a> From<&'a Drift> for Watched<'a> {
    fn from(drift: &'a Drift) -> Self {
        let Drift { alarm, left, entered, .. } = drift;
        let last = alarm.as_ref().map(|alarm| LastAlarm {
            sample: alarm.sample,
            since: alarm.since,
            before: Number(alarm.before),
            after: Number(alarm.after),
            rank_correlation: Number(alarm.rank_correlation),
            left,
            entered,
        });
        Self { alarms: alarm.as_ref().map_or(0, |alarm| alarm.number), last }
    }
}

/// What is kept in memory of what arrived.
#[derive(serde::Serialize)]
struct Held {
    features: usize,
    bytes: usize,
}

/// The run of a stream, for documents.
#[derive(Debug, Clone)]
pub struct StreamInfo {
    /// The method.
    pub method: Method,
    /// Its parameters.
    pub parameters: Parameters,
    /// The seed.
    pub seed: u64,
    /// What the file is called.
    pub file: String,
    /// The policy for missing values.
    pub missing: fewest::data::Missing,
}

/// The line of an answer, as `fewest stream --json` writes it; `seconds` after the start.
///
/// # Errors
/// [`Error::Json`] where it cannot be written.
pub fn stream_line(answer: &Answer, info: &StreamInfo, seconds: f64) -> Result<String, Error> {
    let selection = &answer.selection;
    let at = |values: &Option<Vec<f64>>, i: usize| values.as_ref()?.get(i).copied().map(Number);
    let features = selection.order.iter().zip(&selection.scores).zip(&answer.names).enumerate();
    let features = features.map(|(i, ((&index, &score), name))| Feature {
        rank: i + 1,
        index,
        name,
        score: Number(score),
        p_value: at(&selection.p_values, i),
        q_value: at(&selection.q_values, i),
        related: Vec::new(),
        column: answer.columns.get(index).copied(),
    });
    let line = Line {
        fewest: VERSION,
        method: info.method.id,
        params: Params(&info.parameters),
        seed: info.seed,
        data: StreamData {
            file: &info.file,
            n_samples: answer.n_samples,
            n_features: answer.n_features,
            task: answer.task,
            n_classes: (answer.task == "classification").then_some(answer.n_classes),
            target: &answer.target_names,
            missing: info.missing.name(),
        },
        arrives: answer.arrives.name(),
        arrived: answer.arrived,
        left_out: answer.left_out,
        last: answer.is_last,
        features: features.collect(),
        forgetting: answer.forgetting.map(Forgotten::from),
        drift: answer.drift.as_ref().map(Watched::from),
        held: Held { features: answer.held.features, bytes: answer.held.bytes },
        solver: selection.solver.as_ref().map(Solver::of),
        status: selection.status.name(),
        notes: &selection.notes,
        seconds,
    };
    Ok(serde_json::to_string(&line)? + "\n")
}

/// The answers in several orders.
#[derive(serde::Serialize)]
struct OrdersDocument<'a> {
    fewest: &'a str,
    method: &'a str,
    params: Params<'a>,
    seed: u64,
    data: Data<'a>,
    orders: usize,
    stability: Option<Agreement>,
    jaccard: Number,
    /// The most often chosen first.
    features: Vec<Chosen<'a>>,
    /// Of every order, by index.
    selections: Vec<&'a [usize]>,
    status: &'a str,
    seconds: f64,
}

#[derive(serde::Serialize)]
struct Agreement {
    phi: Number,
    low: Option<Number>,
    high: Option<Number>,
}

#[derive(serde::Serialize)]
struct Chosen<'a> {
    index: usize,
    name: &'a str,
    orders: usize,
}

/// The document of the answers in several orders.
///
/// # Errors
/// [`Error::Json`] where it cannot be written.
pub fn orders(orders: &Orders, info: &StreamInfo, data: &DataInfo, seconds: f64) -> Result<String, Error> {
    let chosen = |&(index, orders): &(usize, usize)| Chosen { index, name: data.name(index), orders };
    let document = OrdersDocument {
        fewest: VERSION,
        method: info.method.id,
        params: Params(&info.parameters),
        seed: info.seed,
        data: super::data(data),
        orders: orders.selections.len(),
        stability: orders.stability.map(|found| Agreement {
            phi: Number(found.phi),
            low: found.interval.map(|(low, _)| Number(low)),
            high: found.interval.map(|(_, high)| Number(high)),
        }),
        jaccard: Number(orders.jaccard),
        features: orders.chosen.iter().map(chosen).collect(),
        selections: orders.selections.iter().map(|selection| selection.order.as_slice()).collect(),
        status: orders.status.name(),
        seconds,
    };
    written(&document)
}
