//! Counts of the levels of two features by class, for many pairs in one pass: sums over rows that are exact
//! in any order.

use fewest_columns::{map_features, rewind};
use fewest_core::{Context, Dataset, Error, RowSums, SampleStream, State, Target};
use fewest_counts::{Rows, Scratch, Sums, Variable, add_joint_counts, each_joint};

use crate::tables::{LevelTable, StreamTables, log_sum, not_the_same};

/// Rows that are counted for all pairs before the next ones: what is counted of two features stays in the
/// cache.
const ROWS: usize = 1 << 16;

/// Tables of up to this many cells are written out; larger ones have what occurs.
const CELLS: usize = 1 << 14;

/// Pairs with one feature that one task counts.
const PARTNERS: usize = 32;

impl StreamTables {
    /// How often each pair of levels of the two features of each pair occurs with each class: one more pass
    /// over `stream`, whatever the number of pairs. Pairs with the same first feature are best together.
    ///
    /// Memory: a count for each cell of each table, or for what occurs where cells are many. Cost: less
    /// than a nanosecond a row and pair where levels are few.
    ///
    /// # Errors
    /// Those of the stream; [`Error::Unreadable`] where it has other rows than before; [`Error::Stopped`].
    pub(crate) fn pairs(
        &self,
        pairs: &[[usize; 2]],
        stream: &mut dyn SampleStream,
        context: &Context<'_>,
    ) -> Result<Vec<PairTable>, Error> {
        rewind(stream)?;
        let sums = Pairs { tables: self, pairs, context };
        let (n, tables) = match stream.sum_elsewhere(&sums)? {
            Some(whole) => State::load(&mut whole.as_slice())?,
            None => sums.count(stream)?,
        };
        match self.tables.first() {
            Some(table) if table.n_samples() != n => Err(not_the_same(0)),
            _ => Ok(tables),
        }
    }

    /// The levels of the wanted features of a batch, part by part.
    fn coded(&self, batch: &Dataset, wanted: &[bool]) -> Result<Parts, Error> {
        let Target::Class(classes) = batch.target() else { return Err(not_the_same(0)) };
        let (n, n_classes) = (batch.n_samples(), self.tables.first().map_or(0, LevelTable::n_classes));
        if batch.n_features() != wanted.len() || classes.n_classes() != n_classes {
            return Err(not_the_same(0));
        }
        let parts: Vec<_> = (0..n).step_by(ROWS).map(|first| first..n.min(first + ROWS)).collect();
        let rows: Vec<Rows> = fewest_parallel::map(parts.len(), |at| {
            Rows::of_classes(&classes.codes()[parts[at].clone()], n_classes)
        });
        let variables = map_features(batch, &Context::default(), "levels", |j, column| {
            if !wanted[j] {
                return Ok(Vec::new());
            }
            let codes = self.codes(j, column, n)?;
            let n_levels = self.tables.get(j).map_or(0, LevelTable::n_levels);
            let part = |(part, rows): (&std::ops::Range<usize>, &Rows)| {
                Variable::of_codes(&codes[part.clone()], n_levels, rows)
            };
            Ok(parts.iter().zip(&rows).map(part).collect())
        })?;
        Ok(Parts { rows, variables })
    }
}

/// The counts of a pass.
struct Pairs<'a> {
    tables: &'a StreamTables,
    pairs: &'a [[usize; 2]],
    context: &'a Context<'a>,
}

impl Pairs<'_> {
    fn none(&self) -> Vec<PairTable> {
        let tables = &self.tables.tables;
        let n_levels = |j: usize| tables.get(j).map_or(0, LevelTable::n_levels);
        let n_classes = tables.first().map_or(0, LevelTable::n_classes);
        self.pairs.iter().map(|[a, b]| PairTable::new(n_classes, n_levels(*a), n_levels(*b))).collect()
    }

    /// The number of the rows, and their tables.
    fn count(&self, stream: &mut dyn SampleStream) -> Result<(u64, Vec<PairTable>), Error> {
        let mut tables = self.none();
        let mut wanted = vec![false; self.tables.tables.len()];
        self.pairs.iter().flatten().for_each(|&j| wanted[j] = true);
        let mut n = 0;
        while let Some(batch) = stream.next_batch()? {
            let parts = self.tables.coded(&batch, &wanted)?;
            n += batch.n_samples() as u64;
            drop(batch);
            for (at, rows) in parts.rows.iter().enumerate() {
                self.context.go_on("all pairs of features had been counted")?;
                count(&mut tables, self.pairs, rows, |j| parts.variables.get(j)?.get(at));
            }
        }
        Ok((n, tables))
    }
}

