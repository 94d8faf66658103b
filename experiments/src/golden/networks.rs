//! Cases whose samples are linked.

use std::path::Path;

use fewest::core::Dataset;
use fewest::data::{LinkOptions, Nodes, ReadOptions, Table, read_authors, read_links};
use fewest_testkit::golden::Case;
use serde_json::{Value, json};

use crate::Result;

/// The relations between authors, by the names of the method's parameters.
const RELATIONS: [&str; 4] = ["copost", "cofollowing", "cofollowed", "following"];

/// The case with the parameters of our method, and the data with its links; none for other methods.
pub(super) fn linked(case: &Case, folder: &Path, data: &Dataset) -> Result<Option<(Case, Dataset)>> {
    if !["linkedfs", "fsnet"].contains(&case.method.as_str()) {
        return Ok(None);
    }
    let table = Table::read(folder.join(&case.dataset), &ReadOptions::with_target("target"))?;
    let samples = Nodes::samples(&table)?;
    let tables = case.params.get("tables").and_then(Value::as_array).ok_or("a case without tables")?;
    let mut files = tables.iter().filter_map(Value::as_str).map(|name| folder.join(name));
    let first = files.next().ok_or("a case without a table")?;
    let mut case = case.clone();
    for name in ["tables", "n_relations", "alpha"] {
        case.params.remove(name);
    }
    let number = |params: &mut serde_json::Map<String, Value>, name: &str| {
        params.remove(name).and_then(|value| value.as_f64()).ok_or("a case without a weight")
    };
    let data = data.clone();
    let data = if case.method == "fsnet" {
        let (ridge, graph) = (number(&mut case.params, "beta")?, number(&mut case.params, "gamma")?);
        case.params.extend([("ridge".to_owned(), json!(ridge)), ("graph".to_owned(), json!(graph))]);
        data.with_sample_graph(read_links(first, &samples, &LinkOptions::default())?.graph)?
    } else {
        let weight = number(&mut case.params, "beta")?;
        let relation = case.params.remove("relation");
        for name in RELATIONS {
            let weight = if relation.as_ref().and_then(Value::as_str) == Some(name) { weight } else { 0.0 };
            case.params.insert(name.to_owned(), json!(weight));
        }
        data.with_authors(read_authors(first, &samples, files.next().as_deref())?)?
    };
    Ok(Some((case, data)))
}
