//! Statistics of single features.

use fewest_core::{Error, Scorer};
use fewest_filters::statistical::{
    ChiSquare, ClassVariance, Coefficient, Copies, Correction, Correlation, Distinct, FScore, Gini,
    KruskalWallis, Significant, TScore, Uncorrelated, Variance,
};

use super::{Built, Kind, Method, Parameter, Parameters, Range, TargetKind};

pub(super) static METHODS: &[Method] = &[
    Method {
        id: "variance",
        title: "variance",
        formula: "score(k) = 1/n Σᵢ (xᵢₖ − mean)²",
        kind: Kind::Score,
        targets: &[
            TargetKind::None,
            TargetKind::Classes,
            TargetKind::Real,
            TargetKind::Outputs,
            TargetKind::Affinity,
        ],
        parameters: &[],
        build: |_| Ok(Built::Scorer(Box::new(Variance))),
    },
    Method {
        id: "t-score",
        title: "t-score",
        formula: "score(k) = |m₁ − m₂| / √(v₁/n₁ + v₂/n₂) for two classes",
        kind: Kind::Score,
        targets: &[TargetKind::Classes],
        parameters: &[CLASS_VARIANCE, SIGNIFICANCE],
        build: |parameters| {
            let variance = match parameters.word("variance")? {
                "population" => ClassVariance::Population,
                _ => ClassVariance::Sample,
            };
            parameters.only_if("alpha", variance == ClassVariance::Sample, "variance=sample")?;
            with_significance(TScore { variance }, parameters)
        },
    },
    Method {
        id: "f-score",
        title: "F-score",
        formula: "score(k) = variance between classes / variance within; for a real target r² (n − 2) / (1 − r²)",
        kind: Kind::Score,
        targets: &[TargetKind::Classes, TargetKind::Real],
        parameters: &[SIGNIFICANCE],
        build: |parameters| with_significance(FScore, parameters),
    },
    Method {
        id: "chi2",
        title: "chi-squared score",
        formula: "score(k) = Σ (observed − expected)² / expected over bins × classes",
        kind: Kind::Score,
        targets: &[TargetKind::Classes],
        parameters: &[BINS, SIGNIFICANCE],
        build: |parameters| with_significance(ChiSquare { bins: parameters.count("bins")? }, parameters),
    },
    Method {
        id: "gini",
        title: "Gini index",
        formula: "score(k) = min over v of p(x ≤ v) (1 − Σₛ p(s|x ≤ v)²) + p(x > v) (1 − Σₛ p(s|x > v)²)",
        kind: Kind::Score,
        targets: &[TargetKind::Classes],
        parameters: &[],
        build: |_| Ok(Built::Scorer(Box::new(Gini))),
    },
    Method {
        id: "kruskal-wallis",
        title: "Kruskal–Wallis test",
        formula: "score(k) = (n − 1) Σⱼ nⱼ (r̄ⱼ − r̄)² / Σᵢ (rᵢ − r̄)², r the ranks",
        kind: Kind::Score,
        targets: &[TargetKind::Classes],
        parameters: &[SIGNIFICANCE],
        build: |parameters| with_significance(KruskalWallis, parameters),
    },
    Method {
        id: "correlation",
        title: "absolute correlation",
        formula: "score(k) = |cov(xₖ, y)| / √(var(xₖ) var(y))",
        kind: Kind::Score,
        targets: &[TargetKind::Real, TargetKind::Classes],
        parameters: &[COEFFICIENT, SIGNIFICANCE],
        build: |parameters| {
            let coefficient = match parameters.word("coefficient")? {
                "spearman" => Coefficient::Spearman,
                _ => Coefficient::Pearson,
            };
            with_significance(Correlation { coefficient }, parameters)
        },
    },
    Method {
        id: "distinct",
        title: "removal of constants and copies",
        formula: "first to last, each that is not constant and no a xⱼ + b of an earlier one",
        kind: Kind::Sequence,
        targets: &[
            TargetKind::None,
            TargetKind::Classes,
            TargetKind::Real,
            TargetKind::Outputs,
            TargetKind::Affinity,
        ],
        parameters: &[COPIES],
        build: |parameters| {
            let copies = match parameters.word("copies")? {
                "exact" => Copies::Exact,
                _ => Copies::Linear,
            };
            Ok(Built::Selector(Box::new(Distinct { copies })))
        },
    },
    Method {
        id: "uncorrelated",
        title: "removal of repeated features",
        formula: "best first by F-score or variance, each whose |correlation| with all kept before is ≤ threshold",
        kind: Kind::Sequence,
        targets: &[TargetKind::None, TargetKind::Classes, TargetKind::Real],
        parameters: &[THRESHOLD],
        build: |parameters| {
            Ok(Built::Selector(Box::new(Uncorrelated { threshold: parameters.real("threshold")? })))
        },
    },
];

const CLASS_VARIANCE: &[Parameter] = &[Parameter {
    name: "variance",
    default: Some("sample"),
    range: Range::OneOf(&["sample", "population"]),
    meaning: "the variance of a class divides by its samples less 1 (Welch's t), or by its samples",
}];

const BINS: &[Parameter] = &[Parameter {
    name: "bins",
    default: Some("5"),
    range: Range::Count(2),
    meaning: "bins of equal width that a numeric feature is cut into",
}];

const COEFFICIENT: &[Parameter] = &[Parameter {
    name: "coefficient",
    default: Some("pearson"),
    range: Range::OneOf(&["pearson", "spearman"]),
    meaning: "pearson: how close to a line; spearman: how close to monotone",
}];

const COPIES: &[Parameter] = &[Parameter {
    name: "copies",
    default: Some("linear"),
    range: Range::OneOf(&["linear", "exact"]),
    meaning: "what repeats an earlier feature: a linear function of it, or the same values only",
}];

const THRESHOLD: &[Parameter] = &[Parameter {
    name: "threshold",
    default: Some("0.95"),
    range: Range::Fraction,
    meaning: "largest absolute correlation allowed between chosen features; 1 removes linear copies only",
}];

/// Cut-offs by significance, for scores that have p-values.
const SIGNIFICANCE: &[Parameter] = &[
    Parameter {
        name: "alpha",
        default: None,
        range: Range::ProperFraction,
        meaning: "select only features that are significant at this level",
    },
    Parameter {
        name: "correction",
        default: Some("benjamini-hochberg"),
        range: Range::OneOf(&["benjamini-hochberg", "bonferroni"]),
        meaning: "alpha bounds the share of false discoveries, or the probability of a single one",
    },
];

/// The scorer, or with `alpha` the selector of what is significant.
fn with_significance(scorer: impl Scorer + 'static, parameters: &Parameters) -> Result<Built, Error> {
    let alpha = parameters.optional_real("alpha")?;
    parameters.only_if("correction", alpha.is_some(), "alpha is given")?;
    let correction = match parameters.word("correction")? {
        "bonferroni" => Correction::Bonferroni,
        _ => Correction::BenjaminiHochberg,
    };
    Ok(match alpha {
        Some(alpha) => Built::Selector(Box::new(Significant::new(scorer, alpha, correction))),
        None => Built::Scorer(Box::new(scorer)),
    })
}
