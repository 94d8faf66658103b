//! The columns of a linear model.

use crate::{Error, LinearOperator};

/// The columns `xⱼ` of a linear model, read a few at a time, so that they need not all be in memory. Every
/// [`LinearOperator`] is one.
pub trait Design: Sync {
    /// Length of a column.
    fn n_samples(&self) -> usize;

    /// Number of columns.
    fn n_columns(&self) -> usize;

    /// `out[k + j · c] = ⟨xⱼ, rₖ⟩` of every column with each of the `c` vectors in `right`, one after the
    /// other.
    ///
    /// # Errors
    /// [`Error::Unreadable`] where columns are built from features that cannot be read.
    fn correlations(&self, right: &[f64], out: &mut [f64]) -> Result<(), Error>;

    /// Writes the columns `chosen`, one after the other.
    ///
    /// # Errors
    /// As [`correlations`](Design::correlations).
    fn gather(&self, chosen: &[usize], out: &mut [f64]) -> Result<(), Error>;
}

impl<A: LinearOperator + ?Sized> Design for A {
    fn n_samples(&self) -> usize {
        self.n_rows()
    }

    fn n_columns(&self) -> usize {
        LinearOperator::n_columns(self)
    }

    fn correlations(&self, right: &[f64], out: &mut [f64]) -> Result<(), Error> {
        let n = self.n_rows().max(1);
        let c = right.len() / n;
        let mut own = vec![0.0; LinearOperator::n_columns(self)];
        for (k, right) in right.chunks_exact(n).enumerate() {
            self.apply_transpose(right, &mut own);
            for (out, value) in out.chunks_exact_mut(c).zip(&own) {
                out[k] = *value;
            }
        }
        Ok(())
    }

    fn gather(&self, chosen: &[usize], out: &mut [f64]) -> Result<(), Error> {
        for (&j, out) in chosen.iter().zip(out.chunks_exact_mut(self.n_rows().max(1))) {
            self.column(j, out);
        }
        Ok(())
    }
}
