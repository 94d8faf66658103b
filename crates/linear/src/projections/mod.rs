//! Projections in which few features take part: `tr(Wᵀ M W) + α Σⱼ √(‖Wⱼ‖² + ε)` over `Wᵀ B W = I`.

mod descent;
mod rows;
mod scatter;
mod table;

pub(crate) use descent::{Descent, Found};
pub(crate) use rows::{FeatureRows, OTHERS_ARE_CONSTANT};
pub(crate) use scatter::{Between, Scatter, WHOLE};
pub(crate) use table::Table;

use nalgebra::DMatrix;

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
