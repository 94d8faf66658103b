//! The Hilbert–Schmidt independence criterion: how strongly two variables depend on each other.
//!
//! For Gram matrices `K`, `L` of the same `n` samples, `H = I - 11ᵀ/n` and `K̄ = H K H`, all estimators here
//! are made of the inner product `<K̄, L̄>_F = tr(K H L H)`; they take [`Gram`]s and [`Factor`]s alike,
//! centred or not. With a characteristic kernel such as the Gaussian, HSIC is zero in the limit exactly
//! when the variables are independent.

use fewest_core::Error;

use fewest_linalg::lanes;

use crate::{Factor, Gram};

/// Norms below this, relative to those before centring, are rounding: the variable is constant.
const CONSTANT: f64 = 1e-13;

/// A symmetric matrix over samples, whole or as a factor.
pub trait KernelMatrix: Clone {
    /// Number of samples.
    fn n_samples(&self) -> usize;
    /// `H K H`.
    fn centred(&self) -> Self;
    /// `<K, L>_F`.
    fn inner(&self, other: &Self) -> f64;
    /// `K_ii` for every `i`.
    fn diagonal(&self) -> Vec<f64>;
    /// `‖K‖_F`.
    fn frobenius_norm(&self) -> f64 {
        self.inner(self).max(0.0).sqrt()
    }
}

impl KernelMatrix for Gram {
    fn n_samples(&self) -> usize {
        self.n()
    }
    fn centred(&self) -> Self {
        self.centre()
    }
    fn inner(&self, other: &Self) -> f64 {
        Gram::inner(self, other)
    }
    fn diagonal(&self) -> Vec<f64> {
        Gram::diagonal(self)
    }
}

impl KernelMatrix for Factor {
    fn n_samples(&self) -> usize {
        Factor::n_samples(self)
    }
    fn centred(&self) -> Self {
        let mut centred = self.clone();
        centred.centre();
        centred
    }
    fn inner(&self, other: &Self) -> f64 {
        Factor::inner(self, other)
    }
    fn diagonal(&self) -> Vec<f64> {
        Factor::diagonal(self)
    }
}

/// Which power of n the biased estimator is divided by. A scaling changes no ranking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum HsicScaling {
    /// `tr(KHLH)`, the form of HSIC Lasso (Yamada et al. 2014, Eq. 4).
    #[default]
    Trace,
    /// `tr(KHLH)/(n - 1)²` (Gretton et al. 2005): the limit does not depend on n.
    SampleSizeLessOne,
    /// `tr(KHLH)/n²`, the squared distance of the empirical mean embeddings (Gretton et al. 2007).
    SampleSize,
}

impl HsicScaling {
    /// What `tr(KHLH)` of `n` samples is multiplied by.
    pub fn factor(self, n: usize) -> f64 {
        match self {
            HsicScaling::Trace => 1.0,
            HsicScaling::SampleSizeLessOne => 1.0 / ((n.max(2) - 1) as f64).powi(2),
            HsicScaling::SampleSize => 1.0 / (n.max(1) as f64).powi(2),
        }
    }
}

/// The biased estimator `tr(KHLH)`, times the power of n that `scaling` names. Never negative for positive
/// semidefinite kernels.
///
/// ```
/// use fewest_kernels::hsic::{HsicScaling, biased};
/// use fewest_kernels::{Gram, Linear};
/// // With linear kernels: the squared sum of products of the centred values.
/// let x = Gram::new(&Linear, &[1.0, 2.0, 3.0]);
/// let y = Gram::new(&Linear, &[2.0, 4.0, 7.0]);
/// assert!((biased(&x, &y, HsicScaling::Trace)? - 25.0).abs() < 1e-12);
/// # Ok::<(), fewest_core::Error>(())
/// ```
///
/// # Errors
/// [`Error::ShapeMismatch`] when the numbers of samples differ.
pub fn biased<M: KernelMatrix>(k: &M, l: &M, scaling: HsicScaling) -> Result<f64, Error> {
    let n = check(k, l, 1)?;
    Ok(scaling.factor(n) * k.centred().inner(&l.centred()))
}

/// The unbiased estimator of Song et al. (2012), Eq. 5, for `K̃`, `L̃` with zeros on their diagonals:
///
/// `[tr(K̃L̃) + 1ᵀK̃1 1ᵀL̃1/((n-1)(n-2)) - 2/(n-2) 1ᵀK̃L̃1] / (n(n-3))`.
///
/// It is computed from the centred matrices, to which it is equal, so that no large terms cancel:
///
/// `[<K̄, L̄> - n/(n-2) Σ_i K̄_ii L̄_ii + tr K̄ tr L̄/((n-1)(n-2))] / (n(n-3))`.
///
/// Its mean over independent samples is zero; single values may be negative.
///
/// # Errors
/// [`Error::ShapeMismatch`] when the numbers of samples differ; [`Error::TooFew`] below 4 samples.
pub fn unbiased<M: KernelMatrix>(k: &M, l: &M) -> Result<f64, Error> {
    let n = check(k, l, 4)? as f64;
    let (k, l) = (k.centred(), l.centred());
    let (diagonal_k, diagonal_l) = (k.diagonal(), l.diagonal());
    let inner = k.inner(&l) - n / (n - 2.0) * lanes::dot(&diagonal_k, &diagonal_l)
        + lanes::sum(&diagonal_k) * lanes::sum(&diagonal_l) / ((n - 1.0) * (n - 2.0));
    Ok(inner / (n * (n - 3.0)))
}

/// The normalised form `<K̄, L̄>/(‖K̄‖ ‖L̄‖)`, between 0 and 1 for positive semidefinite kernels, also called
/// centred kernel alignment. 0 when a variable is constant.
///
/// # Errors
/// [`Error::ShapeMismatch`] when the numbers of samples differ.
pub fn normalised<M: KernelMatrix>(k: &M, l: &M) -> Result<f64, Error> {
    check(k, l, 1)?;
    let (centred_k, centred_l) = (k.centred(), l.centred());
    let (norm_k, norm_l) = (centred_k.frobenius_norm(), centred_l.frobenius_norm());
    if norm_k <= CONSTANT * k.frobenius_norm() || norm_l <= CONSTANT * l.frobenius_norm() {
        return Ok(0.0);
    }
    Ok(centred_k.inner(&centred_l) / norm_k / norm_l)
}

fn check<M: KernelMatrix>(k: &M, l: &M, minimum: usize) -> Result<usize, Error> {
    let n = k.n_samples();
    if l.n_samples() != n {
        return Err(Error::ShapeMismatch {
            what: "samples of a kernel matrix",
            expected: n,
            found: l.n_samples(),
        });
    }
    if n < minimum {
        return Err(Error::TooFew { what: "samples for HSIC", minimum, found: n });
    }
    Ok(n)
}
