//! Multiple indefinite kernel learning (Xue, Song and Xu 2017).

mod atoms;
mod fit;
mod loss;
mod machine;
mod matrix;
mod model;
mod newton;
mod path;
mod select;
mod tasks;
#[cfg(test)]
mod tests;
mod validation;
mod vectors;
mod weights;

pub use atoms::BaseKernel;
pub use model::{Alternation, KernelWeight, MikFsModel};
pub use select::{MikFs, Price};
pub use validation::ValidationPoint;
