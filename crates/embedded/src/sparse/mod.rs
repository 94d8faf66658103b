//! Sparse linear models.

mod columns;
mod elastic_net;
mod search;

pub(crate) use columns::outputs;
pub use elastic_net::{ElasticNet, Lasso, Strength};
