//! Stability selection: features that are selected in most subsamples.

use std::sync::Mutex;

use fewest_core::{
    Budget, Context, Dataset, Error, FalseDiscoveries, NumberBound, Selection, Selector, Status, derive_seed,
    order, rank,
};
use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use rand::seq::SliceRandom;

use fewest_columns::by_class;

/// Stability selection (Meinshausen and Bühlmann 2010) with any selector: it runs on many random halves of
/// the samples, and the features that it chooses in at least a share `threshold` of them are selected. The
/// score is this share.
///
/// If the irrelevant features are exchangeable, and the selector is not worse than random, the expected
/// number of irrelevant features selected is at most `q² / ((2π − 1) d)` (their Theorem 1), for `q` features
/// chosen in a half, `π` the threshold and `d` features: [`Selection::false_discoveries`].
/// With `complementary_pairs` (Shah and Samworth 2013) the halves come in pairs without a common sample.
/// Then, without these assumptions, the same number bounds the expected number of selected features whose
/// probability to be chosen in a half is at most `q/d`.
///
/// The samples have to be independent for both. Where the method decides how many features it chooses, `q` is
/// not known, and the mean over the halves an estimate of it. Constant features do not count. Of a run that
/// is stopped the halves that are complete are used: of complementary pairs those of which both are, with the
/// same bound, and of others without one.
///
/// With classes, halves have half of each class (up to one sample). `Budget::Count(k)` keeps the best `k` of
/// the stable features; `Budget::Threshold(π)` replaces the threshold. Halves run in parallel.
///
/// ```
/// use fewest_core::{Budget, Context, Dataset, DenseColumns, Ranked, Scorer, Scores, Selector, Target};
/// use fewest_eval::StabilitySelection;
///
/// /// Scores features by the absolute sum of their values.
/// struct Sum;
/// impl Scorer for Sum {
///     fn score(&self, data: &Dataset, _: &Context<'_>) -> Result<Scores, fewest_core::Error> {
///         let mut sums = Vec::new();
///         for j in 0..data.n_features() {
///             let values = data.x().column(j, &mut Vec::new())?.to_vec(data.n_samples());
///             sums.push(values.iter().sum::<f64>().abs());
///         }
///         Ok(Scores::descending(sums))
///     }
/// }
///
/// let wave = |step: u32| -> Vec<f64> { (0..20).map(|i| f64::from(i * step % 20) - 9.5).collect() };
/// let x = DenseColumns::from_columns(&[wave(3), (0..20).map(f64::from).collect(), wave(7)])?;
/// let data = Dataset::new(x, Target::None)?;
/// let selection = StabilitySelection::new(Ranked::new(Sum)).select(&data, Budget::Count(1), &Context::seeded(1))?;
/// assert_eq!((selection.order, selection.scores), (vec![1], vec![1.0]));
/// # Ok::<(), fewest_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct StabilitySelection<S> {
    /// The selector that runs on each half.
    pub selector: S,
    /// Number of halves, at least 2; even with complementary pairs. Default 100.
    pub subsamples: usize,
    /// The share `π` of halves that have to choose a feature, above 0.5 and at most 1. Default 0.75.
    pub threshold: f64,
    /// The number of features `q` chosen in each half. `None`, the default: as many as the budget asks for.
    pub per_subsample: Option<usize>,
    /// Whether halves come in pairs that have no sample in common. Default no.
    pub complementary_pairs: bool,
}

impl<S: Selector> StabilitySelection<S> {
    /// With this selector and default values.
    pub fn new(selector: S) -> Self {
        Self { selector, subsamples: 100, threshold: 0.75, per_subsample: None, complementary_pairs: false }
    }

