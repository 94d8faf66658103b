//! Projections in which few features take part: `tr(Wᵀ M W) + α Σⱼ √(‖Wⱼ‖² + ε)` over `Wᵀ B W = I`.

mod descent;
mod rows;
mod scatter;
mod table;

pub(crate) use descent::{Descent, Found};
pub(crate) use rows::{FeatureRows, OTHERS_ARE_CONSTANT};
pub(crate) use scatter::{Between, Scatter, WHOLE};
pub(crate) use table::Table;

use fewest_linalg::{add_scaled, transposed_products};
use nalgebra::DMatrix;

/// `Aᵀ B`, also of few columns, for which the library takes far longer.
pub(crate) fn transposed_times(a: &DMatrix<f64>, b: &DMatrix<f64>) -> DMatrix<f64> {
    let products = transposed_products(a.as_slice(), b.as_slice(), a.nrows().max(1));
    DMatrix::from_vec(a.ncols(), b.ncols(), products)
}

/// `A B`, where `B` has few columns: `A` is read once.
pub(crate) fn combined(a: &DMatrix<f64>, b: &DMatrix<f64>) -> DMatrix<f64> {
    let n = a.nrows().max(1);
    let mut out = DMatrix::zeros(a.nrows(), b.ncols());
    for (j, column) in a.as_slice().chunks_exact(n).enumerate() {
        for (k, out) in out.as_mut_slice().chunks_exact_mut(n).enumerate().filter(|(k, _)| b[(j, *k)] != 0.0)
        {
            add_scaled(out, b[(j, k)], column);
        }
    }
    out
}

/// A diagonal times a matrix.
pub(crate) fn times(diagonal: &[f64], matrix: &DMatrix<f64>) -> DMatrix<f64> {
    let mut product = matrix.clone();
    for mut column in product.column_iter_mut() {
        column.iter_mut().zip(diagonal).for_each(|(value, weight)| *value *= weight);
    }
    product
}

/// Half of a matrix and its transpose.
pub(crate) fn symmetric(matrix: DMatrix<f64>) -> DMatrix<f64> {
    let transposed = matrix.transpose();
    (matrix + transposed) * 0.5
}

/// What the tests of both forms of a table are drawn from.
#[cfg(test)]
mod testing {
    use fewest_core::derive_seed;
    use nalgebra::DMatrix;

    use super::Between;

    /// A matrix by its entries.
    pub(super) struct Dense(pub(super) DMatrix<f64>);

    impl Between for Dense {
        fn product(&self, v: &DMatrix<f64>) -> DMatrix<f64> {
            &self.0 * v
        }

        fn dense(&self) -> DMatrix<f64> {
            self.0.clone()
        }

        fn trace(&self) -> f64 {
            self.0.trace()
        }
    }

    /// A number between -½ and ½ for each place.
    pub(super) fn value(at: usize) -> f64 {
        derive_seed(1, at as u64) as f64 / u64::MAX as f64 - 0.5
    }
}
