//! Factors from the eigenvalues of the small matrix `ΦᵀΦ`: that of NOCCO, and the one of smallest rank.

use fewest_core::{Error, order};
use nalgebra::{DMatrix, DMatrixView, Dyn, SymmetricEigen};

use super::{Factor, check_tolerance, sign};
use fewest_linalg::LaidOut;

/// A matrix's eigenvalues `λ`, and directions in a basis such that the columns of `basis directions` are its
/// eigenvectors at norm `sqrt |λ|`. No basis means `Φ` itself.
struct Principal {
    basis: Option<DMatrix<f64>>,
    directions: DMatrix<f64>,
    eigenvalues: Vec<f64>,
}

impl Factor {
    /// `ΦᵀΦ`.
    pub(super) fn small_gram(&self) -> DMatrix<f64> {
        let mut values = vec![0.0; self.rank * self.rank];
        LaidOut::new(&self.values, self.n_samples).own_products(&mut values);
        DMatrix::from_vec(self.rank, self.rank, values)
    }

    /// Eigenvectors and eigenvalues of a small symmetric matrix.
    fn eigen(matrix: DMatrix<f64>) -> Result<SymmetricEigen<f64, Dyn>, Error> {
        fewest_linalg::symmetric_eigen(matrix).ok_or_else(|| Error::Numerical {
            what: "eigendecomposition of a small matrix",
            hint: "the factor's values overflow when squared: scale the features first".into(),
        })
    }

    /// `Φ M`, column after column.
    fn times(&self, matrix: &DMatrix<f64>) -> Vec<f64> {
        let phi = DMatrixView::from_slice(&self.values, self.n_samples, self.rank);
        (phi * matrix).data.into()
    }

    /// The factor of `K (K + epsilon n I)⁻¹` for `K = Φ S Φᵀ`, the normalised cross-covariance's matrix
    /// (Yamada et al. 2014, Section 2.5), usually of a centred `K`.
    ///
    /// It is `Φ M⁻¹ Φᵀ` with `M = ΦᵀΦ + epsilon n S`: an `r x r` problem instead of an `n x n` one. Without
    /// signs `M = R Rᵀ` and the factor is `Φ R⁻ᵀ`; with signs `M = V Λ Vᵀ` gives `Φ V |Λ|^(-1/2)` and the
    /// signs of `Λ`. `O(n r²)`.
    ///
    /// The error of the factor of `K` is amplified by up to `1/(epsilon n)`: [`Factor::trace_error`] of the
    /// result is this bound, relative to the new trace. Use a tolerance about `epsilon` times that for HSIC.
    /// For a signed factor it is an estimate, which holds when no eigenvalue of `K` lies near `-epsilon n`.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless `epsilon` is positive and finite; [`Error::Numerical`] when an
    /// indefinite `K` has an eigenvalue at `-epsilon n`.
    pub fn nocco(&self, epsilon: f64) -> Result<Factor, Error> {
        crate::nocco::check_epsilon(epsilon)?;
        if self.rank == 0 {
            return Ok(self.clone());
        }
        let shift = epsilon * self.n_samples as f64;
        let mut small = self.small_gram();
        for a in 0..self.rank {
            small[(a, a)] += shift * sign(&self.signs, a);
        }
        let (transform, signs) = match &self.signs {
            None => {
                let inverse = small
                    .cholesky()
                    .and_then(|cholesky| {
                        cholesky.l().solve_lower_triangular(&DMatrix::identity(self.rank, self.rank))
                    })
                    .ok_or_else(crate::nocco::singular)?;
                (inverse.transpose(), None)
            }
            Some(_) => {
                let eigen = Self::eigen(small)?;
                let largest = eigen.eigenvalues.amax();
                if eigen.eigenvalues.iter().any(|value| value.abs() <= 1e-14 * largest) {
                    return Err(crate::nocco::singular());
                }
                let mut transform = eigen.eigenvectors;
                for (mut column, value) in transform.column_iter_mut().zip(eigen.eigenvalues.iter()) {
                    column /= value.abs().sqrt();
                }
                (transform, Some(eigen.eigenvalues.iter().map(|value| value.signum()).collect()))
            }
        };
        let mut factor = Factor::exact(self.n_samples, self.rank, self.times(&transform));
        if signs.is_some() {
            factor.signs = signs;
            factor.scale = factor.frobenius_norm();
        }
        factor.residual = self.residual / shift;
        Ok(factor)
    }

