//! Selection from rows that are read in passes.

use super::{RowSums, SampleStream, State, StreamScorer};
use crate::scores::cut;
use crate::{Budget, Column, Context, Dataset, Error, Scores, Selection};

/// How many times the bytes of a table most methods take, with the table: a copy, and what is made of it.
pub const TIMES_IN_MEMORY: u64 = 3;

/// A [`Selector`](crate::Selector) that can read the rows in passes, so that they need not be in memory.
pub trait PassSelector: Send + Sync {
    /// The selection from the rows of `stream`, which is read as often as needed: that of
    /// [`Selector::select`](crate::Selector::select) on the same rows in one table. The documentation of a
    /// method says whether it has the same bits; it always has the same for any batches and threads.
    ///
    /// # Errors
    /// As [`Selector::select`](crate::Selector::select); those of the stream; [`Error::Unsupported`] for
    /// options that need all rows at once, and for a stream that cannot be rewound.
    fn select_stream(
        &self,
        stream: &mut dyn SampleStream,
        budget: Budget,
        context: &Context<'_>,
    ) -> Result<Selection, Error>;

    /// Whether [`select_stream`](PassSelector::select_stream) reads all parts of the features of a stream
    /// that has several ([`SampleStream::next_part`]). By default it does not.
    fn reads_parts(&self) -> bool {
        false
    }

    /// About how many times the bytes of a table its answer from a table in memory takes, with the table: who
    /// limits memory reads the rows in passes where that is too much. By default [`TIMES_IN_MEMORY`].
    fn times_in_memory(&self) -> u64 {
        TIMES_IN_MEMORY
    }

    /// Whether the passes are sums over parts of the rows, which may be taken
    /// [elsewhere](crate::SummedElsewhere). By default they are.
    fn sums_rows(&self) -> bool {
        true
    }
}

/// The scores of all features of `stream`, one part of them after the other, and which of them are constant.
///
/// # Errors
/// As [`StreamScorer::score_stream`]; [`Error::Stopped`] where a stopped part has no score for some features;
/// [`Error::Unsupported`] for several parts and a scorer that does not
/// [read them](StreamScorer::reads_parts).
///
/// ```
/// use fewest_core::{Error, SampleStream, StreamScorer, score_parts};
///
/// fn best(scorer: &dyn StreamScorer, rows: &mut dyn SampleStream) -> Result<Vec<usize>, Error> {
///     Ok(score_parts(scorer, rows, &Default::default())?.0.ranking())
/// }
/// ```
pub fn score_parts(
    scorer: &dyn StreamScorer,
    stream: &mut dyn SampleStream,
    context: &Context<'_>,
) -> Result<(Scores, Vec<usize>), Error> {
    let mut watched = Watched::new(stream);
    let mut scores = scorer.score_part(&mut watched, context)?;
    let mut constant = watched.constant_features();
    while stream.next_part()? {
        if !scorer.reads_parts() {
            return Err(Error::Unsupported {
                method: "this score",
                what: "reading the features in parts".to_owned(),
                instead: "read all of them at once".to_owned(),
            });
        }
        if scores.status.is_stopped() {
            return Err(Error::Stopped { before: "every feature had a score" });
        }
        let mut watched = Watched::new(stream);
        let next = scorer.score_part(&mut watched, context)?;
        constant.extend(watched.constant_features().into_iter().map(|j| j + scores.values.len()));
        scores.append(next);
    }
    scorer.settle(&mut scores);
    Ok((scores, constant))
}

/// [`Ranked`](crate::Ranked) on rows that are read in passes.
pub(crate) fn ranked(
    scorer: &dyn StreamScorer,
    stream: &mut dyn SampleStream,
    budget: Budget,
    context: &Context<'_>,
) -> Result<Selection, Error> {
    let (scores, constant) = score_parts(scorer, stream, context)?;
    budget.check(scores.values.len())?;
    Ok(cut(&scores, &constant, budget))
}

/// Rows that pass by, of which it is seen which features vary.
///
/// ```
/// use fewest_core::{Dataset, DenseColumns, RowBatches, SampleStream, Target, Watched};
///
/// let x = DenseColumns::from_columns(&[vec![1.0, 1.0, 1.0], vec![1.0, 1.0, 2.0]])?;
/// let data = Dataset::new(x, Target::None)?;
/// let mut stream = RowBatches::new(&data, 2)?;
/// let mut watched = Watched::new(&mut stream);
/// while watched.next_batch()?.is_some() {}
/// assert_eq!(watched.constant_features(), [0]);
/// # Ok::<(), fewest_core::Error>(())
/// ```
pub struct Watched<'a> {
    stream: &'a mut dyn SampleStream,
    /// The first value of each feature that has no other so far.
    first: Option<Vec<Option<f64>>>,
}

impl<'a> Watched<'a> {
    /// The rows of `stream`.
    pub fn new(stream: &'a mut dyn SampleStream) -> Self {
        Self { stream, first: None }
    }

