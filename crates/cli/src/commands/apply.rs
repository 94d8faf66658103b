//! `fewest apply`.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::process::ExitCode;

use fewest::data::{Reduced, Reduction, csv_text};
use fewest::registry::Registry;
use fewest_study::json;

use super::is_stdout;
use super::select::reduced_format;
use crate::args::ApplyArgs;
use crate::failure::Failure;
use crate::{input, output, text};

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
    let Reduced { dataset: data, filled, dropped, .. } =
        input::reduced(registry, &args.read, reduction.clone())?;
    let features: Vec<usize> = (0..data.n_features()).collect();
    let wrong = |error: fewest::data::Error| Failure::new(format!("--write-reduced: {error}"));
    match format {
        Some(format) => format.write(out, &data, &features, &[]).map_err(wrong)?,
        None => output::print_bytes(&csv_text(&data, &features, &[]).map_err(wrong)?)?,
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
    if !dropped.is_empty() {
        let mut places: Vec<String> = dropped.iter().take(MOST_ROWS).map(ToString::to_string).collect();
        if dropped.len() > MOST_ROWS {
            places.push(format!("{} more", text::count(dropped.len() - MOST_ROWS)));
        }
        output::complain(&format!(
            "{} with missing values left out, as the selection did (--missing drop-rows): {}",
            text::counted(dropped.len(), "row", "rows"),
            places.join(", ")
        ));
    }
    Ok(ExitCode::SUCCESS)
}

/// Rows that are named.
const MOST_ROWS: usize = 20;

/// Longest result that is read, in bytes: a device may have no end.
const LONGEST: u64 = 1 << 30;

fn reduction(path: &Path) -> Result<Reduction, Failure> {
    let wrong = |error: String| Failure::new(format!("{}: {error}", path.display()));
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(LONGEST).read_to_end(&mut bytes))
        .map_err(|error| wrong(format!("cannot be read: {error}")))?;
    json::reduction_of(&bytes).map_err(|error| wrong(error.to_string()))
}
