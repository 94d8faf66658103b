//! Sums over the rows of each feature: of a table column by column, or of a stream batch by batch. Both give
//! the same bits.

use std::ops::Range;

use fewest_core::{
    BATCH_ROWS, Column, Context, Dataset, Error, FeatureKind, Partial, RowSums, SampleStream, State, Target,
    rewind,
};

use crate::chosen::Chosen;
use crate::moments::magnitude;
use crate::together::together;
use crate::walk::map_features;

/// Defines the sums over the rows of a feature.
pub trait ColumnSums: Sync {
    /// Data of a batch that all features share, such as the order of its samples by class.
    type Batch: Send + Sync;
    /// The sums of one feature.
    type Sums: Send;

    /// The shared data of the samples `rows` of `target`.
    ///
    /// # Errors
    /// When the target is not supported.
    fn batch(&self, target: &Target, rows: Range<usize>) -> Result<Self::Batch, Error>;

    /// The sums of feature `j` over the rows of a batch, whose values are finite.
    ///
    /// # Errors
    /// When the sums are not defined for these values.
    fn sums(
        &self,
        j: usize,
        kind: &FeatureKind,
        batch: &Self::Batch,
        column: Column<'_>,
    ) -> Result<Self::Sums, Error>;

    /// Adds the sums over later rows.
    fn merge(&self, sums: &mut Self::Sums, later: Self::Sums);
}

/// The batches of a table in memory.
///
/// Each column is summed completely before the next one, which is fast for stored columns. The batches and
/// the tree of their merges are those of a stream of the same rows.
pub struct TableSums<S: ColumnSums> {
    sums: S,
    batches: Vec<(Range<usize>, S::Batch)>,
}

impl<S: ColumnSums> TableSums<S> {
    /// For `n` samples with this target.
    ///
    /// # Errors
    /// When the target is not supported.
    pub fn new(sums: S, target: &Target, n: usize) -> Result<Self, Error> {
        let batch = |first: usize| {
            let rows = first..n.min(first + BATCH_ROWS);
            Ok((rows.clone(), sums.batch(target, rows)?))
        };
        let batches = (0..n).step_by(BATCH_ROWS).map(batch).collect::<Result<_, Error>>()?;
        Ok(Self { sums, batches })
    }

    /// The sums of feature `j` with the values `column`.
    ///
    /// # Errors
    /// When the sums are not defined for these values.
    pub fn of(&self, j: usize, kind: &FeatureKind, column: Column<'_>) -> Result<S::Sums, Error> {
        if let [(_, batch)] = self.batches.as_slice() {
            return self.sums.sums(j, kind, batch, column);
        }
        let merge = |sums: &mut S::Sums, later| {
            self.sums.merge(sums, later);
            Ok(())
        };
        let mut whole = Partial::new(0);
        self.each(j, kind, column, |sums| whole.push(sums, merge))?;
        whole.finish(merge)?.ok_or(Error::TooFew { what: "samples", minimum: 1, found: 0 })
    }

    /// [`of`](Self::of), and the number by which the values were divided: 1, or their largest absolute value
    /// where the sums are not `safe`, as by [`safe_stream_sums`].
    ///
    /// # Errors
    /// When the sums are not defined for these values.
    pub fn safe_of(
        &self,
        j: usize,
        kind: &FeatureKind,
        column: Column<'_>,
        safe: impl Fn(&S::Sums) -> bool,
    ) -> Result<(S::Sums, f64), Error> {
        let sums = self.of(j, kind, column)?;
        if safe(&sums) {
            return Ok((sums, 1.0));
        }
        let (Column::Dense(values) | Column::Sparse { values, .. }) = column;
        let largest = magnitude(values);
        Ok((divided(column, largest, |column| self.of(j, kind, column))?, largest))
    }

