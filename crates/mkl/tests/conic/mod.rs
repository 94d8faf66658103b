//! Eq. (8) and (20) as second-order cone problems, for a solver that shares nothing with ours.

use clarabel::algebra::CscMatrix;
use clarabel::solver::SupportedConeT::{NonnegativeConeT, SecondOrderConeT, ZeroConeT};
use clarabel::solver::{DefaultSettings, DefaultSolver, IPSolver, SupportedConeT};

/// What is compared.
pub(super) struct Solution {
    pub objective: f64,
    pub lambda: f64,
}

/// Eq. (8) for labels ±1.
pub(super) fn nmmkl(
    columns: &[Vec<f64>],
    labels: &[f64],
    cost: f64,
    ridge: f64,
    m: usize,
    tolerance: f64,
) -> Solution {
    let linear = vec![-2.0; labels.len()];
    solve(columns, labels, &linear, cost, ridge, m, tolerance)
}

/// Eq. (20) without a ridge: `α` and `α*`.
pub(super) fn nmmklr(
    columns: &[Vec<f64>],
    y: &[f64],
    cost: f64,
    epsilon: f64,
    m: usize,
    tolerance: f64,
) -> Solution {
    let n = y.len();
    let signs: Vec<f64> = (0..2 * n).map(|i| if i < n { 1.0 } else { -1.0 }).collect();
    let linear: Vec<f64> = (0..2 * n).map(|i| -2.0 * (signs[i] * y[i % n] - epsilon)).collect();
    solve(columns, &signs, &linear, cost, 0.0, m, tolerance)
}

/// Variables: `a` (signed by `signs`, sample `i mod n`), `λ`, `γ`.
fn solve(
    columns: &[Vec<f64>],
    signs: &[f64],
    linear: &[f64],
    cost: f64,
    ridge: f64,
    m: usize,
    tolerance: f64,
) -> Solution {
    let (h, d, n) = (signs.len(), columns.len(), columns[0].len());
    let size = h + 1 + d;
    let (rows, cols) = ((0..h).collect::<Vec<_>>(), (0..h).collect::<Vec<_>>());
    let p = CscMatrix::new_from_triplets(size, size, rows, cols, vec![2.0 * ridge; h]);
    let mut q = linear.to_vec();
    q.push(m as f64);
    q.extend(vec![1.0; d]);
    let (mut i, mut j, mut v, mut b) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut cones: Vec<SupportedConeT<f64>> = vec![ZeroConeT(1), NonnegativeConeT(2 * h + d)];
    let mut put = |row: usize, column: usize, value: f64| {
        i.push(row);
        j.push(column);
        v.push(value);
    };
    (0..h).for_each(|a| put(0, a, signs[a]));
    b.push(0.0);
    for a in 0..h {
        put(1 + a, a, -1.0);
        b.push(0.0);
    }
    for a in 0..h {
        put(1 + h + a, a, 1.0);
        b.push(cost);
    }
    for k in 0..d {
        put(1 + 2 * h + k, h + 1 + k, -1.0);
        b.push(0.0);
    }
    // (w + 1, w − 1, 2 xᵀβ) in the cone says (xᵀβ)² ≤ w, with w = λ + γ.
    for (k, column) in columns.iter().enumerate() {
        let row = 1 + 2 * h + d + 3 * k;
        for (shift, constant) in [(0, 1.0), (1, -1.0)] {
            put(row + shift, h, -1.0);
            put(row + shift, h + 1 + k, -1.0);
            b.push(constant);
        }
        (0..h).for_each(|a| put(row + 2, a, -2.0 * signs[a] * column[a % n]));
        b.push(0.0);
        cones.push(SecondOrderConeT(3));
    }
    let a = CscMatrix::new_from_triplets(b.len(), size, i, j, v);
    let settings = DefaultSettings::<f64> {
        verbose: false,
        tol_gap_abs: tolerance,
        tol_gap_rel: tolerance,
        tol_feas: tolerance,
        ..DefaultSettings::default()
    };
    let mut solver = DefaultSolver::new(&p, &q, &a, &b, &cones, settings).unwrap();
    solver.solve();
    Solution { objective: -solver.solution.obj_val, lambda: solver.solution.x[h] }
}
