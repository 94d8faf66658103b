//! Cases whose features come from several views.

use fewest::core::{Context, Dataset, Target, Views};
use fewest::linear::{Aumfs, Clusters, Mvfs, SharedIndicators, ViewLoss};
use fewest::neighbours::GraphOptions;
use fewest_testkit::golden::{self, Case, CaseComparison, Deviation, Observed};
use serde_json::{Value, json};

use crate::Result;

/// The regressions of methods that are not convex as a whole.
pub(super) const STEPS: &[&str] = &["aumfs_w_step", "mvfs_w_step"];

/// The first and the last feature of each view of the case.
fn ranges(case: &Case) -> Result<Vec<(usize, usize)>> {
    let list = case.params.get("views").cloned().ok_or("a case without views")?;
    Ok(serde_json::from_value(list)?)
}

fn views(ranges: &[(usize, usize)], n_features: usize) -> Result<Views> {
    let named = |(number, &(first, last)): (usize, &(usize, usize))| {
        (format!("view{number}"), (first..=last).collect())
    };
    Ok(Views::new(n_features, ranges.iter().enumerate().map(named).collect())?)
}

/// The case with the parameters of our method, and the data with its views, those of the target view first,
/// by whose positions the case names features; none for other methods.
pub(super) fn sources(case: &Case, data: &Dataset) -> Result<Option<(Case, Dataset)>> {
    if !["gpcov_var", "gpcov_spca"].contains(&case.method.as_str()) {
        return Ok(None);
    }
    let mut case = case.clone();
    let ranges = ranges(&case)?;
    case.params.remove("views");
    let target =
        case.params.remove("target_view").as_ref().and_then(Value::as_u64).ok_or("no target view")?;
    let target = usize::try_from(target)?;
    let &(first, last) = ranges.get(target).ok_or("a target view that does not exist")?;
    let d = data.n_features();
    let order: Vec<usize> = (first..=last).chain(0..first).chain(last + 1..d).collect();
    let data = data.clone().with_views(views(&ranges, d)?)?.feature_subset(&order)?;
    // The weights are equal and the scales medians; the penalty follows from its share.
    for name in ["weights", "t", "rho", "order"] {
        case.params.remove(name);
    }
    case.params.insert("view".to_owned(), json!(target));
    match case.params.remove("rho_over_max_abs_C") {
        Some(ratio) => {
            case.params.insert("rho_ratio".to_owned(), ratio);
            case.params.insert("solver".to_owned(), json!("semidefinite"));
        }
        None => {
            case.params.insert("n_selected".to_owned(), json!(last + 1 - first));
        }
    }
    Ok(Some((case, data)))
}

/// The case with the parameters of our method, and the data with its views; none for other methods.
pub(super) fn group(case: &Case, data: &Dataset) -> Result<Option<(Case, Dataset)>> {
    if case.method != "group_l1_l21" {
        return Ok(None);
    }
    let own = data.clone().with_views(views(&ranges(case)?, data.n_features())?)?;
    let mut case = case.clone();
    let number = |name: &str| case.params.get(name).and_then(Value::as_f64).ok_or("a case without a penalty");
    let (alpha, beta) = (number("alpha")?, number("beta")?);
    for name in ["alpha", "beta", "alpha_max", "views", "r"] {
        case.params.remove(name);
    }
    // Plain sums of squares, where the method has half their mean.
    case.params.insert("lambda".to_owned(), json!(alpha / (2.0 * data.n_samples() as f64)));
    case.params.insert("view_ratio".to_owned(), json!(beta / alpha));
    Ok(Some((case, own)))
}

/// The regressions on indicators of the classes.
pub(super) fn step(case: &Case, data: &Dataset) -> Result<Vec<(String, CaseComparison)>> {
    let Target::Class(classes) = data.target() else { return Err("no classes".into()) };
    let indicator = |class: u32| {
        let size = classes.codes().iter().filter(|code| **code == class).count() as f64;
        classes.codes().iter().map(|code| if *code == class { size.sqrt().recip() } else { 0.0 }).collect()
    };
    let f: Vec<Vec<f64>> = classes.occurring().into_iter().map(indicator).collect();
    let number = |name: &str| case.params.get(name).and_then(Value::as_f64).ok_or("a case without a number");
    let (alpha, beta) = (number("alpha")?, number("beta")?);
    let numbers = |list: Option<&Value>| -> Result<Vec<f64>> {
        Ok(serde_json::from_value(list.cloned().ok_or("a case without a list")?)?)
    };
    let weights = numbers(case.params.get("lambda"))?;
    let data = data.clone().with_views(views(&ranges(case)?, data.n_features())?)?;
    let neighbours = data.n_samples() - 1;
    // The scales of the case are the medians of each view.
    let graph = GraphOptions { neighbours, ..GraphOptions::default() };
    let clusters = Clusters { graph, ..Clusters::default() };
    let loss = ViewLoss::Lengths;
    let shared = SharedIndicators { clusters, beta, loss, tolerance: 1e-11, ..SharedIndicators::default() };
    let context = Context::default();
    let regression = |alpha_ratio: f64| {
        let shared = SharedIndicators { alpha_ratio, ..shared };
        match case.method.as_str() {
            "aumfs_w_step" => Aumfs { shared }.regression(&data, &f, &context),
            _ => Mvfs { shared }.regression(&data, &f, &context),
        }
    };
    let largest = regression(1.0)?.alpha;
    let found = regression(alpha / largest)?;
    let mut ranking: Vec<usize> = (0..found.scores.len()).filter(|&j| found.scores[j] > 0.0).collect();
    ranking.sort_by(|&a, &b| found.scores[b].total_cmp(&found.scores[a]).then(a.cmp(&b)));
    let along: f64 = weights.iter().zip(&found.traces).map(|(weight, trace)| weight * trace).sum();
    let objective = Some(along + beta * found.fit);
    let traces = found.traces;
    let observed = Observed { scores: found.scores, ranking, objective, gap: Some(found.gap) };
    let mut comparison = golden::compare(case, &observed);
    let known = numbers(case.extra.get("trace_per_view"))?;
    let apart = traces.iter().zip(&known).map(|(found, known)| (found / known - 1.0).abs());
    let (value, place) = (apart.fold(0.0, f64::max), "of every view".to_owned());
    comparison.deviations.push(Deviation { part: "traces", value, tolerance: 1e-9, place });
    Ok(vec![(String::new(), comparison)])
}