    /// Those of each batch, in the order of the batches.
    fn each(
        &self,
        j: usize,
        kind: &FeatureKind,
        column: Column<'_>,
        mut then: impl FnMut(S::Sums) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut own_rows = Vec::new();
        for (rows, batch) in &self.batches {
            let own = match column.stretch(rows.clone()) {
                Column::Sparse { rows: stored, values } => {
                    own_rows.clear();
                    own_rows.extend(stored.iter().map(|row| row - rows.start));
                    Column::Sparse { rows: &own_rows, values }
                }
                dense @ Column::Dense(_) => dense,
            };
            then(self.sums.sums(j, kind, batch, own)?)?;
        }
        Ok(())
    }
}

fn refuse_weights(batch: &Dataset) -> Result<(), Error> {
    match batch.sample_weights() {
        None => Ok(()),
        Some(_) => Err(Error::Unsupported {
            method: "a sum over the rows of a stream",
            what: "weighting samples".to_owned(),
            instead: "leave the weights out, or repeat rows".to_owned(),
        }),
    }
}

/// The sums of every feature of a batch.
pub(crate) fn of_batch<S: ColumnSums>(sums: &S, batch: &Dataset) -> Result<Vec<S::Sums>, Error> {
    refuse_weights(batch)?;
    let own = sums.batch(batch.target(), 0..batch.n_samples())?;
    map_features(batch, &Context::default(), "sums", |j, column| {
        sums.sums(j, batch.feature_kind(j), &own, column)
    })
}

/// Adds the sums of every feature over later rows.
pub(crate) fn add<S: ColumnSums>(
    sums: &S,
    features: &mut Vec<S::Sums>,
    later: Vec<S::Sums>,
) -> Result<(), Error> {
    if features.is_empty() {
        *features = later;
        return Ok(());
    }
    let (expected, found) = (features.len(), later.len());
    if expected != found {
        return Err(Error::ShapeMismatch { what: "features of a batch", expected, found });
    }
    features.iter_mut().zip(later).for_each(|(own, later)| sums.merge(own, later));
    Ok(())
}

/// The sums of every feature of `stream`: summed here, or [elsewhere](SampleStream::sum_elsewhere).
///
/// # Errors
/// For a NaN or an infinity, naming the cell; the errors of the stream and of `sums`; [`Error::Stopped`] when
/// the context stops the run.
pub fn stream_sums<S: ColumnSums>(
    stream: &mut dyn SampleStream,
    sums: &S,
    context: &Context<'_>,
) -> Result<Vec<S::Sums>, Error>
where
    S::Sums: State,
{
    match stream.sum_elsewhere(&OfParts { sums, context })? {
        Some(whole) => State::load(&mut whole.as_slice()),
        None => finished(partial_sums(stream, 0, sums, context)?, sums),
    }
}

fn merged<S: ColumnSums>(sums: &S) -> impl Fn(&mut S::Sums, S::Sums) -> Result<(), Error> {
    |own, later| {
        sums.merge(own, later);
        Ok(())
    }
}

/// The sums of every feature over the rows of `stream`, whose first batch has this number.
fn partial_sums<S: ColumnSums>(
    stream: &mut dyn SampleStream,
    first_batch: usize,
    sums: &S,
    context: &Context<'_>,
) -> Result<Vec<Partial<S::Sums>>, Error> {
    let mut features: Vec<Partial<S::Sums>> = Vec::new();
    together(stream, |several, first_row| {
        context.go_on("all rows had been seen")?;
        refuse_weights(&several)?;
        let table = TableSums::new(sums, several.target(), several.n_samples())?;
        let found = map_features(&several, &Context::default(), "sums", |j, column| {
            let mut found = Vec::new();
            table.each(j, several.feature_kind(j), column, |sums| {
                found.push(sums);
                Ok(())
            })?;
            Ok(found)
        });
        let found = found.map_err(|error| error.in_rows_from(first_batch * BATCH_ROWS + first_row))?;
        features.resize_with(found.len(), || Partial::new(first_batch));
        for (feature, found) in features.iter_mut().zip(found) {
            found.into_iter().try_for_each(|sums_of_batch| feature.push(sums_of_batch, merged(sums)))?;
        }
        Ok(())
    })?;
    Ok(features)
}

