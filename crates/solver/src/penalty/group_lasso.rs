//! The group lasso and the sparse group lasso.

use fewest_core::order;

use super::l1::shrink;
use super::{BlockPenalty, Blocks, DOMAIN_SLACK, check_level};
use crate::{Error, penalty_of_blocks};

/// `λ Σ_g weight_g ‖w_g‖₂ + λ₁ ‖w‖₁`, optionally with `w ≥ 0` (Section 2.6 of the HSIC Lasso paper; Yuan and
/// Lin 2006). `λ₁` is 0 unless [`with_l1`](Self::with_l1) sets it: the sparse group lasso (Simon, Friedman,
/// Hastie and Tibshirani 2013).
#[derive(Debug, Clone, PartialEq)]
pub struct GroupLasso {
    blocks: Blocks,
    levels: Vec<f64>,
    l1: f64,
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
        Ok(Self { blocks, levels, l1: 0.0, nonnegative: false })
    }

    /// With every group's level multiplied by the square root of its size.
    #[must_use]
    pub fn weighted_by_size(mut self) -> Self {
        for (level, block) in self.levels.iter_mut().zip(self.blocks.iter()) {
            *level *= (block.len() as f64).sqrt();
        }
        self
    }

    /// With `level · ‖w‖₁` added: coefficients of a group that is not zero may be zero, too.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for a level that is negative or not finite.
    pub fn with_l1(mut self, level: f64) -> Result<Self, Error> {
        check_level("l1 level", level)?;
        self.l1 = level;
        Ok(self)
    }

    /// With the constraint `w ≥ 0`.
    #[must_use]
    pub fn nonnegative(mut self) -> Self {
        self.nonnegative = true;
        self
    }

    /// The part of an entry that counts towards the group's norm after the l1 norm has taken `threshold`.
    fn part(&self, value: f64, threshold: f64) -> f64 {
        shrink(value, threshold, self.nonnegative)
    }

    fn norm(&self, values: &[f64], threshold: f64) -> f64 {
        values.iter().map(|&value| self.part(value, threshold).powi(2)).sum::<f64>().sqrt()
    }

    /// The largest `t` with `‖part(t v, λ₁)‖ ≤ level`: the root of a quadratic in the entries above the
    /// threshold, which are found one after the other (Ndiaye, Fercoq, Gramfort and Salmon 2016).
    fn scale_of(&self, level: f64, v: &[f64]) -> f64 {
        let mut sizes: Vec<f64> = v.iter().map(|&value| self.part(value, 0.0).abs()).collect();
        order::sort(&mut sizes);
        let (mut sum, mut squares) = (0.0, 0.0);
        let mut scale = f64::INFINITY;
        for (at, size) in sizes.iter().rev().enumerate() {
            // The next entry stays below the threshold at this scale.
            if scale * size <= self.l1 {
                break;
            }
            let count = (at + 1) as f64;
            sum += size;
            squares += size * size;
            let linear = self.l1 * sum;
            let rest = squares * (count * self.l1 * self.l1 - level * level);
            scale = (linear + (linear * linear - rest).max(0.0).sqrt()) / squares;
        }
        scale
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
        let group = self.levels[block] * self.norm(w, 0.0);
        if self.l1 > 0.0 { group + self.l1 * w.iter().map(|value| value.abs()).sum::<f64>() } else { group }
    }

    /// The l1 norm first, then the group (Friedman, Hastie and Tibshirani 2010).
    fn prox_block(&self, block: usize, w: &mut [f64], step: f64) {
        let level = step * self.l1;
        let norm = self.norm(w, level);
        let threshold = step * self.levels[block];
        let scale = if norm > threshold { 1.0 - threshold / norm } else { 0.0 };
        for value in w {
            *value = scale * self.part(*value, level);
        }
    }

    fn prox_jacobian_block(&self, block: usize, w: &[f64], step: f64, out: &mut [f64]) {
        let level = step * self.l1;
        let norm = self.norm(w, level);
        let threshold = step * self.levels[block];
        out.fill(0.0);
        if norm <= threshold {
            return;
        }
        // The Jacobian of p ↦ (1 − threshold / ‖p‖) p, for the part p of w that counts.
        let (scale, curve) = (1.0 - threshold / norm, threshold / norm.powi(3));
        let parts: Vec<f64> = w.iter().map(|&value| self.part(value, level)).collect();
        let counts = |part: f64| part != 0.0 || (level == 0.0 && !self.nonnegative);
        for (j, &b) in parts.iter().enumerate().filter(|&(_, &b)| counts(b)) {
            for (i, &a) in parts.iter().enumerate().filter(|&(_, &a)| counts(a)) {
                out[i + j * w.len()] = curve * (a * b) + if i == j { scale } else { 0.0 };
            }
        }
    }

    fn conjugate_block(&self, block: usize, v: &[f64]) -> f64 {
        let norm = self.norm(v, self.l1 * (1.0 + DOMAIN_SLACK));
        if norm <= self.levels[block] * (1.0 + DOMAIN_SLACK) { 0.0 } else { f64::INFINITY }
    }

    fn dual_scale_block(&self, block: usize, v: &[f64]) -> f64 {
        let (level, norm) = (self.levels[block], self.norm(v, self.l1));
        if norm <= level {
            1.0
        } else if self.l1 > 0.0 {
            self.scale_of(level, v).min(1.0)
        } else {
            level / norm
        }
    }

    fn is_screened(&self, block: usize, v: &[f64], radius: &[f64]) -> bool {
        let farthest = |(v, r): (&f64, &f64)| match self.nonnegative {
            true => (v + r).max(0.0),
            false => v.abs() + r,
        };
        let sizes = || v.iter().zip(radius).map(farthest);
        if v.iter().chain(radius).any(|value| value.is_nan()) {
            return false;
        }
        let norm = sizes().map(|size| (size - self.l1).max(0.0).powi(2)).sum::<f64>().sqrt();
        // Inside, and not on the border of, the set that the penalty holds at zero.
        norm < self.levels[block] || sizes().all(|size| size < self.l1)
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
        Box::new(Self { blocks, levels, l1: self.l1, nonnegative: self.nonnegative })
    }
}
