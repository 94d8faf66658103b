//! The logistic loss of two classes.

use super::{LONGEST_STEP, ScalarLoss};
use crate::Error;

/// `φ(y, z) = ln(1 + exp(−yz))` with `y = ±1`, with `θ = yq`, `q = 1 / (1 + exp(yz))`, and
/// `φ*(−θ) = q ln q + (1 − q) ln(1 − q)` for `q = yθ ∈ [0, 1]`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Logistic;

/// `ln(1 + e^{−m})` without overflow.
pub(crate) fn log_loss(margin: f64) -> f64 {
    (-margin.abs()).exp().ln_1p() + (-margin).max(0.0)
}

/// `1 / (1 + e^{m})` without overflow.
pub(crate) fn misfit(margin: f64) -> f64 {
    let e = (-margin.abs()).exp();
    if margin >= 0.0 { e / (1.0 + e) } else { 1.0 / (1.0 + e) }
}

impl Logistic {
    /// `φ*(−θ)`; infinite outside its domain.
    pub(crate) fn conjugate(self, y: f64, dual: f64) -> f64 {
        let q = y * dual;
        if !(0.0..=1.0).contains(&q) {
            return f64::INFINITY;
        }
        let left = if q > 0.0 { q * q.ln() } else { 0.0 };
        let right = if q < 1.0 { (1.0 - q) * (-q).ln_1p() } else { 0.0 };
        left + right
    }
}

impl ScalarLoss for Logistic {
    fn value(&self, y: f64, z: f64) -> f64 {
        log_loss(y * z)
    }

    fn dual(&self, y: f64, z: f64) -> f64 {
        y * misfit(y * z)
    }

    fn curvature(&self, y: f64, z: f64) -> f64 {
        let q = misfit(y * z);
        q * misfit(-y * z).max(LONGEST_STEP.recip())
    }

    fn gap(&self, y: f64, z: f64, dual: f64) -> f64 {
        self.value(y, z) + self.conjugate(y, dual) + dual * z
    }

    fn check(&self, y: f64) -> Result<(), Error> {
        super::separable::a_sign(y)
    }

    fn check_intercept(&self, observations: &mut dyn Iterator<Item = f64>) -> Result<(), Error> {
        super::separable::both_signs(observations)
    }
}
