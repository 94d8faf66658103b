//! What a kernel on one scalar feature is.

use crate::Factor;

/// What is known about the sign of a kernel's Gram matrices.
///
/// An indefinite kernel is legal everywhere in this crate, and never silently treated as positive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Definiteness {
    /// Every Gram matrix is positive semidefinite: `cᵀ K c >= 0` for every `c`.
    PositiveSemidefinite,
    /// `cᵀ K c >= 0` for every `c` that sums to zero; the centred Gram is positive semidefinite.
    ConditionallyPositive,
    /// Some Gram matrix has eigenvalues of both signs.
    Indefinite,
    /// Nothing is known; treated as indefinite.
    Unknown,
}

/// A symmetric kernel `k(a, b) = k(b, a)` on the values of one feature.
///
/// Two methods make a kernel; the others are there to be overridden for speed or exactness. A kernel
/// returns the same values at every call. NaN among the values gives NaN (or, for the delta kernels, 0):
/// callers check their data first.
///
/// ```
/// use fewest_kernels::{Definiteness, Factor, ScalarKernel};
///
/// /// The kernel of Brownian motion on the non-negative numbers.
/// struct Minimum;
///
/// impl ScalarKernel for Minimum {
///     fn eval(&self, a: f64, b: f64) -> f64 {
///         a.min(b)
///     }
///     fn definiteness(&self) -> Definiteness {
///         Definiteness::PositiveSemidefinite
///     }
/// }
///
/// let factor = Factor::new(&Minimum, &[1.0, 2.0, 4.0], 1e-12, 3)?;
/// assert!((factor.to_gram().get(1, 2) - 2.0).abs() < 1e-12);
/// # Ok::<(), fewest_core::Error>(())
/// ```
pub trait ScalarKernel: Send + Sync {
    /// `k(a, b)`.
    fn eval(&self, a: f64, b: f64) -> f64;

    /// What is known about the sign of this kernel's Gram matrices.
    fn definiteness(&self) -> Definiteness;

    /// `out[i] = k(x, points[i])`, as far as the shorter of the two slices reaches. Override for
    /// vectorised speed; values may differ from [`ScalarKernel::eval`] in the last digits.
    fn eval_many(&self, x: f64, points: &[f64], out: &mut [f64]) {
        for (value, &point) in out.iter_mut().zip(points) {
            *value = self.eval(x, point);
        }
    }

    /// `out[i] = k(points[i], points[i])`, as far as the shorter of the two slices reaches.
    fn diagonal(&self, points: &[f64], out: &mut [f64]) {
        for (value, &point) in out.iter_mut().zip(points) {
            *value = self.eval(point, point);
        }
    }

    /// `k(points[i], points[j])` for `j = 0..n, i = 0..=j`, in this order; `out` has length `n(n+1)/2`.
    fn upper_triangle(&self, points: &[f64], out: &mut [f64]) {
        let mut rest = out;
        for (j, &x) in points.iter().enumerate() {
            let Some((column, after)) = rest.split_at_mut_checked(j + 1) else { break };
            self.eval_many(x, &points[..=j], column);
            rest = after;
        }
    }

    /// The exact factor of the Gram matrix of `points` where the kernel knows one of small rank.
    fn exact_factor(&self, _points: &[f64]) -> Option<Factor> {
        None
    }

    /// The rank of [`ScalarKernel::exact_factor`], where it can be large and is cheaper to find than the
    /// factor itself: [`Factor::new`] asks for the factor only when this does not exceed its largest rank.
    fn exact_rank(&self, _points: &[f64]) -> Option<usize> {
        None
    }
}

impl<K: ScalarKernel + ?Sized> ScalarKernel for std::sync::Arc<K> {
    fn eval(&self, a: f64, b: f64) -> f64 {
        (**self).eval(a, b)
    }
    fn definiteness(&self) -> Definiteness {
        (**self).definiteness()
    }
    fn eval_many(&self, x: f64, points: &[f64], out: &mut [f64]) {
        (**self).eval_many(x, points, out);
    }
    fn diagonal(&self, points: &[f64], out: &mut [f64]) {
        (**self).diagonal(points, out);
    }
    fn upper_triangle(&self, points: &[f64], out: &mut [f64]) {
        (**self).upper_triangle(points, out);
    }
    fn exact_factor(&self, points: &[f64]) -> Option<Factor> {
        (**self).exact_factor(points)
    }
    fn exact_rank(&self, points: &[f64]) -> Option<usize> {
        (**self).exact_rank(points)
    }
}
