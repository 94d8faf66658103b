//! Weighted sums of the kernels.

use fewest_core::{Context, Error};
use nalgebra::DMatrix;

use super::atoms::{Atom, Atoms};
use super::matrix::{KernelMatrix, signed_square};
use fewest_linalg::centre;

/// Atoms whose columns are gathered and multiplied at a time.
const CHUNK: usize = 256;

impl Atoms<'_> {
    /// `H (Σ d_m K_m) H` on the samples `rows`.
    ///
    /// # Errors
    /// [`Error::Numerical`] on overflow; [`Error::Stopped`].
    pub(crate) fn combine(
        &self,
        weights: &[f64],
        rows: &[usize],
        context: &Context<'_>,
    ) -> Result<KernelMatrix, Error> {
        let n = rows.len();
        let mut active = Vec::new();
        let mut rank = 0;
        for (m, &weight) in weights.iter().enumerate().filter(|(_, weight)| **weight > 0.0) {
            let atom = self.get(m)?;
            active.push((weight, atom));
            rank += match atom {
                Atom::Factor(factor) => factor.rank(),
                Atom::Gram(_) => n,
            };
        }
        if rank < n {
            let (columns, signs) = columns(&active, rows);
            return KernelMatrix::from_columns(columns, &signs, context);
        }
        // Chunks of a fixed size, added in order: the same bits for any number of threads.
        let mut sum = DMatrix::zeros(n, n);
        for chunk in active.chunks(CHUNK) {
            sum += partial(chunk, rows, context);
            context.go_on("a sum of kernels was known")?;
        }
        centre_both_sides(&mut sum);
        KernelMatrix::dense(sum)
    }
}

/// The columns of the factors among `atoms`, centred on `rows` and times `√d`, and their signs.
fn columns(atoms: &[(f64, &Atom)], rows: &[usize]) -> (DMatrix<f64>, Vec<f64>) {
    let mut values = Vec::new();
    let mut signs = Vec::new();
    for (weight, atom) in atoms {
        let Atom::Factor(factor) = atom else { continue };
        let scale = weight.sqrt();
        for a in 0..factor.rank() {
            let column = factor.column(a);
            let start = values.len();
            values.extend(rows.iter().map(|&row| scale * column[row]));
            centre(&mut values[start..]);
            signs.push(factor.signs().map_or(1.0, |signs| signs[a]));
        }
    }
    (DMatrix::from_vec(rows.len(), signs.len(), values), signs)
}

/// `Σ d_m K_m` over some atoms.
fn partial(atoms: &[(f64, &Atom)], rows: &[usize], context: &Context<'_>) -> DMatrix<f64> {
    let (columns, signs) = columns(atoms, rows);
    let mut sum = signed_square(&columns, &signs, context);
    for (weight, atom) in atoms {
        let Atom::Gram(gram) = atom else { continue };
        for (mut out, &column) in sum.column_iter_mut().zip(rows) {
            let column = gram.column(column);
            for (out, &row) in out.iter_mut().zip(rows) {
                *out += weight * column[row];
            }
        }
    }
    sum
}

fn centre_both_sides(matrix: &mut DMatrix<f64>) {
    for mut column in matrix.column_iter_mut() {
        centre(column.as_mut_slice());
    }
    let mut transposed = matrix.transpose();
    for mut column in transposed.column_iter_mut() {
        centre(column.as_mut_slice());
    }
    *matrix = 0.5 * (&transposed + transposed.transpose());
}
