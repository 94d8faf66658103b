//! A ridge as part of the atoms.

use crate::{Error, InnerProducts};

/// `½‖b − Aw‖² + ½ ridge ‖w‖²` as least squares: every atom gets a dimension of its own. With an l1
/// penalty on top this is the elastic net, for every solver. An atom of norm zero stays zero.
pub struct Ridged<P> {
    inner: P,
    ridge: f64,
    squared_norms: Vec<f64>,
}

impl<P: InnerProducts> Ridged<P> {
    /// Adds `½ ridge ‖w‖²` to `inner`.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for a ridge that is negative or not finite.
    pub fn new(inner: P, ridge: f64) -> Result<Self, Error> {
        if !(ridge.is_finite() && ridge >= 0.0) {
            return Err(Error::parameter("ridge", ridge, "finite and at least 0"));
        }
        let add = |&norm: &f64| if norm > 0.0 { norm + ridge } else { 0.0 };
        let squared_norms = inner.squared_norms().iter().map(add).collect();
        Ok(Self { inner, ridge, squared_norms })
    }
}

impl<P: InnerProducts> Ridged<P> {
    fn add_ridge(&self, rows: &[usize], columns: &[usize], out: &mut [f64]) {
        for (&column, out) in columns.iter().zip(out.chunks_exact_mut(rows.len().max(1))) {
            for (value, &row) in out.iter_mut().zip(rows) {
                if row == column && self.squared_norms[row] > 0.0 {
                    *value += self.ridge;
                }
            }
        }
    }
}

impl<P: InnerProducts> InnerProducts for Ridged<P> {
    fn target_squared_norm(&self) -> f64 {
        self.inner.target_squared_norm()
    }

    fn target_products(&self) -> &[f64] {
        self.inner.target_products()
    }

    fn squared_norms(&self) -> &[f64] {
        &self.squared_norms
    }

    fn products(&self, rows: &[usize], columns: &[usize], out: &mut [f64]) -> Result<(), Error> {
        self.inner.products(rows, columns, out)?;
        self.add_ridge(rows, columns, out);
        Ok(())
    }

    fn lower_bounds(&self, rows: &[usize], columns: &[usize], out: &mut [f64]) -> Result<(), Error> {
        self.inner.lower_bounds(rows, columns, out)?;
        self.add_ridge(rows, columns, out);
        Ok(())
    }

    fn lower_bound_error(&self, atom: usize) -> f64 {
        self.inner.lower_bound_error(atom)
    }

    fn n_cached_atoms(&self) -> usize {
        self.inner.n_cached_atoms()
    }

    fn approximation_error(&self) -> f64 {
        self.inner.approximation_error()
    }

    fn products_are_nonnegative(&self) -> bool {
        self.inner.products_are_nonnegative()
    }
}
