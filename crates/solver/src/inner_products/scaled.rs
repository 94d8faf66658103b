//! Atoms of other lengths.

use super::change_each;
use crate::{Atoms, Error, InnerProducts};

/// Every atom times a number of its own: with an l1 penalty on top this is the weighted lasso, whose
/// coefficients are these numbers times those here.
pub struct Scaled<P> {
    inner: P,
    scales: Vec<f64>,
    atoms: Atoms,
}

impl<P: InnerProducts> Scaled<P> {
    /// Atom `j` of `inner` times `scales[j]`, at least 0.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] unless there is a scale for each atom; [`Error::InvalidParameter`] for one
    /// that is negative or not finite.
    pub fn new(inner: P, scales: Vec<f64>) -> Result<Self, Error> {
        let (expected, found) = (inner.n_atoms(), scales.len());
        if found != expected {
            return Err(Error::ShapeMismatch { what: "scales of the atoms", expected, found });
        }
        if let Some(scale) = scales.iter().find(|scale| !(scale.is_finite() && **scale >= 0.0)) {
            return Err(Error::parameter("scale", scale, "finite and at least 0"));
        }
        let target_squared_norm = inner.target_squared_norm();
        let squared_norms =
            inner.squared_norms().iter().zip(&scales).map(|(norm, scale)| norm * scale * scale).collect();
        Ok(Self::with_norms(inner, scales, 1.0, target_squared_norm, squared_norms))
    }

    /// Every atom and the target divided by their norms; an atom of norm zero stays zero.
    pub fn to_norm_one(inner: P) -> Self {
        let invert = |squared_norm: &f64| if *squared_norm > 0.0 { squared_norm.sqrt().recip() } else { 0.0 };
        let scales: Vec<f64> = inner.squared_norms().iter().map(invert).collect();
        let target_scale = invert(&inner.target_squared_norm());
        let one_or_zero = |scale: &f64| if *scale > 0.0 { 1.0 } else { 0.0 };
        let squared_norms = scales.iter().map(one_or_zero).collect();
        Self::with_norms(inner, scales, target_scale, one_or_zero(&target_scale), squared_norms)
    }

    fn with_norms(
        inner: P,
        scales: Vec<f64>,
        target_scale: f64,
        target_squared_norm: f64,
        squared_norms: Vec<f64>,
    ) -> Self {
        let products = inner.target_products().iter().zip(&scales);
        let target_products = products.map(|(c, scale)| c * scale * target_scale).collect();
        let atoms = Atoms { target_squared_norm, target_products, squared_norms, ..inner.atoms().clone() };
        Self { inner, scales, atoms }
    }

    fn scale(&self, rows: &[usize], columns: &[usize], out: &mut [f64]) {
        change_each(rows, columns, out, |value, row, column| {
            *value *= self.scales[row] * self.scales[column]
        });
    }
}

impl<P: InnerProducts> InnerProducts for Scaled<P> {
    fn atoms(&self) -> &Atoms {
        &self.atoms
    }

    fn products(&self, rows: &[usize], columns: &[usize], out: &mut [f64]) -> Result<(), Error> {
        self.inner.products(rows, columns, out)?;
        self.scale(rows, columns, out);
        Ok(())
    }

    fn lower_bounds(&self, rows: &[usize], columns: &[usize], out: &mut [f64]) -> Result<(), Error> {
        self.inner.lower_bounds(rows, columns, out)?;
        self.scale(rows, columns, out);
        Ok(())
    }

    fn subtract_fitted(
        &self,
        rows: &[usize],
        support: &[usize],
        weights: &[f64],
        out: &mut [f64],
    ) -> Result<(), Error> {
        let weights: Vec<f64> =
            support.iter().zip(weights).map(|(&s, weight)| self.scales[s] * weight).collect();
        let mut values = vec![0.0; rows.len()];
        self.inner.subtract_fitted(rows, support, &weights, &mut values)?;
        for ((&row, value), out) in rows.iter().zip(values).zip(out) {
            *out += self.scales[row] * value;
        }
        Ok(())
    }
}
