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

/// What [`Forgetting`] comes to in a run.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum InForce {
    /// So many samples count.
    Window {
        /// How many.
        samples: usize,
    },
    /// Weights halve every `samples`.
    HalfLife {
        /// The half-life.
        samples: f64,
        /// Samples whose weights fade together.
        block: usize,
    },
    /// A test watches.
    Drift(DriftOptions),
}

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

    /// What it comes to for this many features to select and to select from.
    pub(super) fn in_force(self, budget: Budget, n_features: usize) -> InForce {
        match self {
            Self::Window(samples) => InForce::Window { samples },
            Self::HalfLife(samples) => {
                let block = (samples / STEPS).clamp(1.0, MOST_TOGETHER) as usize;
                InForce::HalfLife { samples, block }
            }
            Self::Drift => {
                let defaults = DriftOptions::default();
                let watched = match budget {
                    Budget::Count(k) => k,
                    _ => defaults.watched,
                };
                let watched = watched.min(n_features.saturating_sub(1));
                InForce::Drift(DriftOptions { watched, ..defaults })
            }
        }
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
        Ok(match self.in_force(budget, n_features) {
            InForce::Window { samples } => {
                let selector = method.build(parameters).map(Built::into_selector)?;
                Box::new(Window::new(selector, samples, seed)?)
            }
            InForce::HalfLife { samples, block } => Box::new(Fading::new(sums()?, samples, block)?),
            InForce::Drift(_) if n_features < 2 => {
                return Err(CoreError::TooFew { what: "features", minimum: 2, found: n_features }.into());
            }
            InForce::Drift(options) => Box::new(Drifting::new(sums()?, options)?),
        })
    }
}
