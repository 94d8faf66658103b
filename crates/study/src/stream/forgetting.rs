//! What of older samples counts.

use fewest::core::{Arrives, Budget, Error, StreamSelector};
use fewest::registry::Built;
use fewest::streams::{DriftOptions, Drifting, Fading, ScoreSums, Window};

use crate::catalogue::{Method, Parameters};

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

    /// Whether a method with these parameters can forget so.
    ///
    /// # Errors
    /// [`Error::Unsupported`] where it cannot, with the reason.
    pub fn check(self, method: &Method, parameters: &Parameters) -> Result<(), Error> {
        let refused = |instead: &str| {
            let what = "forgetting older samples".to_owned();
            Err(Error::Unsupported { method: method.id, what, instead: instead.to_owned() })
        };
        if method.arrives == Some(Arrives::Features) {
            return refused(
                "features arrive and the samples stay, so that there are no older samples: leave it out",
            );
        }
        match self {
            Self::Window(_) if !method.links.is_empty() || method.needs_views => {
                refused("it needs links or views beside the table, which a stream does not have")
            }
            Self::Window(_) => Ok(()),
            Self::HalfLife(_) | Self::Drift => method.fading(parameters).map(drop),
        }
    }

    /// The stream of a method with these parameters, at which nothing has arrived, of so many features, of
    /// which the budget says how many are selected.
    ///
    /// # Errors
    /// Those of [`Forgetting::check`]; a window of no samples, a half-life that is not above 0, and a single
    /// feature where changes are watched for.
    ///
    /// ```
    /// use fewest::core::{Budget, Context, Dataset, DenseColumns, Target};
    /// use fewest::registry::{Parameters, Registry};
    /// use fewest_study::Forgetting;
    ///
    /// let method = Registry::standard().find("f-score")?;
    /// let parameters = Parameters::defaults(method);
    /// let mut stream = Forgetting::Window(20).stream(method, &parameters, Budget::Count(1), 2, 0)?;
    /// let y: Vec<u32> = (0..40).map(|i| i % 2).collect();
    /// // The first feature tells the class of the first half, the second one that of the second.
    /// let value = |i: usize, own: bool| if own { f64::from(y[i]) + 0.01 * (i % 3) as f64 } else { (i % 5) as f64 };
    /// let columns = [0, 1].map(|j| (0..40).map(|i| value(i, i / 20 == j)).collect::<Vec<f64>>());
    /// let target = Target::classes(y.clone(), vec!["a".into(), "b".into()])?;
    /// stream.update(&Dataset::new(DenseColumns::from_columns(&columns)?, target)?, &Context::default())?;
    /// assert_eq!(stream.selection(Budget::Count(1))?.order, [1]);
    /// # Ok::<(), fewest::core::Error>(())
    /// ```
    pub fn stream(
        self,
        method: &Method,
        parameters: &Parameters,
        budget: Budget,
        n_features: usize,
        seed: u64,
    ) -> Result<Box<dyn StreamSelector>, Error> {
        self.check(method, parameters)?;
        let sums = || ScoreSums::new(method.fading(parameters)?);
        Ok(match self.in_force(budget, n_features) {
            InForce::Window { samples } => {
                let selector = method.build(parameters).map(Built::into_selector)?;
                Box::new(Window::new(selector, samples, seed)?)
            }
            InForce::HalfLife { samples, block } => Box::new(Fading::new(sums()?, samples, block)?),
            InForce::Drift(_) if n_features < 2 => {
                return Err(Error::TooFew { what: "features", minimum: 2, found: n_features });
            }
            InForce::Drift(options) => Box::new(Drifting::new(sums()?, options)?),
        })
    }
}
