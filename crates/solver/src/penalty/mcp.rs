//! The minimax concave penalty.

use super::{Concave, check_level};
use crate::Error;

/// The minimax concave penalty (Zhang 2010): `p'(t) = max(0, λ − t/γ)`, so that `p(t) = λt − t²/(2γ)` up to
/// `γλ` and the constant `γλ²/2` beyond.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mcp {
    lambda: f64,
    gamma: f64,
}

impl Mcp {
    /// With `lambda ≥ 0` and `gamma > 1`: the larger `gamma`, the closer to the l1 norm.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`].
    pub fn new(lambda: f64, gamma: f64) -> Result<Self, Error> {
        check_level("lambda", lambda)?;
        if gamma.is_finite() && gamma > 1.0 {
            Ok(Self { lambda, gamma })
        } else {
            Err(Error::parameter("gamma", gamma, "finite and above 1"))
        }
    }
}

impl Concave for Mcp {
    fn name(&self) -> &'static str {
        "MCP"
    }

    fn value(&self, size: f64) -> f64 {
        let bent = size.min(self.gamma * self.lambda);
        self.lambda * bent - 0.5 * bent * bent / self.gamma
    }

    fn slope(&self, size: f64) -> f64 {
        (self.lambda - size / self.gamma).max(0.0)
    }

    /// Firm thresholding for a `step` below `gamma`, else hard thresholding.
    fn prox(&self, size: f64, step: f64) -> f64 {
        let Self { lambda, gamma } = *self;
        if step >= gamma {
            if size > lambda * (gamma * step).sqrt() { size } else { 0.0 }
        } else if size <= step * lambda {
            0.0
        } else if size <= gamma * lambda {
            (size - step * lambda) / (1.0 - step / gamma)
        } else {
            size
        }
    }
}
