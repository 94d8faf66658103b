//! Problems, and a certificate that is computed from the definition by other code than the solver's.

use fewest_core::derive_seed;
use fewest_solver::loss::Loss;
use fewest_solver::{BlockPenalty, DenseOperator, Error};

/// Uniform numbers between −1 and 1.
pub(crate) fn noise(n: usize, seed: u64) -> Vec<f64> {
    (0..n as u64).map(|i| 2.0 * (derive_seed(seed, i) as f64 / u64::MAX as f64) - 1.0).collect()
}

/// A table of `n × d` columns, and what some of them add up to.
pub(crate) struct Table {
    pub(crate) n: usize,
    pub(crate) columns: Vec<Vec<f64>>,
    pub(crate) signal: Vec<f64>,
}

impl Table {
    pub(crate) fn new(n: usize, d: usize, seed: u64) -> Self {
        let mut columns: Vec<Vec<f64>> = (0..d as u64).map(|j| noise(n, 1000 * seed + j)).collect();
        if d > 4 {
            // A copy, an opposite, and a constant.
            columns[d - 1] = columns[0].clone();
            columns[d - 2] = columns[1].iter().map(|x| -x).collect();
            columns[d - 3] = vec![0.0; n];
        }
        let error = noise(n, 77 + seed);
        let signal =
            (0..n).map(|i| 2.0 * columns[0][i] - 1.5 * columns[1][i] + 0.7 * error[i] + 0.2).collect();
        Self { n, columns, signal }
    }

    pub(crate) fn operator(&self) -> Result<DenseOperator, Error> {
        DenseOperator::new(self.columns.concat(), self.n, self.columns.len())
    }

    pub(crate) fn labels(&self) -> Vec<f64> {
        self.signal.iter().map(|s| if *s > 0.0 { 1.0 } else { -1.0 }).collect()
    }

    pub(crate) fn classes(&self) -> Vec<usize> {
        self.signal.iter().map(|s| usize::from(*s > -0.5) + usize::from(*s > 0.8)).collect()
    }

    pub(crate) fn counts(&self) -> Vec<f64> {
        self.signal.iter().map(|s| (1.5 * s).exp().floor()).collect()
    }
}

/// Objective and absolute duality gap of coefficients and intercepts, from the definition: with the dual
/// point `s tΘ`, where `Θ` is balanced by `balance` and `t` is the largest feasible scale.
pub(crate) fn certificate(
    table: &Table,
    loss: &dyn Loss,
    penalty: &dyn BlockPenalty,
    w: &[f64],
    b: &[f64],
    intercept: bool,
) -> (f64, f64) {
    let (n, c) = (table.n, loss.n_outputs());
    let mut fitted = vec![0.0; n * c];
    for k in 0..c {
        for i in 0..n {
            let sum: f64 = table.columns.iter().enumerate().map(|(j, x)| w[j * c + k] * x[i]).sum();
            fitted[i + k * n] = b[k] + sum;
        }
    }
    let mut dual = vec![0.0; n * c];
    loss.dual_point(&fitted, &mut dual);
    if intercept {
        loss.balance(&mut dual);
        for output in dual.chunks_exact(n) {
            let size: f64 = output.iter().map(|value| value.abs()).sum();
            assert!(output.iter().sum::<f64>().abs() <= 1e-12 * size, "the dual point of an intercept");
        }
    } else {
        assert!(b.iter().all(|b| *b == 0.0));
    }
    let mut v = vec![0.0; w.len()];
    for (j, x) in table.columns.iter().enumerate() {
        for k in 0..c {
            v[j * c + k] = x.iter().zip(&dual[k * n..]).map(|(x, a)| x * a).sum();
        }
    }
    let t = penalty.dual_scale(&v);
    let scaled: Vec<f64> = v.iter().map(|v| t * v).collect();
    assert!(penalty.conjugate(&scaled).is_finite());
    let product: f64 = w.iter().zip(&scaled).map(|(w, v)| w * v).sum();
    let value = penalty.value(w);
    let gap = loss.loss_gap(&fitted, &dual, t) + value + penalty.conjugate(&scaled) - product;
    (loss.value(&fitted) + value, gap)
}
