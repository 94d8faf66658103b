#![doc = include_str!("../README.md")]

mod arriving;
mod atoms;
mod dependence;
mod greedy;
mod in_passes;
mod kernel_lasso;
mod projection;
mod quadratic;

use fewest_core::method::{Method, TargetKind};

pub use arriving::{HsicStream, HsicSums};
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
    )
    .streaming::<Hsic>(),
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
