//! Atoms of norm one.

use crate::{Error, InnerProducts};

/// Every atom and the target divided by their norms; an atom of norm zero stays zero.
pub struct Normalised<P> {
    inner: P,
    scales: Vec<f64>,
    target_products: Vec<f64>,
    squared_norms: Vec<f64>,
    target_squared_norm: f64,
}

impl<P: InnerProducts> Normalised<P> {
    /// Normalises `inner`.
    pub fn new(inner: P) -> Self {
        let invert = |squared_norm: &f64| if *squared_norm > 0.0 { squared_norm.sqrt().recip() } else { 0.0 };
        let scales: Vec<f64> = inner.squared_norms().iter().map(invert).collect();
        let target_scale = invert(&inner.target_squared_norm());
        let target_products =
            inner.target_products().iter().zip(&scales).map(|(c, scale)| c * scale * target_scale).collect();
        let squared_norms = scales.iter().map(|&scale| if scale > 0.0 { 1.0 } else { 0.0 }).collect();
        let target_squared_norm = if target_scale > 0.0 { 1.0 } else { 0.0 };
        Self { inner, scales, target_products, squared_norms, target_squared_norm }
    }
}

impl<P: InnerProducts> Normalised<P> {
    fn scale(&self, rows: &[usize], columns: &[usize], out: &mut [f64]) {
        for (&column, out) in columns.iter().zip(out.chunks_exact_mut(rows.len().max(1))) {
            for (value, &row) in out.iter_mut().zip(rows) {
                *value *= self.scales[row] * self.scales[column];
            }
        }
    }
}

impl<P: InnerProducts> InnerProducts for Normalised<P> {
    fn target_squared_norm(&self) -> f64 {
        self.target_squared_norm
    }

    fn target_products(&self) -> &[f64] {
        &self.target_products
    }

    fn squared_norms(&self) -> &[f64] {
        &self.squared_norms
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
