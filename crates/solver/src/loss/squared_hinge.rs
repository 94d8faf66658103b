//! The squared hinge loss of two classes.

use super::ScalarLoss;
use crate::Error;

/// `φ(y, z) = ξ²`, `ξ = max(0, 1 − yz)` with `y = ±1`, with `θ = 2yξ` and `φ*(−θ) = ¼q² − q` for
/// `q = yθ ≥ 0`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SquaredHinge;

fn slack(y: f64, z: f64) -> f64 {
    (1.0 - y * z).max(0.0)
}

impl ScalarLoss for SquaredHinge {
    fn value(&self, y: f64, z: f64) -> f64 {
        slack(y, z).powi(2)
    }

    fn dual(&self, y: f64, z: f64) -> f64 {
        2.0 * y * slack(y, z)
    }

    fn curvature(&self, y: f64, z: f64) -> f64 {
        if slack(y, z) > 0.0 { 2.0 } else { 0.0 }
    }

    fn gap(&self, y: f64, z: f64, dual: f64) -> f64 {
        let (slack, half) = (slack(y, z), 0.5 * y * dual);
        if half < 0.0 {
            return f64::INFINITY;
        }
        if slack > 0.0 { (slack - half).powi(2) } else { half * half + 2.0 * half * (y * z - 1.0) }
    }

    fn check(&self, y: f64) -> Result<(), Error> {
        super::separable::a_sign(y)
    }

    fn check_intercept(&self, observations: &mut dyn Iterator<Item = f64>) -> Result<(), Error> {
        super::separable::both_signs(observations)
    }
}
