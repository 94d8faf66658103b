//! Dense linear algebra: products and a blocked Cholesky factorisation, all in parts of fixed size, so that
//! the result is the same, bit for bit, for any number of threads.

use multiversion::multiversion;
use nalgebra::{DMatrixView, DMatrixViewMut, Dyn};

use crate::products::dot_products_of_first;
use crate::{dispatched, dot_products, multiply_add};

/// Columns of a panel.
const PANEL: usize = 64;

/// Up to this many rows a second thread does not make a factorisation faster.
const SERIAL: usize = 300;

/// With fewer multiplications of blocks than this, half a millisecond of work, a second thread takes about
/// as long to wake and to fall asleep again as it saves. To read a number that is used once or twice takes
/// as long as so many of them.
const FEW: usize = 1 << 22;
const MOVED: usize = 8;

/// `work(at, chunk)` for every chunk of `size` items, on this thread alone where there is little to do.
fn chunks(out: &mut [f64], size: usize, is_little: bool, work: impl Fn(usize, &mut [f64]) + Sync) {
    if is_little {
        out.chunks_mut(size.max(1)).enumerate().for_each(|(at, chunk)| work(at, chunk));
    } else {
        fewest_parallel::chunks(out, size, work);
    }
}

/// Columns that are solved for at a time, their values of a row side by side.
const ABREAST: usize = 8;

/// Rows of them whose sums are in registers.
const STRIP: usize = 4;

/// Rows handled by one task where a vector is a sum of columns.
const ROWS: usize = 512;

/// `out = AᵀA` for the columns of length `m` in `a`, both triangles.
pub fn gram(a: &[f64], m: usize) -> Vec<f64> {
    gram_unless(a, m, &|| false)
}

/// [`gram`] that computes nothing more once `is_stopped` says so: the result then means nothing.
pub fn gram_unless(a: &[f64], m: usize, is_stopped: &(dyn Fn() -> bool + Sync)) -> Vec<f64> {
    let q = a.len() / m.max(1);
    let mut out = vec![0.0; q * q];
    if m == 0 || q == 0 {
        return out;
    }
    chunks(&mut out, PANEL * q, q * q * m / 2 < FEW, |panel, out| {
        let (first, last) = (panel * PANEL, q.min((panel + 1) * PANEL));
        let right = &a[first * m..last * m];
        let mut products = Vec::new();
        for upper in (0..=panel).take_while(|_| !is_stopped()) {
            let (from, to) = (upper * PANEL, q.min((upper + 1) * PANEL));
            products.clear();
            products.resize((to - from) * (last - first), 0.0);
            dot_products(&a[from * m..to * m], right, m, &mut products);
            for (column, products) in out.chunks_exact_mut(q).zip(products.chunks_exact(to - from)) {
                column[from..to].copy_from_slice(products);
            }
        }
    });
    mirror_unless(&mut out, q, |upper, _| upper, is_stopped);
    out
}

/// `A Aᵀ` for the columns of length `m` in `a`, both triangles; it means nothing once `is_stopped` says so.
///
/// ```
/// let rows = fewest_linalg::gram_of_rows_unless(&[1.0, 2.0, 3.0, 4.0], 2, &|| false);
/// assert_eq!(rows, [10.0, 14.0, 14.0, 20.0]);
/// ```
pub fn gram_of_rows_unless(a: &[f64], m: usize, is_stopped: &(dyn Fn() -> bool + Sync)) -> Vec<f64> {
    let q = a.len() / m.max(1);
    let mut out = vec![0.0; m * m];
    chunks(&mut out, PANEL * m, m * a.len() / 2 < FEW, |panel, out| {
        if is_stopped() {
            return;
        }
        let (from, to) = (panel * PANEL, m.min((panel + 1) * PANEL));
        let above = DMatrixView::from_slice_with_strides_generic(a, Dyn(to), Dyn(q), Dyn(1), Dyn(m));
        let own = DMatrixView::from_slice_with_strides_generic(
            a.get(from..).unwrap_or_default(),
            Dyn(q),
            Dyn(to - from),
            Dyn(m),
            Dyn(1),
        );
        DMatrixViewMut::from_slice_with_strides_generic(out, Dyn(to), Dyn(to - from), Dyn(1), Dyn(m))
            .gemm(1.0, &above, &own, 0.0);
    });
    mirror_unless(&mut out, m, |upper, _| upper, is_stopped);
    out
}

