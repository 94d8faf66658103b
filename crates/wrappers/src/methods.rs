//! The list of the methods.

use fewest_core::method::{Draft, Kind, Method, TargetKind};

use crate::{
    Bound, BoundChange, Direction, HsicChange, NormChange, RecursiveElimination, Sensitivity,
    SensitivityNoise, SensitivityScorer, SequentialSearch, Stepwise,
};

const TARGETS: &[TargetKind] = &[TargetKind::Classes, TargetKind::Real];
const SEARCH_TARGETS: &[TargetKind] = &[TargetKind::Classes, TargetKind::Real, TargetKind::Outputs];

/// Features chosen by the models trained with them: recursive elimination, sequential search,
/// stepwise regression.
pub static METHODS: &[Method] = &[
    Method::preset(
        Kind::Score,
        "sd-l",
        "sensitivity of probabilistic predictions, Laplace noise",
        "score(j) = meanᵢ KL(p(y|xᵢ), p(y|xᵢ with feature j permuted)), p Laplace around a support vector machine",
        TARGETS,
        || Draft::scorer(SensitivityScorer::new(Sensitivity::new(SensitivityNoise::Laplace))),
    ),
    Method::preset(
        Kind::Score,
        "sd-g",
        "sensitivity of probabilistic predictions, Gaussian noise",
        "score(j) = meanᵢ KL(p(y|xᵢ), p(y|xᵢ with feature j permuted)), p Gaussian around a support vector machine",
        TARGETS,
        || Draft::scorer(SensitivityScorer::new(Sensitivity::new(SensitivityNoise::Gaussian))),
    ),
    Method::preset(
        Kind::Sequence,
        "sd-l-rfe",
        "recursive elimination by the sensitivity of predictions, Laplace noise",
        "train; take away the feature with the smallest sd-l score; again",
        TARGETS,
        || Draft::selector(RecursiveElimination::new(Sensitivity::new(SensitivityNoise::Laplace))),
    ),
    Method::preset(
        Kind::Sequence,
        "sd-g-rfe",
        "recursive elimination by the sensitivity of predictions, Gaussian noise",
        "train; take away the feature with the smallest sd-g score; again",
        TARGETS,
        || Draft::selector(RecursiveElimination::new(Sensitivity::new(SensitivityNoise::Gaussian))),
    ),
    Method::preset(
        Kind::Sequence,
        "dw-rfe",
        "recursive elimination by the norm of the weights (SVM-RFE, SVR-RFE)",
        "train; take away the j with the smallest |‖ω‖² − ‖ω₍₋ⱼ₎‖²|, which is wⱼ² for the linear kernel; again",
        TARGETS,
        || Draft::selector(RecursiveElimination::new(NormChange)),
    ),
    Method::preset(
        Kind::Sequence,
        "rmb-rfe",
        "recursive elimination by the radius-margin bound",
        "train; take away the j without which 4 R² Σ|β| + Σξ + nε is smallest (R² ‖ω‖² for classes); again",
        TARGETS,
        || Draft::selector(RecursiveElimination::new(BoundChange::new(Bound::RadiusMargin))),
    ),
    Method::preset(
        Kind::Sequence,
        "spanb-rfe",
        "recursive elimination by the span bound",
        "train; take away the j without which Σₚ |βₚ| Sₚ² + Σξ + nε is smallest; again",
        TARGETS,
        || Draft::selector(RecursiveElimination::new(BoundChange::new(Bound::Span))),
    ),
    Method::preset(
        Kind::Sequence,
        "hsic-rfe",
        "recursive elimination by dependence on the target",
        "take away the j with the smallest tr(K L̄) − tr(K₍₋ⱼ₎ L̄), K the kernel over the features left; again",
        TARGETS,
        || Draft::selector(RecursiveElimination::new(HsicChange)),
    ),
    Method::preset(
        Kind::Sequence,
        "sfs",
        "sequential forward selection",
        "add the j with the best cross-validated score of a learner on S ∪ {j}",
        SEARCH_TARGETS,
        || {
            Draft::selector(SequentialSearch {
                direction: Direction::Forward,
                floating: false,
                ..SequentialSearch::default()
            })
        },
    ),
    Method::preset(
        Kind::Sequence,
        "sbs",
        "sequential backward selection",
        "take away the j with the best cross-validated score of a learner on S ∖ {j}",
        SEARCH_TARGETS,
        || {
            Draft::selector(SequentialSearch {
                direction: Direction::Backward,
                floating: false,
                ..SequentialSearch::default()
            })
        },
    ),
    Method::preset(
        Kind::Select,
        "sffs",
        "sequential floating forward selection",
        "add as sfs; then take away while that gives the best set of its size so far",
        SEARCH_TARGETS,
        || {
            Draft::selector(SequentialSearch {
                direction: Direction::Forward,
                floating: true,
                ..SequentialSearch::default()
            })
        },
    ),
    Method::preset(
        Kind::Select,
        "sbfs",
        "sequential floating backward selection",
        "take away as sbs; then add while that gives the best set of its size so far",
        SEARCH_TARGETS,
        || {
            Draft::selector(SequentialSearch {
                direction: Direction::Backward,
                floating: true,
                ..SequentialSearch::default()
            })
        },
    ),
    Method::sequence::<Stepwise>(
        "stepwise",
        "forward stepwise regression",
        "add the j with the smallest p-value of F = (RSS − RSS₊ⱼ)/q / (RSS₊ⱼ/(n − p − q)) while it is below p_enter",
        &[TargetKind::Real],
    ),
];
