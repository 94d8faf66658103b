//! The counts of the levels of a few features by class.

use fewest_core::{Error, State};
use fewest_counts::{Rows, Scratch, Sums, Variable, add_joint_counts, each_joint};

use crate::tables::{log_sum, not_the_same};

/// Tables of up to this many cells are written out; larger ones have what occurs.
const CELLS: usize = 1 << 14;

/// A class and the levels of the features.
pub(crate) type Key = [u32; 4];

/// How often the levels of two or three features occur together with each class.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct JointTable {
    /// 1 where there is no third feature.
    n_levels: [usize; 3],
    counts: Counts,
}

#[derive(Debug, Clone, PartialEq)]
enum Counts {
    /// `[((class · levels of a + level of a) · levels of b + level of b) · levels of c + level of c]`.
    All(Vec<u64>),
    /// What occurs, by class and levels.
    Some(Vec<(Key, u64)>),
}

fn n_cells(n_classes: usize, n_levels: [usize; 3]) -> usize {
    n_levels.iter().fold(n_classes, |cells, n_levels| cells.saturating_mul(*n_levels))
}

impl JointTable {
    pub(super) fn new(n_classes: usize, n_levels: [usize; 3]) -> Self {
        let cells = n_cells(n_classes, n_levels);
        let counts = if cells > CELLS { Counts::Some(Vec::new()) } else { Counts::All(vec![0; cells]) };
        Self { n_levels, counts }
    }

    /// Bytes that it takes at most of `n` rows.
    pub(super) fn bytes(n: u64, n_classes: usize, n_levels: [usize; 3]) -> usize {
        let cells = n_cells(n_classes, n_levels);
        let cell = if cells > CELLS { size_of::<(Key, u64)>() } else { size_of::<u64>() };
        size_of::<Self>()
            + cells.min(usize::try_from(n).unwrap_or(usize::MAX).max(CELLS)).saturating_mul(cell)
    }

    /// Adds samples with these levels; `of_pair` becomes the pairs of the first two of three features.
    pub(super) fn add(
        &mut self,
        rows: &Rows,
        levels: &[&Variable],
        of_pair: &mut Option<Variable>,
        scratch: &mut Scratch,
    ) {
        match (&mut self.counts, levels) {
            (Counts::All(counts), [a, b]) => add_joint_counts(rows, a, b, scratch, counts),
            (Counts::All(counts), [a, b, c]) => {
                let pair = of_pair.get_or_insert_with(|| Variable::pairs(a, b, rows));
                add_joint_counts(rows, pair, c, scratch, counts);
            }
            (Counts::Some(counts), levels) => {
                let mut more = Vec::new();
                match levels {
                    [a, b] => each_joint(rows, [a, b], |class, [a, b]| more.push(([class, a, b, 0], 1))),
                    [a, b, c] => {
                        each_joint(rows, [a, b, c], |class, [a, b, c]| more.push(([class, a, b, c], 1)));
                    }
                    _ => {}
                }
                add_up(&mut more);
                counts.reserve_exact(more.len());
                counts.extend(more);
                add_up(counts);
                counts.shrink_to_fit();
            }
            _ => {}
        }
    }

    /// Adds the counts of other rows.
    pub(super) fn merge(&mut self, other: Self) -> Result<(), Error> {
        match (&mut self.counts, other.counts) {
            (Counts::All(own), Counts::All(other)) if own.len() == other.len() => {
                own.iter_mut().zip(other).for_each(|(own, other)| *own += other);
            }
            (Counts::Some(own), Counts::Some(other)) => {
                own.extend(other);
                add_up(own);
            }
            _ => return Err(not_the_same(0)),
        }
        Ok(())
    }