/// Makes an `n × n` matrix symmetric: both entries of a pair become `entry(upper, lower)`. Block by block,
/// since a walk along the rows of a large matrix is slow; ends early once `is_stopped` says so.
pub fn mirror_unless(
    values: &mut [f64],
    n: usize,
    entry: impl Fn(f64, f64) -> f64,
    is_stopped: &(dyn Fn() -> bool + Sync),
) {
    for right in (0..n).step_by(PANEL) {
        if is_stopped() {
            return;
        }
        for left in (0..=right).step_by(PANEL) {
            for j in right..n.min(right + PANEL) {
                for i in left..j.min(left + PANEL) {
                    let value = entry(values[i + j * n], values[j + i * n]);
                    values[i + j * n] = value;
                    values[j + i * n] = value;
                }
            }
        }
    }
}

/// `Aᵀb` for every column `b` of `right`: one row a column of `a`, column after column.
pub fn transposed_products(a: &[f64], right: &[f64], m: usize) -> Vec<f64> {
    products_of_first(a, right, m, |_| m)
}

/// [`transposed_products`] for columns of `a` that are zero below the diagonal: `Aᵀ` is a lower triangle.
/// Half of the multiplications.
///
/// ```
/// let (upper, right) = ([2.0, 0.0, 1.0, 3.0], [1.0, 1.0]);
/// assert_eq!(fewest_linalg::triangular_products(&upper, &right, 2), [2.0, 4.0]);
/// ```
pub fn triangular_products(a: &[f64], right: &[f64], m: usize) -> Vec<f64> {
    products_of_first(a, right, m, |end| m.min(end))
}

/// `Aᵀb` by the first entries alone of columns of `a` up to the one before `end`, `used(end)` of them.
fn products_of_first(a: &[f64], right: &[f64], m: usize, used: impl Fn(usize) -> usize + Sync) -> Vec<f64> {
    let (q, k) = (a.len() / m, right.len() / m);
    let mut out = vec![0.0; q * k];
    let of_panel = |at: usize| {
        let end = q.min((at + 1) * PANEL);
        let panel = &a[at * PANEL * m..end * m];
        let mut products = vec![0.0; panel.len() / m * k];
        dot_products_of_first(panel, right, m, used(end), &mut products);
        products
    };
    let n_panels = q.div_ceil(PANEL);
    let panels = if a.len() * k.max(MOVED) < FEW {
        (0..n_panels).map(of_panel).collect()
    } else {
        fewest_parallel::map(n_panels, of_panel)
    };
    for (at, products) in panels.iter().enumerate() {
        let height = products.len() / k.max(1);
        for (column, products) in products.chunks_exact(height.max(1)).enumerate() {
            out[column * q + at * PANEL..][..height].copy_from_slice(products);
        }
    }
    out
}

/// `A w` for the columns of length `m` in `a`.
pub fn combination(a: &[f64], w: &[f64], m: usize) -> Vec<f64> {
    let mut out = vec![0.0; m];
    chunks(&mut out, ROWS, MOVED * a.len() < FEW, |part, out| {
        let first = part * ROWS;
        for (weight, column) in w.iter().zip(a.chunks_exact(m)) {
            if *weight != 0.0 {
                for (value, entry) in out.iter_mut().zip(&column[first..]) {
                    *value += weight * entry;
                }
            }
        }
    });
    out
}

