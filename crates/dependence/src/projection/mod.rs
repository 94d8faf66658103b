//! Projections of all features together that depend on the target, sparse in features.

mod hsfs;
mod objective;

pub use hsfs::Hsfs;
