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

use fewest_core::method::{Method, TargetKind};

pub use atoms::{HsicEstimator, InputKernel, OutputKernel};
pub use dependence::{Dependence, Hsic, Nocco, Normalization};
pub use fewest_core::Error;
pub use greedy::{Bahsic, Fhsic};
pub use kernel_lasso::{HsicLasso, LassoOptions, LassoPenalty, NoccoLasso};
pub use projection::Hsfs;
pub use quadratic::{Ckta, FeatureSimilarity, Fvm, Qpfs, RelevanceWeight};

/// Targets that a kernel of this family is defined on.
const TARGETS: &[TargetKind] =
    &[TargetKind::Classes, TargetKind::Real, TargetKind::Outputs, TargetKind::Affinity];

/// The methods.
pub static METHODS: &[Method] = &[
    Method::scorer::<Hsic>(
        "hsic",
        "Hilbert–Schmidt independence criterion",
        "score(k) = tr(K̄ₖ L̄), K̄ₖ the centred Gram matrix of feature k alone, L̄ that of the target",
        TARGETS,
    ),
    Method::scorer::<Nocco>(
        "nocco",
        "normalised cross-covariance operator",
        "score(k) = tr(K̃ₖ L̃), K̃ = K̄ (K̄ + ε n I)⁻¹",
        TARGETS,
    ),
    Method::sequence::<Fhsic>(
        "fhsic",
        "forward selection with HSIC",
        "add the k with the largest tr(M̄ L̄), M = exp(−‖v − v′‖² / (2 m σ²)) over the m chosen features",
        TARGETS,
    ),
    Method::selector::<Bahsic>(
        "bahsic",
        "backward elimination with HSIC",
        "take away the k that leave the largest tr(M̄ L̄), M = exp(−‖v − v′‖² / (2 m σ²)) over the m left",
        TARGETS,
    ),
    Method::selector::<Ckta>(
        "ckta",
        "centred kernel target alignment",
        "minimise over α ≥ 0: ½ Σₖₗ αₖ αₗ HSIC(xₖ, xₗ) − Σₖ αₖ HSIC(xₖ, y); score(k) = αₖ",
        TARGETS,
    ),
    Method::selector::<Qpfs>(
        "qpfs",
        "quadratic programming feature selection",
        "minimise over θ ≥ 0, Σ θ = 1: ½ (1 − γ) θᵀ D θ − γ dᵀ θ; score(k) = θₖ",
        TARGETS,
    ),
    Method::selector::<Fvm>(
        "fvm",
        "feature vector machine",
        "minimise ½ ‖φ(y) − Σₖ αₖ φ(xₖ)‖² + λ Σₖ |αₖ|, φ(u)ᵀφ(v) = D(u, v); score(k) = αₖ",
        TARGETS,
    ),
    Method::selector::<Hsfs>(
        "hsfs",
        "Hilbert-Schmidt feature selection",
        "minimise over W (q × d): −HSIC(WX, y) + λ Σⱼ ‖wⱼ‖_∞; score(j) = ‖wⱼ‖_∞",
        TARGETS,
    ),
    Method::selector::<HsicLasso>(
        "hsic-lasso",
        "HSIC Lasso",
        "minimise over α ≥ 0: ½ ‖L̄ − Σₖ αₖ K̄ₖ‖² + λ Σₖ αₖ; score(k) = αₖ",
        TARGETS,
    ),
    Method::selector::<NoccoLasso>(
        "nocco-lasso",
        "NOCCO Lasso",
        "minimise over α ≥ 0: ½ ‖L̃ − Σₖ αₖ K̃ₖ‖² + λ Σₖ αₖ, K̃ = K̄ (K̄ + ε n I)⁻¹; score(k) = αₖ",
        TARGETS,
    ),
];
