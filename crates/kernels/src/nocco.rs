//! NOCCO, the normalised cross-covariance (Fukumizu et al. 2008): `K̃ = K̄ (K̄ + εnI)⁻¹` instead of the
//! centred Gram matrix `K̄` (Yamada et al. 2014, Section 2.5).
//!
//! The dependence measure of two features is `tr(K̃ L̃)`, the inner product of two such matrices
//! ([`Gram::inner`]) or factors ([`Factor::inner`](crate::Factor::inner)). For factors see
//! [`Factor::nocco`](crate::Factor::nocco).

use fewest_core::Error;
use nalgebra::DMatrix;

use crate::Gram;

/// `K (K + epsilon n I)⁻¹` for a Gram matrix, usually a centred one. `O(n³)`; by [`Factor::nocco`] it is
/// `O(n r²)`.
///
/// ```
/// use fewest_kernels::{Gaussian, Gram, nocco};
/// let centred = Gram::new(&Gaussian::new(1.0)?, &[0.0, 1.0, 5.0]).centre();
/// let normalised = nocco::normalise(&centred, 1e-3)?;
/// // Its eigenvalues lie between 0 and 1: here two near 1, and the 0 of centring.
/// assert!((normalised.trace() - 2.0).abs() < 0.05);
/// # Ok::<(), fewest_core::Error>(())
/// ```
///
/// [`Factor::nocco`]: crate::Factor::nocco
///
/// # Errors
/// [`Error::InvalidParameter`] unless `epsilon` is positive and finite; [`Error::Numerical`] when an
/// indefinite `K` has an eigenvalue at `-epsilon n`.
pub fn normalise(gram: &Gram, epsilon: f64) -> Result<Gram, Error> {
    check_epsilon(epsilon)?;
    let n = gram.n();
    if n == 0 {
        return Ok(gram.clone());
    }
    let matrix = DMatrix::from_column_slice(n, n, gram.as_slice());
    let mut shifted = matrix.clone();
    for i in 0..n {
        shifted[(i, i)] += epsilon * n as f64;
    }
    let solved = match fewest_linalg::cholesky(shifted.clone()) {
        Some(cholesky) => cholesky.solve(&matrix),
        None => fewest_linalg::lu(shifted).solve(&matrix).ok_or_else(singular)?,
    };
    if solved.iter().any(|value| !value.is_finite()) {
        return Err(singular());
    }
    // The two factors commute, so the product is symmetric up to rounding.
    let values = (&solved + solved.transpose()) * 0.5;
    Ok(Gram::from_symmetric(values.data.into(), n))
}

pub(crate) fn check_epsilon(epsilon: f64) -> Result<(), Error> {
    if epsilon.is_finite() && epsilon > 0.0 {
        Ok(())
    } else {
        Err(Error::parameter("epsilon", epsilon, "positive and finite"))
    }
}

pub(crate) fn singular() -> Error {
    Error::Numerical {
        what: "the normalisation K (K + epsilon n I)^-1",
        hint: "K + epsilon n I is singular: raise epsilon, and check the data for NaN".into(),
    }
}
