//! Correlation with the target.

use fewest_core::{Column, Context, Dataset, Error, FeatureKind, Scorer, Scores, Target, options, words};
use fewest_counts::discretisation::categories;

use super::levels::ranks;
use super::moments::{Moments, is_safe, magnitude, sum};
use super::{tails, tested};
use crate::features::map_features;

/// A share of unexplained variance up to this is rounding: the target is a function of the feature.
const NOTHING_LEFT: f64 = 1e-15;

words! {
    /// Which correlation.
    #[derive(Default)]
    pub enum Coefficient {
        /// Pearson's: how close to a line.
        #[default]
        Pearson = "pearson",
        /// Spearman's: Pearson's of the ranks, equal values sharing the mean of theirs. How close to
        /// monotone.
        Spearman = "spearman",
    }
}

options! {
    /// Absolute correlation of each feature with a real target or two classes, in `[0, 1]`.
    ///
    /// For a categorical feature it is the correlation ratio η, the square root of the share of the target's
    /// variance that lies between levels; with two levels that is Pearson's. 0 for a constant feature. The
    /// p-value is that of the F test of the regression (for Pearson and one dimension the t test with n − 2
    /// degrees of freedom; for Spearman its usual approximation). Cost: `O(n)` a feature, `O(stored values)`
    /// for sparse ones; Spearman `O(n log n)`.
    ///
    /// # Errors
    /// Another target, one that does not vary, or fewer than three samples; a NaN or an infinity, naming the
    /// cell; sample weights.
    ///
    /// ```
    /// use fewest_core::{Context, Dataset, DenseColumns, Scorer, Target};
    /// use fewest_filters::statistical::{Coefficient, CorrelationScore};
    ///
    /// let x = DenseColumns::from_columns(&[vec![1.0, 2.0, 3.0, 10.0], vec![1.0, -1.0, 1.0, -1.0]])?;
    /// let data = Dataset::new(x, Target::real(vec![-1.0, -2.0, -3.0, -4.0])?)?;
    /// let scores = CorrelationScore { coefficient: Coefficient::Spearman }.score(&data, &Context::default())?;
    /// assert_eq!(scores.values[0], 1.0);
    /// assert!(scores.values[1] < 0.5);
    /// # Ok::<(), fewest_filters::Error>(())
    /// ```
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct CorrelationScore {
        /// Pearson: how close to a line; spearman: how close to monotone.
        pub coefficient: Coefficient = Coefficient::Pearson;
    }
}

impl Scorer for CorrelationScore {
    fn score(&self, data: &Dataset, context: &Context<'_>) -> Result<Scores, Error> {
        data.refuse_sample_weights("correlation")?;
        let mut target = match data.target() {
            Target::Real(outputs) if outputs.n_outputs() == 1 => outputs.output(0).to_vec(),
            Target::Class(classes) if classes.n_classes() == 2 => {
                classes.codes().iter().map(|&code| f64::from(code)).collect()
            }
            other => {
                return Err(Error::UnsupportedTarget {
                    method: "correlation",
                    expected: "one real output or two classes",
                    found: other.describe(),
                });
            }
        };
        let by_rank = self.coefficient == Coefficient::Spearman;
        if by_rank {
            target = ranks(&target);
        }
        let regression = Regression::new(&target, "correlation")?;
        let n = data.n_samples();
        let scored = map_features(data, context, "correlation", |j, column| {
            let kind = data.feature_kind(j);
            let (explained, dimensions) = if by_rank && *kind == FeatureKind::Numeric {
                regression.explained(Column::Dense(&ranks(&column.to_vec(n))), kind)
            } else {
                regression.explained(column, kind)
            };
            let freedom = n as f64 - 1.0 - dimensions;
            let p = if explained == 0.0 {
                1.0
            } else if freedom <= 0.0 {
                f64::NAN
            } else {
                tails::fisher_snedecor(
                    explained / dimensions / ((1.0 - explained) / freedom),
                    dimensions,
                    freedom,
                )
            };
            Ok((explained.sqrt(), p))
        })?;
        Ok(tested(scored))
    }
}

