//! Calls of `fewest-cluster`, a program of its own, by the words of this one.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use crate::failure::Failure;

/// The program that knows what a cluster is.
const PROGRAM: &str = "fewest-cluster";

/// The words for `fewest-cluster`, if these ask for a cluster: `cluster …`, or `select` or `score` with
/// `--cluster`.
pub(crate) fn asked(words: &[OsString]) -> Option<&[OsString]> {
    let (first, others) = words.split_first()?;
    let is_option = |word: &OsString| {
        word == "--cluster" || word.to_str().is_some_and(|word| word.starts_with("--cluster="))
    };
    match first.to_str()? {
        "cluster" => Some(others),
        "select" | "score" => others.iter().take_while(|word| *word != "--").any(is_option).then_some(words),
        _ => None,
    }
}

/// Calls `fewest-cluster`: the one beside this program, or else the one on the path. Where the system can, it
/// takes the place of this process, so that signals reach it.
pub(crate) fn call(words: &[OsString]) -> Result<ExitCode, Failure> {
    let beside = std::env::current_exe().ok().and_then(|own| {
        let program = own.with_file_name(format!("{PROGRAM}{}", std::env::consts::EXE_SUFFIX));
        program.is_file().then_some(program)
    });
    let program = beside.unwrap_or_else(|| PathBuf::from(PROGRAM));
    let mut command = Command::new(&program);
    run(command.args(words)).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => Failure::new(format!(
            "the program {PROGRAM} is neither beside this one nor on the path: install it, by `cargo install \
             --path cluster/cluster` in a clone of fewest"
        )),
        _ => Failure::new(format!("{}: {error}", program.display())),
    })
}

#[cfg(unix)]
fn run(command: &mut Command) -> std::io::Result<ExitCode> {
    // It only returns where it fails.
    Err(std::os::unix::process::CommandExt::exec(command))
}

#[cfg(not(unix))]
fn run(command: &mut Command) -> std::io::Result<ExitCode> {
    let status = command.status()?.code().and_then(|code| u8::try_from(code).ok());
    Ok(ExitCode::from(status.unwrap_or(crate::failure::STATUS_WRONG)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(call: &str) -> Vec<OsString> {
        call.split_whitespace().map(OsString::from).collect()
    }

    #[test]
    fn words_that_ask_for_a_cluster_are_those_of_its_program() {
        for (call, handed) in [
            ("cluster local 2", Some("local 2")),
            ("cluster", Some("")),
            ("cluster --help", Some("--help")),
            ("select x --cluster h:1 -k 3", Some("select x --cluster h:1 -k 3")),
            ("score x --cluster=h:1", Some("score x --cluster=h:1")),
            ("select x -k 3", None),
            ("select -- --cluster", None),
            ("select x --clusters", None),
            ("evaluate x --cluster h:1", None),
            ("info cluster", None),
            ("", None),
        ] {
            assert_eq!(asked(&words(call)), handed.map(words).as_deref(), "{call}");
        }
    }
}
