//! Multiple kernel learning in the dual of a support vector machine.

use fewest_core::Error;
use fewest_embedded::{BaseKernel, Combination, DualKernelLearning, Spectrum};

use super::{Built, Kind, Method, Parameter, Parameters, Range, TargetKind};

pub(super) static METHODS: &[Method] = &[
    Method {
        id: "rfmkl",
        title: "multiple kernel learning, a sum of kernels",
        formula: "minimise over d ≥ 0: max_α {Σ α − ½ (α∘y)ᵀK(α∘y)} + λ Σ d, K = Σ dₘ Kₘ; score(m) = dₘ",
        kind: Kind::Select,
        targets: &[TargetKind::Classes],
        parameters: &[SEMIDEFINITE, LEARNING],
        build: |parameters| {
            let word = parameters.word("kernel")?;
            for (name, kernel) in [("sigma", "gaussian"), ("degree", "polynomial"), ("offset", "polynomial")]
            {
                parameters.only_if(name, word == kernel, &format!("kernel={kernel}"))?;
            }
            let kernel = match word {
                "linear" => BaseKernel::Linear,
                "polynomial" => BaseKernel::Polynomial {
                    degree: u32::try_from(parameters.optional_count("degree")?.unwrap_or(2))
                        .unwrap_or(u32::MAX),
                    offset: parameters.optional_real("offset")?.unwrap_or(1.0),
                    scale: 1.0,
                },
                _ => BaseKernel::Gaussian { sigma: parameters.optional_real("sigma")?.unwrap_or(1.0) },
            };
            built(parameters, Combination::Sum { kernel, spectrum: None })
        },
    },
    Method {
        id: "gmkl",
        title: "generalised multiple kernel learning, a product of Gaussian kernels",
        formula: "minimise over d ≥ 0: max_α {Σ α − ½ (α∘y)ᵀK(α∘y)} + λ Σ d, K(x, z) = exp(−Σ dₘ (xₘ − zₘ)²); score(m) = dₘ",
        kind: Kind::Select,
        targets: &[TargetKind::Classes],
        parameters: &[LEARNING],
        build: |parameters| built(parameters, Combination::Product),
    },
    Method {
        id: "mkl",
        title: "multiple kernel learning of indefinite kernels with changed spectra",
        formula: "rfmkl with tanh(a x x′ − r), the negative eigenvalues of each Kₘ clipped, flipped or shifted; score(m) = dₘ",
        kind: Kind::Select,
        targets: &[TargetKind::Classes],
        parameters: &[SIGMOID, LEARNING],
        build: |parameters| {
            let spectrum = match parameters.word("spectrum")? {
                "flip" => Spectrum::Flip,
                "shift" => Spectrum::Shift,
                _ => Spectrum::Clip,
            };
            let kernel =
                BaseKernel::Sigmoid { scale: parameters.real("scale")?, offset: -parameters.real("shift")? };
            built(parameters, Combination::Sum { kernel, spectrum: Some(spectrum) })
        },
    },
];

const SEMIDEFINITE: &[Parameter] = &[
    Parameter {
        name: "kernel",
        default: Some("gaussian"),
        range: Range::OneOf(&["gaussian", "polynomial", "linear"]),
        meaning: "kernel of standardised features",
    },
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
        meaning: "c of (x x′ + c)^degree; 1 when left out",
    },
];

const SIGMOID: &[Parameter] = &[
    Parameter {
        name: "spectrum",
        default: Some("clip"),
        range: Range::OneOf(&["clip", "flip", "shift"]),
        meaning: "negative eigenvalues become zero, lose their sign, or the smallest is taken off all",
    },
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

const LEARNING: &[Parameter] = &[
    Parameter { name: "C", default: Some("1"), range: Range::Positive, meaning: "cost of an error" },
    Parameter {
        name: "ratio",
        default: Some("0.1"),
        range: Range::Fraction,
        meaning: "price of a unit of weight, relative to that at which none is worth it",
    },
    Parameter {
        name: "tolerance",
        default: Some("1e-3"),
        range: Range::Positive,
        meaning: "projected gradient to reach, relative to the price",
    },
    Parameter {
        name: "iterations",
        default: Some("200"),
        range: Range::Count(1),
        meaning: "most steps at a price",
    },
];

fn built(parameters: &Parameters, combination: Combination) -> Result<Built, Error> {
    Ok(Built::Selector(Box::new(DualKernelLearning {
        combination,
        cost: parameters.real("C")?,
        ratio: parameters.real("ratio")?,
        tolerance: parameters.real("tolerance")?,
        iterations: parameters.count("iterations")?,
    })))
}
