//! Free atoms minimised out.

use crate::{Error, InnerProducts};

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
    fn target_squared_norm(&self) -> f64 {
        self.target_squared_norm
    }

    fn target_products(&self) -> &[f64] {
        &self.target_products
    }

    fn squared_norms(&self) -> &[f64] {
        &self.squared_norms
    }

    fn n_cached_atoms(&self) -> usize {
        self.inner.n_cached_atoms()
    }

    fn approximation_error(&self) -> f64 {
        self.inner.approximation_error()
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
