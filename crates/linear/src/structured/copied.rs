//! Columns that occur several times.

use fewest_core::Error;
use fewest_solver::Design;

use crate::columns::LinearColumns;

/// Columns of a linear model, each any number of times, for losses with a gradient: for squared errors see
/// [`Copied`](fewest_solver::Copied).
pub(super) struct CopiedColumns<'a> {
    columns: &'a LinearColumns<'a>,
    origins: &'a [usize],
}

impl<'a> CopiedColumns<'a> {
    /// Column `i` is column `origins[i]` of `columns`.
    pub(super) fn new(columns: &'a LinearColumns<'a>, origins: &'a [usize]) -> Self {
        Self { columns, origins }
    }
}

impl Design for CopiedColumns<'_> {
    fn n_samples(&self) -> usize {
        Design::n_samples(self.columns)
    }

    fn n_columns(&self) -> usize {
        self.origins.len()
    }

    fn correlations(&self, right: &[f64], out: &mut [f64]) -> Result<(), Error> {
        let c = out.len() / self.origins.len().max(1);
        let mut own = vec![0.0; Design::n_columns(self.columns) * c];
        self.columns.correlations(right, &mut own)?;
        for (&origin, out) in self.origins.iter().zip(out.chunks_exact_mut(c.max(1))) {
            out.copy_from_slice(&own[origin * c..(origin + 1) * c]);
        }
        Ok(())
    }

    fn gather(&self, chosen: &[usize], out: &mut [f64]) -> Result<(), Error> {
        let origins: Vec<usize> = chosen.iter().map(|&at| self.origins[at]).collect();
        Design::gather(self.columns, &origins, out)
    }
}
