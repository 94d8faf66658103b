//! Evaluation of feature selection.
//!
//! An [`Experiment`] puts together what chooses features (a [`Selector`](fewest_core::Selector)), what
//! predicts from them (a [`Learner`]), what divides the samples (a [`Splitter`]) and what judges the
//! predictions (one [`Metric`] or more). Selection happens inside every fold, on its training samples only.
//! Its result, an [`Evaluation`], is a plain value to store: an experiment goes on from the folds there are.
//!
//! * splitters: [`KFold`], [`HoldOut`], [`GroupFolds`], [`Repeated`]
//! * learners for classes: [`DecisionTree`], [`NaiveBayes`], [`NearestNeighbours`], [`LinearSvm`],
//!   [`KernelLogistic`], [`SupportVectorClassifier`], [`TwinClassifier`]; for numbers: [`NearestNeighbours`],
//!   [`KernelRidge`], [`SupportVectorRegression`]
//! * metrics of classes: [`Accuracy`], [`BalancedAccuracy`], [`MacroF1`]; of numbers: [`MeanSquaredError`],
//!   [`QSquared`], [`Correlation`], [`SquaredCorrelation`]; of clusters: [`NormalisedMutualInformation`],
//!   [`ClusteringAccuracy`]; of the features themselves: [`redundancy_rate`]
//! * [`stability`] of selections and [`significance`] of differences
//! * [`StabilitySelection`] makes a selector of any other by selecting on many half samples
//! * [`Clustering`] judges features by the clusters that [`KMeans`] finds in them

mod catalogue;
mod clustering;
mod experiment;
mod features;
mod learners;
mod metrics;
pub mod significance;
mod splits;
pub mod stability;
mod stability_selection;

pub use catalogue::{
    ChosenLearner, LEARNERS, LearnerEntry, METRICS, MetricEntry, find_learner, find_metric, learner_in,
    metric_in,
};
pub use clustering::{Clustering, ClusteringOutcome};
pub use experiment::{
    Comparison, Evaluation, Experiment, ExperimentError, FoldRecord, KRule, OnFold, Outcome, Plan, Prepare,
    RunOptions, Stage, Summary, choose_k, compare,
};
pub use learners::{
    DecisionTree, KMeans, KMeansModel, KernelGrid, KernelLogistic, KernelLogisticModel, KernelRidge,
    KernelRidgeModel, Learner, LinearSvm, LinearSvmModel, MachineGrid, MachineKernel, Model, NaiveBayes,
    NearestNeighbours, Predictions, SupportVectorClassifier, SupportVectorClassifierModel,
    SupportVectorRegression, SupportVectorRegressionModel, TwinClassifier, TwinClassifierModel, TwinPair,
    TwinRegularization,
};
pub use metrics::{
    Accuracy, BalancedAccuracy, ClusteringAccuracy, Correlation, MacroF1, MeanSquaredError, Metric,
    MutualInformationScale, NormalisedMutualInformation, QSquared, SquaredCorrelation, redundancy_rate,
};
pub use splits::{GroupFolds, HoldOut, KFold, Repeated, Split, Splitter};
pub use stability_selection::StabilitySelection;
