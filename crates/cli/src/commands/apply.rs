//! `fewest apply`.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::process::ExitCode;

use fewest::data::{Reduced, Reduction, UnknownLevel, csv_text};
use fewest::registry::Registry;
use fewest_study::json;

use super::is_stdout;
use super::select::{not_written, reduced_format};
use crate::args::ApplyArgs;
use crate::failure::Failure;
use crate::{input, output, runner, text};

/// Makes the selected features from the rows of another table.
pub(crate) fn apply(registry: &Registry, args: &ApplyArgs) -> Result<ExitCode, Failure> {
    let out = args.write_reduced.as_path();
    let to_stdout = is_stdout(out);
    let file = Some(out).filter(|_| !to_stdout);
    for input in [&args.read.file, &args.result] {
        output::check(input, &[("--write-reduced", file)])?;
    }
    let format = file.map(|file| reduced_format(registry, file)).transpose()?;
    let reduction = reduction(&args.result)?;
    let Reduced { dataset: data, filled, dropped, unknown, empty, not_samples, .. } =
        input::reduced(registry, &args.read, &args.ignore, reduction.clone(), args.unknown)?;
    runner::end_of_reading();
    let features: Vec<usize> = (0..data.n_features()).collect();
    match format {
        Some(format) => format.write(out, &data, &features, &[]).map_err(|error| not_written(&error))?,
        None => output::print_bytes(&csv_text(&data, &features, &[]).map_err(|error| not_written(&error))?)?,
    }
    let mut told = format!(
        "{}: {} of {} to {}",
        text::one_line(&args.read.file.display().to_string()),
        text::counted(data.n_features(), "feature", "features"),
        text::counted(data.n_samples(), "sample", "samples"),
        text::one_line(&out.display().to_string()),
    );
    if filled > 0 {
        let cells = text::counted(filled, "missing value", "missing values");
        let kinds = (0..data.n_features()).map(|j| data.feature_kind(j));
        let filler = input::filler(reduction.missing, kinds);
        told.push_str(&format!("; {cells} filled by {filler} of the training table"));
    }
    if !to_stdout {
        told.push('\n');
        output::print(&told)?;
    }
    if !unknown.is_empty() {
        let level = |found: &UnknownLevel| {
            let (column, level) = (text::one_line(&found.column), text::one_line(&found.level));
            format!("`{level}` of `{column}` ({})", text::counted(found.cells, "cell", "cells"))
        };
        output::complain(&format!(
            "{} that the training table does not have, taken for missing values (--unknown missing): {}",
            text::counted(unknown.len(), "level", "levels"),
            first_few(unknown.iter().map(level))
        ));
    }
    if !not_samples.is_empty() {
        output::complain(&format!(
            "{} left out, which are no samples: {}",
            text::counted(not_samples.len(), "column", "columns"),
            first_few(not_samples.iter().map(|name| format!("`{}`", text::one_line(name))))
        ));
    }
    if !empty.is_empty() {
        output::complain(&format!(
            "no row has a value of {}: every cell there is that of the training table",
            first_few(empty.iter().map(|name| format!("`{}`", text::one_line(name))))
        ));
    }
    if !dropped.is_empty() {
        output::complain(&format!(
            "{} with missing values left out, as the selection did (--missing drop-rows): {}",
            text::counted(dropped.len(), "row", "rows"),
            first_few(dropped.iter().map(ToString::to_string))
        ));
    }
    Ok(ExitCode::SUCCESS)
}

/// Rows, levels and columns that are named.
const MOST: usize = 20;

/// The first of what a message names.
fn first_few(all: impl ExactSizeIterator<Item = String>) -> String {
    let more = all.len().saturating_sub(MOST);
    let mut named: Vec<String> = all.take(MOST).collect();
    if more > 0 {
        named.push(format!("{} more", text::count(more)));
    }
    named.join(", ")
}

/// Longest result that is read, in bytes: a device may have no end.
const LONGEST: u64 = 1 << 30;

fn reduction(path: &Path) -> Result<Reduction, Failure> {
    let wrong = |error: String| Failure::new(format!("{}: {error}", path.display()));
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(LONGEST).read_to_end(&mut bytes))
        .map_err(|error| wrong(format!("cannot be read: {error}")))?;
    if bytes.iter().find(|byte| !byte.is_ascii_whitespace()) != Some(&b'{') {
        let what = "this is no result of `fewest select --json`: give the result first, and then the table";
        return Err(wrong(what.to_owned()));
    }
    let reduction = json::reduction_of(&bytes).map_err(|error| wrong(error.to_string()))?;
    match reduction.columns.is_empty() {
        true => Err(wrong("no feature was selected, so no column is left to write".to_owned())),
        false => Ok(reduction),
    }
}
