//! Gini index.

use fewest_core::method::Options;
use fewest_core::{
    Context, Dataset, Error, FeatureKind, RunningScorer, RunningScores, SampleStream, Scorer, Scores,
    StreamScorer, options,
};

use super::classes::{ClassOrder, check_classes};
use crate::running::RunningTables;
use crate::tables::{LevelTable, StreamTables};
use crate::unordered::{Unordered, UnorderedScorer};
use fewest_columns::{range, score_features};
use fewest_counts::discretisation::EqualWidth;

options! {
    /// Gini index of each feature (Eq. 83 of Li et al. 2016): the impurity left by its best split in two,
    ///
    /// ```text
    /// min over v   p(x ≤ v) (1 − Σₛ p(s | x ≤ v)²) + p(x > v) (1 − Σₛ p(s | x > v)²)
    /// ```
    ///
    /// over every value v but the largest, or over the bounds of `bins` bins of equal width, which cannot
    /// give less. Smaller is better: 0 for a split without mistake, at most `1 − 1/c`; a constant feature
    /// has the impurity of the whole sample, which no split exceeds. Categories have no order: there a
    /// split is one level against the others. Cost: `O(n log n)` a feature, `O(n)` with bins.
    ///
    /// # Errors
    /// A target that is not classes; fewer than two bins or more than 65536; a NaN or an infinity, naming the
    /// cell; sample weights.
    ///
    /// ```
    /// use fewest_core::{Context, Dataset, DenseColumns, Scorer, Target};
    /// use fewest_filters::statistical::Gini;
    ///
    /// let x = DenseColumns::from_columns(&[vec![3.0, 1.0, 7.0, 9.0], vec![5.0; 4]])?;
    /// let data = Dataset::new(x, Target::from_labels(&["a", "a", "b", "b"]))?;
    /// assert_eq!(Gini::default().score(&data, &Context::default())?.values, [0.0, 0.5]);
    /// # Ok::<(), fewest_filters::Error>(())
    /// ```
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Gini {
        /// Bins of equal width whose bounds are the splits tried; every value where left out.
        ///
        /// Rows that are read in passes, and that arrive, need them: 256 are nearly as good as every value.
        pub bins: Option<usize> = None, Between(2, 65536);
    }
}

impl Scorer for Gini {
    fn score(&self, data: &Dataset, context: &Context<'_>) -> Result<Scores, Error> {
        data.refuse_sample_weights("gini")?;
        self.check()?;
        let order = ClassOrder::new(data.classes("gini")?)?;
        let (codes, n_classes) = (order.codes(), order.counts.len());
        let (values, status) = score_features(data, context, "Gini index", f64::NAN, |j, column| {
            let mut values = column.to_vec(data.n_samples());
            if let FeatureKind::Categorical { .. } = data.feature_kind(j) {
                return Ok(best_level(&LevelTable::new(&values, codes, n_classes)));
            }
            let Some(bins) = self.bins else { return Ok(best_of_values(&values, &order)) };
            let (low, high) = range(&values);
            let bins = EqualWidth::new(low, high, bins);
            values.iter_mut().for_each(|value| *value = f64::from(bins.code(*value)));
            Ok(best_threshold(&LevelTable::new(&values, codes, n_classes)))
        })?;
        Ok(Scores::ascending(values).with_status(status))
    }

    fn in_passes(&self) -> Option<&dyn StreamScorer> {
        Some(self)
    }
}

/// With bins only. Two passes: the ranges of the features, then the counts.
impl StreamScorer for Gini {
    fn score_part(&self, stream: &mut dyn SampleStream, context: &Context<'_>) -> Result<Scores, Error> {
        let tables = StreamTables::by_class(stream, self.stream_bins()?, "gini", context)?;
        let scores = tables.tables.iter().enumerate().map(|(j, table)| of_table(table, tables.is_number(j)));
        Ok(Scores::ascending(scores.collect::<Result<_, _>>()?))
    }

    fn reads_parts(&self) -> bool {
        true
    }
}

impl RunningScorer for Gini {
    fn running(&self) -> Result<Box<dyn RunningScores>, Error> {
        let scores = |tables: Vec<LevelTable>, is_number: &dyn Fn(usize) -> bool| {
            let scores = tables.iter().enumerate().map(|(j, table)| of_table(table, is_number(j)));
            Ok(Scores::ascending(scores.collect::<Result<_, _>>()?))
        };
        Ok(Box::new(RunningTables::new(self.stream_bins()?, "gini", scores)))
    }
}

