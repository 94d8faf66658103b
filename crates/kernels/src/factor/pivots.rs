//! Steps of a factorisation with pivots, in a fixed order that vectorises.

use fewest_linalg::lanes::{LANES, fold};
use fewest_linalg::{dispatched, multiply_add};

dispatched! {
    /// `column[i] -= Σ_k rows[k] earlier[k n + i]`, with `n = column.len()`: subtracts a combination of the
    /// `rows.len()` columns of `earlier`, four at a time, so that `column` is read a quarter as often.
    pub(crate) fn subtract_combination(earlier: &[f64], rows: &[f64], column: &mut [f64]) = subtract_combination_body
}

#[inline(always)]
fn subtract_combination_body<const FMA: bool>(earlier: &[f64], rows: &[f64], column: &mut [f64]) {
    let n = column.len();
    if n == 0 {
        return;
    }
    let mut columns = earlier.chunks_exact(n);
    let mut quads = rows.chunks_exact(4);
    for quad in &mut quads {
        let (Some(a), Some(b), Some(c), Some(d)) =
            (columns.next(), columns.next(), columns.next(), columns.next())
        else {
            return;
        };
        let (out, a, b, c, d) = (&mut column[..n], &a[..n], &b[..n], &c[..n], &d[..n]);
        for i in 0..n {
            let ab = multiply_add::<FMA>(quad[1], b[i], quad[0] * a[i]);
            let cd = multiply_add::<FMA>(quad[3], d[i], quad[2] * c[i]);
            out[i] -= ab + cd;
        }
    }
    for (&row, values) in quads.remainder().iter().zip(columns) {
        for (out, &a) in column.iter_mut().zip(values) {
            *out = multiply_add::<FMA>(-row, a, *out);
        }
    }
}

dispatched! {
    /// Multiplies `column` by `inverse`, subtracts its squares from `diagonal` and describes the result.
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
    for (value, left) in column.iter_mut().zip(diagonal.iter_mut()) {
        *value *= inverse;
        *left = multiply_add::<FMA>(-*value, *value, *left);
    }
    summarise_body::<FMA>(diagonal)
}

dispatched! {
    /// The largest and smallest value and the sum of the positive ones; NaN anywhere shows in the sum.
    pub(crate) fn summarise(diagonal: &[f64]) -> Residual = summarise_body
}

#[inline(always)]
fn summarise_body<const FMA: bool>(diagonal: &[f64]) -> Residual {
    let (mut largest, mut smallest, mut sums) = ([0.0f64; LANES], [0.0f64; LANES], [0.0; LANES]);
    let mut add = |k: usize, value: f64| {
        largest[k] = if value > largest[k] { value } else { largest[k] };
        smallest[k] = if value < smallest[k] { value } else { smallest[k] };
        sums[k] += if value < 0.0 { 0.0 } else { value };
    };
    let chunks = diagonal.chunks_exact(LANES);
    for &value in chunks.remainder() {
        add(0, value);
    }
    for chunk in chunks {
        for k in 0..LANES {
            add(k, chunk[k]);
        }
    }
    Residual {
        largest: largest.into_iter().fold(0.0, f64::max),
        smallest: smallest.into_iter().fold(0.0, f64::min),
        sum: fold(sums),
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
fn most(lanes: [f64; LANES]) -> f64 {
    lanes.into_iter().fold(0.0, |most, value| if value > most { value } else { most })
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
                subtract_combination(&earlier, &weights, &mut fast);
                subtract_combination_body::<false>(&earlier, &weights, &mut plain);
                for i in 0..n {
                    let exact = b[i] - (0..rows).map(|k| weights[k] * earlier[k * n + i]).sum::<f64>();
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
            let (mut column, mut diagonal) = (a.clone(), vec![0.5; n]);
            let left = finish_pivot(&mut column, 2.0, &mut diagonal);
            let exact: Vec<f64> = a.iter().map(|x| 0.5 - 4.0 * x * x).collect();
            assert!(diagonal.iter().zip(&exact).all(|(x, y)| (x - y).abs() < 1e-14));
            assert_eq!(left.largest, diagonal.iter().copied().fold(0.0, f64::max));
            assert_eq!(left.smallest, diagonal.iter().copied().fold(0.0, f64::min));
            let positive: f64 = diagonal.iter().filter(|&&x| x > 0.0).sum();
            assert!((left.sum - positive).abs() < 1e-13);
        }
        assert!(summarise(&[1.0, f64::NAN, 2.0]).sum.is_nan());
    }
}
