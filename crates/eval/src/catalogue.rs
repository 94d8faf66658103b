//! Learners and metrics by name.

use fewest_core::Error;

use crate::{
    Accuracy, BalancedAccuracy, ClusteringAccuracy, Correlation, DecisionTree, KernelLogistic, KernelRidge,
    Learner, LinearSvm, MacroF1, MeanSquaredError, Metric, NaiveBayes, NearestNeighbours,
    NormalisedMutualInformation, QSquared, SquaredCorrelation, SupportVectorClassifier,
    SupportVectorRegression, TwinClassifier,
};

fn find<T>(
    all: Vec<T>,
    what: &'static str,
    name: &str,
    name_of: impl Fn(&T) -> &'static str,
) -> Result<T, Error> {
    let names: Vec<&str> = all.iter().map(&name_of).collect();
    let expected = format!("one of {}", names.join(", "));
    all.into_iter().find(|one| name_of(one) == name).ok_or_else(|| Error::parameter(what, name, expected))
}

/// Every learner that predicts classes or numbers, with its default parameters.
pub fn all_learners() -> Vec<Box<dyn Learner>> {
    vec![
        Box::new(DecisionTree::default()),
        Box::new(NaiveBayes::default()),
        Box::new(NearestNeighbours::default()),
        Box::new(LinearSvm::default()),
        Box::new(KernelLogistic::default()),
        Box::new(SupportVectorClassifier::default()),
        Box::new(TwinClassifier::twsvm()),
        Box::new(TwinClassifier::tbsvm()),
        Box::new(KernelRidge::default()),
        Box::new(SupportVectorRegression::default()),
    ]
}

/// Every metric.
pub fn all_metrics() -> Vec<Box<dyn Metric>> {
    vec![
        Box::new(Accuracy),
        Box::new(BalancedAccuracy),
        Box::new(MacroF1),
        Box::new(MeanSquaredError),
        Box::new(QSquared),
        Box::new(Correlation),
        Box::new(SquaredCorrelation),
        Box::new(NormalisedMutualInformation::default()),
        Box::new(ClusteringAccuracy),
    ]
}

/// The learner with this name, with its default parameters.
///
/// ```
/// use fewest_eval::{Learner, learner_named};
///
/// assert_eq!(learner_named("naive-bayes")?.name(), "naive-bayes");
/// # Ok::<(), fewest_core::Error>(())
/// ```
///
/// # Errors
/// [`Error::InvalidParameter`] listing the names there are.
pub fn learner_named(name: &str) -> Result<Box<dyn Learner>, Error> {
    find(all_learners(), "learner", name, |learner| learner.name())
}

/// The metric with this name.
///
/// # Errors
/// [`Error::InvalidParameter`] listing the names there are.
pub fn metric_named(name: &str) -> Result<Box<dyn Metric>, Error> {
    find(all_metrics(), "metric", name, |metric| metric.name())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_found_and_names_differ() {
        for learner in all_learners() {
            assert_eq!(learner_named(learner.name()).unwrap().name(), learner.name());
        }
        for metric in all_metrics() {
            let found = metric_named(metric.name()).unwrap();
            assert_eq!(
                (found.name(), found.greater_is_better()),
                (metric.name(), metric.greater_is_better())
            );
        }
        let error = metric_named("accurracy").err().unwrap().to_string();
        assert!(error.contains("accurracy") && error.contains("balanced-accuracy"), "{error}");
        assert!(learner_named("").is_err());
    }
}
