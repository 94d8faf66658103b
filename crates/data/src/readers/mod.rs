//! One module a format, and what the formats of text share.

mod cells;
pub mod delimited;
mod lines;
pub mod matlab;
pub mod npy;
mod sparse;
pub mod svmlight;
