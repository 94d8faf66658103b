//! Data, ready for rounds.

use fewest_core::{Context, Dataset, Error};

use crate::kernel::KernelMatrix;
use crate::table::{Canonical, Table};
use crate::{Training, TrainingTarget};

/// The features that vary, and what is to be predicted.
pub(super) struct Problem {
    pub(super) varying: Vec<usize>,
    /// The coordinates of each of them in all samples.
    coordinates: Vec<Vec<f64>>,
    n_samples: usize,
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
        let order = Canonical::of(&data.subset(&rows[..n_train])?)?.samples;
        let mut canonical = vec![0; n_train];
        for (place, &sample) in order.iter().enumerate() {
            canonical[sample] = place;
        }
        let n_samples = rows.len();
        Ok((Self { varying, coordinates, n_samples, truth, canonical }, all))
    }

    /// The kernel over all of the features, which takes their coordinates.
    pub(super) fn kernel(
        &mut self,
        training: &Training,
        context: &Context<'_>,
    ) -> Result<KernelMatrix, Error> {
        let coordinates = std::mem::take(&mut self.coordinates);
        KernelMatrix::new(training.kernel, coordinates, self.n_samples, self.canonical.len(), context)
    }
}
