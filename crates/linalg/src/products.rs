//! The matrix products everything large goes through.

use nalgebra::{DMatrixView, DMatrixViewMut, Dyn};

use crate::lanes;

/// Fewer columns than this on either side: separate dot products, since the library's general product
/// does not use its fast kernel there.
const SMALL: usize = 6;

/// `out = leftᵀ right` for `left` of `m x a` and `right` of `m x b`, all column after column: entry `(i, j)`
/// of the `a x b` result is the dot product of column `i` of `left` with column `j` of `right`.
///
/// Products of other widths may round a pair's value differently in the last digits: where results must not
/// depend on the number of threads, neither may the widths.
///
/// # Panics
/// Unless `left.len()` and `right.len()` are multiples `a m` and `b m` of `m` and `out.len() == a b`.
///
/// ```
/// let (left, right) = ([1.0, 2.0, 3.0, 4.0], [1.0, 1.0]);
/// let mut out = [0.0; 2];
/// fewest_linalg::dot_products(&left, &right, 2, &mut out);
/// assert_eq!(out, [3.0, 7.0]);
/// ```
pub fn dot_products(left: &[f64], right: &[f64], m: usize, out: &mut [f64]) {
    assert!(left.len().is_multiple_of(m) && right.len().is_multiple_of(m), "whole columns of length m");
    let (a, b) = (left.len() / m.max(1), right.len() / m.max(1));
    assert_eq!(out.len(), a * b, "one result for each pair of columns");
    if a < SMALL || b < SMALL || m < SMALL {
        // Every column of the wider side is read once.
        let mut pair = |i: usize, j: usize| {
            out[i + j * a] = lanes::dot(&left[i * m..(i + 1) * m], &right[j * m..(j + 1) * m]);
        };
        if a < b || b >= SMALL {
            (0..b).for_each(|j| (0..a).for_each(|i| pair(i, j)));
        } else {
            (0..a).for_each(|i| (0..b).for_each(|j| pair(i, j)));
        }
        return;
    }
    // Swapped strides transpose the view without a copy; the plain product packs its operands anyway.
    let left = DMatrixView::from_slice_with_strides_generic(left, Dyn(a), Dyn(m), Dyn(m), Dyn(1));
    let right = DMatrixView::from_slice(right, m, b);
    DMatrixViewMut::from_slice(out, a, b).gemm(1.0, &left, &right, 0.0);
}
