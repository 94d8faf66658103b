//! `fewest apply`.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::process::ExitCode;

use fewest::data::Reduction;
use fewest::registry::Registry;
use fewest_study::json;

use super::select::reduced_format;
use crate::args::ApplyArgs;
use crate::failure::Failure;
use crate::{input, output, text};

/// Makes the selected features from the rows of another table.
pub(crate) fn apply(registry: &Registry, args: &ApplyArgs) -> Result<ExitCode, Failure> {
    let out = args.write_reduced.as_path();
    for input in [&args.read.file, &args.result] {
        output::check(input, &[("--write-reduced", Some(out))])?;
    }
    let format = reduced_format(registry, out)?;
    let reduction = reduction(&args.result)?;
    let (data, filled) = input::reduced(registry, &args.read, reduction.clone())?;
    let features: Vec<usize> = (0..data.n_features()).collect();
    format
        .write(out, &data, &features, &[])
        .map_err(|error| Failure::new(format!("--write-reduced: {error}")))?;
    let mut told = format!(
        "{}: {} of {} to {}",
        text::one_line(&args.read.file.display().to_string()),
        text::counted(data.n_features(), "feature", "features"),
        text::counted(data.n_samples(), "sample", "samples"),
        text::one_line(&out.display().to_string()),
    );
    if filled > 0 {
        let cells = text::counted(filled, "missing value", "missing values");
        told.push_str(&format!("; {cells} filled by the {} of the training table", reduction.missing.name()));
    }
    told.push('\n');
    output::print(&told)?;
    Ok(ExitCode::SUCCESS)
}

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
