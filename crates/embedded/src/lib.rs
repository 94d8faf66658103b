//! Feature selection that falls out of fitting a model.
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

mod additive;
mod atoms;
mod bisection;
mod components;
mod dense;
mod dependence;
mod falling;
mod greedy;
mod indefinite;
mod kernel_lasso;
mod margin;
mod multiple;
mod nonmonotonic;
mod projection;
mod quadratic;
mod signed;
mod sparse;
mod vectors;

pub use additive::Spam;
pub use atoms::{Estimator, Form, InputKernel, OutputKernel};
pub use components::KernelComponents;
pub use dependence::{Dependence, Hsic, Nocco, Normalization};
pub use fewest_core::Error;
pub use greedy::{Bahsic, Fhsic};
pub use indefinite::{Alternation, BaseKernel, KernelWeight, MikFs, MikFsModel, Price, ValidationPoint};
pub use kernel_lasso::{HsicLasso, LassoOptions, Level, NoccoLasso, Regularizer, SolverChoice};
pub use margin::{
    ConcaveSelection, ElasticNetSvm, HingeLoss, InnerNorm, L1Svm, LassoWeights, Multiclass,
    RadiusMarginScales, ScaledKernel, SvmWeights, SvrWeights, ZeroNorm,
};
pub use multiple::{ProductKernelLearning, Spectrum, SumKernelLearning};
pub use nonmonotonic::{FeatureKernel, Nmmkl, Nmmklr, NonMonotonic, NonMonotonicSolution, Prices, Scaling};
pub use projection::Hsfs;
pub use quadratic::{Ckta, Fvm, Qpfs, Similarity};
pub use sparse::{ElasticNet, Lasso, Strength};
