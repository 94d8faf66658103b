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

use fewest_core::method::{Method, TargetKind};

pub use additive::Spam;
pub use dantzig::Dantzig;
pub use elastic_net::{ElasticNet, Lasso};
pub use fewest_core::Error;
pub use loss::LinearLoss;
pub use rows::{ClassLoss, L21Logistic, Rfs};

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
    Method::selector::<Spam>(
        "spam",
        "sparse additive models",
        "minimise ½ ‖Y − Σₖ fₖ(xₖ)‖² + λ Σₖ ‖fₖ‖; score(k) = ‖fₖ‖ / √n",
        TARGETS,
    ),
];
