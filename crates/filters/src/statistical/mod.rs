//! Scores by classical statistics of single features, their p-values, and cut-offs by significance.
//!
//! A categorical feature counts as its level indicators, divided by √2: with two levels that is the same as
//! the code 0 or 1, and with more it does not depend on how levels are numbered. Where a method needs an
//! order, it says what it does instead.

mod chi2;
pub(crate) mod classes;
mod correlation;
mod distinct;
pub(crate) mod f_score;
mod gini;
mod kruskal_wallis;
mod levels;
pub(crate) mod regression;
mod significance;
mod t_score;
mod tails;
mod uncorrelated;
mod variance;

use fewest_core::Scores;
use fewest_core::method::{Draft, Kind, Method, Relation, TargetKind};

pub use chi2::ChiSquare;
pub use correlation::{Coefficient, CorrelationScore};
pub use distinct::{Copies, Distinct};
pub use f_score::FScore;
pub use gini::Gini;
pub use kruskal_wallis::KruskalWallis;
pub use significance::{Correction, Significance, Significant, Test, Tested};
pub use t_score::{ClassVariance, TScore};
pub use uncorrelated::Uncorrelated;
pub use variance::Variance;

const CLASSES: &[TargetKind] = &[TargetKind::Classes];

/// The methods.
pub static METHODS: &[Method] = &[
    Method::scorer::<Variance>("variance", "variance", "score(k) = 1/n Σᵢ (xᵢₖ − mean)²", TargetKind::ANY)
        .streaming::<Variance>(),
    test::<TScore>("t-score", "t-score", "score(k) = |m₁ − m₂| / √(v₁/n₁ + v₂/n₂) for two classes", CLASSES)
        .streaming::<Tested<TScore>>(),
    test::<FScore>(
        "f-score",
        "F-score",
        "score(k) = variance between classes / variance within; for a real target r² (n − 2) / (1 − r²)",
        &[TargetKind::Classes, TargetKind::Real],
    )
    .streaming::<Tested<FScore>>(),
    test::<ChiSquare>(
        "chi2",
        "chi-squared score",
        "score(k) = Σ (observed − expected)² / expected over bins × classes",
        CLASSES,
    )
    .streaming::<Tested<ChiSquare>>(),
    Method::scorer::<Gini>(
        "gini",
        "Gini index",
        "score(k) = min over v of p(x ≤ v) (1 − Σₛ p(s|x ≤ v)²) + p(x > v) (1 − Σₛ p(s|x > v)²)",
        CLASSES,
    ),
    test::<KruskalWallis>(
        "kruskal-wallis",
        "Kruskal–Wallis test",
        "score(k) = (n − 1) Σⱼ nⱼ (r̄ⱼ − r̄)² / Σᵢ (rᵢ − r̄)², r the ranks",
        CLASSES,
    ),
    test::<CorrelationScore>(
        "correlation",
        "absolute correlation",
        "score(k) = |cov(xₖ, y)| / √(var(xₖ) var(y))",
        &[TargetKind::Real, TargetKind::Classes],
    )
    .streaming::<Tested<CorrelationScore>>(),
    Method::sequence::<Distinct>(
        "distinct",
        "removal of constants and copies",
        "first to last, each that is not constant and no a xⱼ + b of an earlier one",
        TargetKind::ANY,
    ),
    Method::sequence::<Uncorrelated>(
        "uncorrelated",
        "removal of repeated features",
        "best first by F-score or variance, each whose |correlation| with all kept before is ≤ threshold",
        &[TargetKind::None, TargetKind::Classes, TargetKind::Real],
    ),
];

/// A score with p-values, which selects by significance where a level is given.
const fn test<S: Test + Default + 'static>(
    id: &'static str,
    title: &'static str,
    formula: &'static str,
    targets: &'static [TargetKind],
) -> Method {
    Method::preset(Kind::Score, id, title, formula, targets, || Draft::either(Tested::<S>::default()))
}

impl Test for FScore {}
impl Test for ChiSquare {}
impl Test for KruskalWallis {}
impl Test for CorrelationScore {}

impl Test for TScore {
    fn p_values_where() -> Option<Relation> {
        let words = vec![ClassVariance::Sample.word()];
        Some(Relation::With { parameter: "variance", words })
    }
}

/// The note about features that were removed because they are constant, where there are any.
fn removed_constants(n_constant: usize) -> Option<String> {
    match n_constant {
        0 => None,
        1 => Some("1 constant feature was removed".to_owned()),
        _ => Some(format!("{n_constant} constant features were removed")),
    }
}

/// The p-value of a feature with nothing to test: a constant, which is no test among others.
const NO_TEST: f64 = f64::NAN;

/// The statistic and the p-value of a feature that a stopped run has not reached.
const UNKNOWN: (f64, f64) = (f64::NAN, f64::NAN);

/// Statistics with their p-values, the largest statistic best.
fn tested(scored: Vec<(f64, f64)>) -> Scores {
    let (values, p_values): (Vec<f64>, Vec<f64>) = scored.into_iter().unzip();
    let mut scores = Scores::descending(values);
    scores.p_values = Some(p_values);
    scores
}
