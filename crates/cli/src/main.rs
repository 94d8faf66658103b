//! The command `fewest`.

use std::process::ExitCode;

use fewest::registry::Registry;

fn main() -> ExitCode {
    let registry = Registry::standard().clone();
    #[cfg(feature = "excel")]
    let registry = registry.with_format(fewest_excel::EXCEL).expect("no standard format is called excel");
    fewest_cli::run(&registry)
}
