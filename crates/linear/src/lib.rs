//! Sparse linear and additive models: few features whose combination predicts the target.
//!
//! [`Lasso`] and [`ElasticNet`] are linear in the features, [`Spam`] is a sum of smooth functions of them. Where the
//! dependence is of any kind and the features repeat each other, see HSIC Lasso in `fewest-dependence`.

mod additive;
mod columns;
mod elastic_net;
mod paths;
mod search;

pub use additive::Spam;
pub use elastic_net::{ElasticNet, Lasso, Strength};
pub use fewest_core::Error;
