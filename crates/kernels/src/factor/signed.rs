//! Signed factors of symmetric matrices that need not be positive semidefinite.

use fewest_core::{Error, order};

use super::{Factor, check_tolerance, not_finite};
use fewest_linalg::lanes;

use crate::factor::pivots;

use crate::Gram;

/// Up to this many samples every column is watched while factoring, and every bound is exact.
const ALL: usize = 128;

/// Columns watched while factoring more samples.
const WATCHED: usize = 32;

/// Columns computed afterwards, to check the error on the watched ones.
const CHECKED: usize = 16;

/// A diagonal entry at least this part of the largest entry is a pivot by itself; else the largest entry
/// and its two diagonal entries are one pivot of two rows: `(1 + sqrt 17)/8`, which bounds growth
/// (Bunch and Parlett 1971).
const SINGLE: f64 = 0.640_388_203_202_208_2;

/// Entries below this, relative to the largest entry, are rounding: no pivot is taken there.
const ROUNDING: f64 = 8.0 * f64::EPSILON;

/// A difference between `<K, K>` and what a positive semidefinite factor leaves that is not rounding.
const NOT_SEMIDEFINITE: f64 = 1e-10;

impl Factor {
    /// Signed factor of the matrix of a symmetric kernel on `points`, given by its diagonal and by a function
    /// `column(j, out)` that writes its column `j`.
    ///
    /// Symmetric elimination with pivots of one or two rows, taken where the residual is largest among the
    /// diagonal and 32 watched columns, those of quantiles, the extremes among them; a pivot of two rows
    /// gives one positive and one negative column. It stops when the residual's Frobenius norm, estimated
    /// from the watched columns, is at most `tolerance` times the matrix's, where the next pivot would make
    /// more than `max_rank` columns, or when only rounding is left. Then 16 other columns are computed; where
    /// they disagree they are watched too, and the elimination continues. [`Factor::trace_error`] is the
    /// larger of both estimates. At most `r + 48` columns are computed if the check holds. Up to 128
    /// samples all columns are watched and the norm is exact.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless `0 <= tolerance < 1`; [`Error::Numerical`] when values are not
    /// finite.
    pub(super) fn from_indefinite_points(
        points: &[f64],
        diagonal: impl Fn(usize) -> f64,
        column: impl FnMut(usize, &mut [f64]),
        tolerance: f64,
        max_rank: usize,
    ) -> Result<Self, Error> {
        check_tolerance(tolerance)?;
        let n = points.len();
        let sorted = order::ascending(points);
        let mut order = Vec::with_capacity(n);
        let mut taken = vec![false; n];
        for parts in [WATCHED, 2 * WATCHED - 1, 32 * WATCHED - 31] {
            for k in 0..parts {
                let position = k * n.saturating_sub(1) / (parts - 1);
                if let Some(&index) = sorted.get(position)
                    && !std::mem::replace(&mut taken[index], true)
                {
                    order.push(index);
                }
            }
        }
        order.extend((0..n).filter(|&index| !taken[index]));
        let watched = if n <= ALL { n } else { WATCHED };
        Elimination::new(n, diagonal, column)?.run(&order, watched, tolerance, max_rank)
    }

    /// Factor of an explicit Gram matrix at a relative `tolerance`: pivoted Cholesky where the matrix is
    /// positive semidefinite, which is checked against every entry, else a signed factor. `O(n² r)`.
    ///
    /// ```
    /// use fewest_kernels::{Factor, Gram};
    /// let indefinite = Gram::from_fn(3, |i, j| if i == j { 0.0 } else { 1.0 });
    /// let factor = Factor::from_gram(&indefinite, 1e-12)?;
    /// assert!(factor.signs().is_some_and(|signs| signs.contains(&-1.0)));
    /// assert!((factor.to_gram().get(0, 2) - 1.0).abs() < 1e-12);
    /// # Ok::<(), fewest_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless `0 <= tolerance < 1`; [`Error::Numerical`] when sums overflow.
    pub fn from_gram(gram: &Gram, tolerance: f64) -> Result<Self, Error> {
        let n = gram.n();
        let diagonal = |i: usize| gram.get(i, i);
        let column = |j: usize, out: &mut [f64]| out.copy_from_slice(gram.column(j));
        if let Ok(factor) = Self::from_columns(n, diagonal, column, tolerance, n) {
            let mut residual = factor.to_gram().as_slice().to_vec();
            for (value, entry) in residual.iter_mut().zip(gram.as_slice()) {
                *value -= entry;
            }
            // A positive semidefinite residual has a Frobenius norm below its trace.
            let norm = lanes::dot(&residual, &residual).sqrt();
            if norm <= factor.residual + NOT_SEMIDEFINITE * gram.frobenius_norm() {
                return Ok(factor);
            }
        }
        check_tolerance(tolerance)?;
        let order: Vec<usize> = (0..n).collect();
        Elimination::new(n, diagonal, column)?.run(&order, n, tolerance, n)
    }
}

