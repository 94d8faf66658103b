//! Variance.

use fewest_core::{Context, Dataset, Error, FeatureKind, Scorer, Scores};
use fewest_counts::discretisation::categories;

use super::moments::{Moments, is_safe, magnitude};
use crate::features::map_features;

/// Variance of each feature, `1/n Σ (x − mean)²`: unsupervised, in the square of the feature's unit.
///
/// 0 for a constant feature. `½ (1 − Σ p²)` for a categorical one with level shares `p`, which is the variance of
/// its code when it has two levels. Cost: `O(n)` a feature, `O(stored values)` for sparse ones.
///
/// # Errors
/// A NaN or an infinity, naming the cell; sample weights.
///
/// ```
/// use fewest_core::{Context, Dataset, DenseColumns, Scorer, Target};
/// use fewest_filters::statistical::Variance;
///
/// let x = DenseColumns::from_columns(&[vec![1.0, 1.0, 1.0], vec![0.0, 3.0, 6.0]])?;
/// let scores = Variance.score(&Dataset::new(x, Target::None)?, &Context::default())?;
/// assert_eq!(scores.values, [0.0, 6.0]);
/// # Ok::<(), fewest_filters::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Variance;

impl Scorer for Variance {
    fn score(&self, data: &Dataset, context: &Context<'_>) -> Result<Scores, Error> {
        data.refuse_sample_weights("variance")?;
        let n = data.n_samples();
        let values = map_features(data, context, "variance", |j, column| {
            if let FeatureKind::Categorical { .. } = data.feature_kind(j) {
                let levels = categories(&column.to_vec(n));
                let mut counts = vec![0.0; levels.n_levels()];
                levels.codes().iter().for_each(|&level| counts[level as usize] += 1.0);
                let pairs: f64 = counts.iter().map(|count| count * (n as f64 - count)).sum();
                return Ok(0.5 * pairs / (n as f64 * n as f64));
            }
            let deviations = Moments::of(column, n).deviations;
            if is_safe(deviations) {
                return Ok(deviations / n as f64);
            }
            let mut values = column.to_vec(n);
            let largest = magnitude(&values);
            values.iter_mut().for_each(|value| *value /= largest);
            Ok(Moments::new(&values, 0).deviations / n as f64 * largest * largest)
        })?;
        Ok(Scores::descending(values))
    }
}
