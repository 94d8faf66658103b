//! Counts of the levels of each feature by class: sums over rows that are exact in any order.

use std::collections::BTreeSet;
use std::ops::Range;

use fewest_columns::{ColumnSums, Extremes, rewind, stream_sums};
use fewest_core::{Column, Context, Error, FeatureKind, SampleStream, Target, order, state};

use fewest_counts::discretisation::{EqualWidth, categories};

use crate::equal_frequency::Cuts;
use crate::unordered::Unordered;

/// How often each level of a feature occurs with each class.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LevelTable {
    /// What tells a level: its value, or the number of its bin. Increasing; every one occurs.
    levels: Vec<f64>,
    /// `counts[level + class · n_levels]`.
    counts: Vec<u64>,
    n_classes: usize,
    /// The levels that occur in each class, in the order in which they first do.
    first_seen: Vec<Vec<f64>>,
}

state!(LevelTable { levels, counts, n_classes, first_seen });

impl LevelTable {
    /// Of samples with these levels, told by a number each, and these classes below `n_classes`.
    pub(crate) fn new(values: &[f64], classes: &[u32], n_classes: usize) -> Self {
        let coded = categories(values);
        let n_levels = coded.n_levels;
        let mut levels = vec![0.0; n_levels];
        let mut counts = vec![0; n_levels * n_classes];
        let mut first_seen = vec![Vec::new(); n_classes];
        for ((&level, &value), &class) in coded.codes.iter().zip(values).zip(classes) {
            // Both zeros are one level.
            levels[level as usize] = value + 0.0;
            let count = &mut counts[level as usize + class as usize * n_levels];
            if *count == 0 {
                first_seen[class as usize].push(value + 0.0);
            }
            *count += 1;
        }
        Self { levels, counts, n_classes, first_seen }
    }

    /// Of how often each level occurs with each class, `counts[level + class · n_levels]`.
    pub(crate) fn of_counts(n_levels: usize, counts: &[u64]) -> Self {
        let by_class = || counts.chunks_exact(n_levels.max(1));
        let occurs: Vec<usize> =
            (0..n_levels).filter(|&level| by_class().any(|counts| counts[level] > 0)).collect();
        let own = |counts: &[u64]| occurs.iter().map(|&level| counts[level]).collect::<Vec<_>>();
        // In the order of their numbers, since nothing says which came first.
        let seen = |counts: &[u64]| {
            (0..)
                .zip(own(counts))
                .filter(|(_, count)| *count > 0)
                .map(|(level, _)| f64::from(level))
                .collect()
        };
        Self {
            levels: (0..).take(occurs.len()).map(f64::from).collect(),
            counts: by_class().flat_map(own).collect(),
            n_classes: by_class().len(),
            first_seen: by_class().map(seen).collect(),
        }
    }

    /// The table in which all samples have one class.
    pub(crate) fn of_all_classes(&self) -> Self {
        let of_level = |level| self.by_class().map(|counts| counts[level]).sum();
        Self::of_counts(self.n_levels(), &(0..self.n_levels()).map(of_level).collect::<Vec<_>>())
    }

    /// Of sums in no order.
    ///
    /// # Errors
    /// [`Error::UnsupportedTarget`] for a real target; [`Error::Unsupported`] for numbers, which `method`
    /// would have to cut into bins.
    pub(crate) fn unordered(sums: &Unordered, method: &'static str) -> Result<Self, Error> {
        match sums {
            Unordered::Levels { n_levels, counts, .. } => Ok(Self::of_counts(*n_levels, counts)),
            Unordered::Numbers(_) => Err(Error::Unsupported {
                method,
                what: "a number whose values were summed".to_owned(),
                instead: "cut it into bins, and count their levels".to_owned(),
            }),
            other => Err(other.unsupported(method, "classes")),
        }
    }

