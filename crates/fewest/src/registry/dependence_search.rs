//! Greedy and convex searches over kernel dependence: the baselines of the HSIC Lasso paper.

use fewest_core::Error;
use fewest_core::method::Options;
use fewest_counts::discretisation::Discretisation;
use fewest_dependence::{
    Bahsic, Ckta, Dependence, Fhsic, Fvm, Hsfs, Normalization, OutputKernel, Qpfs, Similarity,
};
use fewest_kernels::Bandwidth;

use super::dependence::{DEPENDENCE, TARGETS, dependence};
use super::tables::{Method, Parameter};
use super::{Built, Kind, Parameters, Range};

pub(super) static METHODS: &[Method] = &[
    Method {
        id: "fhsic",
        title: "forward selection with HSIC",
        formula: "add the k with the largest tr(M̄ L̄), M = exp(−‖v − v′‖² / (2 m σ²)) over the m chosen features",
        kind: Kind::Sequence,
        targets: TARGETS,
        parameters: &[SET_KERNEL],
        build: |parameters| {
            let (sigma, output) = (parameters.real("sigma_x")?, output(parameters)?);
            Ok(Built::Selector(Box::new(Fhsic { sigma, output })))
        },
    },
    Method {
        id: "bahsic",
        title: "backward elimination with HSIC",
        formula: "take away the k that leave the largest tr(M̄ L̄), M = exp(−‖v − v′‖² / (2 m σ²)) over the m left",
        kind: Kind::Select,
        targets: TARGETS,
        parameters: &[FRACTION, SET_KERNEL],
        build: |parameters| {
            let (fraction, sigma) = (parameters.real("fraction")?, parameters.real("sigma_x")?);
            Ok(Built::Selector(Box::new(Bahsic { fraction, sigma, output: output(parameters)? })))
        },
    },
    Method {
        id: "ckta",
        title: "centred kernel target alignment",
        formula: "minimise over α ≥ 0: ½ Σₖₗ αₖ αₗ HSIC(xₖ, xₗ) − Σₖ αₖ HSIC(xₖ, y); score(k) = αₖ",
        kind: Kind::Select,
        targets: TARGETS,
        parameters: &[RIDGE, DEPENDENCE],
        build: |parameters| {
            let (ridge, dependence) = (parameters.real("ridge")?, dependence(parameters)?);
            Ok(Built::Selector(Box::new(Ckta { ridge, dependence })))
        },
    },
    Method {
        id: "qpfs",
        title: "quadratic programming feature selection",
        formula: "minimise over θ ≥ 0, Σ θ = 1: ½ (1 − γ) θᵀ D θ − γ dᵀ θ; score(k) = θₖ",
        kind: Kind::Select,
        targets: TARGETS,
        parameters: &[GAMMA, QPFS_SIMILARITY],
        build: |parameters| {
            let unit = Dependence { normalization: Normalization::Unit, ..Dependence::default() };
            let similarity = similarity(parameters, || Ok(unit))?;
            Ok(Built::Selector(Box::new(Qpfs { similarity, gamma: parameters.optional_real("gamma")? })))
        },
    },
    Method {
        id: "fvm",
        title: "feature vector machine",
        formula: "minimise ½ ‖φ(y) − Σₖ αₖ φ(xₖ)‖² + λ Σₖ |αₖ|, φ(u)ᵀφ(v) = D(u, v); score(k) = αₖ",
        kind: Kind::Select,
        targets: TARGETS,
        parameters: &[PENALTY, FVM_SIMILARITY, DEPENDENCE],
        build: |parameters| {
            let (lambda, lambda_ratio) =
                (parameters.optional_real("lambda")?, parameters.optional_real("lambda_ratio")?);
            for kernel in DEPENDENCE {
                let with_kernels = parameters.word("similarity")? == "hsic";
                parameters.only_if(kernel.name, with_kernels, "similarity=hsic")?;
            }
            let similarity = similarity(parameters, || dependence(parameters))?;
            Ok(Built::Selector(Box::new(Fvm { similarity, lambda, lambda_ratio })))
        },
    },
    Method {
        id: "hsfs",
        title: "Hilbert-Schmidt feature selection",
        formula: "minimise over W (q × d): −HSIC(WX, y) + λ Σⱼ ‖wⱼ‖_∞; score(j) = ‖wⱼ‖_∞",
        kind: Kind::Select,
        targets: TARGETS,
        parameters: &[PROJECTION],
        build: |parameters| {
            Ok(Built::Selector(Box::new(Hsfs {
                lambda: parameters.real("lambda")?,
                projections: parameters.count("projections")?,
                starts: parameters.count("starts")?,
                sharpness: parameters.real("sharpness")?,
                iterations: parameters.count("iterations")?,
                tolerance: parameters.real("tolerance")?,
                output: output(parameters)?,
            })))
        },
    },
];

