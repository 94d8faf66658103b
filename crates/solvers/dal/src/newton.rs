//! The Newton system of the inner problem.

use fewest_linalg::{add_scaled, dot};
use fewest_solver::LinearOperator;
use nalgebra::{DMatrix, DVector};

use crate::active::{Active, semidefinite_root};
use crate::columns::{Columns, norm};

/// The largest system that is factorised: its matrix takes 32 MiB, its factorisation a few seconds at most.
/// Above, conjugate gradients.
pub(crate) const LARGEST_FACTORISED: usize = 2000;

/// Conjugate gradient steps allowed for one direction.
const MOST_CONJUGATE_GRADIENT_STEPS: usize = 1000;

/// Whether a system with this many rows and active coefficients is factorised.
pub(crate) fn is_factorised(n_rows: usize, n_active: usize) -> bool {
    n_rows.min(n_active) <= LARGEST_FACTORISED && Columns::fit(n_rows, n_active)
}

/// Solves `(D + η A₊ J A₊ᵀ) d = −g` with the diagonal `D = diag(curvature)`.
///
/// With `B = D^{-1/2} A₊ L`, `LLᵀ = J`, and `m` active coefficients: by the Woodbury identity a Cholesky
/// factorisation of `I + ηBᵀB` (`m × m`) when `m` is less than the number of rows, of `I + ηBBᵀ`
/// otherwise, and conjugate gradients preconditioned with `D` when both are large. `None` when the matrix
/// is not numerically positive definite. `accuracy` is the target of conjugate gradients.
pub(crate) fn direction<A: LinearOperator>(
    operator: &A,
    columns: &mut Columns,
    active: &Active,
    curvature: &[f64],
    gradient: &[f64],
    eta: f64,
    accuracy: f64,
) -> Option<Vec<f64>> {
    let scale: Vec<f64> = curvature.iter().map(|d| d.sqrt().recip()).collect();
    let scaled: Vec<f64> = gradient.iter().zip(&scale).map(|(g, s)| g * s).collect();
    let n_rows = gradient.len();
    let solution = if active.len() == 0 {
        scaled
    } else if is_factorised(n_rows, active.len()) {
        columns.load(operator, &active.coordinates);
        factorised(&scaled_columns(columns, active, &scale), scaled, eta)?
    } else {
        conjugate_gradients(operator, active, &scale, &scaled, eta, accuracy)
    };
    let direction: Vec<f64> = solution.iter().zip(&scale).map(|(x, s)| -x * s).collect();
    direction.iter().all(|d| d.is_finite()).then_some(direction)
}

/// `B = D^{-1/2} A₊ L`.
fn scaled_columns(columns: &Columns, active: &Active, scale: &[f64]) -> DMatrix<f64> {
    let n_rows = scale.len();
    let mut matrix = DMatrix::zeros(n_rows, active.len());
    for (start, n, jacobian) in active.iter() {
        let root = semidefinite_root(jacobian, n);
        for j in 0..n {
            let mut out = matrix.column_mut(start + j);
            let out = out.as_mut_slice();
            for i in j..n {
                add_scaled(out, root[i + j * n], columns.column(active.coordinates[start + i]));
            }
            for (value, s) in out.iter_mut().zip(scale) {
                *value *= s;
            }
        }
    }
    matrix
}

/// `(I + ηBBᵀ)⁻¹ g`, by the smaller side of `B`.
fn factorised(b: &DMatrix<f64>, g: Vec<f64>, eta: f64) -> Option<Vec<f64>> {
    let g = DVector::from_vec(g);
    // An explicit transpose: products with an implicit one are several times slower.
    let transpose = b.transpose();
    let wide = b.ncols() > b.nrows();
    let mut matrix = if wide { b * &transpose } else { &transpose * b };
    matrix *= eta;
    for i in 0..matrix.nrows() {
        matrix[(i, i)] += 1.0;
    }
    let cholesky = matrix.cholesky()?;
    let solution =
        if wide { cholesky.solve(&g) } else { &g - b * (cholesky.solve(&(&transpose * &g)) * eta) };
    Some(solution.as_slice().to_vec())
}