fn finished<S: ColumnSums>(features: Vec<Partial<S::Sums>>, sums: &S) -> Result<Vec<S::Sums>, Error> {
    let whole = features.into_iter().map(|feature| feature.finish(merged(sums)));
    whole.map(|sums| sums?.ok_or(Error::TooFew { what: "samples", minimum: 1, found: 0 })).collect()
}

/// Sums of features that are taken in parts.
struct OfParts<'a, S> {
    sums: &'a S,
    context: &'a Context<'a>,
}

impl<S: ColumnSums> RowSums for OfParts<'_, S>
where
    S::Sums: State,
{
    fn of_part(&self, part: &mut dyn SampleStream, first_batch: usize) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::new();
        partial_sums(part, first_batch, self.sums, self.context)?.save(&mut bytes);
        Ok(bytes)
    }

    fn of_all(&self, parts: &[Vec<u8>]) -> Result<Vec<u8>, Error> {
        let mut features: Vec<Partial<S::Sums>> = Vec::new();
        for part in parts {
            let later: Vec<Partial<S::Sums>> = State::load(&mut part.as_slice())?;
            if features.is_empty() {
                features.resize_with(later.len(), || Partial::new(0));
            }
            let (expected, found) = (features.len(), later.len());
            if expected != found {
                return Err(Error::ShapeMismatch { what: "features of a part", expected, found });
            }
            for (own, later) in features.iter_mut().zip(later) {
                own.append(later, merged(self.sums))?;
            }
        }
        let mut bytes = Vec::new();
        finished(features, self.sums)?.save(&mut bytes);
        Ok(bytes)
    }
}

/// The smallest and the largest value of each feature.
#[derive(Debug, Clone, Copy, Default)]
pub struct Extremes;

impl ColumnSums for Extremes {
    type Batch = usize;
    type Sums = (f64, f64);

    fn batch(&self, _: &Target, rows: Range<usize>) -> Result<usize, Error> {
        Ok(rows.len())
    }

    fn sums(&self, _: usize, _: &FeatureKind, n: &usize, column: Column<'_>) -> Result<(f64, f64), Error> {
        let (values, start) = match column {
            Column::Dense(values) => (values, (f64::INFINITY, f64::NEG_INFINITY)),
            Column::Sparse { values, .. } if values.len() < *n => (values, (0.0, 0.0)),
            Column::Sparse { values, .. } => (values, (f64::INFINITY, f64::NEG_INFINITY)),
        };
        let (low, high) = extremes(values);
        Ok((start.0.min(low), start.1.max(high)))
    }

    fn merge(&self, sums: &mut (f64, f64), later: (f64, f64)) {
        *sums = (sums.0.min(later.0), sums.1.max(later.1));
    }
}

/// Extremes of so many neighbours are kept side by side: as many as hide the latency of a comparison.
const LANES: usize = 8;

/// The smallest and the largest of finite values; infinities where there are none.
fn extremes(values: &[f64]) -> (f64, f64) {
    // Comparisons, which are one instruction for several values, since no value is NaN.
    let lower = |a: f64, b: f64| if b < a { b } else { a };
    let higher = |a: f64, b: f64| if b > a { b } else { a };
    let (mut low, mut high) = ([f64::INFINITY; LANES], [f64::NEG_INFINITY; LANES]);
    let chunks = values.chunks_exact(LANES);
    for (k, &value) in chunks.remainder().iter().enumerate() {
        (low[k], high[k]) = (value, value);
    }
    for chunk in chunks {
        for k in 0..LANES {
            low[k] = lower(low[k], chunk[k]);
            high[k] = higher(high[k], chunk[k]);
        }
    }
    (low.into_iter().fold(f64::INFINITY, lower), high.into_iter().fold(f64::NEG_INFINITY, higher))
}

impl<S: ColumnSums> ColumnSums for &S {
    type Batch = S::Batch;
    type Sums = S::Sums;

    fn batch(&self, target: &Target, rows: Range<usize>) -> Result<Self::Batch, Error> {
        (**self).batch(target, rows)
    }