/// The transpose of a table of columns of length `m`, row `i` times `scale[i]`.
pub fn transposed(a: &[f64], m: usize, scale: &[f64]) -> Vec<f64> {
    let q = a.len() / m.max(1);
    let mut out = vec![0.0; a.len()];
    chunks(&mut out, q * PANEL, MOVED * a.len() < FEW, |part, out| {
        for (row, out) in out.chunks_exact_mut(q).enumerate() {
            let i = part * PANEL + row;
            for (value, column) in out.iter_mut().zip(a.chunks_exact(m)) {
                *value = scale[i] * column[i];
            }
        }
    });
    out
}

/// The Cholesky factor `L` of a symmetric matrix, lower triangle, column after column.
pub struct Cholesky {
    values: Vec<f64>,
    n: usize,
}

impl Cholesky {
    /// Of `I + P`, `n × n`, with `P` positive semidefinite. Every pivot of such a matrix is at least 1: one
    /// that rounding left below is taken as 1.
    pub fn above_identity(values: Vec<f64>, n: usize) -> Self {
        Self::above_identity_unless(values, n, &|| false)
    }

    /// The same; the factor means nothing where `is_stopped` said so before the end.
    pub fn above_identity_unless(
        mut values: Vec<f64>,
        n: usize,
        is_stopped: &(dyn Fn() -> bool + Sync),
    ) -> Self {
        factorise(&mut values, n, |pivot| Some(pivot.max(1.0)), is_stopped);
        Self { values, n }
    }

    /// Of any matrix, `n × n`; `None` where it is not positive definite.
    pub fn of(values: Vec<f64>, n: usize) -> Option<Self> {
        Self::of_unless(values, n, &|| false)
    }

    /// The same; `None` also where `is_stopped` says so before the end, which is asked after every few
    /// million multiplications.
    ///
    /// ```
    /// use fewest_linalg::Cholesky;
    ///
    /// let matrix = vec![4.0, 2.0, 2.0, 5.0];
    /// let mut b = [8.0, 12.0];
    /// Cholesky::of_unless(matrix.clone(), 2, &|| false).unwrap().solve(&mut b);
    /// assert_eq!(b, [1.0, 2.0]);
    /// assert!(Cholesky::of_unless(matrix, 2, &|| true).is_none());
    /// ```
    pub fn of_unless(mut values: Vec<f64>, n: usize, is_stopped: &(dyn Fn() -> bool + Sync)) -> Option<Self> {
        let is_positive = |pivot: f64| (pivot > 0.0).then_some(pivot);
        factorise(&mut values, n, is_positive, is_stopped).then_some(Self { values, n })
    }

    /// Of a positive semidefinite matrix, `n × n`: a column of which no more than `share` of the largest
    /// entry is left counts as one that follows from those before, and gets 0 wherever
    /// [`solve`](Self::solve) solves for it. The factor means nothing where `is_stopped` said so before the
    /// end.
    pub fn semidefinite_unless(
        mut values: Vec<f64>,
        n: usize,
        share: f64,
        is_stopped: &(dyn Fn() -> bool + Sync),
    ) -> Self {
        let largest = values.iter().step_by(n + 1).copied().fold(0.0, f64::max);
        // Divided by an infinite pivot, everything is 0.
        let allowed = |pivot: f64| Some(if pivot > share * largest { pivot } else { f64::INFINITY });
        factorise(&mut values, n, allowed, is_stopped);
        Self { values, n }
    }

    /// How many columns do not follow from those before: the pivots that are finite.
    pub fn rank(&self) -> usize {
        self.values.iter().step_by(self.n + 1).filter(|pivot| pivot.is_finite()).count()
    }

    /// The smallest of the pivots, the squares of the diagonal of `L`: what is left of a column after those
    /// before it. Infinite without columns.
    pub fn least_pivot(&self) -> f64 {
        let diagonal = self.values.iter().step_by(self.n + 1);
        diagonal.fold(f64::INFINITY, |least, entry| least.min(entry * entry))
    }

