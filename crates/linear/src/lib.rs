#![doc = include_str!("../README.md")]

mod adaptive;
mod additive;
mod alternation;
mod best_subset;
mod choice;
mod columns;
mod dantzig;
mod design;
mod elastic_net;
mod hinge;
mod in_passes;
mod lines;
mod linked;
mod loss;
mod other_losses;
mod paths;
mod penalised;
mod projections;
mod rfs;
mod rows;
mod search;
mod sources;
mod structured;
mod terms;
mod unsupervised;
mod views;

use fewest_core::method::{LinkTable, Method, TargetKind};

pub use adaptive::{AdaptiveLasso, FirstEstimate};
pub use additive::Spam;
pub use best_subset::{BestSubset, SizeCriterion};
pub use dantzig::Dantzig;
pub use elastic_net::{ElasticNet, Lasso, Sign};
pub use fewest_core::Error;
pub use linked::{FsNet, LinkedFs, Lufs, NetFs};
pub use loss::LinearLoss;
pub use rfs::Rfs;
pub use rows::{ClassLoss, L21, L21Logistic};
pub use sources::{GpcovSpca, GpcovVar, Sources, SparseSolver};
pub use structured::{
    FeatureGraph, Fitting, FoldedPenalty, FusedLasso, GfLasso, Goscar, GraphLasso, GroupLasso, Grouping,
    Hierarchy, NonconvexGrouping, NonconvexLasso, OnGraph, Oscar, Overlap, OverlappingGroupLasso, Slope,
    SlopeWeights, SparseGroupLasso, TreeLasso,
};
pub use unsupervised::{Clusters, Jelsr, Mcfs, Ndfs, Neighbourhoods, RegressionStep, Udfs};
pub use views::{Aumfs, GroupL1L21, GroupL1L21Clusters, Mvfs, SharedIndicators, ViewLoss, ViewRegression};

const TARGETS: &[TargetKind] = &[TargetKind::Classes, TargetKind::Real, TargetKind::Outputs];

/// With survival times, by the loss of Cox.
const WITH_SURVIVAL: &[TargetKind] =
    &[TargetKind::Classes, TargetKind::Real, TargetKind::Outputs, TargetKind::Survival];

