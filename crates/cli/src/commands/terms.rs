//! Features that a method is given a place for: covariates, an offset, and those that are forced in.

use fewest::core::Budget;
use fewest::registry::{Method, Parameters, Range, Registry};
use fewest_study::DataInfo;

use super::useless;
use crate::failure::Failure;
use crate::input;

/// An option, the parameter that it sets, and the features that it names.
type Named<'a> = (&'static str, &'static str, &'a [String]);

/// Refuses an option that one of the methods does not use.
pub(super) fn check(
    registry: &Registry,
    options: &[Named<'_>],
    methods: &[(&Method, &Parameters)],
) -> Result<(), Failure> {
    // A number of the same name is something else: the offset of a kernel.
    let takes = |method: &Method, name: &str| {
        let is_it = |parameter: &fewest::registry::Parameter| {
            parameter.name == name && parameter.range == Range::Features
        };
        method.parameters().iter().any(is_it)
    };
    for (option, parameter, _) in options.iter().filter(|(.., wanted)| !wanted.is_empty()) {
        if let Some((method, _)) = methods.iter().find(|(method, _)| !takes(method, parameter)) {
            return Err(useless(registry, option, method, |other| takes(other, parameter)));
        }
    }
    Ok(())
}

/// The features of every option that names some, by parameter.
pub(super) fn found(
    options: &[Named<'_>],
    info: &DataInfo,
) -> Result<Vec<(&'static str, Vec<usize>)>, Failure> {
    let mut all: Vec<(&str, &str, Vec<usize>)> = Vec::new();
    for (option, parameter, wanted) in options.iter().filter(|(.., wanted)| !wanted.is_empty()) {
        let indices = input::features(option, wanted, info)?;
        for (other, _, known) in &all {
            if let Some(&j) = indices.iter().find(|j| known.contains(j)) {
                return Err(Failure::new(format!(
                    "{}: {option}: `{}` is named by {other} as well: name it once",
                    info.file,
                    info.name(j)
                )));
            }
        }
        all.push((option, parameter, indices));
    }
    Ok(all.into_iter().map(|(_, parameter, indices)| (parameter, indices)).collect())
}

/// What an answer tells of features that the model has and the answer leaves out.
pub(super) fn notes(parameters: &Parameters, info: &DataInfo) -> Vec<String> {
    let told = |(name, what): (&str, &str)| {
        let names: Vec<String> =
            parameters.features(name).iter().map(|&j| format!("`{}`", info.name(j))).collect();
        (!names.is_empty()).then(|| format!("{}: {what}, and not selected", names.join(", ")))
    };
    [("covariates", "in the model without a penalty"), ("offset", "added to the fitted values")]
        .into_iter()
        .filter_map(told)
        .collect()
}

/// How many features can be selected: covariates and the offset are not.
pub(super) fn selectable(parameters: &Parameters, n_features: usize) -> usize {
    let (covariates, offset) = (parameters.features("covariates"), parameters.features("offset"));
    (0..n_features).filter(|j| !covariates.contains(j) && !offset.contains(j)).count()
}

/// Refuses a number of features above that of those that can be selected.
pub(super) fn check_budget(budget: Budget, selectable: usize, n_features: usize) -> Result<(), Failure> {
    if selectable == 0 && n_features > 0 {
        return Err(Failure::too_many(1, selectable, n_features));
    }
    if let Budget::Count(k) = budget
        && selectable < k
        && k <= n_features
    {
        return Err(Failure::too_many(k, selectable, n_features));
    }
    Ok(budget.check(n_features)?)
}
