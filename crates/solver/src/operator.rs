//! Linear operators, given by their products with vectors.

use nalgebra::{DMatrix, DVector, DVectorView};

/// A linear map from coefficients (`n_columns`) to observations (`n_rows`).
pub trait LinearOperator: Sync {
    /// Length of an observation.
    fn n_rows(&self) -> usize;

    /// Number of coefficients.
    fn n_columns(&self) -> usize;

    /// `out = A w`.
    fn apply(&self, w: &[f64], out: &mut [f64]);

    /// `out = Aᵀ r`.
    fn apply_transpose(&self, r: &[f64], out: &mut [f64]);

    /// Writes column `j`. Default: `A eⱼ`.
    fn column(&self, j: usize, out: &mut [f64]) {
        let mut unit = vec![0.0; self.n_columns()];
        unit[j] = 1.0;
        self.apply(&unit, out);
    }
}

impl<A: LinearOperator + ?Sized> LinearOperator for &A {
    fn n_rows(&self) -> usize {
        (**self).n_rows()
    }

    fn n_columns(&self) -> usize {
        (**self).n_columns()
    }

    fn apply(&self, w: &[f64], out: &mut [f64]) {
        (**self).apply(w, out);
    }

    fn apply_transpose(&self, r: &[f64], out: &mut [f64]) {
        (**self).apply_transpose(r, out);
    }

    fn column(&self, j: usize, out: &mut [f64]) {
        (**self).column(j, out);
    }
}

/// A matrix in memory as an operator.
#[derive(Debug, Clone, PartialEq)]
pub struct DenseOperator {
    matrix: DMatrix<f64>,
}

impl DenseOperator {
    /// From `values` in column-major order.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`](crate::Error::ShapeMismatch) unless `values.len() == n_rows * n_columns`.
    pub fn new(values: Vec<f64>, n_rows: usize, n_columns: usize) -> Result<Self, crate::Error> {
        let expected = n_rows.saturating_mul(n_columns);
        if values.len() != expected {
            return Err(crate::Error::ShapeMismatch {
                what: "entries of the operator",
                expected,
                found: values.len(),
            });
        }
        Ok(Self { matrix: DMatrix::from_vec(n_rows, n_columns, values) })
    }
}

impl LinearOperator for DenseOperator {
    fn n_rows(&self) -> usize {
        self.matrix.nrows()
    }

    fn n_columns(&self) -> usize {
        self.matrix.ncols()
    }

    fn apply(&self, w: &[f64], out: &mut [f64]) {
        let product: DVector<f64> = &self.matrix * DVectorView::from_slice(w, w.len());
        out.copy_from_slice(product.as_slice());
    }

    fn apply_transpose(&self, r: &[f64], out: &mut [f64]) {
        let r = DVectorView::from_slice(r, r.len());
        for (value, column) in out.iter_mut().zip(self.matrix.column_iter()) {
            *value = column.dot(&r);
        }
    }

    fn column(&self, j: usize, out: &mut [f64]) {
        out.copy_from_slice(self.matrix.column(j).as_slice());
    }
}
