//! Sparse linear models.

mod columns;
mod elastic_net;
mod search;

pub use elastic_net::{ElasticNet, Lasso, Strength};
