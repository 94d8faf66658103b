//! Cases without a target: a spectral embedding, and methods most of which are not convex.

use fewest::core::method::KernelWidth;
use fewest::core::{Budget, Context, Dataset, Selection, Target};
use fewest::linear::{Clusters, Ndfs};
use fewest::neighbours::{EdgeWeights, GraphOptions, SpectralEmbedding};
use fewest::registry::{Parameters, Registry};
use fewest_testkit::golden::{self, Case, CaseComparison, Deviation, Observed};

use crate::Result;

/// Their names in the corpus.
pub(super) const METHODS: &[&str] = &["spectral_embedding", "mcfs", "udfs", "ndfs", "ndfs_w_step", "jelsr"];

/// Stationarity that an answer must have where the problem is not convex, relative to the gradient.
const STATIONARITY: f64 = 1e-6;

pub(super) fn compare(case: &Case, data: &Dataset) -> Result<Vec<(String, CaseComparison)>> {
    let comparison = match case.method.as_str() {
        "spectral_embedding" => embedding(case, data)?,
        "ndfs_w_step" => regression_step(case, data)?,
        "mcfs" => {
            let selection = select(case, data, &["lambda_ratio=0.1", "tolerance=1e-13"])?;
            golden::compare(case, &Observed { objective: None, ..Observed::from(&selection) })
        }
        _ => {
            let (case, constants) = without_constants(case, data)?;
            let mut comparison = local_minimum(&case, &select(&case, data, &["tolerance=1e-9"])?);
            comparison.not_compared.extend(constants);
            comparison
        }
    };
    Ok(vec![(String::new(), comparison)])
}

pub(super) fn number(case: &Case, name: &str) -> Result<f64> {
    let value = case.params.get(name).and_then(|value| value.as_f64());
    value.ok_or_else(|| format!("{} has no `{name}`", case.name).into())
}

fn graph(case: &Case) -> Result<GraphOptions> {
    let t = KernelWidth::Value(number(case, "t")?);
    Ok(GraphOptions { neighbours: number(case, "neighbours")? as usize, weights: EdgeWeights::Heat { t } })
}

/// The registered method with the parameters of the case and `more`.
fn select(case: &Case, data: &Dataset, more: &[&str]) -> Result<Selection> {
    let method = Registry::standard().find(&case.method)?;
    let mut assignments: Vec<String> = more.iter().map(|&assignment| assignment.to_owned()).collect();
    for (name, value) in &case.params {
        let name = match name.as_str() {
            "K" | "n_clusters" => "clusters",
            "eps" => "smoothing",
            "lambda" => "ridge",
            "alpha_over_mean_eigenvalue_of_M" => "alpha_ratio",
            // A list, or with fewer digits than the share it was computed from; words; fixed in the method.
            "alpha" if ["mcfs", "udfs"].contains(&case.method.as_str()) => continue,
            "alpha_rule" | "columns" | "lle_regularisation" => continue,
            other => other,
        };
        assignments.push(format!("{name}={value}"));
    }
    let selector = method.build(&Parameters::parse(method, &assignments)?)?.into_selector();
    let budget = Budget::Auto;
    Ok(selector.select(data, budget, &Context::default())?)
}

/// Scores are those of the samples, which no rotation changes.
fn embedding(case: &Case, data: &Dataset) -> Result<CaseComparison> {
    let context = Context::default();
    let graph = graph(case)?.build(data, &context)?;
    let found = SpectralEmbedding::new(&graph, number(case, "K")? as usize, &context)?;
    let score = |i: usize| graph.degrees()[i] * found.vectors.iter().map(|e| e[i] * e[i]).sum::<f64>();
    let observed = Observed {
        scores: (0..data.n_samples()).map(score).collect(),
        objective: Some(found.eigenvalues.iter().sum()),
        ..Observed::default()
    };
    let mut comparison = golden::compare(case, &observed);
    let eigenvalues = case.extra.get("eigenvalues").and_then(|list| list.as_array());
    let known = eigenvalues.into_iter().flatten().skip(1).filter_map(|value| value.as_f64());
    let pairs = found.eigenvalues.iter().zip(known);
    let value = pairs.map(|(found, known)| (found / known - 1.0).abs()).fold(0.0, f64::max);
    let place = format!("the {} smallest", found.eigenvalues.len());
    comparison.deviations.push(Deviation { part: "eigenvalues", value, tolerance: 1e-9, place });
    Ok(comparison)
}

