//! The matrix products everything large goes through.

use std::ops::Range;

use nalgebra::{DMatrixView, DMatrixViewMut, Dyn};

use crate::lanes::{self, fold};
use crate::{dispatched, multiply_add};

/// Fewer columns than this on either side: separate dot products, since the library's general product
/// does not use its fast kernel there.
const SMALL: usize = 6;

/// Several columns longer than this do not stay in the nearest cache of the processor: the general product,
/// which divides them, is then faster.
const SHORT: usize = 128;

/// Columns of the right multiplied at a time with some of the left: their partial sums fill the registers.
const RIGHT: usize = 2;

/// Columns of the left that are: of short columns, whose sums are short, too; and of long ones.
const OF_SHORT: usize = 4;
const OF_LONG: usize = 3;

/// Partial sums of each pair of columns.
const LANES: usize = 8;

/// Rows of long columns that [`PairProducts`] takes at a time: those of some columns stay in the cache.
const STRETCH: usize = 512;

/// Numbers that the processor multiplies at once, where it reads them fastest.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(align(64))]
struct Run([f64; LANES]);

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

/// [`dot_products`] whose value of a pair of columns is [`pair_product`] of them, whatever else is
/// multiplied, in up to 1.4 times the time.
///
/// ```
/// use fewest_linalg::{PairProducts, pair_product};
/// let (left, right) = ([1.0, 2.0, 3.0, 4.0], [1.0, 1.0]);
/// let mut out = [0.0; 2];
/// PairProducts::default().of(&left, &right, 2, &mut out);
/// assert_eq!(out, [3.0, 7.0]);
/// assert_eq!(out[0], pair_product(&left[..2], &right));
/// ```
#[derive(Debug, Clone, Default)]
pub struct PairProducts {
    left: Runs<OF_LONG>,
    right: Runs<OF_LONG>,
    of_stretch: Vec<f64>,
}

impl PairProducts {
    /// Writes the products to `out`. Of columns with themselves, given as the same slice, half are computed.
    ///
    /// # Panics
    /// As [`dot_products`].
    pub fn of(&mut self, left: &[f64], right: &[f64], m: usize, out: &mut [f64]) {
        assert!(left.len().is_multiple_of(m) && right.len().is_multiple_of(m), "whole columns of length m");
        let (a, b) = (left.len() / m.max(1), right.len() / m.max(1));
        assert_eq!(out.len(), a * b, "one result for each pair of columns");
        if a == 1 || b == 1 {
            // One product for each column of the other side: nothing is read twice.
            let pairs =
                right.chunks_exact(m.max(1)).flat_map(|y| left.chunks_exact(m.max(1)).map(move |x| (x, y)));
            return out.iter_mut().zip(pairs).for_each(|(out, (x, y))| *out = pair_product(x, y));
        }
        let is_own = std::ptr::eq(left, right);
        self.of_stretch.resize(out.len(), 0.0);
        out.fill(0.0);
        for first in (0..m).step_by(STRETCH) {
            let rows = first..m.min(first + STRETCH);
            self.left.lay_out(left, m, rows.clone());
            if !is_own {
                self.right.lay_out(right, m, rows);
            }
            let right = if is_own { &self.left } else { &self.right };
            self.left.products(right, products_of_long, is_own, &mut self.of_stretch);
            out.iter_mut().zip(&self.of_stretch).for_each(|(sum, own)| *sum += own);
        }
        if is_own {
            mirror(a, out);
        }
    }
}

dispatched! {
    /// `xᵀy`: the sum over stretches of 512 rows of that of each, which has eight partial sums.
    pub fn pair_product(x: &[f64], y: &[f64]) -> f64 = pair_product_body
}

#[inline(always)]
fn pair_product_body<const FMA: bool>(x: &[f64], y: &[f64]) -> f64 {
    let mut total = 0.0;
    for (x, y) in x.chunks(STRETCH).zip(y.chunks(STRETCH)) {
        let mut sums = [0.0; LANES];
        let ((x, x_rest), (y, y_rest)) = (x.as_chunks::<LANES>(), y.as_chunks::<LANES>());
        for (x, y) in x.iter().zip(y) {
            for lane in 0..LANES {
                sums[lane] = multiply_add::<FMA>(x[lane], y[lane], sums[lane]);
            }
        }
        for (lane, (x, y)) in x_rest.iter().zip(y_rest).enumerate() {
            sums[lane] = multiply_add::<FMA>(*x, *y, sums[lane]);
        }
        total += fold(sums);
    }
    total
}

/// Copies the entries above the diagonal of an `n x n` matrix below it.
fn mirror(n: usize, out: &mut [f64]) {
    for j in 1..n {
        for i in 0..j {
            out[j + i * n] = out[i + j * n];
        }
    }
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
    short: Runs<OF_SHORT>,
}

/// Columns of which each is filled up with zeros to whole runs.
#[derive(Debug, Clone, Default, PartialEq)]
struct Runs<const LEFT: usize> {
    n_columns: usize,
    /// Runs of a column.
    length: usize,
    /// Column after column: at least [`LEFT`], the last perhaps zeros.
    runs: Vec<Run>,
}

