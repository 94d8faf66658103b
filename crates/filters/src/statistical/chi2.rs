//! Chi-squared score.

use fewest_core::{Context, Dataset, Error, FeatureKind, Scorer, Scores};

use super::levels::{contingency, level_codes};
use super::moments::ClassOrder;
use super::{tails, unweighted};
use crate::features::{classes, map_features};

/// Chi-squared statistic of each feature against the classes (Eq. 82 of Li et al. 2016), on the table of bins × classes:
///
/// ```text
/// χ² = Σ (observed − expected)² / expected,   expected = row total · column total / n
/// ```
///
/// without continuity correction. Numeric features are cut into bins of equal width over their range; categories are taken
/// as they are. 0 for a constant feature. The p-value has (rows − 1)(columns − 1) degrees of freedom, counting rows and
/// columns that occur. Cost: `O(n)` a feature.
///
/// # Errors
/// A target that is not classes; fewer than two bins; a NaN or an infinity, naming the cell; sample weights.
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
    /// Number of bins of a numeric feature, at least 2. Default 5.
    pub bins: usize,
}

impl Default for ChiSquare {
    fn default() -> Self {
        Self { bins: 5 }
    }
}

impl Scorer for ChiSquare {
    fn score(&self, data: &Dataset, context: &Context<'_>) -> Result<Scores, Error> {
        unweighted(data, "chi2")?;
        if self.bins < 2 || self.bins > u32::MAX as usize {
            return Err(Error::parameter("bins", self.bins, "at least 2"));
        }
        let order = ClassOrder::new(classes(data, "chi2")?)?;
        let scored = map_features(data, context, "chi-squared", |j, column| {
            let values = column.to_vec(order.n_samples());
            // Empty bins are no rows of the table, so codes are those of the bins that occur.
            let (levels, n_levels) = match data.feature_kind(j) {
                FeatureKind::Categorical { .. } => level_codes(&values),
                _ => {
                    let bins: Vec<f64> =
                        equal_width_codes(&values, self.bins).into_iter().map(f64::from).collect();
                    level_codes(&bins)
                }
            };
            let table = contingency(&levels, n_levels, order.codes(), order.counts.len());
            let statistic = chi_squared(&table, n_levels, &order.counts);
            let freedom = (n_levels.saturating_sub(1) * (order.counts.len() - 1)) as f64;
            Ok((statistic, tails::chi_squared(statistic, freedom)))
        })?;
        let (values, p_values): (Vec<f64>, Vec<f64>) = scored.into_iter().unzip();
        let mut scores = Scores::descending(values);
        scores.p_values = Some(p_values);
        Ok(scores)
    }
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

/// The bin of each value among `bins` of equal width over the range; the last one is closed. A constant has one bin.
fn equal_width_codes(values: &[f64], bins: usize) -> Vec<u32> {
    let smallest = values.iter().copied().fold(f64::INFINITY, f64::min);
    let largest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if largest <= smallest {
        return vec![0; values.len()];
    }
    let last = (bins - 1) as u32;
    let whole = largest - smallest;
    let share = |value: f64| {
        if whole.is_finite() {
            bins as f64 * ((value - smallest) / whole)
        } else {
            // Halves, so that the widest range is a number.
            bins as f64 * ((0.5 * value - 0.5 * smallest) / (0.5 * largest - 0.5 * smallest))
        }
    };
    values.iter().map(|&value| (share(value).floor() as u32).min(last)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// n_bins = 5 gives 5 bins, with the maximum in the last (an error elsewhere: 4 bins and a singleton).
    #[test]
    fn bins_have_equal_width_and_the_last_is_closed() {
        let values: Vec<f64> = (0..=10).map(f64::from).collect();
        assert_eq!(equal_width_codes(&values, 5), [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 4]);
        assert_eq!(equal_width_codes(&[2.0; 3], 5), [0; 3]);
        assert_eq!(equal_width_codes(&[f64::MIN, 0.0, f64::MAX], 2), [0, 1, 1]);
        assert_eq!(equal_width_codes(&[0.0, f64::from_bits(1)], 2), [0, 1]);
    }
}
