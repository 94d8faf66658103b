//! The document of a table.

use fewest::data::{ColumnSummary, Table, TableSummary, TargetSummary};
use serde::Serialize;

use super::{Number, written};
use crate::{Error, VERSION};

#[derive(Serialize)]
struct Document<'a> {
    fewest: &'a str,
    data: Data<'a>,
    target: Target<'a>,
    /// Every feature, in order.
    columns: Vec<Column<'a>>,
    duplicates: Vec<Duplicate>,
    notes: &'a [String],
}

#[derive(Serialize)]
struct Data<'a> {
    file: &'a str,
    format: &'a str,
    n_samples: usize,
    n_features: usize,
    n_categorical: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    n_stored: Option<usize>,
    n_missing: usize,
    n_incomplete_samples: usize,
}

/// What a target has not is left out.
#[derive(Serialize, Default)]
struct Target<'a> {
    /// `none`, `classification`, `regression` or `survival`.
    task: &'static str,
    /// The names of its columns.
    names: Vec<&'a str>,
    /// How it was found, if no argument named it.
    #[serde(skip_serializing_if = "Option::is_none")]
    found: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    n_missing: Option<usize>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    classes: Vec<Class<'a>>,
    /// Real outputs, or the times until an event.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    outputs: Vec<Range>,
    #[serde(skip_serializing_if = "Option::is_none")]
    n_events: Option<usize>,
}

#[derive(Serialize)]
struct Class<'a> {
    name: &'a str,
    n_samples: usize,
}

#[derive(Serialize)]
struct Range {
    n_missing: usize,
    minimum: Option<Number>,
    mean: Option<Number>,
    maximum: Option<Number>,
}

#[derive(Serialize)]
struct Column<'a> {
    /// Among the features, from 0.
    index: usize,
    name: &'a str,
    /// Among the columns of the file, from 0.
    column: Option<usize>,
    /// `numeric` or `categorical`.
    kind: &'static str,
    n_missing: usize,
    /// How many different values there are.
    n_distinct: usize,
    constant: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    minimum: Option<Number>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mean: Option<Number>,
    #[serde(skip_serializing_if = "Option::is_none")]
    maximum: Option<Number>,
    #[serde(skip_serializing_if = "Option::is_none")]
    levels: Option<&'a [String]>,
}

/// A feature that is equal to an earlier one in every sample.
#[derive(Serialize)]
struct Duplicate {
    index: usize,
    same_as: usize,
}

impl Range {
    fn of(column: &ColumnSummary) -> Self {
        Self {
            n_missing: column.n_missing,
            minimum: column.minimum.map(Number),
            mean: column.mean.map(Number),
            maximum: column.maximum.map(Number),
        }
    }
}

/// The document of a table, as `fewest info --json` writes it: what it holds, and every feature with its
/// kind,
/// its missing and its distinct values, and its range. `summary` is that of the table; `file` is what it is
/// called, and `target_found` how its target was found, if no argument named it.
///
/// # Errors
/// [`Error::Json`] where the document cannot be written.
///
/// ```
/// use fewest::data::{ReadOptions, Table};
/// use fewest_study::json;
///
/// let text = b"a,b,y\n1,x,no\n2,x,yes\n2,,no\n".as_slice();
/// let table = Table::read_bytes("three.csv", text.into(), &ReadOptions::with_target("y"))?;
/// let document = json::table(&table, &table.summary(), "three.csv", None, &[])?;
/// assert!(document.contains("\"n_distinct\": 2") && document.contains("\"task\": \"classification\""));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn table(
    table: &Table,
    summary: &TableSummary,
    file: &str,
    target_found: Option<&str>,
    notes: &[String],
) -> Result<String, Error> {
    let columns = summary.features.iter().enumerate().map(|(index, found)| Column {
        index,
        name: &found.name,
        column: found.number,
        kind: if found.levels.is_some() { "categorical" } else { "numeric" },
        n_missing: found.n_missing,
        n_distinct: table.n_distinct(index),
        constant: found.constant,
        minimum: found.minimum.map(Number),
        mean: found.mean.map(Number),
        maximum: found.maximum.map(Number),
        levels: found.levels.as_deref(),
    });
    let duplicate = |&(index, same_as): &(usize, usize)| Duplicate { index, same_as };
    written(&Document {
        fewest: VERSION,
        data: Data {
            file,
            format: table.format().name(),
            n_samples: summary.n_samples,
            n_features: summary.n_features,
            n_categorical: summary.n_categorical,
            n_stored: summary.n_stored,
            n_missing: summary.n_missing,
            n_incomplete_samples: summary.n_incomplete_samples,
        },
        target: Target { found: target_found, ..target(&summary.target) },
        columns: columns.collect(),
        duplicates: summary.duplicates.iter().map(duplicate).collect(),
        notes,
    })
}

fn target(summary: &TargetSummary) -> Target<'_> {
    match summary {
        TargetSummary::None => Target { task: "none", ..Target::default() },
        TargetSummary::Real { outputs } => Target {
            task: "regression",
            names: outputs.iter().map(|output| output.name.as_str()).collect(),
            outputs: outputs.iter().map(Range::of).collect(),
            ..Target::default()
        },
        TargetSummary::Survival { time, event, n_events } => Target {
            task: "survival",
            names: vec![&time.name, event],
            outputs: vec![Range::of(time)],
            n_events: Some(*n_events),
            ..Target::default()
        },
        TargetSummary::Class { name, classes, n_missing } => Target {
            task: "classification",
            names: vec![name],
            n_missing: Some(*n_missing),
            classes: classes.iter().map(|(name, n_samples)| Class { name, n_samples: *n_samples }).collect(),
            ..Target::default()
        },
    }
}
