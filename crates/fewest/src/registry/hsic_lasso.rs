//! HSIC Lasso and NOCCO Lasso.

use std::sync::Arc;

use fewest_cd::CoordinateDescent;
use fewest_core::Error;
use fewest_dal::DualAugmentedLagrangian;
use fewest_dependence::{HsicLasso, LassoOptions, Level, NoccoLasso, Regularizer};
use fewest_lars::Lars;
use fewest_pgd::ProximalGradient;
use fewest_solver::SolverChoice;

use super::dependence::{DEPENDENCE, EPSILON, TARGETS, dependence};
use super::tables::{Method, Parameter};
use super::{Built, Kind, Parameters, Range};

pub(super) static METHODS: &[Method] = &[
    Method {
        id: "hsic-lasso",
        title: "HSIC Lasso",
        formula: "minimise over α ≥ 0: ½ ‖L̄ − Σₖ αₖ K̄ₖ‖² + λ Σₖ αₖ; score(k) = αₖ",
        kind: Kind::Select,
        targets: TARGETS,
        parameters: &[LASSO, DEPENDENCE],
        build: |parameters| {
            let (dependence, lasso) = (dependence(parameters)?, lasso(parameters)?);
            Ok(Built::Selector(Box::new(HsicLasso { dependence, lasso })))
        },
    },
    Method {
        id: "nocco-lasso",
        title: "NOCCO Lasso",
        formula: "minimise over α ≥ 0: ½ ‖L̃ − Σₖ αₖ K̃ₖ‖² + λ Σₖ αₖ, K̃ = K̄ (K̄ + ε n I)⁻¹; score(k) = αₖ",
        kind: Kind::Select,
        targets: TARGETS,
        parameters: &[LASSO, EPSILON, DEPENDENCE],
        build: |parameters| {
            let epsilon = parameters.real("epsilon")?;
            let (dependence, lasso) = (dependence(parameters)?, lasso(parameters)?);
            Ok(Built::Selector(Box::new(NoccoLasso { epsilon, dependence, lasso })))
        },
    },
];

/// How the lasso is solved, and where on its path the answer is.
const LASSO: &[Parameter] = &[
    Parameter {
        name: "lambda",
        default: None,
        range: Range::NonNegative,
        meaning: "penalty λ; when left out, the number of features decides",
    },
    Parameter {
        name: "lambda_ratio",
        default: None,
        range: Range::Fraction,
        meaning: "λ as a share of the smallest λ that selects nothing",
    },
    Parameter {
        name: "rule",
        default: Some("path"),
        range: Range::OneOf(&["path", "paper"]),
        meaning: "k features: from the path just before one more enters, or as in the paper the k largest of k to k + 10",
    },
    Parameter {
        name: "penalty",
        default: Some("l1"),
        range: Range::OneOf(&["l1", "elastic-net", "group"]),
        meaning: "elastic-net adds ½ ridge Σ αₖ²; group takes the features of a group together",
    },
    Parameter {
        name: "ridge",
        default: None,
        range: Range::Positive,
        meaning: "with penalty=elastic-net, as a share of the largest squared norm of a Gram matrix; 0.1 when left out",
    },
    Parameter {
        name: "solver",
        default: Some("auto"),
        range: Range::OneOf(&["auto", "cd", "dal", "lars", "pgd"]),
        meaning: "auto: the exact path for a number of features, coordinate descent for a given λ",
    },
    Parameter {
        name: "tolerance",
        default: Some("1e-9"),
        range: Range::Positive,
        meaning: "duality gap to reach, relative to the objective at zero",
    },
    Parameter {
        name: "forced",
        default: None,
        range: Range::Features,
        meaning: "features that must be in: they carry no penalty and come first",
    },
    Parameter {
        name: "covariates",
        default: None,
        range: Range::Features,
        meaning: "features whose part in the target is taken out first; not selected themselves",
    },
    Parameter {
        name: "related",
        default: Some("10"),
        range: Range::Count(0),
        meaning: "most related features told for each selected one; 0 saves a pass over the data",
    },
];

fn lasso(parameters: &Parameters) -> Result<LassoOptions, Error> {
    let lambda = parameters.optional_real("lambda")?;
    let ratio = parameters.optional_real("lambda_ratio")?;
    parameters.instead_of(&["lambda"], "lambda_ratio")?;
    parameters.instead_of(&["lambda", "lambda_ratio"], "rule")?;
    let level = match (lambda, ratio, parameters.word("rule")?) {
        (Some(lambda), ..) => Level::Lambda(lambda),
        (None, Some(ratio), _) => Level::LambdaRatio(ratio),
        (None, None, "paper") => Level::Paper,
        _ => Level::Count,
    };
    let penalty = parameters.word("penalty")?;
    parameters.only_if("ridge", penalty == "elastic-net", "penalty=elastic-net")?;
    let regularizer = match penalty {
        "elastic-net" => Regularizer::ElasticNet { ridge: parameters.optional_real("ridge")?.unwrap_or(0.1) },
        "group" => Regularizer::Group,
        _ => Regularizer::L1,
    };
    Ok(LassoOptions {
        level,
        regularizer,
        solver: solver(parameters)?,
        tolerance: parameters.real("tolerance")?,
        forced: parameters.features("forced").to_vec(),
        covariates: parameters.features("covariates").to_vec(),
        n_related: parameters.count("related")?,
    })
}

/// The solver that parameter `solver` names.
pub(super) fn solver(parameters: &Parameters) -> Result<SolverChoice, Error> {
    Ok(match parameters.word("solver")? {
        "cd" => SolverChoice::Use(Arc::new(CoordinateDescent::default())),
        "dal" => SolverChoice::Use(Arc::new(DualAugmentedLagrangian::default())),
        "lars" => SolverChoice::Use(Arc::new(Lars)),
        "pgd" => SolverChoice::Use(Arc::new(ProximalGradient::default())),
        _ => SolverChoice::Auto,
    })
}
