//! `fewest info`: every column, in text and as JSON.

use crate::common::{Place, key_order, words};
use serde_json::{Value, json};

/// 14 features: a category, a constant, a copy, gaps, and numbers.
fn place() -> Place {
    let place = Place::new();
    let names: Vec<String> = (0..10).map(|j| format!("x{j}")).collect();
    let mut text = format!("colour,fixed,gaps,{},copy,kind\n", names.join(","));
    for i in 0..12 {
        let colour = ["red", "blue", "green"][i % 3];
        let gap = if i % 4 == 0 { String::new() } else { format!("{}", i % 4) };
        let values: Vec<String> = (0..10).map(|j| (i * (j + 3) % 7).to_string()).collect();
        let kind = if i % 2 == 0 { "no" } else { "yes" };
        text.push_str(&format!("{colour},7,{gap},{},{},{kind}\n", values.join(","), values[0]));
    }
    place.write("t.csv", &text);
    place
}

#[test]
fn all_columns_are_listed_where_asked_for() {
    let place = place();
    let short = place.done(&words("info t.csv -t kind"));
    assert!(short.contains("… and 2 features more (--columns lists all)"), "{short}");
    assert!(!short.contains("different"));
    let long = place.done(&words("info t.csv -t kind --columns"));
    let lines: Vec<&str> = long.lines().skip_while(|line| !line.starts_with("column")).collect();
    assert_eq!(lines.len(), 15, "{long}");
    let cells = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(cells(lines[0]), ["column", "feature", "type", "values", "missing", "different"]);
    assert!(lines[1].contains("colour") && lines[1].trim_end().ends_with("0          3"), "{}", lines[1]);
    assert_eq!(cells(lines[2]), ["1", "fixed", "numeric", "always", "7", "0", "1"]);
    assert!(cells(lines[3]).ends_with(&["3".to_owned(), "3".to_owned()]), "{}", lines[3]);
    assert!(lines[14].contains("copy"), "{}", lines[14]);
}

#[test]
fn the_document_describes_every_column() {
    let place = place();
    let document: Value = serde_json::from_str(&place.done(&words("info t.csv -t kind --json -"))).unwrap();
    let columns = document["columns"].as_array().unwrap();
    assert_eq!((columns.len(), &document["data"]["n_features"]), (14, &json!(14)));
    let colour = json!({
        "index": 0, "name": "colour", "column": 0, "kind": "categorical", "n_missing": 0, "n_distinct": 3,
        "constant": false, "levels": ["blue", "green", "red"]
    });
    assert_eq!(columns[0], colour);
    let mut gaps = columns[2].clone();
    assert!((gaps["mean"].take().as_f64().unwrap() - 2.0).abs() < 1e-12);
    let expected = json!({
        "index": 2, "name": "gaps", "column": 2, "kind": "numeric", "n_missing": 3, "n_distinct": 3,
        "constant": false, "minimum": 1.0, "mean": null, "maximum": 3.0
    });
    assert_eq!(gaps, expected);
    assert_eq!((&columns[1]["constant"], &columns[1]["n_distinct"]), (&json!(true), &json!(1)));
    // Values are modulo 7: x7, x8 and x9 are those of x0, x1 and x2.
    let same = [(10, 3), (11, 4), (12, 5), (13, 3)];
    let same = same.map(|(index, first)| json!({ "index": index, "same_as": first }));
    assert_eq!(document["duplicates"], json!(same));
    let classes = json!([{ "name": "no", "n_samples": 6 }, { "name": "yes", "n_samples": 6 }]);
    assert_eq!(document["target"]["classes"], classes);
    assert_eq!(document["target"]["task"], "classification");
    assert_eq!(document["data"]["n_incomplete_samples"], 3);
}

/// Programs depend on names and order of the keys.
#[test]
fn names_and_order_of_keys_do_not_change() {
    let place = place();
    let text = place.done(&words("info t.csv --json -"));
    assert_eq!(key_order(&text, 2), "fewest data target columns duplicates notes");
    let data = "file format n_samples n_features n_categorical n_missing n_incomplete_samples";
    let start = key_order(&text, 4);
    assert_eq!(start, format!("{data} task names found n_missing classes"));
    let text = place.done(&words("info t.csv -t x1 --task regression --json -"));
    assert!(key_order(&text, 4).ends_with("task names outputs"), "{text}");
    assert!(
        text.contains("\"outputs\": [\n      {\n        \"n_missing\": 0,\n        \"minimum\": 0.0,"),
        "{text}"
    );
}

#[test]
fn a_file_takes_the_document_and_the_text_stays() {
    let place = place();
    let out = place.done(&words("info t.csv -t kind --json t.json"));
    assert_eq!(out, place.done(&words("info t.csv -t kind")));
    assert_eq!(place.read("t.json"), place.done(&words("info t.csv -t kind --json -")));
    place.refuses(&words("info t.csv --json t.csv"), &["--json"]);
    place.refuses(&words("info t.csv --json - --links l.csv"), &["--json", "--links"]);
}

/// The zeros that a sparse table does not store are a value.
#[test]
fn zeros_that_are_not_stored_count() {
    let place = Place::new();
    place.write("t.svmlight", "1 1:2 2:1\n0 1:2\n1 1:3 2:1\n0 1:5\n");
    let document: Value = serde_json::from_str(&place.done(&words("info t.svmlight --json -"))).unwrap();
    let distinct: Vec<&Value> =
        document["columns"].as_array().unwrap().iter().map(|column| &column["n_distinct"]).collect();
    assert_eq!(distinct, [&json!(3), &json!(2)]);
}
