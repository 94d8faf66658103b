//! Samples that are linked: whoever is related gets similar predictions, and links tell clusters.

mod affinity;
mod design;
mod fsnet;
mod linked_fs;
mod lufs;
mod netfs;
mod network;
mod relations;

pub(crate) use design::{LinkedSamples, n_rows};
pub use fsnet::FsNet;
pub use linked_fs::LinkedFs;
pub use lufs::Lufs;
pub use netfs::NetFs;
pub(crate) use relations::{MOST_ROWS, Relation};
