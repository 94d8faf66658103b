//! Kruskal–Wallis test.

use fewest_core::method::Options;
use fewest_core::{Column, Context, Dataset, Error, FeatureKind, Scorer, Scores};
use fewest_counts::discretisation::categories;

use super::classes::{ClassOrder, ClassTable};
use super::levels::ranks;
use super::{NO_TEST, UNKNOWN, tails, tested};
use fewest_columns::score_features;

/// H of Kruskal and Wallis (1952): one-way analysis of variance of the ranks,
///
/// ```text
/// H = (n − 1) Σⱼ nⱼ (r̄ⱼ − r̄)² / Σ (r − r̄)²
/// ```
///
/// where equal values share the mean of their ranks (the usual correction for ties is in the denominator).
/// Nothing but the order of values counts, so outliers do no harm. The p-value is that of χ² with `c − 1`
/// degrees of freedom. 0 for a constant feature. A categorical feature of more than two levels has no order
/// and gets no score. Cost: `O(n log n)` a feature.
///
/// # Errors
/// A target that is not classes; a NaN or an infinity, naming the cell; sample weights.
///
/// ```
/// use fewest_core::{Context, Dataset, DenseColumns, Scorer, Target};
/// use fewest_filters::statistical::KruskalWallis;
///
/// let x = DenseColumns::from_columns(&[vec![1.0, 2.0, 30.0, 1e9], vec![5.0; 4]])?;
/// let data = Dataset::new(x, Target::from_labels(&["a", "a", "b", "b"]))?;
/// let scores = KruskalWallis.score(&data, &Context::default())?;
/// assert!((scores.values[0] - 2.4).abs() < 1e-12);
/// assert_eq!(scores.values[1], 0.0);
/// # Ok::<(), fewest_filters::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct KruskalWallis;

impl Options for KruskalWallis {}

impl Scorer for KruskalWallis {
    fn score(&self, data: &Dataset, context: &Context<'_>) -> Result<Scores, Error> {
        data.refuse_sample_weights("kruskal-wallis")?;
        let order = ClassOrder::new(data.classes("kruskal-wallis")?)?;
        let table = ClassTable::new(data, "kruskal-wallis")?;
        let n = order.n_samples();
        let freedom = (order.counts.len() - 1) as f64;
        let (scored, status) = score_features(data, context, "Kruskal–Wallis", UNKNOWN, |j, column| {
            let values = column.to_vec(n);
            if matches!(data.feature_kind(j), FeatureKind::Categorical { .. })
                && categories(&values).n_levels > 2
            {
                return Ok((f64::NAN, NO_TEST));
            }
            let spread = table.spread(j, Column::Dense(&ranks(&values)), &FeatureKind::Numeric)?;
            if spread.is_constant() {
                return Ok((0.0, NO_TEST));
            }
            let total = spread.between + spread.within.iter().sum::<f64>();
            let h = if spread.between == 0.0 { 0.0 } else { (n as f64 - 1.0) * spread.between / total };
            Ok((h, tails::chi_squared(h, freedom)))
        })?;
        Ok(tested(scored).with_status(status))
    }
}
