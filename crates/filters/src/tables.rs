//! Counts of the levels of each feature by class, alone and with those of another feature: sums over rows that
//! are exact in any order.

use std::ops::Range;

use fewest_columns::{ColumnSums, Extremes, map_features, rewind, stream_sums};
use fewest_core::{
    Accumulator, BATCH_ROWS, Column, Context, Dataset, Error, FeatureKind, SampleStream, Target, accumulate,
    order,
};
use fewest_counts::Sums;
use fewest_counts::discretisation::{EqualWidth, categories};

/// Tables of joint counts of a batch up to this many cells are written out; otherwise its samples are sorted.
const CELLS: usize = 4 * BATCH_ROWS;

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

    /// Number of levels.
    pub(crate) fn n_levels(&self) -> usize {
        self.levels.len()
    }

    /// Counts of the levels by class, `[level + class · n_levels]`, of the classes that occur.
    pub(crate) fn counts(&self) -> Vec<f64> {
        let by_class = self.counts.chunks_exact(self.n_levels().max(1));
        let occurs = by_class.filter(|counts| counts.iter().any(|count| *count > 0));
        occurs.flatten().map(|&count| count as f64).collect()
    }

    /// Samples of each class that occurs.
    pub(crate) fn class_counts(&self) -> Vec<usize> {
        let by_class = self.counts.chunks_exact(self.n_levels().max(1));
        by_class.map(|counts| counts.iter().sum::<u64>() as usize).filter(|count| *count > 0).collect()
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
            let new: Vec<f64> = later.iter().copied().filter(|level| !seen.contains(level)).collect();
            seen.extend(new);
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
        let by_class = || self.counts.chunks_exact(n_levels.max(1));
        let totals = (0..n_levels).map(|level| by_class().map(|counts| counts[level]).sum());
        // In the order of the samples, as variables in memory are summed.
        let mut within = 0.0;
        for (counts, seen) in by_class().zip(&self.first_seen) {
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

/// Counts of levels by class, in bins of equal width for numbers.
struct Counts<'a> {
    bins: &'a [Option<EqualWidth>],
    method: &'static str,
}

impl ColumnSums for Counts<'_> {
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
        let mut values = column.to_vec(classes.len());
        if let Some(Some(bins)) = self.bins.get(j) {
            values.iter_mut().for_each(|value| *value = f64::from(bins.code(*value)));
        }
        Ok(LevelTable::new(&values, classes, *n_classes))
    }

    fn merge(&self, sums: &mut LevelTable, later: LevelTable) {
        sums.merge(&later);
    }
}

/// The smallest and largest value of each number, nothing of categories.
struct Numbers;

impl ColumnSums for Numbers {
    type Batch = usize;
    type Sums = Option<(f64, f64)>;

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
    bins: Vec<Option<EqualWidth>>,
    /// One a feature.
    pub(crate) tables: Vec<LevelTable>,
}

impl StreamTables {
    /// Of every feature of `stream`, numbers in `bins` bins of equal width: one pass for the bounds of the
    /// bins, one to count.
    ///
    /// # Errors
    /// A target that is not classes, which `method` needs; a NaN or an infinity, naming the cell; a stream
    /// that cannot be rewound; [`Error::Stopped`] when the context says so.
    pub(crate) fn new(
        stream: &mut dyn SampleStream,
        bins: usize,
        method: &'static str,
        context: &Context<'_>,
    ) -> Result<Self, Error> {
        let bounds = stream_sums(stream, &Numbers, context)?;
        let bins: Vec<Option<EqualWidth>> = bounds
            .into_iter()
            .map(|bounds| bounds.map(|(low, high)| EqualWidth::new(low, high, bins)))
            .collect();
        rewind(stream)?;
        let tables = stream_sums(stream, &Counts { bins: &bins, method }, context)?;
        Ok(Self { bins, tables })
    }

