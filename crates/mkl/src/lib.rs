//! Feature selection by multiple kernel learning: a kernel for each feature, and few of them with a weight.
//!
//! [`Nmmkl`] and [`Nmmklr`] (non-monotonic feature selection) choose `k` features at once by a convex problem;
//! [`MikFs`] learns weights of indefinite kernels; [`SumKernelLearning`], [`ProductKernelLearning`] and
//! [`KernelComponents`] are the methods they are compared with.

mod components;
mod falling;
mod indefinite;
mod multiple;
mod nonmonotonic;

pub use components::KernelComponents;
pub use fewest_core::Error;
pub use indefinite::{Alternation, BaseKernel, KernelWeight, MikFs, MikFsModel, Price, ValidationPoint};
pub use multiple::{ProductKernelLearning, Spectrum, SumKernelLearning};
pub use nonmonotonic::{FeatureKernel, Nmmkl, Nmmklr, NonMonotonic, NonMonotonicSolution, Prices, Scaling};
