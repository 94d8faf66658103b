#![doc = include_str!("../README.md")]

pub mod bisection;
pub mod certificate;
mod choice;
mod composite;
mod control;
mod datafit;
mod design;
mod dual_datafit;
mod extrapolation;
mod inner_products;
pub mod loss;
mod operator;
mod penalty;
#[cfg(feature = "argmin-math")]
mod point;
mod quadratic;
mod solution;
mod squared_hinge;
pub mod subspace;
pub mod working_set;

pub use choice::{NamedSolvers, SolverChoice};
pub use composite::Composite;
pub use control::{Control, SolverState, Step, given, run};
pub use datafit::{Datafit, Logistic, SquaredLoss};
pub use design::Design;
pub use dual_datafit::DualDatafit;
pub use extrapolation::extrapolation_weights;
pub use fewest_core::{Certificate, Error, Status};
pub use inner_products::{
    Atoms, CachedProducts, ColumnCache, Copied, InnerProducts, Linked, Links, Projected, Ridged, Scaled,
    Signed, Targeted,
};
pub use operator::{DenseOperator, LinearOperator};
pub use penalty::{
    BlockPenalty, Blocks, Concave, ConcaveMajorant, ConcavePenalty, ElasticNetPenalty, GraphFusedLasso,
    GroupLasso, L1, Mcp, OverlappingGroupLasso, Penalty, Root, Scad, SignedEdge, SortedL1, Tilted, TreeLasso,
};
#[cfg(feature = "argmin-math")]
pub use point::Point;
pub use quadratic::{Quadratic, QuadraticSolver};
pub use solution::Solution;
pub use squared_hinge::SquaredHinge;
