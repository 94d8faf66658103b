//! Documents of evaluations.

use fewest::eval::significance::TestResult;
use fewest::eval::stability::Stability;
use fewest::eval::{AUTO_K, KRule, Summary};
use serde::Serialize;

use super::{Data, Number, Params, data, written};
use crate::{Error, Evaluated, Report, Row, VERSION, differences};

#[derive(Serialize)]
struct EvaluationDocument<'a> {
    fewest: &'a str,
    method: &'a str,
    params: Params<'a>,
    seed: u64,
    data: Data<'a>,
    design: Design<'a>,
    results: Vec<ResultAtK<'a>>,
    chosen: Vec<Chosen<'a>>,
    folds: Vec<Fold<'a>>,
    baselines: Vec<Baseline<'a>>,
    status: &'a str,
    notes: &'a [String],
    timings: Vec<Timing<'a>>,
    seconds: f64,
}

#[derive(Serialize)]
struct ComparisonDocument<'a> {
    fewest: &'a str,
    methods: Vec<Method<'a>>,
    seed: u64,
    data: Data<'a>,
    design: Design<'a>,
    comparisons: Vec<Comparison<'a>>,
    baselines: Vec<Baseline<'a>>,
    status: &'a str,
    notes: &'a [String],
    timings: Vec<Timing<'a>>,
    seconds: f64,
}

/// The part that is the same for every method.
#[derive(Serialize)]
struct Design<'a> {
    learner: &'a str,
    splitter: &'a str,
    /// For linked samples only.
    #[serde(skip_serializing_if = "Option::is_none")]
    network: Option<&'a str>,
    n_folds: usize,
    k: Vec<K>,
    metrics: Vec<Metric<'a>>,
    /// The names of features that the learner has beside the selected ones.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    covariates: Vec<&'a str>,
    /// The names of features that methods add to their fitted values.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    offset: Vec<&'a str>,
}

/// A number of features; `"auto"` where the method decides it.
#[derive(Serialize)]
#[serde(untagged)]
enum K {
    Count(usize),
    Auto(&'static str),
}

impl K {
    fn of(k: usize) -> Self {
        if k == AUTO_K { Self::Auto("auto") } else { Self::Count(k) }
    }
}

#[derive(Serialize)]
struct Metric<'a> {
    name: &'a str,
    greater_is_better: bool,
}

#[derive(Serialize)]
struct Method<'a> {
    method: &'a str,
    params: Params<'a>,
    results: Vec<ResultAtK<'a>>,
    chosen: Vec<Chosen<'a>>,
    folds: Vec<Fold<'a>>,
}

/// The learner without a selection, over all folds.
#[derive(Serialize)]
struct Baseline<'a> {
    name: &'a str,
    n_features: usize,
    metrics: Vec<Score<'a>>,
}

/// One number of features, over the finished folds.
#[derive(Serialize)]
struct ResultAtK<'a> {
    k: K,
    mean_features: f64,
    metrics: Vec<Score<'a>>,
    stability: Option<Agreement>,
    redundancy: Option<f64>,
}

#[derive(Serialize)]
struct Score<'a> {
    name: &'a str,
    mean: Number,
    standard_error: Option<Number>,
    standard_deviation: Option<Number>,
}

/// The stability Φ with its 95 % confidence interval, which two folds do not have.
#[derive(Serialize)]
struct Agreement {
    phi: f64,
    lower: Option<f64>,
    upper: Option<f64>,
}

#[derive(Serialize)]
struct Chosen<'a> {
    rule: &'a str,
    k: K,
    features: Option<Vec<Feature<'a>>>,
}

#[derive(Serialize)]
struct Feature<'a> {
    rank: usize,
    index: usize,
    name: &'a str,
}

#[derive(Serialize)]
struct Fold<'a> {
    fold: usize,
    n_train: usize,
    n_test: usize,
    outcomes: Vec<Outcome<'a>>,
}

/// Scores are in the order of the design's metrics.
#[derive(Serialize)]
struct Outcome<'a> {
    k: K,
    features: &'a [usize],
    scores: &'a [f64],
}

/// The methods at one number of features, by one metric.
#[derive(Serialize)]
struct Comparison<'a> {
    metric: &'a str,
    k: K,
    best: &'a str,
    others: Vec<Other<'a>>,
}

/// A method against the best one.
#[derive(Serialize)]
struct Other<'a> {
    method: &'a str,
    mean_difference: Number,
    corrected_t: Test,
    wilcoxon: Test,
}

#[derive(Serialize)]
struct Test {
    statistic: Number,
    p_value: f64,
}

/// Mean seconds per fold.
#[derive(Serialize)]
struct Timing<'a> {
    method: &'a str,
    k: K,
    selection_seconds: f64,
    fit_seconds: f64,
}

/// The document of a study of one method, as `fewest evaluate` writes it. Of several methods, only the first.
///
/// # Errors
/// [`Error::NothingFinished`] for a report without methods; [`Error::Json`] where the document cannot be
/// written.
pub fn evaluation(report: &Report) -> Result<String, Error> {
    let Some(method) = report.methods.first() else {
        return Err(Error::NothingFinished(report.status));
    };
    written(&EvaluationDocument {
        fewest: VERSION,
        method: method.method.id,
        params: Params(&method.parameters),
        seed: report.seed,
        data: data(&report.data),
        design: design(report),
        results: results(method),
        chosen: chosen(method, report),
        folds: folds(method),
        baselines: baselines(report),
        status: report.status.name(),
        notes: &report.notes,
        timings: timings(report),
        seconds: report.seconds,
    })
}

