//! Scores of samples that arrive, with a test that says when the selection no longer holds.

use fewest_core::method::Options;
use fewest_core::{
    Alarm, Budget, Context, Dataset, Error, Held, Scores, Selection, StreamSelector, options, rank, state,
    stream_state,
};

use super::FadingSums;
use super::adwin::Window;
use super::blocks::Blocks;
use crate::samples::by_score;

options! {
    /// What [`Drifting`] watches.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct DriftOptions {
        /// Samples of a block, each of which gives one value to the test.
        pub block: usize = 50, Count(2);
        /// Blocks whose scores choose the features that are watched.
        pub reference: usize = 20, Count(1);
        /// Number of features that are watched: those with the best scores of the reference.
        pub watched: usize = 10, Count(1);
        /// How likely the test may find a change at a block where there is none, about.
        pub delta: f64 = 0.002, ProperFraction;
    }
}

/// Scores of all samples since the last change, with a test for changes.
///
/// ```text
/// reference        the scores of the first `reference` blocks; the `watched` best features are S, and stay
/// for each block   U = share of pairs (s in S, r not in S) where r has the better score in this block, a tie
///                  counts ½:  0 where the block ranks as the reference does, ½ where S is like others
/// alarm            where ADWIN finds that the newer U are larger than the older ones
/// ```
///
/// `1 − U` is the area under the curve of the features watched (Mann and Whitney). After an alarm only the
/// blocks count that the test has left, those after the change; the next `reference` blocks, from these on,
/// are the next reference. The rank correlation of both scores says how much has changed: selections with a
/// high one have changed in a few places. Where the newer `U` are smaller the window of the test shrinks
/// without an alarm, and nothing is forgotten.
///
/// The test is [ADWIN](super::Adwin) and not Page's and Hinkley's, which needs the size of a change and a
/// threshold in units of the noise of `U`: these depend on the data, and the rate of false alarms on both.
/// `delta` is about the probability of an alarm at a block without a change. With few samples in a block `U`
/// is noisy, and with many an alarm comes late: it takes some ten blocks, and more for small changes. A block
/// whose samples allow no scores, such as those of one class, counts but is not tested.
///
/// Cost: that of the sums for a sample; scores, and a merge of `O(log)` sums, for a block. Memory: sums of
/// `5 log₂(n)` buckets for `n` blocks since the last change.
///
/// ```
/// use fewest_core::{Budget, Context, Dataset, DenseColumns, StreamSelector, Target};
/// use fewest_streams::{CorrelationSums, DriftOptions, Drifting};
///
/// let options = DriftOptions { block: 20, reference: 10, watched: 1, ..DriftOptions::default() };
/// let mut drifting = Drifting::new(CorrelationSums::default(), options)?;
/// let noise = |j: u64| (0..3000).map(|i| fewest_core::derive_seed(j, i) as f64).collect::<Vec<f64>>();
/// let columns: Vec<Vec<f64>> = (0..8).map(noise).collect();
/// // Feature 3 tells the target up to sample 1500, then feature 5.
/// let y = (0..3000).map(|i| columns[if i < 1500 { 3 } else { 5 }][i] + columns[0][i]).collect();
/// let data = Dataset::new(DenseColumns::from_columns(&columns[1..])?, Target::real(y)?)?;
/// drifting.update(&data, &Context::default())?;
/// let alarm = drifting.alarm().unwrap();
/// assert!(alarm.sample > 1500 && alarm.sample < 2500 && alarm.since >= 1480);
/// assert_eq!((&alarm.left[..], &alarm.entered[..]), (&[2][..], &[4][..]));
/// assert_eq!(drifting.selection(Budget::Count(1))?.order, [4]);
/// # Ok::<(), fewest_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Drifting<A> {
    options: DriftOptions,
    blocks: Blocks<A>,
    /// Sums of blocks that count and are not in the window of the test.
    past: A,
    /// How many blocks these are.
    n_past: u64,
    /// Once there is one.
    reference: Option<Reference>,
    window: Window<A>,
    n_blocks: u64,
    last: Option<Alarm>,
}

/// What blocks are compared with.
#[derive(Debug, Clone)]
struct Reference {
    scores: Scores,
    watched: Vec<usize>,
}