/// The reason why the elimination ends.
#[derive(PartialEq)]
enum End {
    /// The watched columns are within the tolerance.
    Tolerance,
    /// The next pivot would make too many columns.
    Rank,
    /// The residual of the watched columns is rounding.
    Rounding,
}

/// Columns of the residual that are updated in every step.
#[derive(Default)]
struct Watched {
    indices: Vec<usize>,
    residual: Vec<f64>,
    /// The sum of squares and the largest size of an entry, for each column of the residual.
    squares: Vec<f64>,
    largest: Vec<f64>,
    /// The sum of squares of these columns in the matrix itself.
    original: f64,
}

impl Watched {
    /// Estimates of the residual's and the matrix's Frobenius norm; exact when every column is here.
    fn norms(&self, n: usize) -> (f64, f64) {
        let scale = n as f64 / self.indices.len().max(1) as f64;
        ((scale * lanes::sum(&self.squares)).sqrt(), (scale * self.original).sqrt())
    }

    fn append(&mut self, mut other: Watched) {
        self.indices.append(&mut other.indices);
        self.residual.append(&mut other.residual);
        self.squares.append(&mut other.squares);
        self.largest.append(&mut other.largest);
        self.original += other.original;
    }

    /// Subtracts `sign phi phiᵀ`, one column after the other while it is in cache.
    fn subtract(&mut self, phi: &[f64], sign: f64) {
        let columns = self.residual.chunks_exact_mut(phi.len().max(1));
        for (k, (column, &index)) in columns.zip(&self.indices).enumerate() {
            (self.squares[k], self.largest[k]) = pivots::subtract_and_measure(phi, sign * phi[index], column);
        }
    }

    /// Row, column and value of the entry largest in size.
    fn largest_entry(&self, n: usize) -> (usize, usize, f64) {
        let (k, _) = largest_entry(&self.largest);
        let Some(&index) = self.indices.get(k) else { return (0, 0, 0.0) };
        let column = &self.residual[k * n..(k + 1) * n];
        let (row, _) = largest_entry(column);
        (row, index, column[row])
    }
}

struct Elimination<C> {
    n: usize,
    column: C,
    diagonal: Vec<f64>,
    values: Vec<f64>,
    signs: Vec<f64>,
    /// The largest absolute value of an entry so far.
    largest_seen: f64,
}

impl<C: FnMut(usize, &mut [f64])> Elimination<C> {
    fn new(n: usize, diagonal: impl Fn(usize) -> f64, column: C) -> Result<Self, Error> {
        let diagonal: Vec<f64> = (0..n).map(diagonal).collect();
        if diagonal.iter().any(|value| !value.is_finite()) {
            return Err(not_finite());
        }
        Ok(Self { n, column, diagonal, values: Vec::new(), signs: Vec::new(), largest_seen: 0.0 })
    }

    fn run(
        mut self,
        order: &[usize],
        first: usize,
        tolerance: f64,
        max_rank: usize,
    ) -> Result<Factor, Error> {
        let n = self.n;
        let mut watched = Watched::default();
        let (start, mut others) = order.split_at(first.min(n));
        self.watch(&mut watched, start)?;
        let (mut residual, mut scale);
        loop {
            let end = self.eliminate(&mut watched, tolerance, max_rank)?;
            (residual, scale) = watched.norms(n);
            let (next, rest) = others.split_at(CHECKED.min(others.len()));
            if next.is_empty() {
                break;
            }
            let mut check = Watched::default();
            self.watch(&mut check, next)?;
            let found = check.norms(n).0;
            residual = residual.max(found);
            // Every subtracted column adds rounding errors.
            let rounding = ROUNDING * (1 + self.signs.len()) as f64 * self.largest_seen;
            let only_rounding = end == End::Rounding && largest_entry(&check.largest).1 <= rounding;
            if found <= 2.0 * tolerance * scale || end == End::Rank || only_rounding {
                break;
            }
            watched.append(check);
            others = rest;
        }
        self.values.shrink_to_fit();
        Ok(Factor {
            n_samples: n,
            rank: self.signs.len(),
            values: self.values,
            signs: Some(self.signs),
            residual,
            scale,
        })
    }

