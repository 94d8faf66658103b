//! Huber's loss.

use super::ScalarLoss;
use super::separable::ROUNDING;
use crate::Error;

/// `φ(y, z) = ½r²` for the residual `r = y − z` with `|r| ≤ δ`, and `δ|r| − ½δ²` beyond (Huber 1964), with
/// `θ = r` clamped to `[−δ, δ]` and `φ*(−θ) = ½θ² − θy` there.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Huber {
    delta: f64,
}

/// The curvature of a residual beyond `δ`, as a share of the one whose parabola touches the loss from above.
/// Newton steps converge faster the smaller it is, and their quadratic problems are harder.
const BEYOND: f64 = 0.1;

impl Huber {
    /// With residuals up to `delta` squared.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for a `delta` that is not finite and above 0.
    pub fn new(delta: f64) -> Result<Self, Error> {
        if delta.is_finite() && delta > 0.0 {
            Ok(Self { delta })
        } else {
            Err(Error::parameter("delta", delta, "finite and above 0"))
        }
    }
}

impl ScalarLoss for Huber {
    fn value(&self, y: f64, z: f64) -> f64 {
        let size = (y - z).abs();
        if size <= self.delta { 0.5 * size * size } else { self.delta * (size - 0.5 * self.delta) }
    }

    fn dual(&self, y: f64, z: f64) -> f64 {
        (y - z).clamp(-self.delta, self.delta)
    }

    fn curvature(&self, y: f64, z: f64) -> f64 {
        let size = (y - z).abs();
        if size <= self.delta { 1.0 } else { BEYOND * self.delta / size }
    }

    fn gap(&self, y: f64, z: f64, dual: f64) -> f64 {
        if dual.abs() > self.delta * (1.0 + ROUNDING) {
            return f64::INFINITY;
        }
        let (r, dual) = (y - z, dual.clamp(-self.delta, self.delta));
        // ½(r − θ)² inside; outside θ and the bound meet.
        let bound = r.clamp(-self.delta, self.delta);
        0.5 * (bound - dual).powi(2) + (r - bound) * (bound - dual)
    }

    fn check(&self, y: f64) -> Result<(), Error> {
        super::separable::any_number(y)
    }
}
