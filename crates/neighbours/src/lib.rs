//! Exact nearest neighbours and the graphs built on them.
//!
//! [`Samples`] is a packed copy of a table, [`Distances`] walks over the distances from every sample to all others
//! without holding a matrix of them unless it is small, [`nearest`] keeps the closest ones, and
//! [`NeighbourGraph`] joins samples by them.
//!
//! Few numeric coordinates of many samples are searched by a k-d tree (kiddo), with the same result.
//!
//! Every distance is a sum of differences taken in one fixed order, never `‖a‖² + ‖b‖² − 2aᵀb`: it is the same number,
//! bit for bit, in both directions and for any number of threads, an offset of the data costs no accuracy, and
//! equal samples are at distance zero. Distances that agree to 1e-12 count as equal; the lower index is then nearer.
//!
//! ```
//! use fewest_core::Context;
//! use fewest_neighbours::{Coordinate, Distances, Metric, NeighbourGraph, Rule, Samples, Weights, nearest};
//!
//! let columns = [[0.0, 1.0, 5.0, 6.0], [0.0, 0.0, 1.0, 1.0]];
//! let samples = Samples::pack(Metric::SquaredEuclidean, 4, &[Coordinate::Numeric; 2], |j, out| {
//!     out.copy_from_slice(&columns[j]);
//!     Ok(())
//! })?;
//! let distances = Distances::new(&samples);
//! let neighbours = nearest(&distances, 1, &Context::default())?;
//! assert_eq!(neighbours.of(2).indices, [3]);
//! let graph = NeighbourGraph::new(&neighbours, Rule::Either, Weights::Heat { t: 2.0 })?;
//! assert_eq!(graph.n_edges(), 2);
//! # Ok::<(), fewest_core::Error>(())
//! ```

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
pub use samples::{Coordinate, Metric, Samples};
pub use search::{Neighbours, NeighboursOf, nearest, nearest_among};
