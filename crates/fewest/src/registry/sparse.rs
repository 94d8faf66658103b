//! Sparse linear and additive models.

use fewest_core::Error;
use fewest_linear::{ElasticNet, Lasso, Spam, Strength};

use super::hsic_lasso::solver;
use super::tables::{Method, Parameter};
use super::{Built, Kind, Parameters, Range, TargetKind};

const TARGETS: &[TargetKind] = &[TargetKind::Classes, TargetKind::Real, TargetKind::Outputs];

pub(super) static METHODS: &[Method] = &[
    Method {
        id: "lasso",
        title: "lasso",
        formula: "minimise 1/(2n) ‖Y − X W‖² + alpha ‖W‖₁; score(k) = wₖ",
        kind: Kind::Select,
        targets: TARGETS,
        parameters: &[LASSO],
        build: |parameters| Ok(Built::Selector(Box::new(lasso(parameters)?))),
    },
    Method {
        id: "elastic-net",
        title: "elastic net",
        formula: "minimise 1/(2n) ‖Y − X W‖² + alpha l1_ratio ‖W‖₁ + ½ alpha (1 − l1_ratio) ‖W‖²; score(k) = wₖ",
        kind: Kind::Select,
        targets: TARGETS,
        parameters: &[L1_RATIO, LASSO],
        build: |parameters| {
            let (l1_ratio, lasso) = (parameters.real("l1_ratio")?, lasso(parameters)?);
            Ok(Built::Selector(Box::new(ElasticNet { l1_ratio, lasso })))
        },
    },
    Method {
        id: "spam",
        title: "sparse additive models",
        formula: "minimise ½ ‖Y − Σₖ fₖ(xₖ)‖² + λ Σₖ ‖fₖ‖; score(k) = ‖fₖ‖ / √n",
        kind: Kind::Select,
        targets: TARGETS,
        parameters: &[SPAM],
        build: |parameters| {
            Ok(Built::Selector(Box::new(Spam {
                lambda_ratio: parameters.optional_real("lambda_ratio")?,
                sigma: parameters.real("sigma_x")?,
                smallest_eigenvalue: parameters.real("smallest_eigenvalue")?,
                tolerance: parameters.real("tolerance")?,
            })))
        },
    },
];

const SPAM: &[Parameter] = &[
    Parameter {
        name: "lambda_ratio",
        default: None,
        range: Range::Fraction,
        meaning: "λ as a share of the smallest that selects nothing; when left out, the number of features decides",
    },
    Parameter {
        name: "sigma_x",
        default: Some("1"),
        range: Range::Positive,
        meaning: "width of the Gaussian kernel on standardised features",
    },
    Parameter {
        name: "smallest_eigenvalue",
        default: Some("0.01"),
        range: Range::Fraction,
        meaning: "functions kept, by their eigenvalue as a share of the largest; smaller allows rougher ones",
    },
    Parameter {
        name: "tolerance",
        default: Some("1e-6"),
        range: Range::Positive,
        meaning: "duality gap to reach, relative to the objective at zero",
    },
];

const L1_RATIO: &[Parameter] = &[Parameter {
    name: "l1_ratio",
    default: Some("0.5"),
    range: Range::Fraction,
    meaning: "share of the l1 norm in the penalty; 1 is the lasso",
}];

const LASSO: &[Parameter] = &[
    Parameter {
        name: "alpha",
        default: None,
        range: Range::Positive,
        meaning: "strength of the penalty; when left out, the number of features decides",
    },
    Parameter {
        name: "lambda_ratio",
        default: None,
        range: Range::Fraction,
        meaning: "alpha as a share of the smallest one that selects nothing",
    },
    Parameter {
        name: "solver",
        default: Some("auto"),
        range: Range::OneOf(&["auto", "cd", "dal", "lars", "pgd"]),
        meaning: "auto: the exact path for a number of features, coordinate descent for a given penalty",
    },
    Parameter {
        name: "tolerance",
        default: Some("1e-9"),
        range: Range::Positive,
        meaning: "duality gap to reach, relative to the objective at zero",
    },
];

fn lasso(parameters: &Parameters) -> Result<Lasso, Error> {
    let alpha = parameters.optional_real("alpha")?;
    parameters.instead_of(&["alpha"], "lambda_ratio")?;
    let strength = match (alpha, parameters.optional_real("lambda_ratio")?) {
        (Some(alpha), _) => Strength::Alpha(alpha),
        (None, Some(ratio)) => Strength::Ratio(ratio),
        (None, None) => Strength::Count,
    };
    Ok(Lasso { strength, solver: solver(parameters)?, tolerance: parameters.real("tolerance")? })
}
