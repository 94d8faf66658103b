//! Counts of the levels of two or three features by class, for many of them in one pass: sums over rows that
//! are exact in any order.

mod table;

use fewest_columns::{map_features, rewind};
use fewest_core::{Context, Dataset, Error, RowSums, SampleStream, State};
use fewest_counts::{Rows, Scratch, Variable};

pub(crate) use self::table::{JointTable, Key, add_up};
use crate::tables::{LevelTable, StreamTables, not_the_same};

/// Rows that are counted for all tables before the next ones: what is counted of two features stays in the
/// cache.
const ROWS: usize = 1 << 16;

/// Tables with the same first features that one task counts.
const PARTNERS: usize = 32;

/// What is wanted in parts that take at most `most` bytes each, or are one.
pub(crate) fn in_parts<T>(
    wanted: impl IntoIterator<Item = T>,
    bytes: impl Fn(&T) -> usize,
    most: usize,
) -> Vec<Vec<T>> {
    let mut parts: Vec<Vec<T>> = Vec::new();
    let mut room = 0;
    for each in wanted {
        let bytes = bytes(&each);
        match parts.last_mut() {
            Some(part) if bytes <= room => part.push(each),
            _ => {
                parts.push(vec![each]);
                room = most;
            }
        }
        room = room.saturating_sub(bytes);
    }
    parts
}

impl StreamTables {
    /// How often the levels of some features, two or three, occur together with each class, for each of
    /// `features`: one more pass over `stream`, whatever their number. Those with the same features but for
    /// the last are best together.
    ///
    /// Memory: a count for each cell of each table, or for what occurs where cells are many. Cost: less
    /// than a nanosecond a row and table where levels are few.
    ///
    /// # Errors
    /// Those of the stream; [`Error::Unreadable`] where it has other rows than before; [`Error::Stopped`].
    pub(crate) fn joint<F: AsRef<[usize]> + Sync>(
        &self,
        features: &[F],
        stream: &mut dyn SampleStream,
        context: &Context<'_>,
    ) -> Result<Vec<JointTable>, Error> {
        rewind(stream)?;
        let sums = Joint { tables: self, features, context };
        let (n, tables) = match stream.sum_elsewhere(&sums)? {
            Some(whole) => State::load(&mut whole.as_slice())?,
            None => sums.count(stream)?,
        };
        match self.tables.first() {
            Some(table) if table.n_samples() != n => Err(not_the_same(0)),
            _ => Ok(tables),
        }
    }

    /// Bytes that the table of these features takes at most.
    pub(crate) fn bytes(&self, features: &[usize]) -> usize {
        let n = self.tables.first().map_or(0, LevelTable::n_samples);
        JointTable::bytes(n, self.n_classes(), self.numbers_of_levels(features))
    }

    pub(crate) fn n_classes(&self) -> usize {
        self.tables.first().map_or(0, LevelTable::n_classes)
    }

    /// The number of levels of a feature.
    pub(crate) fn n_levels(&self, j: usize) -> usize {
        self.tables.get(j).map_or(0, LevelTable::n_levels)
    }

    /// Those of two or three features; 1 where there is no third.
    fn numbers_of_levels(&self, features: &[usize]) -> [usize; 3] {
        std::array::from_fn(|at| features.get(at).map_or(1, |j| self.n_levels(*j)))
    }

    /// The levels of the wanted features of a batch, part by part.
    fn coded(&self, batch: &Dataset, wanted: &[bool]) -> Result<Parts, Error> {
        let (n, n_classes) = (batch.n_samples(), self.n_classes());
        let classes = self.classes(batch.target(), n)?;
        if batch.n_features() != wanted.len() {
            return Err(not_the_same(0));
        }
        let parts: Vec<_> = (0..n).step_by(ROWS).map(|first| first..n.min(first + ROWS)).collect();
        let rows: Vec<Rows> =
            fewest_parallel::map(parts.len(), |at| Rows::of_classes(&classes[parts[at].clone()], n_classes));
        let variables = map_features(batch, &Context::default(), "levels", |j, column| {
            if !wanted[j] {
                return Ok(Vec::new());
            }
            let codes = self.codes(j, column, n)?;
            let n_levels = self.n_levels(j);
            let part = |(part, rows): (&std::ops::Range<usize>, &Rows)| {
                Variable::of_codes(&codes[part.clone()], n_levels, rows)
            };
            Ok(parts.iter().zip(&rows).map(part).collect())
        })?;
        Ok(Parts { rows, variables })
    }
}

/// The counts of a pass.
struct Joint<'a, F> {
    tables: &'a StreamTables,
    features: &'a [F],
    context: &'a Context<'a>,
}

impl<F: AsRef<[usize]> + Sync> Joint<'_, F> {
    fn none(&self) -> Vec<JointTable> {
        let n_classes = self.tables.n_classes();
        let table = |of: &F| JointTable::new(n_classes, self.tables.numbers_of_levels(of.as_ref()));
        self.features.iter().map(table).collect()
    }

    /// The number of the rows, and their tables.
    fn count(&self, stream: &mut dyn SampleStream) -> Result<(u64, Vec<JointTable>), Error> {
        let mut tables = self.none();
        let mut wanted = vec![false; self.tables.tables.len()];
        self.features.iter().flat_map(F::as_ref).for_each(|&j| wanted[j] = true);
        let mut n = 0;
        let add = |batch: Dataset| {
            let parts = self.tables.coded(&batch, &wanted)?;
            n += batch.n_samples() as u64;
            drop(batch);
            for (at, rows) in parts.rows.iter().enumerate() {
                self.context.go_on("all features had been counted together")?;
                count(&mut tables, self.features, rows, |j| parts.variables.get(j)?.get(at));
            }
            Ok(())
        };
        fewest_parallel::ahead(|| stream.next_batch(), add)?;
        Ok((n, tables))
    }
}

