//! Least squares whose atoms are seen through inner products only.

use crate::Error;

/// The problem `½‖b − Σⱼ wⱼ Aⱼ‖²` in a Hilbert space, seen through inner products.
///
/// The atoms of HSIC Lasso are n × n matrices, one a feature: they are never stored, and few of their
/// d² inner products are ever needed. All methods are pure: the same values at every call.
pub trait InnerProducts: Sync {
    /// Number of atoms.
    fn n_atoms(&self) -> usize;

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

    /// How many atoms can be multiplied again and again without being built anew: a working set should not be
    /// much larger.
    fn atoms_at_hand(&self) -> usize {
        usize::MAX
    }

    /// Whether no two atoms have a negative product. Then `⟨Aⱼ, b⟩` bounds the correlation of atom `j`
    /// with the residual of any non-negative combination, which spares most of a check over all atoms.
    fn products_are_nonnegative(&self) -> bool {
        false
    }

    /// Lower bounds of [`products`](InnerProducts::products), shaped alike, where cheaper ones are known:
    ///
    /// ```text
    /// out ≤ ⟨Aᵢ, Aⱼ⟩ ≤ out + (undershoot(i) + undershoot(j)) ‖Aᵢ‖ ‖Aⱼ‖     up to rounding
    /// ```
    ///
    /// # Errors
    /// As [`products`](InnerProducts::products).
    fn lower_bounds(&self, rows: &[usize], columns: &[usize], out: &mut [f64]) -> Result<(), Error> {
        self.products(rows, columns, out)
    }

    /// The share of its norm by which atom `atom` loosens [`lower_bounds`](InnerProducts::lower_bounds).
    fn undershoot(&self, _atom: usize) -> f64 {
        0.0
    }
}

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
    fn n_atoms(&self) -> usize {
        self.inner.n_atoms()
    }

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

    fn undershoot(&self, atom: usize) -> f64 {
        self.inner.undershoot(atom)
    }

    fn atoms_at_hand(&self) -> usize {
        self.inner.atoms_at_hand()
    }

    fn products_are_nonnegative(&self) -> bool {
        self.inner.products_are_nonnegative()
    }
}

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
    fn n_atoms(&self) -> usize {
        self.inner.n_atoms()
    }

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

    fn undershoot(&self, atom: usize) -> f64 {
        self.inner.undershoot(atom)
    }

    fn atoms_at_hand(&self) -> usize {
        self.inner.atoms_at_hand()
    }

    fn products_are_nonnegative(&self) -> bool {
        self.inner.products_are_nonnegative()
    }
}

/// The problem left after some atoms, free of penalty and sign, have been minimised out: all others and
/// the target are projected on the orthogonal complement of the free ones.
///
/// `min over u, w of ½‖b − Uu − Aw‖² + Ω(w)` has the same `w` as `½‖Mb − MAw‖² + Ω(w)` with the
/// projection `M = I − U(UᵀU)⁻¹Uᵀ`; [`free_coefficients`](Projected::free_coefficients) gives `u` back.
pub struct Projected<P> {
    inner: P,
    free: Vec<usize>,
    /// `L⁻¹ Uᵀ A`, one column of `free.len()` entries an atom, with `L Lᵀ = UᵀU`.
    reduced: Vec<f64>,
    factor: nalgebra::Cholesky<f64, nalgebra::Dyn>,
    target_products: Vec<f64>,
    squared_norms: Vec<f64>,
    target_squared_norm: f64,
}

