//! The Poisson loss of counts.

use super::{LONGEST_STEP, ScalarLoss};
use crate::Error;

/// Half the Poisson deviance with a log link, `φ(y, z) = μ − y + y ln(y/μ)`, `μ = eᶻ`, with `θ = y − μ` and
/// `φ*(−θ) = m ln m − m + y − y ln y` for `m = y − θ ≥ 0`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Poisson;

/// `y ln y`.
fn y_ln_y(y: f64) -> f64 {
    if y > 0.0 { y * y.ln() } else { 0.0 }
}

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

    fn conjugate(&self, y: f64, dual: f64) -> f64 {
        let m = y - dual;
        if m < 0.0 { f64::INFINITY } else { y_ln_y(m) - m + y - y_ln_y(y) }
    }

    /// `μ − m + m ln(m/μ)`.
    fn gap(&self, y: f64, z: f64, dual: f64) -> f64 {
        let m = y - dual;
        if m < 0.0 { f64::INFINITY } else { z.exp() - m + if m > 0.0 { m * (m.ln() - z) } else { 0.0 } }
    }

    fn check(&self, y: f64) -> Result<(), Error> {
        if y >= 0.0 { Ok(()) } else { Err(Error::parameter("count", y, "at least 0")) }
    }
}
