//! `cargo xtask data`: compares a data folder with its manifest.

use std::path::{Path, PathBuf};

use clap::Args;
use fewest::data::{ReadOptions, Table, TargetSummary, Task};
use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::Result;

/// The entry of a manifest about one file.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct Entry {
    /// The file's name in the folder.
    pub file: String,
    /// `classification` or `regression`.
    pub task: String,
    /// Number of samples.
    pub n: usize,
    /// Number of features.
    pub d: usize,
    /// Number of classes.
    pub classes: Option<usize>,
    /// Missing cells.
    #[serde(default)]
    pub missing: usize,
    /// The file's digest, in hexadecimal digits.
    pub sha256: String,
}

/// Checks a data folder against its MANIFEST.toml: which files exist, their digests, and their sizes as
/// read by our readers.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The folder.
    #[arg(long, env = "FEWEST_DATA")]
    dir: PathBuf,
    /// Check only files whose name contains this.
    #[arg(long, default_value = "")]
    only: String,
}

/// Runs the check; prints one line for each file that differs.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let entries = manifest(&arguments.dir)?;
    let mut bad = 0;
    let mut checked = 0;
    for entry in entries.iter().filter(|entry| entry.file.contains(&arguments.only)) {
        checked += 1;
        let faults = check(&arguments.dir, entry);
        bad += usize::from(!faults.is_empty());
        for fault in faults {
            println!("{}: {fault}", entry.file);
        }
    }
    for file in unlisted(&arguments.dir, &entries)? {
        println!("{file}: is not in the manifest");
        bad += 1;
    }
    println!("{checked} files checked, {bad} not as the manifest says");
    if bad == 0 {
        Ok(())
    } else {
        Err(format!("{} is not what its manifest says", arguments.dir.display()).into())
    }
}

/// The entries of a folder's `MANIFEST.toml`.
pub(crate) fn manifest(folder: &Path) -> Result<Vec<Entry>> {
    let file = folder.join("MANIFEST.toml");
    let text = std::fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
    parse(&text).map_err(|error| format!("{}: {error}", file.display()).into())
}

fn parse(text: &str) -> std::result::Result<Vec<Entry>, toml::de::Error> {
    #[derive(Deserialize)]
    struct Manifest {
        dataset: Vec<Entry>,
    }
    Ok(toml::from_str::<Manifest>(text)?.dataset)
}

/// Reads `entry`'s file with its last column, or its variable `Y`, as the target.
pub(crate) fn read(folder: &Path, entry: &Entry) -> Result<Table> {
    let is_matlab = entry.file.ends_with(".mat");
    let mut options = if is_matlab { ReadOptions::default() } else { ReadOptions::with_target("target") };
    options.task = if entry.task == "regression" { Task::Regression } else { Task::Classification };
    Ok(Table::read(folder.join(&entry.file), &options)?)
}

fn check(folder: &Path, entry: &Entry) -> Vec<String> {
    let bytes = match std::fs::read(folder.join(&entry.file)) {
        Ok(bytes) => bytes,
        Err(error) => return vec![format!("is missing ({error})")],
    };
    let mut faults = Vec::new();
    let digest: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    if digest != entry.sha256 {
        faults.push(format!("sha256 is {digest}, not {}", entry.sha256));
    }
    match read(folder, entry) {
        Ok(table) => faults.extend(differences(entry, &table)),
        Err(error) => faults.push(format!("cannot be read: {error}")),
    }
    faults
}

fn differences(entry: &Entry, table: &Table) -> Vec<String> {
    let summary = table.summary();
    let classes = match &summary.target {
        TargetSummary::Class { classes, .. } => Some(classes.len()),
        _ => None,
    };
    let mut faults = Vec::new();
    for (what, expected, found) in [
        ("samples", Some(entry.n), Some(summary.n_samples)),
        ("features", Some(entry.d), Some(summary.n_features)),
        ("classes", entry.classes, classes),
        ("missing cells", Some(entry.missing), Some(summary.n_missing)),
    ] {
        if expected != found {
            let words =
                |count: Option<usize>| count.map_or_else(|| "none".to_owned(), |count| count.to_string());
            faults.push(format!("{what}: {} in the file, {} in the manifest", words(found), words(expected)));
        }
    }
    faults
}

fn unlisted(folder: &Path, entries: &[Entry]) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for file in std::fs::read_dir(folder)? {
        let name = file?.file_name().to_string_lossy().into_owned();
        if name != "MANIFEST.toml" && name != "README.md" && !entries.iter().any(|entry| entry.file == name) {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry() -> Entry {
        let text = "[[dataset]]\nname = 'x'\nfile = 'wdbc.csv'\ntask = 'classification'\nn = 569\nd = 30\n\
                    classes = 2\n\
                    missing = 0\nsha256 = '00'\n";
        parse(text).unwrap().remove(0)
    }

    /// The copy of wdbc that the tests of the workspace use.
    fn folder() -> PathBuf {
        crate::workspace::root().join("crates/testkit/data")
    }

    #[test]
    fn sizes_and_digest_are_compared() {
        let faults = check(&folder(), &entry());
        assert_eq!(faults.len(), 1, "{faults:?}");
        assert!(faults[0].starts_with("sha256"));
        let wrong = Entry { n: 570, d: 31, classes: Some(3), missing: 1, ..entry() };
        assert_eq!(check(&folder(), &wrong).len(), 5);
    }

    #[test]
    fn a_missing_file_is_reported() {
        let absent = Entry { file: "no.csv".to_owned(), ..entry() };
        assert!(check(&folder(), &absent)[0].starts_with("is missing"));
    }

    #[test]
    fn files_without_an_entry_are_named() {
        assert!(unlisted(&folder(), &[entry()]).unwrap().iter().all(|name| name != "wdbc.csv"));
        assert!(unlisted(&folder(), &[]).unwrap().contains(&"wdbc.csv".to_owned()));
    }
}
