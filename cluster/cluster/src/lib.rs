#![doc = include_str!("../README.md")]

mod error;
mod finished;
mod function;
mod objects;
mod request;
mod run;
#[cfg_attr(not(feature = "s3"), path = "without_s3.rs")]
mod s3;
mod secret;
mod servers;

pub use error::Error;
pub use objects::StoreFault;
pub use request::Table;
pub use run::{Answer, Cluster, select};
pub use secret::Secret;
pub use servers::{ExecutorOptions, SchedulerOptions, executor, scheduler};

/// The version of this crate: executors answer requests of their own version.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
