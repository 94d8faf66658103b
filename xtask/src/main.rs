//! Automation of the fewest workspace: `cargo xtask help`.

mod beside;
mod ci;
mod documented;
mod extensions;
mod metadata;
mod python;
mod tidy;
mod workspace;

use std::ffi::OsString;
use std::process::ExitCode;

/// What every command returns; the message is one line for a person.
type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

const USAGE: &str = "\
Automation of the fewest workspace

Usage: cargo xtask COMMAND

Commands:
  ci         Everything that must hold before a change is merged, with the time each step took
  tidy       The house rules: dependency edges, no printing in libraries, links that resolve, …
  extensions The crates under extensions/, tested against packages of this workspace
  python     The Python package under bindings/python, built and tested; arguments are those of pytest,
             or --soak [RUNS], --notebooks, which executes and writes them, --peers: other packages

Commands of experiments/, which are built optimised first; `cargo xtask COMMAND --help` tells their arguments:
  bench      How fast, against ourselves and against others
  data       Is a folder of data sets what its manifest says?
  golden     The reference results, against every way to compute them
  reproduce  Published figures and tables, from our code";

/// The commands that need the library.
const EXPERIMENTS: &[&str] = &["bench", "data", "golden", "reproduce"];

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let run = if std::env::var_os(documented::AS_RUSTDOC).is_some() { documented::run } else { run };
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[OsString]) -> Result<()> {
    let words: Vec<&str> = arguments.iter().map(|word| word.to_str().unwrap_or_default()).collect();
    match words[..] {
        ["ci"] => ci::run(),
        ["tidy"] => tidy::run(),
        ["extensions"] => extensions::run(),
        ["python", ..] => python::run(&arguments[1..], &[]),
        [command, ..] if EXPERIMENTS.contains(&command) => experiments(arguments),
        ["help" | "--help" | "-h"] => {
            println!("{USAGE}");
            Ok(())
        }
        _ => Err(format!("no such command\n\n{USAGE}").into()),
    }
}

/// Builds the experiments optimised, and runs them in the folder where this program was started.
fn experiments(arguments: &[OsString]) -> Result<()> {
    let mut cargo = workspace::cargo();
    cargo
        .current_dir(std::env::current_dir()?)
        .args(["run", "--quiet", "--release", "--package", "fewest-experiments", "--manifest-path"])
        .arg(workspace::root().join("Cargo.toml"))
        .arg("--")
        .args(arguments);
    workspace::run(&mut cargo)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usage_names_every_command() {
        let is_told = |command: &&&str| USAGE.contains(&format!("\n  {command} "));
        assert_eq!(EXPERIMENTS.iter().filter(is_told).count(), EXPERIMENTS.len());
    }

    #[test]
    fn what_is_no_command_is_an_error_that_tells_the_commands() {
        for words in [vec![], vec!["tidi"], vec!["tidy", "--fast"]] {
            let arguments: Vec<OsString> = words.into_iter().map(OsString::from).collect();
            assert!(run(&arguments).unwrap_err().to_string().contains(USAGE));
        }
    }
}
