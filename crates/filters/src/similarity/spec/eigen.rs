//! The smallest eigenvalues of the normalised Laplacian, by a block Krylov space with restarts.

use fewest_core::{Context, Error, derive_seed, order};
use nalgebra::{DMatrix, DVector};

use super::affinity::Affinity;

/// Vectors beyond those wanted: the convergence depends on the gap behind the last of the block.
const EXTRA: usize = 4;
/// Blocks in the Krylov space.
const BLOCKS: usize = 8;
/// Residual of an eigenpair of a matrix of norm 1.
const TOLERANCE: f64 = 1e-11;
/// Restarts after which what has been reached must do.
const MOST_RESTARTS: usize = 200;

/// Eigenvalues `λ` of `𝓛`, increasing, with orthonormal eigenvectors.
pub(super) struct Eigen {
    pub(super) values: Vec<f64>,
    pub(super) vectors: DMatrix<f64>,
}

/// The `m` smallest eigenpairs of `𝓛 = I − A`, that is the largest of `A = D^−½ S D^−½`. The first is known.
pub(super) fn smallest(affinity: &Affinity<'_>, m: usize, context: &Context<'_>) -> Result<Eigen, Error> {
    let trivial = affinity.trivial_eigenvector();
    let n = trivial.len();
    let wanted = m - 1;
    let mut eigen =
        Eigen { values: vec![0.0], vectors: DMatrix::from_columns(std::slice::from_ref(&trivial)) };
    if wanted == 0 {
        return Ok(eigen);
    }
    let block = (wanted + EXTRA).min(n - 1);
    let uniform = |at: usize| derive_seed(context.seed, at as u64) as f64 / u64::MAX as f64 - 0.5;
    let mut start = DMatrix::from_fn(n, block, |i, j| uniform(i + j * n));
    let mut restarts = 0;
    loop {
        // The basis stays orthogonal to ξ₁, which is removed again with every new vector.
        let mut basis: Vec<DVector<f64>> = Vec::new();
        let mut images: Vec<DVector<f64>> = Vec::new();
        let mut next = start;
        for _ in 0..BLOCKS {
            let from = basis.len();
            for column in next.column_iter() {
                extend(&mut basis, column.into_owned(), &trivial);
            }
            if basis.len() == from {
                break;
            }
            let added = DMatrix::from_columns(&basis[from..]);
            next = affinity.normalised_product(&added.transpose(), context)?.transpose();
            images.extend(next.column_iter().map(|column| column.into_owned()));
        }
        let basis = DMatrix::from_columns(&basis);
        let images = DMatrix::from_columns(&images);
        let projected = basis.tr_mul(&images);
        let small = fewest_linalg::symmetric_eigen((&projected + projected.transpose()) * 0.5);
        let Some(small) = small else { return Err(not_found()) };
        let mut order = order::descending(small.eigenvalues.as_slice());
        order.truncate(block);
        let chosen = small.eigenvectors.select_columns(&order);
        let vectors = &basis * &chosen;
        let residuals = &images * &chosen;
        let pairs = wanted.min(order.len());
        let worst = (0..pairs)
            .map(|at| (residuals.column(at) - vectors.column(at) * small.eigenvalues[order[at]]).norm())
            .fold(0.0, f64::max);
        restarts += 1;
        if worst <= TOLERANCE || restarts >= MOST_RESTARTS || basis.ncols() >= n - 1 {
            if worst > 1e3 * TOLERANCE {
                return Err(not_found());
            }
            let mut columns = vec![trivial];
            for at in 0..pairs {
                eigen.values.push(1.0 - small.eigenvalues[order[at]]);
                columns.push(vectors.column(at).into_owned());
            }
            eigen.vectors = DMatrix::from_columns(&columns);
            return Ok(eigen);
        }
        start = vectors;
    }
}

/// Adds what `vector` has orthogonal to the basis and to `trivial`, unless that is nothing but rounding.
fn extend(basis: &mut Vec<DVector<f64>>, mut vector: DVector<f64>, trivial: &DVector<f64>) {
    for _ in 0..2 {
        let length = vector.norm();
        if length == 0.0 {
            return;
        }
        vector /= length;
        for other in basis.iter().chain([trivial]) {
            let along = other.dot(&vector);
            vector.axpy(-along, other, 1.0);
        }
        // Once more: after heavy cancellation the rest is not yet orthogonal, and might be noise.
        if vector.norm() < 1e-10 {
            return;
        }
    }
    let length = vector.norm();
    basis.push(vector / length);
}

fn not_found() -> Error {
    Error::Numerical {
        what: "the eigenvectors of the graph",
        hint: "ask for fewer (m), or take criterion 1 or 2, which need none".to_owned(),
    }
}
