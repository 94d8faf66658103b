//! Samples whose weight decays.

use fewest_core::{Budget, Context, Dataset, Error, Held, Scores, Selection, StreamSelector, stream_state};

use super::FadingSums;
use super::blocks::Blocks;
use crate::samples::by_score;

/// Scores of samples whose weight halves every `half_life` samples.
///
/// Sums are scaled once for each block of `b` samples: a sample of the block that is `a` blocks ago has
/// weight `2^(−a b / half_life)`, those of the block that is being filled have weight 1. With `b = 1` every
/// sample is a block. All weights together are at most `b / (1 − 2^(−b / half_life))`, which for small blocks
/// is about `1.44 half_life`.
///
/// Cost: that of the sums for a sample, twice, and `O(d)` for a block. Memory: the sums, twice, and up to `b`
/// samples.
///
/// ```
/// use fewest_core::{Budget, Context, Dataset, DenseColumns, StreamSelector, Target};
/// use fewest_streams::{CorrelationSums, Fading};
///
/// let noise = |j: u64| (0..400).map(|i| fewest_core::derive_seed(j, i) as f64).collect::<Vec<f64>>();
/// let columns = [noise(1), noise(2)];
/// let y = (0..400).map(|i| columns[i / 200][i]).collect();
/// let data = Dataset::new(DenseColumns::from_columns(&columns)?, Target::real(y)?)?;
/// let mut fading = Fading::new(CorrelationSums::default(), 50.0, 10)?;
/// fading.update(&data.subset(&(0..200).collect::<Vec<_>>())?, &Context::default())?;
/// assert_eq!(fading.selection(Budget::Count(1))?.order, [0]);
/// fading.update(&data.subset(&(200..400).collect::<Vec<_>>())?, &Context::default())?;
/// assert_eq!(fading.selection(Budget::Count(1))?.order, [1]);
/// # Ok::<(), fewest_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Fading<A> {
    blocks: Blocks<A>,
    half_life: f64,
    /// Of all whole blocks, faded to the weight that they have while the next one is being filled.
    past: A,
}

impl<A: FadingSums> Fading<A> {
    /// Weights that halve every `half_life` samples, in blocks of `block`; `empty` has seen nothing.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for blocks of no samples, and a half-life that is not above 0.
    pub fn new(empty: A, half_life: f64, block: usize) -> Result<Self, Error> {
        if !(half_life > 0.0 && half_life.is_finite()) {
            return Err(Error::parameter("half_life", half_life, "a number of samples above 0"));
        }
        Ok(Self { past: empty.clone(), blocks: Blocks::new(empty, block)?, half_life })
    }

    /// The weight of all samples together.
    pub fn weight(&self) -> f64 {
        self.past.weight() + self.blocks.n_filled() as f64
    }

    /// The scores of all samples by their weight.
    ///
    /// # Errors
    /// Where the sums do not allow it.
    pub fn scores(&self) -> Result<Scores, Error> {
        let mut all = self.past.clone();
        all.merge(self.blocks.filled()?)?;
        all.finish()
    }
}

impl<A: FadingSums> StreamSelector for Fading<A> {
    fn update(&mut self, arrived: &Dataset, _: &Context<'_>) -> Result<(), Error> {
        let factor = (-(self.blocks.rows() as f64) / self.half_life).exp2();
        for whole in self.blocks.add(arrived)? {
            self.past.merge(whole)?;
            self.past.fade(factor);
        }
        Ok(())
    }

    fn selection(&self, budget: Budget) -> Result<Selection, Error> {
        by_score(&self.scores()?, budget)
    }

    fn held(&self) -> Held {
        Held::new(self.blocks.n_features(), self.past.size() + self.blocks.size())
    }

    stream_state!(blocks.rows, blocks.made, half_life; blocks.empty, blocks.filling,
        blocks.n_features, past);
}
