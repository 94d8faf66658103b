//! Non-monotonic selection by multiple kernel learning.

use fewest_core::Error;
use fewest_mkl::{FeatureKernel, Nmmkl, Nmmklr, NonMonotonic, Scaling};

use super::tables::{Method, Parameter};
use super::{Built, Kind, Parameters, Range, TargetKind};

pub(super) static METHODS: &[Method] = &[
    Method {
        id: "nmmkl",
        title: "non-monotonic selection by multiple kernel learning, for classes",
        formula: "minimise over Σp = m the maximum of 2 αᵀ1 − τ αᵀα − Σ pₖ τₖ, 0 ≤ α ≤ C; score(k) = τₖ = (xₖᵀ(α∘y))²",
        kind: Kind::Select,
        targets: &[TargetKind::Classes],
        parameters: &[COST, CLASS_RIDGE, SHARED],
        build: |parameters| {
            Ok(Built::Selector(Box::new(Nmmkl {
                cost: parameters.real("cost")?,
                ridge: parameters.real("tau")?,
                options: options(parameters)?,
            })))
        },
    },
    Method {
        id: "nmmklr",
        title: "non-monotonic selection by multiple kernel learning, for real targets",
        formula: "minimise over Σp = m the maximum of 2 yᵀβ − 2 ε ‖β‖₁ − τ βᵀβ − Σ pₖ τₖ, |β| ≤ C; score(k) = τₖ = (xₖᵀβ)²",
        kind: Kind::Select,
        targets: &[TargetKind::Real, TargetKind::Outputs],
        parameters: &[COST, EPSILON, REAL_RIDGE, SHARED, TARGET_SCALING],
        build: |parameters| {
            Ok(Built::Selector(Box::new(Nmmklr {
                cost: parameters.real("cost")?,
                epsilon: parameters.real("epsilon")?,
                ridge: parameters.real("tau")?,
                standardise_target: parameters.word("target")? == "standardised",
                options: options(parameters)?,
            })))
        },
    },
];

const COST: &[Parameter] = &[Parameter {
    name: "cost",
    default: Some("1"),
    range: Range::Positive,
    meaning: "cost C of an error; larger fits closer",
}];

const CLASS_RIDGE: &[Parameter] = &[Parameter {
    name: "tau",
    default: Some("0.1"),
    range: Range::NonNegative,
    meaning: "ridge τ added to the kernel",
}];

const REAL_RIDGE: &[Parameter] = &[Parameter {
    name: "tau",
    default: Some("0"),
    range: Range::NonNegative,
    meaning: "ridge τ added to the kernel",
}];

const EPSILON: &[Parameter] = &[Parameter {
    name: "epsilon",
    default: Some("0.1"),
    range: Range::NonNegative,
    meaning: "error ε that costs nothing",
}];

const TARGET_SCALING: &[Parameter] = &[Parameter {
    name: "target",
    default: Some("standardised"),
    range: Range::OneOf(&["standardised", "raw"]),
    meaning: "standardised: outputs of mean 0 and standard deviation 1",
}];

const SHARED: &[Parameter] = &[
    Parameter {
        name: "kernel",
        default: Some("linear"),
        range: Range::OneOf(&["linear", "gaussian"]),
        meaning: "kernel of each numeric feature; categories get an indicator for each level",
    },
    Parameter {
        name: "sigma_x",
        default: Some("1"),
        range: Range::Positive,
        meaning: "width of the Gaussian kernel on standardised features",
    },
    Parameter {
        name: "factor_tolerance",
        default: Some("1e-6"),
        range: Range::ProperFraction,
        meaning: "what the factor of a Gaussian kernel may leave of its trace, as a share",
    },
    Parameter {
        name: "scaling",
        default: Some("standard"),
        range: Range::OneOf(&["standard", "range", "none"]),
        meaning: "numeric features to mean 0 and standard deviation 1, to [-1, 1], or as they are",
    },
    Parameter {
        name: "weights",
        default: Some("feature"),
        range: Range::OneOf(&["feature", "group"]),
        meaning: "group: features of a group (--groups) share a weight, and are selected together",
    },
    Parameter {
        name: "refine",
        default: Some("false"),
        range: Range::OneOf(&["false", "true"]),
        meaning: "true: swap features one for one as long as the machine gets better",
    },
    Parameter {
        name: "tolerance",
        default: Some("1e-8"),
        range: Range::Positive,
        meaning: "duality gap to reach, relative to the primal objective",
    },
];

fn options(parameters: &Parameters) -> Result<NonMonotonic, Error> {
    let gaussian = parameters.word("kernel")? == "gaussian";
    parameters.only_if("sigma_x", gaussian, "kernel=gaussian")?;
    parameters.only_if("factor_tolerance", gaussian, "kernel=gaussian")?;
    parameters.only_if("scaling", !gaussian, "kernel=linear")?;
    let kernel = if gaussian {
        FeatureKernel::Gaussian {
            sigma: parameters.real("sigma_x")?,
            factor_tolerance: parameters.real("factor_tolerance")?,
        }
    } else {
        FeatureKernel::Linear
    };
    let scaling = match parameters.word("scaling")? {
        "range" => Scaling::Range,
        "none" => Scaling::None,
        _ => Scaling::Standard,
    };
    Ok(NonMonotonic {
        kernel,
        scaling,
        grouped: parameters.word("weights")? == "group",
        prices: None,
        refine: parameters.word("refine")? == "true",
        tolerance: parameters.real("tolerance")?,
    })
}
