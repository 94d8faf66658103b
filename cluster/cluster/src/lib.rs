#![doc = include_str!("../README.md")]

mod answers;
mod error;
mod finished;
mod function;
mod last_table;
mod objects;
mod query;
mod request;
mod run;
#[cfg_attr(not(feature = "s3"), path = "without_s3.rs")]
mod s3;
mod secret;
mod servers;

pub use answers::{Answer, Asked, ScoreAnswer, score, select};
pub use error::Error;
pub use objects::StoreFault;
pub use query::Cluster;
pub use request::Table;
pub use secret::Secret;
pub use servers::{ExecutorOptions, SchedulerOptions, executor, scheduler};

/// The version of this crate: executors answer requests of their own version.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
