//! The workspace as cargo and git see it.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

use crate::Result;

/// The folder of the workspace's `Cargo.toml`.
pub fn root() -> PathBuf {
    // This package lies one folder below the root, wherever the checkout is.
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(Path::to_path_buf).unwrap_or_default()
}

/// `cargo`, the one that runs this.
pub fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    command
}

/// What a command prints on stdout, or an error that names the command.
pub fn stdout_of(command: &mut Command) -> Result<String> {
    let output = command.output().map_err(|error| format!("cannot run {command:?}: {error}"))?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{command:?} failed: {}", message.trim()).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// Runs a command with its output shown; an error if it fails.
pub fn run(command: &mut Command) -> Result<()> {
    let status = command.status().map_err(|error| format!("cannot run {command:?}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{command:?} failed: {status}").into()) }
}

/// The files git tracks or would track, relative to the root, in order; links to nothing are left out.
pub fn tracked_files() -> Result<Vec<String>> {
    let list = stdout_of(
        Command::new("git")
            .args(["ls-files", "--cached", "--others", "--exclude-standard"])
            .current_dir(root()),
    )?;
    let mut files: Vec<String> =
        list.lines().filter(|file| root().join(file).is_file()).map(str::to_owned).collect();
    files.sort();
    Ok(files)
}

/// A member of the workspace, from `cargo metadata`.
#[derive(Debug, Clone, Deserialize)]
pub struct Package {
    /// The package's name.
    pub name: String,
    /// What it depends on, workspace members and others.
    pub dependencies: Vec<Dependency>,
}

/// A dependency of a [`Package`].
#[derive(Debug, Clone, Deserialize)]
pub struct Dependency {
    /// The name of the package depended on.
    pub name: String,
    /// `None` for a normal dependency, else `dev` or `build`.
    pub kind: Option<String>,
}

/// The members of the workspace.
pub fn members() -> Result<Vec<Package>> {
    #[derive(Deserialize)]
    struct Metadata {
        packages: Vec<Package>,
    }
    let text = stdout_of(cargo().args(["metadata", "--format-version", "1", "--no-deps"]))?;
    Ok(serde_json::from_str::<Metadata>(&text)?.packages)
}
