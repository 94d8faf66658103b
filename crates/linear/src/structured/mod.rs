//! Penalties on groups, trees and graphs of features (Section 3 of the survey).

mod correlation;
mod engine;
mod fused_lasso;
mod graph;
mod graph_lasso;
mod group_lasso;
mod groups;
mod oscar;
mod tree_lasso;

pub use engine::Fitting;
pub use fused_lasso::FusedLasso;
pub use graph::{FeatureGraph, OnGraph};
pub use graph_lasso::{GfLasso, GraphLasso};
pub use group_lasso::{GroupLasso, SparseGroupLasso};
pub use groups::Grouping;
pub use oscar::{Goscar, Oscar};
pub use tree_lasso::{Hierarchy, TreeLasso};
