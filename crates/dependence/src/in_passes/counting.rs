//! Counts over rows that are read in passes, here or elsewhere.

use std::ops::Range;

use fewest_columns::moments::{Moments, is_safe};
use fewest_columns::{ColumnSums, Extremes, MOST_PARTS, range, rewind, stream_sums};
use fewest_core::{
    BATCH_ROWS, Column, Context, Dataset, Error, FeatureKind, Returned, RowSums, SampleStream, State, Target,
    Whole, part_rows, state,
};

use super::{METHOD, bytes_of, check_memory};
use crate::Dependence;
use crate::arriving::{Axes, Counts};
use crate::atoms::Measure;

/// How far an entry of a Gram matrix may be off, where a variable may have as many nodes as that takes. A
/// ridge divides by as little as itself.
fn most_entry_error(measure: Measure) -> f64 {
    const MOST: f64 = 1e-7;
    match measure {
        Measure::Hsic => MOST,
        Measure::Nocco { epsilon } => MOST.min(2e-6 * epsilon),
    }
}

/// Most batches that are counted at once, and bytes that they may take, which then stay in the cache.
const MOST: usize = 16;
const BYTES: usize = 64 << 20;

/// What the first pass finds.
pub(super) struct Extents {
    /// The first row.
    pub(super) first: Dataset,
    pub(super) n: usize,
    features: Vec<Extent>,
}

impl Extents {
    /// # Errors
    /// Those of the stream; [`Error::TooFew`] below two rows.
    pub(super) fn of(stream: &mut dyn SampleStream, context: &Context<'_>) -> Result<Self, Error> {
        let too_few = |found| Error::TooFew { what: "samples", minimum: 2, found };
        let Some(batch) = stream.next_batch()? else { return Err(too_few(0)) };
        batch.refuse_sample_weights(METHOD)?;
        let first = batch.subset(&[0])?;
        let features = stream_sums(&mut Returned { first: Some(batch), stream }, &ExtentSums, context)?;
        let n = features.first().map_or(0, |extent| extent.n);
        if n < 2 {
            return Err(too_few(n));
        }
        match features.iter().position(|extent| !(extent.values.is_range() && extent.target.is_range())) {
            None => Ok(Self { first, n, features }),
            Some(j) => {
                let found = format!("none for column {j}");
                Err(Error::parameter("range of a feature", found, "two finite numbers"))
            }
        }
    }
}

/// What is counted of all rows.
///
/// The nodes follow from the range and the standard deviation of each variable, which the pass before found:
/// so all parts of the rows have the same nodes.
pub(super) fn count(
    stream: &mut dyn SampleStream,
    extents: &Extents,
    measure: Measure,
    dependence: &Dependence,
    context: &Context<'_>,
) -> Result<Counts, Error> {
    let Extents { first, n, features } = extents;
    let (sigma_x, sigma_y) = dependence.widths()?;
    let over = |spread: &Spread, sigma: f64| (spread.low..spread.high, spread.widths(*n, sigma));
    let target = features.first().map_or((0.0..0.0, 0.0), |one| over(&one.target, sigma_y.unwrap_or(1.0)));
    let values = features.iter().map(|extent| over(&extent.values, sigma_x));
    let axes = Axes::of_kinds(first, dependence)?.over(target, values, most_entry_error(measure));
    check_memory(size_of::<f64>().saturating_mul(axes.size()), axes.n_features(), context)?;
    let sums = CountSums { axes, dependence, n: *n, context };
    rewind(stream)?;
    let counts = match stream.sum_elsewhere(&sums)? {
        Some(whole) => State::load(&mut whole.as_slice())?,
        None => sums.parts(stream, 0, false)?.pop().unwrap_or_else(|| sums.axes.counts()),
    };
    sums.axes.check(&counts)?;
    if counts.n != *n {
        return Err(Error::unreadable(0, "the stream has another number of rows than in an earlier pass"));
    }
    Ok(counts)
}

/// The smallest and the largest of some values, and their moments.
#[derive(Clone, Copy)]
struct Spread {
    low: f64,
    high: f64,
    moments: Moments,
}

state!(Spread { low, high, moments });

impl Spread {
    fn new((low, high): (f64, f64), moments: Moments) -> Self {
        Self { low, high, moments }
    }

    fn is_range(&self) -> bool {
        self.low.is_finite() && self.high.is_finite() && self.low <= self.high
    }

    /// The range in widths `sigma` of the kernel on `n` standardised values; NaN where squares tell no
    /// deviation.
    fn widths(&self, n: usize, sigma: f64) -> f64 {
        let deviations = self.moments.deviations;
        let deviation = if is_safe(deviations) { (deviations / n as f64).sqrt() } else { f64::NAN };
        (self.high - self.low) / (deviation * sigma)
    }

    /// Adds those of `n_later` values to `n`.
    fn merge(&mut self, n: usize, later: &Self, n_later: usize) {
        (self.low, self.high) = (self.low.min(later.low), self.high.max(later.high));
        self.moments.merge(n, &later.moments, n_later);
    }
}

/// Of some rows their number, and where the values of a feature and of the target are.
struct Extent {
    n: usize,
    values: Spread,
    target: Spread,
}

