#![doc = include_str!("../README.md")]

mod additive;
mod columns;
mod dantzig;
mod elastic_net;
mod loss;
mod paths;
mod penalised;
mod rows;
mod search;
mod structured;

use fewest_core::method::{Method, TargetKind};

pub use additive::Spam;
pub use dantzig::Dantzig;
pub use elastic_net::{ElasticNet, Lasso};
pub use fewest_core::Error;
pub use loss::LinearLoss;
pub use rows::{ClassLoss, L21Logistic, Rfs};
pub use structured::{
    FeatureGraph, Fitting, FusedLasso, GfLasso, Goscar, GraphLasso, GroupLasso, Grouping, Hierarchy, OnGraph,
    Oscar, SparseGroupLasso, TreeLasso,
};

const TARGETS: &[TargetKind] = &[TargetKind::Classes, TargetKind::Real, TargetKind::Outputs];

/// The methods.
pub static METHODS: &[Method] = &[
    Method::selector::<Lasso>(
        "lasso",
        "lasso",
        "minimise 1/(2n) ‖Y − X W‖² + λ ‖W‖₁; score(k) = wₖ",
        TARGETS,
    ),
    Method::selector::<ElasticNet>(
        "elastic-net",
        "elastic net",
        "minimise 1/(2n) ‖Y − X W‖² + λ l1_ratio ‖W‖₁ + ½ λ (1 − l1_ratio) ‖W‖²; score(k) = wₖ",
        TARGETS,
    ),
    Method::selector::<Dantzig>(
        "dantzig",
        "Dantzig selector",
        "minimise ‖w‖₁ where |xⱼᵀ (y − X w)| / n ≤ λ for every feature; score(k) = wₖ",
        TARGETS,
    ),
    Method::selector::<L21Logistic>(
        "l21-logistic",
        "l2,1 logistic regression",
        "minimise 1/n Σᵢ [ln Σₖ exp(fᵢₖ) − fᵢ of the class] + λ Σⱼ ‖Wⱼ‖, F = X W + 1 bᵀ; score(k) = ‖Wₖ‖",
        &[TargetKind::Classes],
    ),
    Method::selector::<Rfs>(
        "rfs",
        "robust feature selection by joint l2,1 norms",
        "minimise Σᵢ ‖Xᵢ W − Yᵢ‖ + λ Σⱼ ‖Wⱼ‖; score(k) = ‖Wₖ‖",
        TARGETS,
    ),
    Method::selector::<GroupLasso>(
        "group-lasso",
        "group lasso",
        "minimise 1/(2n) ‖y − X w‖² + λ Σ_g √|g| ‖w_g‖; score(k) = wₖ",
        TARGETS,
    ),
    Method::selector::<SparseGroupLasso>(
        "sparse-group-lasso",
        "sparse group lasso",
        "minimise 1/(2n) ‖y − X w‖² + λ [l1_ratio ‖w‖₁ + (1 − l1_ratio) Σ_g √|g| ‖w_g‖]; score(k) = wₖ",
        TARGETS,
    ),
    Method::selector::<TreeLasso>(
        "tree-lasso",
        "tree-structured group lasso",
        "minimise 1/(2n) ‖y − X w‖² + λ Σ_G √|G| ‖w_G‖ over the groups of a tree; score(k) = wₖ",
        TARGETS,
    ),
    Method::selector::<FusedLasso>(
        "fused-lasso",
        "fused lasso",
        "minimise 1/(2n) ‖y − X w‖² + λ [l1_ratio ‖w‖₁ + (1 − l1_ratio) Σⱼ |wⱼ₊₁ − wⱼ|]; score(k) = wₖ",
        TARGETS,
    ),
    Method::selector::<GraphLasso>(
        "graph-lasso",
        "graph lasso",
        "minimise 1/(2n) ‖y − X w‖² + λ [l1_ratio ‖w‖₁ + (1 − l1_ratio) Σ_ij aᵢⱼ (wᵢ − wⱼ)²]; score(k) = wₖ",
        TARGETS,
    ),
    Method::selector::<GfLasso>(
        "gflasso",
        "graph-guided fused lasso",
        "minimise 1/(2n) ‖y − X w‖² + λ [l1_ratio ‖w‖₁ + (1 − l1_ratio) Σ_ij aᵢⱼ |wᵢ − sᵢⱼ wⱼ|]; score(k) = wₖ",
        TARGETS,
    ),
    Method::selector::<Oscar>(
        "oscar",
        "OSCAR",
        "minimise 1/(2n) ‖y − X w‖² + λ [l1_ratio ‖w‖₁ + (1 − l1_ratio) Σ_i<j max(|wᵢ|, |wⱼ|)]; score(k) = wₖ",
        TARGETS,
    ),
    Method::selector::<Goscar>(
        "goscar",
        "graph OSCAR",
        "minimise 1/(2n) ‖y − X w‖² + λ [l1_ratio ‖w‖₁ + (1 − l1_ratio) Σ_ij aᵢⱼ max(|wᵢ|, |wⱼ|)]; score(k) = wₖ",
        TARGETS,
    ),
    Method::selector::<Spam>(
        "spam",
        "sparse additive models",
        "minimise ½ ‖Y − Σₖ fₖ(xₖ)‖² + λ Σₖ ‖fₖ‖; score(k) = ‖fₖ‖ / √n",
        TARGETS,
    ),
];
