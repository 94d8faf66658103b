//! Steps of a factorisation with pivots, in a fixed order that vectorises.

use fewest_linalg::lanes::{LANES, fold};
use fewest_linalg::{dispatched, multiply_add};

dispatched! {
    /// `column[i] += Σ_k weights[k] columns[k n + i]`, with `n = column.len()`.
    pub(crate) fn add_combination(columns: &[f64], weights: &[f64], column: &mut [f64]) = add_combination_body
}

#[inline(always)]
fn add_combination_body<const FMA: bool>(columns: &[f64], weights: &[f64], column: &mut [f64]) {
    // Long runs of rows fill the registers; what is left of them goes in short ones.
    let done = add_in_runs::<FMA, 32>(columns, weights, column, 0);
    let done = add_in_runs::<FMA, 4>(columns, weights, column, done);
    add_in_runs::<FMA, 1>(columns, weights, column, done);
}

/// [`add_combination`] for as many runs of `RUN` rows as there are from row `done` on: each run is read and
/// written once. Returns the first row after them.
#[inline(always)]
fn add_in_runs<const FMA: bool, const RUN: usize>(
    columns: &[f64],
    weights: &[f64],
    column: &mut [f64],
    mut done: usize,
) -> usize {
    let n = column.len();
    for out in column[done..].as_chunks_mut::<RUN>().0 {
        let mut sums = *out;
        for (weight, column) in weights.iter().zip(columns.chunks_exact(n)) {
            let Some(values) = column[done..].first_chunk::<RUN>() else { break };
            for k in 0..RUN {
                sums[k] = multiply_add::<FMA>(*weight, values[k], sums[k]);
            }
        }
        *out = sums;
        done += RUN;
    }
    done
}

dispatched! {
    /// Multiplies `column` by `inverse`, subtracts its squares from `diagonal` and describes the result. Both
    /// are of whole runs of [`LANES`].
    pub(crate) fn finish_pivot(column: &mut [f64], inverse: f64, diagonal: &mut [f64]) -> Residual = finish_pivot_body
}

/// The diagonal of the residual after a pivot.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Residual {
    /// The largest entry.
    pub(crate) largest: f64,
    /// The smallest entry.
    pub(crate) smallest: f64,
    /// Their sum.
    pub(crate) sum: f64,
}

#[inline(always)]
fn finish_pivot_body<const FMA: bool>(column: &mut [f64], inverse: f64, diagonal: &mut [f64]) -> Residual {
    let mut summary = Summary::default();
    for (values, left) in column.as_chunks_mut().0.iter_mut().zip(diagonal.as_chunks_mut().0) {
        finish::<FMA>(values, inverse, left);
        summary.add(left);
    }
    summary.end()
}

#[inline(always)]
fn finish<const FMA: bool>(values: &mut [f64; LANES], inverse: f64, left: &mut [f64; LANES]) {
    for k in 0..LANES {
        values[k] *= inverse;
        left[k] = multiply_add::<FMA>(-values[k], values[k], left[k]);
    }
}

/// A [`Residual`] in the making.
#[derive(Default)]
struct Summary {
    largest: [f64; LANES],
    smallest: [f64; LANES],
    sums: [f64; LANES],
}

impl Summary {
    #[inline(always)]
    fn add(&mut self, values: &[f64; LANES]) {
        for k in 0..LANES {
            let value = values[k];
            self.largest[k] = larger(self.largest[k], value);
            self.smallest[k] = if value < self.smallest[k] { value } else { self.smallest[k] };
            self.sums[k] += if value < 0.0 { 0.0 } else { value };
        }
    }

    #[inline(always)]
    fn end(self) -> Residual {
        let smallest = -most(self.smallest.map(|value| -value));
        Residual { largest: most(self.largest), smallest, sum: fold(self.sums) }
    }
}

dispatched! {
    /// The largest and smallest value and the sum of the positive ones, of whole runs of [`LANES`]; NaN
    /// anywhere shows in the sum.
    pub(crate) fn summarise(diagonal: &[f64]) -> Residual = summarise_body
}

