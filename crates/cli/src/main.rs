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
    // A file may be damaged in a way that its decoder has a panic for, which becomes an error.
    #[cfg(feature = "arrow")]
    {
        let hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !fewest_arrow::is_decoding() {
                hook(panic);
            }
        }));
    }
    fewest_cli::run(&registry)
}
