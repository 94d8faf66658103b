//! The Relief family: a feature is good when it differs between near samples of different classes and agrees
//! between near samples of one class.
//!
//! All of them share two steps over all samples. Distances from a block of samples to all others are sums of
//! differences `diff(j; a, b)`, `|a_j − b_j| / (max_j − min_j)` for a numeric feature, 0 or 1 for a
//! categorical one. Each method makes of a row of distances a list of neighbours with weights; then every
//! feature's differences to these neighbours are summed. Both steps run in parallel (over samples, over
//! features) and add in one fixed order.

mod classes;
mod instances;
mod original;
mod relieff;
mod rrelieff;
mod surf;

pub use original::Relief;
pub use relieff::Relieff;
pub use rrelieff::RRelieff;
pub use surf::{MultiSurf, Surf};
