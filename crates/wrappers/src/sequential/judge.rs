//! The score of a learner with a set of features.

use fewest_columns::{finite_values, inverse_power};
use fewest_core::{Context, Dataset, DenseColumns, Error, FeatureKind, Target, order};
use fewest_eval::{Accuracy, ChosenLearner, KFold, MeanSquaredError, Metric, Predictions, Split, Splitter};

use crate::elimination::JUDGED;
use crate::table::Canonical;

/// Scores closer than this, relatively, tie: the order of summation would decide.
const ROUNDING: f64 = 1e-12;

/// Values of training samples that are looked at between two looks at the clock.
const VALUES: usize = 1 << 22;

/// The cross-validated score of a learner by features.
pub(super) struct Judge<'a> {
    learner: &'a ChosenLearner,
    columns: Vec<Vec<f64>>,
    names: Vec<String>,
    kinds: Vec<FeatureKind>,
    target: Target,
    /// What real outputs were divided by, a power of two: then no squared error overflows or vanishes.
    unit: f64,
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
        let Canonical { samples: order, features: places } = Canonical::of(data)?;
        let mut columns = Vec::with_capacity(data.n_features());
        for j in 0..data.n_features() {
            let whole = finite_values(data, j)?;
            columns.push(order.iter().map(|&row| whole[row]).collect::<Vec<f64>>());
        }
        let constant = data.constant_features()?;
        let stratified = matches!(data.target(), Target::Class(_));
        let splits = KFold { folds, stratified }.splits(&data.subset(&order)?, seed)?;
        let (target, unit) = in_small_units(data.target().subset(&order))?;
        Ok(Self {
            learner,
            places,
            columns,
            names: (0..data.n_features()).map(|j| data.feature_name(j)).collect(),
            kinds: (0..data.n_features()).map(|j| data.feature_kind(j).clone()).collect(),
            target,
            unit,
            splits,
            varying: (0..data.n_features()).filter(|j| constant.binary_search(j).is_err()).collect(),
        })
    }

    /// The score of `features`: the mean over the folds of the accuracy, or of minus the mean squared error
    /// of the outputs in small units.
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
            let model = self.learner.fit_to_predict(&train, &Context { progress: None, ..*context })?;
            let at_once = (VALUES / (split.train.len() * features.len())).max(1);
            let mut predicted: Option<Predictions> = None;
            for rows in split.test.chunks(at_once) {
                context.go_on(JUDGED)?;
                let more = model.predict(&part(rows)?)?;
                predicted = Some(match predicted {
                    Some(known) => known.followed_by(more)?,
                    None => more,
                });
            }
            let Some(predicted) = predicted else { continue };
            let truth = self.target.subset(&split.test);
            sum += match truth {
                Target::Class(_) => Accuracy.score(&truth, &predicted)?,
                _ => -MeanSquaredError.score(&truth, &predicted)?,
            };
        }
        let score = sum / self.splits.len() as f64;
        if score.is_finite() {
            return Ok(score);
        }
        let hint = "the learner's predictions are no numbers: scale the features, or try another learner";
        Err(Error::Numerical { what: "the score of a set of features", hint: hint.to_owned() })
    }

    /// A score, or a difference of two, in the square of the target's unit.
    pub(super) fn in_target_units(&self, score: f64) -> Result<f64, Error> {
        let scaled = score * self.unit * self.unit;
        // Without a score there is none in another unit either.
        if score.is_nan() || scaled.is_finite() {
            return Ok(scaled);
        }
        let hint = "the target is so large that its square is no number: divide it by a power of ten";
        Err(Error::Numerical { what: "the mean squared error", hint: hint.to_owned() })
    }

    /// The scores of several sets.
    pub(super) fn scores(&self, sets: &[Vec<usize>], context: &Context<'_>) -> Result<Vec<f64>, Error> {
        fewest_parallel::try_map(sets.len(), |at| {
            context.go_on(JUDGED)?;
            self.score(&sets[at], context)
        })
    }

    /// The score of one set.
    pub(super) fn score_of(&self, set: &[usize], context: &Context<'_>) -> Result<f64, Error> {
        Ok(self.scores(&[set.to_vec()], context)?.first().copied().unwrap_or(f64::NAN))
    }

    /// The feature with the best score of its own; at a tie the lower index.
    pub(super) fn first_addition(&self, context: &Context<'_>) -> Result<First, Error> {
        let scores = fewest_parallel::try_map(self.varying.len(), |at| {
            match context.go_on(JUDGED).and_then(|()| self.score(&self.varying[at..=at], context)) {
                Ok(score) => Ok(Some(score)),
                Err(Error::Stopped { .. }) => Ok(None),
                Err(error) => Err(error),
            }
        })?;
        let is_whole = scores.iter().all(Option::is_some);
        let both = self.varying.iter().copied().zip(scores);
        let scored: Vec<(usize, f64)> = both.filter_map(|(j, score)| Some((j, score?))).collect();
        if !is_whole {
            return Ok(First::Stopped(scored));
        }
        let (j, score) = best(scored.into_iter());
        Ok(First::Best(j, score))
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

    /// The removals from `inside` and the score of what is left; of equal ones the higher index comes first.
    pub(super) fn removals(
        &self,
        inside: &[usize],
        context: &Context<'_>,
    ) -> Result<Vec<(usize, f64)>, Error> {
        let mut candidates = inside.to_vec();
        order::sort_indices(&mut candidates);
        candidates.reverse();
        let sets: Vec<Vec<usize>> = candidates.iter().map(|&j| without(inside, j)).collect();
        let scores = self.scores(&sets, context)?;
        Ok(candidates.into_iter().zip(scores).collect())
    }
}

/// The first step of a forward search.
pub(super) enum First {
    /// The best feature alone, and its score.
    Best(usize, f64),
    /// The run was stopped: the features judged by then, with their scores.
    Stopped(Vec<(usize, f64)>),
}

/// The target with all real outputs divided by the power of two that brings the largest near 1, and that
/// power.
fn in_small_units(target: Target) -> Result<(Target, f64), Error> {
    let Target::Real(outputs) = &target else { return Ok((target, 1.0)) };
    let values = || (0..outputs.n_outputs()).flat_map(|k| outputs.output(k));
    let n_samples = values().count() / outputs.n_outputs().max(1);
    let scale = inverse_power(values().fold(0.0, |largest, value| largest.max(value.abs())));
    let scaled = values().map(|value| value * scale).collect();
    Ok((Target::outputs(scaled, n_samples)?, 1.0 / scale))
}

/// The first of those with the best score.
pub(super) fn best(scored: impl Iterator<Item = (usize, f64)>) -> (usize, f64) {
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
