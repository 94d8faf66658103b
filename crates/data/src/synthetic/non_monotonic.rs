//! The problems of Yang, Xu, Lyu and King, *Budget constrained non-monotonic feature selection* (Neural
//! Networks 2015).

use fewest_core::{Dataset, DenseColumns, Target, derive_seed};
use rand_distr::StandardNormal;

use super::{NOISE, Synthetic, columns, draw, regression};
use crate::Error;

/// Half the distance of the class means of X, and of Y, in standard deviations: each alone gives an accuracy
/// of 86.3 %.
const WEAK: f64 = 1.094;
/// The same for Z: alone it gives 93.9 %.
const STRONG: f64 = 1.546;
/// The correlation of X and Y within a class: together they give 99.7 %.
const CORRELATION: f64 = -0.683;

/// Two classes and three features X, Y, Z: the best feature alone, Z, is not one of the best two, X and Y.
///
/// The paper shows the problem (Fig. 1) without its distribution; here the best linear rules have the
/// accuracies of its Table 1: a sample of class `s = ±1` has `X = 1.094 s + u`, `Y = 1.094 s + v`,
/// `Z = 1.546 s + w`, all noise standard normal, `u` and `v` with correlation −0.683. The accuracy is 86.3 %
/// with X or Y alone, 93.9 % with Z alone, 97.1 % with X and Z, 99.7 % with X and Y. The classes are equally
/// likely.
///
/// # Errors
/// [`fewest_core::Error::TooFew`] for no sample.
///
/// ```
/// use fewest_data::synthetic;
/// let problem = synthetic::better_together(500, 0)?;
/// assert_eq!((problem.dataset.n_features(), problem.true_features), (3, &[0, 1][..]));
/// # Ok::<(), fewest_data::Error>(())
/// ```
pub fn better_together(n_samples: usize, seed: u64) -> Result<Synthetic, Error> {
    let mut features = columns(&StandardNormal, n_samples, 3, seed)?;
    let mut coin = vec![0.0; n_samples];
    draw(derive_seed(seed, NOISE), &mut coin);
    let codes: Vec<u32> = coin.iter().map(|&value| u32::from(value > 0.0)).collect();
    if let [x, y, z] = &mut features[..] {
        let independent = (1.0 - CORRELATION * CORRELATION).sqrt();
        for (((x, y), z), &code) in x.iter_mut().zip(y).zip(z).zip(&codes) {
            let sign = 2.0 * f64::from(code) - 1.0;
            *y = WEAK * sign + CORRELATION * *x + independent * *y;
            *x += WEAK * sign;
            *z += STRONG * sign;
        }
    }
    let x = DenseColumns::new(features.concat(), n_samples, 3)?;
    let names = ["-1", "1"].map(str::to_owned).to_vec();
    let dataset = Dataset::new(x, Target::classes(codes, names)?)?
        .with_feature_names(["X", "Y", "Z"].map(str::to_owned).to_vec())?;
    Ok(Synthetic { dataset, true_features: &[0, 1] })
}

/// Eq. (22): `y = Σ_{j=1}^4 j x_j + exp(x₅)` over twelve features: five independent standard normal ones,
/// `x₆ = x₁ + 1`, `x₇ = x₂ x₃`, and five more that are irrelevant.
///
/// # Errors
/// [`fewest_core::Error::TooFew`] for no sample.
pub fn weighted_sum(n_samples: usize, seed: u64) -> Result<Synthetic, Error> {
    let mut features = columns(&StandardNormal, n_samples, 12, seed)?;
    features[5] = features[0].iter().map(|x| x + 1.0).collect();
    features[6] = features[1].iter().zip(&features[2]).map(|(a, b)| a * b).collect();
    let signal = |x: &[f64]| x[0] + 2.0 * x[1] + 3.0 * x[2] + 4.0 * x[3] + x[4].exp();
    let dataset = regression(&features, 0.0, seed, signal)?;
    Ok(Synthetic { dataset, true_features: &[0, 1, 2, 3, 4] })
}