    /// With complementary pairs, and as many features in each half as keep the bound on the expected number
    /// of irrelevant ones of `n_features`, those that vary, at most `error`: `q = ⌊√(error (2π − 1) d)⌋`.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for an `error` so small that a half could choose no feature, and for a
    /// threshold out of range.
    ///
    /// ```
    /// use fewest_core::{Context, Dataset, Error, Ranked, Scorer, Scores};
    /// use fewest_eval::StabilitySelection;
    ///
    /// struct Nothing;
    /// impl Scorer for Nothing {
    ///     fn score(&self, data: &Dataset, _: &Context<'_>) -> Result<Scores, Error> {
    ///         Ok(Scores::descending(vec![0.0; data.n_features()]))
    ///     }
    /// }
    ///
    /// let selection = StabilitySelection::with_error(Ranked::new(Nothing), 1.0, 0.75, 200)?;
    /// assert_eq!(selection.per_subsample, Some(10));
    /// assert!(StabilitySelection::with_error(Ranked::new(Nothing), 0.001, 0.75, 200).is_err());
    /// # Ok::<(), Error>(())
    /// ```
    pub fn with_error(selector: S, error: f64, threshold: f64, n_features: usize) -> Result<Self, Error> {
        check_threshold(threshold)?;
        let room = (2.0 * threshold - 1.0) * n_features as f64;
        // Of a whole number rounding would leave one less.
        let q = (error * room * (1.0 + 1e-12)).sqrt();
        if q.is_nan() || q < 1.0 {
            let expected = format!(
                "at least {:.2e}: with less, no feature could be chosen in a half of the samples",
                room.recip()
            );
            return Err(Error::parameter("per_family_error", error, expected));
        }
        let per_subsample = Some((q.floor() as usize).min(n_features));
        Ok(Self { threshold, per_subsample, complementary_pairs: true, ..Self::new(selector) })
    }

    fn check(&self, data: &Dataset, threshold: f64) -> Result<(), Error> {
        check_threshold(threshold)?;
        if self.subsamples < 2 {
            return Err(Error::parameter("subsamples", self.subsamples, "at least 2"));
        }
        if self.complementary_pairs && self.subsamples % 2 == 1 {
            return Err(Error::parameter("subsamples", self.subsamples, "even with complementary pairs"));
        }
        if data.n_samples() < 4 {
            return Err(Error::TooFew { what: "samples to halve", minimum: 4, found: data.n_samples() });
        }
        Ok(())
    }

    /// The samples of half `index`.
    fn half(&self, data: &Dataset, index: usize, seed: u64) -> Vec<usize> {
        let (draw, part) = if self.complementary_pairs { (index / 2, index % 2) } else { (index, 0) };
        let mut rows: Vec<usize> = (0..data.n_samples()).collect();
        rows.shuffle(&mut ChaCha8Rng::seed_from_u64(derive_seed(seed, draw as u64)));
        // Of an odd number, a random sample is left out.
        rows.truncate(data.n_samples() / 2 * 2);
        let rows = by_class(rows, data.target());
        let mut half: Vec<usize> = rows.into_iter().skip(part).step_by(2).collect();
        order::sort_indices(&mut half);
        half
    }
}

fn check_threshold(threshold: f64) -> Result<(), Error> {
    if threshold > 0.5 && threshold <= 1.0 {
        return Ok(());
    }
    Err(Error::parameter("threshold", threshold, "above 0.5 and at most 1"))
}

/// What the bound needs of halves drawn one by one, and of complementary pairs; for a number of features in a
/// half that is given, and for one that is estimated.
const EXCHANGEABLE: [&str; 2] = [
    "samples are independent, irrelevant features exchangeable, and the method is no worse than random",
    "samples are independent, irrelevant features exchangeable, and the method is no worse than random; \
     the number of features in a half is an estimate",
];
const SELDOM: [&str; 2] = [
    "samples are independent; features count as irrelevant that a half chooses no more often than the average \
     one",
    "samples are independent; features count as irrelevant that a half chooses no more often than the average \
     one; the number of features in a half is an estimate",
];

