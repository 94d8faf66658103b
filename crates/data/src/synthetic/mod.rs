//! Problems with known relevant features, as defined in the papers.
//!
//! Feature `j` is drawn by ChaCha8 from a seed derived from the problem's seed and `j` alone. So the first
//! features and samples do not depend on the number of features and samples, and a column computed on
//! demand is the same as a stored one.

mod kernelized_lasso;
mod network;
mod non_monotonic;
mod sensitivity;

pub use kernelized_lasso::{data1, data2, data2_on_demand};
pub use network::NetworkProblem;
pub use non_monotonic::{better_together, weighted_sum};
pub use sensitivity::{Interaction, additive, exponential, interactive};

use fewest_core::{Dataset, DenseColumns, Error as CoreError, Target, derive_seed};
use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use crate::Error;

/// The stream of the noise; no feature has this number.
const NOISE: u64 = u64::MAX;

/// A problem and its relevant features.
#[derive(Clone)]
pub struct Synthetic {
    /// The data.
    pub dataset: Dataset,
    /// The features that the target depends on, as indices from 0.
    pub true_features: &'static [usize],
}

/// Fills `out` with standard normal numbers.
fn draw(seed: u64, out: &mut [f64]) {
    draw_from(&StandardNormal, seed, out);
}

fn draw_from(distribution: &impl Distribution<f64>, seed: u64, out: &mut [f64]) {
    let mut generator = ChaCha8Rng::seed_from_u64(seed);
    out.fill_with(|| distribution.sample(&mut generator));
}

/// Columns `0..n_features` of a problem, each from its own stream.
fn columns(
    distribution: &impl Distribution<f64>,
    n_samples: usize,
    n_features: usize,
    seed: u64,
) -> Result<Vec<Vec<f64>>, Error> {
    if n_samples == 0 {
        return Err(CoreError::TooFew { what: "samples", minimum: 1, found: 0 }.into());
    }
    let column = |j| {
        let mut values = vec![0.0; n_samples];
        draw_from(distribution, derive_seed(seed, j), &mut values);
        values
    };
    Ok((0..n_features as u64).map(column).collect())
}

/// The data of `columns` and the output `signal(sample) + noise`, the noise normal with deviation
/// `deviation`.
fn regression(
    columns: &[Vec<f64>],
    deviation: f64,
    seed: u64,
    signal: impl Fn(&[f64]) -> f64,
) -> Result<Dataset, Error> {
    if !(deviation.is_finite() && deviation >= 0.0) {
        return Err(CoreError::parameter("deviation", deviation, "finite and at least 0").into());
    }
    let n_samples = columns.first().map_or(0, Vec::len);
    let mut target = vec![0.0; n_samples];
    draw(derive_seed(seed, NOISE), &mut target);
    let mut sample = vec![0.0; columns.len()];
    for (i, value) in target.iter_mut().enumerate() {
        for (entry, column) in sample.iter_mut().zip(columns) {
            *entry = column[i];
        }
        *value = signal(&sample) + deviation * *value;
    }
    let x = DenseColumns::new(columns.concat(), n_samples, columns.len())?;
    Ok(Dataset::new(x, Target::real(target)?)?)
}
