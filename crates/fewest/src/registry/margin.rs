//! Linear machines whose weights rank features.

use fewest_core::Error;
use fewest_embedded::{LassoWeights, Multiclass, SvmWeights, SvrWeights};

use super::{Built, Kind, Method, Parameter, Parameters, Range, TargetKind};

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
                cost: parameters.real("C")?,
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
                cost: parameters.real("C")?,
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
];

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
    name: "C",
    default: Some("1"),
    range: Range::Positive,
    meaning: "cost of a sample inside the margin; features are standardised",
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
