#![doc = include_str!("../README.md")]

pub mod conformance;
pub mod datasets;
pub mod golden;
mod stops;

pub use stops::StopAt;
