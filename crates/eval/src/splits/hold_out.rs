//! Repeated random hold-out.

use fewest_core::{Dataset, Error, derive_seed};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

use super::{Split, Splitter, shuffled};

/// A random part of the samples held out for testing, drawn `repeats` times (Monte Carlo cross-validation).
/// Paper 004 Section 4.3 uses 20 % and 100 repeats.
#[derive(Debug, Clone, PartialEq)]
pub struct HoldOut {
    /// Share of the samples to test on, in `(0, 1)`; rounded to whole samples, at least one on either side.
    /// Default 0.2.
    pub test_fraction: f64,
    /// Number of draws. Default 1.
    pub repeats: usize,
    /// Whether classes keep their proportions (up to one sample per class), or the events of survival times.
    /// Needs one of them. Default no.
    pub stratified: bool,
}

impl Default for HoldOut {
    fn default() -> Self {
        Self { test_fraction: 0.2, repeats: 1, stratified: false }
    }
}

impl Splitter for HoldOut {
    fn splits(&self, data: &Dataset, seed: u64) -> Result<Vec<Split>, Error> {
        let fraction = self.test_fraction;
        if !(fraction > 0.0 && fraction < 1.0) {
            return Err(Error::parameter("test_fraction", fraction, "above 0 and below 1"));
        }
        if self.repeats == 0 {
            return Err(Error::parameter("repeats", 0, "at least 1"));
        }
        let n_samples = data.n_samples();
        if n_samples < 2 {
            return Err(Error::TooFew { what: "samples to divide", minimum: 2, found: n_samples });
        }
        let n_test = ((n_samples as f64 * fraction).round() as usize).clamp(1, n_samples - 1);
        (0..self.repeats)
            .map(|repeat| {
                let seed = derive_seed(seed, repeat as u64);
                let rows = shuffled(data, self.stratified, derive_seed(seed, 0))?;
                // Systematic sampling: positions at even distances from a random start.
                let start = ChaCha8Rng::seed_from_u64(derive_seed(seed, 1)).random_range(0..n_samples);
                let mut is_test = vec![false; n_samples];
                for (i, &row) in rows.iter().enumerate() {
                    let steps = |i: usize| (i * n_test + start) / n_samples;
                    is_test[row] = steps(i + 1) > steps(i);
                }
                Ok(Split::new(n_samples, |row| is_test[row]))
            })
            .collect()
    }
}
