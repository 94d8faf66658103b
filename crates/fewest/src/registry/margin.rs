//! Linear machines whose weights rank features.

use fewest_core::Error;
use fewest_margin::{
    ConcaveSelection, ElasticNetSvm, HingeLoss, InnerNorm, L1Svm, LassoWeights, Multiclass,
    RadiusMarginScales, ScaledKernel, SvmWeights, SvrWeights, ZeroNorm,
};

use super::tables::{Method, Parameter};
use super::{Built, Kind, Parameters, Range, TargetKind};

const CLASSES: &[TargetKind] = &[TargetKind::Classes];

pub(super) static METHODS: &[Method] = &[
    Method {
        id: "svm-lw",
        title: "largest weights of a linear support vector machine",
        formula: "minimise ½ ‖w‖² + C Σᵢ max(0, 1 − yᵢ (⟨w, xᵢ⟩ + b)); score(k) = wₖ",
        kind: Kind::Sequence,
        targets: CLASSES,
        parameters: &[COST, MULTICLASS, TOLERANCE],
        build: |parameters| {
            Ok(Built::Selector(Box::new(SvmWeights {
                cost: parameters.real("cost")?,
                multiclass: multiclass(parameters)?,
                tolerance: parameters.real("tolerance")?,
            })))
        },
    },
    Method {
        id: "svr-lw",
        title: "largest weights of linear support vector regression",
        formula: "minimise ½ ‖w‖² + C Σᵢ max(0, |yᵢ − ⟨w, xᵢ⟩ − b| − ε); score(k) = wₖ",
        kind: Kind::Sequence,
        targets: &[TargetKind::Real, TargetKind::Outputs],
        parameters: &[COST, EPSILON, TOLERANCE],
        build: |parameters| {
            Ok(Built::Selector(Box::new(SvrWeights {
                cost: parameters.real("cost")?,
                epsilon: parameters.real("epsilon")?,
                tolerance: parameters.real("tolerance")?,
            })))
        },
    },
    Method {
        id: "lasso-lw",
        title: "largest weights of a cross-validated lasso",
        formula: "minimise 1/(2n) Σᵢ (yᵢ − ⟨w, xᵢ⟩ − b)² + λ ‖w‖₁, λ by cross-validation; score(k) = wₖ",
        kind: Kind::Sequence,
        targets: &[TargetKind::Classes, TargetKind::Real, TargetKind::Outputs],
        parameters: &[FOLDS, TOLERANCE],
        build: |parameters| {
            Ok(Built::Selector(Box::new(LassoWeights {
                folds: parameters.count("folds")?,
                one_standard_error: parameters.word("rule")? == "one-standard-error",
                tolerance: parameters.real("tolerance")?,
            })))
        },
    },
    Method {
        id: "l1-svm",
        title: "support vector machine with an l1 norm",
        formula: "minimise ‖w‖₁ + C Σᵢ max(0, 1 − yᵢ (⟨w, xᵢ⟩ + b))²; score(k) = wₖ",
        kind: Kind::Select,
        targets: CLASSES,
        parameters: &[SPARSE_COST, LOSS, MULTICLASS, TOLERANCE],
        build: |parameters| {
            Ok(Built::Selector(Box::new(L1Svm {
                cost: parameters.optional_real("cost")?,
                loss: match parameters.word("loss")? {
                    "hinge" => HingeLoss::Plain,
                    _ => HingeLoss::Squared,
                },
                multiclass: multiclass(parameters)?,
                tolerance: parameters.real("tolerance")?,
            })))
        },
    },
    Method {
        id: "enet-svm",
        title: "support vector machine with an elastic net",
        formula: "minimise r ‖w‖₁ + ½ (1 − r) ‖w‖² + C Σᵢ max(0, 1 − yᵢ (⟨w, xᵢ⟩ + b))²; score(k) = wₖ",
        kind: Kind::Select,
        targets: CLASSES,
        parameters: &[SPARSE_COST, L1_RATIO, MULTICLASS, TOLERANCE],
        build: |parameters| {
            Ok(Built::Selector(Box::new(ElasticNetSvm {
                cost: parameters.optional_real("cost")?,
                l1_ratio: parameters.real("l1_ratio")?,
                multiclass: multiclass(parameters)?,
                tolerance: parameters.real("tolerance")?,
            })))
        },
    },
    Method {
        id: "l0-appr",
        title: "approximation of the zero norm",
        formula: "repeat z ← z ∘ |ŵ|, ŵ the weights of a linear support vector machine on z ∘ x; score(k) = zₖ",
        kind: Kind::Select,
        targets: CLASSES,
        parameters: &[COST, NORM, MULTICLASS, TOLERANCE],
        build: |parameters| {
            Ok(Built::Selector(Box::new(ZeroNorm {
                cost: parameters.real("cost")?,
                norm: match parameters.word("norm")? {
                    "l1" => InnerNorm::L1,
                    _ => InnerNorm::L2,
                },
                multiclass: multiclass(parameters)?,
                tolerance: parameters.real("tolerance")?,
            })))
        },
    },
    Method {
        id: "fsv",
        title: "feature selection via concave minimisation",
        formula: "minimise (1 − λ) (mean ξ of one class + of the other) + λ Σₖ (1 − exp(−α |wₖ|)); score(k) = wₖ",
        kind: Kind::Sequence,
        targets: CLASSES,
        parameters: &[CONCAVE, MULTICLASS],
        build: |parameters| {
            Ok(Built::Selector(Box::new(ConcaveSelection {
                lambda: parameters.real("lambda")?,
                alpha: parameters.real("alpha")?,
                multiclass: multiclass(parameters)?,
                tolerance: parameters.real("tolerance")?,
            })))
        },
    },
    Method {
        id: "r2w2",
        title: "scales that minimise the radius-margin bound",
        formula: "minimise R²(σ) ‖w(σ)‖² over the scales σ of features; score(k) = σₖ",
        kind: Kind::Select,
        targets: CLASSES,
        parameters: &[SCALED, COST, MULTICLASS, TIGHT],
        build: |parameters| {
            let gaussian = parameters.word("kernel")? == "gaussian";
            parameters.only_if("gamma", gaussian, "kernel=gaussian")?;
            Ok(Built::Selector(Box::new(RadiusMarginScales {
                kernel: if gaussian {
                    ScaledKernel::Gaussian(parameters.optional_real("gamma")?)
                } else {
                    ScaledKernel::Linear
                },
                cost: parameters.real("cost")?,
                multiclass: multiclass(parameters)?,
                tolerance: parameters.real("tolerance")?,
            })))
        },
    },
];

