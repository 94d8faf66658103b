//! Fisher score.

use fewest_core::method::Options;
use fewest_core::{Context, Dataset, Error, Scorer, Scores};

use super::scatter::scatter;
use fewest_columns::score_features;

/// Fisher score of each feature (survey Eq. 8; Duda, Hart and Stork 2001): how far the classes' means lie
/// apart, in units of the spread within classes,
///
/// ```text
/// score(k) = Σ_j n_j (μ_kj − μ_k)² / Σ_j n_j σ²_kj      σ² dividing by n_j
/// ```
///
/// In `[0, ∞]`, larger is better: 0 for a constant feature, infinite where every class has one value. The
/// scale of a feature does not matter. It equals `1/laplacian − 1` on the graph that joins the samples of a
/// class with weight `1/n_j` (Eq. 9 and 10).
///
/// Needs classes. Cost: `O(n)` a feature, `O(stored values)` for a sparse one.
///
/// ```
/// use fewest_core::{Context, Dataset, DenseColumns, Scorer, Target};
/// use fewest_filters::similarity::FisherScore;
///
/// let x = DenseColumns::from_columns(&[vec![0.0, 2.0, 4.0, 6.0], vec![1.0, 5.0, 1.0, 5.0]])?;
/// let data = Dataset::new(x, Target::from_labels(&["a", "a", "b", "b"]))?;
/// assert_eq!(FisherScore.score(&data, &Context::default())?.values, [4.0, 0.0]);
/// # Ok::<(), fewest_filters::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct FisherScore;

impl Options for FisherScore {}

impl Scorer for FisherScore {
    fn score(&self, data: &Dataset, context: &Context<'_>) -> Result<Scores, Error> {
        data.refuse_sample_weights("fisher")?;
        let classes = data.classes("fisher")?;
        let (values, status) = score_features(data, context, "fisher", f64::NAN, |j, column| {
            Ok(scatter(column, data.feature_kind(j), classes).ratio())
        })?;
        Ok(Scores::descending(values).with_status(status))
    }
}