/// The document of a study of several methods, as `fewest compare` writes it.
///
/// # Errors
/// [`Error::Json`] where the document cannot be written.
pub fn comparison(report: &Report) -> Result<String, Error> {
    written(&ComparisonDocument {
        fewest: VERSION,
        methods: report.methods.iter().map(|method| of_method(method, report)).collect(),
        seed: report.seed,
        data: data(&report.data),
        design: design(report),
        comparisons: comparisons(report),
        baselines: baselines(report),
        status: report.status.name(),
        notes: &report.notes,
        timings: timings(report),
        seconds: report.seconds,
    })
}

fn of_method<'a>(method: &'a Evaluated, report: &'a Report) -> Method<'a> {
    Method {
        method: method.method.id,
        params: Params(&method.parameters),
        results: results(method),
        chosen: chosen(method, report),
        folds: folds(method),
    }
}

fn design(report: &Report) -> Design<'_> {
    let metrics = report.metrics().iter().enumerate();
    Design {
        learner: &report.learner,
        splitter: &report.splitter,
        network: report.network.map(|network| network.name()),
        n_folds: report.n_folds,
        k: report.ks().iter().copied().map(K::of).collect(),
        metrics: metrics
            .map(|(m, name)| Metric { name, greater_is_better: report.greater_is_better(m) })
            .collect(),
        covariates: report.covariates.iter().map(|&j| report.data.name(j)).collect(),
        offset: report.offset.iter().map(|&j| report.data.name(j)).collect(),
    }
}

fn results(method: &Evaluated) -> Vec<ResultAtK<'_>> {
    let metrics = &method.evaluation.plan.metrics;
    method
        .rows()
        .iter()
        .map(|row| ResultAtK {
            k: K::of(row.k),
            mean_features: row.mean_features(),
            metrics: scores(metrics, &row.summaries),
            stability: row.stability.map(|Stability { phi, interval, .. }| Agreement {
                phi,
                lower: interval.map(|(lower, _)| lower),
                upper: interval.map(|(_, upper)| upper),
            }),
            redundancy: row.summaries.first().and_then(|summary| summary.redundancy),
        })
        .collect()
}

fn scores<'a>(metrics: &'a [String], summaries: &[Summary]) -> Vec<Score<'a>> {
    let score = |(name, summary): (&'a String, &Summary)| Score {
        name,
        mean: Number(summary.mean),
        standard_error: summary.standard_error.map(Number),
        standard_deviation: summary.standard_deviation.map(Number),
    };
    metrics.iter().zip(summaries).map(score).collect()
}

fn baselines(report: &Report) -> Vec<Baseline<'_>> {
    let known = report.baselines.iter();
    known
        .map(|known| Baseline {
            name: known.id,
            n_features: known.n_features,
            metrics: scores(report.metrics(), &known.summaries),
        })
        .collect()
}

fn chosen<'a>(method: &'a Evaluated, report: &'a Report) -> Vec<Chosen<'a>> {
    let feature = |(i, &j): (usize, &usize)| Feature { rank: i + 1, index: j, name: report.data.name(j) };
    method
        .chosen
        .iter()
        .map(|chosen| Chosen {
            rule: rule_id(chosen.rule),
            k: K::of(chosen.k),
            features: chosen
                .features
                .as_ref()
                .map(|features| features.iter().enumerate().map(feature).collect()),
        })
        .collect()
}

fn rule_id(rule: KRule) -> &'static str {
    match rule {
        KRule::Best => "best-mean",
        KRule::OneStandardError => "one-standard-error",
    }
}

fn folds(method: &Evaluated) -> Vec<Fold<'_>> {
    method
        .evaluation
        .folds
        .iter()
        .map(|record| Fold {
            fold: record.fold,
            n_train: record.n_train,
            n_test: record.n_test,
            outcomes: record
                .outcomes
                .iter()
                .map(|outcome| Outcome {
                    k: K::of(outcome.k),
                    features: &outcome.features,
                    scores: &outcome.scores,
                })
                .collect(),
        })
        .collect()
}

fn comparisons(report: &Report) -> Vec<Comparison<'_>> {
    let id = |i: usize| report.methods.get(i).map_or("", |method| method.method.id);
    let test = |test: TestResult| Test { statistic: Number(test.statistic), p_value: test.p_value };
    let mut comparisons = Vec::new();
    for (m, metric) in report.metrics().iter().enumerate() {
        for column in differences::columns(report, m) {
            let Some(best) = column.best else { continue };
            let others = column.cells.iter().enumerate().filter_map(|(i, cell)| {
                let difference = cell.difference.as_ref()?;
                Some(Other {
                    method: id(i),
                    mean_difference: Number(difference.mean),
                    corrected_t: test(difference.corrected_t),
                    wilcoxon: test(difference.wilcoxon),
                })
            });
            comparisons.push(Comparison {
                metric,
                k: K::of(column.k),
                best: id(best),
                others: others.collect(),
            });
        }
    }
    comparisons
}

fn timings(report: &Report) -> Vec<Timing<'_>> {
    let of = |method: &'static str, rows: Vec<Row>| {
        rows.into_iter().map(move |row| Timing {
            method,
            k: K::of(row.k),
            selection_seconds: row.selection_seconds,
            fit_seconds: row.fit_seconds,
        })
    };
    report.methods.iter().flat_map(|method| of(method.method.id, method.rows())).collect()
}