    /// The logarithm of the determinant of `L Lᵀ`.
    ///
    /// ```
    /// let factor = fewest_linalg::Cholesky::of(vec![4.0, 0.0, 0.0, 25.0], 2).unwrap();
    /// assert!((factor.log_determinant() - 100.0_f64.ln()).abs() < 1e-12);
    /// ```
    pub fn log_determinant(&self) -> f64 {
        2.0 * self.values.iter().step_by(self.n + 1).map(|entry| entry.ln()).sum::<f64>()
    }

    /// Replaces `b` by the solution of `L x = b`: the squared norm of `x` is `bᵀ (L Lᵀ)⁻¹ b`.
    pub fn solve_lower(&self, b: &mut [f64]) {
        let n = self.n;
        for j in 0..n {
            let (done, rest) = b.split_at_mut(j + 1);
            if done[j] == 0.0 {
                continue;
            }
            let value = done[j] / self.values[j + j * n];
            done[j] = value;
            subtract(rest, value, &self.values[j * n + j + 1..(j + 1) * n]);
        }
    }

    /// `L⁻¹`, column after column; it means nothing where `is_stopped` said so before the end.
    pub fn inverse_lower_unless(&self, is_stopped: &(dyn Fn() -> bool + Sync)) -> Vec<f64> {
        let n = self.n;
        let mut inverse = vec![0.0; n * n];
        // A third of the operations meet zeros.
        chunks(&mut inverse, n * ABREAST, n * n * n / 6 < FEW, |part, columns| {
            if is_stopped() {
                return;
            }
            let first = part * ABREAST;
            let mut rows = vec![[0.0; ABREAST]; n - first];
            for (k, row) in rows.iter_mut().take(ABREAST).enumerate() {
                row[k] = 1.0;
            }
            solve_abreast(&self.values, n, &mut rows);
            for (k, column) in columns.chunks_exact_mut(n).enumerate() {
                column[first..].iter_mut().zip(&rows).for_each(|(value, row)| *value = row[k]);
            }
        });
        inverse
    }

    /// `bᵀ (L Lᵀ)⁻¹ b` for every column `b` of `right`; they mean nothing where `is_stopped` said so before
    /// the end.
    ///
    /// ```
    /// use fewest_linalg::Cholesky;
    ///
    /// let factor = Cholesky::of(vec![4.0, 0.0, 0.0, 25.0], 2).unwrap();
    /// assert_eq!(factor.inverse_squares_unless(&[2.0, 0.0, 0.0, 10.0], &|| false), [1.0, 4.0]);
    /// ```
    pub fn inverse_squares_unless(&self, right: &[f64], is_stopped: &(dyn Fn() -> bool + Sync)) -> Vec<f64> {
        let n = self.n;
        let mut squares = vec![0.0; right.len() / n.max(1)];
        chunks(&mut squares, ABREAST, n * right.len() / 2 < FEW, |part, squares| {
            if is_stopped() {
                return;
            }
            let mut rows = vec![[0.0; ABREAST]; n];
            for (k, column) in right[part * ABREAST * n..].chunks_exact(n).take(ABREAST).enumerate() {
                rows.iter_mut().zip(column).for_each(|(row, value)| row[k] = *value);
            }
            solve_abreast(&self.values, n, &mut rows);
            for (k, square) in squares.iter_mut().enumerate() {
                *square = rows.iter().map(|row| row[k] * row[k]).sum();
            }
        });
        squares
    }

    /// Replaces `b` by the solution of `L Lᵀ x = b`.
    pub fn solve(&self, b: &mut [f64]) {
        let n = self.n;
        self.solve_lower(b);
        for j in (0..n).rev() {
            let (done, rest) = b.split_at_mut(j + 1);
            let column = &self.values[j * n + j + 1..(j + 1) * n];
            let product: f64 = column.iter().zip(&*rest).map(|(entry, value)| entry * value).sum();
            done[j] = (done[j] - product) / self.values[j + j * n];
        }
    }
}

