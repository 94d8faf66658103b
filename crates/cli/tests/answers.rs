//! What the program answers: table, JSON, reduced table, report.

use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;

use crate::common::{self, Place, key_order, words};
use serde_json::Value;

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

fn names(document: &Value) -> Vec<String> {
    let features = document["features"].as_array().unwrap();
    features.iter().map(|feature| feature["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn selects_what_matters_and_no_copy() {
    let place = Place::with_table();
    let out = place.done(&["select", "table.csv", "-k", "2"]);
    assert!(out.contains("60 samples, 5 features"), "{out}");
    assert!(
        out.contains("`outcome`, a real output (the last column; use --target to name another)"),
        "{out}"
    );
    assert!(out.contains("hsic-lasso: 2 features in"), "{out}");
    assert!(out.contains("converged, duality gap"), "{out}");
    let table: Vec<&str> = out.lines().skip_while(|line| !line.starts_with("rank")).collect();
    assert_eq!(
        table[0].split_whitespace().collect::<Vec<_>>(),
        ["rank", "feature", "score", "most", "related"]
    );
    let chosen: Vec<&str> = table[1..3].iter().map(|line| line.split_whitespace().nth(1).unwrap()).collect();
    assert_eq!(chosen, ["square", "line"]);
    assert!(table[1].contains("copy 1.0"), "the copy is the most related: {}", table[1]);
    assert!(out.contains("note: 1 feature is constant and cannot be selected"), "{out}");
}

#[test]
fn the_target_is_guessed_by_name_before_position() {
    let place = Place::new();
    place.write("t.csv", "a,Label,b\n1,x,5\n2,y,3\n3,x,9\n4,y,1\n");
    let out = place.done(&["select", "t.csv", "-k", "1"]);
    assert!(out.contains("target `Label`, 2 classes (the column of that name"), "{out}");
    let out = place.done(&["select", "t.csv", "-k", "1", "--target", "b"]);
    assert!(out.contains("target `b`, a real output\n"), "{out}");
    let svmlight = "1 1:0.5 3:2\n-1 2:1\n1 1:0.25 3:1\n-1 2:2 3:0.5\n";
    place.write("t.svmlight", svmlight);
    let out = place.done(&["select", "t.svmlight", "-k", "1"]);
    assert!(out.contains("2 classes (the file's labels"), "{out}");
}

#[test]
fn json_has_the_promised_keys_in_their_order() {
    let place = Place::with_table();
    let text =
        place.done(&["select", "table.csv", "-k", "2", "-p", "tolerance=1e-8", "--seed", "5", "--json", "-"]);
    assert_eq!(
        key_order(&text, 2),
        "fewest method params seed data features solver path status notes reduction seconds"
    );
    let document: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(document["fewest"], env!("CARGO_PKG_VERSION"));
    assert_eq!(document["method"], "hsic-lasso");
    assert_eq!(document["params"]["tolerance"], 1e-8);
    assert_eq!(
        (&document["params"]["sigma_x"], &document["params"]["solver"]),
        (&1.0.into(), &"auto".into())
    );
    assert_eq!(document["seed"], 5);
    assert_eq!(document["data"]["file"], "table.csv");
    assert_eq!(document["data"]["n_samples"], 60);
    assert_eq!(document["data"]["n_features"], 5);
    assert_eq!(document["data"]["task"], "regression");
    assert!(document["data"].get("n_classes").is_none());
    let feature = &document["features"][0];
    assert_eq!(
        (&feature["rank"], &feature["index"], &feature["name"]),
        (&1.into(), &0.into(), &"square".into())
    );
    assert!(feature["score"].as_f64().unwrap() > 0.0);
    assert_eq!(feature["related"][0]["name"], "copy");
    let mut solver = keys(&document["solver"]);
    solver.sort_unstable();
    assert_eq!(solver, ["certificate", "gap", "iterations", "lambda", "name", "objective", "status"]);
    assert_eq!(document["solver"]["status"], "converged");
    assert_eq!(document["solver"]["certificate"], "gap");
    // Of a set that is made of what a solver finds, its own value beside that of the solver.
    let rounded = place.json(&["select", "table.csv", "-k", "2", "-m", "nmmklr"]);
    assert!(document.get("objective").is_none());
    let own = rounded["objective"].as_f64().unwrap();
    assert!(own >= rounded["solver"]["objective"].as_f64().unwrap() * (1.0 - 1e-6), "{rounded}");
    assert!(document["solver"]["gap"].as_f64().unwrap() <= 1e-8);
    assert!(document["seconds"].as_f64().unwrap() >= 0.0);
}

#[test]
fn json_to_a_file_is_the_same_and_leaves_the_table() {
    let place = Place::with_table();
    let out = place.done(&["select", "table.csv", "-k", "2", "--json", "a.json"]);
    assert!(out.contains("square"));
    let mut written: Value = serde_json::from_str(&place.read("a.json")).unwrap();
    let mut printed = place.json(&["select", "table.csv", "-k", "2"]);
    written["seconds"] = Value::Null;
    printed["seconds"] = Value::Null;
    assert_eq!(written, printed);
    assert_eq!(place.files(), ["a.json", "table.csv"]);
}

#[test]
fn threads_change_nothing_but_the_time() {
    let place = Place::with_wdbc();
    for call in [
        &["select", "wdbc.csv", "-k", "8"][..],
        &["select", "wdbc.csv", "-k", "5", "-m", "nocco-lasso", "-p", "form=low-rank"],
        &["select", "wdbc.csv", "-k", "5", "-p", "estimator=block", "--seed", "3"],
        &["score", "wdbc.csv"],
    ] {
        place.threads_change_nothing(call, |text| {
            let (answer, seconds) = text.split_once("\"seconds\"").unwrap();
            assert_eq!(seconds.lines().count(), 2, "seconds come last");
            answer.to_owned()
        });
    }
}

#[test]
fn score_tells_every_feature_best_first() {
    let place = Place::with_wdbc();
    let document = place.json(&["score", "wdbc.csv"]);
    let features = document["features"].as_array().unwrap();
    assert_eq!(features.len(), 30);
    let scores: Vec<f64> = features.iter().map(|feature| feature["score"].as_f64().unwrap()).collect();
    assert!(scores.windows(2).all(|pair| pair[0] >= pair[1]));
    assert_eq!(document["data"]["n_classes"], 2);
    assert_eq!(document["solver"], Value::Null);
    let out = place.done(&["score", "wdbc.csv", "--method", "nocco"]);
    assert!(out.contains("larger is better") && out.lines().count() == 34, "{out}");
}

/// A score that is a test tells p-values and q-values, those of all features, wherever features are told.
#[test]
fn tests_tell_p_and_q_values() {
    let place = Place::with_wdbc();
    let all = place.json(&words("score wdbc.csv -m f-score"));
    let value = |feature: &Value, key: &str| feature[key].as_f64().unwrap();
    let features = all["features"].as_array().unwrap();
    // Benjamini and Hochberg: scores fall as p-values rise, so that the place is the rank.
    let ratio = |(i, feature): (usize, &Value)| value(feature, "p_value") * 30.0 / (i + 1) as f64;
    for (i, feature) in features.iter().enumerate() {
        let expected = features.iter().enumerate().skip(i).map(ratio).fold(1.0, f64::min);
        assert!((value(feature, "q_value") - expected).abs() <= 1e-12 * expected, "{feature}");
    }
    for call in ["score wdbc.csv -m f-score --top 3", "select wdbc.csv -m f-score -k 3"] {
        assert_eq!(place.json(&words(call))["features"], Value::from(features[..3].to_vec()), "{call}");
        let out = place.done(&words(call));
        assert!(out.contains("p-value") && out.contains("q-value"), "{out}");
        assert_eq!(out.lines().count(), 7, "{out}");
    }
    assert!(place.done(&words("score wdbc.csv -m f-score --top 3")).contains("f-score: best 3 of 30 in"));
    let untested = place.json(&words("score wdbc.csv -m relieff --top 2"));
    assert!(untested["features"][1]["name"].is_string() && untested["features"][1].get("p_value").is_none());
    assert!(!place.done(&words("score wdbc.csv -m relieff --top 2")).contains("q-value"));
}

#[test]
fn scores_have_a_report() {
    let place = Place::with_wdbc();
    place.done(&words("score wdbc.csv -m f-score --top 4 --report r.html"));
    let html = place.read("r.html");
    assert!(html.contains("worst_concave_points") && html.contains("--top 4"), "{html}");
    assert!(html.contains(">q</th>") && html.contains("q ≤ 0.05"), "{html}");
    place.refuses(&words("score wdbc.csv --report wdbc.csv"), &["--report", "input file"]);
}

#[test]
fn a_score_selects_too() {
    let place = Place::with_table();
    let document = place.json(&["select", "table.csv", "-m", "hsic", "-k", "5"]);
    // Ranking does not see redundancy; the constant is never taken.
    assert_eq!(names(&document)[..2], ["square", "copy"]);
    assert_eq!(names(&document).len(), 4);
    let notes = document["notes"].as_array().unwrap();
    assert_eq!(notes.len(), 2, "the constant, and fewer than asked for: {notes:?}");
}

#[test]
fn a_reduced_table_reads_back_with_the_same_values() {
    let place = Place::with_table();
    place.done(&["select", "table.csv", "-k", "2", "--write-reduced", "small.csv"]);
    let small = place.read("small.csv");
    let whole = place.read("table.csv");
    assert_eq!(small.lines().count(), 61);
    let numbers = |line: &str| -> Vec<f64> { line.split(',').map(|cell| cell.parse().unwrap()).collect() };
    let mut lines = small.lines().zip(whole.lines());
    assert_eq!(lines.next().unwrap().0, "square,line,outcome");
    for (small, whole) in lines {
        let whole = numbers(whole);
        assert_eq!(numbers(small), [whole[0], whole[2], whole[5]]);
    }
    let again = place.json(&["select", "small.csv", "-k", "2"]);
    assert_eq!(names(&again), ["square", "line"]);
}

#[test]
fn ids_categories_and_missing_values_go_through() {
    let place = Place::new();
    let mut text = String::from("id,colour,size,gap,class\n");
    for i in 0..24 {
        let (class, colour) = if i % 2 == 0 { ("yes", "red") } else { ("no", "blue") };
        let gap = if i == 5 { "NA".to_owned() } else { (i * 7 % 11).to_string() };
        text.push_str(&format!("s{i},{colour},{},{gap},{class}\n", i * 5 % 13));
    }
    place.write("t.csv", &text);
    let call = [
        "select",
        "t.csv",
        "-k",
        "1",
        "--id-column",
        "id",
        "--write-reduced",
        "r.csv",
        "--missing",
        "drop-rows",
    ];
    let out = place.done(&call);
    assert!(out.contains("1 sample with missing values left out"), "{out}");
    let reduced = place.read("r.csv");
    assert_eq!(reduced.lines().next(), Some("id,colour,class"));
    assert_eq!(reduced.lines().nth(1), Some("s0,red,yes"));
    assert_eq!(reduced.lines().count(), 24);
    let out = place.done(&["select", "t.csv", "-k", "1", "--ignore", "id", "--missing", "median"]);
    assert!(out.contains("1 missing value filled by the median"), "{out}");
}

#[test]
fn forced_features_come_first_and_covariates_stay_out() {
    let place = Place::with_table();
    let document = place.json(&["select", "table.csv", "-k", "2", "--force-in", "noise"]);
    assert_eq!(names(&document)[0], "noise");
    assert_eq!(document["params"]["forced"], serde_json::json!([3]));
    let document = place.json(&["select", "table.csv", "-k", "2", "--covariates", "square"]);
    assert_eq!(names(&document)[0], "line");
    assert!(!names(&document).iter().any(|name| name == "square" || name == "copy"));
}

#[test]
fn a_linear_model_has_covariates_and_an_offset() {
    let place = Place::with_table();
    let call =
        ["select", "table.csv", "-m", "lasso", "-k", "2", "--covariates", "square", "--offset", "line"];
    let document = place.json(&call);
    assert_eq!(document["params"]["covariates"], serde_json::json!([0]));
    assert_eq!(document["params"]["offset"], serde_json::json!([2]));
    assert!(!names(&document).iter().any(|name| name == "square" || name == "line"), "{document}");
    let text = place.done(&call);
    for note in ["`square`: in the model without a penalty", "`line`: added to the fitted values"] {
        assert!(text.contains(note), "{note}: {text}");
    }
    let constant = ["select", "table.csv", "-m", "hsic-lasso", "-k", "1", "--covariates", "fixed"];
    place.refuses(&constant, &["`covariates` is `fixed`", "this one is constant"]);
}

#[test]
fn answers_tell_what_a_number_of_features_left_out() {
    let place = Place::with_wdbc();
    place.write("table.csv", &common::table());
    for (call, note) in [
        (
            "wdbc.csv -m lasso -p lambda_ratio=0.1 -k 1",
            "features with a coefficient, as many as were asked for",
        ),
        ("wdbc.csv -m alpha-investing -k 1", "features that were kept, as many as were asked for"),
        ("table.csv -m dw-rfe -k auto", "with `folds` their number is the one with the least error"),
    ] {
        let text = place.done(&words(&format!("select {call}")));
        assert!(text.contains(note), "{call}: {text}");
    }
}

#[test]
fn groups_are_selected_together() {
    let place = Place::with_table();
    place.write("groups.csv", "feature,group\nline,together\nnoise,together\nsquare,alone\n");
    let call = ["select", "table.csv", "--groups", "groups.csv", "--param", "penalty=group", "-k", "3"];
    let mut found = names(&place.json(&call));
    found.sort();
    // The constant and the copy are groups of their own; `noise` comes in with `line` or not at all.
    assert_eq!(found.contains(&"line".to_owned()), found.contains(&"noise".to_owned()), "{found:?}");
    assert!(found.contains(&"square".to_owned()) || found.contains(&"copy".to_owned()), "{found:?}");
    place.write("twice.csv", "feature,group\nline,1\nline,2\n");
    assert!(
        place
            .fails(&["select", "table.csv", "-p", "penalty=group", "--groups", "twice.csv"])
            .contains("overlapping groups")
    );
    place.write("again.csv", "feature,group\nline,1\nline,1\n");
    assert!(
        place
            .fails(&["select", "table.csv", "-p", "penalty=group", "--groups", "again.csv"])
            .contains("feature `line` is already in group `1` (line 2)")
    );
    place.write("unknown.csv", "feature,group\nlien,1\n");
    assert!(
        place
            .fails(&["select", "table.csv", "-p", "penalty=group", "--groups", "unknown.csv"])
            .contains("did you mean `line`?")
    );
}

#[test]
fn trees_and_links_are_read_from_files() {
    let place = Place::with_table();
    place.write("tree.csv", "node,parent\nline,body\nnoise,body\nbody,all\nsquare,all\n");
    let by_tree = place.json(&words("select table.csv -m tree-lasso --tree tree.csv -p lambda_ratio=0.3"));
    assert!(names(&by_tree).contains(&"line".to_owned()), "{by_tree}");
    place.write("links.csv", "line,noise\nsquare,square\nline,noise\n");
    let call = "select table.csv -m gflasso -p graph=given --feature-graph links.csv -k 2";
    let by_links = names(&place.json(&words(call)));
    assert!(by_links.contains(&"line".to_owned()), "{by_links:?}");
    for (links, told) in
        [("line,lien\n", "did you mean `line`?"), ("line,noise,0.5\nnoise,line,1\n", "line 2")]
    {
        place.write("links.csv", links);
        place
            .refuses(&words("select table.csv -m gflasso -p graph=given --feature-graph links.csv"), &[told]);
    }
}

#[test]
fn views_are_read_from_a_file_or_from_the_call() {
    let place = Place::with_table();
    place.write("views.csv", "feature,view\nsquare,a\ncopy,b\nline,a\nnoise,b\nfixed,b\n");
    let call = "select table.csv --ignore outcome -m gpcov-var -p view=0 -k 2";
    let by_file = place.json(&words(&format!("{call} --views views.csv")));
    let by_call = place.json(&words(&format!("{call} --views a=square,line --views b=1,noise:fixed")));
    assert_eq!(by_file["features"], by_call["features"]);
    let mut found = names(&by_file);
    found.sort();
    assert_eq!(found, ["line", "square"]);
    assert_eq!(by_file["views"][1]["name"], "b");
    assert_eq!(by_file["views"][1]["weight"], 0.5);
    let text = place.done(&words(&format!("{call} --views views.csv --report r.html")));
    assert!(text.contains("weights of views: a 0.500, b 0.500"), "{text}");
    assert!(place.read("r.html").contains("Weights of views"));
    let told = place.done(&words("info table.csv --views views.csv"));
    assert!(told.contains("views: 2: `a` 2 features, `b` 3 features (1 constant)"), "{told}");
    // A line of the file is told, with what was meant.
    place.write("views.csv", "feature,view\nlien,a\n");
    place.refuses(&words(&format!("{call} --views views.csv")), &["line 2", "did you mean `line`?"]);
    // Views count for what is stored of an evaluation.
    let evaluate = "evaluate table.csv -m gpcov-var -k 1 --folds 3 --resume f.json";
    place.done(&words(&format!("{evaluate} --views a=square,line --views b=copy,noise,fixed")));
    let other = format!("{evaluate} --views a=square --views b=copy,noise,fixed,line");
    place.refuses(&words(&other), &["other data"]);
}

#[test]
fn a_penalty_decides_how_many() {
    let place = Place::with_table();
    // A copy may share its original's weight in any way: without it, the solution is unique.
    let json = |more: &[&str]| place.json(&[&["select", "table.csv", "--ignore", "copy"], more].concat());
    assert_eq!(names(&json(&["-p", "lambda_ratio=0.9"])), ["square"]);
    let by_count = json(&["-k", "2"]);
    let lambda = format!("lambda={:e}", by_count["solver"]["lambda"].as_f64().unwrap());
    for solver in ["solver=cd", "solver=dal", "solver=lars", "solver=pgd"] {
        let by_lambda = json(&["-p", &lambda, "-p", solver]);
        assert_eq!(names(&by_lambda), names(&by_count), "{solver}");
        let score = |document: &Value| document["features"][0]["score"].as_f64().unwrap();
        assert!((score(&by_lambda) - score(&by_count)).abs() <= 1e-6 * score(&by_count), "{solver}");
    }
}

#[test]
fn a_time_limit_answers_or_says_what_would_help() {
    let place = Place::with_wdbc();
    let generous = place.json(&["select", "wdbc.csv", "-k", "5", "--time-limit", "1000"]);
    assert_eq!(generous["status"], "converged");
    // Not even a first look at every feature: there is nothing to tell.
    for command in ["select", "score"] {
        let ran = place.run(&[command, "wdbc.csv", "-m", "hsic", "--time-limit", "1e-9"]);
        assert_eq!((ran.status, ran.stdout.as_str()), (124, ""), "{command}");
        let line = ran.stderr;
        assert!(line.starts_with("fewest: --time-limit: ") && line.contains("allow more time"), "{line}");
    }
}

/// A search that takes hours has something after a second, and its status is that of a time limit.
#[test]
fn a_run_that_was_cut_short_tells_what_it_has_and_exits_as_one() {
    let place = Place::with_wdbc();
    let call = ["select", "wdbc.csv", "-k", "25", "-m", "sfs", "-p", "learner=svc", "--time-limit", "4"];
    let ran = place.run(&[&call[..], &["--json", "a.json"]].concat());
    assert_eq!((ran.status, ran.stderr.as_str()), (124, ""), "{}", ran.stdout);
    assert!(ran.stdout.contains("(time-limit)"), "{}", ran.stdout);
    let document: Value = serde_json::from_str(&place.read("a.json")).unwrap();
    assert_eq!(document["status"], "time-limit");
    let features = document["features"].as_array().unwrap();
    assert!(!features.is_empty() && features.iter().all(|feature| feature["score"].is_number()));
    // Before anything was judged, or read.
    let told = place.run(&["select", "wdbc.csv", "-m", "sbs", "-p", "learner=svc", "--time-limit", "0.05"]);
    assert_eq!((told.status, told.stdout.as_str()), (124, ""), "{}", told.stderr);
    assert!(told.stderr.contains("--time-limit: "), "{}", told.stderr);
}

/// Scores are told as far as there are any, and of the others nothing.
#[test]
fn scores_that_were_cut_short_are_told() {
    let place = Place::new();
    let mut table = String::new();
    for i in 0..1500_u32 {
        let cells = (1..2000_u32).map(|j| (i.wrapping_mul(2 * j + 1) % 4099).to_string());
        table += &format!("{},{}\n", i % 97, cells.collect::<Vec<String>>().join(","));
    }
    place.write("wide.csv", &table);
    let call =
        ["wide.csv", "--target", "0", "--header", "no", "-m", "hsic", "-p", "form=exact", "--top", "9"];
    let more = ["--task", "regression", "--threads", "1", "--time-limit", "1", "--json", "a.json"];
    let call = [&call[..], &more].concat();
    for command in ["score", "select"] {
        let ran = place.run(&[&[command], &call[..]].concat());
        assert_eq!((ran.status, ran.stderr.as_str()), (124, ""), "{command}");
        assert!(ran.stdout.contains("note: the run was stopped when "), "{}", ran.stdout);
        let document: Value = serde_json::from_str(&place.read("a.json")).unwrap();
        assert_eq!(document["status"], "time-limit");
        assert!(document["features"][0]["score"].as_f64().is_some_and(|score| score > 0.0));
    }
}

#[test]
fn the_report_stands_alone() {
    let place = Place::new();
    let table = common::table().replacen("square", "\"<script>alert(1)</script>\"", 1);
    place.write("t.csv", &table);
    place.done(&["select", "t.csv", "-k", "2", "--report", "r.html", "--seed", "9"]);
    let html = place.read("r.html");
    assert!(html.starts_with("<!DOCTYPE html>") && html.ends_with("</html>"));
    assert!(html.matches("<script").count() == 1 && html.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
    for told in [
        "HSIC Lasso",
        "t.csv",
        "fewest select t.csv -k 2 --report r.html --seed 9",
        "sigma_x",
        "duality gap",
        "Coefficient path",
        "The data behind each feature",
        "The selected features of all samples",
        "Redundancy of the selected features",
        "Related features",
        "constant and cannot be selected",
        env!("CARGO_PKG_VERSION"),
    ] {
        assert!(html.contains(told), "`{told}` is not told");
    }
    let html = html.replace("href=\"#shape", "");
    for outside in ["http:", "https:", "src=", "href="] {
        assert!(!html.contains(outside), "`{outside}`");
    }
}

#[test]
fn info_tells_what_is_in_a_file() {
    let place = Place::with_table();
    let out = place.done(&["info", "table.csv"]);
    assert!(out.contains("60 samples, 5 features (csv)"), "{out}");
    assert!(out.contains("target: `outcome` (the last column; use --target to name another), real"), "{out}");
    assert!(out.contains("constant: 1 (cannot be selected): fixed"), "{out}");
    assert!(out.contains("duplicates: 1: copy = square"), "{out}");
    assert!(out.contains("always 7"), "{out}");
}

#[test]
fn methods_are_listed_and_explained() {
    let place = Place::new();
    let list = place.done(&["methods"]);
    for id in ["hsic", "nocco", "hsic-lasso", "nocco-lasso"] {
        assert!(list.lines().any(|line| line.split_whitespace().next() == Some(id)), "{id}");
        let details = place.done(&["methods", id]);
        assert!(details.starts_with(id) && details.contains("sigma_x"), "{details}");
    }
    assert!(place.done(&["methods", "hsic-lasso"]).contains("lambda_ratio"));
}

#[test]
fn methods_are_found_by_target_family_and_other_names() {
    let place = Place::with_wdbc();
    let listed = |call: &str| {
        let out = place.done(&words(call));
        let ids = out.lines().filter_map(|line| line.split_once("  ")).map(|(id, _)| id.to_owned());
        ids.collect::<Vec<String>>()
    };
    let has = |call: &str, id: &str| listed(call).iter().any(|listed| listed == id);
    assert!(has("methods --for classification", "mrmr") && !has("methods --for regression", "t-score"));
    assert!(has("methods --for none", "variance") && !has("methods --for none", "f-score"));
    let linear = listed("methods --for regression --family linear");
    assert_eq!(linear[..3], ["method", "lasso", "elastic-net"]);
    assert!(linear.iter().any(|id| id == "spam") && !linear.iter().any(|id| id == "mrmr"), "{linear:?}");
    place.refuses(&words("methods --family statistcal"), &["--family", "did you mean `statistical`?"]);
    place.refuses(
        &words("methods --for clustering"),
        &["--for", "classification, regression, outputs, survival or none"],
    );
    place.refuses(&words("methods lasso --family linear"), &["--family"]);
    for (alias, id) in [("anova", "f-score"), ("t-test", "t-score"), ("wilcoxon", "kruskal-wallis")] {
        assert_eq!(place.json(&["score", "wdbc.csv", "-m", alias])["method"], id);
    }
    assert!(place.done(&words("methods mutual-information")).starts_with("mim: "));
    assert!(place.done(&words("methods rfe")).starts_with("dw-rfe: "));
}

#[test]
fn a_reader_that_leaves_early_is_no_failure() {
    let place = Place::new();
    // More output than a pipe holds.
    let header: Vec<String> = (0..3000).map(|j| format!("a_feature_with_a_long_name_{j}")).collect();
    let mut text = format!("{},y\n", header.join(","));
    for i in 0..6 {
        let row: Vec<String> = (0..3000).map(|j| ((i * 7 + j * 13 + i * j) % 17).to_string()).collect();
        text.push_str(&format!("{},{}\n", row.join(","), i % 2));
    }
    place.write("wide.csv", &text);
    let call = ["score", "wide.csv", "--json", "-"];
    let mut child = place.command(&call).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "{\n");
    let mut complaint = String::new();
    child.stderr.take().unwrap().read_to_string(&mut complaint).unwrap();
    assert_eq!((child.wait().unwrap().code(), complaint.as_str()), (Some(0), ""));
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_a_long_run_in_order() {
    let place = Place::new();
    let header: Vec<String> = (0..8000).map(|j| format!("x{j}")).collect();
    let mut text = format!("{},y\n", header.join(","));
    for i in 0..100_u64 {
        let cell = |j: u64| (i * i + 31 * j * i + 7 * j) % 1009;
        let row: Vec<String> = (0..8000).map(|j| cell(j).to_string()).collect();
        text.push_str(&format!("{},{}\n", row.join(","), i % 2));
    }
    place.write("t.csv", &text);
    // Too early a signal finds no handler yet, too late a one an answer: try until one hits.
    for wait in [150, 300, 600, 1200, 2400] {
        let call = ["score", "t.csv", "-m", "nocco", "-p", "form=exact", "--top", "9", "--json", "a.json"];
        let mut child = place.command(&call).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(wait));
        std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        let mut complaint = String::new();
        child.stderr.take().unwrap().read_to_string(&mut complaint).unwrap();
        if child.wait().unwrap().code() == Some(130) {
            if complaint == "fewest: interrupted while files were read\n" {
                assert_eq!(place.files(), ["t.csv"]);
                continue;
            }
            if complaint.is_empty() {
                // Some features had their score.
                let document: Value = serde_json::from_str(&place.read("a.json")).unwrap();
                assert_eq!(document["status"], "interrupted");
            } else {
                assert_eq!(complaint, "fewest: interrupted before there was a result\n");
                assert_eq!(place.files(), ["t.csv"]);
            }
            return;
        }
        // The signal came too late: there was an answer.
        std::fs::remove_file(place.path("a.json")).unwrap_or_default();
    }
    panic!("no signal met the run");
}

#[test]
fn help_and_version_succeed() {
    let place = Place::new();
    assert!(place.done(&["--help"]).contains("select"));
    assert!(place.done(&["select", "--help"]).contains("--force-in"));
    assert_eq!(place.done(&["--version"]), format!("fewest {}\n", env!("CARGO_PKG_VERSION")));
}

/// A category that makes most of the classes comes before numbers that say nothing of them.
#[test]
fn a_category_that_makes_the_classes_is_first() {
    let drawn =
        |stream: u64, i: u64| (fewest::core::derive_seed(stream, i) >> 11) as f64 / (1_u64 << 53) as f64;
    let names: Vec<String> = (0..20).map(|j| format!("x{j}")).collect();
    let mut text = format!("{},sex,class\n", names.join(","));
    for i in 0..200 {
        // Sums of uniform numbers, about normal.
        let noise = (0..20).map(|j| ((0..12).map(|k| drawn(100 * j + k, i)).sum::<f64>() - 6.0).to_string());
        let female = drawn(7777, i) < 0.5;
        let class = if female == (drawn(8888, i) < 0.85) { "B" } else { "A" };
        let sex = if female { "f" } else { "m" };
        text.push_str(&format!("{},{sex},{class}\n", noise.collect::<Vec<_>>().join(",")));
    }
    let place = Place::new();
    place.write("m.csv", &text);
    for call in ["select m.csv -k 5", "select m.csv -k 5 -m nocco-lasso", "score m.csv -m hsic"] {
        assert_eq!(place.json(&words(call))["features"][0]["name"], "sex", "{call}");
    }
}
