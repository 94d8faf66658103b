//! A ridge as part of the atoms.

use super::change_each;
use crate::{Atoms, Error, InnerProducts};

/// `½‖b − Aw‖² + ½ ridge ‖w‖²` as least squares: every atom gets one more dimension. With an l1
/// penalty on top this is the elastic net, for every solver. An atom of norm zero stays zero.
pub struct Ridged<P> {
    inner: P,
    ridge: f64,
    atoms: Atoms,
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
        let mut atoms = inner.atoms().clone();
        for norm in atoms.squared_norms.iter_mut().filter(|norm| **norm > 0.0) {
            *norm += ridge;
        }
        Ok(Self { inner, ridge, atoms })
    }

    fn add_ridge(&self, rows: &[usize], columns: &[usize], out: &mut [f64]) {
        change_each(rows, columns, out, |value, row, column| {
            if row == column && self.atoms.squared_norms[row] > 0.0 {
                *value += self.ridge;
            }
        });
    }
}

impl<P: InnerProducts> InnerProducts for Ridged<P> {
    fn atoms(&self) -> &Atoms {
        &self.atoms
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

    fn subtract_fitted(
        &self,
        rows: &[usize],
        support: &[usize],
        weights: &[f64],
        out: &mut [f64],
    ) -> Result<(), Error> {
        self.inner.subtract_fitted(rows, support, weights, out)?;
        if self.ridge > 0.0 {
            let mut own = vec![0.0; self.n_atoms()];
            for (&s, weight) in support.iter().zip(weights).filter(|&(&s, _)| self.squared_norms()[s] > 0.0) {
                own[s] += self.ridge * weight;
            }
            out.iter_mut().zip(rows).for_each(|(value, &row)| *value -= own[row]);
        }
        Ok(())
    }
}
