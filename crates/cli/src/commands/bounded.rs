//! Selectors that keep a bound on irrelevant features, around the method that was asked for.

use fewest::core::{Dataset, Selector};
use fewest::eval::{
    CoefficientDifference, CrossValidatedDifference, KnockoffOptions, Knockoffs, ScoreDifference,
    StabilitySelection,
};
use fewest::registry::{Built, Kind, Method, Parameters};

use crate::args::BoundArgs;
use crate::failure::Failure;

/// The smallest penalty of a path, as a share of the largest, and its length, where a cross-validation
/// chooses the penalty.
const SMALLEST_RATIO: &str = "0.02";
const PATH: &str = "30";

/// Folds of that cross-validation.
const FOLDS: usize = 5;

/// Share of the halves that have to select a stable feature.
const THRESHOLD: f64 = 0.75;

/// The selector for `data` with the bound that is asked for; `None` where there is none.
pub(super) fn selector(
    args: &BoundArgs,
    method: &Method,
    parameters: &Parameters,
    data: &Dataset,
) -> Result<Option<Box<dyn Selector>>, Failure> {
    if let Some(fdr) = args.fdr {
        let defaults = KnockoffOptions::default();
        let options = KnockoffOptions {
            fdr,
            draws: args.fdr_draws.unwrap_or(defaults.draws),
            offset: args.fdr_offset.unwrap_or(defaults.offset),
            construction: args.fdr_construction.unwrap_or(defaults.construction),
            ..defaults
        };
        return knockoffs(options, method, parameters).map(Some);
    }
    let Some(error) = args.per_family_error else { return Ok(None) };
    let threshold = args.stability_threshold.unwrap_or(THRESHOLD);
    let selector = method.build(parameters)?.into_selector();
    // Features that do not vary are never selected.
    let n_varying = data.n_features() - data.constant_features()?.len();
    Ok(Some(Box::new(StabilitySelection::with_error(selector, error, threshold, n_varying)?)))
}

fn knockoffs(
    options: KnockoffOptions,
    method: &Method,
    parameters: &Parameters,
) -> Result<Box<dyn Selector>, Failure> {
    if !method.is_supervised() {
        return Err(Failure::new(format!(
            "--fdr: {} does not use the target, and a feature is irrelevant if the target does not depend on \
             it: take a method that does",
            method.id
        )));
    }
    // They count columns of the table: among features and knockoffs they would be others.
    for (option, name) in [("--force-in", "forced"), ("--covariates", "covariates"), ("--offset", "offset")] {
        if !parameters.features(name).is_empty() {
            return Err(Failure::new(format!(
                "--fdr cannot be used with {option}: no bound is known for features that are given a place"
            )));
        }
    }
    let decides = parameters.decides_count();
    if decides && method.kind == Kind::Score {
        return Err(Failure::new(format!(
            "--fdr: {} decides by a test of its own how many features there are: leave out --param {}",
            method.id,
            method.deciding_parameters().join(", --param ")
        )));
    }
    // What is reported are the parameters that were given: with them the run is repeated.
    let mut parameters = parameters.clone();
    let takes = |name: &str| method.parameters().iter().any(|parameter| parameter.name == name);
    let has_path = takes("lambda_path") && takes("lambda_ratio");
    if !decides && has_path {
        if parameters.word("loss").is_ok_and(|loss| !["auto", "squared"].contains(&loss)) {
            return Err(Failure::new(format!(
                "--fdr: with this loss {} needs a penalty: give --param lambda_ratio=SHARE",
                method.id
            )));
        }
        parameters.set("lambda_ratio", SMALLEST_RATIO)?;
        if parameters.count("lambda_path") == Ok(1) {
            parameters.set("lambda_path", PATH)?;
        }
    }
    Ok(match method.build(&parameters)? {
        Built::Scorer(scorer) => Box::new(Knockoffs { statistic: ScoreDifference(scorer), options }),
        Built::Selector(selector) if decides => {
            Box::new(Knockoffs { statistic: CoefficientDifference(selector), options })
        }
        Built::Selector(selector) if has_path => {
            Box::new(Knockoffs { statistic: CrossValidatedDifference { selector, folds: FOLDS }, options })
        }
        _ => {
            let deciding: Vec<String> = method
                .deciding_parameters()
                .iter()
                .map(|name| format!("give --param {name}=…, or "))
                .collect();
            return Err(Failure::new(format!(
                "--fdr: {} has no score for every feature: {}take a method that `fewest score` takes, or lasso",
                method.id,
                deciding.concat()
            )));
        }
    })
}