impl Reference {
    fn new(scores: Scores, n_watched: usize) -> Self {
        let mut watched = scores.ranking();
        watched.truncate(n_watched);
        Self { scores, watched }
    }

    /// The share of pairs of a watched and another feature that `scores` ranks the other way round.
    fn disagreement(&self, scores: &Scores) -> f64 {
        let ranks = ranks(scores);
        let k = self.watched.len() as f64;
        let others = ranks.len() as f64 - k;
        let sum: f64 = self.watched.iter().map(|&j| ranks[j]).sum();
        // Ranks count from 1 for the best: the least sum is that of the k best.
        ((sum - k * (k + 1.0) / 2.0) / (k * others)).clamp(0.0, 1.0)
    }
}

impl<A: FadingSums> Drifting<A> {
    /// Over the sums `empty`, which has seen nothing.
    ///
    /// # Errors
    /// For options out of range.
    pub fn new(empty: A, options: DriftOptions) -> Result<Self, Error> {
        options.check()?;
        Ok(Self {
            options,
            past: empty.clone(),
            n_past: 0,
            blocks: Blocks::new(empty, options.block)?,
            reference: None,
            window: Window::new(options.delta),
            n_blocks: 0,
            last: None,
        })
    }

    /// Number of alarms so far.
    pub fn n_alarms(&self) -> u64 {
        self.last.as_ref().map_or(0, |alarm| alarm.number)
    }

    /// The features watched, the best first; none before the reference is complete.
    pub fn watched(&self) -> &[usize] {
        self.reference.as_ref().map_or(&[], |reference| &reference.watched)
    }

    /// The first sample that counts, from 0.
    pub fn since(&self) -> u64 {
        (self.n_blocks - self.n_past - self.window.n_values()) * self.options.block as u64
    }

    /// The scores of all samples since the last change.
    ///
    /// # Errors
    /// Where the sums do not allow it.
    pub fn scores(&self) -> Result<Scores, Error> {
        let mut all = self.past.clone();
        let filled = self.blocks.filled()?;
        self.window.with().chain([&filled]).try_for_each(|block| all.merge(block.clone()))?;
        all.finish()
    }

    fn block(&mut self, own: A) -> Result<(), Error> {
        self.n_blocks += 1;
        let scores = match (&self.reference, own.scores()) {
            (Some(_), Ok(scores)) => scores,
            (None, _) | (_, Err(Error::TooFew { .. })) => {
                self.past.merge(own)?;
                self.n_past += 1;
                return self.refer();
            }
            (_, Err(error)) => return Err(error),
        };
        let Some(reference) = &self.reference else { return Ok(()) };
        let before = self.window.n_values();
        let found = self.window.add(reference.disagreement(&scores), own, A::merge)?;
        let Some((shift, dropped)) = found else {
            return Ok(());
        };
        if shift.after <= shift.before {
            self.n_past += before + 1 - shift.n_left;
            return dropped.into_iter().try_for_each(|older| self.past.merge(older));
        }
        let mut newer = self.blocks.empty();
        self.window.with().try_for_each(|block| newer.merge(block.clone()))?;
        let now = newer.scores()?;
        let mut best = now.ranking();
        best.truncate(self.options.watched);
        let without = |all: &[usize], some: &[usize]| -> Vec<usize> {
            all.iter().copied().filter(|j| !some.contains(j)).collect()
        };
        let block = self.options.block as u64;
        let mut alarm = Alarm::default();
        alarm.number = self.n_alarms() + 1;
        alarm.sample = self.n_blocks * block;
        alarm.since = (self.n_blocks - shift.n_left) * block;
        (alarm.before, alarm.after) = (shift.before, shift.after);
        alarm.rank_correlation = rank_correlation(&reference.scores, &now);
        alarm.left = without(&reference.watched, &best);
        alarm.entered = without(&best, &reference.watched);
        self.last = Some(alarm);
        (self.past, self.n_past, self.reference) = (newer, shift.n_left, None);
        self.window = Window::new(self.options.delta);
        self.refer()
    }

