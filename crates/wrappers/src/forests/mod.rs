//! Selection by the importance of features to random forests.

mod boruta;
mod decisions;
mod importance;
mod samples;

use fewest_core::method::{Method, TargetKind};

pub use boruta::Boruta;
pub use importance::PermutationImportance;

const TARGETS: &[TargetKind] = &[TargetKind::Classes, TargetKind::Real, TargetKind::Outputs];

/// Features by their importance to random forests, held against chance.
pub static METHODS: &[Method] = &[
    Method::sequence::<Boruta>(
        "boruta",
        "all relevant features: those more important to a forest than the best of their shuffled copies",
        "confirm j if P(X ≥ hits(j)), reject j if P(X ≤ hits(j)) is below α/2m; hit: Z(j) > max Z(shadows), X ~ B(rounds, ½)",
        TARGETS,
    ),
    Method::scorer::<PermutationImportance>(
        "permutation-importance",
        "importance to a forest: the error of samples out of bag with the feature permuted",
        "score(j) = mean over trees of error(out of bag, feature j permuted) − error(out of bag)",
        TARGETS,
    ),
];
