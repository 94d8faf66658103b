#![doc = include_str!("../README.md")]

mod additive;
mod columns;
mod dantzig;
mod elastic_net;
mod paths;
mod search;

use fewest_core::method::{Method, TargetKind};

pub use additive::Spam;
pub use dantzig::Dantzig;
pub use elastic_net::{ElasticNet, Lasso};
pub use fewest_core::Error;

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
    Method::selector::<Spam>(
        "spam",
        "sparse additive models",
        "minimise ½ ‖Y − Σₖ fₖ(xₖ)‖² + λ Σₖ ‖fₖ‖; score(k) = ‖fₖ‖ / √n",
        TARGETS,
    ),
];
