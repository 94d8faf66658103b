//! Multiple indefinite kernel learning (Xue, Song and Xu 2017).

pub(crate) mod atoms;
mod base;
mod descent;
pub(crate) mod fit;
mod loss;
mod machine;
pub(crate) mod matrix;
mod model;
mod newton;
mod path;
mod screen;
mod select;
pub(crate) mod tasks;
#[cfg(test)]
mod tests;
mod validation;
mod vectors;
mod weights;

pub use base::BaseKernel;
pub use model::{Alternation, KernelWeight, MikFsModel};
pub use select::{MikFs, Price};
pub use validation::ValidationPoint;
