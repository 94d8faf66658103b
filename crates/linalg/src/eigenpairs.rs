//! The largest eigenpairs of an operator of which only products are known.

use nalgebra::{DMatrix, DMatrixView, DVector, Dyn, SymmetricEigen};

use crate::{symmetric_eigen, transposed_products};

/// Restarts after which what has been reached must do, unless others are wanted.
const MOST_RESTARTS: usize = 200;

/// How much is done for eigenpairs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Krylov {
    /// Blocks of the space between two restarts.
    pub blocks: usize,
    /// Residual `‖A v − λ v‖` to reach.
    pub tolerance: f64,
    /// Restarts, at most; by default 200.
    pub restarts: usize,
}

impl Krylov {
    /// `blocks` blocks, to a residual of `tolerance`.
    pub const fn new(blocks: usize, tolerance: f64) -> Self {
        Self { blocks, tolerance, restarts: MOST_RESTARTS }
    }
}

/// Eigenvalues with orthonormal eigenvectors.
#[derive(Debug, Clone)]
pub struct Eigenpairs {
    /// The eigenvalues, the largest first.
    pub values: Vec<f64>,
    /// The eigenvectors, a column each.
    pub vectors: DMatrix<f64>,
    /// The largest `‖A v − λ v‖`.
    pub residual: f64,
}

/// The `wanted` largest eigenpairs of a symmetric operator among the vectors orthogonal to `apart`, which are
/// orthonormal; `product` multiplies it with every column. Fewer where there are no more. The inner `None`
/// where numbers are not finite.
///
/// A Krylov space of blocks, the first of which is `start`, with restarts, until residuals are as small as
/// asked for or all restarts are done: [`Eigenpairs::residual`] tells. `start` should have a few columns more
/// than wanted, since the convergence depends on the gap behind the last of them; equal eigenvalues are all
/// found, up to its width. Cost of a restart: `blocks` products with a block of `b` columns, and
/// `n (b blocks)²` multiplications.
///
/// ```
/// use nalgebra::DMatrix;
///
/// // A path of 200 points: eigenvalues 2 cos(π i / 201).
/// let product = |v: &DMatrix<f64>| {
///     let at = |i: Option<usize>, j| i.filter(|i| *i < 200).map_or(0.0, |i| v[(i, j)]);
///     Ok::<_, ()>(DMatrix::from_fn(200, v.ncols(), |i, j| at(i.checked_sub(1), j) + at(Some(i + 1), j)))
/// };
/// let start = DMatrix::from_fn(200, 7, |i, j| ((i * 37 + j * 11) % 101) as f64 - 50.0);
/// let krylov = fewest_linalg::Krylov::new(8, 1e-10);
/// let found = fewest_linalg::largest_eigenpairs(start, 3, &[], krylov, product).unwrap().unwrap();
/// for (i, value) in found.values.iter().enumerate() {
///     assert!((value - 2.0 * (std::f64::consts::PI * (i + 1) as f64 / 201.0).cos()).abs() < 1e-9);
/// }
/// ```
///
/// # Errors
/// Those of `product`.
pub fn largest_eigenpairs<E>(
    start: DMatrix<f64>,
    wanted: usize,
    apart: &[DVector<f64>],
    krylov: Krylov,
    mut product: impl FnMut(&DMatrix<f64>) -> Result<DMatrix<f64>, E>,
) -> Result<Option<Eigenpairs>, E> {
    let Krylov { blocks, tolerance, restarts: most_restarts } = krylov;
    let (n, width) = start.shape();
    let mut start = start;
    let mut restarts = 0;
    // Column after column.
    let (mut basis, mut images) = (Vec::new(), Vec::new());
    loop {
        basis.clear();
        images.clear();
        let mut next = start;
        for _ in 0..blocks {
            let from = basis.len();
            extend(&mut basis, &next, apart);
            if basis.len() == from {
                break;
            }
            next = product(&DMatrix::from_column_slice(n, (basis.len() - from) / n, &basis[from..]))?;
            images.extend_from_slice(next.as_slice());
        }
        if basis.is_empty() {
            return Ok(Some(Eigenpairs { values: Vec::new(), vectors: DMatrix::zeros(n, 0), residual: 0.0 }));
        }
        let size = basis.len() / n;
        let projected = DMatrix::from_vec(size, size, transposed_products(&basis, &images, n));
        let Some(small) = symmetric_eigen((&projected + projected.transpose()) * 0.5) else {
            return Ok(None);
        };
        let mut order = ascending(&small);
        order.reverse();
        order.truncate(width);
        let chosen = small.eigenvectors.select_columns(&order);
        let vectors = DMatrixView::from_slice(&basis, n, size) * &chosen;
        let residuals = DMatrixView::from_slice(&images, n, size) * &chosen;
        let pairs = wanted.min(order.len());
        let residual = (0..pairs)
            .map(|at| (residuals.column(at) - vectors.column(at) * small.eigenvalues[order[at]]).norm())
            .fold(0.0, f64::max);
        restarts += 1;
        if residual <= tolerance || restarts >= most_restarts || size + apart.len() >= n {
            let values = order[..pairs].iter().map(|&at| small.eigenvalues[at]).collect();
            return Ok(Some(Eigenpairs {
                values,
                vectors: vectors.columns(0, pairs).into_owned(),
                residual,
            }));
        }
        start = vectors;
    }
}

