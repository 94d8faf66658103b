//! The difference of the predictions with and without a feature.

use crate::noise::Noise;
use fewest_core::Error;
use fewest_smo::PlattScaling;

use crate::Trained;

/// The model of the noise around the output of a machine, which defines the measure of the difference of
/// two predictions.
///
/// With `f` the outputs at the samples and `g` those without the feature, for a real target (Yang and Ong
/// 2011; constant terms are left out as there):
///
/// ```text
/// Laplace, Eq. (17)    mean[ σ/σ_j exp(−|f−g|/σ) + |f−g|/σ_j + ln(σ_j/σ) ],   σ = mean|y−f|, σ_j = mean|y−g|
/// Gaussian, Eq. (19)   ½ mean[ (f−g)²/s_j² + s²/s_j² + 2 ln(s_j/s) ],         s² = mean(y−f)², s_j² = mean(y−g)²
/// ```
///
/// For classes a machine predicts a probability `p = 1/(1 + exp(A f + B))` by Platt's sigmoid, fitted to
/// the outputs at the samples, and there is no noise to model. Then, with `q` the probability at `g`,
///
/// ```text
/// Laplace    mean |p − q|                                        Shen, Ong, Li and Wilder-Smith 2008
/// Gaussian   mean[ p ln(p/q) + (1−p) ln((1−p)/(1−q)) ]           the divergence of Eq. (15) for two classes
/// ```
///
/// and with more than two classes the sum over the machines of all pairs, each over the samples of its two
/// classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SensitivityNoise {
    /// Absolute differences.
    Laplace,
    /// Squared differences.
    Gaussian,
}

/// A machine's predictions at its samples.
pub(super) struct Predictions {
    noise: SensitivityNoise,
    targets: Vec<f64>,
    outputs: Vec<f64>,
    model: Model,
}

enum Model {
    Noise(f64),
    Probability(PlattScaling),
}

impl SensitivityNoise {
    fn sigma(self, targets: &[f64], outputs: &[f64]) -> Result<f64, Error> {
        Ok(match self {
            Self::Laplace => Noise::laplace(targets, outputs)?.sigma(),
            Self::Gaussian => Noise::gaussian(targets, outputs)?.sigma(),
        })
    }
}

impl Predictions {
    /// From a machine and its output at each of its samples.
    pub(super) fn new(noise: SensitivityNoise, machine: &Trained, outputs: Vec<f64>) -> Result<Self, Error> {
        let targets = machine.targets.clone();
        let model = if machine.classes.is_some() {
            let positive: Vec<bool> = targets.iter().map(|&target| target > 0.0).collect();
            Model::Probability(PlattScaling::fit(&outputs, &positive)?)
        } else {
            Model::Noise(noise.sigma(&targets, &outputs)?)
        };
        Ok(Self { noise, targets, outputs, model })
    }

    /// The score of a feature without which the outputs are `without`.
    pub(super) fn score(&self, without: &[f64]) -> Result<f64, Error> {
        let n = self.outputs.len() as f64;
        let pairs = || self.outputs.iter().zip(without);
        Ok(match &self.model {
            Model::Noise(sigma) => {
                let other = self.noise.sigma(&self.targets, without)?;
                let (ratio, log) = (sigma / other, (other / sigma).ln());
                let term = |(f, g): (&f64, &f64)| {
                    let difference = (f - g).abs();
                    match self.noise {
                        SensitivityNoise::Laplace => {
                            ratio * (-difference / sigma).exp() + difference / other + log
                        }
                        SensitivityNoise::Gaussian => {
                            0.5 * ((difference / other).powi(2) + ratio * ratio) + log
                        }
                    }
                };
                pairs().map(term).sum::<f64>() / n
            }
            Model::Probability(sigmoid) => {
                let term = |(f, g): (&f64, &f64)| {
                    let (p, q) = (sigmoid.probability(*f), sigmoid.probability(*g));
                    match self.noise {
                        SensitivityNoise::Laplace => (p - q).abs(),
                        SensitivityNoise::Gaussian => divergence(sigmoid, p, *f, *g),
                    }
                };
                pairs().map(term).sum::<f64>() / n
            }
        })
    }
}

