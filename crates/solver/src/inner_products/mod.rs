//! Least squares whose atoms are given by inner products only, and problems derived from another: one file
//! each.

mod atoms;
mod cached;
mod copied;
mod linked;
mod projected;
mod ridged;
mod scaled;
mod signed;
mod targeted;

pub use atoms::Atoms;
pub use cached::{CachedProducts, ColumnCache};
pub use copied::Copied;
pub use linked::{Linked, Links};
pub use projected::Projected;
pub use ridged::Ridged;
pub use scaled::Scaled;
pub use signed::Signed;
pub use targeted::Targeted;

use crate::Error;

/// Largest number of products in memory at a time, where only their sums are needed.
const PRODUCTS_AT_ONCE: usize = 1 << 20;

/// The problem `½‖b − Σⱼ wⱼ Aⱼ‖²` in a Hilbert space, given by inner products.
///
/// The atoms of HSIC Lasso are n × n matrices, one for each feature: they are never stored, and only few of
/// their d² inner products are needed. All methods are pure: the same values at every call. Implementations
/// do not override the methods that read [`atoms`](InnerProducts::atoms): a pointer does not forward them.
pub trait InnerProducts: Sync {
    /// The properties of the target and of single atoms.
    fn atoms(&self) -> &Atoms;

    /// `out[i + j · rows.len()] = ⟨A_rows[i], A_columns[j]⟩`; `out` has `rows.len() · columns.len()` entries.
    ///
    /// # Errors
    /// [`Error::Unreadable`] where atoms are built from features that cannot be read.
    fn products(&self, rows: &[usize], columns: &[usize], out: &mut [f64]) -> Result<(), Error>;

    /// Lower bounds of [`products`](InnerProducts::products), shaped alike, where cheaper ones are known:
    ///
    /// ```text
    /// out ≤ ⟨Aᵢ, Aⱼ⟩ ≤ out + (lower_bound_errors[i] + lower_bound_errors[j]) ‖Aᵢ‖ ‖Aⱼ‖     up to rounding
    /// ```
    ///
    /// with the [errors](Atoms::lower_bound_errors) of the atoms.
    ///
    /// # Errors
    /// As [`products`](InnerProducts::products).
    fn lower_bounds(&self, rows: &[usize], columns: &[usize], out: &mut [f64]) -> Result<(), Error> {
        self.products(rows, columns, out)
    }

    /// Subtracts from `out` what the atoms `support` with these weights contribute to the products with a
    /// residual, `out[i] −= ⟨A_rows[i], Σ_s weights[s] A_support[s]⟩`; `out` has `rows.len()` entries.
    ///
    /// The default takes a product of each row with each atom of the support. Where the combination itself
    /// can be built, one product for each row is enough.
    ///
    /// # Errors
    /// As [`products`](InnerProducts::products).
    fn subtract_fitted(
        &self,
        rows: &[usize],
        support: &[usize],
        weights: &[f64],
        out: &mut [f64],
    ) -> Result<(), Error> {
        if rows.is_empty() || support.is_empty() {
            return Ok(());
        }
        let height = (PRODUCTS_AT_ONCE / support.len()).clamp(1, rows.len());
        let mut products = vec![0.0; height * support.len()];
        for (rows, out) in rows.chunks(height).zip(out.chunks_mut(height)) {
            let products = &mut products[..rows.len() * support.len()];
            self.products(rows, support, products)?;
            for (weight, column) in weights.iter().zip(products.chunks_exact(rows.len())) {
                for (value, product) in out.iter_mut().zip(column) {
                    *value -= weight * product;
                }
            }
        }
        Ok(())
    }

    /// `‖b‖²`.
    fn target_squared_norm(&self) -> f64 {
        self.atoms().target_squared_norm
    }

    /// `⟨Aⱼ, b⟩` of every atom.
    fn target_products(&self) -> &[f64] {
        &self.atoms().target_products
    }

    /// `‖Aⱼ‖²` of every atom.
    fn squared_norms(&self) -> &[f64] {
        &self.atoms().squared_norms
    }

    /// The share of its norm by which atom `atom` loosens [`lower_bounds`](InnerProducts::lower_bounds).
    fn lower_bound_error(&self, atom: usize) -> f64 {
        self.atoms().lower_bound_errors.get(atom).copied().unwrap_or(0.0)
    }

    /// Number of atoms.
    fn n_atoms(&self) -> usize {
        self.target_products().len()
    }
}

/// All methods, forwarded to the target of a pointer.
macro_rules! pass_on {
    ($($pointer:ty => $($bound:path),*;)*) => {$(
        impl<P: InnerProducts + ?Sized $(+ $bound)*> InnerProducts for $pointer {
            fn atoms(&self) -> &Atoms {
                (**self).atoms()
            }

            fn products(&self, rows: &[usize], columns: &[usize], out: &mut [f64]) -> Result<(), Error> {
                (**self).products(rows, columns, out)
            }

            fn lower_bounds(&self, rows: &[usize], columns: &[usize], out: &mut [f64]) -> Result<(), Error> {
                (**self).lower_bounds(rows, columns, out)
            }

            fn subtract_fitted(
                &self,
                rows: &[usize],
                support: &[usize],
                weights: &[f64],
                out: &mut [f64],
            ) -> Result<(), Error> {
                (**self).subtract_fitted(rows, support, weights, out)
            }
        }
    )*};
}

pass_on! {
    &P =>;
    Box<P> => Send;
}

/// Changes products in place: `change(value, row, column)`, laid out as [`InnerProducts::products`] does.
fn change_each(rows: &[usize], columns: &[usize], out: &mut [f64], change: impl Fn(&mut f64, usize, usize)) {
    for (&column, out) in columns.iter().zip(out.chunks_exact_mut(rows.len().max(1))) {
        for (value, &row) in out.iter_mut().zip(rows) {
            change(value, row, column);
        }
    }
}