    /// The number of the level of each value of feature `j`, by increasing value.
    ///
    /// # Errors
    /// [`Error::Unreadable`] for a level that did not occur when levels were counted.
    fn codes(&self, j: usize, mut values: Vec<f64>) -> Result<Vec<u32>, Error> {
        if let Some(Some(bins)) = self.bins.get(j) {
            values.iter_mut().for_each(|value| *value = f64::from(bins.code(*value)));
        }
        let levels = self.tables.get(j).map_or(&[][..], |table| &table.levels);
        let code = |value: f64| {
            let at = levels.partition_point(|level| *level < value);
            if levels.get(at) == Some(&value) { Ok(at as u32) } else { Err(not_the_same(j)) }
        };
        values.into_iter().map(code).collect()
    }

    /// How often each pair of levels of a feature and of `partner` occurs with each class, for the features
    /// that are `wanted`: one more pass over `stream`.
    ///
    /// # Errors
    /// Those of the stream; [`Error::Unreadable`] where it has other rows than before; [`Error::Stopped`].
    pub(crate) fn joint(
        &self,
        partner: usize,
        wanted: &[bool],
        stream: &mut dyn SampleStream,
        context: &Context<'_>,
    ) -> Result<Vec<JointTable>, Error> {
        rewind(stream)?;
        let make = || JointTables { levels: self, partner, wanted, tables: Vec::new() };
        let joint = accumulate(stream, make, context)?;
        let n = self.tables.get(partner).map_or(0, LevelTable::n_samples);
        match wanted.iter().zip(&joint).position(|(wanted, joint)| *wanted && joint.n_samples() != n) {
            None => Ok(joint),
            Some(j) => Err(not_the_same(j)),
        }
    }
}

fn not_the_same(j: usize) -> Error {
    Error::unreadable(j, "the stream has other rows than in an earlier pass")
}

/// How often each pair of levels of two features occurs with each class.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct JointTable {
    /// What occurs, by class, level of the one and level of the other, in this order.
    counts: Vec<([u32; 3], u64)>,
}

impl JointTable {
    /// Of samples with levels `a` below `n_levels`, that have `others`.
    fn new(a: &[u32], n_levels: usize, others: &Others) -> Self {
        let keys = || {
            let both = others.classes.iter().zip(&others.levels);
            both.zip(a).map(|((&class, &other), &level)| [class, level, other])
        };
        let cells = others.n_classes.saturating_mul(n_levels).saturating_mul(others.n_levels);
        if cells > CELLS {
            let mut counts: Vec<_> = keys().map(|key| (key, 1)).collect();
            add_up(&mut counts);
            return Self { counts };
        }
        let mut table = vec![0_u32; cells];
        for [class, level, other] in keys() {
            table[(class as usize * n_levels + level as usize) * others.n_levels + other as usize] += 1;
        }
        let key = |cell: usize| {
            let (row, other) = (cell / others.n_levels, cell % others.n_levels);
            [row / n_levels, row % n_levels, other].map(|code| code as u32)
        };
        let occurs = table.iter().enumerate().filter(|(_, count)| **count > 0);
        Self { counts: occurs.map(|(cell, &count)| (key(cell), u64::from(count))).collect() }
    }

    fn n_samples(&self) -> u64 {
        self.counts.iter().map(|(_, count)| count).sum()
    }

    /// Adds the counts of later samples.
    fn merge(&mut self, later: Self) {
        self.counts.extend(later.counts);
        add_up(&mut self.counts);
    }

    /// `Σ c ln c`: with the bits of [`fewest_counts::sums`].
    pub(crate) fn sums(&self) -> Sums {
        let mut pairs: Vec<_> = self.counts.iter().map(|&([_, a, b], count)| ([0, a, b], count)).collect();
        add_up(&mut pairs);
        let sum = |counts: &[([u32; 3], u64)]| counts.iter().map(|(_, count)| log_sum(*count)).sum();
        Sums { joint: sum(&pairs), with_target: sum(&self.counts) }
    }
}

/// Sorts counts by key and adds up those of one key.
fn add_up(counts: &mut Vec<([u32; 3], u64)>) {
    // Merges what is sorted already.
    counts.sort_by_key(|(key, _)| *key);
    counts.dedup_by(|later, own| {
        let is_same = later.0 == own.0;
        own.1 += if is_same { later.1 } else { 0 };
        is_same
    });
}

