//! Least squares whose atoms are seen through inner products only, and what is made of one such problem: a
//! file each.

mod cached;
mod normalised;
mod projected;
mod ridged;
mod signed;

pub use cached::{CachedProducts, ColumnCache};
pub use normalised::Normalised;
pub use projected::Projected;
pub use ridged::Ridged;
pub use signed::Signed;

use crate::Error;

/// The problem `½‖b − Σⱼ wⱼ Aⱼ‖²` in a Hilbert space, seen through inner products.
///
/// The atoms of HSIC Lasso are n × n matrices, one a feature: they are never stored, and few of their
/// d² inner products are ever needed. All methods are pure: the same values at every call.
pub trait InnerProducts: Sync {
    /// `‖b‖²`.
    fn target_squared_norm(&self) -> f64;

    /// `⟨Aⱼ, b⟩` of every atom.
    fn target_products(&self) -> &[f64];

    /// `‖Aⱼ‖²` of every atom.
    fn squared_norms(&self) -> &[f64];

    /// `out[i + j · rows.len()] = ⟨A_rows[i], A_columns[j]⟩`; `out` has `rows.len() · columns.len()` entries.
    ///
    /// # Errors
    /// [`Error::Unreadable`] where atoms are built from features that cannot be read.
    fn products(&self, rows: &[usize], columns: &[usize], out: &mut [f64]) -> Result<(), Error>;

    /// Number of atoms.
    fn n_atoms(&self) -> usize {
        self.target_products().len()
    }

    /// How many atoms can be multiplied again and again without being built anew: a working set should not be
    /// much larger.
    fn n_cached_atoms(&self) -> usize {
        usize::MAX
    }

    /// How far an atom, or the target, may be from what it stands for, as a share of its norm: 0 where they
    /// are exact, infinite where it is not known.
    fn approximation_error(&self) -> f64 {
        0.0
    }

    /// Whether no two atoms have a negative product. Then `⟨Aⱼ, b⟩` bounds the correlation of atom `j`
    /// with the residual of any non-negative combination, which spares most of a check over all atoms.
    fn products_are_nonnegative(&self) -> bool {
        false
    }

    /// Lower bounds of [`products`](InnerProducts::products), shaped alike, where cheaper ones are known:
    ///
    /// ```text
    /// out ≤ ⟨Aᵢ, Aⱼ⟩ ≤ out + (lower_bound_error(i) + lower_bound_error(j)) ‖Aᵢ‖ ‖Aⱼ‖     up to rounding
    /// ```
    ///
    /// # Errors
    /// As [`products`](InnerProducts::products).
    fn lower_bounds(&self, rows: &[usize], columns: &[usize], out: &mut [f64]) -> Result<(), Error> {
        self.products(rows, columns, out)
    }

    /// The share of its norm by which atom `atom` loosens [`lower_bounds`](InnerProducts::lower_bounds).
    fn lower_bound_error(&self, _atom: usize) -> f64 {
        0.0
    }
}

/// All methods passed on to what a pointer points at.
macro_rules! pass_on {
    ($($pointer:ty => $($bound:path),*;)*) => {$(
        impl<P: InnerProducts + ?Sized $(+ $bound)*> InnerProducts for $pointer {
            fn n_atoms(&self) -> usize {
                (**self).n_atoms()
            }

            fn target_squared_norm(&self) -> f64 {
                (**self).target_squared_norm()
            }

            fn target_products(&self) -> &[f64] {
                (**self).target_products()
            }

            fn squared_norms(&self) -> &[f64] {
                (**self).squared_norms()
            }

            fn products(&self, rows: &[usize], columns: &[usize], out: &mut [f64]) -> Result<(), Error> {
                (**self).products(rows, columns, out)
            }

            fn n_cached_atoms(&self) -> usize {
                (**self).n_cached_atoms()
            }

            fn approximation_error(&self) -> f64 {
                (**self).approximation_error()
            }

            fn products_are_nonnegative(&self) -> bool {
                (**self).products_are_nonnegative()
            }

            fn lower_bounds(&self, rows: &[usize], columns: &[usize], out: &mut [f64]) -> Result<(), Error> {
                (**self).lower_bounds(rows, columns, out)
            }

            fn lower_bound_error(&self, atom: usize) -> f64 {
                (**self).lower_bound_error(atom)
            }
        }
    )*};
}

pass_on! {
    &P =>;
    Box<P> => Send;
}
