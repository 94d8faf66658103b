//! What methods share to which samples arrive.

use std::ops::Range;

use fewest_columns::moments::{self, Moments};
use fewest_columns::{ColumnSums, Standard, safe_stream_sums};
use fewest_core::{
    Budget, Column, Context, Dataset, Error, FeatureKind, SampleStream, Scores, Selection, Target,
};

/// Batches of samples as rows of numbers.
pub(crate) struct Rows {
    method: &'static str,
    /// What standardises each feature, where that is known: none for a constant one, which becomes 0.
    scaling: Option<Vec<Option<Standard>>>,
    pub(crate) n_features: Option<usize>,
}

impl Rows {
    pub(crate) fn new(method: &'static str, scaling: Option<Vec<Option<Standard>>>) -> Self {
        Self { method, scaling, n_features: None }
    }

    /// Whether features are brought to one scale, and constant ones to 0.
    pub(crate) fn is_scaled(&self) -> bool {
        self.scaling.is_some()
    }

    /// The samples of a batch, row after row.
    ///
    /// # Errors
    /// For other features than those of the first batch, weights, and values that are not finite.
    pub(crate) fn read(&mut self, batch: &Dataset) -> Result<Vec<f64>, Error> {
        batch.refuse_sample_weights(self.method)?;
        let (n, d) = (batch.n_samples(), batch.n_features());
        let expected = self.n_features.unwrap_or(d);
        if expected != d {
            return Err(Error::ShapeMismatch { what: "features of a batch", expected, found: d });
        }
        let mut values = vec![0.0; n * d];
        let mut column = vec![0.0; n];
        for j in 0..d {
            refuse_category(batch, j, self.method)?;
            batch.x().copy_column(j, &mut column)?;
            batch.check_finite(j, &column)?;
            match self.scaling.as_ref().map(|scaling| &scaling[j]) {
                Some(None) => continue,
                Some(Some(standard)) => standard.apply(&mut column),
                None => {}
            }
            values.iter_mut().skip(j).step_by(d).zip(&column).for_each(|(value, own)| *value = *own);
        }
        self.n_features = Some(d);
        Ok(values)
    }
}

/// What standardises each feature of the rows of `stream`, in a pass, and one more where squares overflow:
/// for a table in memory and for one that is read in passes the same bits.
///
/// # Errors
/// For a category of more than two levels, and values that are not finite; those of the stream.
pub(crate) fn scaling(
    stream: &mut dyn SampleStream,
    method: &'static str,
    context: &Context<'_>,
) -> Result<Vec<Option<Standard>>, Error> {
    let mut numbers = Numbers { stream, method };
    let is_safe = |(_, moments): &(usize, Moments)| moments::is_safe(moments.deviations);
    let sums = safe_stream_sums(&mut numbers, &Scales, is_safe, context)?;
    Ok(sums.iter().map(|((n, moments), divisor)| Standard::of_moments(moments, *n, *divisor)).collect())
}

/// The number of values, their mean and squared deviations.
struct Scales;

impl ColumnSums for Scales {
    type Batch = usize;
    type Sums = (usize, Moments);

    fn batch(&self, _: &Target, rows: Range<usize>) -> Result<usize, Error> {
        Ok(rows.len())
    }

    fn sums(&self, _: usize, _: &FeatureKind, n: &usize, column: Column<'_>) -> Result<Self::Sums, Error> {
        // Of a sparse column in the order of the rows too: single samples decide by the last bit.
        Ok((*n, Moments::new(&column.to_vec(*n), 0)))
    }

    fn merge(&self, (n, moments): &mut Self::Sums, (n_later, later): Self::Sums) {
        moments.merge(*n, &later, n_later);
        *n += n_later;
    }
}

/// A stream without categories of more than two levels.
struct Numbers<'a> {
    stream: &'a mut dyn SampleStream,
    method: &'static str,
}

impl SampleStream for Numbers<'_> {
    fn next_batch(&mut self) -> Result<Option<Dataset>, Error> {
        let Some(batch) = self.stream.next_batch()? else { return Ok(None) };
        (0..batch.n_features()).try_for_each(|j| refuse_category(&batch, j, self.method))?;
        Ok(Some(batch))
    }

    fn rewind(&mut self) -> Result<bool, Error> {
        self.stream.rewind()
    }
}

/// The best features by their scores, as many as the budget allows.
///
/// # Errors
/// For a budget of no features, or of more than there are.
pub(crate) fn by_score(scores: &Scores, budget: Budget) -> Result<Selection, Error> {
    budget.check(scores.values.len())?;
    let mut order = scores.ranking();
    match budget {
        Budget::Count(k) => order.truncate(k),
        Budget::Threshold(threshold) => order.retain(|&j| scores.values[j] >= threshold),
        _ => {}
    }
    Ok(scores.selection(order))
}

/// The error for a category of more than two levels, for methods that need numbers.
///
/// # Errors
/// [`Error::Unsupported`].
pub(crate) fn refuse_category(data: &Dataset, j: usize, method: &'static str) -> Result<(), Error> {
    match data.feature_kind(j) {
        FeatureKind::Categorical { levels } if levels.len() > 2 => Err(Error::Unsupported {
            method,
            what: format!("feature {}, a category of more than two levels,", data.feature_name(j)),
            instead: "leave it out, or make a column of 0 and 1 for each level".to_owned(),
        }),
        _ => Ok(()),
    }
}