state!(Extent { n, values, target });

struct ExtentSums;

impl ColumnSums for ExtentSums {
    type Batch = (usize, Spread);
    type Sums = Extent;

    fn batch(&self, target: &Target, rows: Range<usize>) -> Result<Self::Batch, Error> {
        let n = rows.len();
        let values = Counts::targets(target, rows);
        Ok((n, Spread::new(range(&values), Moments::new(&values, 0))))
    }

    fn sums(
        &self,
        j: usize,
        kind: &FeatureKind,
        (n, target): &Self::Batch,
        column: Column<'_>,
    ) -> Result<Extent, Error> {
        let values = Spread::new(Extremes.sums(j, kind, n, column)?, Moments::of(column, *n));
        Ok(Extent { n: *n, values, target: *target })
    }

    fn merge(&self, sums: &mut Extent, later: Extent) {
        sums.values.merge(sums.n, &later.values, later.n);
        sums.target.merge(sums.n, &later.target, later.n);
        sums.n = sums.n.saturating_add(later.n);
    }
}

/// The counts over rows, in [parts](part_rows) each of which is counted from its first row to its last:
/// shares of values round, so that the order in which they are added is fixed.
struct CountSums<'a> {
    axes: Axes,
    dependence: &'a Dependence,
    /// All rows.
    n: usize,
    context: &'a Context<'a>,
}

impl CountSums<'_> {
    fn rows_of_part(&self) -> usize {
        usize::try_from(part_rows(self.n as u64, MOST_PARTS)).unwrap_or(usize::MAX)
    }

    /// The counts of all parts of `stream` together, or of one after the other where `keeps_parts`.
    fn parts(
        &self,
        stream: &mut dyn SampleStream,
        first_row: usize,
        keeps_parts: bool,
    ) -> Result<Vec<Counts>, Error> {
        let rows_of_part = self.rows_of_part();
        let width = size_of::<f64>() * BATCH_ROWS * self.axes.n_features().max(1);
        // A power of two, as the number of batches of a part is: a part ends where some of them do.
        let at_once = 1 << (BYTES / width).clamp(1, MOST).ilog2();
        let mut whole = Whole::new(stream, (at_once * BATCH_ROWS).min(rows_of_part));
        let (mut parts, mut part) = (Vec::new(), None::<Counts>);
        let mut n = 0;
        let add = |batch: Dataset| {
            self.context.go_on("all rows had been counted")?;
            let counts = part.get_or_insert_with(|| self.axes.counts());
            counts.add(&batch, self.dependence).map_err(|error| error.in_rows_from(first_row + n))?;
            n += batch.n_samples();
            // Levels without names may have joined.
            check_memory(bytes_of(counts), self.axes.n_features(), self.context)?;
            if n.is_multiple_of(rows_of_part)
                && let Some(ended) = part.take()
            {
                self.end_part(&mut parts, ended, keeps_parts)?;
            }
            Ok(())
        };
        fewest_parallel::ahead(|| whole.next_batch(), add)?;
        if let Some(ended) = part {
            self.end_part(&mut parts, ended, keeps_parts)?;
        }
        Ok(parts)
    }

    fn end_part(&self, parts: &mut Vec<Counts>, ended: Counts, keeps_parts: bool) -> Result<(), Error> {
        self.axes.check(&ended)?;
        match parts.last_mut().filter(|_| !keeps_parts) {
            Some(total) => total.merge(ended)?,
            None => parts.push(ended),
        }
        let bytes = parts.iter().map(bytes_of).sum::<usize>();
        let most = self.context.memory.unwrap_or(usize::MAX);
        if keeps_parts && bytes > most {
            return Err(Error::Unsupported {
                method: METHOD,
                what: format!(
                    "several parts of the rows together: their counts take more than {} MiB",
                    most >> 20
                ),
                instead: format!("cut the rows into {MOST_PARTS} tasks, or give it more memory"),
            });
        }
        Ok(())
    }
}

impl RowSums for CountSums<'_> {
    fn of_part(&self, part: &mut dyn SampleStream, first_batch: usize) -> Result<Vec<u8>, Error> {
        let first_row = first_batch * BATCH_ROWS;
        if !first_row.is_multiple_of(self.rows_of_part()) {
            return Err(Error::Unsupported {
                method: METHOD,
                what: format!("rows in more than {MOST_PARTS} tasks"),
                instead: format!("take at most {MOST_PARTS}"),
            });
        }
        let mut bytes = Vec::new();
        (first_row, self.parts(part, first_row, true)?).save(&mut bytes);
        Ok(bytes)
    }

    fn of_all(&self, parts: &[Vec<u8>]) -> Result<Vec<u8>, Error> {
        let mut total = self.axes.counts();
        for part in parts {
            let (first_row, counts): (usize, Vec<Counts>) = State::load(&mut part.as_slice())?;
            if first_row != total.n {
                let expected = format!("{}: parts follow each other", total.n);
                return Err(Error::parameter("first row of a part", first_row, expected));
            }
            for part in counts {
                self.axes.check(&part)?;
                total.merge(part)?;
            }
        }
        let mut bytes = Vec::new();
        total.save(&mut bytes);
        Ok(bytes)
    }
}
