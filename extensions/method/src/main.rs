//! The command `fewest` with one method more.

use std::process::ExitCode;

use fewest::registry::Registry;

fn main() -> ExitCode {
    let mut registry = Registry::standard().clone();
    for method in example_method::METHODS {
        registry = match registry.with_method(method.clone()) {
            Ok(registry) => registry,
            Err(error) => {
                eprintln!("{error}");
                return ExitCode::FAILURE;
            }
        };
    }
    fewest_cli::run(&registry)
}
