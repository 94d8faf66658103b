//! Features that no better feature repeats.

use fewest_core::method::Options;
use fewest_core::{
    Budget, Context, Dataset, Error, FeatureKind, Scorer, Selection, Selector, Status, Target, options,
};
use fewest_counts::discretisation::categories;

use super::{FScore, Variance, removed_constants};
use fewest_columns::moments::{ROUNDING, unit};
use fewest_linalg::dot;

/// Features compared with those kept at a time.
const BLOCK: usize = 64;

/// Scores that differ by less than this share of them are equal, as those of linear copies are but for
/// rounding.
const SAME_SCORE: f64 = 1e-9;

options! {
    /// Removes constant, repeated and highly correlated features: walks down from the best feature and keeps
    /// each whose absolute correlation with every feature kept before is at most `threshold`.
    ///
    /// Best is by [`FScore`] with the target, or by [`Variance`] without one; those are the scores told.
    /// Between a categorical feature and a numeric one the correlation is the ratio η, between two
    /// categorical ones Cramér's V: all are `√(‖QₐᵀQ_b‖² / min(dimensions))` of orthonormal bases of the
    /// centred indicators. A threshold of 1 removes only what is a linear copy.
    ///
    /// Cost: `O(n)` for each pair of a kept feature and one that is looked at; memory `O(n)` a kept feature.
    ///
    /// # Errors
    /// A threshold outside (0, 1]; a target that [`FScore`] does not know; a NaN or an infinity, naming the
    /// cell.
    ///
    /// ```
    /// use fewest_core::{Budget, Context, Dataset, DenseColumns, Selector, Target};
    /// use fewest_filters::statistical::Uncorrelated;
    ///
    /// let a = vec![1.0, 2.0, 3.0, 4.0];
    /// let copy = a.iter().map(|x| 7.0 - 0.5 * x).collect();
    /// let x = DenseColumns::from_columns(&[vec![5.0; 4], copy, a, vec![0.0, 1.0, 1.0, 0.0]])?;
    /// let data = Dataset::new(x, Target::None)?;
    /// let kept = Uncorrelated::default().select(&data, Budget::Auto, &Context::default())?;
    /// assert_eq!(kept.order, [2, 3]);
    /// # Ok::<(), fewest_filters::Error>(())
    /// ```
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct Uncorrelated {
        /// Largest absolute correlation allowed between chosen features; 1 removes linear copies only.
        pub threshold: f64 = 0.95, Fraction;
    }
}

/// A feature as centred columns that are orthonormal but for their mean: one, or one a level.
struct Basis {
    columns: Vec<Vec<f64>>,
    dimensions: f64,
}

impl Basis {
    /// Of values that are not all equal.
    fn new(values: &[f64], kind: &FeatureKind) -> Self {
        if let FeatureKind::Categorical { .. } = kind {
            let levels = categories(values);
            let codes = levels.codes;
            let columns = (0..levels.n_levels as u32)
                .map(|level| {
                    let count = codes.iter().filter(|&&other| other == level).count() as f64;
                    let (inside, share) = (count.sqrt().recip(), count.sqrt() / values.len() as f64);
                    codes.iter().map(|&other| if other == level { inside - share } else { -share }).collect()
                })
                .collect();
            return Self { columns, dimensions: levels.n_levels.saturating_sub(1) as f64 };
        }
        Self { columns: vec![unit(values)], dimensions: 1.0 }
    }

    fn squared_correlation(&self, other: &Basis) -> f64 {
        let products: f64 =
            self.columns.iter().flat_map(|a| other.columns.iter().map(|b| dot(a, b).powi(2))).sum();
        products / self.dimensions.min(other.dimensions)
    }
}

impl Selector for Uncorrelated {
    fn select(&self, data: &Dataset, budget: Budget, context: &Context<'_>) -> Result<Selection, Error> {
        let d = data.n_features();
        budget.check(d)?;
        data.refuse_sample_weights("uncorrelated")?;
        self.check()?;
        let scores = match data.target() {
            Target::None => Variance.score(data, context)?,
            _ => FScore.score(data, context)?,
        };
        let constant = data.constant_features()?;
        let mut order = scores.ranking();
        // The first of several copies stays, whatever rounding makes of their scores.
        let is_tie = |a: &usize, b: &usize| {
            (scores.values[*a] - scores.values[*b]).abs() <= SAME_SCORE * scores.values[*a].abs()
        };
        order.chunk_by_mut(is_tie).for_each(<[usize]>::sort_unstable);
        order.retain(|j| constant.binary_search(j).is_err());
        let walked = order.len();
        if let Budget::Threshold(least) = budget {
            order.retain(|&j| scores.values[j] >= least);
        }
        let most = if let Budget::Count(k) = budget { k } else { d };
        let limit = self.threshold.min(1.0 - ROUNDING).powi(2);

        let mut kept: Vec<(usize, Basis)> = Vec::new();
        let mut status = Status::Converged;
        let mut seen = 0;
        for block in order.chunks(BLOCK) {
            if kept.len() >= most {
                break;
            }
            if let Some(stopped) = context.stopped() {
                if kept.is_empty() {
                    return Err(Error::Stopped { before: "a feature was kept" });
                }
                status = stopped;
                break;
            }
            let fresh = fewest_parallel::try_map(block.len(), |at| {
                let j = block[at];
                let mut values = vec![0.0; data.n_samples()];
                data.x().copy_column(j, &mut values)?;
                let basis = Basis::new(&values, data.feature_kind(j));
                let repeated = kept.iter().any(|(_, other)| basis.squared_correlation(other) > limit);
                Ok::<_, Error>((!repeated).then_some((j, basis)))
            })?;
            let before = kept.len();
            for fresh in fresh {
                let Some((j, basis)) = fresh else { continue };
                let own = &kept[before..];
                if kept.len() < most && !own.iter().any(|(_, other)| basis.squared_correlation(other) > limit)
                {
                    kept.push((j, basis));
                }
            }
            seen += block.len();
            context.report("correlations between features", seen, walked);
        }
        let order: Vec<usize> = kept.into_iter().map(|(j, _)| j).collect();
        let values = order.iter().map(|&j| scores.values[j]).collect();
        let mut selection = Selection::new(order, values, d, status);
        selection.notes.extend(removed_constants(constant.len()));
        selection.note_missing_features(budget, "the others repeat those");
        Ok(selection)
    }
}