impl<P: InnerProducts> Projected<P> {
    /// Minimises the atoms `free` out of `inner`.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for an atom out of range; [`Error::Numerical`] when the free atoms are
    /// linearly dependent; [`Error::Unreadable`] for atoms that cannot be built.
    pub fn new(inner: P, free: Vec<usize>) -> Result<Self, Error> {
        let (n, m) = (inner.n_atoms(), free.len());
        if let Some(atom) = free.iter().find(|&&atom| atom >= n) {
            return Err(Error::parameter("unpenalised", atom, format!("below the number of atoms, {n}")));
        }
        let mut gram = vec![0.0; m * m];
        inner.products(&free, &free, &mut gram)?;
        let gram = nalgebra::DMatrix::from_vec(m, m, gram);
        let norms = gram.diagonal();
        let dependent = || Error::Numerical {
            what: "the projection on the unpenalised features",
            hint:
                "they are constant or linearly dependent: leave out the constants and duplicates among them"
                    .to_owned(),
        };
        let factor = gram.cholesky().ok_or_else(dependent)?;
        let pivots = factor.l_dirty().diagonal();
        if pivots.iter().zip(norms.iter()).any(|(pivot, norm)| pivot * pivot <= 1e-12 * norm) {
            return Err(dependent());
        }

        let atoms: Vec<usize> = (0..n).collect();
        let mut crossed = vec![0.0; m * n];
        inner.products(&free, &atoms, &mut crossed)?;
        let mut reduced = nalgebra::DMatrix::from_vec(m, n, crossed);
        let mut reduced_target =
            nalgebra::DVector::from_iterator(m, free.iter().map(|&atom| inner.target_products()[atom]));
        let lower = factor.l_dirty();
        if !(lower.solve_lower_triangular_mut(&mut reduced)
            && lower.solve_lower_triangular_mut(&mut reduced_target))
        {
            return Err(dependent());
        }

        let mut target_products = inner.target_products().to_vec();
        let mut squared_norms = inner.squared_norms().to_vec();
        for (j, column) in reduced.column_iter().enumerate() {
            target_products[j] -= column.dot(&reduced_target);
            // What is left of an atom that lies in the span of the free ones is rounding.
            let left = squared_norms[j] - column.norm_squared();
            let gone = left <= 1e-12 * squared_norms[j];
            squared_norms[j] = if gone { 0.0 } else { left };
            if gone {
                target_products[j] = 0.0;
            }
        }
        let target_squared_norm = (inner.target_squared_norm() - reduced_target.norm_squared()).max(0.0);
        let reduced = reduced.as_slice().to_vec();
        Ok(Self { inner, free, reduced, factor, target_products, squared_norms, target_squared_norm })
    }

    /// The coefficients of the free atoms that belong to `w`: `u = (UᵀU)⁻¹ Uᵀ(b − Aw)`.
    ///
    /// `w` has one entry an atom of the inner problem and is zero at the free ones.
    ///
    /// # Errors
    /// [`Error::Unreadable`] for atoms that cannot be built.
    pub fn free_coefficients(&self, w: &[f64]) -> Result<Vec<f64>, Error> {
        let m = self.free.len();
        let support: Vec<usize> = (0..w.len()).filter(|&j| w[j] != 0.0).collect();
        let mut crossed = vec![0.0; m * support.len()];
        self.inner.products(&self.free, &support, &mut crossed)?;
        let targets = self.free.iter().map(|&atom| self.inner.target_products()[atom]);
        let mut right = nalgebra::DVector::from_iterator(m, targets);
        for (&j, column) in support.iter().zip(crossed.chunks_exact(m.max(1))) {
            for (value, product) in right.iter_mut().zip(column) {
                *value -= w[j] * product;
            }
        }
        self.factor.solve_mut(&mut right);
        Ok(right.as_slice().to_vec())
    }
}

impl<P: InnerProducts> InnerProducts for Projected<P> {
    fn n_atoms(&self) -> usize {
        self.inner.n_atoms()
    }

    fn target_squared_norm(&self) -> f64 {
        self.target_squared_norm
    }

    fn target_products(&self) -> &[f64] {
        &self.target_products
    }

    fn squared_norms(&self) -> &[f64] {
        &self.squared_norms
    }

    fn atoms_at_hand(&self) -> usize {
        self.inner.atoms_at_hand()
    }

    fn products(&self, rows: &[usize], columns: &[usize], out: &mut [f64]) -> Result<(), Error> {
        self.inner.products(rows, columns, out)?;
        let m = self.free.len();
        let reduced = |atom: usize| &self.reduced[atom * m..(atom + 1) * m];
        for (&column, out) in columns.iter().zip(out.chunks_exact_mut(rows.len().max(1))) {
            for (value, &row) in out.iter_mut().zip(rows) {
                let shared: f64 = reduced(row).iter().zip(reduced(column)).map(|(a, b)| a * b).sum();
                let zero = self.squared_norms[row] == 0.0 || self.squared_norms[column] == 0.0;
                *value = if zero { 0.0 } else { *value - shared };
            }
        }
        Ok(())
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

            fn atoms_at_hand(&self) -> usize {
                (**self).atoms_at_hand()
            }

            fn products_are_nonnegative(&self) -> bool {
                (**self).products_are_nonnegative()
            }

            fn lower_bounds(&self, rows: &[usize], columns: &[usize], out: &mut [f64]) -> Result<(), Error> {
                (**self).lower_bounds(rows, columns, out)
            }

            fn undershoot(&self, atom: usize) -> f64 {
                (**self).undershoot(atom)
            }
        }
    )*};
}

pass_on! {
    &P =>;
    Box<P> => Send;
}
