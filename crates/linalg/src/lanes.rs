//! Sums and updates of slices in a fixed order that vectorises: partial sums in lanes, added in lane order.

use crate::{dispatched, multiply_add};

/// Partial sums kept at once: enough to hide the latency of additions on four-wide registers.
pub const LANES: usize = 16;

/// The sum of the lanes, a power of two of them, halves onto each other.
#[inline(always)]
pub fn fold<const N: usize>(mut lanes: [f64; N]) -> f64 {
    let mut width = N / 2;
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
pub fn dot_body<const FMA: bool>(a: &[f64], b: &[f64]) -> f64 {
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
    /// `out[k] = aᵀbₖ` for the slices `bₖ` of the length of `a` that `b` has one after the other: the bits of
    /// [`dot`], in less time, since `a` is read once for several and their additions wait on each other less.
    ///
    /// # Panics
    /// Where `b` has fewer values.
    pub fn dots(a: &[f64], b: &[f64], out: &mut [f64]) = dots_body
}

/// Products computed at a time by [`dots`]: their lanes fill the registers.
const TOGETHER: usize = 4;

#[inline(always)]
fn dots_body<const FMA: bool>(a: &[f64], b: &[f64], out: &mut [f64]) {
    let n = a.len();
    let (groups, rest) = out.as_chunks_mut::<TOGETHER>();
    let done = groups.len() * TOGETHER;
    for (at, out) in groups.iter_mut().enumerate() {
        *out = dots_of::<FMA, TOGETHER>(a, &b[at * TOGETHER * n..(at + 1) * TOGETHER * n]);
    }
    let b = &b[done * n..];
    let (pairs, single) = rest.as_chunks_mut::<2>();
    for (at, out) in pairs.iter_mut().enumerate() {
        *out = dots_of::<FMA, 2>(a, &b[at * 2 * n..(at + 1) * 2 * n]);
    }
    let b = &b[pairs.len() * 2 * n..];
    for out in single {
        *out = dot_body::<FMA>(a, &b[..n]);
    }
}

#[inline(always)]
fn dots_of<const FMA: bool, const K: usize>(a: &[f64], b: &[f64]) -> [f64; K] {
    let (chunks, tail) = a.as_chunks::<LANES>();
    let b: [(&[[f64; LANES]], &[f64]); K] =
        std::array::from_fn(|k| b[k * a.len()..(k + 1) * a.len()].as_chunks::<LANES>());
    let mut lanes = [[0.0; LANES]; K];
    for k in 0..K {
        for (x, y) in tail.iter().zip(b[k].1) {
            lanes[k][0] = multiply_add::<FMA>(*x, *y, lanes[k][0]);
        }
    }
    for (at, x) in chunks.iter().enumerate() {
        for k in 0..K {
            let y = &b[k].0[at];
            for lane in 0..LANES {
                lanes[k][lane] = multiply_add::<FMA>(x[lane], y[lane], lanes[k][lane]);
            }
        }
    }
    lanes.map(fold)
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
            let several: Vec<f64> = (0..7).flat_map(|k| b.iter().map(move |b| b + k as f64)).collect();
            for n_several in 0..=7 {
                let (mut out, b) = (vec![0.0; n_several], &several[..n_several * n]);
                dots(&a, b, &mut out);
                let each: Vec<f64> = (0..n_several).map(|k| dot(&a, &b[k * n..(k + 1) * n])).collect();
                assert_eq!(out, each, "to the last bit");
                dots_body::<false>(&a, b, &mut out);
                let each = (0..n_several).map(|k| dot_body::<false>(&a, &b[k * n..(k + 1) * n]));
                assert_eq!(out, each.collect::<Vec<f64>>());
            }
            let total: f64 = a.iter().sum();
            for found in [sum(&a), sum_body::<false>(&a)] {
                assert!((found - total).abs() < 1e-13);
            }
        }
    }
}
