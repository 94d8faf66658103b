//! A design whose further rows are differences of samples.

use fewest_core::Error;
use fewest_solver::Design;

use super::relations::Relation;

/// `X` and below it `B X` of every relation: with targets of 0 there, the squared error has the relations as
/// a penalty of the predictions, `‖Y − X W‖² + Σ ‖B X W‖²`, and all of least squares holds, certificates
/// included.
pub(crate) struct LinkedSamples<'a, D> {
    pub(crate) inner: &'a D,
    /// The samples with a target, where not all have one: of the others there are relations only.
    pub(crate) labelled: Option<&'a [usize]>,
    pub(crate) relations: &'a [Relation],
}

/// Number of rows below `n` samples.
pub(crate) fn n_rows(relations: &[Relation]) -> usize {
    relations.iter().map(Relation::n_rows).sum()
}

impl<D: Design> LinkedSamples<'_, D> {
    /// Rows that have a target.
    fn n_labelled(&self) -> usize {
        self.labelled.map_or(self.inner.n_samples(), <[usize]>::len)
    }
}

impl<D: Design> Design for LinkedSamples<'_, D> {
    fn n_samples(&self) -> usize {
        self.n_labelled() + n_rows(self.relations)
    }

    fn n_columns(&self) -> usize {
        self.inner.n_columns()
    }

    fn correlations(&self, right: &[f64], out: &mut [f64]) -> Result<(), Error> {
        let mut folded = Vec::with_capacity(right.len());
        for right in right.chunks_exact(self.n_samples().max(1)) {
            let (own, mut below) = right.split_at(self.n_labelled());
            let mut sum = match self.labelled {
                None => own.to_vec(),
                Some(rows) => {
                    let mut all = vec![0.0; self.inner.n_samples()];
                    rows.iter().zip(own).for_each(|(&row, value)| all[row] = *value);
                    all
                }
            };
            for relation in self.relations {
                let (rows, others) = below.split_at(relation.n_rows());
                relation.add_transposed(rows, &mut sum);
                below = others;
            }
            folded.extend(sum);
        }
        self.inner.correlations(&folded, out)
    }

    fn gather(&self, chosen: &[usize], out: &mut [f64]) -> Result<(), Error> {
        let n = self.inner.n_samples();
        let mut columns = vec![0.0; n * chosen.len()];
        self.inner.gather(chosen, &mut columns)?;
        let all = out.chunks_exact_mut(self.n_samples().max(1));
        for (column, out) in columns.chunks_exact(n.max(1)).zip(all) {
            let (own, mut below) = out.split_at_mut(self.n_labelled());
            match self.labelled {
                None => own.copy_from_slice(column),
                Some(rows) => own.iter_mut().zip(rows).for_each(|(own, &row)| *own = column[row]),
            }
            for relation in self.relations {
                let (rows, others) = below.split_at_mut(relation.n_rows());
                relation.apply(column, rows);
                below = others;
            }
        }
        Ok(())
    }
}
