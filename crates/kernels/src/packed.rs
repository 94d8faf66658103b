//! Centred Gram matrices as plain vectors, to compare thousands of small ones.

use fewest_linalg::{dispatched, lanes};

use crate::ScalarKernel;

/// Length of a packed symmetric `n x n` matrix, `n(n+1)/2`.
pub fn packed_len(n: usize) -> usize {
    n * (n + 1) / 2
}

/// Writes the centred Gram matrix `H K H` of `points`, packed: the pairs `(i, j)` for `j = 0..n, i = 0..=j`,
/// those off the diagonal times `sqrt(2)`.
///
/// The plain dot product of two such vectors is the Frobenius inner product of the matrices: with
/// [`dot_products`](fewest_linalg::dot_products) all of a feature set's HSIC values are one matrix product.
/// `scratch` is a buffer that can be reused; its content is ignored. `O(n²)`, with `n(n+1)/2` kernel
/// evaluations.
///
/// # Panics
/// Unless `out.len() == packed_len(points.len())`.
///
/// ```
/// use fewest_kernels::{Gaussian, Gram, centred_packed, packed_len};
/// let (kernel, points) = (Gaussian::new(1.0)?, [0.0, 0.5, 2.0, -1.0]);
/// let mut packed = vec![0.0; packed_len(4)];
/// centred_packed(&kernel, &points, &mut Vec::new(), &mut packed);
/// let squared_norm: f64 = packed.iter().map(|value| value * value).sum();
/// assert!((squared_norm.sqrt() - Gram::new(&kernel, &points).centre().frobenius_norm()).abs() < 1e-14);
/// # Ok::<(), fewest_core::Error>(())
/// ```
pub fn centred_packed(kernel: &dyn ScalarKernel, points: &[f64], scratch: &mut Vec<f64>, out: &mut [f64]) {
    assert_eq!(out.len(), packed_len(points.len()), "length of the packed Gram matrix");
    kernel.upper_triangle(points, out);
    scratch.clear();
    scratch.resize(points.len(), 0.0);
    centre_triangle(out, scratch);
}

dispatched! {
    /// Centres a packed upper triangle whose entries off the diagonal are not yet scaled, and scales them.
    /// `means` has length n and holds zeros.
    fn centre_triangle(triangle: &mut [f64], means: &mut [f64]) = centre_triangle_body
}

#[inline(always)]
fn centre_triangle_body<const FMA: bool>(triangle: &mut [f64], means: &mut [f64]) {
    let n = means.len();
    // Shifted by one of its entries first, so that a constant matrix becomes exactly zero.
    let first = triangle.first().copied().unwrap_or(0.0);
    let mut rest = &mut *triangle;
    for j in 0..n {
        let Some((column, after)) = rest.split_at_mut_checked(j + 1) else { break };
        let (above, diagonal) = column.split_at_mut(j);
        for (sum, value) in means.iter_mut().zip(above.iter_mut()) {
            *value -= first;
            *sum += *value;
        }
        diagonal[0] -= first;
        means[j] += lanes::sum_body::<FMA>(above) + diagonal[0];
        rest = after;
    }
    let count = n.max(1) as f64;
    for mean in means.iter_mut() {
        *mean /= count;
    }
    let mean = lanes::sum_body::<FMA>(means) / count;
    let mut rest = triangle;
    for j in 0..n {
        let Some((column, after)) = rest.split_at_mut_checked(j + 1) else { break };
        let column_mean = means[j] - mean;
        let (above, diagonal) = column.split_at_mut(j);
        for (value, &row_mean) in above.iter_mut().zip(means.iter()) {
            *value = (*value - row_mean - column_mean) * std::f64::consts::SQRT_2;
        }
        diagonal[0] -= means[j] + column_mean;
        rest = after;
    }
}
