//! The nearest neighbours.

use fewest_core::method::Options;
use fewest_core::{Classes, Columns, Context, Dataset, Error, Target, options, order};
use fewest_machines::{Encoding, Points, squared_distance};

use super::{ClassScoring, Learner, Model, Predictions};

options! {
    /// Predicts the most frequent class of the `k` nearest training samples, or the mean of their targets.
    ///
    /// Distances are Euclidean between standardised features, by the training samples' statistics; samples
    /// that differ in a categorical feature are at distance 1 in it. Ties go to the training sample, and to
    /// the class, that comes first. `O(n d)` per prediction.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct NearestNeighbours {
        /// Number of nearest training samples.
        ///
        /// At most the number of training samples.
        pub neighbours: usize = 5, Count(1);
    }
}

struct NeighboursModel {
    neighbours: usize,
    encoding: Encoding,
    points: Points,
    target: Target,
}

impl Learner for NearestNeighbours {
    fn name(&self) -> &'static str {
        "nearest-neighbours"
    }

    fn scoring(&self) -> ClassScoring {
        ClassScoring::Probabilities
    }

    fn fit(&self, data: &Dataset, _context: &Context<'_>) -> Result<Box<dyn Model>, Error> {
        let n_samples = data.n_samples();
        self.check()?;
        if self.neighbours > n_samples {
            let expected = format!("at most the number of training samples, {n_samples}");
            return Err(Error::parameter("neighbours", self.neighbours, expected));
        }
        if !matches!(data.target(), Target::Class(_) | Target::Real(_)) {
            return Err(Error::UnsupportedTarget {
                method: self.name(),
                expected: "classes or a real output",
                found: data.target().describe(),
            });
        }
        let encoding = Encoding::fit(data)?;
        let points = encoding.encode(data.x())?;
        Ok(Box::new(NeighboursModel {
            neighbours: self.neighbours,
            encoding,
            points,
            target: data.target().clone(),
        }))
    }
}

impl NeighboursModel {
    /// The training samples nearest to `point`, in no order.
    fn nearest(&self, point: &[f64]) -> Vec<usize> {
        let mut distances: Vec<(f64, usize)> =
            (0..self.points.n_samples).map(|i| (squared_distance(point, self.points.point(i)), i)).collect();
        let nearer = |a: &(f64, usize), b: &(f64, usize)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
        if self.neighbours < distances.len() {
            distances.select_nth_unstable_by(self.neighbours, nearer);
            distances.truncate(self.neighbours);
        }
        // In the order of samples, so that sums over them are unique.
        let mut nearest: Vec<usize> = distances.into_iter().map(|(_, i)| i).collect();
        order::sort_indices(&mut nearest);
        nearest
    }
}

fn vote(classes: &Classes, samples: &[usize]) -> u32 {
    let mut votes = vec![0_usize; classes.n_classes()];
    for &i in samples {
        votes[classes.codes()[i] as usize] += 1;
    }
    (0..votes.len()).rev().max_by_key(|&class| votes[class]).unwrap_or(0) as u32
}

impl Model for NeighboursModel {
    fn predict(&self, x: &dyn Columns) -> Result<Predictions, Error> {
        let points = self.encoding.encode(x)?;
        let nearest: Vec<Vec<usize>> = (0..points.n_samples).map(|i| self.nearest(points.point(i))).collect();
        Ok(match &self.target {
            Target::Real(outputs) => Predictions::Real(
                (0..outputs.n_outputs())
                    .map(|output| {
                        let values = outputs.output(output);
                        let mean = |samples: &Vec<usize>| {
                            samples.iter().map(|&i| values[i]).sum::<f64>() / samples.len() as f64
                        };
                        nearest.iter().map(mean).collect()
                    })
                    .collect(),
            ),
            Target::Class(classes) => {
                Predictions::Classes(nearest.iter().map(|samples| vote(classes, samples)).collect())
            }
            // `fit` refuses other targets.
            _ => Predictions::Classes(Vec::new()),
        })
    }

    /// The share of each class among the neighbours.
    fn score_classes(&self, x: &dyn Columns) -> Result<Vec<(u32, Vec<f64>)>, Error> {
        let Target::Class(classes) = &self.target else { return Ok(Vec::new()) };
        let points = self.encoding.encode(x)?;
        let n = points.n_samples;
        let mut scores: Vec<(u32, Vec<f64>)> =
            (0..classes.n_classes()).map(|code| (code as u32, vec![0.0; n])).collect();
        for i in 0..n {
            let nearest = self.nearest(points.point(i));
            for &sample in &nearest {
                scores[classes.codes()[sample] as usize].1[i] += 1.0 / nearest.len() as f64;
            }
        }
        Ok(scores)
    }
}