    /// The factor of smallest rank whose matrix differs from this one's by at most `tolerance` times its
    /// Frobenius norm, with orthogonal columns in decreasing order of norm.
    ///
    /// Pivoted Cholesky keeps more columns than needed, and centring makes one of them superfluous: of 14 to
    /// 17 columns for a Gaussian kernel at a trace tolerance of 1e-6 this drops two to four at 1e-6, and
    /// every later inner product gets cheaper in proportion. `O(n r² + r³)`. [`Factor::trace_error`] then
    /// includes the part dropped.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless `0 <= tolerance < 1`.
    pub fn compress(&self, tolerance: f64) -> Result<Factor, Error> {
        check_tolerance(tolerance)?;
        if self.rank == 0 {
            return Ok(self.clone());
        }
        let Principal { basis, directions, eigenvalues } = self.principal()?;
        let total: f64 = eigenvalues.iter().map(|value| value * value).sum();
        let sizes: Vec<f64> = eigenvalues.iter().map(|value| value.abs()).collect();
        let mut order = order::descending(&sizes);
        let mut dropped = 0.0;
        let mut dropped_trace = 0.0;
        while let Some(&last) = order.last() {
            let value = eigenvalues[last];
            if dropped + value * value > tolerance * tolerance * total && value != 0.0 {
                break;
            }
            dropped += value * value;
            dropped_trace += value.abs();
            order.pop();
        }
        let directions = directions.select_columns(&order);
        let values = match basis {
            None => self.times(&directions),
            Some(basis) => (basis * directions).data.into(),
        };
        let mut factor = Factor::exact(self.n_samples, order.len(), values);
        if self.signs.is_some() {
            factor.signs = Some(order.iter().map(|&a| eigenvalues[a].signum()).collect());
            factor.residual = self.residual + dropped.sqrt();
        } else {
            factor.residual = self.residual + dropped_trace;
        }
        factor.scale = self.scale;
        Ok(factor)
    }

    /// The eigenvectors and eigenvalues of `Φ S Φᵀ`.
    fn principal(&self) -> Result<Principal, Error> {
        let Some(signs) = &self.signs else {
            // ΦᵀΦ has the eigenvalues of ΦΦᵀ, and Φ takes its eigenvectors to those of ΦΦᵀ.
            let eigen = Self::eigen(self.small_gram())?;
            let eigenvalues = eigen.eigenvalues.iter().map(|value| value.max(0.0)).collect();
            return Ok(Principal { basis: None, directions: eigen.eigenvectors, eigenvalues });
        };
        // With signs Φ = QR and ΦSΦᵀ = Q (RSRᵀ) Qᵀ. Here ΦᵀΦ is not sufficient: products of large and
        // small columns matter, and in ΦᵀΦ they have only half of the digits.
        let decomposition =
            fewest_linalg::qr(DMatrix::from_column_slice(self.n_samples, self.rank, &self.values));
        let triangle = decomposition.r();
        let mut signed = triangle.clone();
        for (mut column, sign) in signed.column_iter_mut().zip(signs) {
            column *= *sign;
        }
        let eigen = Self::eigen(signed * triangle.transpose())?;
        let mut directions = eigen.eigenvectors;
        for (mut column, value) in directions.column_iter_mut().zip(eigen.eigenvalues.iter()) {
            column *= value.abs().sqrt();
        }
        let eigenvalues = eigen.eigenvalues.iter().copied().collect();
        Ok(Principal { basis: Some(decomposition.q()), directions, eigenvalues })
    }
}
