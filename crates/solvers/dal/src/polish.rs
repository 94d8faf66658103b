//! A Newton step on the coefficients themselves.
//!
//! `w = prox(w + ηAᵀα)` inherits `η` times the rounding error of `Aᵀα`. Once the active set is right, one
//! Newton step on `w ↦ w − prox(w + τAᵀα(w))` with a short step `τ` removes that error: for the l1 penalty
//! it is least squares on the support.

use fewest_core::order;
use fewest_solver::BlockPenalty;

use crate::active::{Active, semidefinite_root};
use crate::cholesky::PivotedCholesky;
use crate::newton::LARGEST_FACTORISED;

/// Share of its squared length by which an atom must leave the span of the others to move.
const INDEPENDENT: f64 = 1e-15;

/// The coefficients after one step from `w`, whose negative gradient is `correlations`.
///
/// With `u = w + τv`, `F = w − prox(u)` and the prox's Jacobian `J` at `u`, solves
/// `(I − J + τJH) dw = −F`. `hessian(rows, columns)` gives entries of `H`, column after column. `None`
/// when the active set is too large or `J` is singular on it.
pub(crate) fn newton_step(
    penalty: &dyn BlockPenalty,
    w: &[f64],
    correlations: &[f64],
    tau: f64,
    hessian: impl FnOnce(&[usize], &[usize]) -> Vec<f64>,
) -> Option<Vec<f64>> {
    let shifted: Vec<f64> = w.iter().zip(correlations).map(|(w, v)| w + tau * v).collect();
    let mut proximal = shifted.clone();
    penalty.prox(&mut proximal, tau);
    let active = Active::new(penalty, &shifted, &proximal, tau);
    let m = active.len();
    if m > LARGEST_FACTORISED {
        return None;
    }
    let mut inside = vec![false; w.len()];
    for &j in &active.coordinates {
        inside[j] = true;
    }
    // Where J vanishes, dw = −F takes the coefficient to its prox, which is zero.
    let leaving: Vec<usize> = (0..w.len()).filter(|&j| !inside[j] && w[j] != proximal[j]).collect();
    let all: Vec<usize> = active.coordinates.iter().chain(&leaving).copied().collect();
    let columns = hessian(&active.coordinates, &all);
    if columns.len() != m * all.len() {
        return None;
    }
    let (square, rest) = columns.split_at(m * m);

    // (J⁻¹ − I)/τ + H on the left, −J⁻¹F/τ − H dw(leaving) on the right.
    let mut matrix = square.to_vec();
    let mut right = vec![0.0; m];
    for (start, n, jacobian) in active.iter() {
        let inverse = inverse(jacobian, n)?;
        for j in 0..n {
            let c = active.coordinates[start + j];
            for i in 0..n {
                let identity = if i == j { 1.0 } else { 0.0 };
                matrix[start + i + (start + j) * m] += (inverse[i + j * n] - identity) / tau;
                right[start + i] += inverse[i + j * n] * (proximal[c] - w[c]) / tau;
            }
        }
    }
    for (&j, column) in leaving.iter().zip(rest.chunks_exact(m.max(1))) {
        for (value, h) in right.iter_mut().zip(column) {
            *value -= h * (proximal[j] - w[j]);
        }
    }
    // Of two copies of an atom only one moves: the one with the larger coefficient, which keeps its sign.
    let sizes: Vec<f64> = active.coordinates.iter().map(|&j| w[j].abs()).collect();
    let order = order::descending(&sizes);
    let step = PivotedCholesky::new(&matrix, &order, INDEPENDENT).solve(&right);
    let mut next = proximal;
    for (&j, d) in active.coordinates.iter().zip(&step) {
        next[j] = w[j] + d;
    }
    next.iter().all(|value| value.is_finite()).then_some(next)
}

/// The inverse of a positive definite `matrix`; `None` if it is singular to rounding.
fn inverse(matrix: &[f64], n: usize) -> Option<Vec<f64>> {
    let root = semidefinite_root(matrix, n);
    if (0..n).any(|k| root[k + k * n] <= 1e-7 * matrix[k + k * n].sqrt()) {
        return None;
    }
    let mut inverse = vec![0.0; n * n];
    for (j, x) in inverse.chunks_exact_mut(n.max(1)).enumerate() {
        x[j] = 1.0;
        for k in 0..n {
            let known: f64 = (0..k).map(|i| root[k + i * n] * x[i]).sum();
            x[k] = (x[k] - known) / root[k + k * n];
        }
        for k in (0..n).rev() {
            let known: f64 = (k + 1..n).map(|i| root[i + k * n] * x[i]).sum();
            x[k] = (x[k] - known) / root[k + k * n];
        }
    }
    Some(inverse)
}

/// The step `τ` for [`newton_step`]: at least `unit`, and such that both terms of `w + τv` have a similar
/// size.
pub(crate) fn step_length(unit: f64, w: &[f64], correlations: &[f64]) -> f64 {
    let largest = |values: &[f64]| values.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
    let balanced = largest(w) / largest(correlations);
    if balanced.is_finite() { unit.max(balanced) } else { unit }
}
