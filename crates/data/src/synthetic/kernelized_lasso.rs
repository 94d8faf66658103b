//! The problems of Yamada et al., *High-dimensional feature selection by feature-wise kernelized Lasso*
//! (Neural Computation 2014), Section 4.2: independent standard normal features, of which only the
//! first few are relevant.

use fewest_core::{Dataset, DenseColumns, OnDemand, Target, derive_seed};

use super::{NOISE, Synthetic, draw};
use crate::Error;

/// Data1, the additive model: `y = -2 sin(2 x₀) + x₁² + x₂ + exp(-x₃) + e` with `e ~ N(0, 1)`.
///
/// The paper has 256 features.
///
/// # Errors
/// [`fewest_core::Error::TooFew`] for fewer than 4 features or no sample.
///
/// ```
/// use fewest_data::synthetic;
/// let problem = synthetic::data1(100, 256, 0)?;
/// assert_eq!((problem.dataset.n_samples(), problem.dataset.n_features()), (100, 256));
/// assert_eq!(problem.true_features, [0, 1, 2, 3]);
/// # Ok::<(), fewest_data::Error>(())
/// ```
pub fn data1(n_samples: usize, n_features: usize, seed: u64) -> Result<Synthetic, Error> {
    problem(&DATA1, n_samples, n_features, seed, false)
}

/// Data2, the non-additive model: `y = x₀ exp(2 x₁) + x₂² + e` with `e ~ N(0, 1)`.
///
/// The paper has 1000 features.
///
/// # Errors
/// [`fewest_core::Error::TooFew`] for fewer than 3 features or no sample.
pub fn data2(n_samples: usize, n_features: usize, seed: u64) -> Result<Synthetic, Error> {
    problem(&DATA2, n_samples, n_features, seed, false)
}

/// [`data2`] with features that are drawn again each time they are read, not stored.
///
/// # Errors
/// As [`data2`].
pub fn data2_on_demand(n_samples: usize, n_features: usize, seed: u64) -> Result<Synthetic, Error> {
    problem(&DATA2, n_samples, n_features, seed, true)
}

struct Model {
    true_features: &'static [usize],
    /// The output without noise, from the true features of a sample.
    output: fn(&[f64]) -> f64,
}

const DATA1: Model = Model {
    true_features: &[0, 1, 2, 3],
    output: |x| -2.0 * (2.0 * x[0]).sin() + x[1] * x[1] + x[2] + (-x[3]).exp(),
};

const DATA2: Model = Model { true_features: &[0, 1, 2], output: |x| x[0] * (2.0 * x[1]).exp() + x[2] * x[2] };

fn problem(
    model: &Model,
    n_samples: usize,
    n_features: usize,
    seed: u64,
    on_demand: bool,
) -> Result<Synthetic, Error> {
    let minimum = model.true_features.len();
    if n_features < minimum {
        return Err(fewest_core::Error::TooFew { what: "features", minimum, found: n_features }.into());
    }
    if n_samples == 0 {
        return Err(fewest_core::Error::TooFew { what: "samples", minimum: 1, found: 0 }.into());
    }
    let fill = move |j: usize, out: &mut [f64]| draw(derive_seed(seed, j as u64), out);
    let features = OnDemand::new(n_samples, n_features, move |j: usize, out: &mut [f64]| {
        fill(j, out);
        Ok(())
    });
    let causes: Vec<Vec<f64>> = model
        .true_features
        .iter()
        .map(|&j| {
            let mut values = vec![0.0; n_samples];
            fill(j, &mut values);
            values
        })
        .collect();
    let mut target = vec![0.0; n_samples];
    draw(derive_seed(seed, NOISE), &mut target);
    let mut sample = vec![0.0; causes.len()];
    for (i, value) in target.iter_mut().enumerate() {
        for (cause, values) in sample.iter_mut().zip(&causes) {
            *cause = values[i];
        }
        *value += (model.output)(&sample);
    }
    let target = Target::real(target)?;
    let dataset = if on_demand {
        Dataset::new(features, target)?
    } else {
        let mut values = vec![0.0; n_samples * n_features];
        for (j, column) in values.chunks_exact_mut(n_samples).enumerate() {
            fill(j, column);
        }
        Dataset::new(DenseColumns::new(values, n_samples, n_features)?, target)?
    };
    Ok(Synthetic { dataset, true_features: model.true_features })
}
