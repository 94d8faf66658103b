//! The Poisson loss of counts.

use super::separable::ROUNDING;
use super::{LONGEST_STEP, ScalarLoss};
use crate::Error;

/// Half the Poisson deviance with a log link, `φ(y, z) = μ − y + y ln(y/μ)`, `μ = eᶻ`, with `θ = y − μ` and
/// `φ*(−θ) = m ln m − m + y − y ln y` for `m = y − θ ≥ 0`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Poisson;

impl ScalarLoss for Poisson {
    fn value(&self, y: f64, z: f64) -> f64 {
        z.exp() - y + if y > 0.0 { y * (y.ln() - z) } else { 0.0 }
    }

    fn dual(&self, y: f64, z: f64) -> f64 {
        y - z.exp()
    }

    fn curvature(&self, y: f64, z: f64) -> f64 {
        let mean = z.exp();
        mean.max((y - mean).abs() / LONGEST_STEP)
    }

    /// `μ − m + m ln(m/μ)`.
    fn gap(&self, y: f64, z: f64, dual: f64) -> f64 {
        let m = y - dual;
        if m < -ROUNDING * y {
            return f64::INFINITY;
        }
        if m > 0.0 { z.exp() - m + m * (m.ln() - z) } else { z.exp() }
    }

    fn check(&self, y: f64) -> Result<(), Error> {
        if y >= 0.0 { Ok(()) } else { Err(Error::parameter("count", y, "at least 0")) }
    }

    fn check_intercept(&self, observations: &mut dyn Iterator<Item = f64>) -> Result<(), Error> {
        if observations.fold(0.0, f64::max) > 0.0 {
            Ok(())
        } else {
            Err(Error::TooFew { what: "counts above 0", minimum: 1, found: 0 })
        }
    }
}
