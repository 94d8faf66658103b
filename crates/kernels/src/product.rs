//! Kernels of the product of two values. Unlike the stationary ones they change when all values are
//! shifted: standardise the feature first.

use fewest_core::Error;

use crate::{Definiteness, Factor, ScalarKernel, fast};

fn check(name: &'static str, value: f64, positive: bool) -> Result<f64, Error> {
    if !value.is_finite() || (positive && value <= 0.0) {
        let expected = if positive { "positive and finite" } else { "finite" };
        return Err(Error::parameter(name, value, expected));
    }
    Ok(value)
}

/// The linear kernel `k(a, b) = a b`, positive semidefinite of rank one. With it HSIC is the squared
/// covariance times a power of n.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Linear;

impl ScalarKernel for Linear {
    fn eval(&self, a: f64, b: f64) -> f64 {
        a * b
    }
    fn definiteness(&self) -> Definiteness {
        Definiteness::PositiveSemidefinite
    }
    fn exact_factor(&self, points: &[f64]) -> Option<Factor> {
        Some(Factor::exact(points.len(), 1, points.to_vec()))
    }
}

/// The polynomial kernel `k(a, b) = (scale a b + offset)^degree`, of rank `degree + 1` at most.
///
/// Positive semidefinite for `offset >= 0`; a negative offset gives `a^k b^k` terms of both signs, so the
/// kernel is then indefinite.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Polynomial {
    degree: i32,
    offset: f64,
    scale: f64,
}

impl Polynomial {
    /// Degree from 1 to 64, any finite `offset` (usually 1), `scale > 0` (usually 1).
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for anything else.
    pub fn new(degree: u32, offset: f64, scale: f64) -> Result<Self, Error> {
        if !(1..=64).contains(&degree) {
            return Err(Error::parameter("degree", degree, "from 1 to 64"));
        }
        Ok(Self {
            degree: degree as i32,
            offset: check("offset", offset, false)?,
            scale: check("scale", scale, true)?,
        })
    }
}

impl ScalarKernel for Polynomial {
    fn eval(&self, a: f64, b: f64) -> f64 {
        (self.scale * (a * b) + self.offset).powi(self.degree)
    }
    fn definiteness(&self) -> Definiteness {
        if self.offset >= 0.0 { Definiteness::PositiveSemidefinite } else { Definiteness::Indefinite }
    }
}

/// The sigmoid kernel `k(a, b) = tanh(scale a b + offset)`, indefinite.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sigmoid {
    scale: f64,
    offset: f64,
}

impl Sigmoid {
    /// Any finite `scale` and `offset`; Xue et al. (2017) write `tanh(a x x' - r)`, that is `offset = -r`.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for a NaN or an infinity.
    pub fn new(scale: f64, offset: f64) -> Result<Self, Error> {
        Ok(Self { scale: check("scale", scale, false)?, offset: check("offset", offset, false)? })
    }
}

impl ScalarKernel for Sigmoid {
    fn eval(&self, a: f64, b: f64) -> f64 {
        (self.scale * (a * b) + self.offset).tanh()
    }
    fn definiteness(&self) -> Definiteness {
        Definiteness::Indefinite
    }
    fn eval_many(&self, x: f64, points: &[f64], out: &mut [f64]) {
        fast::tanh_row(x, points, self.scale, self.offset, out);
    }
}
