//! Counts of the levels of each feature of a stream by class, and how numbers become levels.

use std::ops::Range;

use fewest_columns::{ColumnSums, Extremes, rewind, stream_sums};
use fewest_core::{Column, Context, Error, FeatureKind, SampleStream, Target};
use fewest_counts::discretisation::EqualWidth;

use super::target_last::TargetLast;
use super::{LevelTable, not_the_same};
use crate::equal_frequency::{Cuts, capacity};

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
    /// Of each feature that is a number.
    bins: Vec<Option<Bins>>,
    /// Of a real target: its bins are the classes.
    target: Option<Bins>,
    method: &'static str,
}

impl Counts {
    /// By class, with this number of bins of equal width over the bounds of each number.
    pub(crate) fn equal_width(bounds: &[Bounds], bins: usize, method: &'static str) -> Self {
        let width = |bounds: &Bounds| {
            bounds.map(|(low, high)| Bins::EqualWidth(EqualWidth::new(low, high, bins), bins))
        };
        Self { bins: bounds.iter().map(width).collect(), target: None, method }
    }

    /// The last bins are those of the target, which has none where it is classes.
    fn with_target_last(mut self) -> Self {
        self.target = self.bins.pop().flatten();
        self
    }

    /// Refuses bins of a real target for which there is too little memory: where classes are bins, too, the
    /// counts of a feature grow by the square of their number.
    fn check_bins(&self, bins: usize, context: &Context<'_>) -> Result<(), Error> {
        let most = capacity(self.bins.len(), context).isqrt();
        if self.target.is_none() || bins <= most {
            return Ok(());
        }
        let expected = format!(
            "at most {most} for a real target and {} features in passes, unless there is more memory",
            self.bins.len()
        );
        Err(Error::parameter("bins", bins, expected))
    }

    /// The class of each of the samples `rows`, and how many classes there may be.
    fn classes(&self, target: &Target, rows: Range<usize>) -> Result<(Vec<u32>, usize), Error> {
        match (target, &self.target) {
            (Target::Class(classes), None) => Ok((classes.codes()[rows].to_vec(), classes.n_classes())),
            (Target::Real(outputs), Some(bins)) if outputs.n_outputs() == 1 => {
                Ok((bins.codes(&outputs.output(0)[rows]), bins.count()))
            }
            (other, _) => {
                let (method, expected) = (self.method, "classes");
                Err(Error::UnsupportedTarget { method, expected, found: other.describe() })
            }
        }
    }
}

impl ColumnSums for Counts {
    type Batch = (Vec<u32>, usize);
    type Sums = LevelTable;

    fn batch(&self, target: &Target, rows: Range<usize>) -> Result<Self::Batch, Error> {
        self.classes(target, rows)
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
    counts: Counts,
    /// One a feature.
    pub(crate) tables: Vec<LevelTable>,
    /// What there is to say about bins that are not those of the table.
    pub(crate) note: Option<String>,
}

impl StreamTables {
    /// Of every feature of `stream` by class, numbers in `bins` bins of equal width: one pass for the bounds
    /// of the bins, one to count.
    ///
    /// # Errors
    /// A target that is not classes, which `method` needs; a NaN or an infinity, naming the cell; a stream
    /// that cannot be rewound; [`Error::Stopped`] when the context says so.
    pub(crate) fn by_class(
        stream: &mut dyn SampleStream,
        bins: usize,
        method: &'static str,
        context: &Context<'_>,
    ) -> Result<Self, Error> {
        let bounds = stream_sums(stream, &Numbers, context)?;
        Self::counted(stream, Counts::equal_width(&bounds, bins, method), None, context)
    }

