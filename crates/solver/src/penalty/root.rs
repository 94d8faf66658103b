//! The square root of the sizes.

use super::{Concave, check_level};
use crate::Error;

/// `p(t) = λ √t`, the penalty of l½ regularisation (Xu, Chang, Xu and Zhang 2012). Its slope at zero is
/// infinite, so zero is a local minimum whatever the loss.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Root {
    lambda: f64,
}

impl Root {
    /// With `lambda ≥ 0`.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`].
    pub fn new(lambda: f64) -> Result<Self, Error> {
        check_level("lambda", lambda)?;
        Ok(Self { lambda })
    }
}

impl Concave for Root {
    fn name(&self) -> &'static str {
        "l1/2"
    }

    fn value(&self, size: f64) -> f64 {
        self.lambda * size.sqrt()
    }

    fn slope(&self, size: f64) -> f64 {
        if self.lambda == 0.0 { 0.0 } else { 0.5 * self.lambda / size.sqrt() }
    }

    /// Half thresholding: zero up to `1.5 (step λ)^⅔`, above it the largest root of a cubic in `√u`, by its
    /// cosine.
    fn prox(&self, size: f64, step: f64) -> f64 {
        let level = step * self.lambda;
        if size <= 1.5 * level.powf(2.0 / 3.0) {
            return 0.0;
        }
        let angle = (0.25 * level * (size / 3.0).powf(-1.5)).acos();
        2.0 / 3.0 * size * (1.0 + (2.0 / 3.0 * (std::f64::consts::PI - angle)).cos())
    }
}
