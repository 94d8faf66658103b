//! Probabilities of classes from decision values (Platt 1999; Lin, Lin and Weng 2007).

use fewest_solver::Error;

/// Platt scaling: `P(positive | f) = 1 / (1 + exp(A f + B))`, a sigmoid of the decision value `f`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlattScaling {
    /// `A`, below 0 where larger decision values mean the positive class.
    pub slope: f64,
    /// `B`.
    pub offset: f64,
}

/// Added to the Hessian, and the size of gradient and step at which Newton's method ends (Lin, Lin and Weng
/// 2007, Algorithm 1).
const RIDGE: f64 = 1e-12;
const SMALL_GRADIENT: f64 = 1e-5;
const SHORTEST_STEP: f64 = 1e-10;

impl PlattScaling {
    /// The sigmoid that minimises the cross entropy `−Σ t_i ln p_i + (1 − t_i) ln(1 − p_i)` with the targets
    /// `t = (N₊ + 1)/(N₊ + 2)` for positive and `1/(N₋ + 2)` for negative samples: Newton's method with
    /// backtracking, in a form of `p` that neither overflows nor cancels. `decisions` should be those of
    /// machines that were not trained on the sample.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`]; [`Error::TooFew`] without samples; [`Error::InvalidParameter`] for a
    /// decision that is not finite.
    pub fn fit(decisions: &[f64], positive: &[bool]) -> Result<Self, Error> {
        let n = decisions.len();
        if positive.len() != n {
            return Err(Error::ShapeMismatch { what: "labels", expected: n, found: positive.len() });
        }
        if n == 0 {
            return Err(Error::TooFew { what: "samples", minimum: 1, found: 0 });
        }
        if let Some(i) = decisions.iter().position(|value| !value.is_finite()) {
            let value = format!("{} at {i} (counted from 0)", decisions[i]);
            return Err(Error::parameter("decisions", value, "finite"));
        }
        let n_positive = positive.iter().filter(|&&label| label).count() as f64;
        let n_negative = n as f64 - n_positive;
        let (high, low) = ((n_positive + 1.0) / (n_positive + 2.0), 1.0 / (n_negative + 2.0));
        // Decisions are scaled, so that the constants above mean the same for all.
        let scale = decisions.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
        let scale = if scale > 0.0 { scale } else { 1.0 };
        let samples: Vec<(f64, f64)> = decisions
            .iter()
            .zip(positive)
            .map(|(f, &label)| (f / scale, if label { high } else { low }))
            .collect();
        let mut sigmoid = Self { slope: 0.0, offset: ((n_negative + 1.0) / (n_positive + 1.0)).ln() };
        let mut value = sigmoid.cross_entropy(&samples);
        for _ in 0..100 {
            let Some((slope, offset, descent)) = sigmoid.newton_direction(&samples) else { break };
            let mut step = 1.0;
            loop {
                let next =
                    Self { slope: sigmoid.slope + step * slope, offset: sigmoid.offset + step * offset };
                let there = next.cross_entropy(&samples);
                if there < value + 1e-4 * step * descent {
                    (sigmoid, value) = (next, there);
                    break;
                }
                step *= 0.5;
                if step < SHORTEST_STEP {
                    return Ok(Self { slope: sigmoid.slope / scale, ..sigmoid });
                }
            }
        }
        Ok(Self { slope: sigmoid.slope / scale, ..sigmoid })
    }

    /// The probability of the positive class at decision value `f`.
    pub fn probability(&self, decision: f64) -> f64 {
        let exponent = self.slope * decision + self.offset;
        if exponent >= 0.0 {
            let e = (-exponent).exp();
            e / (1.0 + e)
        } else {
            1.0 / (1.0 + exponent.exp())
        }
    }

    fn cross_entropy(&self, samples: &[(f64, f64)]) -> f64 {
        samples
            .iter()
            .map(|&(f, t)| {
                let exponent = self.slope * f + self.offset;
                if exponent >= 0.0 {
                    t * exponent + (-exponent).exp().ln_1p()
                } else {
                    (t - 1.0) * exponent + exponent.exp().ln_1p()
                }
            })
            .sum()
    }

