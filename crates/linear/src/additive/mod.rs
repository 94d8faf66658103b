//! Sparse additive models.

mod basis;
mod spam;

pub use spam::Spam;
