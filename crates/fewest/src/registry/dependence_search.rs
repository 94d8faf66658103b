//! Greedy and convex searches over kernel dependence: the baselines of the HSIC Lasso paper.

use fewest_core::Error;
use fewest_embedded::{Bahsic, Ckta, Fhsic, Fvm, OutputKernel, Qpfs, Similarity};
use fewest_kernels::Bandwidth;

use super::dependence::{DEPENDENCE, TARGETS, dependence};
use super::{Built, Kind, Method, Parameter, Parameters, Range};

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
        parameters: &[QPFS],
        build: |parameters| {
            let similarity = match parameters.word("similarity")? {
                "correlation" => Similarity::Correlation,
                _ => Qpfs::default().similarity,
            };
            Ok(Built::Selector(Box::new(Qpfs { similarity, gamma: parameters.optional_real("gamma")? })))
        },
    },
    Method {
        id: "fvm",
        title: "feature vector machine",
        formula: "minimise ½ ‖φ(y) − Σₖ αₖ φ(xₖ)‖² + λ Σₖ |αₖ|, φ(u)ᵀφ(v) = HSIC(u, v); score(k) = αₖ",
        kind: Kind::Select,
        targets: TARGETS,
        parameters: &[FVM, DEPENDENCE],
        build: |parameters| {
            let (lambda_ratio, dependence) =
                (parameters.optional_real("lambda_ratio")?, dependence(parameters)?);
            Ok(Built::Selector(Box::new(Fvm { lambda_ratio, dependence })))
        },
    },
];

const RIDGE: &[Parameter] = &[Parameter {
    name: "ridge",
    default: Some("0.001"),
    range: Range::NonNegative,
    meaning: "ridge that makes the minimum unique, as a share of the largest squared norm of a Gram matrix",
}];

const QPFS: &[Parameter] = &[
    Parameter {
        name: "similarity",
        default: Some("hsic"),
        range: Range::OneOf(&["hsic", "correlation"]),
        meaning: "D: HSIC of Gram matrices of norm 1 (width 1), or the squared correlation",
    },
    Parameter {
        name: "gamma",
        default: None,
        range: Range::Fraction,
        meaning: "weight of relevance; when left out, mean of D / (mean of D + mean of d)",
    },
];

const FVM: &[Parameter] = &[Parameter {
    name: "lambda_ratio",
    default: None,
    range: Range::Fraction,
    meaning: "λ as a share of the smallest that selects nothing; when left out, the number of features decides",
}];

const FRACTION: &[Parameter] = &[Parameter {
    name: "fraction",
    default: Some("0.1"),
    range: Range::NonNegative,
    meaning: "share of the features left that goes at a time, below 1; 0: one by one",
}];

/// The kernels of a set of features and of the target.
const SET_KERNEL: &[Parameter] = &[
    Parameter {
        name: "sigma_x",
        default: Some("1"),
        range: Range::Positive,
        meaning: "width of the kernel on standardised features, times the root of their number",
    },
    Parameter {
        name: "output",
        default: Some("auto"),
        range: Range::OneOf(&["auto", "delta", "plain-delta", "gaussian"]),
        meaning: "kernel of the target; auto: delta for classes, Gaussian for numbers, an affinity as it is",
    },
];

fn output(parameters: &Parameters) -> Result<OutputKernel, Error> {
    Ok(match parameters.word("output")? {
        "delta" => OutputKernel::Delta,
        "plain-delta" => OutputKernel::PlainDelta,
        "gaussian" => OutputKernel::Gaussian(Bandwidth::Fixed(1.0)),
        _ => OutputKernel::Auto,
    })
}