const PROJECTION: &[Parameter] = &[
    Parameter {
        name: "lambda",
        default: Some("0.01"),
        range: Range::NonNegative,
        meaning: "weight λ of the norms against HSIC, which is between 0 and 1",
    },
    Parameter {
        name: "projections",
        default: Some("2"),
        range: Range::Count(1),
        meaning: "number q of projections, at most that of the features",
    },
    Parameter {
        name: "starts",
        default: Some("5"),
        range: Range::Count(1),
        meaning: "seeded starts, of which the best end is taken",
    },
    Parameter {
        name: "sharpness",
        default: Some("100"),
        range: Range::Positive,
        meaning: "s of the smoothed norm, at most ln(2q)/s below the exact one",
    },
    Parameter {
        name: "iterations",
        default: Some("500"),
        range: Range::Count(1),
        meaning: "most iterations from a start",
    },
    Parameter {
        name: "tolerance",
        default: Some("1e-8"),
        range: Range::Positive,
        meaning: "norm of the gradient at which a start is done",
    },
    OUTPUT,
];

const RIDGE: &[Parameter] = &[Parameter {
    name: "ridge",
    default: Some("0.001"),
    range: Range::NonNegative,
    meaning: "ridge that makes the minimum unique, as a share of the largest squared norm of a Gram matrix",
}];

const GAMMA: &[Parameter] = &[Parameter {
    name: "gamma",
    default: Some("auto"),
    range: Range::ShareOr(&["auto"]),
    meaning: "weight of relevance; auto: mean of D / (mean of D + mean of d)",
}];

const SIMILARITIES: Range = Range::OneOf(&["mutual-information", "hsic", "correlation"]);

const BINS: Parameter = Parameter {
    name: "bins",
    default: Some("5"),
    range: Range::Count(2),
    meaning: "bins of equal width, at most 65536, of numbers and of a real target, with similarity=mutual-information",
};

const QPFS_SIMILARITY: &[Parameter] = &[
    Parameter {
        name: "similarity",
        default: Some("mutual-information"),
        range: SIMILARITIES,
        meaning: "D: mutual information over bins, HSIC of Gram matrices of norm 1 (width 1), or the squared correlation",
    },
    BINS,
];

const FVM_SIMILARITY: &[Parameter] = &[
    Parameter {
        name: "similarity",
        default: Some("hsic"),
        range: SIMILARITIES,
        meaning: "D: mutual information over bins, HSIC, or the squared correlation",
    },
    BINS,
];

const PENALTY: &[Parameter] = &[
    Parameter {
        name: "lambda",
        default: None,
        range: Range::Positive,
        meaning: "λ; when left out, the number of features decides",
    },
    Parameter {
        name: "lambda_ratio",
        default: None,
        range: Range::Fraction,
        meaning: "λ as a share of the smallest that selects nothing, instead of λ itself",
    },
];

fn similarity(
    parameters: &Parameters,
    dependence: impl FnOnce() -> Result<Dependence, Error>,
) -> Result<Similarity, Error> {
    let word = parameters.word("similarity")?;
    parameters.only_if("bins", word == "mutual-information", "similarity=mutual-information")?;
    Ok(match word {
        "hsic" => Similarity::Hsic(dependence()?),
        "correlation" => Similarity::Correlation,
        _ => {
            let bins = parameters.count("bins")?;
            let discretisation = Discretisation { bins, ..Discretisation::default() };
            discretisation.check()?;
            Similarity::MutualInformation(discretisation)
        }
    })
}

const FRACTION: &[Parameter] = &[Parameter {
    name: "fraction",
    default: Some("0.1"),
    range: Range::BelowOne,
    meaning: "share of the features left that goes at a time; 0: one by one",
}];

/// The kernels of a set of features and of the target.
const SET_KERNEL: &[Parameter] = &[
    Parameter {
        name: "sigma_x",
        default: Some("1"),
        range: Range::Positive,
        meaning: "width of the kernel on standardised features, times the root of their number",
    },
    OUTPUT,
];

const OUTPUT: Parameter = Parameter {
    name: "output",
    default: Some("auto"),
    range: Range::OneOf(&["auto", "delta", "plain-delta", "gaussian"]),
    meaning: "kernel of the target; auto: delta for classes, Gaussian for numbers, an affinity as it is",
};

fn output(parameters: &Parameters) -> Result<OutputKernel, Error> {
    Ok(match parameters.word("output")? {
        "delta" => OutputKernel::Delta,
        "plain-delta" => OutputKernel::PlainDelta,
        "gaussian" => OutputKernel::Gaussian(Bandwidth::Fixed(1.0)),
        _ => OutputKernel::Auto,
    })
}