    /// Makes what has been seen the reference, once it is enough.
    fn refer(&mut self) -> Result<(), Error> {
        if self.reference.is_none() && self.n_past >= self.options.reference as u64 {
            self.reference = match self.past.scores() {
                Ok(scores) => Some(Reference::new(scores, self.options.watched)),
                // More blocks may allow it.
                Err(Error::TooFew { .. }) => None,
                Err(error) => return Err(error),
            };
        }
        Ok(())
    }
}

state!(Reference { scores, watched });

/// Ranks from 1 for the best; equal scores share the mean of their ranks.
fn ranks(scores: &Scores) -> Vec<f64> {
    let order = rank(&scores.values, scores.higher_is_better);
    let mut ranks = vec![0.0; order.len()];
    let is_tied = |a: &usize, b: &usize| {
        let (a, b) = (scores.values[*a], scores.values[*b]);
        a == b || (a.is_nan() && b.is_nan())
    };
    let mut first = 0;
    for tied in order.chunk_by(is_tied) {
        let shared = first as f64 + (tied.len() as f64 + 1.0) / 2.0;
        tied.iter().for_each(|&j| ranks[j] = shared);
        first += tied.len();
    }
    ranks
}

/// Spearman's: Pearson's of the ranks; 0 where one of both has all scores equal.
fn rank_correlation(a: &Scores, b: &Scores) -> f64 {
    let (a, b) = (ranks(a), ranks(b));
    let mean = (a.len() as f64 + 1.0) / 2.0;
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - mean) * (b - mean)).sum::<f64>();
    let scale = (product(&a, &a) * product(&b, &b)).sqrt();
    if scale > 0.0 { product(&a, &b) / scale } else { 0.0 }
}

impl<A: FadingSums> StreamSelector for Drifting<A> {
    fn update(&mut self, arrived: &Dataset, _: &Context<'_>) -> Result<(), Error> {
        if self.options.watched >= arrived.n_features() {
            let expected = format!(
                "below the number of features, {}, with which they are compared",
                arrived.n_features()
            );
            return Err(Error::parameter("watched", self.options.watched, expected));
        }
        self.blocks.add(arrived)?.into_iter().try_for_each(|block| self.block(block))
    }

    fn selection(&self, budget: Budget) -> Result<Selection, Error> {
        by_score(&self.scores()?, budget)
    }

    fn held(&self) -> Held {
        let window: usize = self.window.with().map(A::size).sum();
        let reference = self.reference.as_ref().map_or(0, |reference| reference.scores.values.len());
        Held::new(self.blocks.n_features(), self.past.size() + self.blocks.size() + window + reference)
    }

    fn alarm(&self) -> Option<&Alarm> {
        self.last.as_ref()
    }

    stream_state!(blocks.made, options; blocks.empty, blocks.filling, blocks.n_features, past,
        n_past, reference, window.buckets, n_blocks, last);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disagreement_is_the_share_of_pairs() {
        let values = vec![0.9, 0.1, 0.5, f64::NAN, 0.5, 0.7, 0.2];
        for watched in [vec![0, 5], vec![3, 1], vec![2], vec![4, 0, 6]] {
            let reference = Reference { scores: Scores::descending(Vec::new()), watched: watched.clone() };
            let found = reference.disagreement(&Scores::descending(values.clone()));
            let (mut worse, mut pairs) = (0.0, 0.0);
            for &s in &watched {
                for r in (0..7).filter(|r| !watched.contains(r)) {
                    let (own, other) = (values[s], values[r]);
                    pairs += 1.0;
                    worse += if own.is_nan() || other > own {
                        1.0
                    } else if other == own {
                        0.5
                    } else {
                        0.0
                    };
                }
            }
            assert!((found - worse / pairs).abs() < 1e-12, "{watched:?}: {found}");
        }
        let scores = |values: &[f64]| Scores::descending(values.to_vec());
        assert!(
            (rank_correlation(&scores(&[1.0, 5.0, 3.0]), &scores(&[2.0, 90.0, 3.0])) - 1.0).abs() < 1e-12
        );
        assert!(
            (rank_correlation(&scores(&[1.0, 5.0, 3.0]), &scores(&[0.0, -5.0, -1.0])) + 1.0).abs() < 1e-12
        );
        assert_eq!(rank_correlation(&scores(&[1.0, 1.0]), &scores(&[1.0, 2.0])), 0.0);
    }
}
