//! Windows of any scorer of streams: by the samples themselves.

use std::sync::Arc;

use fewest_core::{Accumulator, Context, Dataset, DenseColumns, Error, SampleStream, Scores, StreamScorer};

use super::StreamSums;

/// The samples themselves, for a [`Sliding`](super::Sliding) window of any [`StreamScorer`]: the filters that
/// read streams, such as the F statistic, chi², mutual information, Pearson's correlation and the variance.
///
/// The scores of a window are those of the scorer on the same samples in one table, with the same bits. It
/// may read them twice.
///
/// Cost: a copy of each sample; the scorer on all samples of the window for an answer. Memory: all samples of
/// the window.
///
/// # Errors
/// Those of the scorer, when scores are asked for.
///
/// ```
/// use fewest_core::*;
/// use fewest_streams::{RowsOf, Sliding};
///
/// /// Scores features by their largest value.
/// struct Largest;
///
/// impl Scorer for Largest {
///     fn score(&self, data: &Dataset, _: &Context<'_>) -> Result<Scores, Error> {
///         let mut values = vec![0.0; data.n_samples()];
///         let largest = (0..data.n_features()).map(|j| {
///             data.x().copy_column(j, &mut values)?;
///             Ok(values.iter().copied().fold(f64::NEG_INFINITY, f64::max))
///         });
///         Ok(Scores::descending(largest.collect::<Result<_, Error>>()?))
///     }
/// }
///
/// impl StreamScorer for Largest {
///     fn score_stream(&self, rows: &mut dyn SampleStream, context: &Context<'_>) -> Result<Scores, Error> {
///         let mut all: Vec<f64> = Vec::new();
///         while let Some(batch) = rows.next_batch()? {
///             let own = self.score(&batch, context)?.values;
///             all.resize(own.len(), f64::NEG_INFINITY);
///             all.iter_mut().zip(own).for_each(|(all, own)| *all = own.max(*all));
///         }
///         Ok(Scores::descending(all))
///     }
///
///     // A window needs no sums that run for ever.
///     fn running(&self) -> Result<Box<dyn RunningScores>, Error> {
///         let (what, instead) = ("an endless stream".to_owned(), "take a window of it".to_owned());
///         Err(Error::Unsupported { method: "the largest value", what, instead })
///     }
/// }
///
/// let x = DenseColumns::from_columns(&[vec![9.0, 1.0, 2.0, 1.0, 3.0], vec![0.0, 2.0, 1.0, 4.0, 2.0]])?;
/// let mut sliding = Sliding::new(RowsOf::new(Largest), 3, 1)?;
/// sliding.update(&Dataset::new(x, Target::None)?, &Context::default())?;
/// assert_eq!(sliding.scores()?.values, [3.0, 4.0]);
/// # Ok::<(), Error>(())
/// ```
pub struct RowsOf<S> {
    scorer: Arc<S>,
    n_features: Option<usize>,
    batches: Vec<Dataset>,
}

impl<S: StreamScorer> RowsOf<S> {
    /// Of no samples.
    pub fn new(scorer: S) -> Self {
        Self { scorer: Arc::new(scorer), n_features: None, batches: Vec::new() }
    }
}

impl<S> Clone for RowsOf<S> {
    fn clone(&self) -> Self {
        let Self { scorer, n_features, batches } = self;
        Self { scorer: Arc::clone(scorer), n_features: *n_features, batches: batches.clone() }
    }
}

/// Batches that can be read again.
struct Replay {
    batches: Vec<Dataset>,
    next: usize,
}

impl SampleStream for Replay {
    fn next_batch(&mut self) -> Result<Option<Dataset>, Error> {
        let batch = self.batches.get(self.next).cloned();
        self.next += usize::from(batch.is_some());
        Ok(batch)
    }

    fn rewind(&mut self) -> Result<bool, Error> {
        self.next = 0;
        Ok(true)
    }
}

impl<S: StreamScorer> Accumulator for RowsOf<S> {
    type Output = Scores;

    fn update(&mut self, batch: &Dataset) -> Result<(), Error> {
        let found = batch.n_features();
        let expected = self.n_features.unwrap_or(found);
        if expected != found {
            return Err(Error::ShapeMismatch { what: "features of a batch", expected, found });
        }
        let column = |j: usize| {
            let mut column = vec![0.0; batch.n_samples()];
            batch.x().copy_column(j, &mut column)?;
            batch.check_finite(j, &column)?;
            Ok(column)
        };
        // A copy, so that nothing else of a large batch stays in memory.
        let columns: Vec<Vec<f64>> = (0..found).map(column).collect::<Result<_, Error>>()?;
        self.batches.push(batch.clone().with_x(DenseColumns::from_columns(&columns)?)?);
        self.n_features = Some(found);
        Ok(())
    }

    fn merge(&mut self, later: Self) -> Result<(), Error> {
        if let (Some(expected), Some(found)) = (self.n_features, later.n_features)
            && expected != found
        {
            return Err(Error::ShapeMismatch { what: "features of a batch", expected, found });
        }
        self.n_features = self.n_features.or(later.n_features);
        self.batches.extend(later.batches);
        Ok(())
    }

    fn finish(self) -> Result<Scores, Error> {
        if self.batches.is_empty() {
            return Err(Error::TooFew { what: "samples", minimum: 1, found: 0 });
        }
        let mut replay = Replay { batches: self.batches, next: 0 };
        self.scorer.score_stream(&mut replay, &Context::default())
    }
}

impl<S: StreamScorer> StreamSums for RowsOf<S> {
    fn cleared(&self) -> Self {
        Self { batches: Vec::new(), ..self.clone() }
    }

    fn weight(&self) -> f64 {
        self.batches.iter().map(Dataset::n_samples).sum::<usize>() as f64
    }

    fn size(&self) -> usize {
        self.batches.iter().map(|batch| batch.n_samples() * (batch.n_features() + 1)).sum()
    }
}
