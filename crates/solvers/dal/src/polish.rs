//! A Newton step on the coefficients themselves.
//!
//! `w = prox(w + ηAᵀα)` inherits `η` times the rounding error of `Aᵀα`. Once the active set is right, one
//! Newton step on `w ↦ w − prox(w + τAᵀα(w))` with a short step `τ` removes that error: for the l1 penalty
//! it is least squares on the support.

use fewest_core::order;
use fewest_solver::BlockPenalty;
use nalgebra::{DMatrix, DVector};

use crate::active::{Active, semidefinite_root};
use crate::cholesky::PivotedCholesky;
use crate::newton::LARGEST_FACTORISED;

/// Share of its squared length by which an atom must leave the span of the others to move.
const INDEPENDENT: f64 = 1e-15;

/// The coefficients after one step from `w`, whose negative gradient is `correlations`.
///
/// With `u = w + τv`, `F = w − prox(u)` and the prox's Jacobian `J = LLᵀ` at `u`, solves
/// `(I − J + τJH) dw = −F`: `dw = −F + Ly` with
///
/// ```text
/// (I − LᵀL + τ LᵀHL) y = −Lᵀ (I − τH) F
/// ```
///
/// which has as many unknowns as `J` has rank. `hessian(rows, columns)` gives entries of `H`, column after
/// column. `None` when the active set is too large.
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
    let entries = hessian(&active.coordinates, &all);
    if entries.len() != m * all.len() {
        return None;
    }
    let hessian = DMatrix::from_vec(m, all.len(), entries);
    let residual = DVector::from_iterator(all.len(), all.iter().map(|&j| w[j] - proximal[j]));
    let (root, leading) = root(&active);

    let mut matrix = root.tr_mul(&hessian.columns(0, m)) * &root * tau - root.tr_mul(&root);
    for i in 0..matrix.nrows() {
        matrix[(i, i)] += 1.0;
    }
    let right = root.tr_mul(&(hessian * &residual * tau - residual.rows(0, m)));
    // Of two copies of an atom only one moves: the one with the larger coefficient, which keeps its sign.
    let sizes: Vec<f64> = leading.iter().map(|&i| w[active.coordinates[i]].abs()).collect();
    let order = order::descending(&sizes);
    let step = PivotedCholesky::new(matrix.as_slice(), &order, INDEPENDENT).solve(right.as_slice());
    let moved = root * DVector::from_vec(step);
    let mut next = proximal;
    for (&j, d) in active.coordinates.iter().zip(&moved) {
        next[j] += d;
    }
    next.iter().all(|value| value.is_finite()).then_some(next)
}

/// `L` with `LLᵀ = J` and as many columns as `J` has rank, and the first row of each column that is not zero.
fn root(active: &Active) -> (DMatrix<f64>, Vec<usize>) {
    let mut columns: Vec<DVector<f64>> = Vec::new();
    let mut leading = Vec::new();
    for (start, n, jacobian) in active.iter() {
        let block = semidefinite_root(jacobian, n);
        for k in (0..n).filter(|&k| block[k + k * n] > 0.0) {
            let mut column = DVector::zeros(active.len());
            column.rows_mut(start + k, n - k).copy_from_slice(&block[k + k * n..(k + 1) * n]);
            columns.push(column);
            leading.push(start + k);
        }
    }
    if columns.is_empty() {
        return (DMatrix::zeros(active.len(), 0), leading);
    }
    (DMatrix::from_columns(&columns), leading)
}

/// The step `τ` for [`newton_step`]: at least `unit`, and such that both terms of `w + τv` have a similar
/// size.
pub(crate) fn step_length(unit: f64, w: &[f64], correlations: &[f64]) -> f64 {
    let largest = |values: &[f64]| values.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
    let balanced = largest(w) / largest(correlations);
    if balanced.is_finite() { unit.max(balanced) } else { unit }
}
