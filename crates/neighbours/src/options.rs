//! The neighbour graph of a data set.

use fewest_columns::{chance_of_one_level, finite_values, standardise};
use fewest_core::method::{KernelWidth, Options};
use fewest_core::{Context, Dataset, Error, FeatureKind, choice, options};

use crate::{Coordinate, DistanceMetric, Distances, NeighbourGraph, Rule, Weights, median_distance, nearest};

choice! {
    /// How much an edge counts.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub enum EdgeWeights {
        /// `exp(−d²/t)`.
        Heat {
            /// Scale of the weights exp(−d²/t); median: the median squared distance (of 4096 samples where
            /// there are more).
            t: KernelWidth = KernelWidth::Median;
        } = "heat",
        /// 1.
        Binary = "binary",
        /// The cosine of the angle between two samples, between samples that are nearest by that angle; 0
        /// where negative.
        Cosine = "cosine",
    }
}

options! {
    /// The graph that joins two samples when one is among the nearest neighbours of the other, by Euclidean
    /// distance on standardised features. A categorical feature adds to the squared distance what its 0/1
    /// coding would if it had two levels: the inverse of half the chance that two samples differ.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct GraphOptions {
        /// Neighbours of a sample in the graph.
        pub neighbours: usize = 5, Count(1);
        /// Weight of an edge: exp(−d²/t), 1, or the cosine (of the nearest by angle).
        pub weights: EdgeWeights = EdgeWeights::default();
    }
}

impl GraphOptions {
    /// The graph of `data`.
    ///
    /// # Errors
    /// Fewer than two samples; a NaN or an infinity, naming the cell; parameters out of range; no edge with
    /// any weight; [`Error::Stopped`] when `context` says so.
    pub fn build(&self, data: &Dataset, context: &Context<'_>) -> Result<NeighbourGraph, Error> {
        self.check()?;
        let metric = match self.weights {
            EdgeWeights::Cosine => DistanceMetric::Cosine,
            EdgeWeights::Heat { .. } | EdgeWeights::Binary => DistanceMetric::SquaredEuclidean,
        };
        let distances = standardised_distances(data, metric, context)?;
        let weights = match self.weights {
            EdgeWeights::Heat { t } => Weights::Heat { t: heat_scale(t, "t", &distances, context)? },
            EdgeWeights::Binary => Weights::Binary,
            EdgeWeights::Cosine => Weights::Cosine,
        };
        let neighbours = nearest(&distances, self.neighbours, context)?;
        let graph = NeighbourGraph::new(&neighbours, Rule::Either, weights)?;
        if graph.degrees().iter().all(|degree| *degree == 0.0) {
            return Err(Error::Numerical {
                what: "the neighbour graph",
                hint: "every edge has weight 0: take a larger t, t=median, or weights=binary".to_owned(),
            });
        }
        Ok(graph)
    }
}

/// The distances between the samples of `data`, with standardised features.
///
/// # Errors
/// Fewer than two samples; a NaN or an infinity, naming the cell; categories with
/// [`DistanceMetric::Cosine`]; [`Error::Stopped`] when `context` says so.
pub fn standardised_distances(
    data: &Dataset,
    metric: DistanceMetric,
    context: &Context<'_>,
) -> Result<Distances, Error> {
    let n = data.n_samples();
    if n < 2 {
        return Err(Error::TooFew { what: "samples", minimum: 2, found: n });
    }
    let mut coordinates = Vec::with_capacity(data.n_features());
    for j in 0..data.n_features() {
        coordinates.push(match data.feature_kind(j) {
            FeatureKind::Categorical { .. } => Coordinate::Category(mismatch(&finite_values(data, j)?)),
            _ => Coordinate::Numeric,
        });
    }
    let fill = |j: usize, out: &mut [f64]| {
        data.x().copy_column(j, out)?;
        data.check_finite(j, out)?;
        if coordinates[j] == Coordinate::Numeric && !standardise(out) {
            out.fill(0.0);
        }
        Ok(())
    };
    Distances::new(metric, n, &coordinates, fill, context)
}

/// What two different levels add to a squared distance; 0 for a feature with one level.
fn mismatch(codes: &[f64]) -> f64 {
    let equal = chance_of_one_level(codes);
    if equal < 1.0 { 2.0 / (1.0 - equal) } else { 0.0 }
}

/// The scale of heat weights as a number; 1 where all samples are equal, which leaves nothing to scale.
///
/// # Errors
/// A scale that is not above 0; [`Error::Stopped`] when `context` says so.
pub fn heat_scale(
    scale: KernelWidth,
    name: &'static str,
    distances: &Distances,
    context: &Context<'_>,
) -> Result<f64, Error> {
    match scale {
        KernelWidth::Value(value) if value > 0.0 && value.is_finite() => Ok(value),
        KernelWidth::Value(value) => Err(Error::parameter(name, value, "a finite number above 0")),
        KernelWidth::Median => {
            let median = median_distance(distances, context)?;
            Ok(if median > 0.0 { median } else { 1.0 })
        }
        other => Err(Error::parameter(name, format!("{other:?}"), "a number above 0, or median")),
    }
}
