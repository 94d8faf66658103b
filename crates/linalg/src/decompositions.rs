//! Decompositions of nalgebra's matrices, compiled here once: they are generic, and every crate that calls
//! them itself would compile them again.

use nalgebra::{Cholesky, DMatrix, DVector, Dyn, LU, QR, SymmetricEigen};

/// Sweeps after which an eigendecomposition gives up: for finite numbers a few for each row suffice.
const MOST_SWEEPS: usize = 100_000;

/// Eigenvalues and eigenvectors of a symmetric matrix, of which the lower triangle is read; `None` where they
/// are not found, since numbers are not finite or overflow. `O(n³)`.
pub fn symmetric_eigen(matrix: DMatrix<f64>) -> Option<SymmetricEigen<f64, Dyn>> {
    let most = MOST_SWEEPS.max(100 * matrix.nrows());
    SymmetricEigen::try_new(matrix, f64::EPSILON, most)
}

/// The eigenvalues of a symmetric matrix, in no order. `O(n³)`.
pub fn symmetric_eigenvalues(matrix: &DMatrix<f64>) -> DVector<f64> {
    matrix.symmetric_eigenvalues()
}

/// The Cholesky factor of a symmetric matrix; `None` where it is not positive definite. `O(n³)`.
///
/// [`Cholesky`](crate::Cholesky) of this crate works on slices and in parallel, for large matrices.
pub fn cholesky(matrix: DMatrix<f64>) -> Option<Cholesky<f64, Dyn>> {
    Cholesky::new(matrix)
}

/// The factors of a square matrix with row exchanges. `O(n³)`.
pub fn lu(matrix: DMatrix<f64>) -> LU<f64, Dyn, Dyn> {
    LU::new(matrix)
}

/// The orthogonal and the triangular factor of a matrix. `O(m n²)`.
pub fn qr(matrix: DMatrix<f64>) -> QR<f64, Dyn, Dyn> {
    QR::new(matrix)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_give_the_matrix_back() {
        let matrix = DMatrix::from_row_slice(3, 3, &[4.0, 1.0, 0.5, 1.0, 3.0, -0.2, 0.5, -0.2, 2.0]);
        let close = |found: DMatrix<f64>| assert!((found - &matrix).amax() < 1e-12);
        let Some(eigen) = symmetric_eigen(matrix.clone()) else { panic!("the matrix is finite") };
        close(
            &eigen.eigenvectors * DMatrix::from_diagonal(&eigen.eigenvalues) * eigen.eigenvectors.transpose(),
        );
        let sorted = |values: &DVector<f64>| {
            let mut values: Vec<f64> = values.iter().copied().collect();
            values.sort_by(f64::total_cmp);
            DVector::from_vec(values)
        };
        assert!((sorted(&symmetric_eigenvalues(&matrix)) - sorted(&eigen.eigenvalues)).amax() < 1e-12);
        let Some(factor) = cholesky(matrix.clone()) else { panic!("the matrix is positive definite") };
        close(factor.l() * factor.l().transpose());
        close(qr(matrix.clone()).q() * qr(matrix.clone()).r());
        let lu = lu(matrix.clone());
        assert!(lu.solve(&matrix).is_some_and(|found| (found - DMatrix::identity(3, 3)).amax() < 1e-12));
        assert!(cholesky(-matrix.clone()).is_none());
        assert!(symmetric_eigen(matrix.map(|value| if value > 3.5 { f64::NAN } else { value })).is_none());
    }
}
