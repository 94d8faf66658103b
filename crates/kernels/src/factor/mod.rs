//! Low-rank factors of Gram matrices.

mod cholesky;
mod leading;
mod pivots;
mod shared;
mod signed;
mod spectral;
mod stacked;

use std::cell::Cell;

use fewest_core::Error;

pub use leading::{Leading, LeadingBuffers};
pub use shared::{Interpolated, Pair, SharedFactor};
pub use stacked::{Stacked, squared_cross_norms};

use fewest_linalg::{LaidOut, lanes};

use crate::{Definiteness, Gram, ScalarKernel};

/// A Gram matrix as `K ≈ Φ S Φᵀ`: `Φ` is `n x r`, `S` a diagonal of signs, all `+1` for a positive
/// semidefinite kernel.
///
/// The Gram matrix of **one** feature under a smooth kernel has a very small numerical rank: the Gaussian
/// kernel with the bandwidth of a standard deviation needs 10 to 15 columns for a relative trace error of
/// 1e-6, for any number of samples. Memory is then `8 n r` bytes instead of `8 n²`, and
/// `<K, L>_F = ‖ΦᵀΨ‖²_F` costs `n r²` instead of `n²`.
///
/// ```
/// use fewest_kernels::{Factor, Gaussian, Gram};
/// let points: Vec<f64> = (0..200).map(|i| (i as f64 * 0.7).sin()).collect();
/// let kernel = Gaussian::new(1.0)?;
/// let mut factor = Factor::new(&kernel, &points, 1e-8, 50)?;
/// assert!(factor.rank() < 12 && factor.trace_error() <= 1e-8);
/// factor.centre();
/// let exact = Gram::new(&kernel, &points).centre();
/// assert!((factor.inner(&factor).sqrt() / exact.frobenius_norm() - 1.0).abs() < 1e-6);
/// # Ok::<(), fewest_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Factor {
    n_samples: usize,
    rank: usize,
    values: Vec<f64>,
    signs: Option<Vec<f64>>,
    /// The residual of the factor: its trace (positive semidefinite) or its Frobenius norm
    /// (signed).
    residual: f64,
    /// The scale of `residual`: the trace of the matrix or its Frobenius norm.
    scale: f64,
}

impl Factor {
    /// Factor of the Gram matrix of `points` under `kernel`.
    ///
    /// * If the kernel has an exact factor of rank at most `max_rank`, this one.
    /// * A positive semidefinite kernel: pivoted Cholesky, stopped when the trace of the residual is at most
    ///   `tolerance` times that of the Gram. The residual is positive semidefinite, so its Frobenius norm
    ///   is below its trace. `r` kernel rows and `n r²` multiplications; the Gram is never formed.
    /// * Any other kernel: a signed factor from pivots of one or two rows, stopped when the residual's
    ///   Frobenius norm, estimated from columns spread over the samples, is at most `tolerance` times that
    ///   of the Gram, and checked on other columns.
    ///
    /// At `max_rank` columns it stops in any case: [`Factor::trace_error`] is the error reached.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless `0 <= tolerance < 1`; [`Error::Numerical`] when kernel values are
    /// not finite, or when a kernel that claims to be positive semidefinite is found not to be.
    pub fn new(
        kernel: &dyn ScalarKernel,
        points: &[f64],
        tolerance: f64,
        max_rank: usize,
    ) -> Result<Self, Error> {
        Self::new_unless(kernel, points, tolerance, max_rank, &|| false)
    }

    /// [`Factor::new`] in the memory of `values`, those of a factor that is no longer needed: for thousands
    /// of factors that are looked at one after the other.
    ///
    /// # Errors
    /// As [`Factor::new`].
    pub fn new_in(
        values: Vec<f64>,
        kernel: &dyn ScalarKernel,
        points: &[f64],
        tolerance: f64,
        max_rank: usize,
    ) -> Result<Self, Error> {
        Self::build(values, kernel, points, tolerance, max_rank, &|| false)
    }

