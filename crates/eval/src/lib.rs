#![doc = include_str!("../README.md")]

mod catalogue;
mod clustering;
mod experiment;
mod features;
mod knockoffs;
mod learners;
mod metrics;
pub mod significance;
mod splits;
pub mod stability;
mod stability_selection;

pub use catalogue::{ChosenLearner, LEARNERS, LearnerEntry, METRICS, MetricEntry, learner_in, metric_in};
pub use clustering::{Clustering, ClusteringOutcome};
pub use experiment::{
    AUTO_K, Comparison, Evaluation, Experiment, ExperimentError, FoldRecord, KRule, Network, Outcome, Plan,
    RunOptions, Stage, Summary, compare, k_text,
};
pub use knockoffs::{
    CoefficientDifference, Construction, Covariance, CrossValidatedDifference, KnockoffOptions,
    KnockoffStatistic, Knockoffs, ScoreDifference,
};
pub use learners::{
    ClassScores, ClassScoring, CoxRidge, CoxRidgeModel, DecisionTree, Importances, KMeans, KMeansModel,
    KernelGrid, KernelLogistic, KernelLogisticModel, KernelRidge, KernelRidgeModel, Learner, LinearSvm,
    LinearSvmModel, MachineGrid, MachineKernel, Model, NaiveBayes, NearestNeighbours, Predictions,
    RandomForest, SupportVectorClassifier, SupportVectorClassifierModel, SupportVectorRegression,
    SupportVectorRegressionModel, TwinClassifier, TwinClassifierModel, TwinRegularization,
};
pub use metrics::{
    Accuracy, AreaUnderCurve, BalancedAccuracy, ClusteringAccuracy, Concordance, Correlation, Determination,
    LogLoss, MacroF1, Matthews, MeanAbsoluteError, MeanSquaredError, Metric, MutualInformationScale,
    NormalisedMutualInformation, QSquared, RootMeanSquaredError, SquaredCorrelation, redundancy_rate,
};
pub use splits::{GroupFolds, HoldOut, KFold, Repeated, Split, Splitter};
pub use stability_selection::StabilitySelection;
