//! What is read, and what the reader is told about it.

use std::io::Write;
use std::path::Path;
use std::process::Stdio;

use crate::common::{Place, table};

/// A column of names, an informative one, and a target.
fn with_names() -> String {
    (0..40).fold("id,x,y\n".to_owned(), |text, i| format!("{text}s{i},{},{}.5\n", i % 7, i * 3))
}

#[test]
fn a_level_for_each_sample_is_noted_everywhere() {
    let place = Place::new();
    place.write("t.csv", &with_names());
    let note = "note: column `id` (0, counted from 0) has 40 levels in 40 samples";
    for call in [
        "select t.csv -k 1",
        "score t.csv",
        "info t.csv",
        "evaluate t.csv -k 1 --folds 2",
        "compare t.csv --methods hsic,nocco -k 1 --folds 2",
    ] {
        let out = place.done(&call.split(' ').collect::<Vec<_>>());
        assert!(out.contains(note), "{call}: {out}");
    }
    for call in ["select t.csv -k 1", "score t.csv", "evaluate t.csv -k 1 --folds 2"] {
        let json = place.json(&call.split(' ').collect::<Vec<_>>());
        assert!(json["notes"][0].as_str().unwrap().contains("40 levels in 40 samples"), "{call}");
    }
    assert!(!place.done(&["select", "t.csv", "-k", "1", "--id-column", "id"]).contains("note"));
}

/// Genes in rows: suspected where nothing says what the target is, and read by `--transpose`.
#[test]
fn genes_in_rows_are_suspected_and_read() {
    let place = Place::new();
    let mut text = String::from("gene");
    (0..12).for_each(|sample| text.push_str(&format!(",s{sample}")));
    for gene in 0..600 {
        text.push_str(&format!("\ng{gene}"));
        (0..12).for_each(|sample| text.push_str(&format!(",{}", (gene * 37 + sample * sample * 11) % 101)));
    }
    place.write("genes.csv", &text);
    let out = place.done(&["info", "genes.csv"]);
    assert!(out.contains("add --transpose"), "{out}");
    text.push_str("\nkind");
    (0..12).for_each(|sample| text.push_str(if sample % 2 == 0 { ",a" } else { ",b" }));
    place.write("genes.csv", &text);
    let words = ["score", "genes.csv", "--transpose", "--target", "kind", "-m", "f-score", "--top", "3"];
    let out = place.done(&words);
    assert!(out.contains("12 samples, 600 features, target `kind`, 2 classes"), "{out}");
    assert!(!out.contains("add --transpose"), "{out}");
}

#[test]
fn decimal_commas_are_numbers() {
    let place = Place::new();
    place.write("plain.csv", &table());
    place.write("comma.csv", &table().replace(',', ";").replace('.', ","));
    let chosen = |name| {
        let json = place.json(&["select", name, "-k", "2"]);
        (json["features"].clone(), json["data"]["task"].clone(), json["notes"].as_array().unwrap().len())
    };
    let ((plain, task, n_notes), (comma, comma_task, n_comma_notes)) =
        (chosen("plain.csv"), chosen("comma.csv"));
    assert_eq!((plain, task, n_notes + 1), (comma, comma_task, n_comma_notes));
    place.write("quoted.csv", "a,b\n1,\"1,5\"\n2,\"2,5\"\n3,\"0,25\"\n");
    let told = place.fails(&["select", "quoted.csv", "-k", "1"]);
    for part in ["line 2", "`1,5` looks like a number", "the last column was used as the target", "--target"]
    {
        assert!(told.contains(part), "{told}");
    }
}

#[test]
fn info_numbers_columns_as_the_options_do() {
    let place = Place::with_table();
    let out = place.done(&["info", "table.csv", "--target", "square", "--ignore", "line"]);
    let numbers: Vec<&str> = out
        .lines()
        .skip_while(|line| !line.starts_with("column"))
        .skip(1)
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert_eq!(numbers, ["1", "3", "4", "5"], "{out}");
}

#[test]
fn the_guess_of_a_target_is_told_where_it_does_harm() {
    let place = Place::with_table();
    let told = place.fails(&["select", "table.csv", "--ignore", "outcome"]);
    for part in
        ["`outcome`", "it is ignored", "no other is known to be the target (the last column", "--target"]
    {
        assert!(told.contains(part), "{told}");
    }
}

#[test]
fn stdin_is_read() {
    let place = Place::with_table();
    let from = |arguments: &[&str], content: &str| {
        let mut command = place.command(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(content.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        (output.status.code(), [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap()))
    };
    let features = |out: &str| out.lines().skip(3).map(str::to_owned).collect::<Vec<_>>();
    let expected = features(&place.done(&["select", "table.csv", "-k", "2"]));
    let mut names = vec!["-"];
    if cfg!(target_os = "linux") {
        names.push("/dev/stdin");
    }
    for name in names {
        let (status, [out, error]) = from(&["select", name, "-k", "2"], &table());
        assert_eq!((status, error.as_str()), (Some(0), ""), "{name}");
        assert_eq!(features(&out), expected, "{name}");
        let (status, [_, error]) = from(&["select", name], "");
        assert_eq!((status, error.contains("is empty")), (Some(2), true), "{name}: {error}");
    }
    // A file of that name is not what was read, so the report does not give its digest.
    place.write("-", "another table");
    let (status, _) = from(&["select", "-", "-k", "2", "--report", "r.html"], &table());
    assert_eq!((status, place.read("r.html").contains("SHA-256")), (Some(0), false));
    place.done(&["select", "table.csv", "-k", "2", "--report", "r.html"]);
    assert!(place.read("r.html").contains("SHA-256"));
}

#[test]
fn workbooks_are_tables() {
    let place = Place::new();
    let files = Path::new(env!("CARGO_MANIFEST_DIR")).join("../excel/tests/files");
    let counts = |name: &str| {
        let info = place.json(&["info", files.join(name).to_str().unwrap()]);
        (info["n_samples"].clone(), info["columns"].as_array().unwrap().len())
    };
    assert_eq!(counts("patients.ods"), counts("patients.xls"));
    assert!(counts("patients.xls").1 > 1);
}
