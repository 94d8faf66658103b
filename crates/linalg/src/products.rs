//! The matrix products everything large goes through.

use nalgebra::{DMatrixView, DMatrixViewMut, Dyn};

use crate::lanes::{self, fold};
use crate::{dispatched, multiply_add};

/// Fewer columns than this on either side: separate dot products, since the library's general product
/// does not use its fast kernel there.
const SMALL: usize = 6;

/// Several columns longer than this do not stay in the nearest cache of the processor: the general product,
/// which divides them, is then faster.
const SHORT: usize = 128;

/// Short columns of either side multiplied at a time: their partial sums fill the registers.
const LEFT: usize = 4;
const RIGHT: usize = 2;

/// Partial sums of each pair of columns.
const LANES: usize = 8;

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
    dot_products_of_first(left, right, m, m, out);
}

/// [`dot_products`] of the first `used` entries of each column.
pub(crate) fn dot_products_of_first(left: &[f64], right: &[f64], m: usize, used: usize, out: &mut [f64]) {
    assert!(left.len().is_multiple_of(m) && right.len().is_multiple_of(m), "whole columns of length m");
    let (a, b) = (left.len() / m.max(1), right.len() / m.max(1));
    assert_eq!(out.len(), a * b, "one result for each pair of columns");
    if a < SMALL || b < SMALL || used < SMALL {
        // Every column of the wider side is read once.
        let mut pair = |i: usize, j: usize| {
            out[i + j * a] = lanes::dot(&left[i * m..][..used], &right[j * m..][..used]);
        };
        if a < b || b >= SMALL {
            (0..b).for_each(|j| (0..a).for_each(|i| pair(i, j)));
        } else {
            (0..a).for_each(|i| (0..b).for_each(|j| pair(i, j)));
        }
        return;
    }
    // Swapped strides transpose the view without a copy; the plain product packs its operands anyway.
    let left = DMatrixView::from_slice_with_strides_generic(left, Dyn(a), Dyn(used), Dyn(m), Dyn(1));
    let right = DMatrixView::from_slice_with_strides_generic(right, Dyn(used), Dyn(b), Dyn(1), Dyn(m));
    DMatrixViewMut::from_slice(out, a, b).gemm(1.0, &left, &right, 0.0);
}

/// Columns laid out for products with others.
///
/// Where they are short they are filled up with zeros to whole runs of numbers that the processor multiplies
/// at once: the general product lays its operands out in another way, which takes longer than a product of a
/// few of them. Then the value of a pair of columns does not depend on what else is multiplied.
///
/// ```
/// use fewest_linalg::LaidOut;
/// let (left, right) = (LaidOut::new(&[1.0, 2.0, 3.0, 4.0], 2), LaidOut::new(&[1.0, 1.0], 2));
/// let (mut out, mut own) = ([0.0; 2], [0.0; 4]);
/// left.products(&right, &mut out);
/// left.own_products(&mut own);
/// assert_eq!((out, own), ([3.0, 7.0], [5.0, 11.0, 11.0, 25.0]));
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LaidOut {
    /// Length of a column.
    m: usize,
    n_columns: usize,
    /// Column after column, those of long ones.
    long: Vec<f64>,
    /// Column after column, those of short ones: at least [`LEFT`], the last perhaps zeros.
    short: Vec<[f64; LANES]>,
}

impl LaidOut {
    /// The columns of length `m` in `values`.
    ///
    /// # Panics
    /// Unless `values.len()` is a multiple of `m`.
    pub fn new(values: &[f64], m: usize) -> Self {
        let mut laid_out = Self::with_capacity(m, values.len() / m.max(1));
        laid_out.extend(values);
        laid_out
    }

    /// No columns of length `m` yet, and memory for `capacity` of them.
    pub fn with_capacity(m: usize, capacity: usize) -> Self {
        let (mut long, mut short) = (Vec::new(), Vec::new());
        if m > SHORT {
            long.reserve_exact(m * capacity);
        } else {
            short.reserve_exact(m.div_ceil(LANES) * capacity.max(LEFT));
        }
        Self { m, n_columns: 0, long, short }
    }

