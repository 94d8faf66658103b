//! Evaluation of selected features by clustering.

use std::time::Instant;

use fewest_core::{Budget, Context, Dataset, Error, Selector, Target, derive_seed, order};
use serde::{Deserialize, Serialize};

use crate::features::{check_features, describe, gather};
use crate::{ClusteringAccuracy, KMeans, Metric, NormalisedMutualInformation, Predictions};

/// Unsupervised selection evaluated by clustering (survey 002 Section 6): features are selected from all
/// samples without their classes, k-means clusters the samples by the selected features, and the clusters
/// are compared with the classes.
///
/// The selector never sees the classes: the data it gets has no target. k-means starts once for each repeat,
/// since it finds local optima; [`ClusteringOutcome`] has one value for each. Repeats run in parallel.
pub struct Clustering<'a> {
    /// The selector; it must work without a target.
    pub selector: &'a dyn Selector,
    /// The numbers of features to evaluate; at least one.
    pub ks: Vec<usize>,
    /// Whether one selection of the largest `k` serves all others.
    pub nested: bool,
    /// Number of clusters; `None` for the number of classes that occur.
    pub clusters: Option<usize>,
    /// How often k-means starts, at least 1. The survey's choice is 20.
    pub repeats: usize,
}

/// The agreement of clusters with classes for one number of features.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClusteringOutcome {
    /// The requested number of features.
    pub k: usize,
    /// The features used, best first: fewer than `k` where the selector found no more.
    pub features: Vec<usize>,
    /// Normalised mutual information of each repeat.
    pub mutual_information: Vec<f64>,
    /// Clustering accuracy of each repeat.
    pub accuracy: Vec<f64>,
    /// Seconds to select the features; of the whole selection where it is nested.
    pub selection_seconds: f64,
}

impl Clustering<'_> {
    /// Selects, clusters and compares.
    ///
    /// # Errors
    /// [`Error::UnsupportedTarget`] unless the target is classes; [`Error::InvalidParameter`] for `ks`,
    /// `clusters` or `repeats` out of range; [`Error::TooFew`] when the selector finds no feature;
    /// [`Error::Stopped`] when the selection was stopped before its end; the errors of the selector.
    pub fn run(&self, data: &Dataset, context: &Context<'_>) -> Result<Vec<ClusteringOutcome>, Error> {
        let classes = data.classes("clustering")?;
        let mut ks = self.ks.clone();
        order::sort_indices(&mut ks);
        ks.dedup();
        let Some(&largest) = ks.last() else {
            return Err(Error::parameter("ks", "empty", "at least one number of features"));
        };
        for &k in &ks {
            Budget::Count(k).check(data.n_features())?;
        }
        if self.repeats == 0 {
            return Err(Error::parameter("repeats", 0, "at least 1"));
        }
        let clusters = self.clusters.unwrap_or(classes.occurring().len());
        let blind = data.clone().with_target(Target::None)?;
        let rows: Vec<usize> = (0..data.n_samples()).collect();
        let mut outcomes: Vec<ClusteringOutcome> = Vec::with_capacity(ks.len());
        let budgets: Vec<Budget> = if self.nested {
            vec![Budget::Count(largest)]
        } else {
            ks.iter().copied().map(Budget::Count).collect()
        };
        let start = Instant::now();
        let inside = Context { seed: derive_seed(context.seed, 0), ..*context };
        let selections = self.selector.select_many(&blind, &budgets, &inside)?;
        let selection_seconds = start.elapsed().as_secs_f64() / budgets.len() as f64;
        if selections.iter().any(|selection| selection.status.is_stopped()) {
            return Err(Error::Stopped { before: "all features were selected" });
        }
        for (done, &k) in ks.iter().enumerate() {
            let Some(selection) = selections.get(if self.nested { 0 } else { done }) else { break };
            let order = &selection.order;
            let features = order.get(..k).unwrap_or(order);
            check_features(features, data.n_features())?;
            if features.is_empty() {
                return Err(Error::TooFew { what: "features selected", minimum: 1, found: 0 });
            }
            let subset = Dataset::new(gather(data, &rows, features)?, Target::None)?;
            let subset = describe(subset, data, features)?;
            let k_means = KMeans { restarts: 1, ..KMeans::new(clusters) };
            let repeat = |repeat: usize| {
                let seed = derive_seed(derive_seed(context.seed, 1), repeat as u64);
                let found = k_means.train(&subset, &Context { seed, progress: None, ..*context })?;
                let predicted = Predictions::Classes(found.clusters);
                let information = NormalisedMutualInformation::default().score(data.target(), &predicted)?;
                Ok((information, ClusteringAccuracy.score(data.target(), &predicted)?))
            };
            let scores = fewest_parallel::try_map(self.repeats, repeat)?;
            let (mutual_information, accuracy) = scores.into_iter().unzip();
            let features = features.to_vec();
            outcomes.push(ClusteringOutcome { k, features, mutual_information, accuracy, selection_seconds });
            context.report("clustering", done + 1, ks.len());
        }
        Ok(outcomes)
    }
}

