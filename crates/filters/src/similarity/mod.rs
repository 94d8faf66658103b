//! Scores by how well a feature keeps the similarity between samples.
//!
//! A categorical feature counts as the indicators of its levels together: where a formula has a ratio of two quadratic
//! forms, both are summed over the indicators. For two levels that is the score of the feature coded as 0 and 1.

mod feature;
mod fisher;
mod generalized_fisher;
mod graph;
mod laplacian;
mod relief;
mod scatter;
mod spec;
mod trace_ratio;

pub use fisher::FisherScore;
pub use generalized_fisher::GeneralizedFisher;
pub use graph::{EdgeWeights, GraphOptions, Scale};
pub use laplacian::LaplacianScore;
pub use relief::{MultiSurf, RRelieff, RankInfluence, Relief, Relieff, Surf};
pub use spec::{Criterion, Gamma, Spec};
pub use trace_ratio::{TraceRatio, TraceRatioStyle};
