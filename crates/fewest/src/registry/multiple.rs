//! Multiple kernel learning in the dual of a support vector machine, and components of an indefinite kernel.

use fewest_core::Error;
use fewest_mkl::{BaseKernel, KernelComponents, ProductKernelLearning, Spectrum, SumKernelLearning};

use super::indefinite::{SHAPES, gaussian, polynomial};
use super::tables::{Method, Parameter};
use super::{Built, Kind, Parameters, Range, TargetKind};

pub(super) static METHODS: &[Method] = &[
    Method {
        id: "rfmkl",
        title: "multiple kernel learning, a sum of kernels",
        formula: "minimise over d ≥ 0: max {Σ α − ½ Σ dₘ (α∘y)ᵀKₘ(α∘y) : 0 ≤ α ≤ 1, αᵀy = 0} + λ Σ d; score(m) = dₘ",
        kind: Kind::Select,
        targets: &[TargetKind::Classes],
        parameters: &[SEMIDEFINITE, SHAPES, PRICE, GAP],
        build: |parameters| {
            let word = parameters.word("kernel")?;
            for (name, kernel) in [("sigma", "gaussian"), ("degree", "polynomial"), ("offset", "polynomial")]
            {
                parameters.only_if(name, word == kernel, &format!("kernel={kernel}"))?;
            }
            let kernel = match word {
                "linear" => BaseKernel::Linear,
                "polynomial" => polynomial(parameters, 1.0)?,
                _ => gaussian(parameters)?,
            };
            sum(parameters, kernel, None)
        },
    },
    Method {
        id: "gmkl",
        title: "generalised multiple kernel learning, a product of Gaussian kernels",
        formula: "minimise over d ≥ 0: max {Σ α − ½ (α∘y)ᵀK(α∘y) : 0 ≤ α ≤ C, αᵀy = 0} + λ Σ d, K(x, z) = exp(−Σ dₘ (xₘ − zₘ)²); score(m) = dₘ",
        kind: Kind::Select,
        targets: &[TargetKind::Classes],
        parameters: &[COST, PRICE, DESCENT],
        build: |parameters| {
            Ok(Built::Selector(Box::new(ProductKernelLearning {
                cost: parameters.real("C")?,
                ratio: parameters.real("ratio")?,
                tolerance: parameters.real("tolerance")?,
                iterations: parameters.count("iterations")?,
            })))
        },
    },
    Method {
        id: "mkl",
        title: "multiple kernel learning of indefinite kernels with changed spectra",
        formula: "rfmkl with tanh(a x x′ − r), the negative eigenvalues of each Kₘ clipped, flipped or shifted; score(m) = dₘ",
        kind: Kind::Select,
        targets: &[TargetKind::Classes],
        parameters: &[SPECTRUM, SIGMOID, PRICE, GAP],
        build: |parameters| {
            let spectrum = match parameters.word("spectrum")? {
                "flip" => Spectrum::Flip,
                "shift" => Spectrum::Shift,
                _ => Spectrum::Clip,
            };
            sum(parameters, sigmoid(parameters)?, Some(spectrum))
        },
    },
    Method {
        id: "ikpca",
        title: "principal components with an indefinite kernel, a feature's share of them",
        formula: "score(m) = Σ sign(λ) vᵀHKₘHv over the eigenvectors v of H(Σ Kₘ)H with the largest |λ|, tanh(a x x′ − r)",
        kind: Kind::Score,
        targets: &[
            TargetKind::None,
            TargetKind::Classes,
            TargetKind::Real,
            TargetKind::Outputs,
            TargetKind::Affinity,
        ],
        parameters: &[COMPONENTS, SIGMOID],
        build: |parameters| {
            let kernel = sigmoid(parameters)?;
            let components = parameters.count("components")?;
            Ok(Built::Scorer(Box::new(KernelComponents { kernel, components })))
        },
    },
];

const COMPONENTS: &[Parameter] = &[Parameter {
    name: "components",
    default: Some("10"),
    range: Range::Count(1),
    meaning: "how many components",
}];

const SEMIDEFINITE: &[Parameter] = &[Parameter {
    name: "kernel",
    default: Some("gaussian"),
    range: Range::OneOf(&["gaussian", "polynomial", "linear"]),
    meaning: "kernel of standardised features",
}];

const SPECTRUM: &[Parameter] = &[Parameter {
    name: "spectrum",
    default: Some("clip"),
    range: Range::OneOf(&["clip", "flip", "shift"]),
    meaning: "negative eigenvalues become zero, lose their sign, or the smallest is taken off all",
}];

const SIGMOID: &[Parameter] = &[
    Parameter {
        name: "scale", default: Some("1"), range: Range::Positive, meaning: "a of tanh(a x x′ − r)"
    },
    Parameter {
        name: "shift",
        default: Some("0"),
        range: Range::NonNegative,
        meaning: "r of tanh(a x x′ − r)",
    },
];

const COST: &[Parameter] =
    &[Parameter { name: "C", default: Some("1"), range: Range::Positive, meaning: "cost of an error" }];

const PRICE: &[Parameter] = &[Parameter {
    name: "ratio",
    default: Some("0.1"),
    range: Range::Fraction,
    meaning: "price of a unit of weight, relative to that at which none is worth it",
}];

const GAP: &[Parameter] = &[Parameter {
    name: "tolerance",
    default: Some("1e-10"),
    range: Range::Positive,
    meaning: "duality gap to reach, relative to the objective",
}];

const DESCENT: &[Parameter] = &[
    Parameter {
        name: "tolerance",
        default: Some("1e-8"),
        range: Range::Positive,
        meaning: "projected gradient to reach, relative to the price",
    },
    Parameter {
        name: "iterations",
        default: Some("1000"),
        range: Range::Count(1),
        meaning: "most steps at a price",
    },
];

fn sigmoid(parameters: &Parameters) -> Result<BaseKernel, Error> {
    Ok(BaseKernel::Sigmoid { scale: parameters.real("scale")?, offset: -parameters.real("shift")? })
}

fn sum(parameters: &Parameters, kernel: BaseKernel, spectrum: Option<Spectrum>) -> Result<Built, Error> {
    let (ratio, tolerance) = (parameters.real("ratio")?, parameters.real("tolerance")?);
    Ok(Built::Selector(Box::new(SumKernelLearning { kernel, spectrum, ratio, tolerance })))
}