impl UnorderedScorer for Gini {
    fn score_unordered(&self, sums: &Unordered) -> Result<Scores, Error> {
        let table = LevelTable::unordered(sums, "gini")?;
        let are_numbers = matches!(sums, Unordered::Levels { are_numbers: true, .. });
        Ok(Scores::ascending(vec![of_table(&table, are_numbers)?]))
    }
}

impl Gini {
    fn stream_bins(&self) -> Result<usize, Error> {
        self.check()?;
        self.bins.ok_or_else(|| Error::Unsupported {
            method: "gini",
            what: "a split at every value where rows are read in passes, or arrive,".to_owned(),
            instead: "give bins (on the command line: --param bins=256), or read the rows into one table"
                .to_owned(),
        })
    }
}

fn of_table(table: &LevelTable, is_number: bool) -> Result<f64, Error> {
    check_classes(&table.class_counts())?;
    Ok(if is_number { best_threshold(table) } else { best_level(table) })
}

/// `Σₛ countₛ²` of a part, kept up to date while samples move. Whole numbers: exact.
#[derive(Clone)]
struct Part {
    counts: Vec<u64>,
    n: u64,
    squares: u128,
}

impl Part {
    fn new(counts: Vec<u64>) -> Self {
        let square = |count: &u64| u128::from(*count) * u128::from(*count);
        let (n, squares) = (counts.iter().sum(), counts.iter().map(square).sum());
        Self { counts, n, squares }
    }

    fn add(&mut self, class: usize, count: u64) {
        self.squares += u128::from(count) * u128::from(2 * self.counts[class] + count);
        self.counts[class] += count;
        self.n += count;
    }

    fn remove(&mut self, class: usize, count: u64) {
        self.squares -= u128::from(count) * u128::from(2 * self.counts[class] - count);
        self.counts[class] -= count;
        self.n -= count;
    }

    /// Size times impurity, `n (1 − Σₛ p(s)²)`.
    fn impurity(&self) -> f64 {
        if self.n == 0 { 0.0 } else { self.n as f64 - self.squares as f64 / self.n as f64 }
    }
}

/// All samples, and those of each level by increasing value.
fn parts(table: &LevelTable) -> (Part, Vec<Vec<u64>>) {
    let n_levels = table.n_levels();
    let by_class: Vec<&[u64]> = table.by_class().collect();
    let levels = (0..n_levels).map(|level| by_class.iter().map(|counts| counts[level]).collect()).collect();
    (Part::new(by_class.iter().map(|counts| counts.iter().sum()).collect()), levels)
}

/// The best split among all values, sample by sample.
fn best_of_values(values: &[f64], order: &ClassOrder) -> f64 {
    let mut sorted: Vec<(f64, u32)> = values.iter().copied().zip(order.codes().iter().copied()).collect();
    sorted.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let mut right = Part::new(order.counts.iter().map(|&count| count as u64).collect());
    let mut left = Part::new(vec![0; order.counts.len()]);
    let mut best = right.impurity();
    for (at, &(value, class)) in sorted.iter().enumerate() {
        left.add(class as usize, 1);
        right.remove(class as usize, 1);
        if sorted.get(at + 1).is_some_and(|next| next.0 > value) {
            best = best.min(left.impurity() + right.impurity());
        }
    }
    best / values.len() as f64
}

/// The best split between two levels.
fn best_threshold(table: &LevelTable) -> f64 {
    let (mut right, levels) = parts(table);
    let n = right.n as f64;
    let mut left = Part::new(vec![0; right.counts.len()]);
    let mut best = right.impurity();
    for level in levels {
        for (class, count) in level.into_iter().enumerate().filter(|(_, count)| *count > 0) {
            left.add(class, count);
            right.remove(class, count);
        }
        best = best.min(left.impurity() + right.impurity());
    }
    best / n
}

/// The best split of one level from the others.
fn best_level(table: &LevelTable) -> f64 {
    let (all, levels) = parts(table);
    let split = |inside: Vec<u64>| {
        let outside = all.counts.iter().zip(&inside).map(|(all, inside)| all - inside).collect();
        Part::new(inside).impurity() + Part::new(outside).impurity()
    };
    levels.into_iter().map(split).fold(all.impurity(), f64::min) / all.n as f64
}
