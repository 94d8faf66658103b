//! Projections of all features jointly that depend on the target, sparse in features.

mod hsfs;
mod objective;

pub use hsfs::Hsfs;
