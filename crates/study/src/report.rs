//! The result of a study.

use fewest::core::Status;
use fewest::eval::stability::Stability;
use fewest::eval::{Evaluation, KRule, Network, Summary};

use crate::DataInfo;
use crate::catalogue::{Method, Parameters};

/// Evaluations of one or more methods on the same folds.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Report {
    /// The seed.
    pub seed: u64,
    /// The data.
    pub data: DataInfo,
    /// The id of the learner.
    pub learner: String,
    /// How the samples are divided, in words.
    pub splitter: String,
    /// What selectors saw of a network besides the training samples, where samples are linked.
    pub network: Option<Network>,
    /// The features that methods take into account and that the learner has beside the selected ones.
    pub covariates: Vec<usize>,
    /// The features that methods add to their fitted values; the learner does not.
    pub offset: Vec<usize>,
    /// Number of folds when all are finished.
    pub n_folds: usize,
    /// The methods' results, in the order of the candidates; at least one. Those that were not reached before
    /// a stop are left out.
    pub methods: Vec<Evaluated>,
    /// What is reached without features, and with all of them; none that were not finished or not wanted.
    pub baselines: Vec<Baseline>,
    /// How it ended.
    pub status: Status,
    /// Notes for the reader.
    pub notes: Vec<String>,
    /// Why the last folds could not be stored.
    pub not_stored: Option<String>,
    /// Wall-clock time, without reading and writing.
    pub seconds: f64,
}

/// A method with its finished folds.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Evaluated {
    /// What tells it from the others: its id, unless one method is there several times.
    pub name: String,
    /// The method.
    pub method: Method,
    /// Its parameters.
    pub parameters: Parameters,
    /// The finished folds; at least one.
    pub evaluation: Evaluation,
    /// The numbers of features that the rules choose, with that many features selected on all samples.
    pub chosen: Vec<Chosen>,
}

/// The learner's results on the same folds without a selection.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Baseline {
    /// `majority-class`, `mean`, `equal-risk`, `covariates` or `all-features`.
    pub id: &'static str,
    /// The number of features, beside covariates: 0, or all.
    pub n_features: usize,
    /// One entry for each metric.
    pub summaries: Vec<Summary>,
}

/// A number of features, and the features.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Chosen {
    /// The rule that chose the number.
    pub rule: KRule,
    /// The number, or [`AUTO_K`](fewest::eval::AUTO_K).
    pub k: usize,
    /// That many features, selected on all samples; `None` if the run was stopped before.
    pub features: Option<Vec<usize>>,
}

/// The results for one number of features.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Row {
    /// The number, or [`AUTO_K`](fewest::eval::AUTO_K).
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

impl Baseline {
    /// The results with `n_features` features.
    pub fn new(id: &'static str, n_features: usize, summaries: Vec<Summary>) -> Self {
        Self { id, n_features, summaries }
    }
}

impl Chosen {
    /// The choice of `k` by `rule`, with its features.
    pub fn new(rule: KRule, k: usize, features: Option<Vec<usize>>) -> Self {
        Self { rule, k, features }
    }
}

impl Evaluated {
    /// The finished folds of a method, and the choices of the rules.
    pub fn new(method: Method, parameters: Parameters, evaluation: Evaluation, chosen: Vec<Chosen>) -> Self {
        Self { name: method.id.to_owned(), method, parameters, evaluation, chosen }
    }

    /// The results for every number of features, increasing.
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

    /// The choice of `rule`.
    pub fn chosen(&self, rule: KRule) -> Option<&Chosen> {
        self.chosen.iter().find(|chosen| chosen.rule == rule)
    }
}

impl Report {
    /// A report without evaluations, which are added later.
    pub fn new(
        seed: u64,
        data: DataInfo,
        learner: impl Into<String>,
        splitter: String,
        n_folds: usize,
    ) -> Self {
        Self {
            seed,
            data,
            learner: learner.into(),
            splitter,
            network: None,
            covariates: Vec::new(),
            offset: Vec::new(),
            n_folds,
            methods: Vec::new(),
            baselines: Vec::new(),
            status: Status::Converged,
            notes: Vec::new(),
            not_stored: None,
            seconds: 0.0,
        }
    }

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
