//! Sweeps over blocks: the descent itself.

use fewest_core::order;
use fewest_solver::{BlockPenalty, Quadratic};

/// An upper bound of the largest eigenvalue of each block's Gram matrix: the Lipschitz constant of the
/// gradient in that block. Exact for blocks of one coefficient.
pub(crate) fn curvatures(problem: &Quadratic, penalty: &dyn BlockPenalty) -> Vec<f64> {
    let bound = |block: &[usize]| {
        let (mut frobenius, mut largest_row) = (0.0_f64, 0.0_f64);
        for &j in block {
            let column = problem.gram_column(j);
            frobenius += block.iter().map(|&i| column[i] * column[i]).sum::<f64>();
            largest_row = largest_row.max(block.iter().map(|&i| column[i].abs()).sum());
        }
        frobenius.sqrt().min(largest_row)
    };
    let blocks = penalty.blocks();
    (0..blocks.n_blocks())
        .map(|b| match *blocks.block(b) {
            [j] => problem.gram_column(j)[j].max(0.0),
            ref block => bound(block),
        })
        .collect()
}

/// A point of `½ wᵀGw − cᵀw + Ω(w)` with the products `q = c − Gw` that every step needs.
pub(crate) struct Descent<'a> {
    pub(crate) problem: &'a Quadratic,
    pub(crate) penalty: &'a dyn BlockPenalty,
    pub(crate) curvatures: &'a [f64],
    pub(crate) w: Vec<f64>,
    pub(crate) correlations: Vec<f64>,
}

impl Descent<'_> {
    /// One prox step with the block's own step `1 / L_b` in each of `blocks`, in that order: for a block of
    /// one coefficient the exact minimum. Returns the largest `L_b ‖change of w_b‖²`.
    ///
    /// Cost: one column of `G` for each coefficient that changes.
    pub(crate) fn sweep(&mut self, blocks: impl Iterator<Item = usize>) -> f64 {
        let mut largest = 0.0_f64;
        let mut entries = Vec::new();
        for b in blocks {
            let block = self.penalty.blocks().block(b);
            let curvature = self.curvatures[b];
            entries.clear();
            if curvature > 0.0 {
                entries.extend(block.iter().map(|&j| self.w[j] + self.correlations[j] / curvature));
                self.penalty.prox_block(b, &mut entries, curvature.recip());
            } else {
                // Atoms of norm zero: only the penalty is left, and zero is best.
                entries.resize(block.len(), 0.0);
            }
            let mut moved = 0.0;
            for (&j, &value) in block.iter().zip(&entries) {
                let change = value - self.w[j];
                if change != 0.0 {
                    self.w[j] = value;
                    moved += change * change;
                    for (q, g) in self.correlations.iter_mut().zip(self.problem.gram_column(j)) {
                        *q -= change * g;
                    }
                }
            }
            largest = largest.max(curvature * moved);
        }
        largest
    }

    pub(crate) fn is_zero(&self, block: usize) -> bool {
        self.penalty.blocks().block(block).iter().all(|&j| self.w[j] == 0.0)
    }

    /// The blocks with a non-zero coefficient, increasing.
    pub(crate) fn active_blocks(&self) -> Vec<usize> {
        (0..self.curvatures.len()).filter(|&b| !self.is_zero(b)).collect()
    }

    /// The zero blocks among `candidates` that a step would move, at most `most`: those with the largest
    /// `L_b ‖step‖²`, ties to the lower index.
    pub(crate) fn violators(&self, candidates: &[usize], most: usize) -> Vec<usize> {
        let mut entries = Vec::new();
        let mut found: Vec<(f64, usize)> = Vec::new();
        for &b in candidates.iter().filter(|&&b| self.curvatures[b] > 0.0 && self.is_zero(b)) {
            let curvature = self.curvatures[b];
            entries.clear();
            entries.extend(self.penalty.blocks().block(b).iter().map(|&j| self.correlations[j] / curvature));
            self.penalty.prox_block(b, &mut entries, curvature.recip());
            let squared_length: f64 = entries.iter().map(|value| value * value).sum();
            if squared_length > 0.0 {
                found.push((curvature * squared_length, b));
            }
        }
        order::largest_first(&mut found);
        found.truncate(most);
        found.into_iter().map(|(_, b)| b).collect()
    }

    /// Computes the correlations from their definition: updates accumulate rounding errors.
    pub(crate) fn refresh(&mut self) {
        self.problem.correlations(&self.w, &mut self.correlations);
    }

    /// `−cᵀw + ½ wᵀGw + Ω(w)` from the current correlations.
    pub(crate) fn objective(&self) -> f64 {
        objective(self.problem, self.penalty, &self.w, &self.correlations)
    }
}

/// `½ wᵀGw − cᵀw + Ω(w)`, given `correlations = c − Gw`.
pub(crate) fn objective(
    problem: &Quadratic,
    penalty: &dyn BlockPenalty,
    w: &[f64],
    correlations: &[f64],
) -> f64 {
    let c = fewest_solver::InnerProducts::target_products(problem);
    let linear: f64 = w.iter().zip(c).zip(correlations).map(|((w, c), q)| w * (c + q)).sum();
    penalty.value(w) - 0.5 * linear
}
