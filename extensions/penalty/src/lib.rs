//! A penalty outside the repository of fewest.

use fewest_solver::{BlockPenalty, Blocks, Error, penalty_of_blocks};

/// `Σⱼ (λ₊ max(wⱼ, 0) + λ₋ max(−wⱼ, 0))`.
///
/// It grows in proportion to `w`, so that the conjugate that [`BlockPenalty`] takes from the prox is exact.
#[derive(Debug, Clone, PartialEq)]
pub struct AsymmetricL1 {
    blocks: Blocks,
    above: f64,
    below: f64,
}

impl AsymmetricL1 {
    /// For `n` coefficients: `above` is the cost of a unit above 0, `below` that of one below.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for a cost that is negative or not finite.
    pub fn new(above: f64, below: f64, n: usize) -> Result<Self, Error> {
        for (name, cost) in [("above", above), ("below", below)] {
            if !(cost.is_finite() && cost >= 0.0) {
                return Err(Error::parameter(name, cost, "at least 0 and finite"));
            }
        }
        Ok(Self { blocks: Blocks::separable(n), above, below })
    }
}

penalty_of_blocks!(AsymmetricL1, "asymmetric l1");

impl BlockPenalty for AsymmetricL1 {
    fn blocks(&self) -> &Blocks {
        &self.blocks
    }

    fn value_block(&self, _block: usize, w: &[f64]) -> f64 {
        w.iter().map(|&value| self.above * value.max(0.0) + self.below * (-value).max(0.0)).sum()
    }

    fn prox_block(&self, _block: usize, w: &mut [f64], step: f64) {
        for value in w {
            *value = (*value - step * self.above).max(0.0) - (-*value - step * self.below).max(0.0);
        }
    }

    fn restrict(&self, coefficients: &[usize]) -> Box<dyn BlockPenalty> {
        Box::new(Self { blocks: Blocks::separable(coefficients.len()), ..self.clone() })
    }
}
