//! Sparse linear models.

mod columns;
mod elastic_net;
mod paths;
mod search;

pub(crate) use columns::outputs;
pub use elastic_net::{ElasticNet, Lasso, Strength};
