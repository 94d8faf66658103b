//! Every data set of the collection, and those that are shipped, read as what they are.

use std::fs;

use fewest_core::Target;
use fewest_data::{Missing, ReadOptions, Table, Task};
use fewest_testkit::datasets;
use sha2::{Digest, Sha256};

fn options(file: &str) -> ReadOptions {
    if file.ends_with(".mat") { ReadOptions::default() } else { ReadOptions::with_target("target") }
}

fn check(file: &str, n: usize, d: usize, n_classes: Option<usize>) {
    let path = datasets::find(file).unwrap();
    let table = Table::read(&path, &options(file)).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((table.n_samples(), table.n_features()), (n, d), "{file}");
    let complete = table.complete(Missing::Error).unwrap_or_else(|error| panic!("{error}"));
    match (complete.dataset.target(), n_classes) {
        (Target::Class(classes), Some(n_classes)) => {
            assert_eq!(classes.n_classes(), n_classes, "{file}");
            assert!(classes.counts().iter().all(|&count| count > 0), "{file}");
        }
        (Target::Real(outputs), None) => assert_eq!(outputs.n_outputs(), 1, "{file}"),
        (target, _) => panic!("{file}: the target is {}", target.describe()),
    }
}

#[test]
fn every_data_set_of_the_manifest() {
    let Some(folder) = datasets::folder() else {
        eprintln!("skipped: FEWEST_DATA names no folder");
        return;
    };
    let text = fs::read_to_string(folder.join("MANIFEST.toml")).unwrap();
    let manifest: toml::Table = text.parse().unwrap();
    let entries = manifest["dataset"].as_array().unwrap();
    assert!(!entries.is_empty());
    for entry in entries {
        let number = |key: &str| entry.get(key).map(|value| value.as_integer().unwrap() as usize);
        let file = entry["file"].as_str().unwrap();
        let classification = entry["task"].as_str() == Some("classification");
        let n_classes = if classification { number("classes").or_else(|| classes_of(file)) } else { None };
        check(file, number("n").unwrap(), number("d").unwrap(), n_classes);
    }
}

/// The number of classes by counting, for the entries that do not give it.
fn classes_of(file: &str) -> Option<usize> {
    let options = ReadOptions { task: Task::Classification, ..options(file) };
    let table = Table::read(datasets::find(file)?, &options).ok()?;
    match table.complete(Missing::Error).ok()?.dataset.target() {
        Target::Class(classes) => Some(classes.n_classes()),
        _ => None,
    }
}

#[test]
fn shipped_data_sets() {
    check("wdbc.csv", 569, 30, Some(2));
    check("ionosphere.csv", 351, 34, Some(2));
    check("sonar.csv", 208, 60, Some(2));
    check("wine.csv", 178, 13, Some(3));
    check("auto_mpg.csv", 392, 7, None);
}

#[test]
fn shipped_data_sets_are_what_their_readme_says() {
    let readme = fs::read_to_string(datasets::path("README.md")).unwrap();
    for name in datasets::SHIPPED {
        let digest = Sha256::digest(fs::read(datasets::path(name)).unwrap());
        let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        assert!(readme.contains(&format!("{digest}  {name}")), "{name} has the SHA-256 {digest}");
    }
}