impl<const LEFT: usize> Runs<LEFT> {
    /// No columns, of `m` rows.
    fn clear(&mut self, m: usize) {
        self.runs.clear();
        (self.n_columns, self.length) = (0, m.div_ceil(LANES));
    }

    /// The `rows` of columns of length `m`.
    fn lay_out(&mut self, columns: &[f64], m: usize, rows: Range<usize>) {
        self.clear(rows.len());
        self.extend(columns.chunks_exact(m.max(1)).map(|column| &column[rows.clone()]));
    }

    /// Adds columns.
    fn extend<'a>(&mut self, columns: impl ExactSizeIterator<Item = &'a [f64]>) {
        self.runs.truncate(self.n_columns * self.length);
        self.runs.reserve(columns.len() * self.length);
        for column in columns {
            let (runs, rest) = column.as_chunks();
            self.runs.extend(runs.iter().map(|run| Run(*run)));
            if !rest.is_empty() {
                let mut last = [0.0; LANES];
                last[..rest.len()].copy_from_slice(rest);
                self.runs.push(Run(last));
            }
            self.n_columns += 1;
        }
        self.runs.resize(self.runs.len().max(LEFT * self.length), Run([0.0; LANES]));
    }

    /// Writes the products of all pairs of columns, or at least of each of `right` with those up to it.
    fn products(&self, right: &Self, multiply: Multiply<LEFT>, is_upper: bool, out: &mut [f64]) {
        let (a, b, length) = (self.n_columns, right.n_columns, self.length);
        if a == 0 || length == 0 {
            return out.fill(0.0);
        }
        for i in (0..a).step_by(LEFT) {
            // The last ones may overlap those before: the same sums once more.
            let first = if is_upper { i / RIGHT * RIGHT } else { 0 };
            let i = i.min(a.max(LEFT) - LEFT);
            let left = &self.runs[i * length..(i + LEFT) * length];
            for j in (first..b).step_by(RIGHT) {
                let j = j.min(b.max(RIGHT) - RIGHT);
                let totals = multiply(left, &right.runs[j * length..(j + RIGHT) * length]);
                for (out, totals) in out[j * a..].chunks_exact_mut(a).zip(&totals) {
                    for (out, total) in out[i..].iter_mut().zip(totals) {
                        *out = *total;
                    }
                }
            }
        }
    }
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
        let (mut long, mut short) = (Vec::new(), Runs::default());
        short.clear(m);
        if m > SHORT {
            long.reserve_exact(m * capacity);
        } else {
            short.runs.reserve_exact(short.length * capacity.max(OF_SHORT));
        }
        Self { m, n_columns: 0, long, short }
    }

    /// No columns, of length `m`, in the memory of these.
    pub fn clear(&mut self, m: usize) {
        self.long.clear();
        self.short.clear(m);
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
            self.short.extend(values.chunks_exact(self.m.max(1)));
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
            self.short.products(&right.short, products_of_short, false, out);
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
        self.short.products(&self.short, products_of_short, true, out);
        mirror(n, out);
    }
}

/// The products of some columns of the left with [`RIGHT`] of the right: those of a right column side by
/// side.
type Multiply<const LEFT: usize> = fn(&[Run], &[Run]) -> [[f64; LEFT]; RIGHT];

fn products_of_short(left: &[Run], right: &[Run]) -> [[f64; OF_SHORT]; RIGHT] {
    let (mut sums, mut totals) = ([[[0.0; LANES]; OF_SHORT]; RIGHT], [[0.0; OF_SHORT]; RIGHT]);
    add_short(left, right, &mut sums);
    fold_short(&sums, &mut totals);
    totals
}

fn products_of_long(left: &[Run], right: &[Run]) -> [[f64; OF_LONG]; RIGHT] {
    let (mut sums, mut totals) = ([[[0.0; LANES]; OF_LONG]; RIGHT], [[0.0; OF_LONG]; RIGHT]);
    add_long(left, right, &mut sums);
    fold_long(&sums, &mut totals);
    totals
}

// Partial sums go to memory, not on into their totals: only then does the compiler keep each in one register.
dispatched! {
    fn add_short(left: &[Run], right: &[Run], sums: &mut [[[f64; LANES]; OF_SHORT]; RIGHT]) = add_short_body
}

dispatched! {
    fn add_long(left: &[Run], right: &[Run], sums: &mut [[[f64; LANES]; OF_LONG]; RIGHT]) = add_long_body
}

dispatched! {
    fn fold_short(sums: &[[[f64; LANES]; OF_SHORT]; RIGHT], totals: &mut [[f64; OF_SHORT]; RIGHT]) = fold_short_body
}

dispatched! {
    fn fold_long(sums: &[[[f64; LANES]; OF_LONG]; RIGHT], totals: &mut [[f64; OF_LONG]; RIGHT]) = fold_long_body
}

#[inline(always)]
fn add_short_body<const FMA: bool>(
    left: &[Run],
    right: &[Run],
    sums: &mut [[[f64; LANES]; OF_SHORT]; RIGHT],
) {
    add_products::<FMA, OF_SHORT>(left, right, sums);
}

