//! Another target.

use crate::{Atoms, Error, InnerProducts};

/// The atoms of a problem with another target: for the outputs of one table.
pub struct Targeted<P> {
    inner: P,
    atoms: Atoms,
}

impl<P: InnerProducts> Targeted<P> {
    /// The target by its product with each atom of `inner` and its squared norm.
    pub fn new(inner: P, target_products: Vec<f64>, target_squared_norm: f64) -> Self {
        let atoms = Atoms { target_squared_norm, target_products, ..inner.atoms().clone() };
        Self { inner, atoms }
    }
}

impl<P: InnerProducts> InnerProducts for Targeted<P> {
    fn atoms(&self) -> &Atoms {
        &self.atoms
    }

    fn products(&self, rows: &[usize], columns: &[usize], out: &mut [f64]) -> Result<(), Error> {
        self.inner.products(rows, columns, out)
    }

    fn lower_bounds(&self, rows: &[usize], columns: &[usize], out: &mut [f64]) -> Result<(), Error> {
        self.inner.lower_bounds(rows, columns, out)
    }

    fn subtract_fitted(
        &self,
        rows: &[usize],
        support: &[usize],
        weights: &[f64],
        out: &mut [f64],
    ) -> Result<(), Error> {
        self.inner.subtract_fitted(rows, support, weights, out)
    }
}
