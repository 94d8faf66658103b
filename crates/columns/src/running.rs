//! Sums over the rows of each feature, while rows arrive.

use fewest_core::{Dataset, Error, Partial, State};

use crate::sums::{ColumnSums, WithExtremes, add, of_batch};

/// The sums of every feature over rows that arrive: those of [`stream_sums`](crate::stream_sums) over the
/// same rows, with the same bits.
pub struct RunningSums<S: ColumnSums> {
    sums: S,
    partial: Partial<Vec<S::Sums>>,
}

impl<S: ColumnSums> RunningSums<S>
where
    S::Sums: Clone + State,
{
    /// Over no rows yet.
    pub fn new(sums: S) -> Self {
        Self { sums, partial: Partial::new(0) }
    }

    /// An error where these rows have no sums.
    ///
    /// # Errors
    /// Those of `sums`; a NaN or an infinity, naming the cell.
    pub fn check(&self, batch: &Dataset) -> Result<(), Error> {
        of_batch(&self.sums, batch).map(drop)
    }

    /// Adds [`BATCH_ROWS`](fewest_core::BATCH_ROWS) rows.
    ///
    /// # Errors
    /// As [`check`](Self::check); another number of features than before.
    pub fn add(&mut self, batch: &Dataset) -> Result<(), Error> {
        let Self { sums, partial } = self;
        partial.push(of_batch(sums, batch)?, |own, later| add(sums, own, later))
    }

    /// The sums over all rows that were added and, behind them, those of `last`, which are not added.
    ///
    /// # Errors
    /// As [`add`](Self::add); [`Error::TooFew`] for no rows.
    pub fn total(&self, last: Option<&Dataset>) -> Result<Vec<S::Sums>, Error> {
        let merge = |own: &mut Vec<S::Sums>, later| add(&self.sums, own, later);
        let mut whole = self.partial.clone();
        if let Some(last) = last {
            whole.push(of_batch(&self.sums, last)?, merge)?;
        }
        whole.finish(merge)?.ok_or(Error::TooFew { what: "samples", minimum: 1, found: 0 })
    }

    /// Batches that were added.
    pub fn n_batches(&self) -> usize {
        self.partial.batches().len()
    }

    /// Appends the sums.
    pub fn save(&self, to: &mut Vec<u8>) {
        self.partial.save(to);
    }

    /// Takes the sums from the front.
    ///
    /// # Errors
    /// For bytes that are none.
    pub fn load(&mut self, from: &mut &[u8]) -> Result<(), Error> {
        self.partial = State::load(from)?;
        Ok(())
    }
}

/// As [`RunningSums`], for sums that may overflow: those of [`safe_stream_sums`](crate::safe_stream_sums),
/// for which a second pass never comes.
pub struct SafeRunningSums<S: ColumnSums>(RunningSums<WithExtremes<S>>)
where
    S::Sums: Clone + State;

impl<S: ColumnSums> SafeRunningSums<S>
where
    S::Sums: Clone + State,
{
    /// Over no rows yet.
    pub fn new(sums: S) -> Self {
        Self(RunningSums::new(WithExtremes(sums)))
    }

    /// As [`RunningSums::total`].
    ///
    /// # Errors
    /// As there; [`Error::Unsupported`] for the first feature that varies and whose sums are not `safe`.
    pub fn total(
        &self,
        last: Option<&Dataset>,
        safe: impl Fn(&S::Sums) -> bool,
    ) -> Result<Vec<S::Sums>, Error> {
        let found = self.0.total(last)?;
        match found.iter().position(|(sums, (low, high))| low < high && !safe(sums)) {
            None => Ok(found.into_iter().map(|(sums, _)| sums).collect()),
            Some(j) => Err(Error::Unsupported {
                method: "a stream that is read once",
                what: format!("feature {j} (counted from 0), whose squares are too large or too small,"),
                instead: "multiply its values by a constant first".to_owned(),
            }),
        }
    }

    /// As [`RunningSums::check`].
    ///
    /// # Errors
    /// As there.
    pub fn check(&self, batch: &Dataset) -> Result<(), Error> {
        self.0.check(batch)
    }

    /// As [`RunningSums::add`].
    ///
    /// # Errors
    /// As there.
    pub fn add(&mut self, batch: &Dataset) -> Result<(), Error> {
        self.0.add(batch)
    }

    /// As [`RunningSums::save`].
    pub fn save(&self, to: &mut Vec<u8>) {
        self.0.save(to);
    }

    /// As [`RunningSums::load`].
    ///
    /// # Errors
    /// As there.
    pub fn load(&mut self, from: &mut &[u8]) -> Result<(), Error> {
        self.0.load(from)
    }
}
