//! The Cholesky factor of the Gram matrix of the active atoms.

use serde::{Deserialize, Serialize};

/// An atom depends linearly on the active ones if its squared distance from their span is below this share of
/// its squared norm: at this share, rounding still leaves about five digits of the distance.
const DEPENDENT: f64 = 1e-11;

/// Active atoms with the products of each with every atom, and the factor `L` with `L Lᵀ = G_SS`.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct ActiveSet {
    /// The atoms, in the order in which they joined.
    atoms: Vec<usize>,
    /// `columns[i][j] = ⟨A_j, A_atoms[i]⟩`.
    columns: Vec<Vec<f64>>,
    /// Row `i` of `L`, `i + 1` entries.
    rows: Vec<Vec<f64>>,
}

impl ActiveSet {
    pub(crate) fn atoms(&self) -> &[usize] {
        &self.atoms
    }

    pub(crate) fn columns(&self) -> &[Vec<f64>] {
        &self.columns
    }

    /// Adds `atom`, unless it depends linearly on the active ones: then its column is returned.
    pub(crate) fn join(&mut self, atom: usize, column: Vec<f64>) -> Result<(), Vec<f64>> {
        let crossed: Vec<f64> = self.atoms.iter().map(|&other| column[other]).collect();
        let mut row = self.solve_lower(&crossed);
        let squared_norm = column[atom];
        let left = squared_norm - row.iter().map(|value| value * value).sum::<f64>();
        if left.is_nan() || left <= DEPENDENT * squared_norm {
            return Err(column);
        }
        row.push(left.sqrt());
        self.atoms.push(atom);
        self.columns.push(column);
        self.rows.push(row);
        Ok(())
    }

    /// Removes the atom at `position`; the rows below it are factored again.
    pub(crate) fn leave(&mut self, position: usize) -> Vec<f64> {
        self.atoms.remove(position);
        let column = self.columns.remove(position);
        self.rows.truncate(position);
        for i in position..self.atoms.len() {
            let crossed: Vec<f64> = self.atoms[..i].iter().map(|&other| self.columns[i][other]).collect();
            let mut row = self.solve_lower(&crossed);
            let squared_norm = self.columns[i][self.atoms[i]];
            let left = squared_norm - row.iter().map(|value| value * value).sum::<f64>();
            // A subset of independent atoms is independent: only rounding can bring `left` down.
            row.push(left.max(DEPENDENT * squared_norm).sqrt());
            self.rows.push(row);
        }
        column
    }

    /// `x` with `G_SS x = right`, refined once with the residual.
    pub(crate) fn solve(&self, right: &[f64]) -> Vec<f64> {
        let mut x = self.solve_upper(self.solve_lower(right));
        let residual: Vec<f64> = self
            .atoms
            .iter()
            .zip(right)
            .map(|(&atom, value)| {
                value - x.iter().zip(&self.columns).map(|(x, column)| x * column[atom]).sum::<f64>()
            })
            .collect();
        for (x, correction) in x.iter_mut().zip(self.solve_upper(self.solve_lower(&residual))) {
            *x += correction;
        }
        x
    }

    /// `L⁻¹ right`, for the first `right.len()` rows.
    fn solve_lower(&self, right: &[f64]) -> Vec<f64> {
        let mut x: Vec<f64> = Vec::with_capacity(right.len() + 1);
        for (row, &value) in self.rows.iter().zip(right) {
            let known: f64 = row.iter().zip(&x).map(|(a, b)| a * b).sum();
            let pivot = row[x.len()];
            x.push((value - known) / pivot);
        }
        x
    }

    /// `L⁻ᵀ x`.
    fn solve_upper(&self, mut x: Vec<f64>) -> Vec<f64> {
        for i in (0..x.len()).rev() {
            let (before, from) = x.split_at_mut(i);
            from[0] /= self.rows[i][i];
            for (value, entry) in before.iter_mut().zip(&self.rows[i]) {
                *value -= from[0] * entry;
            }
        }
        x
    }
}