/// Adds to the columns of `basis`, which are orthonormal, what those of `block` have orthogonal to them and
/// to what is `apart`, unless that is nothing but rounding.
fn extend(basis: &mut Vec<f64>, block: &DMatrix<f64>, apart: &[DVector<f64>]) {
    let n = block.nrows();
    let mut new: Vec<DVector<f64>> = block.column_iter().map(|column| column.into_owned()).collect();
    // Twice: after heavy cancellation the rest is not yet orthogonal, and might be noise.
    for _ in 0..2 {
        new.retain_mut(|vector| vector.normalize_mut() != 0.0);
        // The basis is long: it is read once for the block, not for each of its columns.
        if !basis.is_empty() && !new.is_empty() {
            let mut rest = DMatrix::from_columns(&new);
            let along = transposed_products(basis, rest.as_slice(), n);
            let size = basis.len() / n;
            let along = DMatrixView::from_slice(&along, size, new.len());
            rest.gemm(-1.0, &DMatrixView::from_slice(basis, n, size), &along, 1.0);
            new = rest.column_iter().map(|column| column.into_owned()).collect();
        }
        let mut kept: Vec<DVector<f64>> = Vec::with_capacity(new.len());
        for mut vector in new {
            for other in kept.iter().chain(apart) {
                let along = other.dot(&vector);
                vector.axpy(-along, other, 1.0);
            }
            let length = vector.norm();
            if length < 1e-10 {
                continue;
            }
            kept.push(vector / length);
        }
        new = kept;
    }
    new.iter().for_each(|vector| basis.extend_from_slice(vector.as_slice()));
}

/// The places of the eigenvalues, that of the smallest first.
fn ascending(found: &SymmetricEigen<f64, Dyn>) -> Vec<usize> {
    let mut order: Vec<usize> = (0..found.eigenvalues.len()).collect();
    order.sort_by(|&a, &b| found.eigenvalues[a].total_cmp(&found.eigenvalues[b]).then(b.cmp(&a)));
    order
}

/// The eigenvectors of the `k` smallest eigenvalues, and these, increasing.
pub fn lowest(found: &SymmetricEigen<f64, Dyn>, k: usize) -> (Vec<f64>, DMatrix<f64>) {
    let mut order = ascending(found);
    order.truncate(k);
    (order.iter().map(|&at| found.eigenvalues[at]).collect(), found.eigenvectors.select_columns(&order))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::orthonormal_unless;

    /// A matrix with repeated and nearly equal eigenvalues: those found, and the projector onto their
    /// vectors, are the true ones, also with one vector known before.
    #[test]
    fn equal_eigenvalues_are_all_found() {
        let n = 120;
        let entries = DMatrix::from_fn(n, n, |i, j| (1.3 * (i * i + 1) as f64 * (j as f64 + 0.7)).sin());
        let Some(basis) = orthonormal_unless(&entries, &|| false) else { panic!("not stopped") };
        assert_eq!(basis.ncols(), n);
        let value = |i: usize| match i {
            0..3 => 1.0,
            3 => 0.999,
            _ => 0.95 - i as f64 / n as f64,
        };
        let matrix =
            &basis * DMatrix::from_diagonal(&DVector::from_fn(n, |i, _| value(i))) * basis.transpose();
        let product = |v: &DMatrix<f64>| Ok::<_, ()>(&matrix * v);
        let start = entries.columns(3, 8).into_owned();
        for first in [0, 1] {
            let apart: Vec<DVector<f64>> = (0..first).map(|i| basis.column(i).into_owned()).collect();
            let found = largest_eigenpairs(start.clone(), 4 - first, &apart, Krylov::new(8, 1e-12), product);
            let Ok(Some(found)) = found else { panic!("{found:?}") };
            assert!(found.residual < 1e-11, "{}", found.residual);
            for (i, found) in found.values.iter().enumerate() {
                assert!((found - value(first + i)).abs() < 1e-11);
            }
            let known = basis.columns(first, 4 - first);
            let projector = known * known.transpose();
            assert!((&found.vectors * found.vectors.transpose() - projector).amax() < 1e-9);
        }
        let fails = |_: &DMatrix<f64>| Err("gone");
        assert_eq!(
            largest_eigenpairs(start.clone(), 4, &[], Krylov::new(8, 1e-12), fails).err(),
            Some("gone")
        );
        let infinite = |v: &DMatrix<f64>| Ok::<_, ()>(v * f64::NAN);
        assert!(matches!(largest_eigenpairs(start, 4, &[], Krylov::new(8, 1e-12), infinite), Ok(None)));
    }
}