/// The regression on indicators of the classes.
fn regression_step(case: &Case, data: &Dataset) -> Result<CaseComparison> {
    let Target::Class(classes) = data.target() else { return Err("no classes".into()) };
    let indicator = |class: u32| {
        let size = classes.codes().iter().filter(|code| **code == class).count() as f64;
        classes.codes().iter().map(|code| if *code == class { size.sqrt().recip() } else { 0.0 }).collect()
    };
    let g: Vec<Vec<f64>> = classes.occurring().into_iter().map(indicator).collect();
    // With fewer digits than the share it was computed from.
    let alpha = number(case, "r")? * number(case, "alpha_max")?;
    let beta = number(case, "beta")?;
    let clusters = Clusters { graph: graph(case)?, ..Clusters::default() };
    let method = Ndfs { clusters, alpha, beta, tolerance: 1e-13, ..Ndfs::default() };
    let found = method.regression(data, &g, &Context::default())?;
    let objective = Some(found.graph + beta * found.fit);
    Ok(golden::compare(case, &of_scores(found.scores, objective, found.gap)))
}

/// What was observed where features without a score are not ranked.
pub(super) fn of_scores(scores: Vec<f64>, objective: Option<f64>, gap: f64) -> Observed {
    let mut ranking: Vec<usize> = (0..scores.len()).filter(|&j| scores[j] > 0.0).collect();
    ranking.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]).then(a.cmp(&b)));
    Observed { scores, ranking, objective, gap: Some(gap) }
}

/// The case without what it has of constant features, which are never selected. In `udfs` such a feature
/// takes a column of `W` for itself, and its row has length 1; in `jelsr` its row is zero, and has length
/// `√ε`.
fn without_constants(case: &Case, data: &Dataset) -> Result<(Case, Option<String>)> {
    let constants = data.constant_features()?;
    let mut case = case.clone();
    if constants.is_empty() || case.method == "ndfs" {
        return Ok((case, None));
    }
    let (k, alpha, eps) = (constants.len(), number(&case, "alpha")?, number(&case, "eps")?);
    let taken = if case.method == "udfs" {
        let clusters = number(&case, "n_clusters")? as usize - k;
        let share = 1.0 - k as f64 / data.n_features() as f64;
        let mean = "alpha_over_mean_eigenvalue_of_M";
        // The mean is over the columns that are left.
        let ratio = number(&case, mean)? * share;
        case.params.insert(mean.to_owned(), ratio.into());
        case.params.insert("n_clusters".to_owned(), clusters.into());
        alpha * (1.0 + eps).sqrt()
    } else {
        number(&case, "beta")? * alpha * eps.sqrt()
    };
    case.objective = case.objective.map(|objective| objective - k as f64 * taken);
    case.scores.retain(|j, _| !constants.contains(j));
    Ok((case, Some(format!("{k} constant features, which the case selects or counts"))))
}

/// An answer is right where it is stationary and its objective is not above that of the case; scores are
/// compared where the objective is the same.
pub(super) fn local_minimum(case: &Case, selection: &Selection) -> CaseComparison {
    let observed = Observed { gap: None, ..Observed::from(selection) };
    let mut result = golden::compare(case, &observed);
    let (known, found) = (case.objective.unwrap_or(f64::NAN), observed.objective.unwrap_or(f64::NAN));
    let tolerance = case.tolerance.objective.unwrap_or(0.0);
    let above = (found - known) / known.abs();
    if above < -tolerance {
        result.deviations.clear();
        result.not_compared.push("scores and ranking: those of a better local minimum".to_owned());
    } else {
        // A set of features above a share of the largest, where the method ranks all.
        result.deviations.retain(|deviation| !["ranking", "objective"].contains(&deviation.part));
    }
    let place = format!("{found} for {known}");
    result.deviations.push(Deviation { part: "objective", value: above.max(0.0), tolerance, place });
    let value = selection.solver.as_ref().map_or(f64::NAN, |report| report.certificate.value());
    let place = "the certificate".to_owned();
    result.deviations.push(Deviation { part: "stationarity", value, tolerance: STATIONARITY, place });
    result
}
