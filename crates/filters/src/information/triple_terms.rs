//! Terms of three features from their joint counts, with the bits of the table in memory.

use std::collections::HashMap;

use fewest_counts::{Sizes, conditional_entropy};

use super::criterion::Samples;
use super::known_terms::Singles;
use crate::joint_tables::{JointTable, Key, add_up};
use crate::tables::{LevelTable, log_sum};

/// Three features in the order of their counts.
struct Counted {
    features: [usize; 3],
    table: JointTable,
}

/// Counts of triples, and what the way in which they are summed depends on.
pub(super) struct Triples {
    sizes: Sizes,
    /// By the features in increasing order.
    counted: HashMap<[usize; 3], Counted>,
}

/// The features in increasing order.
pub(super) fn sorted(mut features: [usize; 3]) -> [usize; 3] {
    features.sort_unstable();
    features
}

impl Triples {
    /// None yet, of the features of these tables.
    pub(super) fn new(tables: &[LevelTable]) -> Self {
        let class_counts = tables.first().map(LevelTable::class_counts).unwrap_or_default();
        Self { sizes: Sizes::new(&class_counts, tables.len()), counted: HashMap::new() }
    }

    pub(super) fn insert(&mut self, features: [usize; 3], table: JointTable) {
        self.counted.insert(sorted(features), Counted { features, table });
    }

    pub(super) fn remove(&mut self, features: [usize; 3]) {
        self.counted.remove(&sorted(features));
    }

    pub(super) fn retain(&mut self, keep: impl Fn(&[usize; 3]) -> bool) {
        self.counted.retain(|features, _| keep(features));
    }

    pub(super) fn contain(&self, features: [usize; 3]) -> bool {
        self.counted.contains_key(&sorted(features))
    }

    /// `Σ_j I(k,j,last;Y)` over the features selected `before` the last one, all of which were counted.
    ///
    /// In memory it is summed in one of two orders, whichever is faster to count. That depends on how many
    /// samples share levels, which the counts tell.
    pub(super) fn term(&self, singles: &Singles, k: usize, before: &[usize], last: usize) -> f64 {
        let counted = || before.iter().filter_map(|&j| Some((j, self.counted.get(&sorted([k, j, last]))?)));
        let cells = |(j, counted): (usize, &Counted)| counted.occurring([k, last, j]);
        let levels = [k, last].map(|j| singles.levels.n_levels(j));
        let most = before.iter().map(|j| singles.levels.n_levels(*j)).max().unwrap_or(0);
        let open = counted().next().map(|first| open_cells(&cells(first))).unwrap_or_default();
        let samples: Vec<usize> = open.iter().map(|(_, count)| *count as usize).collect();
        if self.sizes.compares(levels, most, &samples) {
            let entropies = conditional_entropies(&open, counted().map(cells));
            return singles.samples.all_jointly(before.len(), entropies);
        }
        let jointly = |(j, counted): (usize, &Counted)| counted.jointly(&singles.samples, [k, j, last]);
        counted().map(jointly).sum()
    }
}

impl Counted {
    /// Where these features are in the counts.
    fn order(&self, features: [usize; 3]) -> [usize; 3] {
        features.map(|j| self.features.iter().position(|own| *own == j).unwrap_or(0))
    }

    /// `I(a,b,c;Y)`, summed in this order.
    fn jointly(&self, samples: &Samples, features: [usize; 3]) -> f64 {
        samples.jointly(self.table.sums(self.order(features)))
    }

    /// What occurs, by the levels of the features in this order and then by class.
    fn occurring(&self, features: [usize; 3]) -> Vec<(Key, u64)> {
        let turned = |([class, a, b, c], count): (Key, u64)| ([a, b, c, class], count);
        let mut cells: Vec<_> = self.table.occurring(self.order(features)).into_iter().map(turned).collect();
        add_up(&mut cells);
        cells
    }
}

/// The cells of the first two features that have samples of several classes, with their number.
fn open_cells(cells: &[(Key, u64)]) -> Vec<([u32; 2], u64)> {
    let mut pairs: Vec<_> = cells.iter().map(|&([a, b, _, class], count)| ([a, b, class], count)).collect();
    add_up(&mut pairs);
    let of_cell = pairs.chunk_by(|(one, _), (other, _)| one[..2] == other[..2]);
    let open = of_cell.filter(|classes| classes.len() > 1);
    open.map(|classes| {
        let ([a, b, _], _) = classes[0];
        ([a, b], classes.iter().map(|(_, count)| count).sum())
    })
    .collect()
}

/// `n Σ_j H(Y | k, last, j)` over the counts of some `j`, as
/// [`joint_conditional_entropies`](fewest_counts::joint_conditional_entropies) sums it: by how often each
/// joint count occurs in the open cells.
fn conditional_entropies(open: &[([u32; 2], u64)], of_triples: impl Iterator<Item = Vec<(Key, u64)>>) -> f64 {
    let largest = open.iter().map(|(_, count)| *count as usize).max().unwrap_or(0);
    let mut occurrences = vec![0_i64; largest + 1];
    for cells in of_triples {
        for classes in cells.chunk_by(|(one, _), (other, _)| one[..3] == other[..3]) {
            let ([a, b, ..], _) = classes[0];
            if open.binary_search_by_key(&[a, b], |(cell, _)| *cell).is_err() {
                continue;
            }
            let all: u64 = classes.iter().map(|(_, count)| count).sum();
            // Counts that disagree come from machines with other files, and are told where all are compared.
            let mut add = |count: u64, times: i64| {
                if let Some(occurrences) = occurrences.get_mut(count as usize) {
                    *occurrences += times;
                }
            };
            add(all, 1);
            classes.iter().for_each(|(_, count)| add(*count, -1));
        }
    }
    conditional_entropy(occurrences.into_iter(), |count| log_sum(count as u64))
}
