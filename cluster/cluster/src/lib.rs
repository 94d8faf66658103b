#![doc = include_str!("../README.md")]

mod error;
mod finished;
mod function;
mod request;
mod run;
mod secret;
mod servers;

pub use error::Error;
pub use request::Table;
pub use run::{Answer, Cluster, select};
pub use secret::Secret;
pub use servers::{ExecutorOptions, SchedulerOptions, executor, scheduler};

/// The version of this crate: executors answer requests of their own version.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
