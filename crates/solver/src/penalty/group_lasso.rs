//! The group lasso.

use super::{BlockPenalty, Blocks, DOMAIN_SLACK, check_level};
use crate::{Error, penalty_of_blocks};

/// `λ Σ_g weight_g ‖w_g‖₂`, optionally with `w ≥ 0` (Section 2.6 of the HSIC Lasso paper; Yuan and Lin 2006).
#[derive(Debug, Clone, PartialEq)]
pub struct GroupLasso {
    blocks: Blocks,
    levels: Vec<f64>,
    nonnegative: bool,
}

impl GroupLasso {
    /// `groups[j]` is the group of coefficient `j`; every group's weight is 1.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for a `lambda` that is negative or not finite.
    pub fn new(lambda: f64, groups: &[usize]) -> Result<Self, Error> {
        check_level("lambda", lambda)?;
        let blocks = Blocks::from_groups(groups);
        let levels = vec![lambda; blocks.n_blocks()];
        Ok(Self { blocks, levels, nonnegative: false })
    }

    /// With every group's level multiplied by the square root of its size.
    #[must_use]
    pub fn weighted_by_size(mut self) -> Self {
        for (level, block) in self.levels.iter_mut().zip(self.blocks.iter()) {
            *level *= (block.len() as f64).sqrt();
        }
        self
    }

    /// With the constraint `w ≥ 0`.
    #[must_use]
    pub fn nonnegative(mut self) -> Self {
        self.nonnegative = true;
        self
    }

    /// The part of an entry that counts towards the group's norm.
    fn part(&self, value: f64) -> f64 {
        if self.nonnegative { value.max(0.0) } else { value }
    }

    fn norm(&self, values: &[f64]) -> f64 {
        values.iter().map(|&value| self.part(value).powi(2)).sum::<f64>().sqrt()
    }
}

penalty_of_blocks!(GroupLasso, "group lasso");

impl BlockPenalty for GroupLasso {
    fn blocks(&self) -> &Blocks {
        &self.blocks
    }

    fn value_block(&self, block: usize, w: &[f64]) -> f64 {
        if self.nonnegative && w.iter().any(|&value| value < 0.0) {
            return f64::INFINITY;
        }
        self.levels[block] * self.norm(w)
    }

    fn prox_block(&self, block: usize, w: &mut [f64], step: f64) {
        let norm = self.norm(w);
        let threshold = step * self.levels[block];
        let scale = if norm > threshold { 1.0 - threshold / norm } else { 0.0 };
        for value in w {
            *value = scale * self.part(*value);
        }
    }

    fn prox_jacobian_block(&self, block: usize, w: &[f64], step: f64, out: &mut [f64]) {
        let norm = self.norm(w);
        let threshold = step * self.levels[block];
        out.fill(0.0);
        if norm <= threshold {
            return;
        }
        // The Jacobian of p ↦ (1 − threshold / ‖p‖) p, for the part p of w that counts.
        let (scale, curve) = (1.0 - threshold / norm, threshold / norm.powi(3));
        let counts = |value: f64| !self.nonnegative || value > 0.0;
        for (j, &b) in w.iter().enumerate().filter(|&(_, &b)| counts(b)) {
            for (i, &a) in w.iter().enumerate().filter(|&(_, &a)| counts(a)) {
                out[i + j * w.len()] = curve * (a * b) + if i == j { scale } else { 0.0 };
            }
        }
    }

    fn conjugate_block(&self, block: usize, v: &[f64]) -> f64 {
        if self.norm(v) <= self.levels[block] * (1.0 + DOMAIN_SLACK) { 0.0 } else { f64::INFINITY }
    }

    fn dual_scale_block(&self, block: usize, v: &[f64]) -> f64 {
        let norm = self.norm(v);
        if norm <= self.levels[block] { 1.0 } else { self.levels[block] / norm }
    }

    fn is_screened(&self, block: usize, v: &[f64], radius: &[f64]) -> bool {
        let farthest =
            v.iter().zip(radius).map(|(&v, r)| (self.part(v).abs() + r).powi(2)).sum::<f64>().sqrt();
        farthest < self.levels[block]
    }

    fn restrict(&self, coefficients: &[usize]) -> Box<dyn BlockPenalty> {
        let mut group_of = vec![0; self.blocks.n_coefficients()];
        for (b, block) in self.blocks.iter().enumerate() {
            for &j in block {
                group_of[j] = b;
            }
        }
        let groups: Vec<usize> = coefficients.iter().map(|&j| group_of[j]).collect();
        let blocks = Blocks::from_groups(&groups);
        let levels =
            blocks.iter().filter_map(|block| block.first()).map(|&i| self.levels[groups[i]]).collect();
        Box::new(Self { blocks, levels, nonnegative: self.nonnegative })
    }
}
