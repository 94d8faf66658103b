//! Squared differences of coefficients as part of the atoms.

use crate::{Atoms, Error, InnerProducts, SignedEdge};

/// `level Σ_edges weight (wᵢ − sign wⱼ)² = ½ wᵀ L w`: the graph lasso with an l1 norm beside it.
#[derive(Debug, Clone, PartialEq)]
pub struct Links {
    /// The entries of every column of `L` that are not zero, by increasing row.
    entries: Vec<Vec<(usize, f64)>>,
}

impl Links {
    /// Between `n` coefficients. Several edges between two of them add up.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for a level that is negative or not finite; [`Error::ShapeMismatch`] for
    /// an edge whose end is no coefficient.
    pub fn new(n: usize, level: f64, edges: &[SignedEdge]) -> Result<Self, Error> {
        if !(level.is_finite() && level >= 0.0) {
            return Err(Error::parameter("level", level, "finite and at least 0"));
        }
        let mut entries: Vec<Vec<(usize, f64)>> = vec![Vec::new(); n];
        for edge in edges {
            let (a, b) = edge.ends;
            if a.max(b) >= n {
                return Err(Error::ShapeMismatch { what: "ends of the edges", expected: n, found: a.max(b) });
            }
            let weight = 2.0 * level * edge.weight;
            for (from, to) in [(a, b), (b, a)] {
                entries[from].extend([(from, weight), (to, -edge.sign() * weight)]);
            }
        }
        for entries in &mut entries {
            fewest_core::order::sort_entries(entries);
            entries.dedup_by(|next, sum| {
                let is_same = next.0 == sum.0;
                if is_same {
                    sum.1 += next.1;
                }
                is_same
            });
        }
        Ok(Self { entries })
    }

    /// `½ weight ‖w‖²` of `n` coefficients.
    pub fn ridge(n: usize, weight: f64) -> Self {
        Self { entries: (0..n).map(|j| vec![(j, weight)]).collect() }
    }

    /// Number of coefficients.
    pub fn n_coefficients(&self) -> usize {
        self.entries.len()
    }

    /// The entries of column `j` of `L` that are not zero, by increasing row.
    pub fn column(&self, j: usize) -> &[(usize, f64)] {
        &self.entries[j]
    }

    /// Subtracts `L w` from `out`.
    pub fn subtract_from(&self, w: &[f64], out: &mut [f64]) {
        for (entries, weight) in self.entries.iter().zip(w).filter(|(_, weight)| **weight != 0.0) {
            entries.iter().for_each(|&(other, value)| out[other] -= weight * value);
        }
    }

    /// `½ wᵀ L w`.
    pub fn value(&self, w: &[f64]) -> f64 {
        let product = |entries: &[(usize, f64)]| entries.iter().map(|&(i, value)| w[i] * value).sum::<f64>();
        let sum: f64 = w.iter().zip(&self.entries).map(|(w, entries)| w * product(entries)).sum();
        0.5 * sum.max(0.0)
    }

    /// The links of `coefficients` (increasing) when all others are zero.
    pub fn restrict(&self, coefficients: &[usize]) -> Self {
        let mut places = vec![None; self.entries.len()];
        coefficients.iter().enumerate().for_each(|(at, &j)| places[j] = Some(at));
        let own = |j: &usize| -> Vec<(usize, f64)> {
            self.entries[*j].iter().filter_map(|&(i, value)| Some((places[i]?, value))).collect()
        };
        Self { entries: coefficients.iter().map(own).collect() }
    }
}

/// `½‖b − Aw‖² + ½ wᵀ L w` as least squares: every edge is one more dimension, in which the atoms of its ends
/// have an entry. With an l1 penalty on top this is the graph lasso, for every solver. Edges of an atom of
/// norm zero are left out.
pub struct Linked<P> {
    inner: P,
    atoms: Atoms,
    links: Links,
}

impl<P: InnerProducts> Linked<P> {
    /// Adds `level Σ weight (wᵢ − sign wⱼ)²` to `inner`.
    ///
    /// # Errors
    /// As [`Links::new`].
    pub fn new(inner: P, level: f64, edges: &[SignedEdge]) -> Result<Self, Error> {
        let mut atoms = inner.atoms().clone();
        let n = atoms.squared_norms.len();
        let is_linked = |j: usize| inner.squared_norms().get(j).is_none_or(|norm| *norm > 0.0);
        let both = |edge: &&SignedEdge| is_linked(edge.ends.0) && is_linked(edge.ends.1);
        let links = Links::new(n, level, &edges.iter().filter(both).copied().collect::<Vec<_>>())?;
        for (j, norm) in atoms.squared_norms.iter_mut().enumerate() {
            *norm += links.column(j).iter().filter(|(i, _)| *i == j).map(|(_, value)| value).sum::<f64>();
        }
        Ok(Self { inner, atoms, links })
    }

    fn add_links(&self, rows: &[usize], columns: &[usize], out: &mut [f64]) {
        let mut places = vec![None; self.n_atoms()];
        rows.iter().enumerate().for_each(|(at, &row)| places[row] = Some(at));
        for (&column, out) in columns.iter().zip(out.chunks_exact_mut(rows.len().max(1))) {
            for &(other, value) in self.links.column(column) {
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
        let mut linked = vec![0.0; self.n_atoms()];
        for (&atom, weight) in support.iter().zip(weights) {
            self.links.column(atom).iter().for_each(|&(other, value)| linked[other] += weight * value);
        }
        rows.iter().zip(out).for_each(|(&row, value)| *value -= linked[row]);
        Ok(())
    }
}