/// `p ln(p/q) + (1−p) ln((1−p)/(1−q))` from the exponents: `ln p = −s(E)` and `ln(1−p) = E − s(E)` with
/// `s(E) = ln(1 + exp(E))`, so that neither probability need be distinct from 0 and 1.
fn divergence(sigmoid: &PlattScaling, p: f64, f: f64, g: f64) -> f64 {
    let exponent = |output: f64| sigmoid.slope * output + sigmoid.offset;
    let softplus = |e: f64| e.max(0.0) + (-e.abs()).exp().ln_1p();
    let (e, other) = (exponent(f), exponent(g));
    // ln p − ln q is common to both terms.
    (softplus(other) - softplus(e)) + (1.0 - p) * (e - other)
}

#[cfg(test)]
mod tests {
    use fewest_core::Context;

    use super::*;

    /// A machine with output 0 for samples with these targets.
    fn machine(targets: Vec<f64>, classes: Option<[u32; 2]>) -> Result<Trained, Error> {
        let n = targets.len();
        let kernel = fewest_smo::GramRows::new(vec![0.0; n * n], n)?;
        let truth = crate::TrainingTarget::Real(targets);
        let training = crate::Training::default();
        let mut machines =
            training.train(&kernel, &truth, fewest_smo::Loss::Linear, &[], &Context::default())?;
        Ok(Trained { classes, ..machines.remove(0) })
    }

    /// Eq. (17) and (19) are the divergences (16) and (18) plus 1 and ½; those are integrals, which are taken
    /// here by the trapezoidal rule.
    #[test]
    fn scores_are_divergences_of_densities() -> Result<(), Error> {
        let (y, f, g) = ([1.0, 2.0, -0.5], [0.8, 2.5, -0.4], [1.3, 1.0, 0.9]);
        for noise in [SensitivityNoise::Laplace, SensitivityNoise::Gaussian] {
            let predictions = Predictions::new(noise, &machine(y.to_vec(), None)?, f.to_vec())?;
            let (a, b) = match noise {
                SensitivityNoise::Laplace => (Noise::laplace(&y, &f)?, Noise::laplace(&y, &g)?),
                SensitivityNoise::Gaussian => (Noise::gaussian(&y, &f)?, Noise::gaussian(&y, &g)?),
            };
            let step = 1e-3;
            let mut sum = 0.0;
            for (f, g) in f.iter().zip(&g) {
                for k in -20_000..20_000 {
                    let at = f + (f64::from(k) + 0.5) * step;
                    let (p, q) = (a.log_density(at, *f), b.log_density(at, *g));
                    sum += step * p.exp() * (p - q) / 3.0;
                }
            }
            let constant = if noise == SensitivityNoise::Laplace { 1.0 } else { 0.5 };
            let score = predictions.score(&g)?;
            assert!((score - constant - sum).abs() < 1e-5, "{noise:?}: {score} for {sum}");
        }
        Ok(())
    }

    #[test]
    fn classes_are_compared_by_their_probabilities() -> Result<(), Error> {
        let targets = vec![1.0, 1.0, -1.0, -1.0];
        let (f, g) = (vec![2.0, 0.5, -1.0, -0.2], vec![1.0, -0.5, -1.0, 4.0]);
        let sigmoid = PlattScaling::fit(&f, &[true, true, false, false])?;
        let (mut absolute, mut divergence) = (0.0, 0.0);
        for (f, g) in f.iter().zip(&g) {
            let (p, q) = (sigmoid.probability(*f), sigmoid.probability(*g));
            absolute += (p - q).abs() / 4.0;
            divergence += (p * (p / q).ln() + (1.0 - p) * ((1.0 - p) / (1.0 - q)).ln()) / 4.0;
        }
        for (noise, expected) in
            [(SensitivityNoise::Laplace, absolute), (SensitivityNoise::Gaussian, divergence)]
        {
            let predictions = Predictions::new(noise, &machine(targets.clone(), Some([0, 1]))?, f.clone())?;
            assert!((predictions.score(&g)? - expected).abs() < 1e-11 * expected, "{noise:?}");
            assert_eq!(predictions.score(&f)?, 0.0);
            // Also where a probability is 0 or 1 in floating point.
            assert!(predictions.score(&[1e6, -1e6, 1e6, -1e6])?.is_finite());
        }
        Ok(())
    }
}
