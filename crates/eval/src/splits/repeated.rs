//! A splitter repeated with different seeds.

use fewest_core::{Dataset, Error, derive_seed};

use super::{Split, Splitter};

/// The folds of another splitter, `repeats` times with different seeds, one repeat after the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repeated<S> {
    /// The splitter of each repeat.
    pub splitter: S,
    /// Number of repeats, at least 1.
    pub repeats: usize,
}

impl<S: Splitter> Splitter for Repeated<S> {
    fn splits(&self, data: &Dataset, seed: u64) -> Result<Vec<Split>, Error> {
        if self.repeats == 0 {
            return Err(Error::parameter("repeats", 0, "at least 1"));
        }
        let mut splits = Vec::new();
        for repeat in 0..self.repeats {
            splits.extend(self.splitter.splits(data, derive_seed(seed, repeat as u64))?);
        }
        Ok(splits)
    }
}
