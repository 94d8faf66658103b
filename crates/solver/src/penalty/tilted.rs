//! A penalty less a linear function.

use super::{BlockPenalty, Blocks, gather};
use crate::{Error, penalty_of_blocks};

/// Steps of the search for a dual scale.
const MOST_SCALES: usize = 100;

/// `Ω(w) − ⟨s, w⟩`, for a norm `Ω` and a slope `s` at which `Ω*(s) = 0`, so that it is never negative: what
/// is left of a difference of convex penalties when the second is replaced by a linear bound.
pub struct Tilted {
    inner: Box<dyn BlockPenalty>,
    slope: Vec<f64>,
}

impl Tilted {
    /// The norm `inner` with this slope.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] unless there is a slope for each coefficient.
    pub fn new(inner: Box<dyn BlockPenalty>, slope: Vec<f64>) -> Result<Self, Error> {
        let (expected, found) = (inner.blocks().n_coefficients(), slope.len());
        if expected == found {
            Ok(Self { inner, slope })
        } else {
            Err(Error::ShapeMismatch { what: "slopes of the penalty", expected, found })
        }
    }

    /// `scale · v` plus `step` times the slope of a block.
    fn moved(&self, block: usize, v: &[f64], scale: f64, step: f64) -> Vec<f64> {
        let mut slope = Vec::new();
        let slope = gather(&self.slope, self.blocks().block(block), &mut slope);
        v.iter().zip(slope).map(|(v, s)| scale * v + step * *s).collect()
    }
}

penalty_of_blocks!(Tilted, "tilted norm");

impl BlockPenalty for Tilted {
    fn blocks(&self) -> &Blocks {
        self.inner.blocks()
    }

    fn value_block(&self, block: usize, w: &[f64]) -> f64 {
        let slope = self.moved(block, w, 0.0, 1.0);
        self.inner.value_block(block, w) - slope.iter().zip(w).map(|(s, w)| s * w).sum::<f64>()
    }

    fn prox_block(&self, block: usize, w: &mut [f64], step: f64) {
        w.copy_from_slice(&self.moved(block, w, 1.0, step));
        self.inner.prox_block(block, w, step);
    }

    fn prox_jacobian_block(&self, block: usize, w: &[f64], step: f64, out: &mut [f64]) {
        self.inner.prox_jacobian_block(block, &self.moved(block, w, 1.0, step), step, out);
    }

    fn conjugate_block(&self, block: usize, v: &[f64]) -> f64 {
        self.inner.conjugate_block(block, &self.moved(block, v, 1.0, 1.0))
    }

    /// By what the prox of `t v` leaves, the next `t`, until it leaves nothing (Dinkelbach 1967).
    fn dual_scale_block(&self, block: usize, v: &[f64]) -> f64 {
        let mut t = 1.0;
        for _ in 0..MOST_SCALES {
            let mut x: Vec<f64> = v.iter().map(|v| t * v).collect();
            self.prox_block(block, &mut x, 1.0);
            if x.iter().all(|value| *value == 0.0) {
                return t;
            }
            let product: f64 = x.iter().zip(v).map(|(x, v)| x * v).sum();
            let next = self.value_block(block, &x) / product;
            // Where rounding decides, a little less.
            t = if next < t { next.max(0.0) } else { t * (1.0 - 4.0 * f64::EPSILON) };
        }
        0.0
    }

    fn restrict(&self, coefficients: &[usize]) -> Box<dyn BlockPenalty> {
        let slope = coefficients.iter().map(|&j| self.slope[j]).collect();
        Box::new(Self { inner: self.inner.restrict(coefficients), slope })
    }
}
