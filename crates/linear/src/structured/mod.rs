//! Penalties on groups, trees and graphs of features (Section 3 of the survey).

mod copied;
mod correlation;
mod engine;
mod fused_lasso;
mod graph;
mod graph_lasso;
mod group_lasso;
mod groups;
mod majorised;
mod nonconvex_grouping;
mod nonconvex_lasso;
mod oscar;
mod overlapping;
mod slope;
mod structure;
mod tree_lasso;

pub use engine::Fitting;
pub use fused_lasso::FusedLasso;
pub use graph::{FeatureGraph, OnGraph};
pub use graph_lasso::{GfLasso, GraphLasso};
pub use group_lasso::{GroupLasso, SparseGroupLasso};
pub use groups::Grouping;
pub use nonconvex_grouping::NonconvexGrouping;
pub use nonconvex_lasso::{FoldedPenalty, NonconvexLasso};
pub use oscar::{Goscar, Oscar};
pub use overlapping::{Overlap, OverlappingGroupLasso};
pub use slope::{Slope, SlopeWeights};
pub use tree_lasso::{Hierarchy, TreeLasso};
