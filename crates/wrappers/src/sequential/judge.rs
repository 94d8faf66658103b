//! The score of a learner with a set of features.

use fewest_columns::finite_values;
use fewest_core::{Context, Dataset, DenseColumns, Error, FeatureKind, Target, derive_seed, order};
use fewest_eval::{Accuracy, ChosenLearner, KFold, MeanSquaredError, Metric, Split, Splitter};

use crate::elimination::go_on;
use crate::table::canonical_order;

/// Scores closer than this, relatively, tie: the order of summation would decide.
const ROUNDING: f64 = 1e-12;

/// The cross-validated score of a learner by features.
pub(super) struct Judge<'a> {
    learner: &'a ChosenLearner,
    columns: Vec<Vec<f64>>,
    names: Vec<String>,
    kinds: Vec<FeatureKind>,
    target: Target,
    splits: Vec<Split>,
    /// The place of each feature in an order that depends on its values only, in which learners see features.
    places: Vec<u64>,
    pub(super) varying: Vec<usize>,
}

impl<'a> Judge<'a> {
    pub(super) fn new(
        data: &Dataset,
        learner: &'a ChosenLearner,
        folds: usize,
        seed: u64,
    ) -> Result<Self, Error> {
        if !matches!(data.target(), Target::Class(_) | Target::Real(_)) {
            let (method, expected) = ("sequential search", "classes or real outputs");
            return Err(Error::UnsupportedTarget { method, expected, found: data.target().describe() });
        }
        data.refuse_sample_weights("sequential search")?;
        let one = match data.target() {
            Target::Class(classes) => classes.codes().windows(2).all(|pair| pair[0] == pair[1]),
            Target::Real(outputs) => {
                (0..outputs.n_outputs()).all(|k| outputs.output(k).windows(2).all(|pair| pair[0] == pair[1]))
            }
            _ => false,
        };
        if one {
            return Err(Error::TooFew { what: "different values of the target", minimum: 2, found: 1 });
        }
        // Folds and learners see samples in an order that does not depend on that of rows.
        let order = canonical_order(data)?;
        let mut columns = Vec::with_capacity(data.n_features());
        for j in 0..data.n_features() {
            let whole = finite_values(data, j)?;
            columns.push(order.iter().map(|&row| whole[row]).collect::<Vec<f64>>());
        }
        let constant = data.constant_features()?;
        let stratified = matches!(data.target(), Target::Class(_));
        let splits = KFold { folds, stratified }.splits(&data.subset(&order)?, seed)?;
        let digest = |sum: u64, value: &f64| derive_seed(sum, (value + 0.0).to_bits());
        Ok(Self {
            learner,
            places: columns.iter().map(|column| column.iter().fold(0, digest)).collect(),
            columns,
            names: (0..data.n_features()).map(|j| data.feature_name(j)).collect(),
            kinds: (0..data.n_features()).map(|j| data.feature_kind(j).clone()).collect(),
            target: data.target().subset(&order),
            splits,
            varying: (0..data.n_features()).filter(|j| constant.binary_search(j).is_err()).collect(),
        })
    }

    /// The score of `features`: the mean over the folds of the accuracy, or of minus the mean squared error.
    fn score(&self, features: &[usize], context: &Context<'_>) -> Result<f64, Error> {
        let mut features = features.to_vec();
        features.sort_by_key(|&j| (self.places[j], j));
        let mut sum = 0.0;
        for split in &self.splits {
            let part = |rows: &[usize]| -> Result<DenseColumns, Error> {
                let value = |&j: &usize| rows.iter().map(move |&row| self.columns[j][row]);
                let values = features.iter().flat_map(value).collect();
                DenseColumns::new(values, rows.len(), features.len())
            };
            let kinds = features.iter().map(|&j| self.kinds[j].clone()).collect();
            let train = Dataset::new(part(&split.train)?, self.target.subset(&split.train))?
                .with_feature_kinds(kinds)?
                .with_feature_names(features.iter().map(|&j| self.names[j].clone()).collect())?;
            // Learners would report their own progress.
            let model = self.learner.fit(&train, &Context { progress: None, ..*context })?;
            let predicted = model.predict(&part(&split.test)?)?;
            let truth = self.target.subset(&split.test);
            sum += match truth {
                Target::Class(_) => Accuracy.score(&truth, &predicted)?,
                _ => -MeanSquaredError.score(&truth, &predicted)?,
            };
        }
        Ok(sum / self.splits.len() as f64)
    }

    /// The scores of several sets.
    pub(super) fn scores(&self, sets: &[Vec<usize>], context: &Context<'_>) -> Result<Vec<f64>, Error> {
        fewest_parallel::try_map(sets.len(), |at| {
            go_on(context)?;
            self.score(&sets[at], context)
        })
    }

    /// The addition to `inside` with the best score; at a tie the lower index.
    pub(super) fn best_addition(
        &self,
        inside: &[usize],
        outside: &[usize],
        context: &Context<'_>,
    ) -> Result<(usize, f64), Error> {
        let with = |&j: &usize| inside.iter().copied().chain([j]).collect();
        let scores = self.scores(&outside.iter().map(with).collect::<Vec<_>>(), context)?;
        Ok(best(outside.iter().copied().zip(scores)))
    }

    /// The removal from `inside` with the best score; at a tie the higher index.
    pub(super) fn best_removal(
        &self,
        inside: &[usize],
        context: &Context<'_>,
    ) -> Result<(usize, f64), Error> {
        let mut candidates = inside.to_vec();
        order::sort_indices(&mut candidates);
        candidates.reverse();
        let sets: Vec<Vec<usize>> = candidates.iter().map(|&j| without(inside, j)).collect();
        Ok(best(candidates.into_iter().zip(self.scores(&sets, context)?)))
    }
}

/// The first of those with the best score.
fn best(scored: impl Iterator<Item = (usize, f64)>) -> (usize, f64) {
    scored.fold((usize::MAX, f64::NEG_INFINITY), |best, (j, score)| {
        if best.0 == usize::MAX || better(score, best.1) { (j, score) } else { best }
    })
}

/// Whether a score is better than another by more than rounding.
pub(crate) fn better(score: f64, other: f64) -> bool {
    score > other + ROUNDING * other.abs()
}

pub(super) fn without(features: &[usize], j: usize) -> Vec<usize> {
    features.iter().copied().filter(|&other| other != j).collect()
}
