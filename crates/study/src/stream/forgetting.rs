//! What of older samples counts.

use fewest::core::{Budget, Error as CoreError, StreamSelector};
use fewest::registry::Built;
use fewest::streams::{DriftOptions, Drifting, Fading, ScoreSums, Window};

use super::StreamPlan;
use crate::error::Error;

/// Parts of a half-life after which weights fade: within one they differ by less than a hundredth.
const STEPS: f64 = 100.0;

/// Most samples whose weights fade together.
const MOST_TOGETHER: f64 = 4096.0;

/// Which samples count, of those that arrived.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Forgetting {
    /// The last ones, so many of them: the answer is that of the method on their table.
    Window(usize),
    /// All, with a weight that halves every so many samples, in steps of a hundredth of them.
    HalfLife(f64),
    /// Those since the last change that a test found: [`Drifting`].
    Drift,
}

impl Forgetting {
    /// How many samples come between two moments at which an alarm is possible.
    pub(super) fn block(self) -> Option<usize> {
        (self == Self::Drift).then(|| DriftOptions::default().block)
    }

    /// The stream of a method with these parameters, at which nothing has arrived, of so many features.
    pub(super) fn stream(
        self,
        plan: &StreamPlan,
        budget: Budget,
        n_features: usize,
        seed: u64,
    ) -> Result<Box<dyn StreamSelector>, Error> {
        let StreamPlan { method, parameters, .. } = plan;
        let sums = || ScoreSums::new(method.fading(parameters)?);
        Ok(match self {
            Self::Window(window) => {
                let selector = method.build(parameters).map(Built::into_selector)?;
                Box::new(Window::new(selector, window, seed)?)
            }
            Self::HalfLife(half_life) => {
                let block = (half_life / STEPS).clamp(1.0, MOST_TOGETHER) as usize;
                Box::new(Fading::new(sums()?, half_life, block)?)
            }
            Self::Drift => {
                if n_features < 2 {
                    return Err(CoreError::TooFew { what: "features", minimum: 2, found: n_features }.into());
                }
                let defaults = DriftOptions::default();
                let watched = match budget {
                    Budget::Count(k) => k,
                    _ => defaults.watched,
                };
                let options = DriftOptions { watched: watched.min(n_features - 1), ..defaults };
                Box::new(Drifting::new(sums()?, options)?)
            }
        })
    }
}
