//! A learner outside the repository of fewest.

use fewest_core::method::{Options, TargetKind};
use fewest_core::{Columns, Context, Dataset, Error, Target, options};
use fewest_eval::{Learner, LearnerEntry, Model, Predictions};

options! {
    /// The class whose mean, drawn towards the mean of all samples, is nearest; the lowest code of several.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct NearestCentroid {
        /// How far the means of the classes are drawn towards that of all samples.
        pub shrinkage: f64 = 0.0, BelowOne;
    }
}

/// The means of the classes that occur.
struct Centroids {
    classes: Vec<(u32, Vec<f64>)>,
    n_features: usize,
}

impl Learner for NearestCentroid {
    fn name(&self) -> &'static str {
        "nearest-centroid"
    }

    fn fit(&self, data: &Dataset, _context: &Context<'_>) -> Result<Box<dyn Model>, Error> {
        self.check()?;
        let Target::Class(target) = data.target() else {
            let (method, expected) = (self.name(), "classes");
            return Err(Error::UnsupportedTarget { method, expected, found: data.target().describe() });
        };
        let counts = target.counts();
        let mut classes: Vec<(u32, Vec<f64>)> =
            (0..counts.len()).filter(|&c| counts[c] > 0).map(|c| (c as u32, Vec::new())).collect();
        let mut column = vec![0.0; data.n_samples()];
        for j in 0..data.n_features() {
            data.x().copy_column(j, &mut column)?;
            data.check_finite(j, &column)?;
            let overall = column.iter().sum::<f64>() / data.n_samples() as f64;
            for (class, means) in &mut classes {
                let own = column.iter().zip(target.codes()).filter(|(_, code)| *code == class);
                let mean = own.map(|(value, _)| value).sum::<f64>() / counts[*class as usize] as f64;
                means.push(mean + self.shrinkage * (overall - mean));
            }
        }
        Ok(Box::new(Centroids { classes, n_features: data.n_features() }))
    }
}

impl Model for Centroids {
    fn predict(&self, x: &dyn Columns) -> Result<Predictions, Error> {
        if x.n_features() != self.n_features {
            let (expected, found) = (self.n_features, x.n_features());
            return Err(Error::ShapeMismatch { what: "features", expected, found });
        }
        let n = x.n_samples();
        let mut distances = vec![vec![0.0; n]; self.classes.len()];
        let mut column = vec![0.0; n];
        for j in 0..self.n_features {
            x.copy_column(j, &mut column)?;
            for ((_, means), distances) in self.classes.iter().zip(&mut distances) {
                for (distance, value) in distances.iter_mut().zip(&column) {
                    *distance += (value - means[j]).powi(2);
                }
            }
        }
        let class = |i: usize| {
            let mut best = (0, f64::INFINITY);
            for ((class, _), distances) in self.classes.iter().zip(&distances) {
                if distances[i] < best.1 {
                    best = (*class, distances[i]);
                }
            }
            best.0
        };
        Ok(Predictions::Classes((0..n).map(class).collect()))
    }
}

/// The learners of this crate.
pub const LEARNERS: &[LearnerEntry] = &[LearnerEntry::new::<NearestCentroid>(
    "nearest-centroid",
    "nearest mean of a class",
    &[TargetKind::Classes],
)];
