//! Parquet and Arrow files through every command that reads a table: the answers are those of the same table
//! as text, bit for bit.
#![cfg(feature = "arrow")]

use std::fs;
use std::path::Path;

use crate::common::Place;

const KIT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../testkit/data");

/// A place with small tables in three formats.
fn place() -> Place {
    let place = Place::new();
    for name in ["wine", "heart_failure"] {
        for extension in ["csv", "parquet", "arrow"] {
            let name = format!("{name}.{extension}");
            fs::copy(Path::new(KIT).join(&name), place.path(&name)).unwrap();
        }
    }
    place
}

/// A result without the name of the file and the times in it.
fn lasting(json: &str, name: &str) -> String {
    let lines = json.lines().filter(|line| !line.contains("seconds"));
    lines.map(|line| line.replace(name, "FILE") + "\n").collect()
}

#[test]
fn answers_are_those_of_the_same_table_as_text() {
    let place = place();
    let survival = "--target time,DEATH_EVENT --task survival --missing drop-rows";
    for (table, arguments) in [
        ("wine", "select --target target --method hsic-lasso -k 5 --json -"),
        ("wine", "select --method mrmr -k 4 --ignore *phenols --categorical magnesium --json -"),
        ("wine", "score --target target --method anova --json -"),
        ("wine", "score --target alcohol --task regression --method correlation --json -"),
        ("wine", "evaluate --target target --method fisher -k 2,4 --folds 3 --json -"),
        ("wine", "compare --target target --methods fisher,mrmr -k 3 --folds 3 --json -"),
        ("heart_failure", &format!("select {survival} --method lasso -k 3 --json -")),
    ] {
        let run = |extension: &str| {
            let name = format!("{table}.{extension}");
            let mut words: Vec<&str> = arguments.split(' ').collect();
            words.insert(1, &name);
            let ran = place.run(&words);
            assert_eq!(ran.status, 0, "{words:?}: {}", ran.stderr);
            lasting(&ran.stdout, &name)
        };
        let text = run("csv");
        assert!(text.len() > 100, "{text}");
        assert_eq!(run("parquet"), text, "{arguments}");
        assert_eq!(run("arrow"), text, "{arguments}");
    }
}

#[test]
fn reduced_tables_are_written_and_applied_as_parquet() {
    let place = place();
    place.done(&[
        "select",
        "wine.parquet",
        "--target",
        "target",
        "-k",
        "3",
        "--json",
        "result.json",
        "--write-reduced",
        "small.parquet",
    ]);
    place.done(&["select", "wine.csv", "--target", "target", "-k", "3", "--write-reduced", "small.csv"]);
    let selected = |name: &str| {
        lasting(&place.done(&["score", name, "--target", "target", "--method", "anova", "--json", "-"]), name)
    };
    assert_eq!(selected("small.parquet"), selected("small.csv"));
    place.done(&["apply", "result.json", "wine.parquet", "--write-reduced", "new.parquet"]);
    place.done(&["apply", "result.json", "wine.csv", "--write-reduced", "new.csv"]);
    let described = |name: &str| {
        let words = [
            "score",
            name,
            "--target",
            "0",
            "--task",
            "regression",
            "--method",
            "correlation",
            "--json",
            "-",
        ];
        lasting(&place.done(&words), name)
    };
    assert_eq!(described("new.parquet"), described("new.csv"));
    place.refuses(&["apply", "result.json", "wine.parquet", "--write-reduced", "new.arrow"], &[".csv"]);
}

#[test]
fn a_folder_is_a_table_and_a_part_that_differs_is_named() {
    let place = place();
    for part in ["cellar=a/1.parquet", "cellar=b/1.parquet"] {
        let path = place.path(&format!("wines/{part}"));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::copy(place.path("wine.parquet"), path).unwrap();
    }
    let told = place.done(&["info", "wines", "--target", "target"]);
    assert!(told.contains("356") && told.contains("14"), "{told}");
    fs::copy(place.path("heart_failure.parquet"), place.path("wines/cellar=b/2.parquet")).unwrap();
    place.refuses(&["info", "wines"], &["2.parquet", "columns, but"]);
    let bytes = fs::read(place.path("wine.parquet")).unwrap();
    fs::write(place.path("wines/cellar=b/2.parquet"), &bytes[..bytes.len() / 2]).unwrap();
    place.refuses(&["info", "wines"], &["2.parquet", "cannot be read"]);
    place.refuses(&["select", "wine.parquet", "--write-reduced", "wine.parquet"], &["--write-reduced"]);
}

/// A file for which the decoder has a panic is a damaged one: one line says so, and nothing else does.
#[test]
fn a_panic_of_the_decoder_is_a_message() {
    let place = Place::new();
    let damaged = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/parquet/short_page.parquet");
    fs::copy(damaged, place.path("short_page.parquet")).unwrap();
    place.refuses(&["info", "short_page.parquet"], &["short_page.parquet", "it is damaged: "]);
}
