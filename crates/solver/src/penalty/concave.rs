//! Penalties that are not convex, coefficient by coefficient: what MCP, SCAD and the root share.

use super::{BlockPenalty, Blocks, L1, Penalty};
use crate::{Error, penalty_of_blocks};

/// A function `p(t)` of the size `t = |w|` of a coefficient, concave and not decreasing, with `p(0) = 0`.
pub trait Concave: Send + Sync {
    /// Its name in messages, such as `MCP`.
    fn name(&self) -> &'static str;

    /// `p(t)`.
    fn value(&self, size: f64) -> f64;

    /// `p'(t)`, from the right; infinite at 0 for one that is steep there.
    fn slope(&self, size: f64) -> f64;

    /// `argmin_u p(u) + (u − size)² / (2 step)` over `u ≥ 0`; of two minima the smaller one.
    fn prox(&self, size: f64, step: f64) -> f64;
}

/// `Σⱼ p(|wⱼ|)` for a [`Concave`] function.
///
/// ```
/// use fewest_solver::{ConcavePenalty, Mcp, Penalty};
/// let penalty = ConcavePenalty::new(Mcp::new(1.0, 3.0)?, 3);
/// // Large coefficients are not shrunk.
/// let mut w = [0.5, -2.5, 4.0];
/// penalty.prox(&mut w, 1.0);
/// assert!(w[0] == 0.0 && (w[1] + 2.25).abs() < 1e-12 && w[2] == 4.0);
/// assert!(!penalty.is_convex());
/// # Ok::<(), fewest_solver::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ConcavePenalty<C> {
    concave: C,
    n: usize,
}

/// How much larger than the largest coefficient a minimum of the majorant may be.
const REACH: f64 = 10.0;

/// A level that holds a coefficient at zero, whatever its correlation.
const HELD: f64 = 1e100;

impl<C: Concave> ConcavePenalty<C> {
    /// The penalty of `n` coefficients.
    pub fn new(concave: C, n: usize) -> Self {
        Self { concave, n }
    }

    /// The weighted l1 norm that is, but for a constant, the smallest symmetric one above the penalty that is
    /// equal to it at `w`: with the levels `p'(|wⱼ|)` (Zou and Li 2008). A point is stationary exactly where
    /// it minimises the loss with the norm that belongs to it.
    ///
    /// Where the slope at 0 is infinite, zeros stay.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for a slope that is not a number.
    pub fn majorant(&self, w: &[f64]) -> Result<ConcaveMajorant, Error> {
        let levels: Vec<f64> = w.iter().map(|w| self.concave.slope(w.abs()).min(HELD)).collect();
        let bound = REACH * w.iter().fold(0.0_f64, |most, w| most.max(w.abs()));
        let bounds = w.iter().map(|&w| (w != 0.0).then_some(bound)).collect();
        Ok(ConcaveMajorant { l1: L1::weighted(1.0, &levels)?, bounds })
    }
}

/// The weighted l1 norm that belongs to a point under a [`ConcavePenalty`].
///
/// A level may be zero, and no dual point but zero is feasible then, after rounding. So the coefficients that
/// are not zero at the point are taken to be within ten times the largest of them: the dual point needs not
/// be feasible there, and what it exceeds the level by counts in the gap, times this bound.
#[derive(Debug, Clone, PartialEq)]
pub struct ConcaveMajorant {
    l1: L1,
    bounds: Vec<Option<f64>>,
}

penalty_of_blocks!(ConcaveMajorant, "majorant of a concave penalty");

impl BlockPenalty for ConcaveMajorant {
    fn blocks(&self) -> &Blocks {
        self.l1.blocks()
    }

    fn as_l1(&self) -> Option<&L1> {
        Some(&self.l1)
    }

    fn value_block(&self, block: usize, w: &[f64]) -> f64 {
        self.l1.value_block(block, w)
    }

    fn prox_block(&self, block: usize, w: &mut [f64], step: f64) {
        self.l1.prox_block(block, w, step);
    }

    fn prox_jacobian_block(&self, block: usize, w: &[f64], step: f64, out: &mut [f64]) {
        self.l1.prox_jacobian_block(block, w, step, out);
    }

    fn conjugate_block(&self, block: usize, v: &[f64]) -> f64 {
        match self.bounds[block] {
            Some(bound) => bound * (v[0].abs() - self.l1.levels()[block]).max(0.0),
            None => self.l1.conjugate_block(block, v),
        }
    }

    fn dual_scale_block(&self, block: usize, v: &[f64]) -> f64 {
        if self.bounds[block].is_some() { 1.0 } else { self.l1.dual_scale_block(block, v) }
    }

    fn is_screened(&self, block: usize, v: &[f64], radius: &[f64]) -> bool {
        self.l1.is_screened(block, v, radius)
    }

    fn restrict(&self, coefficients: &[usize]) -> Box<dyn BlockPenalty> {
        let bounds = coefficients.iter().map(|&j| self.bounds[j]).collect();
        Box::new(Self { l1: self.l1.restricted(coefficients), bounds })
    }
}

impl<C: Concave> Penalty for ConcavePenalty<C> {
    fn name(&self) -> &'static str {
        self.concave.name()
    }

    fn n_coefficients(&self) -> usize {
        self.n
    }

    fn value(&self, w: &[f64]) -> f64 {
        w.iter().map(|w| self.concave.value(w.abs())).sum()
    }

    fn prox(&self, w: &mut [f64], step: f64) {
        for value in w.iter_mut().filter(|value| **value != 0.0) {
            let size = self.concave.prox(value.abs(), step);
            *value = if size > 0.0 { size.copysign(*value) } else { 0.0 };
        }
    }

    fn is_convex(&self) -> bool {
        false
    }
}
