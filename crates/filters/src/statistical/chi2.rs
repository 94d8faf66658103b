//! Chi-squared score.

use crate::running::RunningTables;
use crate::tables::{LevelTable, StreamTables};
use crate::unordered::{Unordered, UnorderedScorer};
use fewest_core::method::Options;
use fewest_core::{
    Context, Dataset, Error, FeatureKind, RunningScorer, RunningScores, SampleStream, Scorer, Scores,
    StreamScorer, options,
};
use fewest_counts::discretisation::{Discretisation, categories};

use super::classes::{ClassOrder, check_classes};
use super::levels::contingency;
use super::{NO_TEST, UNKNOWN, tails, tested};
use fewest_columns::score_features;

options! {
    /// Chi-squared statistic of each feature against the classes (Eq. 82 of Li et al. 2016), on the table of
    /// bins × classes:
    ///
    /// ```text
    /// χ² = Σ (observed − expected)² / expected,   expected = row total · column total / n
    /// ```
    ///
    /// without continuity correction. Numeric features are cut into bins of equal width over their range;
    /// categories are taken as they are. 0 for a constant feature, without a p-value. The p-value has (rows
    /// − 1)(columns − 1) degrees of freedom, counting rows and columns that occur. Cost: `O(n)` a feature.
    ///
    /// # Errors
    /// A target that is not classes; fewer than two bins or more than 65536; a NaN or an infinity, naming the
    /// cell; sample weights.
    ///
    /// ```
    /// use fewest_core::{Context, Dataset, DenseColumns, Scorer, Target};
    /// use fewest_filters::statistical::ChiSquare;
    ///
    /// let x = DenseColumns::from_columns(&[vec![0.0, 0.0, 9.0, 9.0], vec![0.0, 9.0, 0.0, 9.0]])?;
    /// let data = Dataset::new(x, Target::from_labels(&["a", "a", "b", "b"]))?;
    /// let scores = ChiSquare::default().score(&data, &Context::default())?;
    /// assert_eq!(scores.values, [4.0, 0.0]);
    /// # Ok::<(), fewest_filters::Error>(())
    /// ```
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct ChiSquare {
        /// Bins of equal width that a numeric feature is cut into.
        pub bins: usize = 5, Between(2, 65536);
    }
}

impl Scorer for ChiSquare {
    fn score(&self, data: &Dataset, context: &Context<'_>) -> Result<Scores, Error> {
        data.refuse_sample_weights("chi2")?;
        self.check()?;
        let bins = Discretisation { bins: self.bins, ..Discretisation::default() };
        let order = ClassOrder::new(data.classes("chi2")?)?;
        let (scored, status) = score_features(data, context, "chi-squared", UNKNOWN, |j, column| {
            let values = column.to_vec(order.n_samples());
            // Empty bins are no rows of the table: levels are the bins that occur.
            let levels = match data.feature_kind(j) {
                FeatureKind::Categorical { .. } => categories(&values),
                _ => bins.levels(&values, None)?,
            };
            let n_levels = levels.n_levels;
            let table = contingency(&levels.codes, n_levels, order.codes(), order.counts.len());
            Ok(test(&table, n_levels, &order.counts))
        })?;
        Ok(tested(scored).with_status(status))
    }

    fn in_passes(&self) -> Option<&dyn StreamScorer> {
        Some(self)
    }
}

/// Two passes: the ranges of the features, then the tables.
impl StreamScorer for ChiSquare {
    fn score_part(&self, stream: &mut dyn SampleStream, context: &Context<'_>) -> Result<Scores, Error> {
        self.check()?;
        of_tables(&StreamTables::by_class(stream, self.bins, "chi2", context)?.tables)
    }

    fn reads_parts(&self) -> bool {
        true
    }
}

impl RunningScorer for ChiSquare {
    fn running(&self) -> Result<Box<dyn RunningScores>, Error> {
        self.check()?;
        Ok(Box::new(RunningTables::new(self.bins, "chi2", |tables, _| of_tables(&tables))))
    }
}

impl UnorderedScorer for ChiSquare {
    fn score_unordered(&self, sums: &Unordered) -> Result<Scores, Error> {
        of_tables(&[LevelTable::unordered(sums, "chi2")?])
    }
}

fn of_tables(tables: &[LevelTable]) -> Result<Scores, Error> {
    let mut scored = Vec::with_capacity(tables.len());
    for table in tables {
        let classes = table.class_counts();
        check_classes(&classes)?;
        scored.push(test(&table.counts(), table.n_levels(), &classes));
    }
    Ok(tested(scored))
}

/// The statistic and its p-value.
fn test(table: &[f64], n_rows: usize, column_totals: &[usize]) -> (f64, f64) {
    if n_rows < 2 {
        return (0.0, NO_TEST);
    }
    let statistic = chi_squared(table, n_rows, column_totals);
    let freedom = ((n_rows - 1) * (column_totals.len() - 1)) as f64;
    (statistic, tails::chi_squared(statistic, freedom))
}

/// `Σ (o − e)² / e` of a table without empty rows or columns, `table[row + column · n_rows]`.
fn chi_squared(table: &[f64], n_rows: usize, column_totals: &[usize]) -> f64 {
    let mut row_totals = vec![0.0; n_rows];
    for column in table.chunks_exact(n_rows) {
        row_totals.iter_mut().zip(column).for_each(|(total, count)| *total += count);
    }
    let n: f64 = row_totals.iter().sum();
    let mut statistic = 0.0;
    for (column, &total) in table.chunks_exact(n_rows).zip(column_totals) {
        for (observed, row) in column.iter().zip(&row_totals) {
            let expected = row * total as f64 / n;
            statistic += (observed - expected).powi(2) / expected;
        }
    }
    statistic
}
