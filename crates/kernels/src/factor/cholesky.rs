//! Pivoted Cholesky factorisation of a positive semidefinite matrix given by its columns.

use fewest_core::Error;
use fewest_linalg::lanes::LANES;

use super::pivots::{self, Residual};
use super::{Factor, check_tolerance, not_finite};

/// A diagonal residual below minus this, relative to the largest diagonal entry, is not rounding.
const NEGATIVE: f64 = 1e-8;

/// Residuals below this, relative to the largest diagonal entry, are rounding: no pivot is taken there.
const ROUNDING: f64 = 4.0 * f64::EPSILON;

/// Number of columns allocated at once.
const COLUMNS_AT_ONCE: usize = 16;

impl Factor {
    /// Pivoted Cholesky of any positive semidefinite `n x n` matrix, given by its diagonal and by a function
    /// `column(j, out)` that writes its column `j`.
    ///
    /// At each step the largest residual on the diagonal (at a tie the first) becomes the pivot; it
    /// stops when their sum is at most `tolerance` times the trace, at `max_rank` columns, or when only
    /// rounding is left. Cost: `r` columns of the kernel and `n r²` multiplications.
    ///
    /// ```
    /// use fewest_kernels::Factor;
    /// // Similarity of points in the plane.
    /// let points: [[f64; 2]; 3] = [[0.0, 0.0], [1.0, 0.5], [0.2, 2.0]];
    /// let kernel = |i: usize, j: usize| -> f64 {
    ///     let [p, q] = [points[i], points[j]];
    ///     (-0.5 * ((p[0] - q[0]).powi(2) + (p[1] - q[1]).powi(2))).exp()
    /// };
    /// let column = |j: usize, out: &mut [f64]| out.iter_mut().enumerate().for_each(|(i, v)| *v = kernel(i, j));
    /// let factor = Factor::from_columns(3, |i| kernel(i, i), column, 1e-12, 3)?;
    /// assert!((factor.to_gram().get(0, 1) - kernel(0, 1)).abs() < 1e-12);
    /// # Ok::<(), fewest_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless `0 <= tolerance < 1`; [`Error::Numerical`] when values are not
    /// finite, or when a residual on the diagonal becomes clearly negative: the matrix is then not positive
    /// semidefinite, and use [`Factor::from_gram`] instead.
    pub fn from_columns(
        n: usize,
        diagonal: impl Fn(usize) -> f64,
        column: impl FnMut(usize, &mut [f64]),
        tolerance: f64,
        max_rank: usize,
    ) -> Result<Self, Error> {
        Self::eliminate(Vec::new(), (0..n).map(diagonal).collect(), column, tolerance, max_rank)
    }

    /// [`Factor::from_columns`] in the memory of `values`, from the diagonal.
    pub(super) fn eliminate(
        mut values: Vec<f64>,
        mut left: Vec<f64>,
        mut column: impl FnMut(usize, &mut [f64]),
        tolerance: f64,
        max_rank: usize,
    ) -> Result<Self, Error> {
        check_tolerance(tolerance)?;
        let n = left.len();
        // Zeros at the end of the diagonal and of the newest column fill up the last of their runs.
        let filled = n.next_multiple_of(LANES);
        left.resize(filled, 0.0);
        let mut state = pivots::summarise(&left);
        let scale = state.largest;
        check(&left, state, scale)?;
        let trace = state.sum;
        let mut pivot_row = Vec::new();
        let mut rank = 0;
        while rank < max_rank.min(n) && state.sum > tolerance * trace && state.largest > ROUNDING * scale {
            let Some(pivot) = pivots::first_place(&left, state.largest) else { break };
            let start = rank * n;
            if values.capacity() < start + filled {
                values.truncate(start);
                values.reserve(COLUMNS_AT_ONCE.min(max_rank.min(n) - rank) * n + filled);
            }
            // What was there before is written over.
            values.resize(values.len().max(start + filled), 0.0);
            let (earlier, new) = values[..start + filled].split_at_mut(start);
            new[n..].fill(0.0);
            column(pivot, &mut new[..n]);
            pivot_row.clear();
            pivot_row.extend(earlier.chunks_exact(n).map(|phi| -phi[pivot]));
            pivots::add_combination(earlier, &pivot_row, &mut new[..n]);
            // The value of the diagonal, so that the residual of this sample is only rounding.
            new[pivot] = state.largest;
            state = pivots::finish_pivot(new, 1.0 / state.largest.sqrt(), &mut left);
            rank += 1;
            check(&left, state, scale)?;
        }
        values.truncate(rank * n);
        Ok(Self { n_samples: n, rank, values, signs: None, residual: state.sum, scale: trace })
    }
}

/// Checks that the diagonal of the residual can belong to a positive semidefinite matrix.
fn check(left: &[f64], state: Residual, scale: f64) -> Result<(), Error> {
    if !state.sum.is_finite() {
        return Err(not_finite());
    }
    if state.smallest < -NEGATIVE * scale {
        let sample = left.iter().position(|&value| value == state.smallest).unwrap_or(0);
        return Err(Error::Numerical {
            what: "Cholesky factorisation",
            hint: format!(
                "sample {sample} (counted from 0) leaves {:.3e} on the diagonal: the kernel is not positive \
                 semidefinite as it claims; declare it indefinite",
                state.smallest
            ),
        });
    }
    Ok(())
}
