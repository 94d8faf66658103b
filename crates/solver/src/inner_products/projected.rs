//! Elimination of free atoms by exact minimisation.

use super::change_each;
use crate::{Atoms, Error, InnerProducts};

/// The problem that remains after exact minimisation over some atoms without penalty and sign
/// constraint: all others and the target are projected on the orthogonal complement of the free ones.
///
/// `min over u, w of ½‖b − Uu − Aw‖² + Ω(w)` has the same `w` as `½‖Mb − MAw‖² + Ω(w)` with the
/// projection `M = I − U(UᵀU)⁻¹Uᵀ`; [`free_coefficients`](Projected::free_coefficients) gives `u` back.
pub struct Projected<P> {
    inner: P,
    free: Vec<usize>,
    /// `L⁻¹ Uᵀ A`, one column of `free.len()` entries per atom, with `L Lᵀ = UᵀU`.
    reduced: Vec<f64>,
    factor: nalgebra::Cholesky<f64, nalgebra::Dyn>,
    atoms: Atoms,
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
            what: "the projection on the features without a penalty",
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

        // Bounds of products and their signs do not hold after the projection.
        let mut left = Atoms {
            lower_bound_errors: Vec::new(),
            products_are_nonnegative: false,
            ..inner.atoms().clone()
        };
        let Atoms { target_products, squared_norms, .. } = &mut left;
        for (j, column) in reduced.column_iter().enumerate() {
            target_products[j] -= column.dot(&reduced_target);
            // The projection of an atom in the span of the free ones is rounding.
            let rest = squared_norms[j] - column.norm_squared();
            let gone = rest <= 1e-12 * squared_norms[j];
            squared_norms[j] = if gone { 0.0 } else { rest };
            if gone {
                target_products[j] = 0.0;
            }
        }
        left.target_squared_norm = (left.target_squared_norm - reduced_target.norm_squared()).max(0.0);
        let reduced = reduced.as_slice().to_vec();
        Ok(Self { inner, free, reduced, factor, atoms: left })
    }

    /// The coefficients of the free atoms that belong to `w`: `u = (UᵀU)⁻¹ Uᵀ(b − Aw)`.
    ///
    /// `w` has one entry per atom of the inner problem and is zero at the free ones.
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
    fn atoms(&self) -> &Atoms {
        &self.atoms
    }

    fn products(&self, rows: &[usize], columns: &[usize], out: &mut [f64]) -> Result<(), Error> {
        self.inner.products(rows, columns, out)?;
        let m = self.free.len();
        let reduced = |atom: usize| &self.reduced[atom * m..(atom + 1) * m];
        let is_zero = |atom: usize| self.atoms.squared_norms[atom] == 0.0;
        change_each(rows, columns, out, |value, row, column| {
            let shared: f64 = reduced(row).iter().zip(reduced(column)).map(|(a, b)| a * b).sum();
            *value = if is_zero(row) || is_zero(column) { 0.0 } else { *value - shared };
        });
        Ok(())
    }

    fn subtract_fitted(
        &self,
        rows: &[usize],
        support: &[usize],
        weights: &[f64],
        out: &mut [f64],
    ) -> Result<(), Error> {
        let m = self.free.len();
        let reduced = |atom: usize| &self.reduced[atom * m..(atom + 1) * m];
        let is_zero = |atom: usize| self.atoms.squared_norms[atom] == 0.0;
        let (support, weights): (Vec<usize>, Vec<f64>) =
            support.iter().copied().zip(weights.iter().copied()).filter(|&(s, _)| !is_zero(s)).unzip();
        let mut shared = vec![0.0; m];
        for (&s, weight) in support.iter().zip(&weights) {
            shared.iter_mut().zip(reduced(s)).for_each(|(shared, entry)| *shared += weight * entry);
        }
        let mut values = vec![0.0; rows.len()];
        self.inner.subtract_fitted(rows, &support, &weights, &mut values)?;
        for ((&row, value), out) in rows.iter().zip(values).zip(out) {
            if !is_zero(row) {
                *out += value + reduced(row).iter().zip(&shared).map(|(a, b)| a * b).sum::<f64>();
            }
        }
        Ok(())
    }
}
