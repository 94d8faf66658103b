//! Batches of any size, cut into blocks.

use fewest_core::{Dataset, Error};

use super::StreamSums;

/// Sums of blocks of the same number of samples, whatever the batches are.
#[derive(Debug, Clone)]
pub(super) struct Blocks<A> {
    pub(super) rows: usize,
    /// Which sums these are.
    pub(super) made: String,
    /// Samples of the block that is being filled.
    pub(super) n_filled: usize,
    /// Of no samples; after the first batch, but of its features and classes.
    pub(super) empty: A,
    /// Of the block that is being filled.
    pub(super) filling: A,
    pub(super) n_features: usize,
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
        Ok(Self {
            rows,
            made: format!("{empty:?}"),
            n_filled: 0,
            filling: empty.clone(),
            empty,
            n_features: 0,
        })
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

    /// Floating-point numbers that it holds.
    pub(super) fn size(&self) -> usize {
        self.empty.size() + self.filling.size()
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
        let (mut whole, mut first) = (Vec::new(), 0);
        while first < n {
            let end = n.min(first + self.rows - next.n_filled);
            if (first, end) == (0, n) {
                next.filling.update(arrived)?;
            } else {
                next.filling.update(&arrived.subset(&(first..end).collect::<Vec<usize>>())?)?;
            }
            next.n_filled += end - first;
            first = end;
            // So that later blocks know what they must agree with.
            next.empty = next.filling.cleared();
            if next.n_filled == self.rows {
                next.n_filled = 0;
                whole.push(std::mem::replace(&mut next.filling, next.empty.clone()));
            }
        }
        next.n_features = arrived.n_features();
        *self = next;
        Ok(whole)
    }
}
