//! Counts of the levels of each feature by class: sums over rows that are exact in any order.

mod stream;
mod target_last;

use std::collections::BTreeSet;

use fewest_core::{Error, order, state};
use fewest_counts::discretisation::categories;

pub(crate) use self::stream::{Bounds, Counts, Numbers, StreamTables};
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

/// The error about feature `j` of a stream that gives other rows than before.
pub(crate) fn not_the_same(j: usize) -> Error {
    Error::unreadable(j, "the stream has other rows than in an earlier pass")
}
