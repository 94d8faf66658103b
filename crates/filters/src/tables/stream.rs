//! Counts of the levels of each feature of a stream by class, and how numbers become levels.

use std::ops::Range;

use fewest_columns::{ColumnSums, Extremes, rewind, stream_sums};
use fewest_core::{Column, Context, Error, FeatureKind, SampleStream, Target};
use fewest_counts::discretisation::EqualWidth;

use super::{LevelTable, not_the_same};
use crate::equal_frequency::Cuts;

/// The bins of a number.
enum Bins {
    /// So many of equal width.
    EqualWidth(EqualWidth, usize),
    /// Between increasing cuts; a value at a cut is in the bin below it.
    Between(Vec<f64>),
}

impl Bins {
    /// How many there may be.
    fn count(&self) -> usize {
        match self {
            Self::EqualWidth(_, count) => *count,
            Self::Between(cuts) => cuts.len() + 1,
        }
    }

    /// The bin of each value.
    fn codes(&self, values: &[f64]) -> Vec<u32> {
        match self {
            Self::EqualWidth(bins, _) => values.iter().map(|value| bins.code(*value)).collect(),
            Self::Between(cuts) => {
                let code = |value: &f64| cuts.partition_point(|cut| cut < value) as u32;
                values.iter().map(code).collect()
            }
        }
    }
}

/// Counts of levels by class, in bins for numbers.
pub(crate) struct Counts {
    bins: Vec<Option<Bins>>,
    method: &'static str,
}

impl Counts {
    /// With this number of bins of equal width over the bounds of each number.
    pub(crate) fn equal_width(bounds: &[Bounds], bins: usize, method: &'static str) -> Self {
        let width = |bounds: &Bounds| {
            bounds.map(|(low, high)| Bins::EqualWidth(EqualWidth::new(low, high, bins), bins))
        };
        Self { bins: bounds.iter().map(width).collect(), method }
    }
}

impl ColumnSums for Counts {
    type Batch = (Vec<u32>, usize);
    type Sums = LevelTable;

    fn batch(&self, target: &Target, rows: Range<usize>) -> Result<Self::Batch, Error> {
        match target {
            Target::Class(classes) => Ok((classes.codes()[rows].to_vec(), classes.n_classes())),
            other => Err(Error::UnsupportedTarget {
                method: self.method,
                expected: "classes",
                found: other.describe(),
            }),
        }
    }

    fn sums(
        &self,
        j: usize,
        _: &FeatureKind,
        (classes, n_classes): &Self::Batch,
        column: Column<'_>,
    ) -> Result<LevelTable, Error> {
        let values = column.to_vec(classes.len());
        Ok(match self.bins.get(j) {
            Some(Some(bins)) => LevelTable::of_bins(&bins.codes(&values), bins.count(), classes, *n_classes),
            _ => LevelTable::new(&values, classes, *n_classes),
        })
    }

    fn merge(&self, sums: &mut LevelTable, later: LevelTable) {
        sums.merge(&later);
    }
}

/// The smallest and largest value of each number, nothing of categories.
pub(crate) struct Numbers;

/// The smallest and largest value of a number, nothing of a category.
pub(crate) type Bounds = Option<(f64, f64)>;

impl ColumnSums for Numbers {
    type Batch = usize;
    type Sums = Bounds;

    fn batch(&self, target: &Target, rows: Range<usize>) -> Result<usize, Error> {
        Extremes.batch(target, rows)
    }

    fn sums(&self, j: usize, kind: &FeatureKind, n: &usize, column: Column<'_>) -> Result<Self::Sums, Error> {
        match kind {
            FeatureKind::Categorical { .. } => Ok(None),
            _ => Extremes.sums(j, kind, n, column).map(Some),
        }
    }

    fn merge(&self, sums: &mut Self::Sums, later: Self::Sums) {
        if let (Some(sums), Some(later)) = (sums, later) {
            Extremes.merge(sums, later);
        }
    }
}

