//! Decompositions of nalgebra's matrices, compiled here once: they are generic, and every crate that calls
//! them itself would compile them again.

use nalgebra::linalg::givens::GivensRotation;
use nalgebra::{
    Cholesky, DMatrix, DVector, Dyn, LU, Matrix2, QR, SymmetricEigen, SymmetricTridiagonal, Vector2,
    wilkinson_shift,
};

/// Sweeps after which an eigendecomposition gives up: for finite numbers a few for each row suffice.
const MOST_SWEEPS: usize = 100_000;

/// Eigenvalues and eigenvectors of a symmetric matrix, of which the lower triangle is read; `None` where they
/// are not found, since numbers are not finite or overflow. `O(n³)`.
pub fn symmetric_eigen(matrix: DMatrix<f64>) -> Option<SymmetricEigen<f64, Dyn>> {
    let most = MOST_SWEEPS.max(100 * matrix.nrows());
    let found = SymmetricEigen::try_new(matrix, f64::EPSILON, most)?;
    found.eigenvalues.iter().all(|value| value.is_finite()).then_some(found)
}

/// The eigenvalues of a symmetric matrix, of which the lower triangle is read, in no order; `None` where they
/// are not found, since numbers are not finite or overflow. `O(n³)`, a quarter of the time that the
/// eigenvectors take as well.
///
/// The steps and the bits of nalgebra's method of the same name, which has no limit on its sweeps and with
/// some numbers does not end.
pub fn symmetric_eigenvalues(matrix: DMatrix<f64>) -> Option<DVector<f64>> {
    let (n, largest) = (matrix.nrows(), matrix.amax());
    if n == 0 {
        return Some(DVector::zeros(0));
    }
    let scaled = if largest == 0.0 { matrix } else { matrix / largest };
    let (mut diagonal, mut beside) = SymmetricTridiagonal::new(scaled).unpack_tridiagonal();
    let mut end = n - 1;
    for _ in 0..MOST_SWEEPS.max(100 * n) {
        let Some(start) = unreduced(&diagonal, &mut beside, &mut end) else {
            diagonal *= largest;
            return diagonal.iter().all(|value| value.is_finite()).then_some(diagonal);
        };
        if end - start > 1 {
            sweep(&mut diagonal, &mut beside, start, end);
            if is_small(&diagonal, &beside, end - 1) {
                end -= 1;
            }
        } else {
            let off = beside[start];
            let pair = Matrix2::new(diagonal[start], off, off, diagonal[end]).eigenvalues()?;
            (diagonal[start], diagonal[end]) = (pair[0], pair[1]);
            end -= 1;
        }
    }
    None
}

/// Whether the entry beside the diagonal between `at` and `at + 1` is rounding.
fn is_small(diagonal: &DVector<f64>, beside: &DVector<f64>, at: usize) -> bool {
    beside[at].abs() <= f64::EPSILON * (diagonal[at + 1].abs() + diagonal[at].abs())
}

/// The start of the last block of a tridiagonal matrix up to `end` whose entries beside the diagonal are no
/// rounding, and its end in the place of `end`; `None` where all is diagonal.
fn unreduced(diagonal: &DVector<f64>, beside: &mut DVector<f64>, end: &mut usize) -> Option<usize> {
    while *end > 0 && is_small(diagonal, beside, *end - 1) {
        *end -= 1;
    }
    let mut start = end.checked_sub(1)?;
    while start > 0 {
        if is_small(diagonal, beside, start - 1) {
            beside[start - 1] = 0.0;
            break;
        }
        start -= 1;
    }
    Some(start)
}

/// A QR step with Wilkinson's shift on the block from `start` to `end` of a tridiagonal matrix.
fn sweep(diagonal: &mut DVector<f64>, beside: &mut DVector<f64>, start: usize, end: usize) {
    let shift = wilkinson_shift(diagonal[end - 1], diagonal[end], beside[end - 1]);
    let mut bulge = Vector2::new(diagonal[start] - shift, beside[start]);
    for i in start..end {
        let Some((rotation, norm)) = GivensRotation::cancel_y(&bulge) else { break };
        if i > start {
            beside[i - 1] = norm;
        }
        let (c, s) = (rotation.c(), rotation.s());
        let (cc, ss, cs) = (c * c, s * s, c * s);
        let (first, second, off) = (diagonal[i], diagonal[i + 1], beside[i]);
        let mixed = cs * 2.0 * off;
        diagonal[i] = (cc * first + ss * second) - mixed;
        diagonal[i + 1] = (ss * first + cc * second) + mixed;
        beside[i] = cs * (first - second) + off * (cc - ss);
        if i + 1 < end {
            bulge = Vector2::new(beside[i], -s * beside[i + 1]);
            beside[i + 1] *= c;
        }
    }
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
        let Some(values) = symmetric_eigenvalues(matrix.clone()) else { panic!("the matrix is finite") };
        assert!((sorted(&values) - sorted(&eigen.eigenvalues)).amax() < 1e-12);
        let Some(factor) = cholesky(matrix.clone()) else { panic!("the matrix is positive definite") };
        close(factor.l() * factor.l().transpose());
        close(qr(matrix.clone()).q() * qr(matrix.clone()).r());
        let lu = lu(matrix.clone());
        assert!(lu.solve(&matrix).is_some_and(|found| (found - DMatrix::identity(3, 3)).amax() < 1e-12));
        assert!(cholesky(-matrix.clone()).is_none());
        assert!(symmetric_eigen(matrix.map(|value| if value > 3.5 { f64::NAN } else { value })).is_none());
    }

    /// nalgebra's own method gives the same bits, where it ends.
    #[test]
    fn eigenvalues_alone_are_those_with_eigenvectors() {
        for n in [0, 1, 2, 3, 7, 40, 90] {
            for (seed, reach) in [(1, n), (2, n), (3, 1), (4, 0)] {
                let entry = |i: usize, j: usize| match i.abs_diff(j) {
                    apart if apart > reach => 0.0,
                    _ => ((i * j * seed) as f64 * 0.7 + (i + j) as f64).sin() * 1e3_f64.powi(seed as i32),
                };
                let matrix = DMatrix::from_fn(n, n, entry);
                let Some(values) = symmetric_eigenvalues(matrix.clone()) else { panic!("{n} {seed}") };
                if n > 0 {
                    let Some(eigen) = symmetric_eigen(matrix.clone()) else { panic!("{n} {seed}") };
                    assert_eq!(values, eigen.eigenvalues, "{n} {seed}");
                    assert_eq!(values, matrix.symmetric_eigenvalues(), "{n} {seed}");
                }
            }
        }
    }

    #[test]
    fn eigenvalues_that_are_not_numbers_are_not_waited_for() {
        for value in [f64::NAN, f64::INFINITY] {
            for n in [1, 2, 3, 20] {
                let mut matrix = DMatrix::identity(n, n);
                matrix[(n - 1, 0)] = value;
                matrix[(0, n - 1)] = value;
                assert_eq!(symmetric_eigenvalues(matrix.clone()), None, "{value} {n}");
                assert!(symmetric_eigen(matrix).is_none(), "{value} {n}");
            }
        }
        // Below the smallest normal number beside a diagonal of zeros.
        let tiny = DMatrix::from_fn(4, 4, |i, j| if i.abs_diff(j) == 1 { 1e-320 } else { 0.0 });
        assert!(symmetric_eigenvalues(tiny).is_some());
    }
}
