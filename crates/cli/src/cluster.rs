//! Hands calls for a cluster to the program `fewest-cluster`.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use crate::failure::Failure;

const PROGRAM: &str = "fewest-cluster";

/// The option of `select` and `score`.
pub(crate) const OPTION: &str = "cluster";

/// The only option whose value may be `--cluster`, or `--`.
const TAKES_ANYTHING: &str = "--missing-token";

/// The arguments for `fewest-cluster`, if these ask for a cluster: `cluster …`, its servers without that
/// word, or `select` or `score` with `--cluster`.
pub(crate) fn asked(arguments: &[OsString]) -> Option<&[OsString]> {
    let (command, others) = arguments.split_first()?;
    match command.to_str()? {
        "cluster" => Some(others),
        "scheduler" | "executor" => Some(arguments),
        "select" | "score" => has_option(others).then_some(arguments),
        _ => None,
    }
}

fn has_option(arguments: &[OsString]) -> bool {
    let mut is_value = false;
    for argument in arguments {
        let name = argument.to_str().and_then(|argument| argument.split('=').next()?.strip_prefix("--"));
        match name {
            _ if is_value => is_value = false,
            Some("") => return false,
            Some(OPTION) => return true,
            _ => is_value = argument == TAKES_ANYTHING,
        }
    }
    false
}

/// Calls `fewest-cluster`: the one in the folder of this program, or else the one on the PATH. On Unix it
/// takes the place of this process, so that signals reach it. Elsewhere its exit status is passed on; 2
/// stands for one that is no byte.
pub(crate) fn call(arguments: &[OsString]) -> Result<ExitCode, Failure> {
    let beside = std::env::current_exe().ok().and_then(|own| {
        let program = own.with_file_name(format!("{PROGRAM}{}", std::env::consts::EXE_SUFFIX));
        program.is_file().then_some(program)
    });
    let is_found = beside.is_some();
    let program = beside.unwrap_or_else(|| PathBuf::from(PROGRAM));
    let mut command = Command::new(&program);
    run(command.args(arguments)).map_err(|error| match error.kind() {
        ErrorKind::NotFound if !is_found => Failure::new(format!(
            "the program {PROGRAM} is neither in the folder of this one nor on the PATH: install it, by `cargo \
             install --locked --path cluster/cluster` in a clone of fewest"
        )),
        _ => Failure::new(format!(
            "{} cannot be started ({error}): install it again, or remove it",
            program.display()
        )),
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
    fn calls_for_a_cluster_are_found() {
        for (call, handed) in [
            ("cluster local 2", Some("local 2")),
            ("cluster", Some("")),
            ("cluster --help", Some("--help")),
            ("scheduler --port 1", Some("scheduler --port 1")),
            ("executor --scheduler h:1", Some("executor --scheduler h:1")),
            ("select x --cluster h:1 -k 3", Some("select x --cluster h:1 -k 3")),
            ("score x --cluster=h:1", Some("score x --cluster=h:1")),
            ("select x --missing-token -- --cluster h:1", Some("select x --missing-token -- --cluster h:1")),
            ("select x --missing-token --cluster", None),
            ("select x --missing-token=--cluster", None),
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
