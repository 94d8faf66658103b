//! The command `fewest`.

use std::process::ExitCode;

use fewest::registry::Registry;

fn main() -> ExitCode {
    let registry = Registry::standard().clone();
    #[cfg(feature = "excel")]
    let registry = registry.with_format(fewest_excel::EXCEL).expect("no standard format is called excel");
    #[cfg(feature = "arrow")]
    let registry = [fewest_arrow::PARQUET, fewest_arrow::ARROW]
        .into_iter()
        .try_fold(registry, Registry::with_format)
        .expect("no standard format is called parquet or arrow");
    #[cfg(feature = "arrow")]
    fewest_arrow::hush_decoders();
    fewest_cli::run(&registry)
}