    /// No columns, of length `m`, in the memory of these.
    pub fn clear(&mut self, m: usize) {
        self.long.clear();
        self.short.clear();
        (self.m, self.n_columns) = (m, 0);
    }

    /// Adds those in `values`.
    ///
    /// # Panics
    /// Unless `values.len()` is a multiple of the length of a column.
    pub fn extend(&mut self, values: &[f64]) {
        assert!(values.len().is_multiple_of(self.m), "whole columns of length m");
        if self.m > SHORT {
            self.long.extend_from_slice(values);
        } else {
            let length = self.m.div_ceil(LANES);
            self.short.truncate(self.n_columns * length);
            for column in values.chunks_exact(self.m.max(1)) {
                let (runs, rest) = column.as_chunks();
                self.short.extend_from_slice(runs);
                if !rest.is_empty() {
                    let mut last = [0.0; LANES];
                    last[..rest.len()].copy_from_slice(rest);
                    self.short.push(last);
                }
            }
            self.short.resize(self.short.len().max(LEFT * length), [0.0; LANES]);
        }
        self.n_columns += values.len() / self.m.max(1);
    }

    /// [`dot_products`] of these columns with those of `right`.
    ///
    /// # Panics
    /// Unless both have the same length and there is a place in `out` for each pair.
    pub fn products(&self, right: &Self, out: &mut [f64]) {
        assert_eq!(self.m, right.m, "columns of the same length");
        assert_eq!(out.len(), self.n_columns * right.n_columns, "one result for each pair of columns");
        if self.m > SHORT {
            dot_products(&self.long, &right.long, self.m, out);
        } else {
            self.short_products(right, false, out);
        }
    }

    /// [`products`](Self::products) of the columns with each other, of which half are computed where they
    /// are short.
    ///
    /// # Panics
    /// Unless there is a place in `out` for each pair.
    pub fn own_products(&self, out: &mut [f64]) {
        let n = self.n_columns;
        assert_eq!(out.len(), n * n, "one result for each pair of columns");
        if self.m > SHORT {
            return dot_products(&self.long, &self.long, self.m, out);
        }
        self.short_products(self, true, out);
        for j in 1..n {
            for i in 0..j {
                out[j + i * n] = out[i + j * n];
            }
        }
    }

    /// The products of all pairs of short columns, or at least of each of `right` with those up to it.
    fn short_products(&self, right: &Self, is_upper: bool, out: &mut [f64]) {
        let (a, b, length) = (self.n_columns, right.n_columns, self.m.div_ceil(LANES));
        if a == 0 || length == 0 {
            return out.fill(0.0);
        }
        for j in (0..b).step_by(RIGHT) {
            // The last ones may overlap those before: the same sums once more.
            let j = j.min(b.max(RIGHT) - RIGHT);
            let columns = &right.short[j * length..(j + RIGHT) * length];
            let height = if is_upper { a.min(j + RIGHT) } else { a };
            for i in (0..height).step_by(LEFT) {
                let i = i.min(a.max(LEFT) - LEFT);
                let mut sums = [[0.0; LANES]; LEFT * RIGHT];
                let mut totals = [0.0; LEFT * RIGHT];
                add_products(&self.short[i * length..(i + LEFT) * length], columns, &mut sums);
                fold_each(&sums, &mut totals);
                let totals = totals.chunks_exact(LEFT);
                for (out, totals) in out[j * a..].chunks_exact_mut(a).zip(totals) {
                    for (out, total) in out[i..].iter_mut().zip(totals) {
                        *out = *total;
                    }
                }
            }
        }
    }
}

dispatched! {
    /// Adds the products of [`LEFT`] columns with [`RIGHT`] columns to partial sums, those of a right column
    /// side by side. These go to memory, not on into their totals: only then does the compiler keep each in
    /// one register.
    fn add_products(left: &[[f64; LANES]], right: &[[f64; LANES]], sums: &mut [[f64; LANES]; LEFT * RIGHT]) = add_products_body
}

