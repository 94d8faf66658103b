//! Multiple indefinite kernel learning.

use fewest_core::Error;
use fewest_kernels::Form;
use fewest_mkl::{BaseKernel, MikFs, Price};

use super::tables::{Method, Parameter};
use super::{Built, Kind, Parameters, Range, TargetKind};

pub(super) static METHODS: &[Method] = &[Method {
    id: "mik-fs",
    title: "multiple indefinite kernel learning for feature selection",
    formula: "minimise over β, b, d ≥ 0: λ₁ βᵀKβ + λ₂ Σ dₘ + Σ max(0, 1 − yᵢ((Kβ)ᵢ + b))², K = Σ dₘ Kₘ; score(m) = dₘ",
    kind: Kind::Select,
    targets: &[TargetKind::Classes, TargetKind::Real],
    parameters: &[KERNEL, SHAPES, PENALTY, SOLUTION],
    build: |parameters| Ok(Built::Selector(Box::new(mik_fs(parameters)?))),
}];

const KERNEL: &[Parameter] = &[
    Parameter {
        name: "kernel",
        default: Some("sigmoid"),
        range: Range::OneOf(&["sigmoid", "gaussian", "polynomial", "linear", "mixed"]),
        meaning: "kernel of standardised features; mixed: sigmoid, Gaussian and polynomial, a weight each",
    },
    Parameter {
        name: "scale",
        default: None,
        range: Range::Positive,
        meaning: "a of tanh(a x x′ − r) and of (a x x′ + c)^degree; 1 when left out",
    },
    Parameter {
        name: "shift",
        default: None,
        range: Range::NonNegative,
        meaning: "r of tanh(a x x′ − r); 0 when left out",
    },
];

/// What shapes a Gaussian or a polynomial kernel.
pub(super) const SHAPES: &[Parameter] = &[
    Parameter {
        name: "sigma",
        default: None,
        range: Range::Positive,
        meaning: "width of the Gaussian kernel; 1 when left out",
    },
    Parameter {
        name: "degree",
        default: None,
        range: Range::Count(1),
        meaning: "degree of the polynomial kernel; 2 when left out",
    },
    Parameter {
        name: "offset",
        default: None,
        range: Range::NonNegative,
        meaning: "c of (a x x′ + c)^degree; 1 when left out",
    },
];

const PENALTY: &[Parameter] = &[
    Parameter {
        name: "lambda1",
        default: Some("1"),
        range: Range::Positive,
        meaning: "weight of βᵀKβ; its product with lambda2 is what counts",
    },
    Parameter {
        name: "ratio",
        default: Some("0.1"),
        range: Range::Fraction,
        meaning: "lambda2 relative to the smallest at which no feature is worth its price",
    },
    Parameter {
        name: "lambda2",
        default: None,
        range: Range::Positive,
        meaning: "price of a unit of weight, instead of the ratio",
    },
    Parameter {
        name: "folds",
        default: None,
        range: Range::Count(2),
        meaning: "folds of a cross-validation that chooses the ratio",
    },
    Parameter {
        name: "epsilon",
        default: Some("0.1"),
        range: Range::NonNegative,
        meaning: "half the tube of a real target's loss, in its standard deviations",
    },
    Parameter {
        name: "threshold",
        default: Some("1e-5"),
        range: Range::BelowOne,
        meaning: "weights below this part of the largest count as zero",
    },
];