    /// The features that have one value in all rows that passed by: those of
    /// [`Dataset::constant_features`].
    pub fn constant_features(&self) -> Vec<usize> {
        let first = self.first.iter().flatten().enumerate();
        first.filter(|(_, value)| value.is_some()).map(|(j, _)| j).collect()
    }

    fn watch(&mut self, batch: &Dataset) -> Result<(), Error> {
        let mut scratch = Vec::new();
        let n = batch.n_samples();
        let mut value_of = |j: usize, known: Option<f64>| -> Result<Option<f64>, Error> {
            let (values, zeros) = match batch.x().column(j, &mut scratch)? {
                Column::Dense(values) => (values, 0),
                Column::Sparse { values, .. } => (values, n - values.len()),
            };
            let zero = (zeros > 0).then_some(0.0);
            let Some(first) = known.or(zero).or(values.first().copied()) else { return Ok(None) };
            Ok(values.iter().copied().chain(zero).all(|value| value == first).then_some(first))
        };
        self.first = Some(match &self.first {
            None => (0..batch.n_features()).map(|j| value_of(j, None)).collect::<Result<_, _>>()?,
            Some(known) => {
                let known = known.iter().enumerate();
                let next = known.map(|(j, first)| match first {
                    Some(first) if j < batch.n_features() => value_of(j, Some(*first)),
                    other => Ok(*other),
                });
                next.collect::<Result<_, _>>()?
            }
        });
        Ok(())
    }
}

impl SampleStream for Watched<'_> {
    fn next_batch(&mut self) -> Result<Option<Dataset>, Error> {
        let Some(batch) = self.stream.next_batch()? else { return Ok(None) };
        self.watch(&batch)?;
        Ok(Some(batch))
    }

    fn rewind(&mut self) -> Result<bool, Error> {
        self.stream.rewind()
    }

    fn instruct(&mut self, instructions: Vec<u8>) {
        self.stream.instruct(instructions);
    }

    fn instructions(&self) -> Option<&[u8]> {
        self.stream.instructions()
    }

    fn sum_elsewhere(&mut self, sums: &dyn RowSums) -> Result<Option<Vec<u8>>, Error> {
        let Some(found) = self.stream.sum_elsewhere(&WatchedSums(sums))? else { return Ok(None) };
        let (sums, first) = load_watched(&found)?;
        // All rows have passed by, as in every pass before.
        self.first = first;
        Ok(Some(sums))
    }
}

/// Sums, and which features vary in the same rows.
struct WatchedSums<'a>(&'a dyn RowSums);

/// The sums, and the first value of each feature that has no other.
type FirstValues = Option<Vec<Option<f64>>>;

fn save_watched(sums: &[u8], first: &FirstValues) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(sums.len() + 16);
    sums.to_vec().save(&mut bytes);
    first.save(&mut bytes);
    bytes
}

fn load_watched(mut from: &[u8]) -> Result<(Vec<u8>, FirstValues), Error> {
    Ok((State::load(&mut from)?, State::load(&mut from)?))
}

impl RowSums for WatchedSums<'_> {
    fn of_part(&self, part: &mut dyn SampleStream, first_batch: usize) -> Result<Vec<u8>, Error> {
        let mut watched = Watched::new(part);
        let sums = self.0.of_part(&mut watched, first_batch)?;
        Ok(save_watched(&sums, &watched.first))
    }

    fn of_all(&self, parts: &[Vec<u8>]) -> Result<Vec<u8>, Error> {
        let (mut sums, mut all) = (Vec::with_capacity(parts.len()), None);
        for part in parts {
            let (own, first) = load_watched(part)?;
            sums.push(own);
            all = match (all, first) {
                (Some(all), Some(first)) => Some(same_values(all, first)),
                (all, first) => all.or(first),
            };
        }
        Ok(save_watched(&self.0.of_all(&sums)?, &all))
    }
}

/// The first values of the features that have no other in both.
fn same_values(all: Vec<Option<f64>>, later: Vec<Option<f64>>) -> Vec<Option<f64>> {
    let later = later.into_iter().chain(std::iter::repeat(None));
    all.into_iter().zip(later).map(|(own, later)| own.filter(|own| later == Some(*own))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DenseColumns, RowBatches, Target};

    /// In any batches, in one pass or more: what the table says.
    #[test]
    fn features_that_vary_are_those_of_the_table() -> Result<(), Error> {
        let columns =
            [vec![0.0; 5], vec![0.0, -0.0, 0.0, 0.0, 0.0], vec![2.0, 2.0, 2.0, 2.0, 1.0], vec![3.0; 5]];
        let data = Dataset::new(DenseColumns::from_columns(&columns)?, Target::None)?;
        for rows in [1, 2, 4, 5] {
            let mut stream = RowBatches::new(&data, rows)?;
            let mut watched = Watched::new(&mut stream);
            for _ in 0..2 {
                while watched.next_batch()?.is_some() {}
                assert_eq!(watched.constant_features(), data.constant_features()?, "{rows}");
                watched.rewind()?;
            }
        }
        Ok(())
    }
}
