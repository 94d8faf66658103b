//! The crates under `extensions/`, built and tested like crates of other projects: against packages of
//! this workspace.

use std::fmt::Write as _;
use std::process::Command;

use crate::{Result, metadata, workspace};

/// Packages every published crate, unpacks the packages, and tests the extensions with them instead of those
/// on crates.io. This finds missing files, features and dependencies of a package.
///
/// What the packages need has the versions, the profile and the folder of this workspace: `cargo test` has
/// compiled most of it before.
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

    let mut settings = String::from("[patch.crates-io]\n");
    let mut names = Vec::new();
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
        writeln!(settings, "{name} = {{ path = {:?} }}", packages.join(stem))?;
        names.push(name.to_owned());
    }
    settings.push_str(&profile_without_optimisation_of(&names)?);
    let config = target.join("packages.toml");
    std::fs::write(&config, settings)?;
    std::fs::copy(root.join("Cargo.lock"), root.join("extensions/Cargo.lock"))?;

    let mut test = workspace::cargo();
    test.args(["test", "--workspace", "--manifest-path"])
        .arg(root.join("extensions/Cargo.toml"))
        .arg("--config")
        .arg(&config)
        .arg("--target-dir")
        .arg(root.join("target"));
    workspace::run(&mut test)
}

/// The profile `dev` of this workspace, so that what other projects publish is not compiled once more, but
/// for these packages, of which a moment of work is asked.
fn profile_without_optimisation_of(names: &[String]) -> Result<String> {
    let manifest: toml::Table = std::fs::read_to_string(workspace::root().join("Cargo.toml"))?.parse()?;
    let mut profile = manifest
        .get("profile")
        .and_then(|profiles| profiles.get("dev"))
        .and_then(toml::Value::as_table)
        .ok_or("Cargo.toml has no [profile.dev]")?
        .clone();
    let packages = profile.entry("package").or_insert_with(|| toml::Table::new().into());
    for name in names {
        let package = toml::Table::from_iter([("opt-level".to_owned(), 0.into())]);
        packages
            .as_table_mut()
            .ok_or("[profile.dev.package] is no table")?
            .insert(name.clone(), package.into());
    }
    let dev = toml::Table::from_iter([("dev".to_owned(), profile.into())]);
    Ok(toml::to_string(&toml::Table::from_iter([("profile".to_owned(), dev.into())]))?)
}
