//! Feature selection by kernel dependence: how much of the target's kernel do the features' kernels explain?
//!
//! [`HsicLasso`] and [`NoccoLasso`] (Yamada, Jitkrittum, Sigal, Xing and Sugiyama, *High-dimensional feature
//! selection by feature-wise kernelized Lasso*, Neural Computation 2014) choose features that depend on the
//! target in any way, linear or not, and do not repeat each other:
//!
//! ```text
//! minimise over α ≥ 0   ½ ‖L̄ − Σₖ αₖ K̄⁽ᵏ⁾‖²_F + λ Σₖ αₖ          (Eq. 3)
//! ```
//!
//! `K̄⁽ᵏ⁾ = H K⁽ᵏ⁾ H` is the centred Gram matrix of feature `k` alone, `L̄` that of the target. Its first
//! term is `½ HSIC(y, y) − Σ αₖ HSIC(uₖ, y) + ½ Σ αₖ αₗ HSIC(uₖ, uₗ)` (Eq. 4, with the double sum that the
//! index implies): relevance minus redundancy. [`Hsic`] and [`Nocco`] are the relevance alone, as scores.
//!
//! No Gram matrix is stored: a Gram matrix of **one** feature under a smooth kernel has a numerical rank of
//! 10 to 15, so for many samples it is a thin factor, and for few samples it is recomputed in
//! microseconds. Few of the d² products between features are ever needed (see [`fewest_lars::path`]).

mod atoms;
mod dependence;
mod greedy;
mod kernel_lasso;
mod projection;
mod quadratic;

pub use atoms::{Estimator, InputKernel, OutputKernel};
pub use dependence::{Dependence, Hsic, Nocco, Normalization};
pub use fewest_core::Error;
pub use greedy::{Bahsic, Fhsic};
pub use kernel_lasso::{HsicLasso, LassoOptions, Level, NoccoLasso, Regularizer};
pub use projection::Hsfs;
pub use quadratic::{Ckta, Fvm, Qpfs, Similarity};
