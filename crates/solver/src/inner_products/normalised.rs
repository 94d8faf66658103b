//! Atoms of norm one.

use super::change_each;
use crate::{Atoms, Error, InnerProducts};

/// Every atom and the target divided by their norms; an atom of norm zero stays zero.
pub struct Normalised<P> {
    inner: P,
    scales: Vec<f64>,
    atoms: Atoms,
}

impl<P: InnerProducts> Normalised<P> {
    /// Normalises `inner`.
    pub fn new(inner: P) -> Self {
        let invert = |squared_norm: &f64| if *squared_norm > 0.0 { squared_norm.sqrt().recip() } else { 0.0 };
        let scales: Vec<f64> = inner.squared_norms().iter().map(invert).collect();
        let target_scale = invert(&inner.target_squared_norm());
        let atoms = Atoms {
            target_squared_norm: if target_scale > 0.0 { 1.0 } else { 0.0 },
            target_products: inner
                .target_products()
                .iter()
                .zip(&scales)
                .map(|(c, scale)| c * scale * target_scale)
                .collect(),
            squared_norms: scales.iter().map(|&scale| if scale > 0.0 { 1.0 } else { 0.0 }).collect(),
            ..inner.atoms().clone()
        };
        Self { inner, scales, atoms }
    }

    fn scale(&self, rows: &[usize], columns: &[usize], out: &mut [f64]) {
        change_each(rows, columns, out, |value, row, column| {
            *value *= self.scales[row] * self.scales[column]
        });
    }
}

impl<P: InnerProducts> InnerProducts for Normalised<P> {
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
