//! The coefficients that a proximal operator does not set to zero, and its Jacobian there.

use fewest_solver::BlockPenalty;

/// The coordinates on which the Jacobian `J` of the prox does not vanish, block by block.
///
/// `J` is symmetric and positive semidefinite (the prox is the gradient of a convex function), and block
/// diagonal as the penalty is.
#[derive(Debug, Clone)]
pub(crate) struct Active {
    /// The coordinates, one block after another.
    pub coordinates: Vec<usize>,
    /// Where each block starts in `coordinates`, and its length.
    pub blocks: Vec<(usize, usize)>,
    /// The blocks of `J`, each column after column, one block after another.
    pub jacobian: Vec<f64>,
}

impl Active {
    /// For the prox with `step` at `point`, whose value is `coefficients`.
    pub(crate) fn new(penalty: &dyn BlockPenalty, point: &[f64], coefficients: &[f64], step: f64) -> Self {
        let mut active = Self { coordinates: Vec::new(), blocks: Vec::new(), jacobian: Vec::new() };
        let (mut entries, mut full) = (Vec::new(), Vec::new());
        for (b, block) in penalty.blocks().iter().enumerate() {
            if block.iter().all(|&j| coefficients[j] == 0.0) {
                continue;
            }
            let n = block.len();
            entries.clear();
            entries.extend(block.iter().map(|&j| point[j]));
            full.clear();
            full.resize(n * n, 0.0);
            penalty.prox_jacobian_block(b, &entries, step, &mut full);
            // A sign constraint may keep some coordinates of the block at zero.
            let kept: Vec<usize> = (0..n).filter(|&i| full[i + i * n] > 0.0).collect();
            if kept.is_empty() {
                continue;
            }
            active.blocks.push((active.coordinates.len(), kept.len()));
            active.coordinates.extend(kept.iter().map(|&i| block[i]));
            for &j in &kept {
                active.jacobian.extend(kept.iter().map(|&i| full[i + j * n]));
            }
        }
        active
    }

    /// Number of coordinates.
    pub(crate) fn len(&self) -> usize {
        self.coordinates.len()
    }

    /// Each block's first coordinate, its length, and its part of `J`.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, usize, &[f64])> {
        let mut offset = 0;
        self.blocks.iter().map(move |&(start, n)| {
            let block = &self.jacobian[offset..offset + n * n];
            offset += n * n;
            (start, n, block)
        })
    }
}

/// A lower triangular `L` with `LLᵀ` = `matrix` (`n × n`, positive semidefinite), column after column; a
/// direction without extent, to rounding, gets a zero column.
pub(crate) fn semidefinite_root(matrix: &[f64], n: usize) -> Vec<f64> {
    let mut root = matrix.to_vec();
    for k in 0..n {
        let pivot = root[k + k * n];
        let scale = if pivot > 1e-15 * matrix[k + k * n] { pivot.sqrt().recip() } else { 0.0 };
        root[k * n..k * n + k].fill(0.0);
        for i in k..n {
            root[i + k * n] *= scale;
        }
        for j in k + 1..n {
            let factor = root[j + k * n];
            for i in j..n {
                root[i + j * n] -= factor * root[i + k * n];
            }
        }
    }
    root
}
