#![doc = include_str!("../README.md")]

mod distances;
mod embedding;
mod graph;
mod median;
mod options;
mod samples;
mod search;
mod tile;
mod tree;

pub use distances::Distances;
pub use embedding::SpectralEmbedding;
pub use graph::{NeighbourGraph, Rule, Weights};
pub use median::{median_above_zero, median_distance};
pub use options::{EdgeWeights, GraphOptions, heat_scale, standardised_distances};
pub use samples::{Coordinate, DistanceMetric};
pub use search::{Neighbours, NeighboursOf, nearest, nearest_among};
