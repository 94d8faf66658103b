//! SURF and MultiSURF: neighbours by distance instead of by number.

use fewest_core::method::Options;
use fewest_core::{Context, Dataset, Error, Scorer, Scores};
use fewest_neighbours::DistanceMetric;

use super::classes::ByClass;
use super::instances::Instances;

/// Spatially uniform ReliefF (Greene, Penrod, Kiralis and Moore 2009): [`Relieff`](super::Relieff) whose
/// neighbours are all samples nearer than the mean distance over all pairs. There is no number of neighbours
/// to choose.
///
/// In `[−1, 1]`, larger is better, 0 for a constant feature. Several classes count as in ReliefF. Cost and
/// memory as there; the distances are computed twice where they do not fit.
///
/// # Errors
/// A target that is not classes, or a single class with samples.
///
/// ```
/// use fewest_core::{Context, Dataset, DenseColumns, Scorer, Target};
/// use fewest_filters::similarity::Surf;
///
/// let x = DenseColumns::from_columns(&[vec![0.0, 0.1, 1.0, 0.9], vec![0.4, 0.6, 0.5, 0.45]])?;
/// let data = Dataset::new(x, Target::from_labels(&["a", "a", "b", "b"]))?;
/// assert_eq!(Surf.score(&data, &Context::default())?.ranking(), [0, 1]);
/// # Ok::<(), fewest_filters::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Surf;

impl Options for Surf {}

/// MultiSURF (Urbanowicz, Olson, Schmitt, Meeker and Moore 2018): [`Surf`] with a threshold for every sample,
/// the mean of its distances to all others less half their standard deviation. A sample in a sparse region
/// has neighbours too, and one in a dense region not too many.
///
/// In `[−1, 1]`, larger is better, 0 for a constant feature. Cost, memory and errors as for [`Surf`], but the
/// distances are computed once.
///
/// ```
/// use fewest_core::{Context, Dataset, DenseColumns, Scorer, Target};
/// use fewest_filters::similarity::MultiSurf;
///
/// let x = DenseColumns::from_columns(&[vec![0.0, 0.1, 1.0, 0.9], vec![0.4, 0.6, 0.5, 0.45]])?;
/// let data = Dataset::new(x, Target::from_labels(&["a", "a", "b", "b"]))?;
/// assert_eq!(MultiSurf.score(&data, &Context::default())?.values.len(), 2);
/// # Ok::<(), fewest_filters::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MultiSurf;

impl Options for MultiSurf {}

impl Scorer for Surf {
    fn score(&self, data: &Dataset, context: &Context<'_>) -> Result<Scores, Error> {
        data.refuse_sample_weights("surf")?;
        let classes = ByClass::new(data, "surf")?;
        let instances = Instances::new(data, DistanceMetric::Manhattan, context)?;
        let n = data.n_samples() as f64;
        let sums =
            instances.distances().map_rows(0..data.n_samples(), context, |_, row| row.iter().sum::<f64>())?;
        let mean = sums.iter().sum::<f64>() / (n * (n - 1.0));
        within(&classes, &instances, context, |_, _| mean)
    }
}

impl Scorer for MultiSurf {
    fn score(&self, data: &Dataset, context: &Context<'_>) -> Result<Scores, Error> {
        data.refuse_sample_weights("multisurf")?;
        let classes = ByClass::new(data, "multisurf")?;
        let instances = Instances::new(data, DistanceMetric::Manhattan, context)?;
        within(&classes, &instances, context, |i, row| {
            let others = row.len() as f64 - 1.0;
            let mean = row.iter().sum::<f64>() / others;
            // The sample itself, at distance 0, is none of the others.
            let squares = row.iter().map(|distance| (distance - mean).powi(2)).sum::<f64>();
            let squares = squares - (row[i] - mean).powi(2);
            mean - 0.5 * (squares.max(0.0) / others).sqrt()
        })
    }
}

/// The scores when the neighbours of a sample are all that are nearer than `threshold(i, distances)`.
fn within(
    classes: &ByClass,
    instances: &Instances<'_>,
    context: &Context<'_>,
    threshold: impl Fn(usize, &[f64]) -> f64 + Sync,
) -> Result<Scores, Error> {
    let summed = instances.weighted_differences(context, |i, row| {
        let threshold = threshold(i, row);
        classes.neighbours(i, |members| {
            members.iter().copied().filter(|&r| r != i && row[r] < threshold).collect()
        })
    })?;
    Ok(Scores::descending(summed.features.into_iter().map(|[weight]| weight).collect()))
}