/// A real target, ready to be explained by one feature at a time.
pub(super) struct Regression {
    centred: Vec<f64>,
    squared_norm: f64,
}

impl Regression {
    pub(super) fn new(target: &[f64], method: &'static str) -> Result<Self, Error> {
        if target.len() < 3 {
            return Err(Error::TooFew { what: "samples", minimum: 3, found: target.len() });
        }
        let largest = magnitude(target);
        let scaled: Vec<f64> = target.iter().map(|value| value / largest).collect();
        let moments = Moments::new(&scaled, 0);
        if target.iter().all(|value| *value == target[0]) {
            return Err(Error::UnsupportedTarget {
                method,
                expected: "values that vary",
                found: format!("{} in every sample", target[0]),
            });
        }
        let centred: Vec<f64> = scaled.iter().map(|value| value - moments.mean()).collect();
        let squared_norm = sum(&centred, |value| value * value);
        Ok(Self { centred, squared_norm })
    }

    /// The share of the target's variance that the feature explains, and its dimensions: 1, or the number of
    /// levels less 1. Both 0 for a constant feature.
    pub(super) fn explained(&self, column: Column<'_>, kind: &FeatureKind) -> (f64, f64) {
        let n = self.centred.len();
        let (explained, dimensions) = match kind {
            FeatureKind::Categorical { .. } => self.between_levels(&column.to_vec(n)),
            _ => {
                let moments = Moments::of(column, n);
                if is_safe(moments.deviations) {
                    (self.along(column, &moments), 1.0)
                } else {
                    let mut values = column.to_vec(n);
                    let largest = magnitude(&values);
                    values.iter_mut().for_each(|value| *value /= largest);
                    (self.along(Column::Dense(&values), &Moments::new(&values, 0)), 1.0)
                }
            }
        };
        let share = explained / self.squared_norm;
        if dimensions == 0.0 || share.is_nan() {
            (0.0, 0.0)
        } else if share >= 1.0 - NOTHING_LEFT {
            (1.0, dimensions)
        } else {
            (share, dimensions)
        }
    }

    /// `⟨x − mean, y⟩² / ‖x − mean‖²`; NaN for a constant feature.
    fn along(&self, column: Column<'_>, moments: &Moments) -> f64 {
        let mean = moments.mean();
        let product = match column {
            Column::Dense(values) => dot_centred(values, mean, &self.centred),
            // The target is centred: what the unstored zeros add is minus what the stored values miss.
            Column::Sparse { rows, values } => {
                rows.iter().zip(values).map(|(&row, value)| value * self.centred[row]).sum()
            }
        };
        if moments.deviations == 0.0 { f64::NAN } else { product * product / moments.deviations }
    }

    fn between_levels(&self, values: &[f64]) -> (f64, f64) {
        let levels = categories(values);
        let (mut sums, mut counts) = (vec![0.0; levels.n_levels], vec![0.0; levels.n_levels]);
        for (&level, y) in levels.codes.iter().zip(&self.centred) {
            sums[level as usize] += y;
            counts[level as usize] += 1.0;
        }
        let explained = sums.iter().zip(&counts).map(|(sum, count): (&f64, &f64)| sum * sum / count).sum();
        (explained, levels.n_levels.saturating_sub(1) as f64)
    }
}

/// `Σ (x − mean) y`.
fn dot_centred(values: &[f64], mean: f64, y: &[f64]) -> f64 {
    let mut lanes = [0.0; 8];
    let (chunks, others) = (values.chunks_exact(8), y.chunks_exact(8));
    let rest: f64 = chunks.remainder().iter().zip(others.remainder()).map(|(x, y)| (x - mean) * y).sum();
    for (x, y) in chunks.zip(others) {
        for ((lane, x), y) in lanes.iter_mut().zip(x).zip(y) {
            *lane += (x - mean) * y;
        }
    }
    lanes.iter().sum::<f64>() + rest
}
