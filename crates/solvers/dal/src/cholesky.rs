//! Cholesky factorisation with pivoting, which finds the rank.

/// `G = RᵀR` for a positive semidefinite `G`, `R` of `rank` rows.
///
/// Pivots are chosen by the share of `Gⱼⱼ` that is left, so scaling an atom changes nothing. The atoms left
/// out have at most the share `tolerance` of their squared length outside the span of the others.
#[derive(Debug, Clone)]
pub(crate) struct PivotedCholesky {
    n: usize,
    pivots: Vec<usize>,
    /// Row `k` of `R` at `k * n`.
    rows: Vec<f64>,
}

impl PivotedCholesky {
    /// Factorises `gram` (`n × n`, symmetric, `n` the length of `order`). Of atoms equally good as pivots the
    /// first in `order` is taken. Cost `n · rank²` multiplications.
    pub(crate) fn new(gram: &[f64], order: &[usize], tolerance: f64) -> Self {
        let n = order.len();
        let mut left: Vec<f64> = (0..n).map(|j| gram[j + j * n]).collect();
        let mut pivots = Vec::new();
        let mut rows: Vec<f64> = Vec::new();
        let mut taken = vec![false; n];
        loop {
            let share = |j: usize| left[j] / gram[j + j * n];
            let mut best: Option<usize> = None;
            let open = |j: &usize| !taken[*j] && gram[*j + *j * n] > 0.0 && share(*j) > tolerance;
            for j in order.iter().copied().filter(open) {
                if best.is_none_or(|b| share(j) > share(b)) {
                    best = Some(j);
                }
            }
            let Some(pivot) = best else { break };
            let mut row = gram[pivot * n..(pivot + 1) * n].to_vec();
            for earlier in rows.chunks_exact(n) {
                let factor = earlier[pivot];
                for (value, e) in row.iter_mut().zip(earlier) {
                    *value -= factor * e;
                }
            }
            let scale = left[pivot].sqrt().recip();
            for (j, value) in row.iter_mut().enumerate() {
                *value = if taken[j] { 0.0 } else { *value * scale };
                left[j] -= *value * *value;
            }
            taken[pivot] = true;
            pivots.push(pivot);
            rows.extend(row);
        }
        Self { n, pivots, rows }
    }

    /// The rank found.
    pub(crate) fn rank(&self) -> usize {
        self.pivots.len()
    }

    /// Row `k` of `R`.
    pub(crate) fn row(&self, k: usize) -> &[f64] {
        &self.rows[k * self.n..(k + 1) * self.n]
    }

    /// The `y` with `Rᵀy = c` on the pivots.
    pub(crate) fn solve_transposed(&self, c: &[f64]) -> Vec<f64> {
        let mut y: Vec<f64> = Vec::with_capacity(self.rank());
        for (k, &pivot) in self.pivots.iter().enumerate() {
            let known: f64 = y.iter().enumerate().map(|(i, y)| y * self.row(i)[pivot]).sum();
            y.push((c[pivot] - known) / self.row(k)[pivot]);
        }
        y
    }

    /// An `x` with `Gx = c` on the pivots, zero elsewhere.
    pub(crate) fn solve(&self, c: &[f64]) -> Vec<f64> {
        let mut y = self.solve_transposed(c);
        let mut x = vec![0.0; self.n];
        for k in (0..self.rank()).rev() {
            let pivot = self.pivots[k];
            y[k] /= self.row(k)[pivot];
            x[pivot] = y[k];
            for i in 0..k {
                y[i] -= self.row(i)[pivot] * x[pivot];
            }
        }
        x
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_rank_and_solves() {
        // Atoms (1,0,0), (1,1e-3,0), their sum, a copy of the first, zero, and one 10⁹ times smaller.
        let atoms: [[f64; 3]; 6] = [
            [1.0, 0.0, 0.0],
            [1.0, 1e-3, 0.0],
            [2.0, 1e-3, 0.0],
            [1.0, 0.0, 0.0],
            [0.0, 0.0, 0.0],
            [0.0, 0.0, 1e-9],
        ];
        let n = atoms.len();
        let dot = |a: &[f64; 3], b: &[f64; 3]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let gram: Vec<f64> = (0..n * n).map(|i| dot(&atoms[i % n], &atoms[i / n])).collect();
        let factor = PivotedCholesky::new(&gram, &[0, 1, 2, 3, 4, 5], 1e-14);
        assert_eq!(factor.rank(), 3);
        for i in 0..n {
            for j in 0..n {
                let product: f64 = (0..3).map(|k| factor.row(k)[i] * factor.row(k)[j]).sum();
                assert!((product - gram[i + j * n]).abs() <= 1e-15 * 4.0);
            }
        }
        let target = [0.3, -0.2, 0.7];
        let c: Vec<f64> = atoms.iter().map(|a| dot(a, &target)).collect();
        let y = factor.solve_transposed(&c);
        let squared: f64 = y.iter().map(|y| y * y).sum();
        assert!((squared - dot(&target, &target)).abs() < 1e-9, "the span is everything");
        let x = factor.solve(&c);
        for i in 0..n {
            let product: f64 = (0..n).map(|j| gram[i + j * n] * x[j]).sum();
            assert!((product - c[i]).abs() < 1e-12);
        }
        assert_eq!(x.iter().filter(|x| **x != 0.0).count(), 3);
        // Of the two copies the first in order is used.
        assert!(x[0] != 0.0 && x[3] == 0.0);
        let x = PivotedCholesky::new(&gram, &[5, 4, 3, 2, 1, 0], 1e-14).solve(&c);
        assert!(x[0] == 0.0 && x[3] != 0.0);
    }

    #[test]
    fn nothing_and_zero_have_rank_zero() {
        assert_eq!(PivotedCholesky::new(&[], &[], 1e-14).solve(&[]), Vec::<f64>::new());
        assert_eq!(PivotedCholesky::new(&[0.0; 4], &[0, 1], 1e-14).solve(&[1.0, 2.0]), vec![0.0; 2]);
    }
}
