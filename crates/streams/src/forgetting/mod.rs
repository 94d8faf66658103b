//! Scores of samples that arrive, which forget: windows, decay, and a test that says when a selection no
//! longer holds.

mod adwin;
mod blocks;
mod drift;
mod fading;
mod moments;
mod sliding;

use fewest_core::{Accumulator, Error, Scores};

pub use adwin::{Adwin, Shift};
pub use drift::{Alarm, DriftOptions, Drifting};
pub use fading::Fading;
pub use moments::{ClassSums, CorrelationSums};
pub use sliding::Sliding;

/// Sums over samples from which scores follow, and whose samples can lose weight: what [`Sliding`],
/// [`Fading`] and [`Drifting`] are made of.
///
/// A clone of one that has seen nothing is one that has seen nothing.
///
/// ```
/// use fewest_core::{Accumulator, Dataset, DenseColumns, Target};
/// use fewest_streams::{CorrelationSums, StreamSums};
///
/// let half = |shift: f64| -> Result<Dataset, fewest_core::Error> {
///     let x: Vec<f64> = (0..20).map(|i| f64::from(i * 7 % 20) + shift).collect();
///     Dataset::new(DenseColumns::from_columns(&[x.clone()])?, Target::real(x.iter().map(|x| 2.0 * x).collect())?)
/// };
/// let mut sums = CorrelationSums::default();
/// sums.update(&half(0.0)?)?;
/// // The samples so far count half as much as those to come.
/// sums.fade(0.5);
/// sums.update(&half(3.0)?)?;
/// assert_eq!(sums.weight(), 30.0);
/// assert!((sums.scores()?.values[0] - 1.0).abs() < 1e-12);
/// # Ok::<(), fewest_core::Error>(())
/// ```
pub trait StreamSums: Accumulator<Output = Scores> + Clone {
    /// Multiplies the weight of all samples seen by `factor`, from 0 to 1. With 0 only what later samples
    /// must agree with is left of them: the number of features, the names of classes.
    fn fade(&mut self, factor: f64);

    /// The weight of all samples seen: their number, where nothing was faded.
    fn weight(&self) -> f64;

    /// The score of every feature.
    ///
    /// # Errors
    /// As [`Accumulator::finish`].
    fn scores(&self) -> Result<Scores, Error> {
        self.clone().finish()
    }

    /// Floating-point numbers that it holds.
    fn size(&self) -> usize;
}
