//! The sorted l1 norm.

use fewest_core::order;

use super::graph_fused::average;
use super::{BlockPenalty, Blocks, DOMAIN_SLACK, check_level, holds_around};
use crate::{Error, penalty_of_blocks};

/// `Σ_k weights[k] |w|₍ₖ₎`, where `|w|₍ₖ₎` is the coefficient with the `k`-th largest absolute value, from 0
/// (SLOPE: Bogdan and others 2015). With weights that decrease by the same amount it is OSCAR (Bondell and
/// Reich 2008). All coefficients are one block.
#[derive(Debug, Clone, PartialEq)]
pub struct SortedL1 {
    blocks: Blocks,
    weights: Vec<f64>,
}

impl SortedL1 {
    /// One weight for each coefficient, not increasing.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for a weight that is negative, not finite, or above the one before.
    pub fn new(weights: Vec<f64>) -> Result<Self, Error> {
        weights.iter().try_for_each(|&weight| check_level("weight", weight))?;
        match weights.windows(2).find(|pair| pair[1] > pair[0]) {
            Some(pair) => {
                Err(Error::parameter("weight", pair[1], format!("at most the one before, {}", pair[0])))
            }
            None => Ok(Self { blocks: one_block(weights.len()), weights }),
        }
    }

    /// OSCAR: `level ‖w‖₁ + pair Σ_{i<j} max(|wᵢ|, |wⱼ|)` for `n` coefficients. The `k`-th largest, from 0,
    /// is the larger one of `n − 1 − k` pairs.
    ///
    /// # Errors
    /// As [`SortedL1::new`].
    pub fn oscar(level: f64, pair: f64, n: usize) -> Result<Self, Error> {
        check_level("level", level)?;
        check_level("pair", pair)?;
        Self::new((0..n).rev().map(|smaller| level + pair * smaller as f64).collect())
    }

    /// The absolute values, largest first, with their places; ties to the lower index.
    fn sorted(values: &[f64]) -> (Vec<usize>, Vec<f64>) {
        let sizes: Vec<f64> = values.iter().map(|value| value.abs()).collect();
        let order = order::descending(&sizes);
        let sorted = order.iter().map(|&j| sizes[j]).collect();
        (order, sorted)
    }

    /// The prefix sums of the sorted sizes of `v` and of the weights.
    fn prefixes(&self, v: &[f64]) -> Vec<(f64, f64)> {
        let (_, sorted) = Self::sorted(v);
        let add = |sums: &mut (f64, f64), (size, weight): (f64, &f64)| {
            *sums = (sums.0 + size, sums.1 + weight);
            Some(*sums)
        };
        sorted.into_iter().zip(&self.weights).scan((0.0, 0.0), add).collect()
    }
}

fn one_block(n: usize) -> Blocks {
    Blocks::from_groups(&vec![0; n])
}

penalty_of_blocks!(SortedL1, "sorted l1");

impl BlockPenalty for SortedL1 {
    fn blocks(&self) -> &Blocks {
        &self.blocks
    }

    fn value_block(&self, _block: usize, w: &[f64]) -> f64 {
        Self::sorted(w).1.iter().zip(&self.weights).map(|(size, weight)| size * weight).sum()
    }

    /// The isotonic regression of the sorted sizes less their weights, by pooling, cut at zero.
    fn prox_block(&self, _block: usize, w: &mut [f64], step: f64) {
        let (order, sorted) = Self::sorted(w);
        // Pools with their sums and counts, of decreasing means.
        let mut pools: Vec<(f64, usize)> = Vec::new();
        for (size, weight) in sorted.iter().zip(&self.weights) {
            let mut pool = (size - step * weight, 1);
            while let Some(&(sum, count)) = pools.last() {
                if sum * pool.1 as f64 > pool.0 * count as f64 {
                    break;
                }
                pool = (pool.0 + sum, pool.1 + count);
                pools.pop();
            }
            pools.push(pool);
        }
        let mut places = order.into_iter();
        for (sum, count) in pools {
            let mean = (sum / count as f64).max(0.0);
            for j in places.by_ref().take(count) {
                w[j] = if mean > 0.0 { mean.copysign(w[j]) } else { 0.0 };
            }
        }
    }

    fn prox_jacobian_block(&self, block: usize, w: &[f64], step: f64, out: &mut [f64]) {
        let mut x = w.to_vec();
        self.prox_block(block, &mut x, step);
        let (order, sorted) = Self::sorted(&x);
        let mut pool = vec![0; x.len()];
        let mut first = 0;
        for (at, &j) in order.iter().enumerate() {
            if sorted[at] != sorted[first] {
                first = at;
            }
            pool[j] = order[first];
        }
        average(&x, &pool, out);
    }

    fn conjugate_block(&self, _block: usize, v: &[f64]) -> f64 {
        let inside = |(size, weight): &(f64, f64)| *size <= weight * (1.0 + DOMAIN_SLACK);
        if self.prefixes(v).iter().all(inside) { 0.0 } else { f64::INFINITY }
    }

    fn dual_scale_block(&self, _block: usize, v: &[f64]) -> f64 {
        let scale = |(size, weight): (f64, f64)| if size > weight { weight / size } else { 1.0 };
        self.prefixes(v).into_iter().map(scale).fold(1.0, f64::min)
    }

    fn is_screened(&self, block: usize, v: &[f64], radius: &[f64]) -> bool {
        holds_around(self, block, v, radius)
    }

    /// Coefficients that are not zero come first.
    fn restrict(&self, coefficients: &[usize]) -> Box<dyn BlockPenalty> {
        let n = coefficients.len();
        Box::new(Self { blocks: one_block(n), weights: self.weights[..n].to_vec() })
    }
}