/// The levels of every feature of a stream by class, and how values become levels.
pub(crate) struct StreamTables {
    /// The bins of numbers.
    bins: Vec<Option<Bins>>,
    /// One a feature.
    pub(crate) tables: Vec<LevelTable>,
    /// What there is to say about bins that are not those of the table.
    pub(crate) note: Option<String>,
}

impl StreamTables {
    /// Of every feature of `stream`, numbers in `bins` bins of equal width: one pass for the bounds of the
    /// bins, one to count.
    ///
    /// # Errors
    /// A target that is not classes, which `method` needs; a NaN or an infinity, naming the cell; a stream
    /// that cannot be rewound; [`Error::Stopped`] when the context says so.
    pub(crate) fn equal_width(
        stream: &mut dyn SampleStream,
        bins: usize,
        method: &'static str,
        context: &Context<'_>,
    ) -> Result<Self, Error> {
        let bounds = stream_sums(stream, &Numbers, context)?;
        Self::counted(stream, Counts::equal_width(&bounds, bins, method), None, context)
    }

    /// As [`equal_width`](Self::equal_width), of bins of equally many samples: the passes of [`Cuts`], and
    /// one to count.
    ///
    /// # Errors
    /// As there; [`Error::Unreadable`] where a pass has other rows than one before.
    pub(crate) fn equal_frequency(
        stream: &mut dyn SampleStream,
        bins: usize,
        method: &'static str,
        context: &Context<'_>,
    ) -> Result<Self, Error> {
        let Cuts { cuts, inexact } = Cuts::new(stream, bins, context)?;
        let note = inexact.map(|(features, share)| {
            let plural = if features == 1 { "feature has" } else { "features have" };
            // Rounded up: what is told is a bound.
            let percent = (1e4 * share).ceil() / 1e2;
            format!(
                "{features} {plural} bins whose bounds are off by up to {percent} % of the samples: there is \
                 too little memory for exact ones"
            )
        });
        let bins = cuts.into_iter().map(|cuts| cuts.map(Bins::Between)).collect();
        Self::counted(stream, Counts { bins, method }, note, context)
    }

    fn counted(
        stream: &mut dyn SampleStream,
        counts: Counts,
        note: Option<String>,
        context: &Context<'_>,
    ) -> Result<Self, Error> {
        rewind(stream)?;
        let tables = stream_sums(stream, &counts, context)?;
        Ok(Self { bins: counts.bins, tables, note })
    }

    /// Whether a feature is a number, whose levels are bins.
    pub(crate) fn is_number(&self, j: usize) -> bool {
        self.bins.get(j).is_some_and(Option::is_some)
    }

    /// The number of the level of each of the `n` values of feature `j`, by increasing value.
    ///
    /// # Errors
    /// [`Error::Unreadable`] for a level that did not occur when levels were counted.
    pub(crate) fn codes(&self, j: usize, column: Column<'_>, n: usize) -> Result<Vec<u32>, Error> {
        let values = column.to_vec(n);
        let levels = self.tables.get(j).map_or(&[][..], |table| &table.levels);
        let known = |code: u32| if code == ABSENT { Err(not_the_same(j)) } else { Ok(code) };
        if let Some(Some(bins)) = self.bins.get(j) {
            // A level is the number of a bin.
            let mut level_of = vec![ABSENT; levels.last().map_or(0, |last| *last as usize + 1)];
            levels.iter().enumerate().for_each(|(level, bin)| level_of[*bin as usize] = level as u32);
            let level = |code: u32| level_of.get(code as usize).copied().unwrap_or(ABSENT);
            return bins.codes(&values).into_iter().map(|code| known(level(code))).collect();
        }
        let code = |value: f64| {
            let at = levels.partition_point(|level| *level < value);
            if levels.get(at) == Some(&value) { at as u32 } else { ABSENT }
        };
        values.into_iter().map(|value| known(code(value))).collect()
    }
}

/// The number of no level.
const ABSENT: u32 = u32::MAX;
