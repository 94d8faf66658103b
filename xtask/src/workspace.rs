//! The checkout, and how to run cargo and others in it. `experiments/` compiles this file too.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Result;

/// The checkout around the current folder; the current folder itself where there is none.
///
/// It is found at run time, so that a program copied to another checkout works on that one.
pub(crate) fn root() -> PathBuf {
    let here = std::env::current_dir().unwrap_or_default();
    let is_root =
        |folder: &&Path| folder.join("Cargo.lock").is_file() && folder.join("xtask/Cargo.toml").is_file();
    here.ancestors().find(is_root).map_or_else(|| here.clone(), Path::to_path_buf)
}

/// `cargo`, the one that runs this.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    command
}

/// What a command prints on stdout, or an error that names the command.
pub(crate) fn stdout_of(command: &mut Command) -> Result<String> {
    let output = command.output().map_err(|error| format!("cannot run {command:?}: {error}"))?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{command:?} failed: {}", message.trim()).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// Runs a command with its output shown; an error if it fails.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = command.status().map_err(|error| format!("cannot run {command:?}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{command:?} failed: {status}").into()) }
}
