//! The smallest eigenvalues of the normalised Laplacian.

use fewest_core::{Context, Error, derive_seed};
use fewest_linalg::{Krylov, largest_eigenpairs};
use nalgebra::DMatrix;

use super::affinity::Affinity;

/// Vectors beyond those wanted: the convergence depends on the gap behind the last of the block.
const EXTRA: usize = 4;
/// Blocks in the Krylov space.
const BLOCKS: usize = 8;
/// Residual of an eigenpair of a matrix of norm 1.
const TOLERANCE: f64 = 1e-11;

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
    let uniform = |at: usize| derive_seed(context.seed, at as u64) as f64 / u64::MAX as f64 - 0.5;
    let start = DMatrix::from_fn(n, (wanted + EXTRA).min(n - 1), |i, j| uniform(i + j * n));
    let product = |v: &DMatrix<f64>| Ok(affinity.normalised_product(&v.transpose(), context)?.transpose());
    let apart = std::slice::from_ref(&trivial);
    let found = largest_eigenpairs(start, wanted, apart, Krylov::new(BLOCKS, TOLERANCE), product)?;
    let Some(found) = found.filter(|found| found.residual <= 1e3 * TOLERANCE) else {
        return Err(Error::Numerical {
            what: "the eigenvectors of the graph",
            hint: "ask for fewer (m), or take criterion 1 or 2, which need none".to_owned(),
        });
    };
    eigen.values.extend(found.values.iter().map(|value| 1.0 - value));
    let vectors = found.vectors.column_iter().map(|column| column.into_owned());
    eigen.vectors = DMatrix::from_columns(&[trivial].into_iter().chain(vectors).collect::<Vec<_>>());
    Ok(eigen)
}
