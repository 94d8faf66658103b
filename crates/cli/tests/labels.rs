//! One problem under labels of every spelling, and targets named in every way: one answer.

use crate::common::Place;
use serde_json::Value;

/// A score, a greedy search, neighbours, counts, kernels: everything that could feel how classes are written.
const METHODS: [&str; 9] =
    ["t-score", "f-score", "chi2", "gini", "relieff", "mrmr", "trace-ratio", "hsic", "hsic-lasso"];

/// Three features that follow the class ever less, and noise; the labels of its two classes are `labels`.
fn table(labels: [&str; 2]) -> String {
    let mut text = String::from("near,far,noise,outcome,faint\n");
    for i in 0..48_u32 {
        let class = i * 5 % 48 / 24;
        let (near, far, faint) = (class * 9 + i * 7 % 6, class * 9 + i * 11 % 13, class * 9 + i * 17 % 31);
        text.push_str(&format!("{near},{far},{},{},{faint}\n", i * 23 % 47, labels[class as usize]));
    }
    text
}

/// Names and scores of the best three, and what the target was taken for.
fn answer(place: &Place, file: &str, method: &str, options: &[&str]) -> (Vec<String>, Vec<f64>, String) {
    let document = place.json(&[&["select", file, "-m", method, "-k", "3"], options].concat());
    let features = document["features"].as_array().unwrap();
    let names = features.iter().map(|feature| feature["name"].as_str().unwrap().to_owned()).collect();
    let scores = features.iter().map(|feature| feature["score"].as_f64().unwrap()).collect();
    let Value::String(task) = &document["data"]["task"] else { panic!("{document}") };
    (names, scores, task.clone())
}

fn agree(a: &(Vec<String>, Vec<f64>, String), b: &(Vec<String>, Vec<f64>, String), what: &str) {
    assert_eq!((&a.0, &a.2), (&b.0, &b.2), "{what}");
    for (a, b) in a.1.iter().zip(&b.1) {
        assert!((a - b).abs() <= 1e-9 * a.abs().max(b.abs()), "{what}: {a} and {b}");
    }
}

#[test]
fn labels_of_every_spelling_give_one_answer() {
    let place = Place::new();
    place.write("text.csv", &table(["healthy", "ill"]));
    for method in METHODS {
        let expected = answer(&place, "text.csv", method, &["--target", "outcome"]);
        assert_eq!(expected.2, "classification");
        for (labels, options) in [
            // The other way round in the alphabet.
            (["zz", "aa"], &[][..]),
            (["false", "true"], &[]),
            (["TRUE", "FALSE"], &[]),
            (["0", "1"], &[]),
            (["-1", "1"], &[]),
            (["+1", "-1"], &[]),
            (["17", "3"], &[]),
            (["1.0", "2.0"], &[]),
            (["-1e3", "1e6"], &[]),
            (["0.5", "1.5"], &["--task", "classification"]),
            (["\"a, b\"", "\"c\"\"d\""], &[]),
        ] {
            place.write("t.csv", &table(labels));
            let found = answer(&place, "t.csv", method, &[&["--target", "outcome"], options].concat());
            agree(&found, &expected, &format!("{method} with {labels:?}"));
        }
    }
}

#[test]
fn a_target_named_in_every_way_gives_one_answer() {
    let place = Place::new();
    place.write("t.csv", &table(["0", "1"]));
    // With the target last, and called so that it is found without being named.
    let reordered = |name: &str| {
        let lines = table(["0", "1"]);
        let moved = lines.lines().map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            let target = if cells[3] == "outcome" { name } else { cells[3] };
            format!("{},{},{},{},{target}\n", cells[0], cells[1], cells[2], cells[4])
        });
        moved.collect::<String>()
    };
    place.write("last.csv", &reordered("outcome"));
    place.write("class.csv", &reordered("Class"));
    let without_header: String = table(["0", "1"]).lines().skip(1).map(|line| format!("{line}\n")).collect();
    place.write("bare.csv", &without_header);
    for method in METHODS {
        let expected = answer(&place, "t.csv", method, &["--target", "outcome"]);
        for (file, options) in [
            ("t.csv", &["--target", "3"][..]),
            ("last.csv", &["--target", "last"]),
            ("last.csv", &["--target", "4"]),
            ("last.csv", &[]),
            ("class.csv", &[]),
        ] {
            // It may do without a target, so no column is taken for one that is not called so.
            if method == "trace-ratio" && (file, options) == ("last.csv", &[]) {
                assert!(place.fails(&["select", file, "-m", method]).contains("--target"));
                continue;
            }
            agree(
                &answer(&place, file, method, options),
                &expected,
                &format!("{method}: {file} {options:?}"),
            );
        }
        let bare = answer(&place, "bare.csv", method, &["--header", "no", "--target", "3"]);
        assert_eq!((&bare.1, &bare.2), (&expected.1, &expected.2), "{method} without names");
    }
}

#[test]
fn numbers_are_classes_by_the_documented_rule() {
    // Integers: at most ten levels, or at most a hundred that each occur twice. Anything else is a real
    // output; --task overrules.
    let place = Place::new();
    let write = |label: &dyn Fn(u32) -> String| {
        let rows = (0..60_u32).map(|i| format!("{},{},{},{}\n", i * 7 % 60, i * 11 % 13, i % 7, label(i)));
        place.write("t.csv", &format!("a,b,c,y\n{}", rows.collect::<String>()));
    };
    let task = |options: &[&str]| answer(&place, "t.csv", "hsic", options).2;
    for (label, expected) in [
        (&(|i: u32| (i % 10).to_string()) as &dyn Fn(u32) -> String, "classification"),
        (&|i: u32| (i / 2).to_string(), "classification"),
        (&|i: u32| (i % 59).to_string(), "regression"),
        (&|i: u32| i.to_string(), "regression"),
        (&|i: u32| format!("{}.5", i % 2), "regression"),
        (&|i: u32| format!("level {}", i % 2), "classification"),
    ] {
        write(label);
        assert_eq!(task(&[]), expected, "{}", label(1));
        assert_eq!(task(&["--task", "classification"]), "classification");
        if !label(1).starts_with('l') {
            assert_eq!(task(&["--task", "regression"]), "regression");
        }
    }
    assert!(place.fails(&["select", "t.csv", "--task", "regression"]).contains("--task classification"));
}