const SOLUTION: &[Parameter] = &[
    Parameter {
        name: "iterations",
        default: Some("200"),
        range: Range::Count(1),
        meaning: "most alternations between machine and weights",
    },
    Parameter {
        name: "tolerance",
        default: Some("1e-5"),
        range: Range::Positive,
        meaning: "relative decrease of the objective at which the alternation ends",
    },
    Parameter {
        name: "steps",
        default: Some("accelerated"),
        range: Range::OneOf(&["accelerated", "plain"]),
        meaning: "difference-of-convex steps with or without momentum",
    },
    Parameter {
        name: "weights",
        default: Some("working-set"),
        range: Range::OneOf(&["working-set", "all"]),
        meaning: "weights in an alternation: those that come into question, or all as in the paper, for comparison",
    },
    Parameter {
        name: "form",
        default: Some("auto"),
        range: Range::OneOf(&["auto", "low-rank", "exact"]),
        meaning: "thin signed factors for the features that come into question or for all, or n² numbers a feature, for comparison",
    },
    Parameter {
        name: "factor_tolerance",
        default: Some("1e-4"),
        range: Range::ProperFraction,
        meaning: "error allowed to low-rank factors, relative to the Frobenius norm",
    },
];

/// The Gaussian kernel of [`SHAPES`].
pub(super) fn gaussian(parameters: &Parameters) -> Result<BaseKernel, Error> {
    Ok(BaseKernel::Gaussian { sigma: parameters.optional_real("sigma")?.unwrap_or(1.0) })
}

/// The polynomial kernel of [`SHAPES`].
pub(super) fn polynomial(parameters: &Parameters, scale: f64) -> Result<BaseKernel, Error> {
    Ok(BaseKernel::Polynomial {
        degree: u32::try_from(parameters.optional_count("degree")?.unwrap_or(2)).unwrap_or(u32::MAX),
        offset: parameters.optional_real("offset")?.unwrap_or(1.0),
        scale,
    })
}

fn mik_fs(parameters: &Parameters) -> Result<MikFs, Error> {
    let word = parameters.word("kernel")?;
    let among = |kernels: &[&str]| word == "mixed" || kernels.contains(&word);
    let needs = [
        ("scale", among(&["sigmoid", "polynomial"]), "kernel=sigmoid, polynomial or mixed"),
        ("shift", among(&["sigmoid"]), "kernel=sigmoid or mixed"),
        ("sigma", among(&["gaussian"]), "kernel=gaussian or mixed"),
        ("degree", among(&["polynomial"]), "kernel=polynomial or mixed"),
        ("offset", among(&["polynomial"]), "kernel=polynomial or mixed"),
    ];
    for (name, useful, when) in needs {
        parameters.only_if(name, useful, when)?;
    }
    let scale = parameters.optional_real("scale")?.unwrap_or(1.0);
    let sigmoid = BaseKernel::Sigmoid { scale, offset: -parameters.optional_real("shift")?.unwrap_or(0.0) };
    let (gaussian, polynomial) = (gaussian(parameters)?, polynomial(parameters, scale)?);
    let kernels = match word {
        "gaussian" => vec![gaussian],
        "polynomial" => vec![polynomial],
        "linear" => vec![BaseKernel::Linear],
        "mixed" => vec![sigmoid, gaussian, polynomial],
        _ => vec![sigmoid],
    };
    let (lambda2, folds) = (parameters.optional_real("lambda2")?, parameters.optional_count("folds")?);
    parameters.instead_of(&["lambda2"], "folds")?;
    parameters.instead_of(&["lambda2", "folds"], "ratio")?;
    let price = match (lambda2, folds) {
        (Some(lambda2), _) => Price::Lambda2(lambda2),
        (None, Some(folds)) => Price::Validated(folds),
        (None, None) => Price::Ratio(parameters.real("ratio")?),
    };
    Ok(MikFs {
        kernels,
        lambda1: parameters.real("lambda1")?,
        price,
        epsilon: parameters.real("epsilon")?,
        threshold: parameters.real("threshold")?,
        iterations: parameters.count("iterations")?,
        tolerance: parameters.real("tolerance")?,
        accelerated: parameters.word("steps")? == "accelerated",
        working_set: parameters.word("weights")? == "working-set",
        form: match parameters.word("form")? {
            "exact" => Form::Exact,
            "low-rank" => Form::LowRank,
            _ => Form::Auto,
        },
        factor_tolerance: parameters.real("factor_tolerance")?,
        ..MikFs::default()
    })
}
