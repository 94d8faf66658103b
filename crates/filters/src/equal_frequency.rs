//! Bins of equally many samples, of rows that are read in passes.

use std::ops::Range;

use fewest_columns::{ColumnSums, rewind, stream_sums};
use fewest_core::{
    Column, Context, Dataset, Error, FeatureKind, Returned, SampleStream, Target, order, state,
};
use fewest_counts::discretisation::{Bracket, Quantiles};

use crate::tables::not_the_same;

/// Bytes that numbers of all features may take where the context gives no number.
const MOST_BYTES: usize = 256 << 20;

/// Sums over the rows of a feature that are in memory at a time: one for each doubling of the rows, up to 10⁹
/// of them.
const COPIES: usize = 20;

/// Values of a level of the quantiles at least, however little the memory.
const LEAST_CAPACITY: usize = 256;

/// How many numbers may be held of each of `n` features, with [`COPIES`] of them in memory.
pub(crate) fn capacity(n: usize, context: &Context<'_>) -> usize {
    let bytes = context.memory.unwrap_or(MOST_BYTES);
    (bytes / (size_of::<f64>() * COPIES * n.max(1))).max(LEAST_CAPACITY)
}

/// The cuts between bins of equally many samples.
pub(crate) struct Cuts {
    /// Of each number, increasing: a value is in the bin whose number is that of the cuts below it.
    pub(crate) cuts: Vec<Option<Vec<f64>>>,
    /// The largest share of the samples that a cut of each feature is off by: 0 where all are exact.
    pub(crate) off_by: Vec<f64>,
}

impl Cuts {
    /// Of every number of `stream`, for `bins` bins.
    ///
    /// Of `n` samples, cut `c` is the `⌈c n / bins⌉`-th smallest value: a value is above it where at least
    /// `c n / bins` samples are below that value. A first pass finds two values between which each cut is,
    /// and each further pass looks between them only, until both are the same: one more pass in most cases,
    /// none where all quantiles are exact at once. Where memory is so little that a pass would have to look
    /// at more than half of the values of the one before, the middle is taken, and its error told.
    ///
    /// # Errors
    /// Those of the stream and of [`stream_sums`]; [`Error::Unreadable`] where it has other rows than before.
    pub(crate) fn new(
        stream: &mut dyn SampleStream,
        bins: usize,
        context: &Context<'_>,
    ) -> Result<Self, Error> {
        let first = stream.next_batch()?;
        let mut searches = vec![Search::default(); first.as_ref().map_or(0, Dataset::n_features)];
        let mut stream = Returned { first, stream };
        let mut n = 0;
        loop {
            let n_open = searches.iter().filter(|search| search.is_open).count();
            let looked = Looked { searches: &searches, capacity: capacity(n_open, context) };
            let found = stream_sums(&mut stream, &looked, context)?;
            if found.len() != searches.len() {
                return Err(not_the_same(found.len().min(searches.len())));
            }
            for (j, (search, found)) in searches.iter_mut().zip(found).enumerate() {
                match found {
                    Some(found) if n == 0 || found.counts.iter().sum::<u64>() == n => {
                        n = found.counts.iter().sum();
                        search.narrow(&found, bins).ok_or_else(|| not_the_same(j))?;
                    }
                    Some(_) => return Err(not_the_same(j)),
                    None => search.is_open = false,
                }
            }
            if !searches.iter().any(|search| search.is_open) {
                break;
            }
            rewind(&mut stream)?;
        }
        let off_by = searches.iter().map(|search| search.error as f64 / n.max(1) as f64).collect();
        Ok(Self { cuts: searches.into_iter().map(Search::cuts).collect(), off_by })
    }
}

/// Where the cuts of a feature are. Its values are in cells: below the first edge, at it, between it and the
/// second, and so on.
#[derive(Clone)]
struct Search {
    /// One for each cut; none before the first pass, nor for a category.
    brackets: Vec<Bracket>,
    /// The ends of the brackets, increasing.
    edges: Vec<f64>,
    /// Of each cell, whether it is inside of a bracket.
    inside: Vec<bool>,
    is_open: bool,
    /// How many values the last pass found inside of brackets.
    n_inside: u64,
    /// By how many ranks the middles of the brackets may be wrong, where the search was given up.
    error: u64,
}

impl Default for Search {
    fn default() -> Self {
        let (brackets, edges) = (Vec::new(), Vec::new());
        Self { brackets, edges, inside: vec![true], is_open: true, n_inside: u64::MAX, error: 0 }
    }
}

