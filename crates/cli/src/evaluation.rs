//! Evaluations: what is done with each method, and what comes of it.

mod design;
pub mod differences;
mod resume;
mod work;

pub use design::{Design, describe};
pub use resume::Resume;
pub use work::{Candidate, evaluate};

use fewest::eval::stability::Stability;
use fewest::eval::{Evaluation, KRule, Summary};
use fewest::registry::{Method, Value};

use crate::run_info::DataInfo;

/// Evaluations of one or more methods on the same folds, for the table, JSON and the report.
pub struct Report {
    /// The version of this program.
    pub version: &'static str,
    /// The call, as it can be pasted into a shell.
    pub command: String,
    /// The seed.
    pub seed: u64,
    /// The data.
    pub data: DataInfo,
    /// The id of the learner.
    pub learner: &'static str,
    /// How the samples are divided, in words.
    pub splitter: String,
    /// Number of folds there are to be.
    pub n_folds: usize,
    /// The methods' results, in the order of the call. Those that were not reached before a stop are left out.
    pub methods: Vec<Evaluated>,
    /// How it ended.
    pub status: fewest::core::Status,
    /// What the reader should know.
    pub notes: Vec<String>,
    /// Wall-clock time, without reading and writing.
    pub seconds: f64,
}

/// A method with its finished folds.
pub struct Evaluated {
    /// The method.
    pub method: &'static Method,
    /// Every parameter that has a value, in the method's order.
    pub parameters: Vec<(&'static str, Value)>,
    /// The finished folds; at least one.
    pub evaluation: Evaluation,
    /// The numbers of features that the rules choose, with as many selected on all samples.
    pub chosen: Vec<Chosen>,
}

/// A number of features, and the features.
pub struct Chosen {
    /// The rule that chose the number.
    pub rule: KRule,
    /// The number.
    pub k: usize,
    /// As many features, selected on all samples; `None` where a stop came before.
    pub features: Option<Vec<usize>>,
}

/// All about one number of features.
pub struct Row {
    /// The number.
    pub k: usize,
    /// One entry for each metric.
    pub summaries: Vec<Summary>,
    /// Agreement of the folds' selections; `None` where it is not defined.
    pub stability: Option<Stability>,
    /// Mean time a fold takes to select, in seconds.
    pub selection_seconds: f64,
    /// Mean time a fold takes to learn and to predict, in seconds.
    pub fit_seconds: f64,
}

impl Row {
    /// Mean number of features that the folds selected, at most `k`.
    pub fn mean_features(&self) -> f64 {
        self.summaries.first().map_or(0.0, |summary| summary.mean_features)
    }
}

impl Evaluated {
    /// All about every number of features, increasing.
    pub fn rows(&self) -> Vec<Row> {
        let evaluation = &self.evaluation;
        let summaries = evaluation.summaries();
        let outcomes = |k: usize| {
            evaluation.folds.iter().flat_map(|fold| &fold.outcomes).filter(move |outcome| outcome.k == k)
        };
        let n_folds = evaluation.folds.len().max(1) as f64;
        let row = |&k: &usize| Row {
            k,
            summaries: summaries.iter().filter(|summary| summary.k == k).cloned().collect(),
            stability: evaluation.stability(k).ok(),
            selection_seconds: outcomes(k).map(|outcome| outcome.selection_seconds).sum::<f64>() / n_folds,
            fit_seconds: outcomes(k).map(|outcome| outcome.fit_seconds).sum::<f64>() / n_folds,
        };
        evaluation.plan.ks.iter().map(row).collect()
    }

    /// What `rule` chooses.
    pub fn chosen(&self, rule: KRule) -> Option<&Chosen> {
        self.chosen.iter().find(|chosen| chosen.rule == rule)
    }
}

impl Report {
    /// The metrics; the first decides.
    pub fn metrics(&self) -> &[String] {
        self.methods.first().map_or(&[], |method| &method.evaluation.plan.metrics)
    }

    /// The numbers of features.
    pub fn ks(&self) -> &[usize] {
        self.methods.first().map_or(&[], |method| &method.evaluation.plan.ks)
    }

    /// Whether larger values of the metric at `m` are better.
    pub fn greater_is_better(&self, m: usize) -> bool {
        let plan = self.methods.first().map(|method| &method.evaluation.plan);
        plan.and_then(|plan| plan.greater_is_better.get(m).copied()).unwrap_or(true)
    }
}

/// What a rule is called in JSON.
pub fn rule_id(rule: KRule) -> &'static str {
    match rule {
        KRule::Best => "best-mean",
        KRule::OneStandardError => "one-standard-error",
    }
}

/// What a rule takes, in words.
pub fn rule_text(rule: KRule) -> &'static str {
    match rule {
        KRule::Best => "best mean",
        KRule::OneStandardError => "fewest features within one standard error of it",
    }
}
