//! Decompositions of nalgebra's matrices, compiled here once: they are generic, and every crate that calls
//! them itself would compile them again.

use multiversion::multiversion;
use nalgebra::linalg::givens::GivensRotation;
use nalgebra::{
    Cholesky, DMatrix, DVector, Dyn, LU, Matrix2, QR, SVD, SymmetricEigen, SymmetricTridiagonal, Vector2,
    wilkinson_shift,
};

use crate::{add_scaled, dot};

/// Sweeps after which an eigendecomposition gives up: for finite numbers a few for each row suffice.
const MOST_SWEEPS: usize = 100_000;

/// What is left of a column, relative to its size, if it follows from others but for rounding.
const DEPENDENT: f64 = 1e-13;

/// Eigenvalues and eigenvectors of a symmetric matrix, of which the lower triangle is read; `None` where they
/// are not found, since numbers are not finite or overflow. `O(n³)`.
pub fn symmetric_eigen(matrix: DMatrix<f64>) -> Option<SymmetricEigen<f64, Dyn>> {
    let most = MOST_SWEEPS.max(100 * matrix.nrows());
    let found = SymmetricEigen::try_new(matrix, f64::EPSILON, most)?;
    found.eigenvalues.iter().all(|value| value.is_finite()).then_some(found)
}

/// [`symmetric_eigen`] that gives up, with `None`, once `is_stopped` says so: it is asked after each step
/// of some `n²` operations. Householder reflections and QR steps, as there; the last bits differ.
pub fn symmetric_eigen_unless(
    mut matrix: DMatrix<f64>,
    is_stopped: &dyn Fn() -> bool,
) -> Option<SymmetricEigen<f64, Dyn>> {
    let n = matrix.nrows();
    let mut largest = 0.0_f64;
    for j in 0..n {
        let column = matrix.column(j);
        let below = &column.as_slice()[j..];
        if below.iter().any(|value| !value.is_finite()) {
            return None;
        }
        largest = below.iter().fold(largest, |most, value| most.max(value.abs()));
    }
    if largest > 0.0 {
        matrix /= largest;
    }
    let (mut diagonal, mut beside) = (DVector::zeros(n), DVector::zeros(n.saturating_sub(1)));
    tridiagonalise(&mut matrix, &mut beside, is_stopped)?;
    for i in 0..n {
        diagonal[i] = matrix[(i, i)];
    }
    let mut vectors = reflected(&matrix, is_stopped)?;
    let mut end = n.saturating_sub(1);
    for _ in 0..MOST_SWEEPS.max(100 * n) {
        if is_stopped() {
            return None;
        }
        let Some(start) = unreduced(&diagonal, &mut beside, &mut end) else {
            diagonal *= largest;
            let found = SymmetricEigen { eigenvectors: vectors, eigenvalues: diagonal };
            return found.eigenvalues.iter().all(|value| value.is_finite()).then_some(found);
        };
        sweep(&mut diagonal, &mut beside, start, end, |i, c, s| {
            let (left, right) = vectors.as_mut_slice()[i * n..(i + 2) * n].split_at_mut(n);
            rotate(left, right, c, s);
        });
    }
    None
}

/// Makes the lower triangle of `matrix` tridiagonal by reflections `I − 2vvᵀ`, whose vectors `v` it leaves
/// below the diagonal, and what is beside the diagonal in `beside`; `None` once `is_stopped` says so.
fn tridiagonalise(
    matrix: &mut DMatrix<f64>,
    beside: &mut DVector<f64>,
    is_stopped: &dyn Fn() -> bool,
) -> Option<()> {
    let n = matrix.nrows();
    for k in 0..n.saturating_sub(1) {
        if is_stopped() {
            return None;
        }
        let mut v: Vec<f64> = matrix.column(k).as_slice()[k + 1..].to_vec();
        let length = dot(&v, &v).sqrt();
        beside[k] = if v[0] > 0.0 { -length } else { length };
        v[0] -= beside[k];
        let norm = dot(&v, &v).sqrt();
        if norm > 0.0 {
            v.iter_mut().for_each(|value| *value /= norm);
            let mut image = vec![0.0; v.len()];
            for j in 0..v.len() {
                let column = &matrix.column(k + 1 + j);
                let below = &column.as_slice()[k + 1 + j..];
                add_scaled(&mut image[j..], v[j], below);
                image[j] += dot(&below[1..], &v[j + 1..]);
            }
            let along = dot(&image, &v);
            add_scaled(&mut image, -along, &v);
            for j in 0..v.len() {
                let mut column = matrix.column_mut(k + 1 + j);
                let below = &mut column.as_mut_slice()[k + 1 + j..];
                add_scaled(below, -2.0 * image[j], &v[j..]);
                add_scaled(below, -2.0 * v[j], &image[j..]);
            }
        }
        matrix.column_mut(k).as_mut_slice()[k + 1..].copy_from_slice(&v);
    }
    Some(())
}

