//! The inverse of a small matrix that changes by a row or a column at a time.

use fewest_linalg::{add_scaled, dot, lu};
use nalgebra::DMatrix;

/// The inverse of a `k × k` matrix `K`, dense; a change costs `O(k²)`.
#[derive(Debug, Clone, Default)]
pub(crate) struct Inverse {
    k: usize,
    /// Row after row of the inverse, `stride` numbers each: a row of it belongs to a column of `K`.
    values: Vec<f64>,
    stride: usize,
}

impl Inverse {
    /// The inverse of a matrix given column after column, `None` where it has none.
    pub(crate) fn of(matrix: &[f64], k: usize) -> Option<Self> {
        let inverse = lu(DMatrix::from_column_slice(k, k, matrix)).try_inverse()?;
        let finite = inverse.iter().all(|value| value.is_finite());
        finite.then(|| Self { k, values: inverse.transpose().as_slice().to_vec(), stride: k })
    }

    /// The row that belongs to column `at` of `K`.
    fn row(&self, at: usize) -> &[f64] {
        &self.values[at * self.stride..][..self.k]
    }

    fn row_mut(&mut self, at: usize) -> &mut [f64] {
        &mut self.values[at * self.stride..][..self.k]
    }

    /// `K⁻¹ a`.
    pub(crate) fn times(&self, a: &[f64]) -> Vec<f64> {
        (0..self.k).map(|at| dot(self.row(at), a)).collect()
    }

    /// `K⁻ᵀ b`.
    pub(crate) fn transposed_times(&self, b: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; self.k];
        for (at, b) in b.iter().enumerate().filter(|(_, b)| **b != 0.0) {
            add_scaled(&mut out, *b, self.row(at));
        }
        out
    }

    /// Column `at`: `K⁻¹` times a unit vector.
    pub(crate) fn column(&self, at: usize) -> Vec<f64> {
        (0..self.k).map(|row| self.values[row * self.stride + at]).collect()
    }

    /// Column `at` of `K` becomes `a`, where `u = K⁻¹ a`.
    pub(crate) fn replace_column(&mut self, at: usize, u: &[f64]) {
        let pivot = u[at];
        self.row_mut(at).iter_mut().for_each(|value| *value /= pivot);
        let own = self.row(at).to_vec();
        for (row, u) in u.iter().enumerate().filter(|(row, u)| *row != at && **u != 0.0) {
            add_scaled(self.row_mut(row), -u, &own);
        }
    }

    /// Row `at` of `K` becomes `b`, where `v = K⁻ᵀ b`.
    pub(crate) fn replace_row(&mut self, at: usize, v: &[f64]) {
        for row in 0..self.k {
            let own = self.row_mut(row);
            let share = own[at] / v[at];
            add_scaled(own, -share, v);
            own[at] = share;
        }
    }

    /// `K` gets one more row, `b`, and one more column, `a`, with `corner` where they meet;
    /// `u = K⁻¹ a`, `v = K⁻ᵀ b`.
    pub(crate) fn grow(&mut self, u: &[f64], v: &[f64], pivot: f64) {
        if self.k == self.stride {
            self.widen();
        }
        let old = self.k;
        self.k += 1;
        for (row, u) in u.iter().enumerate() {
            let own = self.row_mut(row);
            add_scaled(&mut own[..old], u / pivot, v);
            own[old] = -u / pivot;
        }
        let last = self.row_mut(old);
        last[..old].iter_mut().zip(v).for_each(|(value, v)| *value = -v / pivot);
        last[old] = pivot.recip();
    }

    /// Row `row` and column `column` leave `K`; the last row and the last column take their places.
    pub(crate) fn shrink(&mut self, row: usize, column: usize) {
        let last = self.k - 1;
        let own = self.row(column).to_vec();
        let pivot = own[row];
        for other in (0..self.k).filter(|&other| other != column) {
            let values = self.row_mut(other);
            let share = values[row] / pivot;
            add_scaled(values, -share, &own);
            values[row] = values[last];
        }
        if column != last {
            let moved = self.row(last).to_vec();
            self.row_mut(column).copy_from_slice(&moved);
        }
        self.k = last;
    }

    /// Makes room for twice as many rows and columns.
    fn widen(&mut self) {
        let stride = (2 * self.stride).max(8);
        let mut values = vec![0.0; stride * stride];
        for row in 0..self.k {
            values[row * stride..][..self.k].copy_from_slice(self.row(row));
        }
        (self.values, self.stride) = (values, stride);
    }
}
