#![doc = include_str!("../README.md")]

mod design;
mod folds;
mod fsv;
mod l0_appr;
mod lasso_weights;
mod machine;
mod problems;
mod r2w2;
mod rows;
mod sparse_machine;
mod weights;

use fewest_core::method::{Method, TargetKind};

pub use fewest_core::Error;
pub use fsv::Fsv;
pub use l0_appr::{InnerNorm, L0Appr};
pub use lasso_weights::LassoWeights;
pub use problems::Multiclass;
pub use r2w2::{R2w2, ScaledKernel};
pub use sparse_machine::{ElasticNetSvm, HingeLoss, L1Svm};
pub use weights::{SvmWeights, SvrWeights};

const CLASSES: &[TargetKind] = &[TargetKind::Classes];

/// The methods.
pub static METHODS: &[Method] = &[
    Method::sequence::<SvmWeights>(
        "svm-lw",
        "largest weights of a linear support vector machine",
        "minimise ½ ‖w‖² + C Σᵢ max(0, 1 − yᵢ (⟨w, xᵢ⟩ + b)); score(k) = wₖ",
        CLASSES,
    ),
    Method::sequence::<SvrWeights>(
        "svr-lw",
        "largest weights of linear support vector regression",
        "minimise ½ ‖w‖² + C Σᵢ max(0, |yᵢ − ⟨w, xᵢ⟩ − b| − ε); score(k) = wₖ",
        &[TargetKind::Real, TargetKind::Outputs],
    ),
    Method::sequence::<LassoWeights>(
        "lasso-lw",
        "largest weights of a cross-validated lasso",
        "minimise 1/(2n) Σᵢ (yᵢ − ⟨w, xᵢ⟩ − b)² + λ ‖w‖₁, λ by cross-validation; score(k) = wₖ",
        &[TargetKind::Classes, TargetKind::Real, TargetKind::Outputs],
    ),
    Method::selector::<L1Svm>(
        "l1-svm",
        "support vector machine with an l1 norm",
        "minimise ‖w‖₁ + C Σᵢ max(0, 1 − yᵢ (⟨w, xᵢ⟩ + b))²; score(k) = wₖ",
        CLASSES,
    ),
    Method::selector::<ElasticNetSvm>(
        "enet-svm",
        "support vector machine with an elastic net",
        "minimise r ‖w‖₁ + ½ (1 − r) ‖w‖² + C Σᵢ max(0, 1 − yᵢ (⟨w, xᵢ⟩ + b))²; score(k) = wₖ",
        CLASSES,
    ),
    Method::selector::<L0Appr>(
        "l0-appr",
        "approximation of the zero norm",
        "repeat z ← z ∘ |ŵ|, ŵ the weights of a linear support vector machine on z ∘ x; score(k) = zₖ",
        CLASSES,
    ),
    Method::sequence::<Fsv>(
        "fsv",
        "feature selection via concave minimisation",
        "minimise (1 − λ) (mean ξ of one class + of the other) + λ Σₖ (1 − exp(−α |wₖ|)); score(k) = wₖ",
        CLASSES,
    ),
    Method::selector::<R2w2>(
        "r2w2",
        "scales that minimise the radius-margin bound",
        "minimise R²(σ) ‖w(σ)‖² over the scales σ of features; score(k) = σₖ",
        CLASSES,
    ),
];
