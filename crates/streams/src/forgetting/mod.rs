//! Scores of samples that arrive, which forget: windows, decay, and a test that says when a selection no
//! longer holds.

mod adwin;
mod blocks;
mod drift;
mod fading;
mod moments;
mod scores;
mod sliding;
mod window;

use std::fmt::Debug;

use fewest_core::{Accumulator, Error, Scores, State};

pub use adwin::{Adwin, Shift};
pub use drift::{DriftOptions, Drifting};
pub use fading::Fading;
pub use moments::{ClassSums, CorrelationSums};
pub use scores::{ScoreSums, VarianceSums};
pub use sliding::Sliding;
pub use window::Window;

/// What is known of some samples, from which scores follow: what [`Sliding`] windows are made of.
///
/// A clone of one that has seen nothing is one that has seen nothing. What `Debug` shows of it then says
/// which sums they are, for states: those of other sums are refused.
pub trait StreamSums: Accumulator<Output = Scores> + Clone + Debug + State {
    /// One that has seen no samples, of which those to come must have the same features and classes.
    #[must_use]
    fn cleared(&self) -> Self;

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

/// Sums whose samples can lose weight: what [`Fading`] and
/// [`Drifting`] need.
///
/// ```
/// use fewest_core::{Accumulator, Dataset, DenseColumns, Target};
/// use fewest_streams::{CorrelationSums, FadingSums, StreamSums};
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
pub trait FadingSums: StreamSums {
    /// Multiplies the weight of all samples seen by `factor`, above 0 and at most 1.
    fn fade(&mut self, factor: f64);
}