const SCALED: &[Parameter] = &[
    Parameter {
        name: "kernel",
        default: Some("linear"),
        range: Range::OneOf(&["linear", "gaussian"]),
        meaning: "kernel of the machine and of the ball",
    },
    Parameter {
        name: "gamma",
        default: None,
        range: Range::Positive,
        meaning: "γ of the Gaussian kernel; one over the number of features that vary when left out",
    },
];

const TIGHT: &[Parameter] = &[Parameter {
    name: "tolerance",
    default: Some("1e-18"),
    range: Range::Positive,
    meaning: "relative duality gap of each machine and ball",
}];

const NORM: &[Parameter] = &[Parameter {
    name: "norm",
    default: Some("l2"),
    range: Range::OneOf(&["l2", "l1"]),
    meaning: "the norm that each machine minimises; l1 is a linear program",
}];

const CONCAVE: &[Parameter] = &[
    Parameter {
        name: "lambda",
        default: Some("0.05"),
        range: Range::ProperFraction,
        meaning: "how much features count against errors",
    },
    Parameter {
        name: "alpha",
        default: Some("5"),
        range: Range::Positive,
        meaning: "how fast the penalty of a weight saturates",
    },
    Parameter {
        name: "tolerance",
        default: Some("1e-8"),
        range: Range::Positive,
        meaning: "gap of each linear program",
    },
];

const SPARSE_COST: &[Parameter] = &[Parameter {
    name: "cost",
    default: None,
    range: Range::Positive,
    meaning: "C, cost of a sample inside the margin; when left out, the number of features decides",
}];

const LOSS: &[Parameter] = &[Parameter {
    name: "loss",
    default: Some("squared-hinge"),
    range: Range::OneOf(&["squared-hinge", "hinge"]),
    meaning: "the loss of a sample inside the margin: ξ², or ξ by a linear program",
}];

const L1_RATIO: &[Parameter] = &[Parameter {
    name: "l1_ratio",
    default: Some("0.5"),
    range: Range::Fraction,
    meaning: "share r of the l1 norm in the penalty; 1 is l1-svm",
}];

const FOLDS: &[Parameter] = &[
    Parameter {
        name: "folds",
        default: Some("5"),
        range: Range::Count(2),
        meaning: "parts of the cross-validation",
    },
    Parameter {
        name: "rule",
        default: Some("minimum"),
        range: Range::OneOf(&["minimum", "one-standard-error"]),
        meaning: "the penalty with the least error, or the largest within one standard error of it",
    },
];

const COST: &[Parameter] = &[Parameter {
    name: "cost",
    default: Some("1"),
    range: Range::Positive,
    meaning: "C, cost of a sample inside the margin; features are standardised",
}];

const EPSILON: &[Parameter] = &[Parameter {
    name: "epsilon",
    default: Some("0.1"),
    range: Range::NonNegative,
    meaning: "error that costs nothing, in standard deviations of the target",
}];

const MULTICLASS: &[Parameter] = &[Parameter {
    name: "multiclass",
    default: Some("one-vs-rest"),
    range: Range::OneOf(&["one-vs-rest", "one-vs-one"]),
    meaning: "more than two classes: a machine for each class, or for each pair of classes",
}];

const TOLERANCE: &[Parameter] = &[Parameter {
    name: "tolerance",
    default: Some("1e-9"),
    range: Range::Positive,
    meaning: "relative duality gap to reach",
}];

fn multiclass(parameters: &Parameters) -> Result<Multiclass, Error> {
    Ok(match parameters.word("multiclass")? {
        "one-vs-one" => Multiclass::OneVsOne,
        _ => Multiclass::OneVsRest,
    })
}
