//! Every method that is a filter or measures dependence on tables that are wrong or strange: an answer in
//! which nothing constant and nothing undefined was chosen, or one line that names the file.

use crate::common::Place;

/// Methods that train machines again and again have tests of their own.
const FILTERS: [&str; 45] = [
    "hsic",
    "nocco",
    "variance",
    "t-score",
    "f-score",
    "chi2",
    "gini",
    "kruskal-wallis",
    "correlation",
    "distinct",
    "uncorrelated",
    "fisher",
    "generalized-fisher",
    "laplacian",
    "spec",
    "trace-ratio",
    "relief",
    "relieff",
    "rrelieff",
    "surf",
    "multisurf",
    "mim",
    "mifs",
    "mrmr",
    "fcq",
    "cife",
    "jmi",
    "cmim",
    "informative-fragments",
    "icap",
    "disr",
    "jmim",
    "njmim",
    "jmi3",
    "linear-information",
    "fcbf",
    "cfs",
    "fhsic",
    "bahsic",
    "ckta",
    "qpfs",
    "fvm",
    "hsfs",
    "hsic-lasso",
    "spam",
];

/// Twelve samples of three features and a class, with `change` made to each row.
fn table(header: &str, change: impl Fn(usize, &mut [String; 4])) -> String {
    let mut text = format!("{header}\n");
    for i in 0..12 {
        let class = i * 5 % 12 / 6;
        let mut row =
            [(class * 4 + i % 3).to_string(), (i * 7 % 12).to_string(), (i % 5).to_string(), "no".to_owned()];
        if class == 1 {
            row[3] = "yes".to_owned();
        }
        change(i, &mut row);
        text.push_str(&format!("{}\n", row.join(",")));
    }
    text
}

#[test]
fn tables_that_cannot_be_read_are_told_by_every_method() {
    let place = Place::new();
    let at = |wanted: usize, cell: usize, value: &'static str| {
        table("a,b,c,y", move |i, row| {
            if i == wanted {
                row[cell] = value.to_owned();
            }
        })
    };
    let one = table("a,b,c,y", |_, _| {}).lines().take(2).map(|line| format!("{line}\n")).collect::<String>();
    for (name, content, told) in [
        ("nan.csv", at(3, 1, "NaN"), &["nan.csv: line 5, column `b`", "--missing drop-rows|mean|median"][..]),
        ("inf.csv", at(3, 1, "-inf"), &["inf.csv: line 5, column `b`", "infinite"]),
        ("empty.csv", String::new(), &["empty.csv: the file is empty"]),
        ("header.csv", "a,b,c,y\n".to_owned(), &["header.csv: there is a header, but no line of values"]),
        ("one.csv", one, &["one.csv: there is only 1 sample"]),
        ("twice.csv", table("a,a,c,y", |_, _| {}), &["twice.csv: line 1: columns 0 and 1", "`a`", "rename"]),
    ] {
        place.write(name, &content);
        for method in FILTERS {
            let line = place.fails(&["select", name, "-m", method, "-k", "1"]);
            assert!(told.iter().all(|part| line.contains(part)), "{method}: {line}");
        }
    }
    place.write("good.csv", &table("a,b,c,y", |_, _| {}));
    for method in FILTERS {
        for (k, told) in [("0", "at least 1"), ("4", "number of features, 3"), ("-1", "whole number")] {
            let line = place.fails(&["select", "good.csv", "-m", method, "-k", k]);
            assert!(line.contains(told), "{method}: {line}");
        }
    }
}

#[test]
fn strange_tables_give_an_answer_or_a_line() {
    let place = Place::new();
    let set = |cell: usize, value: fn(usize) -> &'static str| {
        table("a,b,c,y", move |i, row| row[cell] = value(i).to_owned())
    };
    for (name, content) in [
        ("constant.csv", set(1, |_| "3")),
        ("constants.csv", table("a,b,c,y", |_, row| row[..3].fill("3".to_owned()))),
        ("text.csv", set(1, |i| ["red", "green", "blue"][i % 3])),
        ("names.csv", table("a,b,c,y", |i, row| row[1] = format!("sample {i}"))),
        ("one_class.csv", set(3, |_| "no")),
        ("class_of_one.csv", set(3, |i| if i == 4 { "rare" } else { "often" })),
        ("line_break.csv", table("\"a\nb\",\"x,y\",c,y", |_, row| row[3] = format!("\"{}\n\"", row[3]))),
        ("two.csv", table("a,b,c,y", |_, _| {}).lines().take(3).map(|line| format!("{line}\n")).collect()),
    ] {
        place.write(name, &content);
        for method in FILTERS {
            let call = ["select", name, "-m", method, "-k", "2", "--json", "-"];
            let ran = place.run(&call);
            if ran.status != 0 {
                let line = place.fails(&call);
                assert!(
                    line.starts_with(&format!("fewest: {name}: ")) || line.contains(method),
                    "{method}: {line}"
                );
                continue;
            }
            let document: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
            let features = document["features"].as_array().unwrap();
            for feature in features {
                // In JSON, what is not finite is null.
                assert!(feature["score"].is_number(), "{method}, {name}: {feature}");
                let constant = name == "constants.csv" || (name == "constant.csv" && feature["name"] == "b");
                assert!(!constant, "{method}, {name}: {feature}");
            }
            let noted = document["notes"].as_array().is_some_and(|notes| !notes.is_empty());
            // The best subset of cfs is as large as it is.
            assert!(features.len() == 2 || noted || method == "cfs", "{method}, {name}: {document}");
        }
    }
}
