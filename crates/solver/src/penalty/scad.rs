//! The smoothly clipped absolute deviation.

use super::{Concave, check_level};
use crate::Error;

/// The smoothly clipped absolute deviation (Fan and Li 2001): the slope `p'(t)` is `λ` up to `λ`, then
/// `(aλ − t) / (a − 1)` down to zero at `aλ`, and zero beyond.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scad {
    lambda: f64,
    a: f64,
}

impl Scad {
    /// With `lambda ≥ 0` and `a > 2`: the larger `a`, the closer to the l1 norm.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`].
    pub fn new(lambda: f64, a: f64) -> Result<Self, Error> {
        check_level("lambda", lambda)?;
        if a.is_finite() && a > 2.0 {
            Ok(Self { lambda, a })
        } else {
            Err(Error::parameter("a", a, "finite and above 2"))
        }
    }
}

impl Concave for Scad {
    fn name(&self) -> &'static str {
        "SCAD"
    }

    fn value(&self, size: f64) -> f64 {
        let Self { lambda, a } = *self;
        if size <= lambda {
            lambda * size
        } else {
            let bent = size.min(a * lambda);
            (2.0 * a * lambda * bent - bent * bent - lambda * lambda) / (2.0 * (a - 1.0))
        }
    }

    fn slope(&self, size: f64) -> f64 {
        if size <= self.lambda {
            self.lambda
        } else {
            (self.a * self.lambda - size).max(0.0) / (self.a - 1.0)
        }
    }

    /// The best of the minima of its three pieces.
    fn prox(&self, size: f64, step: f64) -> f64 {
        let Self { lambda, a } = *self;
        let middle = if step < a - 1.0 {
            ((a - 1.0) * size - step * a * lambda) / (a - 1.0 - step)
        } else {
            // Concave: at an end.
            lambda
        };
        let candidates = [
            0.0,
            (size - step * lambda).clamp(0.0, lambda),
            middle.clamp(lambda, a * lambda),
            size.max(a * lambda),
        ];
        let value = |u: f64| step * self.value(u) + 0.5 * (u - size) * (u - size);
        candidates.into_iter().fold(0.0, |best, u| if value(u) < value(best) { u } else { best })
    }
}