    fn sums(
        &self,
        j: usize,
        kind: &FeatureKind,
        batch: &Self::Batch,
        column: Column<'_>,
    ) -> Result<Self::Sums, Error> {
        (**self).sums(j, kind, batch, column)
    }

    fn merge(&self, sums: &mut Self::Sums, later: Self::Sums) {
        (**self).merge(sums, later);
    }
}

/// Other sums together with the smallest and the largest value.
pub(crate) struct WithExtremes<S>(pub S);

impl<S: ColumnSums> ColumnSums for WithExtremes<S> {
    type Batch = (S::Batch, usize);
    type Sums = (S::Sums, (f64, f64));

    fn batch(&self, target: &Target, rows: Range<usize>) -> Result<Self::Batch, Error> {
        let n = rows.len();
        Ok((self.0.batch(target, rows)?, n))
    }

    fn sums(
        &self,
        j: usize,
        kind: &FeatureKind,
        (batch, n): &Self::Batch,
        column: Column<'_>,
    ) -> Result<Self::Sums, Error> {
        Ok((self.0.sums(j, kind, batch, column)?, Extremes.sums(j, kind, n, column)?))
    }

    fn merge(&self, sums: &mut Self::Sums, later: Self::Sums) {
        self.0.merge(&mut sums.0, later.0);
        Extremes.merge(&mut sums.1, later.1);
    }
}

/// The result of `then` on the column with every value divided by `divisor`.
fn divided<T>(column: Column<'_>, divisor: f64, then: impl FnOnce(Column<'_>) -> T) -> T {
    let divide = |values: &[f64]| -> Vec<f64> { values.iter().map(|value| value / divisor).collect() };
    match column {
        Column::Dense(values) => then(Column::Dense(&divide(values))),
        Column::Sparse { rows, values } => then(Column::Sparse { rows, values: &divide(values) }),
    }
}

/// Sums over features whose values are divided by the divisor of the feature.
struct Divided<'a, S> {
    sums: &'a S,
    divisors: &'a [f64],
}

impl<S: ColumnSums> ColumnSums for Divided<'_, S> {
    type Batch = S::Batch;
    type Sums = S::Sums;

    fn batch(&self, target: &Target, rows: Range<usize>) -> Result<Self::Batch, Error> {
        self.sums.batch(target, rows)
    }

    fn sums(
        &self,
        j: usize,
        kind: &FeatureKind,
        batch: &Self::Batch,
        column: Column<'_>,
    ) -> Result<Self::Sums, Error> {
        divided(column, self.divisors[j], |column| self.sums.sums(j, kind, batch, column))
    }

    fn merge(&self, sums: &mut Self::Sums, later: Self::Sums) {
        self.sums.merge(sums, later);
    }
}

/// The sums of every feature of `stream`, and the number by which its values were divided: 1, or the largest
/// absolute value of a feature whose sums are not `safe`. Such features are summed again in a second pass,
/// unless all their values are equal.
///
/// # Errors
/// As [`stream_sums`]; [`Error::Unsupported`] where a second pass is needed and the stream cannot be rewound.
pub fn safe_stream_sums<S: ColumnSums>(
    stream: &mut dyn SampleStream,
    sums: &S,
    safe: impl Fn(&S::Sums) -> bool,
    context: &Context<'_>,
) -> Result<Vec<(S::Sums, f64)>, Error>
where
    S::Sums: State,
{
    let (mut features, mut divisors, mut found) = (Vec::new(), Vec::new(), Vec::new());
    for (j, (own, (low, high))) in stream_sums(stream, &WithExtremes(sums), context)?.into_iter().enumerate()
    {
        if low < high && !safe(&own) {
            features.push(j);
            divisors.push(low.abs().max(high.abs()));
        }
        found.push((own, 1.0));
    }
    if features.is_empty() {
        return Ok(found);
    }
    rewind(stream)?;
    let divided = Divided { sums, divisors: &divisors };
    let second =
        stream_sums(&mut Chosen { stream, features: &features, has_others: true }, &divided, context)?;
    for ((j, own), divisor) in features.into_iter().zip(second).zip(divisors) {
        found[j] = (own, divisor);
    }
    Ok(found)
}