impl RowSums for Pairs<'_> {
    fn of_part(&self, part: &mut dyn SampleStream, _first_batch: usize) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::new();
        self.count(part)?.save(&mut bytes);
        Ok(bytes)
    }

    fn of_all(&self, parts: &[Vec<u8>]) -> Result<Vec<u8>, Error> {
        let (mut n, mut tables) = (0_u64, self.none());
        for part in parts {
            let (own, counts): (u64, Vec<PairTable>) = State::load(&mut part.as_slice())?;
            let (expected, found) = (tables.len(), counts.len());
            if expected != found {
                return Err(Error::ShapeMismatch { what: "tables of a part", expected, found });
            }
            n += own;
            for (table, counts) in tables.iter_mut().zip(counts) {
                table.merge(counts)?;
            }
        }
        let mut bytes = Vec::new();
        (n, tables).save(&mut bytes);
        Ok(bytes)
    }
}

/// What a batch has, in parts.
struct Parts {
    rows: Vec<Rows>,
    /// By feature, the variable of each part; nothing of those that are not counted.
    variables: Vec<Vec<Variable>>,
}

/// Adds the rows of a part to the tables of all pairs.
fn count<'v>(
    tables: &mut [PairTable],
    pairs: &[[usize; 2]],
    rows: &Rows,
    variable: impl Fn(usize) -> Option<&'v Variable> + Sync,
) {
    let mut groups: Vec<(&[[usize; 2]], &mut [PairTable])> = Vec::new();
    let (mut left, mut left_pairs) = (tables, pairs);
    while let Some([first, _]) = left_pairs.first() {
        let len = left_pairs.iter().take(PARTNERS).take_while(|[a, _]| a == first).count();
        let (own, rest) = left.split_at_mut(len);
        let (own_pairs, rest_pairs) = left_pairs.split_at(len);
        groups.push((own_pairs, own));
        (left, left_pairs) = (rest, rest_pairs);
    }
    fewest_parallel::chunks(&mut groups, 1, |_, groups| {
        let mut scratch = Scratch::default();
        for (pairs, tables) in groups {
            for ([a, b], table) in pairs.iter().zip(tables.iter_mut()) {
                if let (Some(a), Some(b)) = (variable(*a), variable(*b)) {
                    table.add(rows, a, b, &mut scratch);
                }
            }
        }
    });
}

/// How often each pair of levels of two features occurs with each class.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PairTable {
    n_levels: [usize; 2],
    counts: Counts,
}

#[derive(Debug, Clone, PartialEq)]
enum Counts {
    /// `[(class · levels of a + level of a) · levels of b + level of b]`.
    All(Vec<u64>),
    /// What occurs, by class, level of a and level of b, in this order.
    Some(Vec<([u32; 3], u64)>),
}

impl PairTable {
    fn new(n_classes: usize, a: usize, b: usize) -> Self {
        let cells = n_classes.saturating_mul(a).saturating_mul(b);
        let counts = if cells > CELLS { Counts::Some(Vec::new()) } else { Counts::All(vec![0; cells]) };
        Self { n_levels: [a, b], counts }
    }

    /// Bytes that it takes at most of `n` rows.
    pub(crate) fn bytes(n: u64, n_classes: usize, a: usize, b: usize) -> usize {
        let cells = n_classes.saturating_mul(a).saturating_mul(b);
        let cell = if cells > CELLS { size_of::<([u32; 3], u64)>() } else { size_of::<u64>() };
        size_of::<Self>()
            + cells.min(usize::try_from(n).unwrap_or(usize::MAX).max(CELLS)).saturating_mul(cell)
    }

    fn add(&mut self, rows: &Rows, a: &Variable, b: &Variable, scratch: &mut Scratch) {
        match &mut self.counts {
            Counts::Some(counts) => {
                let mut more = Vec::new();
                each_joint(rows, a, b, |key| more.push((key, 1)));
                add_up(&mut more);
                counts.reserve_exact(more.len());
                counts.extend(more);
                add_up(counts);
                counts.shrink_to_fit();
            }
            Counts::All(counts) => add_joint_counts(rows, a, b, scratch, counts),
        }
    }

