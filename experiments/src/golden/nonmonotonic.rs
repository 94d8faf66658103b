//! Cases of non-monotonic selection, whose results are more than scores and a ranking.

use std::collections::BTreeSet;
use std::sync::Arc;

use fewest::core::{Budget, Columns, Context, Dataset, OnDemand};
use fewest::mkl::{FeatureKernel, FeatureScaling, Nmmkl, Nmmklr, NonMonotonic, NonMonotonicSolution};
use fewest_testkit::golden::{Case, CaseComparison, Deviation};
use serde_json::Value;

use crate::Result;

/// Gap to reach, and tolerance of the objective: the references are exact to about this.
const TOLERANCE: f64 = 1e-10;
const OBJECTIVE: f64 = 1e-9;

/// Whether the case is one of these.
pub(super) fn handles(case: &Case) -> bool {
    ["nmmkl", "nmmklr"].contains(&case.method.as_str())
}

/// Runs the case and compares objective, `λ`, `τ`, the relaxed weights, the sets, the selected features and
/// their `ω`.
pub(super) fn compare(case: &Case, data: &Dataset) -> Result<CaseComparison> {
    let solution = solve(case, data)?;
    let extra = |key: &str| &case.extra[key];
    let number = |key: &str| extra(key).as_f64().unwrap_or(f64::NAN);
    let set = |value: &Value| -> BTreeSet<usize> { indices(value).into_iter().collect() };
    let mut deviations = Vec::new();
    let mut add = |part: &'static str, value: f64, tolerance: f64, place: String| {
        deviations.push(Deviation { part, value, tolerance, place });
    };
    let objective = case.objective.unwrap_or(f64::NAN);
    let found = solution.objective;
    add("objective", (found / objective - 1.0).abs(), OBJECTIVE, format!("{found} for {objective}"));
    add("gap", solution.gap, 10.0 * TOLERANCE, "the certificate".to_owned());
    let lambda = number("lambda");
    let relative = other(case, "scores_relative_to_lambda") * lambda;
    add("lambda", (solution.lambda - lambda).abs(), relative, format!("{} for {lambda}", solution.lambda));
    let worst = |expected: &dyn Fn(usize) -> f64, found: &[f64]| {
        (0..found.len())
            .map(|j| ((found[j] - expected(j)).abs(), j))
            .fold((0.0, 0), |worst, next| if next.0 > worst.0 { next } else { worst })
    };
    let (distance, j) = worst(&|j| case.scores.get(&j).copied().unwrap_or(f64::NAN), &solution.tau);
    add("scores", distance, relative, format!("feature {j}"));
    let weights: Vec<f64> =
        extra("relaxed_p").as_array().into_iter().flatten().flat_map(Value::as_f64).collect();
    let (distance, j) = worst(&|j| weights.get(j).copied().unwrap_or(f64::NAN), &solution.weights);
    add("weights", distance, other(case, "relaxed_p_absolute"), format!("feature {j}"));
    let size = solution.above.len() as f64;
    add("size of A", (size - number("size_of_A")).abs(), 0.0, format!("{size}"));
    let tied: BTreeSet<usize> = solution.tied.iter().copied().collect();
    let differing = tied.symmetric_difference(&set(extra("set_B"))).count();
    add("set B", differing as f64, 0.0, format!("{} features", tied.len()));
    let top: BTreeSet<usize> = solution.selected.iter().copied().collect();
    let differing = top.symmetric_difference(&set(extra("top_m"))).count();
    add("selected", differing as f64, 0.0, format!("{:?}", solution.selected));
    let omega = number("omega_selected");
    add("omega", (solution.omega / omega - 1.0).abs(), 1e-6, format!("{} for {omega}", solution.omega));
    Ok(CaseComparison { deviations, not_compared: Vec::new() })
}

fn solve(case: &Case, data: &Dataset) -> Result<NonMonotonicSolution> {
    let parameter = |key: &str| {
        case.params.get(key).and_then(Value::as_f64).ok_or_else(|| format!("{}: no {key}", case.name))
    };
    let restricted = match case.params.get("candidates") {
        Some(list) => restrict(data, indices(list))?,
        None => data.clone(),
    };
    let (c, tau) = (parameter("C")?, parameter("tau")?);
    let budget = Budget::Count(parameter("m")? as usize);
    let options = NonMonotonic { tolerance: TOLERANCE, ..NonMonotonic::default() };
    Ok(if case.method == "nmmkl" {
        Nmmkl { c, tau, options }.solve(&restricted, budget, &Context::default())?
    } else {
        let options =
            NonMonotonic { kernel: FeatureKernel::Linear { scaling: FeatureScaling::Range }, ..options };
        let epsilon = parameter("epsilon")?;
        Nmmklr { c, epsilon, tau, options, ..Nmmklr::default() }.solve(
            &restricted,
            budget,
            &Context::default(),
        )?
    })
}

/// The data set with the features `kept` alone.
fn restrict(data: &Dataset, kept: Vec<usize>) -> Result<Dataset> {
    let x: Arc<dyn Columns> = data.shared_x();
    let n = data.n_samples();
    let columns = OnDemand::new(n, kept.len(), move |j, out: &mut [f64]| x.copy_column(kept[j], out));
    Ok(Dataset::new(columns, data.target().clone())?)
}

fn indices(value: &Value) -> Vec<usize> {
    value.as_array().into_iter().flatten().flat_map(Value::as_u64).map(|j| j as usize).collect()
}

fn other(case: &Case, key: &str) -> f64 {
    case.tolerance.others.get(key).and_then(Value::as_f64).unwrap_or(f64::NAN)
}
