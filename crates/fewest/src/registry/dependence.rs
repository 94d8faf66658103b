//! Scores of dependence: HSIC and NOCCO. Also the parameters that say how dependence is measured, which the
//! lassos over them share.

use fewest_core::Error;
use fewest_dependence::{Dependence, Estimator, Hsic, InputKernel, Nocco, Normalization, OutputKernel};
use fewest_kernels::Bandwidth;
use fewest_kernels::Form;

use super::tables::{Method, Parameter};
use super::{Built, Kind, Parameters, Range, TargetKind};

/// Targets that a kernel of this family is defined on.
pub(super) const TARGETS: &[TargetKind] =
    &[TargetKind::Classes, TargetKind::Real, TargetKind::Outputs, TargetKind::Affinity];

pub(super) static METHODS: &[Method] = &[
    Method {
        id: "hsic",
        title: "Hilbert–Schmidt independence criterion",
        formula: "score(k) = tr(K̄ₖ L̄), K̄ₖ the centred Gram matrix of feature k alone, L̄ that of the target",
        kind: Kind::Score,
        targets: TARGETS,
        parameters: &[DEPENDENCE],
        build: |parameters| Ok(Built::Scorer(Box::new(Hsic { dependence: dependence(parameters)? }))),
    },
    Method {
        id: "nocco",
        title: "normalised cross-covariance operator",
        formula: "score(k) = tr(K̃ₖ L̃), K̃ = K̄ (K̄ + ε n I)⁻¹",
        kind: Kind::Score,
        targets: TARGETS,
        parameters: &[EPSILON, DEPENDENCE],
        build: |parameters| {
            let epsilon = parameters.real("epsilon")?;
            Ok(Built::Scorer(Box::new(Nocco { epsilon, dependence: dependence(parameters)? })))
        },
    },
];

/// The ridge of NOCCO.
pub(super) const EPSILON: &[Parameter] = &[Parameter {
    name: "epsilon",
    default: Some("0.001"),
    range: Range::Positive,
    meaning: "ridge ε that keeps the inverse stable; smaller weighs fine structure more",
}];

/// How dependence is measured.
pub(super) const DEPENDENCE: &[Parameter] = &[
    Parameter {
        name: "kernel",
        default: Some("gaussian"),
        range: Range::OneOf(&["gaussian", "laplace", "table"]),
        meaning: "kernel of numeric features; table is the Gaussian from the paper's 4096 values",
    },
    Parameter {
        name: "sigma_x",
        default: Some("1"),
        range: Range::PositiveOr(&["median"]),
        meaning: "width of that kernel on standardised features; median: the median distance of each",
    },
    Parameter {
        name: "output",
        default: Some("auto"),
        range: Range::OneOf(&["auto", "delta", "plain-delta", "gaussian"]),
        meaning: "kernel of the target; auto: delta for classes, Gaussian for numbers, an affinity as it is",
    },
    Parameter {
        name: "sigma_y",
        default: None,
        range: Range::PositiveOr(&["median"]),
        meaning: "width of the target's Gaussian kernel (which it chooses); 1 when left out",
    },
    Parameter {
        name: "normalization",
        default: Some("none"),
        range: Range::OneOf(&["none", "unit"]),
        meaning: "unit: divide every Gram matrix by its Frobenius norm",
    },
    Parameter {
        name: "estimator",
        default: Some("full"),
        range: Range::OneOf(&["full", "block"]),
        meaning: "all pairs of samples, or pairs within blocks only",
    },
    Parameter {
        name: "block_size",
        default: None,
        range: Range::Count(2),
        meaning: "samples in a block, with estimator=block; 20 when left out",
    },
    Parameter {
        name: "permutations",
        default: None,
        range: Range::Count(1),
        meaning: "shuffles that blocks are averaged over, with estimator=block; 3 when left out",
    },
    Parameter {
        name: "form",
        default: Some("auto"),
        range: Range::OneOf(&["auto", "exact", "low-rank"]),
        meaning: "how Gram matrices are held; auto: whichever costs less",
    },
    Parameter {
        name: "factor_tolerance",
        default: Some("1e-6"),
        range: Range::ProperFraction,
        meaning: "error allowed to low-rank factors, relative to the Frobenius norm",
    },
];

pub(super) fn dependence(parameters: &Parameters) -> Result<Dependence, Error> {
    let input = match parameters.word("kernel")? {
        "laplace" => InputKernel::Laplace(width(parameters, "sigma_x")?),
        "table" => match width(parameters, "sigma_x")? {
            Bandwidth::Fixed(sigma) => InputKernel::Table(sigma),
            _ => return Err(Error::parameter("sigma_x", "median", "a number with kernel=table")),
        },
        _ => InputKernel::Gaussian(width(parameters, "sigma_x")?),
    };
    let output = parameters.word("output")?;
    parameters.only_if("sigma_y", matches!(output, "auto" | "gaussian"), "the output kernel is Gaussian")?;
    let output = match output {
        "delta" => OutputKernel::Delta,
        "plain-delta" => OutputKernel::PlainDelta,
        "auto" if !parameters.is_given("sigma_y") => OutputKernel::Auto,
        _ => OutputKernel::Gaussian(width(parameters, "sigma_y")?),
    };
    let in_blocks = parameters.word("estimator")? == "block";
    parameters.only_if("block_size", in_blocks, "estimator=block")?;
    parameters.only_if("permutations", in_blocks, "estimator=block")?;
    let estimator = if in_blocks {
        Estimator::Block {
            size: parameters.optional_count("block_size")?.unwrap_or(20),
            permutations: parameters.optional_count("permutations")?.unwrap_or(3),
        }
    } else {
        Estimator::Full
    };
    Ok(Dependence {
        input,
        output,
        normalization: match parameters.word("normalization")? {
            "unit" => Normalization::Unit,
            _ => Normalization::None,
        },
        estimator,
        form: match parameters.word("form")? {
            "exact" => Form::Exact,
            "low-rank" => Form::LowRank,
            _ => Form::Auto,
        },
        factor_tolerance: parameters.real("factor_tolerance")?,
        ..Dependence::default()
    })
}

/// The kernel width `name`: a number, the word `median`, or 1 where it was left out.
fn width(parameters: &Parameters, name: &str) -> Result<Bandwidth, Error> {
    match (parameters.get(name), parameters.optional_real(name)?) {
        (_, Some(sigma)) => Ok(Bandwidth::Fixed(sigma)),
        (Some(_), None) => Ok(Bandwidth::Median),
        (None, None) => Ok(Bandwidth::Fixed(1.0)),
    }
}
