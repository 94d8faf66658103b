//! `fewest info`.

use fewest::core::{Authors, Graph, Views};
use fewest::data::{ColumnSummary, Table, TableSummary, TargetSummary};
use fewest::registry::Registry;

use super::is_stdout;
use crate::args::InfoArgs;
use crate::failure::Failure;
use crate::table::notes;
use crate::text::{self, Align};
use crate::{input, output, runner};

/// Largest number of columns shown, both of those with problems and of the others.
const MOST: usize = 12;
/// Widest name.
const NAME: usize = 40;

/// Describes the content of a file.
pub(crate) fn info(registry: &Registry, args: &InfoArgs) -> Result<(), Failure> {
    let json_file = args.json.as_deref().filter(|path| !is_stdout(path));
    output::check(&args.data.read.file, &[("--json", json_file)])?;
    let needs = input::Needs { target: true, digest: false, weights: None, groups: None };
    let found = input::read(registry, &args.data, needs)?;
    let summary = found.table.summary();
    let file = args.data.read.file.display().to_string();
    let json = args
        .json
        .as_ref()
        .map(|_| fewest_study::json::table(&found.table, &summary, &file, found.target_found, &found.notes));
    let json = json.transpose().map_err(|error| Failure::in_study(&args.data.read.file, &error))?;
    let mut out = format!(
        "{}: {}, {} ({})\n",
        text::one_line(&file),
        text::counted(summary.n_samples, "sample", "samples"),
        text::counted(summary.n_features, "feature", "features"),
        found.table.format().name(),
    );
    target(&mut out, &summary.target, found.target_found);
    features(&mut out, &summary);
    let network = input::Network::read(&found, &args.network)?;
    if let Some(graph) = network.links() {
        out.push_str(&links("links", graph, "sample", "samples"));
    }
    if let Some(authors) = network.authors() {
        self::authors(&mut out, authors, args.network.follows.is_some());
    }
    let names: Vec<String> = summary.features.iter().map(|column| column.name.clone()).collect();
    if let Some(views) = input::views(&args.views, &names)? {
        out.push_str(&of_views(&views, &summary));
    }
    out.push('\n');
    out.push_str(&match args.columns {
        true => columns(&summary, usize::MAX, Some(&found.table)),
        false => columns(&summary, MOST, None),
    });
    notes(&mut out, &found.notes);
    runner::end_of_reading();
    super::tell(args.json.as_deref(), json, &out, Ok(()))
}

fn target(out: &mut String, target: &TargetSummary, target_found: Option<&str>) {
    let found =
        target_found.map_or(String::new(), |found| format!(" ({found}; use --target to name another)"));
    match target {
        TargetSummary::None => out.push_str("target: none\n"),
        TargetSummary::Real { outputs } => {
            for output in outputs {
                let name = text::one_line(&output.name);
                out.push_str(&format!("target: `{name}`{found}, real, {}\n", range(output)));
            }
        }
        TargetSummary::Survival { time, event, n_events } => {
            let (name, event) = (text::one_line(&time.name), text::one_line(event));
            let events = text::counted(*n_events, "event", "events");
            out.push_str(&format!(
                "target: `{name}`, survival times, {}; `{event}`: {events}\n",
                range(time)
            ));
        }
        TargetSummary::Class { name, classes, n_missing } => {
            let name = text::one_line(name);
            out.push_str(&format!(
                "target: `{name}`{found}, {}",
                text::counted(classes.len(), "class", "classes")
            ));
            let shown: Vec<String> = classes
                .iter()
                .take(MOST)
                .map(|(class, count)| format!("`{}` {}", text::shortened(class, NAME), text::count(*count)))
                .collect();
            out.push_str(&format!(": {}", shown.join(", ")));
            if classes.len() > MOST {
                out.push_str(&format!(" and {} more", classes.len() - MOST));
            }
            if *n_missing > 0 {
                out.push_str(&format!("; {} without a class", text::count(*n_missing)));
            }
            out.push('\n');
        }
    }
}

fn features(out: &mut String, summary: &TableSummary) {
    let numeric = summary.n_features - summary.n_categorical;
    out.push_str(&format!(
        "features: {} numeric, {} categorical",
        text::count(numeric),
        text::count(summary.n_categorical)
    ));
    if let Some(stored) = summary.n_stored {
        out.push_str(&format!("; sparse, {} values stored", text::count(stored)));
    }
    out.push('\n');
    if summary.n_missing > 0 || summary.n_incomplete_samples > 0 {
        let missing = text::counted(summary.n_missing, "value", "values");
        let samples = text::counted(summary.n_incomplete_samples, "incomplete sample", "incomplete samples");
        out.push_str(&format!("missing: {missing}; {samples} (--missing drop-rows|mean|median)\n"));
    } else {
        out.push_str("missing: nothing\n");
    }
    let constant: Vec<&str> =
        summary.features.iter().filter(|column| column.constant).map(|column| column.name.as_str()).collect();
    if !constant.is_empty() {
        out.push_str(&format!(
            "constant: {} (cannot be selected): {}\n",
            text::count(constant.len()),
            few(&constant)
        ));
    }
    if !summary.duplicates.is_empty() {
        let name = |j: usize| summary.features.get(j).map_or("", |column| column.name.as_str());
        let pairs: Vec<String> = summary
            .duplicates
            .iter()
            .take(MOST)
            .map(|&(j, first)| format!("{} = {}", name(j), name(first)))
            .collect();
        let pairs: Vec<&str> = pairs.iter().map(String::as_str).collect();
        let total = summary.duplicates.len();
        let more = if total > MOST { format!(" and {} more", total - MOST) } else { String::new() };
        out.push_str(&format!("duplicates: {}: {}{more}\n", text::count(total), few(&pairs)));
    }
}