/// Replaces the lower triangle of `values` by the Cholesky factor; false where a pivot is not allowed, and
/// where the work was stopped. `allowed` says what a pivot is taken as.
fn factorise(
    values: &mut [f64],
    n: usize,
    allowed: impl Fn(f64) -> Option<f64>,
    is_stopped: &(dyn Fn() -> bool + Sync),
) -> bool {
    for first in (0..n).step_by(PANEL) {
        if is_stopped() {
            return false;
        }
        let width = PANEL.min(n - first);
        let below = first + width;
        for j in first..below {
            let Some(pivot) = allowed(values[j + j * n]).map(f64::sqrt) else { return false };
            values[j + j * n] = pivot;
            for value in &mut values[j * n + j + 1..(j + 1) * n] {
                *value /= pivot;
            }
            let (done, rest) = values.split_at_mut((j + 1) * n);
            let column = &done[j * n..];
            for other in j + 1..below {
                let factor = column[other];
                let target = &mut rest[(other - j - 1) * n..(other - j) * n];
                subtract(&mut target[other..], factor, &column[other..]);
            }
        }
        let (done, rest) = values.split_at_mut(below * n);
        let height = n - below;
        let left: Vec<f64> =
            done[first * n..].chunks_exact(n).flat_map(|column| &column[below..]).copied().collect();
        let update = |part: usize, target: &mut [f64]| {
            if is_stopped() {
                return;
            }
            let (start, columns) = (part * PANEL, target.len() / n);
            let rows = DMatrixView::from_slice_with_strides_generic(
                &left[start..],
                Dyn(height - start),
                Dyn(width),
                Dyn(1),
                Dyn(height),
            );
            let block = DMatrixView::from_slice_with_strides_generic(
                &left[start..],
                Dyn(width),
                Dyn(columns),
                Dyn(height),
                Dyn(1),
            );
            DMatrixViewMut::from_slice_with_strides_generic(
                &mut target[below + start..],
                Dyn(height - start),
                Dyn(columns),
                Dyn(1),
                Dyn(n),
            )
            .gemm(-1.0, &rows, &block, 1.0);
        };
        chunks(rest, PANEL * n, n <= SERIAL, update);
    }
    !is_stopped()
}

dispatched! {
    /// Solves `L x = b` for several `b` with zeros before the last `rows.len()` of their `n` rows.
    fn solve_abreast(lower: &[f64], n: usize, rows: &mut [[f64; ABREAST]]) = solve_abreast_body
}

#[inline(always)]
fn solve_abreast_body<const FMA: bool>(lower: &[f64], n: usize, rows: &mut [[f64; ABREAST]]) {
    let first = n - rows.len();
    let mut solved = 0;
    while solved + STRIP <= rows.len() {
        solve_strip::<FMA, STRIP>(lower, n, first, solved, rows);
        solved += STRIP;
    }
    while solved < rows.len() {
        solve_strip::<FMA, 1>(lower, n, first, solved, rows);
        solved += 1;
    }
}

/// The next `R` rows after those that are `solved`.
#[inline(always)]
fn solve_strip<const FMA: bool, const R: usize>(
    lower: &[f64],
    n: usize,
    first: usize,
    solved: usize,
    rows: &mut [[f64; ABREAST]],
) {
    let (done, rest) = rows.split_at_mut(solved);
    let at = first + solved;
    let mut own: [[f64; ABREAST]; R] = std::array::from_fn(|r| rest[r]);
    for (row, column) in done.iter().zip(lower[first * n..].chunks_exact(n)) {
        let factors: [f64; R] = std::array::from_fn(|r| column[at + r]);
        for r in 0..R {
            for k in 0..ABREAST {
                own[r][k] = multiply_add::<FMA>(-factors[r], row[k], own[r][k]);
            }
        }
    }
    for r in 0..R {
        for before in 0..r {
            let factor = lower[at + r + (at + before) * n];
            for k in 0..ABREAST {
                own[r][k] = multiply_add::<FMA>(-factor, own[before][k], own[r][k]);
            }
        }
        let pivot = lower[(at + r) * (n + 1)];
        own[r].iter_mut().for_each(|value| *value /= pivot);
    }
    rest[..R].copy_from_slice(&own);
}

