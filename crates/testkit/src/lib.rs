//! What the tests of the workspace share, and those of a crate that adds a method to it.

pub mod conformance;
pub mod datasets;
pub mod golden;