/// `links: 484 between 120 samples, …`: how many, in how many parts, and of how many a node has.
fn links(name: &str, graph: &Graph, one: &str, many: &str) -> String {
    let n = graph.n_nodes();
    let mut degrees: Vec<usize> = (0..n).map(|i| graph.degree(i)).collect();
    if graph.is_directed() {
        let back = graph.transposed();
        degrees.iter_mut().enumerate().for_each(|(i, degree)| *degree += back.degree(i));
    }
    let (least, most) =
        (degrees.iter().min().copied().unwrap_or(0), degrees.iter().max().copied().unwrap_or(0));
    let article = if one.starts_with('a') { "an" } else { "a" };
    let ends: usize = degrees.iter().sum();
    let mean = text::short(ends as f64 / n.max(1) as f64, 4);
    let alone = degrees.iter().filter(|degree| **degree == 0).count();
    let parts = graph.components().into_iter().max().map_or(0, |last| last + 1);
    let without = if alone > 0 {
        format!(", of which {} without any", text::counted(alone, one, many))
    } else {
        String::new()
    };
    format!(
        "{name}: {} between {}; {}{without}; {} to {} of {article} {one}, mean {mean}\n",
        text::count(graph.n_links()),
        text::counted(n, one, many),
        text::counted(parts, "component", "components"),
        text::count(least),
        text::count(most),
    )
}

fn authors(out: &mut String, authors: &Authors, follow: bool) {
    let mut samples = vec![0_usize; authors.n_authors()];
    authors.of_sample().iter().for_each(|&author| samples[author] += 1);
    let writing = samples.iter().filter(|count| **count > 0);
    let (least, most) = (writing.clone().min().copied().unwrap_or(0), writing.max().copied().unwrap_or(0));
    let silent = samples.iter().filter(|count| **count == 0).count();
    let without =
        if silent > 0 { format!("; {} without a sample", text::count(silent)) } else { String::new() };
    out.push_str(&format!(
        "authors: {}, {} to {} of an author{without}\n",
        text::counted(samples.len() - silent, "author", "authors"),
        text::count(least),
        text::counted(most, "sample", "samples"),
    ));
    if follow {
        out.push_str(&links("follows", authors.follows(), "author", "authors"));
    }
}

/// The number of features of every view, and of its constant ones.
fn of_views(views: &Views, summary: &TableSummary) -> String {
    let told: Vec<String> = views
        .names()
        .iter()
        .zip(views.sets())
        .map(|(name, set)| {
            let constant =
                set.iter().filter(|&&j| summary.features.get(j).is_some_and(|column| column.constant));
            let constant = match constant.count() {
                0 => String::new(),
                n => format!(" ({} constant)", text::count(n)),
            };
            let features = text::counted(set.len(), "feature", "features");
            format!("`{}` {features}{constant}", text::shortened(name, NAME))
        })
        .collect();
    let told: Vec<&str> = told.iter().map(String::as_str).collect();
    let more = if told.len() > MOST { format!(" and {} more", told.len() - MOST) } else { String::new() };
    format!("views: {}: {}{more}\n", text::count(views.n_views()), told[..told.len().min(MOST)].join(", "))
}

fn few(names: &[&str]) -> String {
    let mut shown: Vec<String> = names.iter().take(MOST).map(|name| text::shortened(name, NAME)).collect();
    if names.len() > MOST {
        shown.push(format!("and {} more", text::count(names.len() - MOST)));
    }
    shown.join(", ")
}

/// The first features, at most so many; with the number of different values, which `table` has.
fn columns(summary: &TableSummary, most: usize, table: Option<&Table>) -> String {
    let mut rows = vec![["column", "feature", "type", "values", "missing"].map(str::to_owned).to_vec()];
    let mut align = vec![Align::Right, Align::Left, Align::Left, Align::Left, Align::Right];
    if table.is_some() {
        rows[0].push("different".to_owned());
        align.push(Align::Right);
    }
    for (j, column) in summary.features.iter().enumerate().take(most) {
        let (kind, values) = match &column.levels {
            Some(levels) => {
                let shown: Vec<&str> = levels.iter().map(String::as_str).collect();
                (
                    "categorical",
                    format!("{}: {}", text::counted(levels.len(), "level", "levels"), few(&shown)),
                )
            }
            None => ("numeric", range(column)),
        };
        let mut row = vec![
            column.number.map_or(String::new(), |number| number.to_string()),
            text::shortened(&column.name, NAME),
            kind.to_owned(),
            text::shortened(&values, 60),
            text::count(column.n_missing),
        ];
        row.extend(table.map(|table| text::count(table.n_distinct(j))));
        rows.push(row);
    }
    let mut out = text::columns(&rows, &align);
    if summary.features.len() > most {
        out.push_str(&format!(
            "… and {} more (--columns lists all)\n",
            text::counted(summary.features.len() - most, "feature", "features")
        ));
    }
    out
}

fn range(column: &ColumnSummary) -> String {
    match (column.minimum, column.mean, column.maximum) {
        (Some(low), Some(mean), Some(high)) if low < high => {
            format!("{} to {}, mean {}", text::short(low, 4), text::short(high, 4), text::short(mean, 4))
        }
        (Some(value), ..) => format!("always {}", text::short(value, 4)),
        _ => "no value".to_owned(),
    }
}
