//! The results of an experiment, as plain values that can be stored, returned and summarised.

use fewest_core::{Budget, Status};
use serde::{Deserialize, Serialize};

/// Stands among numbers of features for as many as the method decides itself ([`Budget::Auto`]).
pub const AUTO_K: usize = usize::MAX;

/// A number of features as text: `auto` for [`AUTO_K`].
pub fn k_text(k: usize) -> String {
    if k == AUTO_K { "auto".to_owned() } else { k.to_string() }
}

/// What a selector is asked for.
pub(super) fn budget(k: usize) -> Budget {
    if k == AUTO_K { Budget::Auto } else { Budget::Count(k) }
}

/// The settings that identify an experiment: records of two experiments are never mixed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// The caller's name for selector and learner with their parameters.
    pub label: String,
    /// The learner's name.
    pub learner: String,
    /// The metrics' names.
    pub metrics: Vec<String>,
    /// Whether a larger value of each metric is better.
    pub greater_is_better: Vec<bool>,
    /// The numbers of features, increasing; [`AUTO_K`] last.
    pub ks: Vec<usize>,
    /// Whether one selection serves all numbers of features.
    pub nested: bool,
    /// The seed.
    pub seed: u64,
    /// Number of folds.
    pub n_folds: usize,
    /// Number of features of the data.
    pub n_features: usize,
    /// A fingerprint of folds and target.
    pub fingerprint: u64,
}

/// The result for the best `k` features of a fold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// The requested number of features, or [`AUTO_K`].
    pub k: usize,
    /// The features used, best first: fewer than `k` where the selector found no more.
    pub features: Vec<usize>,
    /// One value for each metric.
    pub scores: Vec<f64>,
    /// [`redundancy_rate`](crate::redundancy_rate) of the features over the training samples; none for more
    /// than 1000 features.
    pub redundancy: Option<f64>,
    /// Seconds to select the features: of the whole selection where it is nested, otherwise an equal share of
    /// the call that selected for all numbers of features.
    pub selection_seconds: f64,
    /// Seconds to fit the learner and to predict.
    pub fit_seconds: f64,
    /// The facts that the model reports: parameters chosen, certificates.
    pub facts: Vec<(String, f64)>,
}

/// A finished fold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FoldRecord {
    /// The fold's index, from 0.
    pub fold: usize,
    /// Number of training samples.
    pub n_train: usize,
    /// Number of test samples.
    pub n_test: usize,
    /// One entry for each number of features, in the plan's order.
    pub outcomes: Vec<Outcome>,
}

/// Finished folds of an experiment, by increasing index: its result once all are finished, and before that
/// the state from which [`Experiment::run_with`](crate::Experiment::run_with) continues.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// The plan of the experiment.
    pub plan: Plan,
    /// The finished folds.
    pub folds: Vec<FoldRecord>,
    /// Whether it was the deadline that ended the run early, rather than the caller.
    pub out_of_time: bool,
}

impl Evaluation {
    /// Whether every fold is finished.
    pub(crate) fn is_complete(&self) -> bool {
        self.folds.len() == self.plan.n_folds
    }

    /// How the run ended: converged if every fold is finished.
    pub fn status(&self) -> Status {
        match (self.is_complete(), self.out_of_time) {
            (true, _) => Status::Converged,
            (false, true) => Status::TimeLimit,
            (false, false) => Status::Interrupted,
        }
    }
}
