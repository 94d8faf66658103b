//! Squared differences of coefficients as part of the atoms.

use crate::{Atoms, Error, InnerProducts, SignedEdge};

/// `½‖b − Aw‖² + level Σ_edges weight (wᵢ − sign wⱼ)²` as least squares: every edge is one more dimension, in
/// which the atoms of its ends have an entry. With an l1 penalty on top this is the graph lasso, for every
/// solver. Edges of an atom of norm zero are left out.
pub struct Linked<P> {
    inner: P,
    atoms: Atoms,
    /// Of each atom, those that it is linked to, with what is added to their product; itself with what is
    /// added to its squared norm. By increasing atom.
    added: Vec<Vec<(usize, f64)>>,
}

impl<P: InnerProducts> Linked<P> {
    /// Adds `level Σ weight (wᵢ − sign wⱼ)²` to `inner`. Several edges between two atoms add up.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for a level that is negative or not finite; [`Error::ShapeMismatch`] for
    /// an edge whose end is no atom.
    pub fn new(inner: P, level: f64, edges: &[SignedEdge]) -> Result<Self, Error> {
        if !(level.is_finite() && level >= 0.0) {
            return Err(Error::parameter("level", level, "finite and at least 0"));
        }
        let mut atoms = inner.atoms().clone();
        let n = atoms.squared_norms.len();
        let mut added: Vec<Vec<(usize, f64)>> = vec![Vec::new(); n];
        for edge in edges {
            let (a, b) = edge.ends;
            if a.max(b) >= n {
                return Err(Error::ShapeMismatch { what: "ends of the edges", expected: n, found: a.max(b) });
            }
            if inner.squared_norms()[a] > 0.0 && inner.squared_norms()[b] > 0.0 {
                let weight = 2.0 * level * edge.weight;
                for (from, to) in [(a, b), (b, a)] {
                    atoms.squared_norms[from] += weight;
                    added[from].extend([(from, weight), (to, -edge.sign() * weight)]);
                }
            }
        }
        for entries in &mut added {
            fewest_core::order::sort_entries(entries);
            entries.dedup_by(|next, sum| {
                let is_same = next.0 == sum.0;
                if is_same {
                    sum.1 += next.1;
                }
                is_same
            });
        }
        Ok(Self { inner, atoms, added })
    }

    fn add_links(&self, rows: &[usize], columns: &[usize], out: &mut [f64]) {
        let mut places = vec![None; self.added.len()];
        rows.iter().enumerate().for_each(|(at, &row)| places[row] = Some(at));
        for (&column, out) in columns.iter().zip(out.chunks_exact_mut(rows.len().max(1))) {
            for &(other, value) in &self.added[column] {
                if let Some(at) = places[other] {
                    out[at] += value;
                }
            }
        }
    }
}

impl<P: InnerProducts> InnerProducts for Linked<P> {
    fn atoms(&self) -> &Atoms {
        &self.atoms
    }

    fn products(&self, rows: &[usize], columns: &[usize], out: &mut [f64]) -> Result<(), Error> {
        self.inner.products(rows, columns, out)?;
        self.add_links(rows, columns, out);
        Ok(())
    }

    fn lower_bounds(&self, rows: &[usize], columns: &[usize], out: &mut [f64]) -> Result<(), Error> {
        self.inner.lower_bounds(rows, columns, out)?;
        self.add_links(rows, columns, out);
        Ok(())
    }

    fn subtract_fitted(
        &self,
        rows: &[usize],
        support: &[usize],
        weights: &[f64],
        out: &mut [f64],
    ) -> Result<(), Error> {
        self.inner.subtract_fitted(rows, support, weights, out)?;
        let mut linked = vec![0.0; self.added.len()];
        for (&atom, weight) in support.iter().zip(weights) {
            self.added[atom].iter().for_each(|&(other, value)| linked[other] += weight * value);
        }
        rows.iter().zip(out).for_each(|(&row, value)| *value -= linked[row]);
        Ok(())
    }
}