    /// The Newton step and the derivative along it; none where the gradient is small.
    fn newton_direction(&self, samples: &[(f64, f64)]) -> Option<(f64, f64, f64)> {
        let (mut h11, mut h22, mut h21, mut g1, mut g2) = (RIDGE, RIDGE, 0.0, 0.0, 0.0);
        for &(f, t) in samples {
            let p = self.probability(f);
            let weight = p * (1.0 - p);
            h11 += f * f * weight;
            h22 += weight;
            h21 += f * weight;
            g1 += f * (t - p);
            g2 += t - p;
        }
        if g1.abs() < SMALL_GRADIENT && g2.abs() < SMALL_GRADIENT {
            return None;
        }
        let determinant = h11 * h22 - h21 * h21;
        let slope = -(h22 * g1 - h21 * g2) / determinant;
        let offset = -(h11 * g2 - h21 * g1) / determinant;
        let descent = g1 * slope + g2 * offset;
        (slope.is_finite() && offset.is_finite() && descent < 0.0).then_some((slope, offset, descent))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The gradient of the cross entropy at its minimum, from the definition.
    fn gradient(sigmoid: PlattScaling, decisions: &[f64], positive: &[bool]) -> (f64, f64) {
        let n_positive = positive.iter().filter(|&&label| label).count() as f64;
        let n_negative = positive.len() as f64 - n_positive;
        let mut gradient = (0.0, 0.0);
        for (f, &label) in decisions.iter().zip(positive) {
            let t = if label { (n_positive + 1.0) / (n_positive + 2.0) } else { 1.0 / (n_negative + 2.0) };
            let p = 1.0 / (1.0 + (sigmoid.slope * f + sigmoid.offset).exp());
            gradient.0 += f * (t - p);
            gradient.1 += t - p;
        }
        gradient
    }

    #[test]
    fn the_cross_entropy_is_least() {
        let decisions: Vec<f64> = (0..200).map(|i| 3.0 * (f64::from(i) * 0.7).sin()).collect();
        let positive: Vec<bool> =
            decisions.iter().enumerate().map(|(i, f)| f + 1.5 * (i as f64 * 1.3).cos() > 0.4).collect();
        for scale in [1e-6, 1.0, 1e6] {
            let scaled: Vec<f64> = decisions.iter().map(|f| f * scale).collect();
            let sigmoid = PlattScaling::fit(&scaled, &positive).unwrap();
            assert!(sigmoid.slope < 0.0);
            let (slope, offset) = gradient(sigmoid, &scaled, &positive);
            assert!(slope.abs() < 1e-4 * scale && offset.abs() < 1e-4);
            // At decision value 0 the probability is that of the offset.
            assert!((sigmoid.probability(0.0) - 1.0 / (1.0 + sigmoid.offset.exp())).abs() < 1e-15);
        }
    }

    #[test]
    fn separated_and_single_classes_stay_finite() {
        let decisions = [-1e3, -1.0, 1.0, 1e3];
        for positive in [[false, false, true, true], [true; 4], [false; 4]] {
            let sigmoid = PlattScaling::fit(&decisions, &positive).unwrap();
            assert!(sigmoid.slope.is_finite() && sigmoid.offset.is_finite());
            for f in [-1e300, -1.0, 0.0, 1e300] {
                assert!((0.0..=1.0).contains(&sigmoid.probability(f)));
            }
        }
        let constant = PlattScaling::fit(&[0.0; 6], &[true, true, false, false, false, false]).unwrap();
        // t is 3/4 twice and 1/6 four times.
        assert!((constant.probability(0.0) - (1.5 + 4.0 / 6.0) / 6.0).abs() < 1e-5);
    }

    #[test]
    fn faults_are_named() {
        assert!(matches!(PlattScaling::fit(&[], &[]), Err(Error::TooFew { .. })));
        assert!(matches!(PlattScaling::fit(&[1.0], &[]), Err(Error::ShapeMismatch { .. })));
        let error = PlattScaling::fit(&[1.0, f64::NAN], &[true, false]);
        assert!(matches!(error, Err(Error::InvalidParameter { name: "decisions", .. })));
    }
}
