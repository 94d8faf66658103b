//! Features by the weights of linear machines.

mod concave;
mod design;
mod folds;
mod lasso_weights;
mod machine;
mod problems;
mod program;
mod radius_margin;
mod rows;
mod sparse_machine;
mod weights;
mod zero_norm;

pub use concave::ConcaveSelection;
pub use fewest_core::Error;
pub use lasso_weights::LassoWeights;
pub use problems::Multiclass;
pub use radius_margin::{RadiusMarginScales, ScaledKernel};
pub use sparse_machine::{ElasticNetSvm, HingeLoss, L1Svm};
pub use weights::{SvmWeights, SvrWeights};
pub use zero_norm::{InnerNorm, ZeroNorm};
