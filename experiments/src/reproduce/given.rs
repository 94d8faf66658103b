//! Divisions of the samples that papers describe in their own ways.

use fewest::core::{Dataset, Error, derive_seed};
use fewest::eval::{Split, Splitter};
use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use rand::seq::SliceRandom;

/// Samples drawn one after the other, a new batch for every run: the first part of each trains, the rest
/// tests.
///
/// For problems whose samples are independent draws, so that each batch is a data set of its own.
#[derive(Debug, Clone, Copy)]
pub(super) struct Batches {
    /// Training samples of a batch.
    pub train: usize,
    /// Test samples of a batch.
    pub test: usize,
}

impl Splitter for Batches {
    fn splits(&self, data: &Dataset, _seed: u64) -> Result<Vec<Split>, Error> {
        let size = self.train + self.test;
        let batch = |start: usize| Split {
            train: (start..start + self.train).collect(),
            test: (start + self.train..start + size).collect(),
        };
        Ok((0..data.n_samples() / size.max(1)).map(|at| batch(at * size)).collect())
    }
}

/// Drawn at random for every run: training samples, other test samples; the rest is not used.
#[derive(Debug, Clone, Copy)]
pub(super) struct Portions {
    /// Training samples.
    pub train: usize,
    /// Test samples, the same ones in a run for every number of training samples.
    pub test: usize,
    /// Runs.
    pub runs: usize,
}

impl Splitter for Portions {
    fn splits(&self, data: &Dataset, seed: u64) -> Result<Vec<Split>, Error> {
        let n = data.n_samples();
        if self.train + self.test > n {
            let (what, minimum) = ("samples", self.train + self.test);
            return Err(Error::TooFew { what, minimum, found: n });
        }
        let split = |run: usize| {
            let mut rows: Vec<usize> = (0..n).collect();
            rows.shuffle(&mut ChaCha8Rng::seed_from_u64(derive_seed(seed, run as u64)));
            let sorted = |part: &[usize]| {
                let mut part = part.to_vec();
                part.sort_unstable();
                part
            };
            Split { test: sorted(&rows[..self.test]), train: sorted(&rows[n - self.train..]) }
        };
        Ok((0..self.runs).map(split).collect())
    }
}