#[inline(always)]
fn summarise_body<const FMA: bool>(diagonal: &[f64]) -> Residual {
    let mut summary = Summary::default();
    for run in diagonal.as_chunks().0 {
        summary.add(run);
    }
    summary.end()
}

dispatched! {
    /// The first place of `value`.
    pub(crate) fn first_place(values: &[f64], value: f64) -> Option<usize> = first_place_body
}

#[inline(always)]
fn first_place_body<const FMA: bool>(values: &[f64], value: f64) -> Option<usize> {
    // All of a run are compared, which goes at once.
    let has_it = |run: &[f64; LANES]| run.iter().fold(false, |found, other| found | (*other == value));
    let runs = values.as_chunks::<LANES>().0;
    let start = LANES * runs.iter().position(has_it).unwrap_or(runs.len());
    values[start..].iter().position(|other| *other == value).map(|place| start + place)
}

dispatched! {
    /// Replaces every column of length `n` by its differences from its mean.
    pub(crate) fn centre_columns(values: &mut [f64], n: usize) = centre_columns_body
}

#[inline(always)]
fn centre_columns_body<const FMA: bool>(values: &mut [f64], n: usize) {
    for column in values.chunks_exact_mut(n.max(1)) {
        // Shifted by one of its values first, so that a constant column becomes exactly zero.
        let first = column[0];
        let mut sums = [0.0; LANES];
        let (chunks, last) = column.as_chunks::<LANES>();
        for chunk in chunks {
            for k in 0..LANES {
                sums[k] += chunk[k] - first;
            }
        }
        let mean = (fold(sums) + last.iter().map(|value| value - first).sum::<f64>()) / n as f64;
        column.iter_mut().for_each(|value| *value = (*value - first) - mean);
    }
}

dispatched! {
    /// `column[i] -= weight phi[i]`; the sum of squares of what is left and the largest size of an entry of
    /// it.
    pub(crate) fn subtract_and_measure(phi: &[f64], weight: f64, column: &mut [f64]) -> (f64, f64) = subtract_and_measure_body
}

#[inline(always)]
fn subtract_and_measure_body<const FMA: bool>(phi: &[f64], weight: f64, column: &mut [f64]) -> (f64, f64) {
    let (mut squares, mut largest) = ([0.0f64; LANES], [0.0f64; LANES]);
    let mut step = |k: usize, x: f64, out: &mut f64| {
        *out = multiply_add::<FMA>(-weight, x, *out);
        squares[k] = multiply_add::<FMA>(*out, *out, squares[k]);
        largest[k] = if out.abs() > largest[k] { out.abs() } else { largest[k] };
    };
    let mut columns = column.chunks_exact_mut(LANES);
    let chunks = phi.chunks_exact(LANES);
    let tail = chunks.remainder();
    for (out, x) in (&mut columns).zip(chunks) {
        for k in 0..LANES {
            step(k, x[k], &mut out[k]);
        }
    }
    for (k, (out, &x)) in columns.into_remainder().iter_mut().zip(tail).enumerate() {
        step(k, x, out);
    }
    (fold(squares), most(largest))
}

dispatched! {
    /// The largest size of an entry.
    pub(crate) fn largest_size(values: &[f64]) -> f64 = largest_size_body
}

#[inline(always)]
fn largest_size_body<const FMA: bool>(values: &[f64]) -> f64 {
    let mut largest = [0.0f64; LANES];
    let mut step = |k: usize, x: f64| largest[k] = if x.abs() > largest[k] { x.abs() } else { largest[k] };
    let chunks = values.chunks_exact(LANES);
    for (k, &x) in chunks.remainder().iter().enumerate() {
        step(k, x);
    }
    for chunk in chunks {
        for k in 0..LANES {
            step(k, chunk[k]);
        }
    }
    most(largest)
}

#[inline(always)]
fn larger(a: f64, b: f64) -> f64 {
    if b > a { b } else { a }
}