#[inline(always)]
fn add_long_body<const FMA: bool>(left: &[Run], right: &[Run], sums: &mut [[[f64; LANES]; OF_LONG]; RIGHT]) {
    add_products::<FMA, OF_LONG>(left, right, sums);
}

#[inline(always)]
fn fold_short_body<const FMA: bool>(
    sums: &[[[f64; LANES]; OF_SHORT]; RIGHT],
    totals: &mut [[f64; OF_SHORT]; RIGHT],
) {
    fold_each(sums, totals);
}

#[inline(always)]
fn fold_long_body<const FMA: bool>(
    sums: &[[[f64; LANES]; OF_LONG]; RIGHT],
    totals: &mut [[f64; OF_LONG]; RIGHT],
) {
    fold_each(sums, totals);
}

/// Adds the products of columns to partial sums.
#[inline(always)]
fn add_products<const FMA: bool, const LEFT: usize>(
    left: &[Run],
    right: &[Run],
    sums: &mut [[[f64; LANES]; LEFT]; RIGHT],
) {
    let length = right.len() / RIGHT;
    let x: [_; LEFT] = std::array::from_fn(|k| &left[k * length..][..length]);
    let y: [_; RIGHT] = std::array::from_fn(|l| &right[l * length..][..length]);
    let mut partial = *sums;
    for at in 0..length {
        for l in 0..RIGHT {
            for k in 0..LEFT {
                for lane in 0..LANES {
                    let sum = &mut partial[l][k][lane];
                    *sum = multiply_add::<FMA>(x[k][at].0[lane], y[l][at].0[lane], *sum);
                }
            }
        }
    }
    *sums = partial;
}

#[inline(always)]
fn fold_each<const LEFT: usize>(sums: &[[[f64; LANES]; LEFT]; RIGHT], totals: &mut [[f64; LEFT]; RIGHT]) {
    for l in 0..RIGHT {
        for k in 0..LEFT {
            totals[l][k] = fold(sums[l][k]);
        }
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
        let value = |l: usize, k: usize, lane: usize| (8 * (k + l * OF_SHORT) + lane) as f64;
        let sums =
            std::array::from_fn(|l| std::array::from_fn(|k| std::array::from_fn(|lane| value(l, k, lane))));
        let mut totals = [[0.0; OF_SHORT]; RIGHT];
        fold_short(&sums, &mut totals);
        assert_eq!(*totals.as_flattened(), std::array::from_fn::<_, 8, _>(|k| (64 * k + 28) as f64));
        let columns = LaidOut::new(&wave(13 * OF_SHORT, 0.3), 13).short.runs;
        let (mut fast, mut plain) = ([[[0.0; LANES]; OF_SHORT]; RIGHT], [[[0.0; LANES]; OF_SHORT]; RIGHT]);
        add_short(&columns, &columns[..2 * RIGHT], &mut fast);
        add_short_body::<false>(&columns, &columns[..2 * RIGHT], &mut plain);
        for (fast, plain) in
            fast.as_flattened().as_flattened().iter().zip(plain.as_flattened().as_flattened())
        {
            assert!((fast - plain).abs() < 1e-15);
        }
    }

    /// By its definition, with the same bits in any company.
    #[test]
    fn the_product_of_a_pair_does_not_depend_on_the_others() {
        let wave =
            |len: usize, step: f64| -> Vec<f64> { (0..len).map(|i| (i as f64 * step).sin()).collect() };
        let mut products = PairProducts::default();
        for m in [1, 7, 8, STRETCH, STRETCH + 1, 3 * STRETCH + 13] {
            let (left, right) = (wave(11 * m, 0.7), wave(9 * m, 1.1));
            let pair = |i: usize, j: usize| pair_product(&left[i * m..][..m], &right[j * m..][..m]);
            let defined = |i: usize, j: usize| -> f64 {
                left[i * m..][..m].iter().zip(&right[j * m..][..m]).map(|(x, y)| x * y).sum()
            };
            for (a, b) in [(0, 3), (3, 0), (1, 1), (1, 9), (11, 1), (2, 2), (7, 6), (11, 9)] {
                let mut out = vec![f64::NAN; a * b];
                products.of(&left[..a * m], &right[..b * m], m, &mut out);
                for (at, value) in out.iter().enumerate() {
                    let (i, j) = (at % a, at / a);
                    assert_eq!(*value, pair(i, j), "{m} {a} {b}");
                    assert!((value - defined(i, j)).abs() < 1e-11, "{m} {a} {b}");
                }
                let mut own = vec![f64::NAN; a * a];
                products.of(&left[..a * m], &left[..a * m], m, &mut own);
                for (at, value) in own.iter().enumerate() {
                    let (i, j) = (at % a, at / a);
                    assert_eq!(*value, pair_product(&left[i * m..][..m], &left[j * m..][..m]), "{m} {a}");
                }
            }
        }
        products.of(&[], &[], 0, &mut []);
    }
}