/// `(I + η D^{-1/2} A J Aᵀ D^{-1/2})⁻¹ g` to a relative residual of `accuracy`, two passes per step.
fn conjugate_gradients<A: LinearOperator>(
    operator: &A,
    active: &Active,
    scale: &[f64],
    g: &[f64],
    eta: f64,
    accuracy: f64,
) -> Vec<f64> {
    let n_rows = g.len();
    let mut correlations = vec![0.0; operator.n_columns()];
    let mut spread = vec![0.0; operator.n_columns()];
    let mut scaled = vec![0.0; n_rows];
    let mut product = vec![0.0; n_rows];
    let mut x = vec![0.0; n_rows];
    let mut residual = g.to_vec();
    let mut step = residual.clone();
    let mut squared = dot(&residual, &residual);
    let goal = accuracy * norm(g);
    for _ in 0..MOST_CONJUGATE_GRADIENT_STEPS {
        if squared.sqrt() <= goal {
            break;
        }
        for ((out, value), s) in scaled.iter_mut().zip(&step).zip(scale) {
            *out = value * s;
        }
        operator.apply_transpose(&scaled, &mut correlations);
        for (start, n, jacobian) in active.iter() {
            let coordinates = &active.coordinates[start..start + n];
            for (i, &row) in coordinates.iter().enumerate() {
                spread[row] =
                    coordinates.iter().enumerate().map(|(j, &c)| jacobian[i + j * n] * correlations[c]).sum();
            }
        }
        operator.apply(&spread, &mut product);
        for ((out, value), s) in product.iter_mut().zip(&step).zip(scale) {
            *out = value + eta * *out * s;
        }
        let length = squared / dot(&step, &product);
        if !length.is_finite() {
            break;
        }
        add_scaled(&mut x, length, &step);
        add_scaled(&mut residual, -length, &product);
        let next = dot(&residual, &residual);
        let ratio = next / squared;
        squared = next;
        for (value, r) in step.iter_mut().zip(&residual) {
            *value = r + ratio * *value;
        }
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;
    use fewest_solver::{DenseOperator, Error, GroupLasso, Penalty};

    /// `(D + η A₊ J A₊ᵀ) d + g`, from the definition.
    fn residual(values: &[f64], n: usize, active: &Active, d: &[f64], g: &[f64], eta: f64, x: &[f64]) -> f64 {
        let column = |j: usize| &values[j * n..(j + 1) * n];
        let mut out: Vec<f64> = d.iter().zip(x).zip(g).map(|((d, x), g)| d * x + g).collect();
        for (start, size, jacobian) in active.iter() {
            let coordinates = &active.coordinates[start..start + size];
            for (i, &row) in coordinates.iter().enumerate() {
                for (j, &c) in coordinates.iter().enumerate() {
                    add_scaled(&mut out, eta * jacobian[i + j * size] * dot(column(c), x), column(row));
                }
            }
        }
        norm(&out) / norm(g)
    }

    #[test]
    fn every_way_solves_the_system() -> Result<(), Error> {
        for (n_rows, n_columns) in [(4, 9), (9, 4)] {
            let entry = |i: usize, scale: f64| (scale * (i as f64 + 1.0)).sin();
            let values: Vec<f64> = (0..n_rows * n_columns).map(|i| entry(i, 1.3)).collect();
            let operator = DenseOperator::new(values.clone(), n_rows, n_columns)?;
            let groups: Vec<usize> = (0..n_columns).map(|j| j / 3).collect();
            let penalty = GroupLasso::new(0.2, &groups)?;
            let point: Vec<f64> = (0..n_columns).map(|j| entry(j, 0.7)).collect();
            let mut coefficients = point.clone();
            penalty.prox(&mut coefficients, 1.5);
            let active = Active::new(&penalty, &point, &coefficients, 1.5);
            assert!(active.len() > n_rows.min(n_columns) / 2);
            let d: Vec<f64> = (0..n_rows).map(|i| 1.5 + entry(i, 0.9)).collect();
            let g: Vec<f64> = (0..n_rows).map(|i| entry(i, 2.1)).collect();
            let x = direction(&operator, &mut Columns::default(), &active, &d, &g, 2.5, 0.0);
            let x = x.unwrap_or_default();
            assert!(residual(&values, n_rows, &active, &d, &g, 2.5, &x) < 1e-13);

            let scale: Vec<f64> = d.iter().map(|d| d.sqrt().recip()).collect();
            let scaled: Vec<f64> = g.iter().zip(&scale).map(|(g, s)| g * s).collect();
            let y = conjugate_gradients(&operator, &active, &scale, &scaled, 2.5, 1e-12);
            let x: Vec<f64> = y.iter().zip(&scale).map(|(y, s)| -y * s).collect();
            assert!(residual(&values, n_rows, &active, &d, &g, 2.5, &x) < 1e-10);
        }
        Ok(())
    }

    #[test]
    fn the_smaller_side_decides() {
        assert!(is_factorised(10, 1_000_000) && is_factorised(1_000_000, 10));
        assert!(!is_factorised(2001, 2001));
        assert!(!is_factorised(100_000, 1999), "too many entries to hold");
    }
}