#[inline(always)]
fn add_products_body<const FMA: bool>(
    left: &[[f64; LANES]],
    right: &[[f64; LANES]],
    sums: &mut [[f64; LANES]; LEFT * RIGHT],
) {
    let length = right.len() / RIGHT;
    let x: [_; LEFT] = std::array::from_fn(|k| &left[k * length..][..length]);
    let y: [_; RIGHT] = std::array::from_fn(|l| &right[l * length..][..length]);
    let mut partial = *sums;
    for at in 0..length {
        for l in 0..RIGHT {
            for k in 0..LEFT {
                let sums = &mut partial[k + l * LEFT];
                for lane in 0..LANES {
                    sums[lane] = multiply_add::<FMA>(x[k][at][lane], y[l][at][lane], sums[lane]);
                }
            }
        }
    }
    *sums = partial;
}

dispatched! {
    fn fold_each(sums: &[[f64; LANES]; LEFT * RIGHT], totals: &mut [f64; LEFT * RIGHT]) = fold_each_body
}

#[inline(always)]
fn fold_each_body<const FMA: bool>(sums: &[[f64; LANES]; LEFT * RIGHT], totals: &mut [f64; LEFT * RIGHT]) {
    for k in 0..LEFT * RIGHT {
        totals[k] = fold(sums[k]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_laid_out_give_the_products() {
        let wave =
            |len: usize, step: f64| -> Vec<f64> { (0..len).map(|i| (i as f64 * step).sin()).collect() };
        for m in [0, 1, 6, 8, 13, 100, SHORT, SHORT + 1] {
            for (a, b) in [(0, 3), (3, 0), (1, 1), (3, 7), (7, 3), (4, 2), (5, 1), (7, 9), (13, 13)] {
                let (left, right) = (wave(a * m, 0.7), wave(b * m, 1.1));
                let is_right = |out: &[f64], right: &[f64]| {
                    out.iter().enumerate().all(|(at, value)| {
                        let (i, j) = (at % a, at / a);
                        let pairs = left[i * m..(i + 1) * m].iter().zip(&right[j * m..(j + 1) * m]);
                        (value - pairs.map(|(x, y)| x * y).sum::<f64>()).abs() < 1e-11
                    })
                };
                let (a, b) = if m == 0 { (0, 0) } else { (a, b) };
                let (x, y) = (LaidOut::new(&left, m), LaidOut::new(&right, m));
                let mut out = vec![f64::NAN; a * b];
                x.products(&y, &mut out);
                assert!(is_right(&out, &right), "{m} {a} {b}");
                let mut own = vec![f64::NAN; a * a];
                x.own_products(&mut own);
                assert!(is_right(&own, &left), "{m} {a}");
                // The same bits for fewer of them, which came one after the other.
                if m <= SHORT && a > 2 && b > 0 {
                    let mut fewer = LaidOut::with_capacity(m, 0);
                    (1..3).for_each(|i| fewer.extend(&left[i * m..(i + 1) * m]));
                    let mut again = vec![f64::NAN; 2 * b];
                    fewer.products(&y, &mut again);
                    for (out, again) in out.chunks_exact(a).zip(again.chunks_exact(2)) {
                        assert_eq!(out[1..3], *again);
                    }
                }
            }
        }
        let sums = std::array::from_fn(|k| std::array::from_fn(|lane| (8 * k + lane) as f64));
        let mut totals = [0.0; LEFT * RIGHT];
        fold_each_body::<false>(&sums, &mut totals);
        assert_eq!(totals, std::array::from_fn(|k| (64 * k + 28) as f64));
        let columns = LaidOut::new(&wave(13 * LEFT, 0.3), 13).short;
        let (mut fast, mut plain) = ([[0.0; LANES]; LEFT * RIGHT], [[0.0; LANES]; LEFT * RIGHT]);
        add_products(&columns, &columns[..2 * RIGHT], &mut fast);
        add_products_body::<false>(&columns, &columns[..2 * RIGHT], &mut plain);
        for (fast, plain) in fast.as_flattened().iter().zip(plain.as_flattened()) {
            assert!((fast - plain).abs() < 1e-15);
        }
    }
}
