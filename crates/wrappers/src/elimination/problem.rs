//! Data, ready for rounds.

use fewest_core::{Dataset, Error};

use crate::kernel::KernelMatrix;
use crate::table::{Table, canonical_order};
use crate::{Training, TrainingTarget};

/// The kernel over all features, and what is to be predicted.
pub(super) struct Problem {
    pub(super) kernel: KernelMatrix,
    pub(super) varying: Vec<usize>,
    /// Of the training samples.
    pub(super) truth: TrainingTarget,
    /// The position of each training sample in an order that does not depend on that of the rows.
    pub(super) canonical: Vec<usize>,
}

/// The state of a round.
pub(super) struct State<'a> {
    pub(super) kernel: &'a KernelMatrix,
    pub(super) n_features: usize,
}

impl Problem {
    /// All samples of `data`.
    pub(super) fn whole(data: &Dataset, training: &Training, method: &'static str) -> Result<Self, Error> {
        let rows: Vec<usize> = (0..data.n_samples()).collect();
        Ok(Self::split(data, &rows, rows.len(), training, method)?.0)
    }

    /// The samples `rows`, of which the first `n_train` are to learn from; and the target of all of them.
    pub(super) fn split(
        data: &Dataset,
        rows: &[usize],
        n_train: usize,
        training: &Training,
        method: &'static str,
    ) -> Result<(Self, TrainingTarget), Error> {
        let Table { varying, coordinates } = Table::new(data, rows, n_train)?;
        let all = TrainingTarget::new(data, rows, n_train, training.standardise_target, method)?;
        let truth = all.first(n_train);
        let order = canonical_order(&data.subset(&rows[..n_train])?)?;
        let mut canonical = vec![0; n_train];
        for (place, &sample) in order.iter().enumerate() {
            canonical[sample] = place;
        }
        let kernel = KernelMatrix::new(training.kernel, coordinates, rows.len(), n_train)?;
        Ok((Self { kernel, varying, truth, canonical }, all))
    }
}
