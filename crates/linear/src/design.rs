//! The columns of a linear model as a design of fitted values.

use fewest_core::Error;
use fewest_linalg::lanes;
use fewest_solver::{Design, InnerProducts};

use super::columns::LinearColumns;

/// Columns multiplied at a time.
const PANEL: usize = 64;

/// Columns times 1 or −1: coefficients of at most 0 are at least 0 for those times −1.
pub(super) struct Turned<'a> {
    pub(super) inner: &'a LinearColumns<'a>,
    pub(super) factor: f64,
}

impl Design for Turned<'_> {
    fn n_samples(&self) -> usize {
        LinearColumns::n_samples(self.inner)
    }

    fn n_columns(&self) -> usize {
        self.inner.n_atoms()
    }

    fn correlations(&self, right: &[f64], out: &mut [f64]) -> Result<(), Error> {
        self.inner.correlations(right, out)?;
        out.iter_mut().for_each(|value| *value *= self.factor);
        Ok(())
    }

    fn gather(&self, chosen: &[usize], out: &mut [f64]) -> Result<(), Error> {
        Design::gather(self.inner, chosen, out)?;
        out.iter_mut().for_each(|value| *value *= self.factor);
        Ok(())
    }
}

/// Not divided by the number of samples: that is part of the loss.
impl Design for LinearColumns<'_> {
    fn n_samples(&self) -> usize {
        LinearColumns::n_samples(self)
    }

    fn n_columns(&self) -> usize {
        self.n_atoms()
    }

    fn correlations(&self, right: &[f64], out: &mut [f64]) -> Result<(), Error> {
        let (n, d) = (LinearColumns::n_samples(self), self.n_atoms());
        let c = right.len() / n.max(1);
        let sums: Vec<f64> = right.chunks_exact(n.max(1)).map(lanes::sum).collect();
        let panels = fewest_parallel::try_map(d.div_ceil(PANEL), |at| {
            self.correlate(at * PANEL..d.min((at + 1) * PANEL), right, &sums)
        })?;
        for (out, panel) in out.chunks_mut(PANEL * c.max(1)).zip(panels) {
            out.copy_from_slice(&panel);
        }
        Ok(())
    }

    fn gather(&self, chosen: &[usize], out: &mut [f64]) -> Result<(), Error> {
        out.copy_from_slice(&LinearColumns::gather(self, chosen)?);
        Ok(())
    }
}
