//! The l1 norm with a ridge.

use super::{BlockPenalty, Blocks, L1};
use crate::{Error, penalty_of_blocks};

/// `Σⱼ λ|wⱼ| + ½ ridge wⱼ²`, optionally with `w ≥ 0` (Zou and Hastie 2005).
#[derive(Debug, Clone, PartialEq)]
pub struct ElasticNetPenalty {
    l1: L1,
    ridge: f64,
}

impl ElasticNetPenalty {
    /// An l1 penalty with a ridge above 0 added. (With a ridge of 0, use [`L1`] itself.)
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for a ridge that is not finite and above 0.
    pub fn new(l1: L1, ridge: f64) -> Result<Self, Error> {
        if ridge.is_finite() && ridge > 0.0 {
            Ok(Self { l1, ridge })
        } else {
            Err(Error::parameter("ridge", ridge, "finite and above 0"))
        }
    }
}

penalty_of_blocks!(ElasticNetPenalty, "elastic net");

impl BlockPenalty for ElasticNetPenalty {
    fn blocks(&self) -> &Blocks {
        self.l1.blocks()
    }

    fn value_block(&self, block: usize, w: &[f64]) -> f64 {
        self.l1.value_block(block, w) + 0.5 * self.ridge * w[0] * w[0]
    }

    fn prox_block(&self, block: usize, w: &mut [f64], step: f64) {
        self.l1.prox_block(block, w, step);
        w[0] /= 1.0 + step * self.ridge;
    }

    fn prox_jacobian_block(&self, block: usize, w: &[f64], step: f64, out: &mut [f64]) {
        self.l1.prox_jacobian_block(block, w, step, out);
        out[0] /= 1.0 + step * self.ridge;
    }

    fn conjugate_block(&self, block: usize, v: &[f64]) -> f64 {
        let excess = (self.l1.correlation(v[0]) - self.l1.levels()[block]).max(0.0);
        0.5 * excess * excess / self.ridge
    }

    fn dual_scale_block(&self, _block: usize, _v: &[f64]) -> f64 {
        1.0
    }

    fn is_screened(&self, block: usize, v: &[f64], radius: &[f64]) -> bool {
        self.l1.is_screened(block, v, radius)
    }

    fn restrict(&self, coefficients: &[usize]) -> Box<dyn BlockPenalty> {
        Box::new(Self { l1: self.l1.restricted(coefficients), ridge: self.ridge })
    }
}