/// `target -= factor column`.
#[multiversion(targets("x86_64+avx2"))]
fn subtract(target: &mut [f64], factor: f64, column: &[f64]) {
    for (value, entry) in target.iter_mut().zip(column) {
        *value -= factor * entry;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    fn wave(len: usize) -> Vec<f64> {
        (0..len).map(|i| ((i * 7919 + 13) % 1009) as f64 / 500.0 - 1.0).collect()
    }

    #[test]
    fn a_system_larger_than_a_panel_is_solved() {
        for q in [1, 5, 64, 65, 150] {
            let m = 40;
            let a = wave(m * q);
            let mut matrix = gram(&a, m);
            let of_rows = gram_of_rows_unless(&transposed(&a, m, &vec![1.0; m]), q, &|| false);
            assert!(of_rows.iter().zip(&matrix).all(|(found, entry)| (found - entry).abs() < 1e-10));
            for j in 0..q {
                for i in 0..q {
                    let direct: f64 = (0..m).map(|r| a[r + i * m] * a[r + j * m]).sum();
                    assert!((matrix[i + j * q] - direct).abs() < 1e-10);
                }
                matrix[j + j * q] += 1.0;
            }
            let x = wave(q);
            let mut b = combination(&matrix, &x, q);
            Cholesky::above_identity(matrix.clone(), q).solve(&mut b);
            assert!(b.iter().zip(&x).all(|(b, x)| (b - x).abs() < 1e-9), "{q}");
            let mut again = combination(&matrix, &x, q);
            let Some(factor) = Cholesky::of(matrix.clone(), q) else { panic!("not definite") };
            factor.solve(&mut again);
            assert_eq!(b, again);
            // Several columns at a time are solved for as one is.
            let mut direct = combination(&matrix, &x, q);
            factor.solve_lower(&mut direct);
            let square: f64 = direct.iter().map(|value| value * value).sum();
            let right = combination(&matrix, &x, q).repeat(ABREAST + 1);
            for found in factor.inverse_squares_unless(&right, &|| false) {
                assert!((found - square).abs() < 1e-9 * square);
            }
            let inverse = factor.inverse_lower_unless(&|| false);
            let solved = combination(&inverse, &combination(&matrix, &x, q), q);
            assert!(solved.iter().zip(&direct).all(|(found, value)| (found - value).abs() < 1e-9), "{q}");
            // Once it is to stop, nothing is computed any more.
            let asked = AtomicUsize::new(0);
            let is_stopped = || asked.fetch_add(1, Ordering::Relaxed) >= 2;
            assert_eq!(Cholesky::of_unless(matrix.clone(), q, &is_stopped).is_none(), q > 64);
            assert!(gram_unless(&a, m, &|| true).iter().all(|value| *value == 0.0));
            // One negative eigenvalue, at the end, where all else is done.
            matrix[q * q - 1] -= 1.0 + 1e3 * q as f64;
            assert!(Cholesky::of(matrix, q).is_none());
        }
    }

    #[test]
    fn products_agree_with_their_transposes() {
        let (m, q) = (700, 70);
        let a = wave(m * q);
        let right = wave(2 * m);
        let products = transposed_products(&a, &right, m);
        let rows = transposed(&a, m, &vec![2.0; m]);
        for k in 0..2 {
            let direct = combination(&rows, &right[k * m..(k + 1) * m], q);
            for (found, twice) in products[k * q..].iter().zip(direct) {
                assert!((2.0 * found - twice).abs() < 1e-9);
            }
        }
    }
}
