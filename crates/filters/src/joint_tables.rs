//! Counts of the levels of two features by class: sums over rows that are exact in any order.

use fewest_columns::{map_features, rewind};
use fewest_core::{Accumulator, BATCH_ROWS, Context, Dataset, Error, SampleStream, Target, accumulate};
use fewest_counts::Sums;

use crate::tables::{LevelTable, StreamTables, log_sum, not_the_same};

/// Tables of joint counts of a batch up to this many cells are written out; otherwise its samples are sorted.
const CELLS: usize = 4 * BATCH_ROWS;

impl StreamTables {
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
    use std::ops::Range;

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