impl<F: AsRef<[usize]> + Sync> RowSums for Joint<'_, F> {
    fn of_part(&self, part: &mut dyn SampleStream, _first_batch: usize) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::new();
        self.count(part)?.save(&mut bytes);
        Ok(bytes)
    }

    fn of_all(&self, parts: &[Vec<u8>]) -> Result<Vec<u8>, Error> {
        let (mut n, mut tables) = (0_u64, self.none());
        for part in parts {
            let (own, counts): (u64, Vec<JointTable>) = State::load(&mut part.as_slice())?;
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

/// Adds the rows of a part to all tables.
fn count<'v, F: AsRef<[usize]> + Sync>(
    tables: &mut [JointTable],
    features: &[F],
    rows: &Rows,
    variable: impl Fn(usize) -> Option<&'v Variable> + Sync,
) {
    let first = |of: &'_ F| of.as_ref().split_last().map(|(_, first)| first.to_vec());
    let mut groups: Vec<(&[F], &mut [JointTable])> = Vec::new();
    let (mut left, mut left_features) = (tables, features);
    while let Some(next) = left_features.first() {
        let len = left_features.iter().take(PARTNERS).take_while(|of| first(of) == first(next)).count();
        let (own, rest) = left.split_at_mut(len);
        let (own_features, rest_features) = left_features.split_at(len);
        groups.push((own_features, own));
        (left, left_features) = (rest, rest_features);
    }
    fewest_parallel::chunks(&mut groups, 1, |_, groups| {
        let mut scratch = Scratch::default();
        for (features, tables) in groups {
            let mut of_pair = None;
            for (of, table) in features.iter().zip(tables.iter_mut()) {
                let variables: Option<Vec<&Variable>> = of.as_ref().iter().map(|&j| variable(j)).collect();
                // All tables of a group have the same pair.
                variables.iter().for_each(|of| table.add(rows, of, &mut of_pair, &mut scratch));
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::tables::log_sum;

    fn draw(i: usize, j: u64, below: usize) -> u32 {
        (fewest_core::derive_seed(j, i as u64) % below as u64) as u32
    }

    /// Written out or sorted, added in whatever parts, of two features and of three: the sums are those of
    /// the counts of the samples, in the order of their keys.
    #[test]
    fn sums_are_those_of_the_samples_in_any_parts() {
        let sizes: [(usize, &[usize]); 10] = [
            (1, &[1, 1]),
            (2, &[2, 2]),
            (500, &[3, 5]),
            (9000, &[5, 5]),
            (2000, &[40, 30]),
            (2000, &[300, 700]),
            (1, &[1, 1, 1]),
            (500, &[3, 5, 2]),
            (9000, &[5, 4, 6]),
            (2000, &[300, 5, 70]),
        ];
        for (n, levels) in sizes {
            let features: Vec<usize> = (0..levels.len()).collect();
            let code = |j: usize| (0..n).map(|i| draw(i, j as u64, levels[j])).collect::<Vec<_>>();
            let codes: Vec<Vec<u32>> = features.iter().map(|j| code(*j)).collect();
            let classes: Vec<u32> = (0..n).map(|i| draw(i, 9, 3)).collect();
            let orders = [[0, 1, 2], [1, 0, 2], [0, 2, 1], [2, 0, 1], [1, 2, 0], [2, 1, 0]];
            for order in orders.into_iter().take(if levels.len() == 2 { 2 } else { 6 }) {
                let mut within: BTreeMap<[u32; 4], u64> = BTreeMap::new();
                let mut joint: BTreeMap<[u32; 3], u64> = BTreeMap::new();
                for i in 0..n {
                    let key @ [a, b, c] = order.map(|j| codes.get(j).map_or(0, |codes| codes[i]));
                    *within.entry([classes[i], a, b, c]).or_default() += 1;
                    *joint.entry(key).or_default() += 1;
                }
                let expected = (
                    joint.values().map(|count| log_sum(*count)).sum::<f64>(),
                    within.values().map(|count| log_sum(*count)).sum::<f64>(),
                );
                for cut in [n, 7, 4096] {
                    let n_levels = std::array::from_fn(|at| levels.get(at).copied().unwrap_or(1));
                    let mut tables = vec![JointTable::new(3, n_levels)];
                    for part in (0..n).step_by(cut).map(|first| first..n.min(first + cut)) {
                        let rows = Rows::of_classes(&classes[part.clone()], 3);
                        let variable =
                            |j: &usize| Variable::of_codes(&codes[*j][part.clone()], levels[*j], &rows);
                        let variables: Vec<Variable> = features.iter().map(variable).collect();
                        count(&mut tables, &[&features[..]], &rows, |j| variables.get(j));
                    }
                    let mut bytes = Vec::new();
                    tables.save(&mut bytes);
                    assert_eq!(Vec::load(&mut bytes.as_slice()).ok().as_ref(), Some(&tables));
                    let found = tables[0].sums(order);
                    assert_eq!((found.joint, found.with_target), expected, "{n} {levels:?} {order:?} {cut}");
                    let occurring = tables[0].occurring(order);
                    assert_eq!(occurring, within.clone().into_iter().collect::<Vec<_>>());
                }
            }
        }
    }
}
