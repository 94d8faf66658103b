//! k-means clustering.

use fewest_core::{Columns, Context, Dataset, Error, derive_seed};
use fewest_machines::{Encoding, Points, squared_distance};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

use super::{Model, Predictions};

/// k-means on standardised features: Lloyd's iteration from centres drawn by k-means++ (Arthur and
/// Vassilvitskii 2007), several times; the clustering with the smallest sum of squared distances is kept.
///
/// The target is not used. Ties go to the cluster with the lower number; a cluster that loses all its
/// samples restarts at the sample farthest from its centre. Predictions are cluster numbers. `O(n k d)` per
/// iteration.
///
/// ```
/// use fewest_core::{Context, Dataset, DenseColumns, Target};
/// use fewest_eval::KMeans;
///
/// let x = DenseColumns::from_columns(&[vec![0.0, 0.1, 0.2, 5.0, 5.1, 5.2]])?;
/// let model = KMeans::new(2).train(&Dataset::new(x, Target::None)?, &Context::seeded(1))?;
/// assert_eq!(model.clusters[..3], [model.clusters[0]; 3]);
/// assert_ne!(model.clusters[0], model.clusters[5]);
/// # Ok::<(), fewest_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KMeans {
    /// Number of clusters: at least 1, at most the number of samples.
    pub clusters: usize,
    /// Number of starts, at least 1. Default 10.
    pub restarts: usize,
    /// Iterations allowed for each start, at least 1. Default 300.
    pub max_iterations: usize,
}

/// A fitted [`KMeans`].
pub struct KMeansModel {
    /// The cluster of each training sample.
    pub clusters: Vec<u32>,
    /// The sum of squared distances of the training samples to their centres.
    pub inertia: f64,
    encoding: Encoding,
    centres: Points,
}

struct Run {
    centres: Points,
    clusters: Vec<u32>,
    inertia: f64,
}

impl KMeans {
    /// With this number of clusters and default values.
    pub fn new(clusters: usize) -> Self {
        Self { clusters, restarts: 10, max_iterations: 300 }
    }

    /// [`Learner::fit`](crate::Learner::fit), with the model's own type.
    ///
    /// # Errors
    /// For parameters out of range or values that are not finite.
    pub fn train(&self, data: &Dataset, context: &Context<'_>) -> Result<KMeansModel, Error> {
        let n_samples = data.n_samples();
        if self.clusters == 0 || self.clusters > n_samples {
            let expected = format!("at least 1 and at most the number of samples, {n_samples}");
            return Err(Error::parameter("clusters", self.clusters, expected));
        }
        for (name, value) in [("restarts", self.restarts), ("max_iterations", self.max_iterations)] {
            if value == 0 {
                return Err(Error::parameter(name, 0, "at least 1"));
            }
        }
        let encoding = Encoding::fit(data)?;
        let points = encoding.encode(data.x())?;
        let mut best = self.run(&points, derive_seed(context.seed, 0));
        for restart in 1..self.restarts {
            context.go_on("every start of k-means was made")?;
            let run = self.run(&points, derive_seed(context.seed, restart as u64));
            if run.inertia < best.inertia {
                best = run;
            }
        }
        let Run { centres, clusters, inertia } = best;
        Ok(KMeansModel { clusters, inertia, encoding, centres })
    }

    fn run(&self, points: &Points, seed: u64) -> Run {
        let mut centres = first_centres(points, self.clusters, &mut ChaCha8Rng::seed_from_u64(seed));
        let mut nearest = assign(points, &centres);
        for _ in 0..self.max_iterations {
            move_centres(points, &nearest, &mut centres);
            let next = assign(points, &centres);
            let done = next.iter().zip(&nearest).all(|(a, b)| a.0 == b.0);
            nearest = next;
            if done {
                break;
            }
        }
        let inertia = nearest.iter().map(|(_, distance)| distance).sum();
        Run { centres, clusters: nearest.into_iter().map(|(cluster, _)| cluster as u32).collect(), inertia }
    }
}

/// The nearest centre of each point, and the squared distance to it.
fn assign(points: &Points, centres: &Points) -> Vec<(usize, f64)> {
    let nearest = |i: usize| {
        let mut best = (0, f64::INFINITY);
        for c in 0..centres.n_samples {
            let distance = squared_distance(points.point(i), centres.point(c));
            if distance < best.1 {
                best = (c, distance);
            }
        }
        best
    };
    (0..points.n_samples).map(nearest).collect()
}

/// k-means++: each centre a point drawn with probability proportional to its squared distance from the
/// centres so far.
fn first_centres(points: &Points, clusters: usize, generator: &mut ChaCha8Rng) -> Points {
    let first = generator.random_range(0..points.n_samples);
    let mut values = points.point(first).to_vec();
    let mut distances: Vec<f64> =
        (0..points.n_samples).map(|i| squared_distance(points.point(i), points.point(first))).collect();
    for _ in 1..clusters {
        let mut rest = generator.random::<f64>() * distances.iter().sum::<f64>();
        // If rounding moves the draw past the end, the last point at a positive distance; any if all points
        // coincide.
        let mut chosen = distances.iter().rposition(|distance| *distance > 0.0).unwrap_or(0);
        for (i, distance) in distances.iter().enumerate() {
            if rest < *distance {
                chosen = i;
                break;
            }
            rest -= distance;
        }
        values.extend_from_slice(points.point(chosen));
        for (i, distance) in distances.iter_mut().enumerate() {
            *distance = distance.min(squared_distance(points.point(i), points.point(chosen)));
        }
    }
    Points { values, n_samples: clusters, width: points.width }
}

/// Moves each centre to the mean of its points; one without points to the point farthest from its centre.
fn move_centres(points: &Points, nearest: &[(usize, f64)], centres: &mut Points) {
    let width = points.width;
    let mut sums = vec![0.0; centres.values.len()];
    let mut counts = vec![0_usize; centres.n_samples];
    for (i, &(c, _)) in nearest.iter().enumerate() {
        counts[c] += 1;
        for (sum, value) in sums[c * width..(c + 1) * width].iter_mut().zip(points.point(i)) {
            *sum += value;
        }
    }
    let mut distances: Vec<f64> = nearest.iter().map(|(_, distance)| *distance).collect();
    for (c, &count) in counts.iter().enumerate() {
        let centre = &mut centres.values[c * width..(c + 1) * width];
        if count > 0 {
            for (value, sum) in centre.iter_mut().zip(&sums[c * width..(c + 1) * width]) {
                *value = sum / count as f64;
            }
        } else {
            let farthest =
                (0..distances.len()).fold(0, |best, i| if distances[i] > distances[best] { i } else { best });
            centre.copy_from_slice(points.point(farthest));
            distances[farthest] = 0.0;
        }
    }
}

impl Model for KMeansModel {
    fn predict(&self, x: &dyn Columns) -> Result<Predictions, Error> {
        let points = self.encoding.encode(x)?;
        let nearest = assign(&points, &self.centres);
        Ok(Predictions::Classes(nearest.into_iter().map(|(cluster, _)| cluster as u32).collect()))
    }

    fn facts(&self) -> Vec<(&'static str, f64)> {
        vec![("inertia", self.inertia)]
    }
}
