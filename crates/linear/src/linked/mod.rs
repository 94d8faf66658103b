//! Least squares on samples that are linked: whoever is related gets similar predictions.

mod design;
mod fsnet;
mod linked_fs;
mod relations;

pub(crate) use design::{LinkedSamples, n_rows};
pub use fsnet::FsNet;
pub use linked_fs::LinkedFs;
pub(crate) use relations::{MOST_ROWS, Relation};
