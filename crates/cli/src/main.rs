//! The command `fewest`.

use std::process::ExitCode;

fn main() -> ExitCode {
    fewest_cli::run(fewest::registry::Registry::standard())
}