impl Search {
    /// The cell of a value.
    fn cell(&self, value: f64) -> usize {
        let at = self.edges.partition_point(|edge| *edge < value);
        2 * at + usize::from(self.edges.get(at) == Some(&value))
    }

    /// The edges of a cell: the same where the cell is at an edge.
    fn ends(&self, cell: usize) -> (f64, f64) {
        let low = cell.checked_sub(1).and_then(|before| self.edges.get(before / 2));
        let high = self.edges.get(cell / 2);
        (low.copied().unwrap_or(f64::NEG_INFINITY), high.copied().unwrap_or(f64::INFINITY))
    }

    /// Whether the values of a cell are inside of a bracket, so that a cut may be one of them.
    fn is_inside(&self, cell: usize) -> bool {
        let (low, high) = self.ends(cell);
        // Brackets increase at both ends.
        let first = self.brackets.partition_point(|bracket| bracket.high < high);
        low < high && self.brackets.get(first).is_some_and(|bracket| bracket.low <= low)
    }

    /// Smaller brackets, from the values inside of those before; `None` where a cut is outside of its own.
    fn narrow(&mut self, found: &Seen, bins: usize) -> Option<()> {
        let n: u64 = found.counts.iter().sum();
        let (mut ranks, mut ends) = (Vec::new(), Vec::new());
        let (mut cell, mut before, mut inside_before) = (0, 0, 0);
        for cut in 1..bins {
            let rank = (cut as u128 * u128::from(n)).div_ceil(bins as u128) as u64;
            while before + found.counts.get(cell)? < rank {
                before += found.counts.get(cell)?;
                inside_before += if *self.inside.get(cell)? { *found.counts.get(cell)? } else { 0 };
                cell += 1;
            }
            let (low, high) = self.ends(cell);
            if low < high && !*self.inside.get(cell)? {
                return None;
            }
            ranks.push(inside_before + rank - before);
            ends.push((low, high));
        }
        self.brackets = found.inside.brackets(&ranks);
        for (bracket, (low, high)) in self.brackets.iter_mut().zip(ends) {
            for value in [&mut bracket.low, &mut bracket.middle, &mut bracket.high] {
                *value = value.clamp(low, high);
            }
        }
        self.edges = order::distinct(self.brackets.iter().flat_map(|at| [at.low, at.high]).collect());
        self.inside = (0..2 * self.edges.len() + 1).map(|cell| self.is_inside(cell)).collect();
        self.is_open = self.brackets.iter().any(|at| at.low < at.high);
        if self.is_open && found.inside.count() > self.n_inside / 2 {
            self.is_open = false;
            self.error = found.inside.rank_error();
        }
        self.n_inside = found.inside.count();
        Some(())
    }

    fn cuts(self) -> Option<Vec<f64>> {
        let cuts = self.brackets.iter().map(|bracket| bracket.middle).collect();
        (!self.brackets.is_empty()).then(|| order::distinct(cuts))
    }
}

/// What a pass looks at.
struct Looked<'a> {
    searches: &'a [Search],
    capacity: usize,
}

/// What a pass finds of a feature.
struct Seen {
    /// Of the values of each cell.
    counts: Vec<u64>,
    /// The values inside of brackets.
    inside: Quantiles,
}

state!(Seen { counts, inside });

impl ColumnSums for Looked<'_> {
    type Batch = usize;
    /// Nothing of a category, nor of what is known.
    type Sums = Option<Seen>;

    fn batch(&self, _: &Target, rows: Range<usize>) -> Result<usize, Error> {
        Ok(rows.len())
    }

    fn sums(
        &self,
        j: usize,
        kind: &FeatureKind,
        n: &usize,
        column: Column<'_>,
    ) -> Result<Option<Seen>, Error> {
        let search = self.searches.get(j).filter(|search| search.is_open);
        let (Some(search), FeatureKind::Numeric) = (search, kind) else { return Ok(None) };
        let mut counts = vec![0; search.inside.len()];
        let mut inside = Vec::new();
        for value in column.to_vec(*n) {
            let cell = search.cell(value);
            counts[cell] += 1;
            if search.inside[cell] {
                inside.push(value);
            }
        }
        Ok(Some(Seen { counts, inside: Quantiles::new(inside, self.capacity) }))
    }

    fn merge(&self, sums: &mut Option<Seen>, later: Option<Seen>) {
        if let (Some(sums), Some(later)) = (sums, later) {
            sums.counts.iter_mut().zip(later.counts).for_each(|(own, later)| *own += later);
            sums.inside.merge(later.inside);
        }
    }
}
