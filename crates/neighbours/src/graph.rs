//! Graphs that connect samples to their neighbours.

use fewest_core::{Error, order};
use nalgebra::DMatrix;

use crate::{DistanceMetric, Neighbours};

/// Fewer multiplications than this are not worth a second thread.
const SERIAL: usize = 1 << 16;

/// Which samples are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Rule {
    /// Two samples of which at least one is among the nearest of the other.
    #[default]
    Either,
    /// Two samples that are among the nearest of each other.
    Mutual,
}

/// The weight of an edge.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Weights {
    /// `exp(−d²/t)` with the Euclidean distance `d`.
    Heat {
        /// The scale, above 0.
        t: f64,
    },
    /// 1.
    Binary,
    /// The cosine of the angle between two samples, 0 where it is negative: a negative weight would make the
    /// graph's Laplacian indefinite.
    Cosine,
}

/// A sparse symmetric graph without self edges.
#[derive(Debug, Clone, PartialEq)]
pub struct NeighbourGraph {
    offsets: Vec<usize>,
    ends: Vec<usize>,
    weights: Vec<f64>,
    degrees: Vec<f64>,
}

impl NeighbourGraph {
    /// Joins the samples of `neighbours` by `rule`.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for a scale that is not above 0, or weights that do not fit the metric
    /// of the distances: [`Weights::Heat`] needs [`DistanceMetric::SquaredEuclidean`],
    /// [`Weights::Cosine`] needs [`DistanceMetric::Cosine`].
    pub fn new(neighbours: &Neighbours, rule: Rule, weights: Weights) -> Result<Self, Error> {
        let metric = neighbours.metric();
        let weight: Box<dyn Fn(f64) -> f64> = match weights {
            Weights::Heat { t } if t.is_nan() || t <= 0.0 => return Err(Error::parameter("t", t, "above 0")),
            Weights::Heat { t } if metric == DistanceMetric::SquaredEuclidean => {
                Box::new(move |d| (-d / t).exp())
            }
            Weights::Cosine if metric == DistanceMetric::Cosine => Box::new(|d| (1.0 - d).max(0.0)),
            Weights::Binary => Box::new(|_| 1.0),
            Weights::Heat { .. } | Weights::Cosine => {
                let found = format!("{weights:?} of {metric:?} distances");
                let expected = "heat of squared Euclidean distances, or the cosine of cosine distances";
                return Err(Error::parameter("weights", found, expected));
            }
        };
        let n = neighbours.n_samples();
        let mut edges: Vec<Vec<(usize, f64)>> = vec![Vec::new(); n];
        for i in 0..n {
            let of = neighbours.of(i);
            for (&j, &distance) in of.indices.iter().zip(of.distances) {
                let both = neighbours.of(j).indices.contains(&i);
                // A mutual pair is visited from both ends, any other pair from one only.
                if rule == Rule::Mutual && !both || both && j < i {
                    continue;
                }
                let weight = weight(distance);
                edges[i].push((j, weight));
                edges[j].push((i, weight));
            }
        }
        let mut graph =
            Self { offsets: vec![0], ends: Vec::new(), weights: Vec::new(), degrees: Vec::with_capacity(n) };
        for mut list in edges {
            order::sort_entries(&mut list);
            graph.degrees.push(list.iter().map(|(_, weight)| weight).sum());
            for (end, weight) in list {
                graph.ends.push(end);
                graph.weights.push(weight);
            }
            graph.offsets.push(graph.ends.len());
        }
        Ok(graph)
    }

    /// Number of samples.
    pub fn n_samples(&self) -> usize {
        self.degrees.len()
    }

    /// The sum of the weights of each sample's edges.
    pub fn degrees(&self) -> &[f64] {
        &self.degrees
    }

    /// The samples joined to sample `i < n_samples()`, by increasing index, with the weights.
    pub fn edges(&self, i: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let range = self.offsets[i]..self.offsets[i + 1];
        self.ends[range.clone()].iter().copied().zip(self.weights[range].iter().copied())
    }

    /// Multiplies `D^−½ S D^−½` with every column of `v`, of `n_samples()` values each: what the normalised
    /// Laplacian takes off the identity. A sample without weight counts as unconnected.
    pub fn normalised_product(&self, v: &DMatrix<f64>) -> DMatrix<f64> {
        let n = self.n_samples();
        let scale: Vec<f64> = self
            .degrees
            .iter()
            .map(|&degree| if degree > 0.0 { degree.sqrt().recip() } else { 0.0 })
            .collect();
        let mut product = DMatrix::zeros(n, v.ncols());
        let multiply = |column: usize, out: &mut [f64]| {
            let from = &v.as_slice()[column * n..(column + 1) * n];
            for (i, value) in out.iter_mut().enumerate() {
                *value = scale[i] * self.edges(i).map(|(j, weight)| weight * scale[j] * from[j]).sum::<f64>();
            }
        };
        if self.ends.len() * v.ncols() < SERIAL {
            let columns = product.as_mut_slice().chunks_exact_mut(n.max(1)).enumerate();
            columns.for_each(|(column, out)| multiply(column, out));
        } else {
            fewest_parallel::chunks(product.as_mut_slice(), n.max(1), multiply);
        }
        product
    }

    /// `fᵀ L f = Σ_{i<j} S_ij (f_i − f_j)²`, `L = D − S`, for one value per sample: how much `f` changes
    /// along the edges.
    pub fn roughness(&self, f: &[f64]) -> f64 {
        let mut sum = 0.0;
        for (i, &value) in f.iter().enumerate().take(self.n_samples()) {
            for (j, weight) in self.edges(i).filter(|(j, _)| *j > i) {
                sum += weight * (value - f[j]).powi(2);
            }
        }
        sum
    }

    /// `f̃ᵀ D f̃`, `f̃ = f − (fᵀ D 1 / 1ᵀ D 1) 1`: the variance of `f` weighted by the degrees; 0 for a graph
    /// without weight.
    pub fn spread(&self, f: &[f64]) -> f64 {
        let total: f64 = self.degrees.iter().sum();
        if total == 0.0 {
            return 0.0;
        }
        // If a few edges outweigh all others by many orders of magnitude, f is nearly constant on them;
        // relative to the value at the heaviest sample, the contribution of light ones to the mean is not
        // lost in rounding.
        let (mut most, mut reference) = (0.0, 0.0);
        for (&value, &degree) in f.iter().zip(&self.degrees) {
            if degree > most {
                (most, reference) = (degree, value);
            }
        }
        let mean = f
            .iter()
            .zip(&self.degrees)
            .map(|(value, degree)| degree / total * (value - reference))
            .sum::<f64>();
        f.iter().zip(&self.degrees).map(|(value, degree)| degree * (value - reference - mean).powi(2)).sum()
    }
}