    /// Adds the residual's columns `indices`.
    fn watch(&mut self, watched: &mut Watched, indices: &[usize]) -> Result<(), Error> {
        watched.residual.reserve_exact(indices.len() * self.n);
        for &index in indices {
            let start = watched.residual.len();
            watched.residual.resize(start + self.n, 0.0);
            let column = &mut watched.residual[start..];
            (self.column)(index, column);
            let mut squares = lanes::dot(column, column);
            watched.original += squares;
            if !self.signs.is_empty() {
                self.subtract_factor(index, column);
                squares = lanes::dot(column, column);
            }
            watched.indices.push(index);
            watched.squares.push(squares);
            watched.largest.push(pivots::largest_size(column));
        }
        if watched.original.is_finite() { Ok(()) } else { Err(not_finite()) }
    }

    /// Turns column `index` of the matrix into that of the residual.
    fn subtract_factor(&self, index: usize, column: &mut [f64]) {
        let row: Vec<f64> = self
            .values
            .chunks_exact(self.n.max(1))
            .zip(&self.signs)
            .map(|(phi, sign)| -sign * phi[index])
            .collect();
        pivots::add_combination(&self.values, &row, column);
    }

    fn residual_column(&mut self, index: usize) -> Vec<f64> {
        let mut column = vec![0.0; self.n];
        (self.column)(index, &mut column);
        self.subtract_factor(index, &mut column);
        column
    }

    /// Takes pivots until the watched columns are within the tolerance.
    fn eliminate(&mut self, watched: &mut Watched, tolerance: f64, max_rank: usize) -> Result<End, Error> {
        let max_rank = max_rank.min(self.n);
        loop {
            let (residual, scale) = watched.norms(self.n);
            let (on, on_value) = largest_entry(&self.diagonal);
            let (i, j, entry) = watched.largest_entry(self.n);
            let off_value = entry.abs();
            self.largest_seen = self.largest_seen.max(on_value).max(off_value);
            // The diagonal is known in full, and a lower bound of the norm that is to be small.
            let residual = residual.max(lanes::dot(&self.diagonal, &self.diagonal).sqrt());
            if residual <= tolerance * scale {
                return Ok(End::Tolerance);
            }
            if on_value.max(off_value) <= ROUNDING * self.largest_seen {
                return Ok(End::Rounding);
            }
            let is_single = on_value >= SINGLE * off_value;
            if self.signs.len() + if is_single { 1 } else { 2 } > max_rank {
                return Ok(End::Rank);
            }
            if is_single {
                let mut phi = self.residual_column(on);
                phi[on] = self.diagonal[on];
                self.accept(phi, self.diagonal[on], watched)?;
            } else {
                self.accept_pair(i, j, entry, watched)?;
            }
        }
    }

    /// A pivot of the two rows `i` and `j`: both eigenvectors of `[[r_ii, r_ij], [r_ij, r_jj]]`.
    fn accept_pair(&mut self, i: usize, j: usize, entry: f64, watched: &mut Watched) -> Result<(), Error> {
        let (first, second) = (self.residual_column(i), self.residual_column(j));
        let (a, c) = (self.diagonal[i], self.diagonal[j]);
        // The pivot rule makes |entry| dominate, so the angle is near 45° and the two
        // eigenvalues have opposite signs.
        let angle = 0.5 * (2.0 * entry).atan2(a - c);
        let (sine, cosine) = angle.sin_cos();
        let (middle, half_gap) = (0.5 * (a + c), (0.5 * (a - c)).hypot(entry));
        for (x, y, eigenvalue) in [(cosine, sine, middle + half_gap), (-sine, cosine, middle - half_gap)] {
            let combined = first.iter().zip(&second).map(|(p, q)| x * p + y * q).collect();
            self.accept(combined, eigenvalue, watched)?;
        }
        Ok(())
    }

    /// Adds the column `phi / sqrt |pivot|` with the pivot's sign and subtracts it from all that is watched.
    fn accept(&mut self, mut phi: Vec<f64>, pivot: f64, watched: &mut Watched) -> Result<(), Error> {
        let (inverse, sign) = (1.0 / pivot.abs().sqrt(), pivot.signum());
        for (value, left) in phi.iter_mut().zip(&mut self.diagonal) {
            *value *= inverse;
            *left -= sign * (*value * *value);
        }
        if !lanes::sum(&phi).is_finite() || !lanes::sum(&self.diagonal).is_finite() {
            return Err(not_finite());
        }
        watched.subtract(&phi, sign);
        self.values.extend_from_slice(&phi);
        self.signs.push(sign);
        Ok(())
    }
}

/// Position and size of the entry largest in size, the first of equal ones; `(0, 0.0)` when there is none.
fn largest_entry(values: &[f64]) -> (usize, f64) {
    let largest = pivots::largest_size(values);
    (values.iter().position(|value| value.abs() == largest).unwrap_or(0), largest)
}
