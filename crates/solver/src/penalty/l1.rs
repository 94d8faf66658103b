//! The l1 norm.

use super::{BlockPenalty, Blocks, DOMAIN_SLACK, check_level};
use crate::{Error, penalty_of_blocks};

/// `soft(w, t)`: towards zero by `t`; with `nonnegative`, negative values become zero.
pub(super) fn shrink(w: f64, threshold: f64, nonnegative: bool) -> f64 {
    if w > threshold {
        w - threshold
    } else if !nonnegative && w < -threshold {
        w + threshold
    } else {
        0.0
    }
}

/// `λ Σⱼ weightⱼ |wⱼ|`, optionally with `w ≥ 0`.
#[derive(Debug, Clone, PartialEq)]
pub struct L1 {
    blocks: Blocks,
    levels: Vec<f64>,
    nonnegative: bool,
}

impl L1 {
    /// The same `lambda ≥ 0` for `n` coefficients, of any sign.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for a `lambda` that is negative or not finite.
    pub fn new(lambda: f64, n: usize) -> Result<Self, Error> {
        check_level("lambda", lambda)?;
        Ok(Self { blocks: Blocks::separable(n), levels: vec![lambda; n], nonnegative: false })
    }

    /// A separate penalty, `lambda · weights[j]`, for each coefficient.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for a level that is negative or not finite.
    pub fn weighted(lambda: f64, weights: &[f64]) -> Result<Self, Error> {
        check_level("lambda", lambda)?;
        weights.iter().try_for_each(|&weight| check_level("weight", weight))?;
        let levels: Vec<f64> = weights.iter().map(|weight| lambda * weight).collect();
        levels.iter().try_for_each(|&level| check_level("lambda * weight", level))?;
        Ok(Self { blocks: Blocks::separable(weights.len()), levels, nonnegative: false })
    }

    /// With the constraint `w ≥ 0`.
    #[must_use]
    pub fn nonnegative(mut self) -> Self {
        self.nonnegative = true;
        self
    }

    /// The level of each coefficient, `lambda · weight`.
    pub fn levels(&self) -> &[f64] {
        &self.levels
    }

    /// Whether `w ≥ 0` is imposed.
    pub fn is_nonnegative(&self) -> bool {
        self.nonnegative
    }

    /// The penalty of `coefficients` alone.
    pub(super) fn restricted(&self, coefficients: &[usize]) -> Self {
        Self {
            blocks: Blocks::separable(coefficients.len()),
            levels: coefficients.iter().map(|&j| self.levels[j]).collect(),
            nonnegative: self.nonnegative,
        }
    }

    /// The part of a correlation that the penalty bounds.
    pub(super) fn correlation(&self, v: f64) -> f64 {
        if self.nonnegative { v } else { v.abs() }
    }
}

penalty_of_blocks!(L1, "l1");

impl BlockPenalty for L1 {
    fn blocks(&self) -> &Blocks {
        &self.blocks
    }

    fn as_l1(&self) -> Option<&L1> {
        Some(self)
    }

    fn value_block(&self, block: usize, w: &[f64]) -> f64 {
        if self.nonnegative && w[0] < 0.0 { f64::INFINITY } else { self.levels[block] * w[0].abs() }
    }

    fn prox_block(&self, block: usize, w: &mut [f64], step: f64) {
        w[0] = shrink(w[0], step * self.levels[block], self.nonnegative);
    }

    fn prox_jacobian_block(&self, block: usize, w: &[f64], step: f64, out: &mut [f64]) {
        out[0] = if shrink(w[0], step * self.levels[block], self.nonnegative) == 0.0 { 0.0 } else { 1.0 };
    }

    fn conjugate_block(&self, block: usize, v: &[f64]) -> f64 {
        if self.correlation(v[0]) <= self.levels[block] * (1.0 + DOMAIN_SLACK) { 0.0 } else { f64::INFINITY }
    }

    fn dual_scale_block(&self, block: usize, v: &[f64]) -> f64 {
        let correlation = self.correlation(v[0]);
        if correlation <= self.levels[block] { 1.0 } else { self.levels[block] / correlation }
    }

    fn is_screened(&self, block: usize, v: &[f64], radius: &[f64]) -> bool {
        self.correlation(v[0]) + radius[0] < self.levels[block]
    }

    fn restrict(&self, coefficients: &[usize]) -> Box<dyn BlockPenalty> {
        Box::new(self.restricted(coefficients))
    }

    fn sum_of_blocks(&self, w: &[f64]) -> f64 {
        if self.nonnegative && w.iter().any(|&value| value < 0.0) {
            return f64::INFINITY;
        }
        w.iter().zip(&self.levels).map(|(value, level)| level * value.abs()).sum()
    }

    fn prox_of_blocks(&self, w: &mut [f64], step: f64) {
        for (value, level) in w.iter_mut().zip(&self.levels) {
            *value = shrink(*value, step * level, self.nonnegative);
        }
    }

    fn conjugate(&self, v: &[f64]) -> f64 {
        let is_inside = |(v, level): (&f64, &f64)| self.correlation(*v) <= level * (1.0 + DOMAIN_SLACK);
        if v.iter().zip(&self.levels).all(is_inside) { 0.0 } else { f64::INFINITY }
    }

    fn dual_scale(&self, v: &[f64]) -> f64 {
        let mut scale = 1.0_f64;
        for (v, level) in v.iter().zip(&self.levels) {
            let correlation = self.correlation(*v);
            if correlation > *level {
                scale = scale.min(level / correlation);
            }
        }
        scale
    }
}
