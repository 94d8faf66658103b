//! Relief as first published.

use fewest_core::method::Options;
use fewest_core::{Context, Dataset, Error, Scorer, Scores};
use fewest_neighbours::{DistanceMetric, nearest_among};

use super::classes::ByClass;
use super::instances::Instances;

/// Relief for two classes (Kira and Rendell 1992; survey Eq. 23 without its factor ½),
///
/// ```text
/// W_j = 1/n Σ_i [ diff(j; i, miss(i))² − diff(j; i, hit(i))² ]
/// ```
///
/// over all samples `i`, with the nearest other sample of the same class and the nearest of the other class
/// by Euclidean distance of features scaled by their range; a categorical feature differs by 0 or 1. The
/// survey's definitions of hit and miss are exchanged; here they are as in the original.
///
/// In `[−1, 1]`, larger is better, 0 for a constant feature. [`Relieff`](super::Relieff) looks at more than
/// one neighbour, which noise disturbs less. Cost and memory as there.
///
/// # Errors
/// A target that is not classes, or other than two classes with samples.
///
/// ```
/// use fewest_core::{Context, Dataset, DenseColumns, Scorer, Target};
/// use fewest_filters::similarity::Relief;
///
/// let x = DenseColumns::from_columns(&[vec![0.0, 0.1, 1.0, 0.9], vec![0.0, 1.0, 0.1, 0.9]])?;
/// let data = Dataset::new(x, Target::from_labels(&["a", "a", "b", "b"]))?;
/// let scores = Relief.score(&data, &Context::default())?;
/// assert!(scores.values[0] > 0.5 && scores.values[1] < 0.0);
/// # Ok::<(), fewest_filters::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Relief;

impl Options for Relief {}

impl Scorer for Relief {
    fn score(&self, data: &Dataset, context: &Context<'_>) -> Result<Scores, Error> {
        data.refuse_sample_weights("relief")?;
        let classes = ByClass::new(data, "relief")?;
        if classes.len() > 2 {
            return Err(Error::Unsupported {
                method: "relief",
                what: format!("a target of {} classes", classes.len()),
                instead: "use relieff, which takes any number of classes".to_owned(),
            });
        }
        let instances = Instances::new(data, DistanceMetric::SquaredEuclidean, context)?;
        let summed = instances.weighted_differences(context, |i, row| {
            classes.neighbours(i, |members| {
                let others = members.iter().copied().filter(|r| *r != i);
                nearest_among(row, others, 1).into_iter().map(|(_, r)| r).collect()
            })
        })?;
        Ok(Scores::descending(summed.features.into_iter().map(|[weight]| weight).collect()))
    }
}
