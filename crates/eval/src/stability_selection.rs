//! Stability selection: features that are selected in most subsamples.

use std::sync::Mutex;

use fewest_core::{Budget, Context, Dataset, Error, Selection, Selector, Status, derive_seed, order, rank};
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
/// chosen in a half on average, `π` the threshold and `d` features; a note of the selection gives this bound.
/// With `complementary_pairs` (Shah and Samworth 2013) the halves come in pairs without a common sample.
/// Then, without these assumptions, the same number bounds the expected number of selected features whose
/// probability to be chosen in a half is at most `q/d`.
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

    fn check(&self, data: &Dataset, threshold: f64) -> Result<(), Error> {
        if !(threshold > 0.5 && threshold <= 1.0) {
            return Err(Error::parameter("threshold", threshold, "above 0.5 and at most 1"));
        }
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
        let chosen = fewest_parallel::try_map(self.subsamples, choose)?;
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
            return Err(Error::Stopped { before: "features were chosen in any half of the samples" });
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
        let q = total as f64 / finished as f64;
        let bound = q * q / ((2.0 * threshold - 1.0) * data.n_features() as f64);
        selection.notes.push(format!(
            "{n_stable} features were chosen in at least {:.0} % of {finished} halves; at most {bound:.3} of them are \
             expected to be irrelevant (q²/((2π − 1)d) with q = {q:.1})",
            100.0 * threshold,
        ));
        Ok(selection)
    }
}

#[cfg(test)]
mod tests;
