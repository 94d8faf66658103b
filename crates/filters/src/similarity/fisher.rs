//! Fisher score.

use fewest_core::method::Options;
use fewest_core::{
    Context, Dataset, Error, RunningScorer, RunningScores, SampleStream, Scorer, Scores, StreamScorer,
};

use super::scatter::{Scatter, stream_scatters};
use crate::statistical::classes::{ClassTable, running_sums, unordered_sums};
use crate::unordered::{Unordered, UnorderedScorer};
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
        let table = ClassTable::new(data, "fisher")?;
        let (values, status) = score_features(data, context, "fisher", f64::NAN, |j, column| {
            Ok(table.scatter(j, column, data.feature_kind(j))?.ratio())
        })?;
        Ok(Scores::descending(values).with_status(status))
    }

    fn in_passes(&self) -> Option<&dyn StreamScorer> {
        Some(self)
    }
}

impl StreamScorer for FisherScore {
    fn score_part(&self, stream: &mut dyn SampleStream, context: &Context<'_>) -> Result<Scores, Error> {
        Ok(of_scatters(stream_scatters(stream, "fisher", context)?))
    }

    fn reads_parts(&self) -> bool {
        true
    }
}

impl RunningScorer for FisherScore {
    fn running(&self) -> Result<Box<dyn RunningScores>, Error> {
        // Sums that are safe are those of values as they are.
        let scores =
            |sums: Vec<_>| Ok(of_scatters(sums.into_iter().map(|sums| Scatter::of((sums, 1.0))).collect()));
        Ok(running_sums("fisher", scores))
    }
}

impl UnorderedScorer for FisherScore {
    fn score_unordered(&self, sums: &Unordered) -> Result<Scores, Error> {
        let sums = unordered_sums(sums, "fisher")?;
        Ok(of_scatters(vec![Scatter::of(sums)]))
    }
}

fn of_scatters(scatters: Vec<Scatter>) -> Scores {
    Scores::descending(scatters.iter().map(Scatter::ratio).collect())
}
