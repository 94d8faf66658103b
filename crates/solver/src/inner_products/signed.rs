//! Coefficients of any sign, for solvers of non-negative problems.

use fewest_core::order;

use crate::{Atoms, Error, InnerProducts};

/// The problem `½ ‖b − Σⱼ wⱼ Aⱼ‖²` with `w = w⁺ − w⁻` split in its two signs: twice as many atoms, `Aⱼ` and
/// `−Aⱼ`, and every coefficient non-negative. With an l1 penalty at most one of the two is positive, so the
/// path and every solver of the non-negative lasso serve the signed one.
///
/// Atom `2 j + s` is atom `j` of those with sign `s` (0: plus, 1: minus): they keep their order.
pub struct Signed<P> {
    inner: P,
    atoms: Atoms,
}

impl<P: InnerProducts> Signed<P> {
    /// The atoms of `inner` with both signs.
    pub fn new(inner: P) -> Self {
        let target_products = inner.target_products().iter().flat_map(|product| [*product, -product]);
        let atoms = Atoms {
            n_cached: inner.atoms().n_cached,
            target_squared_norm: inner.target_squared_norm(),
            target_products: target_products.collect(),
            squared_norms: inner.squared_norms().iter().flat_map(|square| [*square; 2]).collect(),
            ..Atoms::default()
        };
        Self { inner, atoms }
    }

    /// Sign and inner atom of an atom.
    fn parts(&self, atom: usize) -> (f64, usize) {
        (if atom.is_multiple_of(2) { 1.0 } else { -1.0 }, atom / 2)
    }

    /// The inner atom of an atom.
    pub fn inner_atom(&self, atom: usize) -> usize {
        self.parts(atom).1
    }

    /// Signed coefficients `(inner atom, value)` of non-negative ones, without zeros.
    pub fn merge(&self, coefficients: &[(usize, f64)]) -> Vec<(usize, f64)> {
        let mut merged: Vec<(usize, f64)> = coefficients
            .iter()
            .map(|&(atom, value)| {
                let (sign, inner) = self.parts(atom);
                (inner, sign * value)
            })
            .collect();
        order::sort_entries(&mut merged);
        merged.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 += next.1;
            }
            same
        });
        merged.retain(|&(_, value)| value != 0.0);
        merged
    }
}

/// The distinct numbers of a list, and the position of each entry among them.
fn distinct(atoms: impl Iterator<Item = usize> + Clone, n: usize) -> (Vec<usize>, Vec<usize>) {
    let mut place = vec![usize::MAX; n];
    let mut different = Vec::new();
    for atom in atoms.clone() {
        if place[atom] == usize::MAX {
            place[atom] = different.len();
            different.push(atom);
        }
    }
    let places = atoms.map(|atom| place[atom]).collect();
    (different, places)
}

impl<P: InnerProducts> InnerProducts for Signed<P> {
    fn atoms(&self) -> &Atoms {
        &self.atoms
    }

    fn products(&self, rows: &[usize], columns: &[usize], out: &mut [f64]) -> Result<(), Error> {
        let p = self.inner.n_atoms();
        let (inner_rows, row_places) = distinct(rows.iter().map(|atom| atom / 2), p);
        let (inner_columns, column_places) = distinct(columns.iter().map(|atom| atom / 2), p);
        // Each product of inner atoms once, for all signs.
        let mut products = vec![0.0; inner_rows.len() * inner_columns.len()];
        self.inner.products(&inner_rows, &inner_columns, &mut products)?;
        let signs: Vec<f64> = rows.iter().map(|&row| self.parts(row).0).collect();
        for ((&column, &place), out) in
            columns.iter().zip(&column_places).zip(out.chunks_exact_mut(rows.len().max(1)))
        {
            let (sign, _) = self.parts(column);
            let own = &products[place * inner_rows.len()..(place + 1) * inner_rows.len()];
            for ((value, &place), row_sign) in out.iter_mut().zip(&row_places).zip(&signs) {
                *value = sign * row_sign * own[place];
            }
        }
        Ok(())
    }

    fn subtract_fitted(
        &self,
        rows: &[usize],
        support: &[usize],
        weights: &[f64],
        out: &mut [f64],
    ) -> Result<(), Error> {
        let p = self.inner.n_atoms();
        let (atoms, weights): (Vec<usize>, Vec<f64>) = support
            .iter()
            .zip(weights)
            .map(|(&atom, weight)| {
                let (sign, inner) = self.parts(atom);
                (inner, sign * weight)
            })
            .unzip();
        let (inner_rows, places) = distinct(rows.iter().map(|atom| atom / 2), p);
        let mut values = vec![0.0; inner_rows.len()];
        self.inner.subtract_fitted(&inner_rows, &atoms, &weights, &mut values)?;
        for ((&row, &place), out) in rows.iter().zip(&places).zip(out) {
            *out += self.parts(row).0 * values[place];
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::{Quadratic, Targeted};

    use super::*;

    #[test]
    fn signs_are_kept_apart() -> Result<(), Error> {
        let inner = Quadratic::new(vec![2.0, 0.5, 0.5, 3.0], vec![1.0, -1.0], 4.0)?;
        let signed = Signed::new(Targeted::new(&inner, vec![0.0, 5.0], 9.0));
        assert_eq!((signed.n_atoms(), signed.target_squared_norm()), (4, 9.0));
        assert_eq!(signed.target_products(), [0.0, -0.0, 5.0, -5.0]);
        let mut out = vec![0.0; 9];
        // Atoms (sign, inner): 2 = (+, 1), 1 = (−, 0), 3 = (−, 1).
        let atoms = [2, 1, 3];
        signed.products(&atoms, &atoms, &mut out)?;
        #[rustfmt::skip]
        assert_eq!(out, [3.0, -0.5, -3.0, -0.5, 2.0, 0.5, -3.0, 0.5, 3.0]);
        let merged = signed.merge(&[(3, 0.5), (0, 2.0), (2, 0.25), (1, 2.0)]);
        assert_eq!(merged, [(1, -0.25)]);
        assert_eq!(Signed::new(&inner).target_products(), [1.0, -1.0, -1.0, 1.0]);
        Ok(())
    }
}