    /// As [`new`](Self::new) of the numbers of bins below `n_bins`.
    fn of_bins(codes: &[u32], n_bins: usize, classes: &[u32], n_classes: usize) -> Self {
        if n_bins > codes.len() {
            let codes: Vec<f64> = codes.iter().copied().map(f64::from).collect();
            return Self::new(&codes, classes, n_classes);
        }
        let mut all = vec![0_u64; n_bins * n_classes];
        let mut first_seen = vec![Vec::new(); n_classes];
        for (&bin, &class) in codes.iter().zip(classes) {
            let bin = bin as usize;
            let count = &mut all[bin + class as usize * n_bins];
            if *count == 0 {
                first_seen[class as usize].push(bin as f64);
            }
            *count += 1;
        }
        let by_class = || all.chunks_exact(n_bins);
        let occurs: Vec<usize> =
            (0..n_bins).filter(|&bin| by_class().any(|counts| counts[bin] > 0)).collect();
        let counts = by_class().flat_map(|counts| occurs.iter().map(|&bin| counts[bin])).collect();
        let levels = occurs.iter().map(|&bin| bin as f64).collect();
        Self { levels, counts, n_classes, first_seen }
    }

    /// Number of levels.
    pub(crate) fn n_levels(&self) -> usize {
        self.levels.len()
    }

    /// Number of classes, also those that do not occur.
    pub(crate) fn n_classes(&self) -> usize {
        self.n_classes
    }

    /// Counts of the levels, class by class.
    pub(crate) fn by_class(&self) -> impl Iterator<Item = &[u64]> {
        self.counts.chunks_exact(self.n_levels().max(1))
    }

    /// Counts of the levels by class, `[level + class · n_levels]`, of the classes that occur.
    pub(crate) fn counts(&self) -> Vec<f64> {
        let occurs = self.by_class().filter(|counts| counts.iter().any(|count| *count > 0));
        occurs.flatten().map(|&count| count as f64).collect()
    }

    /// Samples of each class that occurs.
    pub(crate) fn class_counts(&self) -> Vec<usize> {
        self.by_class().map(|counts| counts.iter().sum::<u64>() as usize).filter(|count| *count > 0).collect()
    }

    /// Adds the counts of later samples.
    pub(crate) fn merge(&mut self, later: &Self) {
        let levels = order::distinct(self.levels.iter().chain(&later.levels).copied().collect());
        let mut counts = vec![0; levels.len() * self.n_classes];
        for table in [&*self, later] {
            for (at, level) in table.levels.iter().enumerate() {
                let to = levels.partition_point(|other| other < level);
                for class in 0..self.n_classes {
                    counts[to + class * levels.len()] += table.counts[at + class * table.n_levels()];
                }
            }
        }
        for (seen, later) in self.first_seen.iter_mut().zip(&later.first_seen) {
            let known: BTreeSet<u64> = seen.iter().map(|level| level.to_bits()).collect();
            seen.extend(later.iter().filter(|level| !known.contains(&level.to_bits())));
        }
        (self.levels, self.counts) = (levels, counts);
    }

    /// Number of samples.
    pub(crate) fn n_samples(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// `Σ c ln c` over the levels, and over the levels within each class.
    pub(crate) fn sums(&self) -> (f64, f64) {
        let n_levels = self.n_levels();
        let totals = (0..n_levels).map(|level| self.by_class().map(|counts| counts[level]).sum());
        // In the order of the samples, as variables in memory are summed.
        let mut within = 0.0;
        for (counts, seen) in self.by_class().zip(&self.first_seen) {
            for level in seen {
                within += log_sum(counts[self.levels.partition_point(|other| other < level)]);
            }
        }
        (totals.map(log_sum).sum(), within)
    }

    /// `Σ c ln c` over the classes.
    pub(crate) fn class_sum(&self) -> f64 {
        self.class_counts().into_iter().map(|count| log_sum(count as u64)).sum()
    }

    /// `I(feature; class)` in nats, never negative: with the bits of
    /// [`Coded::relevance`](fewest_counts::Coded::relevance).
    pub(crate) fn relevance(&self) -> f64 {
        let n = self.n_samples();
        let (sum, within) = self.sums();
        ((log_sum(n) - sum - self.class_sum() + within) / n as f64).max(0.0)
    }
}

/// `c ln c`.
pub(crate) fn log_sum(count: u64) -> f64 {
    count as f64 * (count.max(1) as f64).ln()
}

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

/// The error about feature `j` of a stream that gives other rows than before.
pub(crate) fn not_the_same(j: usize) -> Error {
    Error::unreadable(j, "the stream has other rows than in an earlier pass")
}
