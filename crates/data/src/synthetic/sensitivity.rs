//! The problems of Yang and Ong, *Feature selection using probabilistic prediction of support vector
//! regression* (IEEE Transactions on Neural Networks 2011), Section V-A: ten uniform features of which the
//! first few matter.

use std::f64::consts::PI;

use fewest_core::Error as CoreError;
use rand_distr::Uniform;

use super::{Synthetic, columns, regression};
use crate::Error;

const FEATURES: usize = 10;

/// The second term of [`interactive`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Interaction {
    /// `20 (x₃ − ½)²`, as in the original problem (Friedman 1991).
    #[default]
    Squared,
    /// `20 (x₃ − ½)`, as the paper prints it.
    Linear,
}

fn uniform(low: f64, high: f64) -> Result<Uniform<f64>, Error> {
    Uniform::new(low, high).map_err(|_| {
        CoreError::parameter("range", format!("{low} to {high}"), "a low end below the high one").into()
    })
}

/// The additive problem: `y = 0.1 exp(4 x₁) + 4 / (1 + exp(−20 (x₂ − ½))) + 3 x₃ + 2 x₄ + x₅ + δ`, `x`
/// uniform on `[0, 1]`, `δ` normal with standard deviation `deviation`.
///
/// The paper's `δ ~ N(0, 0.1)` does not say whether 0.1 is the variance, and its code is not available.
///
/// # Errors
/// [`fewest_core::Error::TooFew`] for no sample; [`fewest_core::Error::InvalidParameter`] for a deviation
/// below 0 or not finite.
///
/// ```
/// use fewest_data::synthetic;
/// let problem = synthetic::additive(200, 0.1, 0)?;
/// assert_eq!((problem.dataset.n_features(), problem.true_features.len()), (10, 5));
/// # Ok::<(), fewest_data::Error>(())
/// ```
pub fn additive(n_samples: usize, deviation: f64, seed: u64) -> Result<Synthetic, Error> {
    let features = columns(&uniform(0.0, 1.0)?, n_samples, FEATURES, seed)?;
    let signal = |x: &[f64]| {
        0.1 * (4.0 * x[0]).exp() + 4.0 / (1.0 + (-20.0 * (x[1] - 0.5)).exp()) + 3.0 * x[2] + 2.0 * x[3] + x[4]
    };
    Ok(Synthetic {
        dataset: regression(&features, deviation, seed, signal)?,
        true_features: &[0, 1, 2, 3, 4],
    })
}

/// The interactive problem: `y = 10 sin(π x₁ x₂) + 20 (x₃ − ½)² + 10 x₄ + 5 x₅ + δ`, `x` uniform on `[0, 1]`,
/// `δ` normal with standard deviation `deviation`; the second term by `interaction`.
///
/// # Errors
/// As [`additive`].
pub fn interactive(
    n_samples: usize,
    interaction: Interaction,
    deviation: f64,
    seed: u64,
) -> Result<Synthetic, Error> {
    let features = columns(&uniform(0.0, 1.0)?, n_samples, FEATURES, seed)?;
    let power = match interaction {
        Interaction::Squared => 2,
        Interaction::Linear => 1,
    };
    let signal = |x: &[f64]| {
        10.0 * (PI * x[0] * x[1]).sin() + 20.0 * (x[2] - 0.5).powi(power) + 10.0 * x[3] + 5.0 * x[4]
    };
    Ok(Synthetic {
        dataset: regression(&features, deviation, seed, signal)?,
        true_features: &[0, 1, 2, 3, 4],
    })
}

/// The exponential problem: `y = 10 exp(−(x₁² + x₂²)) + δ`, `x` uniform on `[−1, 1]`, `δ` normal with
/// standard deviation `deviation`. The paper prints `10 exp(−x₁² + x₂²)`.
///
/// # Errors
/// As [`additive`].
pub fn exponential(n_samples: usize, deviation: f64, seed: u64) -> Result<Synthetic, Error> {
    let features = columns(&uniform(-1.0, 1.0)?, n_samples, FEATURES, seed)?;
    let signal = |x: &[f64]| 10.0 * (-(x[0] * x[0] + x[1] * x[1])).exp();
    Ok(Synthetic { dataset: regression(&features, deviation, seed, signal)?, true_features: &[0, 1] })
}
