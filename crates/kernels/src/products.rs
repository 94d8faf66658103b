//! The matrix products everything large goes through.

use nalgebra::{DMatrixView, DMatrixViewMut, Dyn};

use crate::lanes;

/// Fewer columns than this on either side: separate dot products, since the library's general product
/// does not use its fast kernel there.
const SMALL: usize = 6;

/// `out = leftᵀ right` with `m` rows on both sides, column after column; the shapes follow from the lengths.
pub(crate) fn transposed_product(left: &[f64], right: &[f64], m: usize, out: &mut [f64]) {
    let (a, b) = (left.len() / m.max(1), right.len() / m.max(1));
    if a < SMALL || b < SMALL || m < SMALL {
        for (column, y) in out.chunks_exact_mut(a.max(1)).zip(right.chunks_exact(m.max(1))) {
            for (value, x) in column.iter_mut().zip(left.chunks_exact(m.max(1))) {
                *value = lanes::dot(x, y);
            }
        }
        return;
    }
    // Swapped strides transpose the view without a copy; the plain product packs its operands anyway.
    let left = DMatrixView::from_slice_with_strides_generic(left, Dyn(a), Dyn(m), Dyn(m), Dyn(1));
    let right = DMatrixView::from_slice(right, m, b);
    DMatrixViewMut::from_slice(out, a, b).gemm(1.0, &left, &right, 0.0);
}
