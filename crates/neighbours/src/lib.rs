#![doc = include_str!("../README.md")]

mod distances;
mod graph;
mod median;
mod samples;
mod search;
mod tile;
mod tree;

pub use distances::Distances;
pub use graph::{NeighbourGraph, Rule, Weights};
pub use median::median_distance;
pub use samples::{Coordinate, DistanceMetric, Samples};
pub use search::{Neighbours, NeighboursOf, nearest, nearest_among};
