//! Squared errors.

use super::ScalarLoss;
use crate::Error;

/// `φ(y, z) = ½ (y − z)²`, with `θ = y − z` and `φ*(−θ) = ½θ² − θy`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Squared;

impl ScalarLoss for Squared {
    fn value(&self, y: f64, z: f64) -> f64 {
        0.5 * (y - z) * (y - z)
    }

    fn dual(&self, y: f64, z: f64) -> f64 {
        y - z
    }

    fn curvature(&self, _: f64, _: f64) -> f64 {
        1.0
    }

    fn is_square(&self) -> bool {
        true
    }

    fn gap(&self, y: f64, z: f64, dual: f64) -> f64 {
        0.5 * (y - z - dual) * (y - z - dual)
    }

    fn check(&self, y: f64) -> Result<(), Error> {
        super::separable::any_number(y)
    }
}
