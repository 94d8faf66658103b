//! Features by the weights of linear machines.

mod design;
mod folds;
mod lasso_weights;
mod machine;
mod problems;
mod rows;
mod weights;

pub use lasso_weights::LassoWeights;
pub use problems::Multiclass;
pub use weights::{SvmWeights, SvrWeights};