/// The product of the reflections whose vectors are below the diagonal; `None` once `is_stopped` says so.
fn reflected(reflections: &DMatrix<f64>, is_stopped: &dyn Fn() -> bool) -> Option<DMatrix<f64>> {
    let n = reflections.nrows();
    let mut product = DMatrix::identity(n, n);
    for k in (0..n.saturating_sub(1)).rev() {
        if is_stopped() {
            return None;
        }
        let column = reflections.column(k);
        let v = &column.as_slice()[k + 1..];
        reflect(v, &mut product.as_mut_slice()[(k + 1) * n..], n);
    }
    Some(product)
}

/// `(c a − s b, s a + c b)` in the place of `(a, b)`.
#[multiversion(targets("x86_64+avx2"))]
fn rotate(a: &mut [f64], b: &mut [f64], c: f64, s: f64) {
    for (a, b) in a.iter_mut().zip(b) {
        (*a, *b) = (c * *a - s * *b, s * *a + c * *b);
    }
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
            sweep(&mut diagonal, &mut beside, start, end, |_, _, _| {});
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

/// A QR step with Wilkinson's shift on the block from `start` to `end` of a tridiagonal matrix. `rotated` is
/// told of every rotation: the place of its first row, cosine and sine.
fn sweep(
    diagonal: &mut DVector<f64>,
    beside: &mut DVector<f64>,
    start: usize,
    end: usize,
    mut rotated: impl FnMut(usize, f64, f64),
) {
    let shift = wilkinson_shift(diagonal[end - 1], diagonal[end], beside[end - 1]);
    let mut bulge = Vector2::new(diagonal[start] - shift, beside[start]);
    for i in start..end {
        let Some((rotation, norm)) = GivensRotation::cancel_y(&bulge) else { break };
        if i > start {
            beside[i - 1] = norm;
        }
        let (c, s) = (rotation.c(), rotation.s());
        rotated(i, c, s);
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

/// Orthonormal columns that span what those of an `m × n` matrix do, `None` when it is stopped: columns that
/// follow from those before them, but for rounding, are left out. `O(m n²)`, by Gram and Schmidt's process;
/// it asks before each column.
pub fn orthonormal_unless(matrix: &DMatrix<f64>, is_stopped: &dyn Fn() -> bool) -> Option<DMatrix<f64>> {
    let mut kept: Vec<DVector<f64>> = Vec::with_capacity(matrix.ncols());
    for column in matrix.column_iter() {
        if is_stopped() {
            return None;
        }
        let mut rest = column.into_owned();
        let size = rest.norm();
        // What is left after one pass has the rounding errors of what was taken off; after two it has not.
        for _ in 0..2 {
            for own in &kept {
                let share = crate::dot(own.as_slice(), rest.as_slice());
                crate::add_scaled(rest.as_mut_slice(), -share, own.as_slice());
            }
        }
        let left = rest.norm();
        if left > DEPENDENT * size {
            kept.push(rest / left);
        }
    }
    Some(match kept.is_empty() {
        true => DMatrix::zeros(matrix.nrows(), 0),
        false => DMatrix::from_columns(&kept),
    })
}

/// The orthogonal and the triangular factor of a matrix. `O(m n²)`.
pub fn qr(matrix: DMatrix<f64>) -> QR<f64, Dyn, Dyn> {
    QR::new(matrix)
}

/// The singular values, the largest first, and the left vectors of a matrix; `None` where they are not found,
/// since numbers are not finite or overflow. `O(m n min(m, n))`.
///
/// ```
/// let wide = nalgebra::DMatrix::from_row_slice(2, 2, &[0.0, 3.0, 4.0, 0.0]);
/// let found = fewest_linalg::left_singular(wide).unwrap();
/// assert!((found.0[0] - 4.0).abs() < 1e-12 && (found.1[(1, 0)].abs() - 1.0).abs() < 1e-12);
/// ```
pub fn left_singular(matrix: DMatrix<f64>) -> Option<(DVector<f64>, DMatrix<f64>)> {
    // Values that are not finite can be neither iterated on nor put in order.
    if !matrix.iter().all(|value| value.is_finite()) {
        return None;
    }
    let most = MOST_SWEEPS.max(100 * matrix.nrows().max(matrix.ncols()));
    let mut found = SVD::try_new_unordered(matrix, true, false, f64::EPSILON, most)?;
    if !found.singular_values.iter().all(|value| value.is_finite()) {
        return None;
    }
    found.sort_by_singular_values();
    found.u.map(|left| (found.singular_values, left))
}

/// The orthogonal factor `Q`, `m x r`, and the triangular one of an `m x r` matrix, `r ≤ m`, by
/// reflections; `None` once `is_stopped` says so: it is asked after each step of some `m r` operations.
/// `O(m r²)`.
pub fn qr_unless(
    mut matrix: DMatrix<f64>,
    is_stopped: &(dyn Fn() -> bool + Sync),
) -> Option<(DMatrix<f64>, DMatrix<f64>)> {
    let (m, r) = matrix.shape();
    let mut triangle = DMatrix::zeros(r, r);
    for k in 0..r {
        if is_stopped() {
            return None;
        }
        let (done, rest) = matrix.as_mut_slice().split_at_mut((k + 1) * m);
        let v = &mut done[k * m + k..];
        let length = dot(v, v).sqrt();
        let diagonal = if v[0] > 0.0 { -length } else { length };
        v[0] -= diagonal;
        let norm = dot(v, v).sqrt();
        if norm > 0.0 {
            v.iter_mut().for_each(|value| *value /= norm);
        }
        reflect(&done[k * m + k..], rest, m);
        for i in 0..k {
            triangle[(i, k)] = matrix[(i, k)];
        }
        triangle[(k, k)] = diagonal;
    }
    let mut q = DMatrix::identity(m, r);
    for k in (0..r).rev() {
        if is_stopped() {
            return None;
        }
        let v = &matrix.as_slice()[k * m + k..(k + 1) * m];
        reflect(v, &mut q.as_mut_slice()[k * m..], m);
    }
    Some((q, triangle))
}

/// `I − 2vvᵀ` on the last rows of `columns` of length `m`.
fn reflect(v: &[f64], columns: &mut [f64], m: usize) {
    let first = m - v.len();
    fewest_parallel::chunks(columns, 16 * m, |_, columns| {
        for column in columns.chunks_exact_mut(m) {
            let along = dot(v, &column[first..]);
            add_scaled(&mut column[first..], -2.0 * along, v);
        }
    });
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
        for broken in [f64::NAN, f64::INFINITY] {
            let broken = matrix.map(|value| if value > 3.5 { broken } else { value });
            assert!(symmetric_eigen(broken.clone()).is_none() && left_singular(broken).is_none());
        }
        // Values whose squares overflow have directions all the same.
        assert!(
            left_singular(&matrix * 1e300).is_some_and(|found| found.0.iter().all(|value| *value > 1e300))
        );
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

    /// The decomposition that can be stopped: orthonormal vectors that give the matrix back, the same values.
    #[test]
    fn a_decomposition_that_can_be_stopped_is_the_same() {
        for n in [0, 1, 2, 3, 7, 40, 90] {
            for (seed, reach) in [(1, n), (2, n), (3, 1), (4, 0), (0, n)] {
                let entry = |i: usize, j: usize| match i.abs_diff(j) {
                    apart if apart > reach => 0.0,
                    // Of seed 0 all are alike: one eigenvalue and n − 1 zeros.
                    _ if seed == 0 => 3.0,
                    _ => ((i * j * seed) as f64 * 0.7 + (i + j) as f64).sin() * 1e3_f64.powi(seed as i32),
                };
                let matrix = DMatrix::from_fn(n, n, entry);
                let Some(found) = symmetric_eigen_unless(matrix.clone(), &|| false) else {
                    panic!("{n} {seed}")
                };
                let (vectors, values) = (&found.eigenvectors, &found.eigenvalues);
                if n == 0 {
                    assert_eq!(values.len(), 0);
                    continue;
                }
                let size = matrix.amax().max(1.0);
                let back = vectors * DMatrix::from_diagonal(values) * vectors.transpose();
                assert!((back - &matrix).amax() < 1e-11 * size * n as f64, "{n} {seed}");
                assert!((vectors.tr_mul(vectors) - DMatrix::identity(n, n)).amax() < 1e-11, "{n} {seed}");
                let Some(other) = symmetric_eigenvalues(matrix.clone()) else { panic!("{n} {seed}") };
                let sorted = |values: &DVector<f64>| {
                    let mut values: Vec<f64> = values.iter().copied().collect();
                    values.sort_by(f64::total_cmp);
                    DVector::from_vec(values)
                };
                let apart = (sorted(values) - sorted(&other)).amax();
                assert!(apart < 1e-11 * size * n as f64, "{n} {seed}");
                if n > 1 {
                    // Wherever it is stopped: in the reflections, their product, the QR steps.
                    let asked = std::cell::Cell::new(0_usize);
                    let stopped_after = |most: usize| {
                        asked.set(0);
                        let is_stopped = || asked.replace(asked.get() + 1) >= most;
                        symmetric_eigen_unless(matrix.clone(), &is_stopped)
                    };
                    assert!(stopped_after(usize::MAX).is_some() && asked.get() > 0, "{n}");
                    let all = asked.get();
                    for most in [0, all / 4, all / 2, all - 1] {
                        assert!(stopped_after(most).is_none(), "{n} {most}");
                    }
                }
            }
        }
        let broken = DMatrix::from_element(3, 3, f64::NAN);
        assert!(symmetric_eigen_unless(broken, &|| false).is_none());
    }

    /// Tall, square, of deficient rank, with columns of zeros.
    #[test]
    fn a_factorisation_that_can_be_stopped_gives_the_matrix_back() {
        for (m, r) in [(5, 0), (1, 1), (7, 3), (40, 40), (300, 70)] {
            for rank in [r, r / 2] {
                let entry = |i: usize, j: usize| ((i * (j % rank.max(1)) + i) as f64 * 0.7).sin();
                let matrix = DMatrix::from_fn(m, r, |i, j| if j % 5 == 4 { 0.0 } else { entry(i, j) });
                let Some((q, triangle)) = qr_unless(matrix.clone(), &|| false) else { panic!("{m} {r}") };
                assert!(r == 0 || (&q * &triangle - &matrix).amax() < 1e-12 * m as f64, "{m} {r}");
                assert!(r == 0 || (q.tr_mul(&q) - DMatrix::identity(r, r)).amax() < 1e-13 * m as f64);
                assert!((0..r).all(|j| (j + 1..r).all(|i| triangle[(i, j)] == 0.0)));
                for most in 0..2 * r {
                    let asked = std::sync::atomic::AtomicUsize::new(0);
                    let stop = || asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed) >= most;
                    assert!(qr_unless(matrix.clone(), &stop).is_none(), "{m} {r} {most}");
                }
            }
        }
    }

    #[test]
    fn orthonormal_columns_span_those_of_the_matrix() {
        let mut matrix = DMatrix::from_fn(30, 6, |i, j| ((i * 7 + j * j * 3) as f64).sin() + 1e3);
        let sum = matrix.column(0) - 3.0 * matrix.column(1);
        matrix.set_column(2, &sum);
        let Some(basis) = orthonormal_unless(&matrix, &|| false) else { panic!("nothing stops it") };
        assert!(
            basis.ncols() < 6
                && (basis.tr_mul(&basis) - DMatrix::identity(basis.ncols(), basis.ncols())).amax() < 1e-13
        );
        assert!((&basis * basis.tr_mul(&matrix) - &matrix).amax() < 1e-12 * matrix.amax());
        let asked = std::cell::Cell::new(0);
        let is_stopped = || asked.replace(asked.get() + 1) >= 2;
        assert_eq!(orthonormal_unless(&matrix, &is_stopped), None);
        assert_eq!(orthonormal_unless(&DMatrix::zeros(3, 2), &|| false).map(|basis| basis.ncols()), Some(0));
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
