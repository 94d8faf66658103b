//! Counts over rows that are read in passes, here or elsewhere.

use std::ops::Range;

use fewest_columns::{ColumnSums, Extremes, MOST_PARTS, Returned, range, rewind, stream_sums};
use fewest_core::{
    BATCH_ROWS, Column, Context, Dataset, Error, FeatureKind, RowSums, SampleStream, State, Target, Whole,
    part_rows, state,
};

use super::{bytes_of, check_memory};
use crate::Dependence;
use crate::arriving::{Axes, Counts};

/// Most batches that are counted at once, and bytes that they may take, which then stay in the cache.
const MOST: usize = 16;
const BYTES: usize = 64 << 20;

/// What is counted of all rows, and the first of them.
///
/// The nodes follow from the range of each variable, which a pass before finds: so all parts of the rows have
/// the same nodes.
pub(super) fn count(
    stream: &mut dyn SampleStream,
    dependence: &Dependence,
    context: &Context<'_>,
) -> Result<(Counts, Dataset), Error> {
    let too_few = |found| Error::TooFew { what: "samples", minimum: 2, found };
    let Some(batch) = stream.next_batch()? else { return Err(too_few(0)) };
    let first = batch.subset(&[0])?;
    let axes = Axes::of_kinds(&first, dependence)?;
    let extents = stream_sums(&mut Returned { first: Some(batch), stream }, &Extents, context)?;
    let Some(&Extent { n, target, .. }) = extents.first().filter(|extent| extent.n > 1) else {
        return Err(too_few(extents.first().map_or(0, |extent| extent.n)));
    };
    if let Some(j) = extents.iter().position(|extent| !extent.is_range()) {
        return Err(Error::parameter(
            "range of a feature",
            format!("none for column {j}"),
            "two finite numbers",
        ));
    }
    let axes = axes.over(target, extents.iter().map(|extent| extent.values));
    check_memory(size_of::<f64>().saturating_mul(axes.size()), axes.n_features(), context)?;
    let sums = CountSums { axes, dependence, n, context };
    rewind(stream)?;
    let counts = match stream.sum_elsewhere(&sums)? {
        Some(whole) => State::load(&mut whole.as_slice())?,
        None => sums.parts(stream, 0, false)?.pop().unwrap_or_else(|| sums.axes.counts()),
    };
    sums.axes.check(&counts)?;
    if counts.n != n {
        return Err(Error::unreadable(0, "the stream has another number of rows than in an earlier pass"));
    }
    Ok((counts, first))
}

/// Of some rows their number, and the smallest and the largest value of a feature and of the target.
struct Extent {
    n: usize,
    values: (f64, f64),
    target: (f64, f64),
}

state!(Extent { n, values, target });

impl Extent {
    fn is_range(&self) -> bool {
        let is_range = |(low, high): (f64, f64)| low.is_finite() && high.is_finite() && low <= high;
        is_range(self.values) && is_range(self.target)
    }
}

struct Extents;

impl ColumnSums for Extents {
    type Batch = (usize, (f64, f64));
    type Sums = Extent;

    fn batch(&self, target: &Target, rows: Range<usize>) -> Result<Self::Batch, Error> {
        Ok((rows.len(), range(&Counts::targets(target, rows))))
    }

    fn sums(
        &self,
        j: usize,
        kind: &FeatureKind,
        (n, target): &Self::Batch,
        column: Column<'_>,
    ) -> Result<Extent, Error> {
        Ok(Extent { n: *n, values: Extremes.sums(j, kind, n, column)?, target: *target })
    }

    fn merge(&self, sums: &mut Extent, later: Extent) {
        sums.n = sums.n.saturating_add(later.n);
        Extremes.merge(&mut sums.values, later.values);
        Extremes.merge(&mut sums.target, later.target);
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
                method: "hsic in passes",
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
                method: "hsic in passes",
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
