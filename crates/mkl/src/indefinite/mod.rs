//! Multiple indefinite kernel learning (Xue, Song and Xu 2017).

pub(crate) mod atoms;
mod base;
mod combine;
mod descent;
mod fit;
mod lanczos;
mod loss;
mod machine;
pub(crate) mod matrix;
mod model;
mod newton;
pub(crate) mod objective;
mod path;
mod reduced;
mod screen;
mod select;
pub(crate) mod tasks;
#[cfg(test)]
mod tests;
mod validation;
mod weights;

pub use base::{BaseKernel, BaseKernels};
pub use model::{Alternation, KernelWeight, MikFsModel};
pub use select::MikFs;
pub use validation::ValidationPoint;
