//! Batches of any size, cut into blocks.

use fewest_core::{Dataset, DenseColumns, Error, Target, state};

use super::StreamSums;

/// Sums of blocks of the same number of samples, whatever the batches are.
#[derive(Debug, Clone)]
pub(super) struct Blocks<A> {
    pub(super) rows: usize,
    /// Which sums these are.
    pub(super) made: String,
    /// Of no samples; after the first batch, but of its features and classes.
    pub(super) empty: A,
    pub(super) filling: Filling,
    pub(super) n_features: usize,
}

/// The samples of the block that is being filled. They are summed together, so that sums do not depend on how
/// batches were cut.
#[derive(Debug, Clone, Default)]
pub(super) struct Filling {
    n_samples: usize,
    columns: Vec<Vec<f64>>,
    /// Of some samples each.
    targets: Vec<Target>,
}

state!(Filling { n_samples, columns, targets });

impl Filling {
    fn push(&mut self, piece: &Dataset) -> Result<(), Error> {
        let mut values = vec![0.0; piece.n_samples()];
        self.columns.resize_with(piece.n_features(), Vec::new);
        for (j, column) in self.columns.iter_mut().enumerate() {
            piece.x().copy_column(j, &mut values)?;
            column.extend_from_slice(&values);
        }
        self.targets.push(piece.target().clone());
        self.n_samples += piece.n_samples();
        Ok(())
    }

    fn table(&self) -> Result<Dataset, Error> {
        let only = |target: &Target| {
            let n = target.n_samples().unwrap_or(self.n_samples);
            Dataset::new(DenseColumns::new(vec![0.0; n], n, 1)?, target.clone())
        };
        let target = match self.targets.first() {
            None | Some(Target::None) => Target::None,
            Some(_) => {
                let parts = self.targets.iter().map(only).collect::<Result<Vec<Dataset>, Error>>()?;
                Dataset::stacked(&parts)?.target().clone()
            }
        };
        Dataset::new(DenseColumns::from_columns(&self.columns)?, target)
    }
}

impl<A: StreamSums> Blocks<A> {
    /// Of `rows` samples each; `empty` has seen nothing.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for blocks of no samples.
    pub(super) fn new(empty: A, rows: usize) -> Result<Self, Error> {
        if rows == 0 {
            return Err(Error::parameter("block", 0, "at least 1 sample"));
        }
        let (made, filling) = (format!("{empty:?}"), Filling::default());
        Ok(Self { rows, made, empty, filling, n_features: 0 })
    }

    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    pub(super) fn empty(&self) -> A {
        self.empty.clone()
    }

    pub(super) fn n_features(&self) -> usize {
        self.n_features
    }

    /// Samples of the block that is being filled.
    pub(super) fn n_filled(&self) -> usize {
        self.filling.n_samples
    }

    /// Their sums.
    ///
    /// # Errors
    /// Those of the sums.
    pub(super) fn filled(&self) -> Result<A, Error> {
        let mut sums = self.empty();
        if self.filling.n_samples > 0 {
            sums.update(&self.filling.table()?)?;
        }
        Ok(sums)
    }

    /// Floating-point numbers that it holds.
    pub(super) fn size(&self) -> usize {
        self.empty.size() + self.filling.n_samples * (self.n_features + 1)
    }

    /// Adds what arrived: the blocks that it completes, of one kind of features and classes. An error changes
    /// nothing.
    ///
    /// # Errors
    /// Those of the sums.
    pub(super) fn add(&mut self, arrived: &Dataset) -> Result<Vec<A>, Error> {
        let n = arrived.n_samples();
        // The whole batch first, so that an error names the row of the batch.
        let mut values = vec![0.0; n];
        for j in 0..arrived.n_features() {
            arrived.x().copy_column(j, &mut values)?;
            arrived.check_finite(j, &values)?;
        }
        let mut next = self.clone();
        // What later batches must agree with.
        let mut checked = self.empty();
        checked.update(arrived)?;
        next.empty = checked.cleared();
        next.n_features = arrived.n_features();
        let (mut whole, mut first) = (Vec::new(), 0);
        while first < n {
            let end = n.min(first + self.rows - next.n_filled());
            next.filling.push(&arrived.subset(&(first..end).collect::<Vec<usize>>())?)?;
            first = end;
            if next.n_filled() == self.rows {
                whole.push(next.filled()?);
                next.filling = Filling::default();
            }
        }
        *self = next;
        Ok(whole)
    }
}
