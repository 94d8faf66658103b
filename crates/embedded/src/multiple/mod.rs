//! Multiple kernel learning in the dual of a support vector machine: the baselines of MIK-FS.

mod bases;
mod descent;
mod select;

pub use bases::Spectrum;
pub use select::{Combination, DualKernelLearning};
