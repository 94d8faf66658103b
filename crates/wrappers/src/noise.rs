//! Probabilistic regression: a density of the target around the output (Yang and Ong 2011, Eq. 6–10; Lin and
//! Weng 2004).

use fewest_solver::Error;

/// The distribution of `y − f(x)`, independent of `x`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Noise {
    /// `p(y|x) = exp(−|y − f(x)| / σ) / (2σ)`, Eq. (7).
    Laplace {
        /// `σ`, the mean absolute deviation.
        sigma: f64,
    },
    /// `p(y|x) = exp(−(y − f(x))² / (2σ²)) / (√(2π) σ)`, Eq. (8).
    Gaussian {
        /// `σ`, the standard deviation.
        sigma: f64,
    },
}

/// `y − f(x)` of each sample.
fn deviations<'a>(targets: &'a [f64], outputs: &'a [f64]) -> Result<impl Iterator<Item = f64> + 'a, Error> {
    if outputs.len() != targets.len() {
        let (expected, found) = (targets.len(), outputs.len());
        return Err(Error::ShapeMismatch { what: "outputs", expected, found });
    }
    if targets.is_empty() {
        return Err(Error::TooFew { what: "samples", minimum: 1, found: 0 });
    }
    for (row, (&target, &output)) in targets.iter().zip(outputs).enumerate() {
        if !target.is_finite() {
            return Err(Error::NonFiniteTarget { row, value: target });
        }
        if !output.is_finite() {
            let value = format!("{output} at {row} (counted from 0)");
            return Err(Error::parameter("outputs", value, "finite"));
        }
    }
    Ok(targets.iter().zip(outputs).map(|(target, output)| target - output))
}

fn positive(sigma: f64) -> Result<f64, Error> {
    if sigma.is_finite() && sigma > 0.0 {
        return Ok(sigma);
    }
    let hint = "the outputs meet every target exactly: use a larger epsilon or outputs of samples left out";
    Err(Error::Numerical { what: "the width of the noise", hint: hint.to_owned() })
}

impl Noise {
    /// The Laplace noise of largest likelihood, `σ = mean |y − f(x)|`, Eq. (9). The outputs should be those
    /// of machines that were not trained on the sample, or `σ` is too small.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`]; [`Error::TooFew`] without samples; [`Error::NonFiniteTarget`],
    /// [`Error::InvalidParameter`] for values that are not finite; [`Error::Numerical`] if all deviations are
    /// 0.
    pub(crate) fn laplace(targets: &[f64], outputs: &[f64]) -> Result<Self, Error> {
        let mean = deviations(targets, outputs)?.map(|d| d.abs() / targets.len() as f64).sum();
        Ok(Self::Laplace { sigma: positive(mean)? })
    }

    /// The Gaussian noise of largest likelihood, `σ² = mean (y − f(x))²`, Eq. (10).
    ///
    /// # Errors
    /// As [`laplace`](Self::laplace).
    pub(crate) fn gaussian(targets: &[f64], outputs: &[f64]) -> Result<Self, Error> {
        // Scaled, so that the square neither overflows nor vanishes.
        let largest = deviations(targets, outputs)?.fold(0.0_f64, |most, d| most.max(d.abs()));
        let largest = positive(largest)?;
        let mean: f64 = deviations(targets, outputs)?.map(|d| (d / largest) * (d / largest)).sum::<f64>()
            / targets.len() as f64;
        Ok(Self::Gaussian { sigma: positive(largest * mean.sqrt())? })
    }

    /// `σ`.
    pub(crate) fn sigma(&self) -> f64 {
        let (Self::Laplace { sigma } | Self::Gaussian { sigma }) = *self;
        sigma
    }

    #[cfg(test)]
    /// `ln p(y|x)`, given `f(x)`.
    pub(crate) fn log_density(&self, target: f64, output: f64) -> f64 {
        let ratio = (target - output) / self.sigma();
        match self {
            Self::Laplace { sigma } => -ratio.abs() - (2.0 * sigma).ln(),
            Self::Gaussian { sigma } => -0.5 * ratio * ratio - sigma.ln() - 0.5 * std::f64::consts::TAU.ln(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TARGETS: [f64; 4] = [1.0, -2.0, 0.5, 3.0];
    const OUTPUTS: [f64; 4] = [0.5, -2.5, 1.5, 3.0];

    #[test]
    fn widths_have_the_largest_likelihood() {
        assert_eq!(Noise::laplace(&TARGETS, &OUTPUTS).unwrap().sigma(), 0.5);
        let gaussian = Noise::gaussian(&TARGETS, &OUTPUTS).unwrap().sigma();
        assert!((gaussian - 0.375_f64.sqrt()).abs() < 1e-15);
        let likelihood = |noise: Noise| -> f64 {
            TARGETS.iter().zip(&OUTPUTS).map(|(y, f)| noise.log_density(*y, *f)).sum()
        };
        for factor in [0.9, 0.99, 1.01, 1.1] {
            let laplace = |sigma: f64| likelihood(Noise::Laplace { sigma });
            let gauss = |sigma: f64| likelihood(Noise::Gaussian { sigma });
            assert!(laplace(0.5 * factor) < laplace(0.5));
            assert!(gauss(gaussian * factor) < gauss(gaussian));
        }
    }

    #[test]
    fn densities_integrate_to_one() {
        for noise in [Noise::Laplace { sigma: 0.7 }, Noise::Gaussian { sigma: 0.7 }] {
            let step = 1e-3;
            let sum: f64 = (-30_000..30_000).map(|k| noise.log_density(f64::from(k) * step, 0.2).exp()).sum();
            assert!((sum * step - 1.0).abs() < 1e-5, "{sum}");
        }
    }

    #[test]
    fn faults_are_named() {
        assert!(matches!(Noise::laplace(&TARGETS, &TARGETS), Err(Error::Numerical { .. })));
        assert!(matches!(Noise::gaussian(&TARGETS, &TARGETS), Err(Error::Numerical { .. })));
        assert!(matches!(Noise::gaussian(&[], &[]), Err(Error::TooFew { .. })));
        assert!(matches!(Noise::laplace(&TARGETS, &[1.0]), Err(Error::ShapeMismatch { .. })));
        let nan = [1.0, f64::NAN, 0.0, 0.0];
        assert!(matches!(Noise::laplace(&nan, &OUTPUTS), Err(Error::NonFiniteTarget { row: 1, .. })));
        assert!(matches!(
            Noise::laplace(&TARGETS, &nan),
            Err(Error::InvalidParameter { name: "outputs", .. })
        ));
        let tiny: Vec<f64> = TARGETS.iter().map(|y| y * 1e-200).collect();
        assert!(Noise::gaussian(&tiny, &[0.0; 4]).unwrap().sigma() > 1e-200);
    }
}
