//! Clusters of processes on this machine.

mod bits;
mod losses;
#[cfg(feature = "s3")]
mod objects;
mod processes;
mod refusals;
mod scores;
#[cfg(feature = "s3")]
mod store;
mod tables;
