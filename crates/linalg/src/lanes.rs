//! Sums and updates of slices in a fixed order that vectorises: partial sums in lanes, added in lane order.

use crate::{dispatched, multiply_add};

/// Partial sums kept at once: enough to hide the latency of additions on four-wide registers.
pub const LANES: usize = 16;

/// The sum of the lanes, halves onto each other.
#[inline(always)]
pub fn fold(lanes: [f64; LANES]) -> f64 {
    let mut lanes = lanes;
    let mut width = LANES / 2;
    while width > 0 {
        for k in 0..width {
            lanes[k] += lanes[k + width];
        }
        width /= 2;
    }
    lanes[0]
}

dispatched! {
    /// `aᵀb`, of slices of the same length.
    pub fn dot(a: &[f64], b: &[f64]) -> f64 = dot_body
}

#[inline(always)]
/// The body of [`dot`], to be used in other such bodies.
pub(crate) fn dot_body<const FMA: bool>(a: &[f64], b: &[f64]) -> f64 {
    let mut lanes = [0.0; LANES];
    let (chunks_a, chunks_b) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let tail = chunks_a.remainder().iter().zip(chunks_b.remainder());
    for (x, y) in tail {
        lanes[0] = multiply_add::<FMA>(*x, *y, lanes[0]);
    }
    for (x, y) in chunks_a.zip(chunks_b) {
        for k in 0..LANES {
            lanes[k] = multiply_add::<FMA>(x[k], y[k], lanes[k]);
        }
    }
    fold(lanes)
}

dispatched! {
    /// `Σ_i values[i]`.
    pub fn sum(values: &[f64]) -> f64 = sum_body
}

#[inline(always)]
/// The body of [`sum`], to be used in other such bodies.
pub fn sum_body<const FMA: bool>(values: &[f64]) -> f64 {
    let mut lanes = [0.0; LANES];
    let chunks = values.chunks_exact(LANES);
    for value in chunks.remainder() {
        lanes[0] += value;
    }
    for chunk in chunks {
        for k in 0..LANES {
            lanes[k] += chunk[k];
        }
    }
    fold(lanes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_and_bodies_agree_with_plain_loops() {
        for n in [0, 1, 5, 16, 33, 100] {
            let a: Vec<f64> = (0..n).map(|i| (i as f64 * 0.7).sin()).collect();
            let b: Vec<f64> = (0..n).map(|i| (i as f64 * 1.1).cos()).collect();
            let product: f64 = a.iter().zip(&b).map(|(x, y)| x * y).sum();
            for found in [dot(&a, &b), dot_body::<false>(&a, &b)] {
                assert!((found - product).abs() < 1e-13);
            }
            let total: f64 = a.iter().sum();
            for found in [sum(&a), sum_body::<false>(&a)] {
                assert!((found - total).abs() < 1e-13);
            }
        }
    }
}