/// The largest lane, halves against each other.
#[inline(always)]
fn most(mut lanes: [f64; LANES]) -> f64 {
    let mut width = LANES / 2;
    while width > 0 {
        for k in 0..width {
            lanes[k] = larger(lanes[k], lanes[k + width]);
        }
        width /= 2;
    }
    lanes[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_and_bodies_agree_with_plain_loops() {
        for n in [0, 1, 5, 16, 33, 100] {
            let a: Vec<f64> = (0..n).map(|i| (i as f64 * 0.7).sin()).collect();
            let b: Vec<f64> = (0..n).map(|i| (i as f64 * 1.1).cos()).collect();
            for rows in 0..10 {
                let earlier: Vec<f64> = (0..n * rows).map(|i| (i as f64 * 0.3).sin()).collect();
                let weights: Vec<f64> = (0..rows).map(|k| 1.0 - 0.4 * k as f64).collect();
                let (mut fast, mut plain) = (b.clone(), b.clone());
                add_combination(&earlier, &weights, &mut fast);
                add_combination_body::<false>(&earlier, &weights, &mut plain);
                for i in 0..n {
                    let exact = b[i] + (0..rows).map(|k| weights[k] * earlier[k * n + i]).sum::<f64>();
                    assert!((fast[i] - exact).abs() < 1e-13 && (plain[i] - exact).abs() < 1e-13);
                }
            }
            let (mut fast, mut plain) = (b.clone(), b.clone());
            let exact: Vec<f64> = (0..n).map(|i| b[i] - 0.6 * a[i]).collect();
            let squares: f64 = exact.iter().map(|x| x * x).sum();
            let size = exact.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
            let found = [
                subtract_and_measure(&a, 0.6, &mut fast),
                subtract_and_measure_body::<false>(&a, 0.6, &mut plain),
            ];
            for (found, left) in found.into_iter().zip([fast, plain]) {
                assert!((found.0 - squares).abs() < 1e-13 && (found.1 - size).abs() < 1e-15);
                assert_eq!(largest_size(&left), found.1);
                assert!(left.iter().zip(&exact).all(|(x, y)| (x - y).abs() < 1e-15));
            }
            for place in 0..n {
                assert_eq!(first_place(&a, a[place]), a.iter().position(|x| *x == a[place]));
            }
            assert_eq!(first_place(&a, 2.0), None);
            let two = [a.clone(), vec![0.1; n]].concat();
            let (mut fast, mut plain) = (two.clone(), two.clone());
            centre_columns(&mut fast, n);
            centre_columns_body::<false>(&mut plain, n);
            let mean = a.iter().sum::<f64>() / n as f64;
            for i in 0..n {
                assert!((fast[i] - (a[i] - mean)).abs() < 1e-14 && (plain[i] - (a[i] - mean)).abs() < 1e-14);
                assert_eq!((fast[n + i], plain[n + i]), (0.0, 0.0));
            }
            let filled = n.next_multiple_of(LANES);
            let (mut column, mut diagonal) = (a.clone(), vec![0.5; n]);
            column.resize(filled, 0.0);
            diagonal.resize(filled, 0.0);
            let left = finish_pivot(&mut column, 2.0, &mut diagonal);
            let exact: Vec<f64> = a.iter().map(|x| 0.5 - 4.0 * x * x).collect();
            assert!(diagonal.iter().zip(&exact).all(|(x, y)| (x - y).abs() < 1e-14));
            assert_eq!(left.largest, diagonal.iter().copied().fold(0.0, f64::max));
            assert_eq!(left.smallest, diagonal.iter().copied().fold(0.0, f64::min));
            let positive: f64 = diagonal.iter().filter(|&&x| x > 0.0).sum();
            assert!((left.sum - positive).abs() < 1e-13);
        }
        let mut broken = [0.5; LANES];
        broken[3] = f64::NAN;
        assert!(summarise(&broken).sum.is_nan());
    }
}
