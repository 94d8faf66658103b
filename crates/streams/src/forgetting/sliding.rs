//! A window of the last samples.

use std::collections::VecDeque;

use fewest_core::{Budget, Context, Dataset, Error, Held, Scores, Selection, StreamSelector, stream_state};

use super::StreamSums;
use super::blocks::Blocks;
use crate::samples::by_score;

/// Scores of the last samples only.
///
/// The window is a ring of blocks of `b` samples with their sums each, and moves by a whole block: it has the
/// last `window / b` whole blocks and the block that is being filled. So the last `window` samples count, or
/// up to `b − 1` more, each with weight 1, and no other. The answer is that of the sums over these samples
/// but for rounding: nothing is ever subtracted.
///
/// Cost: that of the sums for a sample, twice, and a merge of all blocks for an answer. Memory: the sums of
/// `window / b` blocks, and up to `b` samples.
///
/// ```
/// use fewest_core::{Budget, Context, Dataset, DenseColumns, StreamSelector, Target};
/// use fewest_streams::{CorrelationSums, Sliding};
///
/// let noise = |j: u64| (0..400).map(|i| fewest_core::derive_seed(j, i) as f64).collect::<Vec<f64>>();
/// let columns = [noise(1), noise(2)];
/// // Feature 0 tells the target of the first half, feature 1 that of the second.
/// let y = (0..400).map(|i| columns[i / 200][i]).collect();
/// let data = Dataset::new(DenseColumns::from_columns(&columns)?, Target::real(y)?)?;
/// let mut sliding = Sliding::new(CorrelationSums::default(), 100, 20)?;
/// sliding.update(&data.subset(&(0..200).collect::<Vec<_>>())?, &Context::default())?;
/// assert_eq!(sliding.selection(Budget::Count(1))?.order, [0]);
/// sliding.update(&data.subset(&(200..320).collect::<Vec<_>>())?, &Context::default())?;
/// assert_eq!(sliding.selection(Budget::Count(1))?.order, [1]);
/// assert_eq!(sliding.n_samples(), 100);
/// # Ok::<(), fewest_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Sliding<A> {
    blocks: Blocks<A>,
    n_whole: usize,
    /// The sums of whole blocks, the oldest first.
    whole: VecDeque<A>,
}

impl<A: StreamSums> Sliding<A> {
    /// A window of `window` samples, a multiple of `block`; `empty` has seen nothing.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for no samples, and for a window that is no multiple of `block`.
    pub fn new(empty: A, window: usize, block: usize) -> Result<Self, Error> {
        let blocks = Blocks::new(empty, block)?;
        if window == 0 || !window.is_multiple_of(block) {
            let expected = format!("a multiple of the samples of a block, {block}, above 0");
            return Err(Error::parameter("window", window, expected));
        }
        Ok(Self { blocks, n_whole: window / block, whole: VecDeque::new() })
    }

    /// Number of samples that count.
    pub fn n_samples(&self) -> usize {
        let whole: f64 = self.whole.iter().map(A::weight).sum();
        whole.round() as usize + self.blocks.n_filled()
    }

    /// The scores of the samples in the window.
    ///
    /// # Errors
    /// Where the sums do not allow it.
    pub fn scores(&self) -> Result<Scores, Error> {
        let mut all = self.blocks.empty();
        let filled = self.blocks.filled()?;
        self.whole.iter().chain([&filled]).try_for_each(|block| all.merge(block.clone()))?;
        all.finish()
    }
}

impl<A: StreamSums> StreamSelector for Sliding<A> {
    fn update(&mut self, arrived: &Dataset, _: &Context<'_>) -> Result<(), Error> {
        self.whole.extend(self.blocks.add(arrived)?);
        while self.whole.len() > self.n_whole {
            self.whole.pop_front();
        }
        Ok(())
    }

    fn selection(&self, budget: Budget) -> Result<Selection, Error> {
        by_score(&self.scores()?, budget)
    }

    fn held(&self) -> Held {
        let numbers = self.whole.iter().map(A::size).sum::<usize>() + self.blocks.size();
        Held::new(self.blocks.n_features(), numbers)
    }

    stream_state!(blocks.rows, blocks.made, n_whole; blocks.empty, blocks.filling,
        blocks.n_features, whole);
}