/// The methods.
pub static METHODS: &[Method] = &[
    Method::selector::<Lasso>(
        "lasso",
        "lasso",
        "minimise 1/(2n) ‖Y − X W‖² + λ ‖W‖₁; score(k) = wₖ",
        WITH_SURVIVAL,
    ),
    Method::selector::<ElasticNet>(
        "elastic-net",
        "elastic net",
        "minimise 1/(2n) ‖Y − X W‖² + λ l1_ratio ‖W‖₁ + ½ λ (1 − l1_ratio) ‖W‖²; score(k) = wₖ",
        WITH_SURVIVAL,
    ),
    Method::selector::<AdaptiveLasso>(
        "adaptive-lasso",
        "adaptive lasso",
        "minimise 1/(2n) ‖Y − X W‖² + λ Σⱼ |wⱼ| / |ŵⱼ|^γ, Ŵ = (XᵀX/n + μ I)⁻¹ XᵀY/n; score(k) = wₖ",
        WITH_SURVIVAL,
    ),
    Method::selector::<Dantzig>(
        "dantzig",
        "Dantzig selector",
        "minimise ‖w‖₁ where |xⱼᵀ (y − X w)| / n ≤ λ for every feature; score(k) = wₖ",
        TARGETS,
    ),
    Method::selector::<BestSubset>(
        "best-subset",
        "best subset selection",
        "minimise 1/(2n) ‖Y − X W‖² over W with at most k rows that are not zero; score(k) = wₖ",
        TARGETS,
    ),
    Method::selector::<L21>(
        "l21",
        "least squares with an l2,1 norm",
        "minimise 1/(2n) ‖Y − X W‖² + λ Σⱼ ‖Wⱼ‖; score(k) = ‖Wₖ‖",
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
    Method::selector::<LinkedFs>(
        "linkedfs",
        "linked feature selection: related samples get similar predictions",
        "minimise 1/(2n) [‖Y − X W‖² + Σ β R(W)] + λ Σⱼ ‖Wⱼ‖, R over pairs of related samples or authors; \
         score(k) = ‖Wₖ‖",
        TARGETS,
    )
    .using(&[
        (LinkTable::Authors, &["copost", "cofollowing", "cofollowed", "following"]),
        (LinkTable::Follows, &["cofollowing", "cofollowed", "following"]),
    ]),
    Method::selector::<FsNet>(
        "fsnet",
        "feature selection on a network: linked samples get similar predictions",
        "minimise 1/(2n) [‖Y − X W‖² + r ‖W‖² + g Σ aᵢⱼ ‖xᵢ W − xⱼ W‖²] + λ Σⱼ ‖Wⱼ‖; score(k) = ‖Wₖ‖",
        TARGETS,
    )
    .using(&[(LinkTable::Samples, &["graph"])]),
    Method::selector::<Lufs>(
        "lufs",
        "linked unsupervised feature selection, by social dimensions",
        "minimise tr(WᵀXᵀ[L + α (I − FFᵀ)]XW) + β Σⱼ √(‖Wⱼ‖² + ε) over Wᵀ(XᵀX + λI)W = I; score(k) = ‖Wₖ‖",
        TargetKind::ANY,
    )
    .using(&[(LinkTable::Samples, &[])]),
    Method::selector::<NetFs>(
        "netfs",
        "unsupervised selection with latent factors of the links",
        "minimise ‖XW − U‖² + α Σⱼ ‖Wⱼ‖ + β/2 ‖A − UUᵀ‖² over U ≥ 0 and W; score(k) = ‖Wₖ‖",
        TargetKind::ANY,
    )
    .using(&[(LinkTable::Samples, &[])]),
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
    Method::selector::<OverlappingGroupLasso>(
        "overlapping-group-lasso",
        "overlapping group lasso",
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
    Method::selector::<NonconvexGrouping>(
        "nonconvex-grouping",
        "non-convex feature grouping",
        "minimise 1/(2n) ‖y − X w‖² + λ [l1_ratio ‖w‖₁ + (1 − l1_ratio) Σ_ij aᵢⱼ ||wᵢ| − |wⱼ||]; score(k) = wₖ",
        TARGETS,
    ),
    Method::selector::<Slope>(
        "slope",
        "SLOPE, sorted l1 penalised estimation",
        "minimise 1/(2n) ‖y − X w‖² + λ Σₖ θₖ |w|₍ₖ₎, the largest first; score(k) = wₖ",
        TARGETS,
    ),
    Method::selector::<NonconvexLasso>(
        "nonconvex-lasso",
        "lasso with MCP, SCAD or l1/2 penalty",
        "minimise 1/(2n) ‖y − X w‖² + Σₖ p(|wₖ|), p concave; score(k) = wₖ",
        TARGETS,
    ),
    Method::selector::<Spam>(
        "spam",
        "sparse additive models",
        "minimise ½ ‖Y − Σₖ fₖ(xₖ)‖² + λ Σₖ ‖fₖ‖; score(k) = ‖fₖ‖ / √n",
        TARGETS,
    ),
    Method::selector::<Mcfs>(
        "mcfs",
        "multi-cluster feature selection",
        "minimise ‖X wᵢ − eᵢ‖² + αᵢ ‖wᵢ‖₁ for eigenvectors eᵢ of a graph of the samples; score(k) = maxᵢ |wᵢₖ|",
        TargetKind::ANY,
    ),
    Method::selector::<Udfs>(
        "udfs",
        "unsupervised discriminative feature selection",
        "minimise tr(WᵀMW) + α Σⱼ √(‖Wⱼ‖² + ε) over WᵀW = I, M the scatter of neighbourhoods; score(k) = ‖Wₖ‖",
        TargetKind::ANY,
    ),
    Method::selector::<Ndfs>(
        "ndfs",
        "non-negative discriminative feature selection",
        "minimise tr(Gᵀ𝓛G) + β (‖XW − G‖² + α Σⱼ ‖Wⱼ‖) + γ/2 ‖GᵀG − I‖² over G ≥ 0 and W; score(k) = ‖Wₖ‖",
        TargetKind::ANY,
    ),
    Method::sequence::<GpcovVar>(
        "gpcov-var",
        "variance in the geometry of several sources",
        "score(k) = 1/(n − 1) xₖᵀ (S − S11ᵀS/1ᵀS1) xₖ / xₖᵀDxₖ, S the mean affinity of samples over the views",
        TargetKind::ANY,
    )
    .needing_views(),
    Method::selector::<GpcovSpca>(
        "gpcov-spca",
        "sparse component in the geometry of several sources",
        "maximise tr(CQ) − ρ Σ |Qᵢⱼ| over tr Q = 1, Q ⪰ 0, C the covariance of gpcov-var; score(k) = |leading vector|ₖ",
        TargetKind::ANY,
    )
    .needing_views(),
    Method::selector::<Jelsr>(
        "jelsr",
        "joint embedding learning and sparse regression",
        "minimise tr(GᵀLG) + β (‖XW − G‖² + α Σⱼ √(‖Wⱼ‖² + ε)) over GᵀG = I and W; score(k) = ‖Wₖ‖",
        TargetKind::ANY,
    ),
    Method::selector::<GroupL1L21>(
        "group-l1-l21",
        "joint group l1 and l2,1 norms: few features, few views for each output",
        "minimise 1/(2n) ‖Y − X W‖² + λ [Σⱼ ‖Wⱼ‖ + ratio Σ_v Σₖ ‖W_vk‖] over views v; score(k) = ‖Wₖ‖",
        TARGETS,
    )
    .needing_views(),
    Method::selector::<GroupL1L21Clusters>(
        "group-l1-l21-clusters",
        "multi-view clustering and feature learning via structured sparsity",
        "minimise ‖XW − F‖² + α [Σⱼ ‖Wⱼ‖ + ratio Σ_v Σₖ ‖W_vk‖] + γ/2 ‖FᵀF − I‖² over F ≥ 0 and W; \
         score(k) = ‖Wₖ‖",
        TargetKind::ANY,
    )
    .needing_views(),
    Method::selector::<Mvfs>(
        "mvfs",
        "multi-view feature selection: a regression for every view",
        "minimise Σ_v {λ_vʳ tr(Fᵀ𝓛_vF) + β (‖X_vW_v − F‖² + α Σⱼ ‖W_vj‖)} + γ/2 ‖FᵀF − I‖² over F ≥ 0, W and λ; \
         score(k) = ‖Wₖ‖",
        TargetKind::ANY,
    )
    .needing_views(),
    Method::selector::<Aumfs>(
        "aumfs",
        "adaptive unsupervised multi-view feature selection",
        "minimise Σ_v λ_vʳ tr(Fᵀ𝓛_vF) + β (‖XW − F‖² + α Σⱼ ‖Wⱼ‖) + γ/2 ‖FᵀF − I‖² over F ≥ 0, W and λ; \
         score(k) = ‖Wₖ‖",
        TargetKind::ANY,
    )
    .needing_views(),
];
