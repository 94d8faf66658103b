//! The crates under `extensions/`, built and tested like crates of other projects: against packages of
//! this workspace.

use std::fmt::Write as _;
use std::process::Command;

use crate::{Result, metadata, workspace};

/// Packages every published crate, unpacks the packages, and tests the extensions with them instead of those
/// on crates.io. This finds missing files, features and dependencies of a package.
pub(crate) fn run() -> Result<()> {
    let root = workspace::root();
    let target = root.join("target/extensions");
    let packages = target.join("package");
    if packages.exists() {
        std::fs::remove_dir_all(&packages)?;
    }
    let mut package = workspace::cargo();
    package
        .args(["package", "--workspace", "--no-verify", "--allow-dirty", "--quiet"])
        .arg("--target-dir")
        .arg(&target);
    for member in metadata::members()?.iter().filter(|member| !member.is_published) {
        package.args(["--exclude", &member.name]);
    }
    workspace::run(&mut package)?;

    let mut patch = String::from("[patch.crates-io]\n");
    let mut entries = Vec::new();
    for entry in std::fs::read_dir(&packages)? {
        entries.push(entry?.path());
    }
    entries.sort();
    for path in entries {
        let Some(stem) = path.file_name().and_then(|name| name.to_str()?.strip_suffix(".crate")) else {
            continue;
        };
        // All files of a package are as old as each other: with the time of unpacking (`m`) cargo sees which
        // are new, and compiles none of an earlier run.
        let mut unpack = Command::new("tar");
        unpack.arg("-xzmf").arg(&path).arg("-C").arg(&packages);
        workspace::run(&mut unpack)?;
        let Some((name, _version)) = stem.rsplit_once('-') else { continue };
        writeln!(patch, "{name} = {{ path = {:?} }}", packages.join(stem))?;
    }
    let config = target.join("packages.toml");
    std::fs::write(&config, patch)?;

    let mut test = workspace::cargo();
    test.args(["test", "--workspace", "--manifest-path"])
        .arg(root.join("extensions/Cargo.toml"))
        .arg("--config")
        .arg(&config)
        .arg("--target-dir")
        .arg(&target);
    workspace::run(&mut test)
}
