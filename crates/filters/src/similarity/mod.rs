//! Scores by how well a feature keeps the similarity between samples.
//!
//! A categorical feature counts as the indicators of its levels together: where a formula has a ratio of two
//! quadratic forms, both are summed over the indicators. For two levels that is the score of the feature
//! coded as 0 and 1.

mod feature;
mod fisher;
mod generalized_fisher;
mod graph;
mod laplacian;
mod relief;
mod scatter;
mod spec;
mod trace_ratio;

use fewest_core::method::{Method, TargetKind};

pub use fewest_neighbours::{EdgeWeights, GraphOptions};
pub use fisher::FisherScore;
pub use generalized_fisher::GeneralizedFisher;
pub use laplacian::LaplacianScore;
pub use relief::{MultiSurf, RRelieff, Relief, Relieff, Surf};
pub use spec::{Gamma, Spec, SpecCriterion};
pub use trace_ratio::{TraceRatio, TraceRatioStyle};

const CLASSES: &[TargetKind] = &[TargetKind::Classes];

/// The methods.
pub static METHODS: &[Method] = &[
    Method::scorer::<FisherScore>(
        "fisher",
        "Fisher score",
        "score(k) = Σⱼ nⱼ (μₖⱼ − μₖ)² / Σⱼ nⱼ σ²ₖⱼ over the classes j",
        CLASSES,
    )
    .streaming::<FisherScore>(),
    Method::selector::<GeneralizedFisher>(
        "generalized-fisher",
        "generalised Fisher score",
        "min ½‖X diag(p) W − H‖² + ½γ‖W‖² over W and p ∈ {0, 1}ᵈ with k ones, p relaxed",
        CLASSES,
    ),
    Method::scorer::<LaplacianScore>(
        "laplacian",
        "Laplacian score",
        "score(k) = f̃ᵀLf̃ / f̃ᵀDf̃, L = D − S over the graph of nearest neighbours; smaller is better",
        TargetKind::ANY,
    ),
    Method::scorer::<Spec>(
        "spec",
        "spectral feature selection",
        "φ₁ = f̂ᵀγ(𝓛)f̂, φ₂ = φ₁ / (1 − (f̂ᵀξ₁)²), both smaller is better; φ₃ = Σⱼ≤ₘ (γ(2) − γ(λⱼ))(f̂ᵀξⱼ)²",
        TargetKind::ANY,
    ),
    Method::selector::<TraceRatio>(
        "trace-ratio",
        "trace ratio criterion",
        "max over sets S of k features of Σₖ∈S bₖ / Σₖ∈S wₖ, b between and w within",
        &[TargetKind::Classes, TargetKind::None],
    ),
    Method::scorer::<Relief>(
        "relief",
        "Relief",
        "W(k) = 1/n Σᵢ [diff(k; i, nearest miss)² − diff(k; i, nearest hit)²]",
        CLASSES,
    ),
    Method::scorer::<Relieff>(
        "relieff",
        "ReliefF",
        "W(k) = 1/n Σᵢ [−mean diff to hits + Σ_C P(C)/(1 − P(yᵢ)) mean diff to misses of class C]",
        CLASSES,
    ),
    Method::scorer::<RRelieff>(
        "rrelieff",
        "RReliefF, for a real target",
        "W(k) = N_dC&dA(k) / N_dC − (N_dA(k) − N_dC&dA(k)) / (n − N_dC)",
        &[TargetKind::Real],
    ),
    Method::scorer::<Surf>(
        "surf",
        "spatially uniform ReliefF",
        "ReliefF over all samples nearer than the mean distance of all pairs",
        CLASSES,
    ),
    Method::scorer::<MultiSurf>(
        "multisurf",
        "MultiSURF",
        "ReliefF over all samples nearer than mean − ½ standard deviation of a sample's own distances",
        CLASSES,
    ),
];
