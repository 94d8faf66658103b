//! Methods to which data arrive.

use std::fmt::Debug;

use super::{FadingScore, RankedStream, RunningScorer, StreamSelector};
use crate::{Budget, Error};

/// What arrives at a [`StreamSelector`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Arrives {
    /// Features of samples that stay.
    Features,
    /// Samples with the same features.
    Samples,
}

impl Arrives {
    /// `features` or `samples`.
    pub fn name(self) -> &'static str {
        match self {
            Arrives::Features => "features",
            Arrives::Samples => "samples",
        }
    }
}

/// Options of a method that make a [`StreamSelector`]: every [`RunningScorer`], and methods of their own. A
/// [`Method`](crate::method::Method) says that it is one by [`streaming`](crate::method::Method::streaming).
pub trait StreamMethod {
    /// What arrives.
    const ARRIVES: Arrives;

    /// A stream that nothing has arrived at. The budget counts for methods that need a number of features,
    /// and the seed for those that draw.
    ///
    /// # Errors
    /// For options out of range, or that need all of a table.
    fn open(&self, budget: Budget, seed: u64) -> Result<Box<dyn StreamSelector>, Error>;

    /// Its score by sums in which samples can lose weight.
    ///
    /// # Errors
    /// [`Error::Unsupported`] where there are none: the default.
    fn fading(&self) -> Result<FadingScore, Error> {
        Err(FadingScore::missing())
    }
}

impl<T: RunningScorer + Debug> StreamMethod for T {
    const ARRIVES: Arrives = Arrives::Samples;

    fn open(&self, _: Budget, _: u64) -> Result<Box<dyn StreamSelector>, Error> {
        Ok(Box::new(RankedStream::new(self)?))
    }

    fn fading(&self) -> Result<FadingScore, Error> {
        RunningScorer::fading(self)
    }
}