    /// As [`by_class`](Self::by_class), also for one real output as target: it comes into as many bins by the
    /// same rule, found in the same pass, and these are the classes.
    ///
    /// # Errors
    /// As there, for a target that is neither; more bins of a real target than memory allows.
    pub(crate) fn equal_width(
        stream: &mut dyn SampleStream,
        bins: usize,
        method: &'static str,
        context: &Context<'_>,
    ) -> Result<Self, Error> {
        let bounds = stream_sums(&mut TargetLast { stream, method }, &Numbers, context)?;
        let counts = Counts::equal_width(&bounds, bins, method).with_target_last();
        counts.check_bins(bins, context)?;
        Self::counted(stream, counts, None, context)
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
        let Cuts { cuts, off_by } = Cuts::new(&mut TargetLast { stream, method }, bins, context)?;
        let all = cuts.into_iter().map(|cuts| cuts.map(Bins::Between)).collect();
        let counts = Counts { bins: all, target: None, method }.with_target_last();
        counts.check_bins(bins, context)?;
        Self::counted(stream, counts, inexact(&off_by), context)
    }

    fn counted(
        stream: &mut dyn SampleStream,
        counts: Counts,
        note: Option<String>,
        context: &Context<'_>,
    ) -> Result<Self, Error> {
        rewind(stream)?;
        let tables = stream_sums(stream, &counts, context)?;
        Ok(Self { counts, tables, note })
    }

    /// The class of each of the `n` samples of a batch.
    ///
    /// # Errors
    /// [`Error::Unreadable`] for another target than when levels were counted.
    pub(crate) fn classes(&self, target: &Target, n: usize) -> Result<Vec<u32>, Error> {
        match self.counts.classes(target, 0..n) {
            Ok((classes, n_classes)) if n_classes == self.n_classes() => Ok(classes),
            _ => Err(not_the_same(0)),
        }
    }

    /// Whether a feature is a number, whose levels are bins.
    pub(crate) fn is_number(&self, j: usize) -> bool {
        self.counts.bins.get(j).is_some_and(Option::is_some)
    }

    /// The number of the level of each of the `n` values of feature `j`, by increasing value.
    ///
    /// # Errors
    /// [`Error::Unreadable`] for a level that did not occur when levels were counted.
    pub(crate) fn codes(&self, j: usize, column: Column<'_>, n: usize) -> Result<Vec<u32>, Error> {
        let values = column.to_vec(n);
        let levels = self.tables.get(j).map_or(&[][..], |table| &table.levels);
        let known = |code: u32| if code == ABSENT { Err(not_the_same(j)) } else { Ok(code) };
        if let Some(Some(bins)) = self.counts.bins.get(j) {
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

/// What there is to say about bins that are not exact, from the share of the samples that those of each
/// feature and, in the end, of the target are off by.
fn inexact(off_by: &[f64]) -> Option<String> {
    let (target, features) = off_by.split_last()?;
    let n_features = features.iter().filter(|share| **share > 0.0).count();
    let whose = match (n_features, *target > 0.0) {
        (0, false) => return None,
        (0, true) => "the target has".to_owned(),
        (1, false) => "1 feature has".to_owned(),
        (n, false) => format!("{n} features have"),
        (1, true) => "1 feature and the target have".to_owned(),
        (n, true) => format!("{n} features and the target have"),
    };
    // Rounded up: what is told is a bound.
    let percent = (1e4 * off_by.iter().copied().fold(0.0, f64::max)).ceil() / 1e2;
    Some(format!(
        "{whose} bins whose bounds are off by up to {percent} % of the samples: there is too little memory for \
         exact ones"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whose_bins_are_not_exact_is_told() {
        for (off_by, whose, percent) in [
            (&[0.0, 0.0012341, 0.0][..], "1 feature has", "0.13"),
            (&[0.001, 0.002, 0.0], "2 features have", "0.2"),
            (&[0.0, 0.0, 0.01], "the target has", "1"),
            (&[0.0, 0.001, 0.01], "1 feature and the target have", "1"),
            (&[0.03, 0.001, 0.01], "2 features and the target have", "3"),
        ] {
            let note = inexact(off_by).unwrap_or_default();
            let start = format!("{whose} bins whose bounds are off by up to {percent} % of the samples");
            assert!(note.starts_with(&start), "{note}");
        }
        assert_eq!(inexact(&[0.0; 3]), None);
    }
}