#[cfg(test)]
mod tests {
    use fewest_core::{DenseColumns, Ranked, Scorer, Scores};

    use super::*;

    /// Prefers features by index; no target allowed.
    struct First;

    impl Scorer for First {
        fn score(&self, data: &Dataset, _: &Context<'_>) -> Result<Scores, Error> {
            assert_eq!(*data.target(), Target::None, "the classes stay hidden");
            Ok(Scores::ascending((0..data.n_features()).map(|j| j as f64).collect()))
        }
    }

    fn data() -> Dataset {
        let clean = (0..30).map(|i| f64::from(i % 3) * 10.0 + f64::from(i) / 100.0).collect();
        let noise = (0..30).map(|i| f64::from(i * 7 % 30)).collect();
        let labels: Vec<i32> = (0..30).map(|i| i % 3).collect();
        let x = DenseColumns::from_columns(&[clean, noise]).unwrap();
        Dataset::new(x, Target::from_labels(&labels)).unwrap()
    }

    fn clustering<'a>(selector: &'a dyn Selector) -> Clustering<'a> {
        Clustering { selector, ks: vec![2, 1], nested: true, clusters: None, repeats: 20 }
    }

    #[test]
    fn clusters_that_are_classes_are_recognised() {
        let selector = Ranked::new(First);
        for nested in [true, false] {
            let clustering = Clustering { nested, ..clustering(&selector) };
            let outcomes = clustering.run(&data(), &Context::seeded(4)).unwrap();
            assert_eq!((outcomes[0].k, outcomes[1].k), (1, 2));
            let best = outcomes[0].accuracy.iter().copied().fold(0.0, f64::max);
            assert_eq!(best, 1.0);
            let perfect = outcomes[0].mutual_information.iter().filter(|value| **value > 1.0 - 1e-12).count();
            assert!(perfect >= 10, "{:?}", outcomes[0]);
            let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
            assert!(mean(&outcomes[0].mutual_information) > mean(&outcomes[1].mutual_information));
        }
    }

    #[test]
    fn the_answer_does_not_depend_on_threads() {
        let selector = Ranked::new(First);
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let mut outcomes =
                pool.install(|| clustering(&selector).run(&data(), &Context::seeded(4)).unwrap());
            outcomes.iter_mut().for_each(|outcome| outcome.selection_seconds = 0.0);
            outcomes
        };
        assert_eq!(run(1), run(3));
    }

    #[test]
    fn wrong_calls_are_errors() {
        let selector = Ranked::new(First);
        let named = |clustering: Clustering<'_>| match clustering.run(&data(), &Context::default()) {
            Err(Error::InvalidParameter { name, .. }) => name,
            other => panic!("{other:?}"),
        };
        assert_eq!(named(Clustering { ks: vec![], ..clustering(&selector) }), "ks");
        assert_eq!(named(Clustering { ks: vec![1, 3], ..clustering(&selector) }), "k");
        assert_eq!(named(Clustering { repeats: 0, ..clustering(&selector) }), "repeats");
        assert_eq!(named(Clustering { clusters: Some(31), ..clustering(&selector) }), "clusters");
        let blind = Dataset::shared(data().shared_x(), Target::None).unwrap();
        let error = clustering(&selector).run(&blind, &Context::default()).unwrap_err();
        assert!(matches!(error, Error::UnsupportedTarget { .. }), "{error}");
        let constant = DenseColumns::new(vec![1.0; 4], 4, 1).unwrap();
        let constant = Dataset::new(constant, Target::from_labels(&[0, 1, 0, 1])).unwrap();
        let one = Clustering { ks: vec![1], ..clustering(&selector) };
        assert!(matches!(one.run(&constant, &Context::default()), Err(Error::TooFew { .. })));
    }
}