impl<S: Selector> Selector for StabilitySelection<S> {
    fn select(&self, data: &Dataset, budget: Budget, context: &Context<'_>) -> Result<Selection, Error> {
        budget.check(data.n_features())?;
        let (threshold, keep) = match budget {
            Budget::Threshold(threshold) => (threshold, data.n_features()),
            Budget::Count(k) => (self.threshold, k),
            _ => (self.threshold, data.n_features()),
        };
        self.check(data, threshold)?;
        let inner = match (self.per_subsample, budget) {
            (Some(q), _) => Budget::Count(q),
            (None, Budget::Count(k)) => Budget::Count(k),
            (None, _) => Budget::Auto,
        };
        if inner.check(data.n_features()).is_err() {
            let expected = format!("at least 1 and at most the number of features, {}", data.n_features());
            return Err(Error::parameter("per_subsample", self.per_subsample.unwrap_or(0), expected));
        }
        let (halves, runs) = (derive_seed(context.seed, 0), derive_seed(context.seed, 1));
        let done = Mutex::new(0_usize);
        let choose = |index: usize| {
            if context.stopped().is_some() {
                return Ok(None);
            }
            let half = data.subset(&self.half(data, index, halves))?;
            let inside = Context { seed: derive_seed(runs, index as u64), progress: None, ..*context };
            match self.selector.select(&half, inner, &inside) {
                Err(Error::Stopped { .. }) if context.stopped().is_some() => Ok(None),
                Err(error) => Err(error),
                Ok(selection) if selection.status.is_stopped() => Ok(None),
                Ok(selection) => {
                    // A poisoned count is valid: no change is left incomplete.
                    let mut done = done.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                    *done += 1;
                    context.report("subsample", *done, self.subsamples);
                    Ok(Some(selection.order))
                }
            }
        };
        let mut chosen = fewest_parallel::try_map(self.subsamples, choose)?;
        if self.complementary_pairs {
            // The bound is one of whole pairs.
            for pair in chosen.chunks_mut(2) {
                if pair.iter().any(Option::is_none) {
                    pair.fill(None);
                }
            }
        }
        let mut counts = vec![0_usize; data.n_features()];
        let (mut finished, mut total) = (0_usize, 0_usize);
        for order in chosen {
            let Some(order) = order else { continue };
            crate::features::check_features(&order, data.n_features())?;
            finished += 1;
            total += order.len();
            order.iter().for_each(|&j| counts[j] += 1);
        }
        if finished == 0 {
            let before = match self.complementary_pairs {
                true => "features were chosen in both halves of any pair",
                false => "features were chosen in any half of the samples",
            };
            return Err(Error::Stopped { before });
        }
        let shares: Vec<f64> = counts.iter().map(|&count| count as f64 / finished as f64).collect();
        let stable = |j: &usize| shares[*j] >= threshold;
        let mut order: Vec<usize> = rank(&shares, true).into_iter().filter(stable).collect();
        let n_stable = order.len();
        order.truncate(keep);
        let scores = order.iter().map(|&j| shares[j]).collect();
        let status = if finished == self.subsamples {
            Status::Converged
        } else {
            context.stopped().unwrap_or(Status::TimeLimit)
        };
        let mut selection = Selection::new(order, scores, data.n_features(), status);
        if self.complementary_pairs || finished == self.subsamples {
            let n_varying = data.n_features() - data.constant_features()?.len();
            let (q, is_estimate) = match inner {
                Budget::Count(q) => (q as f64, false),
                _ => (total as f64 / finished as f64, true),
            };
            let bound = q * q / ((2.0 * threshold - 1.0) * n_varying.max(1) as f64);
            let assumptions = if self.complementary_pairs { SELDOM } else { EXCHANGEABLE };
            let mut number = NumberBound::default();
            (number.target, number.per_half) = (bound, q);
            (number.threshold, number.halves) = (threshold, finished);
            number.assumption = assumptions[usize::from(is_estimate)];
            selection.false_discoveries = Some(FalseDiscoveries::Number(number));
        } else {
            selection
                .notes
                .push("of halves without their pairs a run that is stopped has no bound".to_owned());
        }
        selection.note_missing_features(Budget::Auto, "none was chosen in enough halves of the samples");
        if n_stable > selection.order.len() {
            selection.notes.push(format!("{n_stable} features are stable; the best of them are listed"));
        }
        Ok(selection)
    }
}

#[cfg(test)]
mod tests;