    /// Adds the counts of other rows.
    fn merge(&mut self, other: Self) -> Result<(), Error> {
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

    /// `Σ c ln c`, for the first feature as a candidate and the second as a selected one, or the other way
    /// round: with the bits of [`fewest_counts::sums`].
    pub(crate) fn sums(&self, swapped: bool) -> Sums {
        let [n_a, n_b] = self.n_levels;
        let counts = match &self.counts {
            Counts::All(counts) => counts,
            Counts::Some(counts) => return sums_of_some(counts, swapped),
        };
        let table = n_a * n_b;
        let at = |class: usize, first: usize, second: usize| match swapped {
            false => counts[class * table + first * n_b + second],
            true => counts[class * table + second * n_b + first],
        };
        let (n_first, n_second) = if swapped { (n_b, n_a) } else { (n_a, n_b) };
        let n_classes = counts.len() / table.max(1);
        let cells = || (0..n_first).flat_map(|first| (0..n_second).map(move |second| (first, second)));
        // A count of 0 adds 0.
        let both = |(first, second)| log_sum((0..n_classes).map(|class| at(class, first, second)).sum());
        let within = |class: usize| cells().map(move |(first, second)| (class, first, second));
        let with_target = (0..n_classes).flat_map(within);
        Sums {
            joint: cells().map(both).sum(),
            with_target: with_target.map(|(class, first, second)| log_sum(at(class, first, second))).sum(),
        }
    }
}

impl State for PairTable {
    fn save(&self, to: &mut Vec<u8>) {
        let [a, b] = self.n_levels;
        (a, b).save(to);
        match &self.counts {
            Counts::All(counts) => {
                true.save(to);
                counts.save(to);
            }
            Counts::Some(counts) => {
                false.save(to);
                counts
                    .iter()
                    .map(|&([class, a, b], count)| ((class, a, b), count))
                    .collect::<Vec<_>>()
                    .save(to);
            }
        }
    }

    fn load(from: &mut &[u8]) -> Result<Self, Error> {
        let (a, b) = State::load(from)?;
        let counts = match bool::load(from)? {
            true => Counts::All(State::load(from)?),
            false => {
                let counts: Vec<((u32, u32, u32), u64)> = State::load(from)?;
                let turned = |((class, a, b), count)| ([class, a, b], count);
                Counts::Some(counts.into_iter().map(turned).collect())
            }
        };
        Ok(Self { n_levels: [a, b], counts })
    }
}

fn sums_of_some(counts: &[([u32; 3], u64)], swapped: bool) -> Sums {
    let turned = |&([class, a, b], count): &([u32; 3], u64)| match swapped {
        false => ([class, a, b], count),
        true => ([class, b, a], count),
    };
    let mut counts: Vec<_> = counts.iter().map(turned).collect();
    add_up(&mut counts);
    let mut pairs: Vec<_> = counts.iter().map(|&([_, a, b], count)| ([0, a, b], count)).collect();
    add_up(&mut pairs);
    let sum = |counts: &[([u32; 3], u64)]| counts.iter().map(|(_, count)| log_sum(*count)).sum();
    Sums { joint: sum(&pairs), with_target: sum(&counts) }
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn draw(i: usize, j: u64, below: usize) -> u32 {
        (fewest_core::derive_seed(j, i as u64) % below as u64) as u32
    }

    /// Written out or sorted, added in whatever parts: the sums are those of the
    /// counts of the samples, in the order of their keys.
    #[test]
    fn sums_are_those_of_the_samples_in_any_parts() {
        let sizes =
            [(1, [1, 1]), (2, [2, 2]), (500, [3, 5]), (9000, [5, 5]), (2000, [40, 30]), (2000, [300, 700])];
        for (n, levels) in sizes {
            let code = |j: u64, below: usize| (0..n).map(|i| draw(i, j, below)).collect::<Vec<_>>();
            let (a, b, classes) = (code(0, levels[0]), code(1, levels[1]), code(2, 3));
            for swapped in [false, true] {
                let mut within: BTreeMap<[u32; 3], u64> = BTreeMap::new();
                let mut both: BTreeMap<[u32; 2], u64> = BTreeMap::new();
                for i in 0..n {
                    let [first, second] = if swapped { [b[i], a[i]] } else { [a[i], b[i]] };
                    *within.entry([classes[i], first, second]).or_default() += 1;
                    *both.entry([first, second]).or_default() += 1;
                }
                let expected = (
                    both.values().map(|count| log_sum(*count)).sum::<f64>(),
                    within.values().map(|count| log_sum(*count)).sum::<f64>(),
                );
                for cut in [n, 7, 4096] {
                    let mut tables = vec![PairTable::new(3, levels[0], levels[1])];
                    for part in (0..n).step_by(cut).map(|first| first..n.min(first + cut)) {
                        let rows = Rows::of_classes(&classes[part.clone()], 3);
                        let variables = [(&a, levels[0]), (&b, levels[1])].map(|(codes, n_levels)| {
                            Variable::of_codes(&codes[part.clone()], n_levels, &rows)
                        });
                        count(&mut tables, &[[0, 1]], &rows, |j| variables.get(j));
                    }
                    let found = tables[0].sums(swapped);
                    assert_eq!((found.joint, found.with_target), expected, "{n} {levels:?} {swapped} {cut}");
                }
            }
        }
    }
}
