//! Greedy and convex searches over kernel dependence: the baselines of the HSIC Lasso paper.

use fewest_core::Error;
use fewest_embedded::{Bahsic, Fhsic, OutputKernel};
use fewest_kernels::Bandwidth;

use super::dependence::TARGETS;
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
];

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