    /// [`Factor::new`], which ends once `is_stopped` says so: it is asked before each column.
    ///
    /// # Errors
    /// As [`Factor::new`]; [`Error::Stopped`].
    pub fn new_unless(
        kernel: &dyn ScalarKernel,
        points: &[f64],
        tolerance: f64,
        max_rank: usize,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<Self, Error> {
        Self::build(Vec::new(), kernel, points, tolerance, max_rank, is_stopped)
    }

    fn build(
        values: Vec<f64>,
        kernel: &dyn ScalarKernel,
        points: &[f64],
        tolerance: f64,
        max_rank: usize,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<Self, Error> {
        check_tolerance(tolerance)?;
        if kernel.exact_rank(points).is_none_or(|rank| rank <= max_rank)
            && let Some(factor) = kernel.exact_factor(points)
            && factor.rank <= max_rank
        {
            return Ok(factor);
        }
        let n = points.len();
        let mut diagonal = vec![0.0; n];
        kernel.diagonal(points, &mut diagonal);
        // A column that is not finite ends either factorisation.
        let stopped = Cell::new(false);
        let column = |j: usize, out: &mut [f64]| {
            stopped.set(stopped.get() || is_stopped());
            if stopped.get() {
                out.fill(f64::NAN);
            } else {
                kernel.eval_many(points[j], points, out);
            }
        };
        let factor = match kernel.definiteness() {
            Definiteness::PositiveSemidefinite => {
                Self::eliminate(values, diagonal, column, tolerance, max_rank)
            }
            _ => Self::from_indefinite_points(points, |i| diagonal[i], column, tolerance, max_rank),
        };
        if stopped.get() { Err(Error::Stopped { before: "a kernel was factorised" }) } else { factor }
    }

    /// An exact, unsigned factor from its `n_samples x rank` values, column after column.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] unless there are `n_samples rank` values; [`Error::Numerical`] when one is
    /// not finite.
    pub fn from_values(values: Vec<f64>, n_samples: usize, rank: usize) -> Result<Self, Error> {
        let expected = n_samples.saturating_mul(rank);
        if values.len() != expected {
            return Err(Error::ShapeMismatch { what: "values of the factor", expected, found: values.len() });
        }
        if values.iter().any(|value| !value.is_finite()) {
            return Err(not_finite());
        }
        Ok(Self::exact(n_samples, rank, values))
    }

    /// [`Factor::from_values`] without checks.
    pub(crate) fn exact(n_samples: usize, rank: usize, values: Vec<f64>) -> Self {
        let scale = lanes::dot(&values, &values);
        Self { n_samples, rank, values, signs: None, residual: 0.0, scale }
    }

    /// Number of samples, the rows of `Φ`.
    pub fn n_samples(&self) -> usize {
        self.n_samples
    }

    /// Number of columns of `Φ`.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// `Φ`, column after column.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// [`Factor::values`], of a factor that is no longer needed.
    pub fn into_values(self) -> Vec<f64> {
        self.values
    }

    /// Column `a` of `Φ`, `a < rank()`.
    pub fn column(&self, a: usize) -> &[f64] {
        &self.values[a * self.n_samples..(a + 1) * self.n_samples]
    }

    /// The diagonal of `S`, `+1` or `-1` a column; `None` when all are `+1`.
    pub fn signs(&self) -> Option<&[f64]> {
        self.signs.as_deref()
    }

    /// The relative residual of the factor: the trace of the residual divided by the trace of the matrix
    /// (positive semidefinite kernels), or the same for the Frobenius norms (signed factors; an estimate
    /// for more than 128 samples). 0 for exact factors.
    pub fn trace_error(&self) -> f64 {
        if self.scale > 0.0 { self.residual / self.scale } else { 0.0 }
    }

    /// Replaces `Φ` by `H Φ`, `H = I - 11ᵀ/n`: the factor of the centred Gram matrix. `O(n r)`.
    pub fn centre(&mut self) {
        pivots::centre_columns(&mut self.values, self.n_samples);
    }

    /// `<K, L>_F = ‖ΦᵀΨ‖²_F`, with signs `Σ_ab s_a t_b (φ_aᵀψ_b)²`. `O(n r_K r_L)`.
    ///
    /// For centred factors this is `tr(KHLH)`, the biased HSIC without its factor of n.
    ///
    /// # Panics
    /// When the other factor has another number of samples.
    pub fn inner(&self, other: &Factor) -> f64 {
        assert_eq!(
            self.n_samples, other.n_samples,
            "factors of different numbers of samples have no inner product"
        );
        let mut products = vec![0.0; self.rank * other.rank];
        let n = self.n_samples;
        LaidOut::new(&self.values, n).products(&LaidOut::new(&other.values, n), &mut products);
        if self.signs.is_none() && other.signs.is_none() {
            return lanes::dot(&products, &products);
        }
        let mut total = 0.0;
        for (b, column) in products.chunks_exact(self.rank.max(1)).enumerate() {
            total += sign(&other.signs, b) * signed_square(column, self.signs.as_deref());
        }
        total
    }

    /// `‖Φ S Φᵀ‖_F`.
    pub fn frobenius_norm(&self) -> f64 {
        self.inner(self).max(0.0).sqrt()
    }

    /// The diagonal of `Φ S Φᵀ`. `O(n r)`.
    pub fn diagonal(&self) -> Vec<f64> {
        let mut diagonal = vec![0.0; self.n_samples];
        for (a, column) in self.values.chunks_exact(self.n_samples.max(1)).enumerate() {
            let sign = sign(&self.signs, a);
            for (sum, &value) in diagonal.iter_mut().zip(column) {
                *sum += sign * (value * value);
            }
        }
        diagonal
    }

    /// The whole matrix `Φ S Φᵀ`. `O(n² r)`.
    pub fn to_gram(&self) -> Gram {
        let n = self.n_samples;
        let mut values = vec![0.0; n * n];
        for (a, column) in self.values.chunks_exact(n.max(1)).enumerate() {
            let sign = sign(&self.signs, a);
            for (out, &scale) in values.chunks_exact_mut(n).zip(column) {
                for (sum, &value) in out.iter_mut().zip(column) {
                    *sum += sign * (value * scale);
                }
            }
        }
        Gram::from_symmetric(values, n)
    }
}

/// Sign of column `a`.
fn sign(signs: &Option<Vec<f64>>, a: usize) -> f64 {
    signs.as_ref().map_or(1.0, |signs| signs[a])
}

/// `Σ_a s_a x_a²`.
fn signed_square(values: &[f64], signs: Option<&[f64]>) -> f64 {
    match signs {
        None => lanes::dot(values, values),
        Some(signs) => values.iter().zip(signs).map(|(value, sign)| sign * (value * value)).sum(),
    }
}

fn check_tolerance(tolerance: f64) -> Result<(), Error> {
    if (0.0..1.0).contains(&tolerance) {
        Ok(())
    } else {
        Err(Error::parameter("tolerance", tolerance, "at least 0 and below 1"))
    }
}

fn not_finite() -> Error {
    Error::Numerical {
        what: "factorisation of a Gram matrix",
        hint: "kernel values are not finite: check the data for NaN, infinities and values whose kernel overflows"
            .into(),
    }
}
