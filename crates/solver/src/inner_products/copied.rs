//! Atoms that occur several times.

use crate::{Atoms, Error, InnerProducts};

/// Atoms of another problem, each any number of times: for groups that overlap, of which each has its own
/// copy of an atom that is in several.
pub struct Copied<P> {
    inner: P,
    origins: Vec<usize>,
    atoms: Atoms,
}

impl<P: InnerProducts> Copied<P> {
    /// Atom `i` is atom `origins[i]` of `inner`.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] for an atom that `inner` does not have.
    pub fn new(inner: P, origins: Vec<usize>) -> Result<Self, Error> {
        let expected = inner.n_atoms();
        if let Some(&found) = origins.iter().find(|origin| **origin >= expected) {
            return Err(Error::ShapeMismatch { what: "atoms to copy", expected, found });
        }
        let copied = |values: &[f64]| origins.iter().map(|&j| values[j]).collect::<Vec<f64>>();
        let own = inner.atoms();
        let bounds = &own.lower_bound_errors;
        let atoms = Atoms {
            target_products: copied(&own.target_products),
            squared_norms: copied(&own.squared_norms),
            lower_bound_errors: if bounds.is_empty() { Vec::new() } else { copied(bounds) },
            ..own.clone()
        };
        Ok(Self { inner, origins, atoms })
    }

    fn origins(&self, atoms: &[usize]) -> Vec<usize> {
        atoms.iter().map(|&atom| self.origins[atom]).collect()
    }
}

impl<P: InnerProducts> InnerProducts for Copied<P> {
    fn atoms(&self) -> &Atoms {
        &self.atoms
    }

    fn products(&self, rows: &[usize], columns: &[usize], out: &mut [f64]) -> Result<(), Error> {
        self.inner.products(&self.origins(rows), &self.origins(columns), out)
    }

    fn lower_bounds(&self, rows: &[usize], columns: &[usize], out: &mut [f64]) -> Result<(), Error> {
        self.inner.lower_bounds(&self.origins(rows), &self.origins(columns), out)
    }

    fn subtract_fitted(
        &self,
        rows: &[usize],
        support: &[usize],
        weights: &[f64],
        out: &mut [f64],
    ) -> Result<(), Error> {
        self.inner.subtract_fitted(&self.origins(rows), &self.origins(support), weights, out)
    }
}
