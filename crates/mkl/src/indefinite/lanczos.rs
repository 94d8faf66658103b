//! The ends of the spectrum of a kernel matrix.

use fewest_core::derive_seed;
use nalgebra::DMatrix;

use super::matrix::KernelMatrix;
use fewest_linalg::{add_scaled, dot};

/// Steps of the Lanczos iteration at most.
const LANCZOS_STEPS: usize = 80;

impl KernelMatrix {
    /// Estimates of the smallest and the largest eigenvalue, by the Lanczos iteration with full
    /// orthogonalisation from a fixed start; NaN where numbers overflow.
    pub(super) fn lanczos(&self) -> (f64, f64) {
        let n = self.n();
        let start = |i: usize| derive_seed(0, i as u64) as f64 / u64::MAX as f64 - 0.5;
        let mut v: Vec<f64> = (0..n).map(start).collect();
        let mut basis: Vec<Vec<f64>> = Vec::new();
        let (mut diagonal, mut off_diagonal): (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
        let mut found = (0.0_f64, 0.0_f64);
        let mut scale = dot(&v, &v).sqrt();
        for step in 1..=LANCZOS_STEPS.min(n) {
            if scale == 0.0 {
                break;
            }
            v.iter_mut().for_each(|value| *value /= scale);
            let mut next = self.apply(&v);
            diagonal.push(dot(&v, &next));
            basis.push(v);
            for _ in 0..2 {
                for column in &basis {
                    let weight = dot(column, &next);
                    add_scaled(&mut next, -weight, column);
                }
            }
            scale = dot(&next, &next).sqrt();
            let largest = diagonal.iter().chain(&off_diagonal).fold(0.0, |most: f64, d| most.max(d.abs()));
            // What is left has no part in the eigenvectors that the start has.
            let is_complete = scale <= 1e-12 * largest;
            if is_complete || step % 5 == 0 || step == n || step == LANCZOS_STEPS {
                let tridiagonal = DMatrix::from_fn(step, step, |i, j| match i.abs_diff(j) {
                    0 => diagonal[i],
                    1 => off_diagonal[i.min(j)],
                    _ => 0.0,
                });
                let Some(values) = fewest_linalg::symmetric_eigenvalues(tridiagonal) else {
                    return (f64::NAN, f64::NAN);
                };
                let now = (values.min(), values.max());
                let settled = (now.0 - found.0).abs().max((now.1 - found.1).abs()) <= 1e-10 * values.amax();
                found = now;
                if settled || is_complete {
                    break;
                }
            }
            off_diagonal.push(scale);
            v = next;
        }
        found
    }
}