    /// What occurs, by class and by the levels of the features in this order: those of feature `order[0]`
    /// first.
    pub(crate) fn occurring(&self, order: [usize; 3]) -> Vec<(Key, u64)> {
        let turned = |[class, levels @ ..]: Key| {
            let [a, b, c] = order.map(|feature| levels[feature]);
            [class, a, b, c]
        };
        let mut occurring: Vec<(Key, u64)> = match &self.counts {
            Counts::Some(counts) => counts.iter().map(|(key, count)| (turned(*key), *count)).collect(),
            Counts::All(counts) => {
                let [_, n_b, n_c] = self.n_levels;
                let key = |cell: usize| {
                    let (rest, c) = (cell / n_c, cell % n_c);
                    let (rest, b) = (rest / n_b, rest % n_b);
                    let [n_a, ..] = self.n_levels;
                    [rest / n_a, rest % n_a, b, c].map(|code| code as u32)
                };
                let occurs = counts.iter().enumerate().filter(|(_, count)| **count > 0);
                occurs.map(|(cell, count)| (turned(key(cell)), *count)).collect()
            }
        };
        add_up(&mut occurring);
        occurring
    }

    /// `Σ c ln c`, for the features in this order: of two, for the first as a candidate and the second as a
    /// selected one, or the other way round; of three, for feature `order[0]` and the pairs of the others.
    /// With the bits of [`fewest_counts::sums`].
    pub(crate) fn sums(&self, order: [usize; 3]) -> Sums {
        let Counts::All(counts) = &self.counts else { return sums_of_some(&self.occurring(order)) };
        let [_, n_b, n_c] = self.n_levels;
        let [n_first, n_second, n_third] = order.map(|feature| self.n_levels[feature]);
        let [first, second, third] = order.map(|feature| [n_b * n_c, n_c, 1][feature]);
        let table = n_first * n_second * n_third;
        let pairs =
            move || (0..n_first).flat_map(move |a| (0..n_second).map(move |b| a * first + b * second));
        let cells = move || pairs().flat_map(move |at| (0..n_third).map(move |c| at + c * third));
        // A count of 0 adds 0.
        let both = |cell: usize| log_sum(counts.iter().skip(cell).step_by(table.max(1)).sum());
        let within = |class: usize| cells().map(move |cell| log_sum(counts[class * table + cell]));
        let n_classes = counts.len() / table.max(1);
        Sums { joint: cells().map(both).sum(), with_target: (0..n_classes).flat_map(within).sum() }
    }
}

/// A class and a level, two levels, and how often they occur.
type Saved = ((u32, u32), (u32, u32), u64);

impl State for JointTable {
    fn save(&self, to: &mut Vec<u8>) {
        let [a, b, c] = self.n_levels;
        (a, b).save(to);
        // Of pairs there are many: nothing is written of the third feature that they do not have.
        (u8::from(matches!(self.counts, Counts::All(_))) + 2 * u8::from(c > 1)).save(to);
        if c > 1 {
            c.save(to);
        }
        match &self.counts {
            Counts::All(counts) => counts.save(to),
            Counts::Some(counts) => {
                counts
                    .iter()
                    .map(|&([class, a, b, c], count)| ((class, a), (b, c), count))
                    .collect::<Vec<_>>()
                    .save(to);
            }
        }
    }

    fn load(from: &mut &[u8]) -> Result<Self, Error> {
        let (a, b) = State::load(from)?;
        let form = u8::load(from)?;
        let c = if form & 2 > 0 { State::load(from)? } else { 1 };
        let counts = if form & 1 > 0 {
            Counts::All(State::load(from)?)
        } else {
            let counts: Vec<Saved> = State::load(from)?;
            let turned = |((class, a), (b, c), count)| ([class, a, b, c], count);
            Counts::Some(counts.into_iter().map(turned).collect())
        };
        Ok(Self { n_levels: [a, b, c], counts })
    }
}

/// Of what occurs, in the order of the sum.
fn sums_of_some(counts: &[(Key, u64)]) -> Sums {
    let mut joint: Vec<_> = counts.iter().map(|&([_, a, b, c], count)| ([0, a, b, c], count)).collect();
    add_up(&mut joint);
    let sum = |counts: &[(Key, u64)]| counts.iter().map(|(_, count)| log_sum(*count)).sum();
    Sums { joint: sum(&joint), with_target: sum(counts) }
}

/// Sorts counts by key and adds up those of one key.
pub(crate) fn add_up<K: Ord + Copy>(counts: &mut Vec<(K, u64)>) {
    // Merges what is sorted already.
    counts.sort_by_key(|(key, _)| *key);
    counts.dedup_by(|later, own| {
        let is_same = later.0 == own.0;
        own.1 += if is_same { later.1 } else { 0 };
        is_same
    });
}