/// What a batch has beside the feature that is counted.
struct Others {
    classes: Vec<u32>,
    n_classes: usize,
    /// The levels of the other feature.
    levels: Vec<u32>,
    n_levels: usize,
}

/// The [`JointTable`]s of the wanted features with a partner.
struct JointTables<'a> {
    levels: &'a StreamTables,
    partner: usize,
    wanted: &'a [bool],
    tables: Vec<JointTable>,
}

impl Accumulator for JointTables<'_> {
    type Output = Vec<JointTable>;

    fn update(&mut self, batch: &Dataset) -> Result<(), Error> {
        let n = batch.n_samples();
        let n_levels = |j: usize| self.levels.tables.get(j).map_or(0, LevelTable::n_levels);
        let (classes, n_classes) = match batch.target() {
            Target::Class(classes) => (classes.codes().to_vec(), classes.n_classes()),
            _ => return Err(not_the_same(self.partner)),
        };
        if batch.n_features() != self.wanted.len() {
            return Err(not_the_same(self.partner));
        }
        let mut values = vec![0.0; n];
        batch.x().copy_column(self.partner, &mut values)?;
        let levels = self.levels.codes(self.partner, values)?;
        let others = Others { classes, n_classes, levels, n_levels: n_levels(self.partner) };
        let tables = map_features(batch, &Context::default(), "joint counts", |j, column| {
            if !self.wanted[j] {
                return Ok(JointTable::default());
            }
            Ok(JointTable::new(&self.levels.codes(j, column.to_vec(n))?, n_levels(j), &others))
        })?;
        self.merge(Self { tables, ..*self })
    }

    fn merge(&mut self, later: Self) -> Result<(), Error> {
        if self.tables.is_empty() {
            self.tables = later.tables;
        } else {
            self.tables.iter_mut().zip(later.tables).for_each(|(table, later)| table.merge(later));
        }
        Ok(())
    }

    fn finish(self) -> Result<Vec<JointTable>, Error> {
        Ok(self.tables)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn draw(i: usize, j: u64, below: usize) -> u32 {
        (fewest_core::derive_seed(j, i as u64) % below as u64) as u32
    }

    /// Written out or sorted, added up in whatever order: the counts are those of the samples.
    #[test]
    fn joint_counts_are_those_of_the_samples_in_any_parts() {
        for (n, levels) in [(1, [1, 1]), (2, [2, 2]), (500, [3, 5]), (2000, [5, 5]), (2000, [300, 700])] {
            let code = |j: u64, below: usize| (0..n).map(|i| draw(i, j, below)).collect::<Vec<_>>();
            let (a, b, classes) = (code(0, levels[0]), code(1, levels[1]), code(2, 3));
            let mut expected: BTreeMap<[u32; 3], u64> = BTreeMap::new();
            for i in 0..n {
                *expected.entry([classes[i], a[i], b[i]]).or_default() += 1;
            }
            let of = |rows: Range<usize>| {
                let (levels_of_b, classes) = (b[rows.clone()].to_vec(), classes[rows.clone()].to_vec());
                let others = Others { classes, n_classes: 3, levels: levels_of_b, n_levels: levels[1] };
                JointTable::new(&a[rows], levels[0], &others)
            };
            let whole = of(0..n);
            assert_eq!(whole.counts, expected.into_iter().collect::<Vec<_>>());
            assert_eq!(whole.n_samples(), n as u64);
            for cuts in [[0, n / 3, n / 2, n], [0, 0, n.min(1), n], [0, n - 1, n, n]] {
                let part = |at: usize| of(cuts[at]..cuts[at + 1]);
                for [first, second, third] in [[0, 1, 2], [2, 0, 1], [1, 2, 0], [2, 1, 0]] {
                    let (mut left, mut right) = (part(first), part(second));
                    left.merge(part(second));
                    left.merge(part(third));
                    right.merge(part(third));
                    let mut later = part(first);
                    later.merge(right);
                    assert_eq!((&left, &later), (&whole, &whole));
                }
            }
        }
    }
}
