#![doc = include_str!("../README.md")]

mod decreasing;
mod ikpca;
mod indefinite;
mod limits;
mod multiple;
mod nonmonotonic;

use fewest_core::method::{Draft, Kind, Method, TargetKind};

pub use fewest_core::Error;
pub use ikpca::Ikpca;
pub use indefinite::{
    Alternation, BaseKernel, BaseKernels, KernelWeight, MikFs, MikFsModel, ValidationPoint,
};
pub use multiple::{Gmkl, Rfmkl, Spectrum};
pub use nonmonotonic::{
    FeatureCosts, FeatureKernel, FeatureScaling, Nmmkl, Nmmklr, NonMonotonic, NonMonotonicSolution,
    WeightUnit,
};

const CLASSES: &[TargetKind] = &[TargetKind::Classes];

/// The methods of this family.
pub static METHODS: &[Method] = &[
    Method::selector::<Nmmkl>(
        "nmmkl",
        "non-monotonic selection by multiple kernel learning, for classes",
        "minimise over Σp = m the maximum of 2 αᵀ1 − τ αᵀα − Σ pₖ τₖ, 0 ≤ α ≤ C; score(k) = τₖ = (xₖᵀ(α∘y))²",
        CLASSES,
    ),
    Method::selector::<Nmmklr>(
        "nmmklr",
        "non-monotonic selection by multiple kernel learning, for real targets",
        "minimise over Σp = m the maximum of 2 yᵀβ − 2 ε ‖β‖₁ − τ βᵀβ − Σ pₖ τₖ, |β| ≤ C; \
         score(k) = τₖ = (xₖᵀβ)²",
        &[TargetKind::Real, TargetKind::Outputs],
    ),
    Method::selector::<MikFs>(
        "mik-fs",
        "multiple indefinite kernel learning for feature selection",
        "minimise over β, b, d ≥ 0: λ₁ βᵀKβ + λ₂ Σ dₘ + Σ max(0, 1 − yᵢ((Kβ)ᵢ + b))², \
         K = Σ dₘ Kₘ; score(m) = dₘ",
        &[TargetKind::Classes, TargetKind::Real],
    ),
    Method::selector::<Rfmkl>(
        "rfmkl",
        "multiple kernel learning, a sum of kernels",
        "minimise over d ≥ 0: max {Σ α − ½ Σ dₘ (α∘y)ᵀKₘ(α∘y) : 0 ≤ α ≤ 1, αᵀy = 0} + λ Σ d; score(m) = dₘ",
        CLASSES,
    ),
    Method::selector::<Gmkl>(
        "gmkl",
        "generalised multiple kernel learning, a product of Gaussian kernels",
        "minimise over d ≥ 0: max {Σ α − ½ (α∘y)ᵀK(α∘y) : 0 ≤ α ≤ C, αᵀy = 0} + λ Σ d, \
         K(x, z) = exp(−Σ dₘ (xₘ − zₘ)²); score(m) = dₘ",
        CLASSES,
    ),
    Method::preset(
        Kind::Select,
        "mkl",
        "multiple kernel learning of indefinite kernels with changed spectra",
        "rfmkl with tanh(a x x′ − r), the negative eigenvalues of each Kₘ clipped, flipped or shifted; \
         score(m) = dₘ",
        CLASSES,
        || Draft::selector(Rfmkl::mkl()),
    ),
    Method::scorer::<Ikpca>(
        "ikpca",
        "principal components with an indefinite kernel, a feature's share of them",
        "score(m) = Σ sign(λ) vᵀHKₘHv over the eigenvectors v of H(Σ Kₘ)H with the largest |λ|, \
         tanh(a x x′ − r)",
        TargetKind::ANY,
    ),
];
