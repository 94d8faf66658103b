//! Cases whose samples are linked.

use std::path::{Path, PathBuf};

use fewest::core::{Budget, Context, Dataset, Selection, Selector, Target};
use fewest::data::{LinkOptions, Nodes, ReadOptions, Table, read_authors, read_links};
use fewest::linear::{Lufs, NetFs};
use fewest_testkit::golden::{self, Case, CaseComparison};
use serde_json::{Value, json};

use super::unsupervised::{local_minimum, number, of_scores};
use crate::Result;

/// Methods that are not told by their parameters alone.
pub(super) const METHODS: &[&str] = &["lufs", "netfs", "netfs_w_step"];

/// The relations between authors, by the names of the method's parameters.
const RELATIONS: [&str; 4] = ["copost", "cofollowing", "cofollowed", "following"];

/// The case with the parameters of our method, and the data with its links; none for other methods.
pub(super) fn linked(case: &Case, folder: &Path, data: &Dataset) -> Result<Option<(Case, Dataset)>> {
    if !["linkedfs", "fsnet"].contains(&case.method.as_str()) {
        return Ok(None);
    }
    let samples = nodes(case, folder)?;
    let mut files = tables(case, folder)?.into_iter();
    let first = files.next().ok_or("a case without a table")?;
    let mut case = case.clone();
    for name in ["tables", "n_relations", "alpha"] {
        case.params.remove(name);
    }
    let taken = |params: &mut serde_json::Map<String, Value>, name: &str| {
        params.remove(name).and_then(|value| value.as_f64()).ok_or("a case without a weight")
    };
    let data = data.clone();
    let data = if case.method == "fsnet" {
        let (ridge, graph) = (taken(&mut case.params, "beta")?, taken(&mut case.params, "gamma")?);
        case.params.extend([("ridge".to_owned(), json!(ridge)), ("graph".to_owned(), json!(graph))]);
        data.with_sample_graph(read_links(first, &samples, &LinkOptions::default())?.graph)?
    } else {
        let weight = taken(&mut case.params, "beta")?;
        let relation = case.params.remove("relation");
        for name in RELATIONS {
            let weight = if relation.as_ref().and_then(Value::as_str) == Some(name) { weight } else { 0.0 };
            case.params.insert(name.to_owned(), json!(weight));
        }
        data.with_authors(read_authors(first, &samples, files.next().as_deref())?)?
    };
    Ok(Some((case, data)))
}

fn nodes(case: &Case, folder: &Path) -> Result<Nodes> {
    let table = Table::read(folder.join(&case.dataset), &ReadOptions::with_target("target"))?;
    Ok(Nodes::samples(&table)?)
}

fn tables(case: &Case, folder: &Path) -> Result<Vec<PathBuf>> {
    let tables = case.params.get("tables").and_then(Value::as_array).ok_or("a case without tables")?;
    Ok(tables.iter().filter_map(Value::as_str).map(|name| folder.join(name)).collect())
}

/// Compares a case of [`METHODS`].
pub(super) fn compare(case: &Case, folder: &Path, data: &Dataset) -> Result<Vec<(String, CaseComparison)>> {
    let links = tables(case, folder)?.into_iter().next().ok_or("a case without a table")?;
    let graph = read_links(links, &nodes(case, folder)?, &LinkOptions::default())?.graph;
    let data = data.clone().with_sample_graph(graph)?;
    let context = Context::default();
    let comparison = if case.method == "lufs" {
        local_minimum(case, &lufs(case, &data)?)
    } else {
        let netfs = NetFs {
            // With fewer digits than the share it was computed from.
            alpha_ratio: number(case, "r")?,
            beta: number(case, "beta")?,
            tolerance: if case.method == "netfs" { 1e-8 } else { 1e-13 },
            ..NetFs::default()
        };
        let u = half_indicators(&data)?;
        if case.method == "netfs" {
            local_minimum(case, &netfs.select_from(&data, &u, Budget::Auto, &context)?)
        } else {
            let found = netfs.regression(&data, &u, &context)?;
            let objective = Some(found.graph + found.fit);
            golden::compare(case, &of_scores(found.scores, objective, found.gap))
        }
    };
    Ok(vec![(String::new(), comparison)])
}

fn lufs(case: &Case, data: &Dataset) -> Result<Selection> {
    let ridge = number(case, "lambda")?;
    let method = Lufs {
        clusters: Some(number(case, "n_clusters")? as usize),
        alpha: Some(number(case, "alpha")?),
        ridge,
        beta_ratio: number(case, "beta_over_mean_ratio")?,
        // Ours is a share of 1/(n + λ).
        smoothing: number(case, "eps")? * (data.n_samples() as f64 + ridge),
        tolerance: 1e-8,
        ..Lufs::default()
    };
    Ok(method.select(data, Budget::Auto, &Context::default())?)
}

/// `½ Y`, an indicator of each class.
fn half_indicators(data: &Dataset) -> Result<Vec<Vec<f64>>> {
    let Target::Class(classes) = data.target() else { return Err("no classes".into()) };
    let indicator = |class: u32| {
        classes.codes().iter().map(|code| if *code == class { 0.5 } else { 0.0 }).collect::<Vec<f64>>()
    };
    Ok(classes.occurring().into_iter().map(indicator).collect())
}
