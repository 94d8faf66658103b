//! What `fewest evaluate` and `fewest compare` answer.

use std::process::Stdio;

use crate::common::{Place, key_order, words};
use serde_json::Value;

/// Two features that carry the class together with a copy and noise.
fn classes() -> String {
    let mut text = String::from("good,copy,noise,batch,class\n");
    for i in 0..60_u32 {
        let class = if i * 7 % 60 < 30 { "a" } else { "b" };
        let good = i * 7 % 60;
        text.push_str(&format!("{good},{good},{},p{},{class}\n", i * 13 % 29, i % 6));
    }
    text
}

fn without_times(text: &str) -> String {
    let (answer, times) = text.split_once("\"timings\"").unwrap();
    assert!(times.lines().rev().nth(1).unwrap().starts_with("  \"seconds\""), "seconds come last");
    answer.to_owned()
}

#[test]
fn a_table_tells_means_stability_and_the_features_to_take() {
    let place = Place::with_wdbc();
    let out =
        place.done(&["evaluate", "wdbc.csv", "-m", "mrmr", "-k", "1,5,10", "--metric", "accuracy,macro-f1"]);
    assert!(out.contains("569 samples, 30 features"), "{out}");
    assert!(out.contains("mrmr, then linear-svm: 10 folds, stratified, in "), "{out}");
    let table: Vec<&str> = out.lines().skip_while(|line| !line.contains("accuracy")).take(6).collect();
    let cells: Vec<Vec<&str>> = table.iter().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(cells[0], ["k", "accuracy", "macro-f1", "stability", "(95", "%)", "seconds"]);
    let names: Vec<&str> = cells[1..].iter().map(|row| row[0]).collect();
    assert_eq!(names, ["none", "1", "5", "10", "all"]);
    let accuracy: f64 = cells[4][1].parse().unwrap();
    assert!(accuracy > 0.93 && cells[4][2] == "±", "{out}");
    assert!(out.contains("by accuracy, best mean: k = "), "{out}");
    assert!(out.contains("fewest features within one standard error of it: k = "), "{out}");
    assert!(out.contains("selected on all samples:") && out.contains("worst_concave_points"), "{out}");
}

#[test]
fn parameters_reach_the_learner_and_are_told() {
    let place = Place::with_wdbc();
    let call = ["evaluate", "wdbc.csv", "-m", "f-score", "-k", "3", "--learner", "knn", "--json", "-"];
    let answer = |parameter: &str| -> Value {
        let out = place.done(&[&call[..], &["--learner-param", parameter]].concat());
        serde_json::from_str(&out).unwrap()
    };
    let (one, many) = (answer("neighbours=1"), answer("neighbours=101"));
    assert!(many.to_string().contains("nearest-neighbours with neighbours=101"), "{many}");
    assert_ne!(one["folds"], many["folds"]);
    assert_ne!(one["results"], many["results"]);
}

#[test]
fn the_selection_does_not_see_the_test_samples() {
    // Noise only, many features: selected on all samples, the best would seem to predict; inside the folds
    // they do not.
    let place = Place::new();
    let mut text = (0..400).map(|j| format!("x{j},")).collect::<String>() + "class\n";
    let mut state = 1_u64;
    let mut draw = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 40
    };
    for i in 0..40 {
        let row: String = (0..400).map(|_| format!("{},", draw())).collect();
        text.push_str(&format!("{row}{}\n", if i % 2 == 0 { "a" } else { "b" }));
    }
    place.write("noise.csv", &text);
    let json = place.json(&[
        "evaluate",
        "noise.csv",
        "-m",
        "f-score",
        "-k",
        "10",
        "--learner",
        "naive-bayes",
        "--folds",
        "5",
        "--repeats",
        "4",
    ]);
    let mean = json["results"][0]["metrics"][0]["mean"].as_f64().unwrap();
    assert!((0.25..0.72).contains(&mean), "{mean}");
}

#[test]
fn gaps_are_filled_by_what_the_training_samples_say() {
    // `good` follows the class but for its gaps; `fair` follows it less. In batch p8 alone, `good` is very
    // large: filled by a mean that has seen it, the gaps of the other batches would be outliers that hide
    // what `good` tells.
    let table = |large: &str| {
        let mut text = String::from("good,fair,batch,class\n");
        for i in 0..90_u32 {
            let class = i * 7 % 90 / 45;
            let good = match i {
                _ if i % 10 == 8 => large.to_owned(),
                _ if i % 6 == 1 => String::new(),
                _ => format!("{}", 3 * class + i * 11 % 3),
            };
            let fair = 2 * class + i * 13 % 7;
            text.push_str(&format!("{good},{fair},p{},{}\n", i % 10, ["a", "b"][class as usize]));
        }
        text
    };
    let place = Place::new();
    place.write("small.csv", &table("2"));
    place.write("large.csv", &table("1e9"));
    let answer = |file: &str, missing: &str| {
        let call = [
            "evaluate",
            file,
            "-m",
            "f-score",
            "-k",
            "1",
            "--group-column",
            "batch",
            "--missing",
            missing,
            "--learner",
            "knn",
        ];
        let out = place.done(&call);
        assert!(
            out.contains(&format!(
                "15 missing values filled in every fold by the {missing} of its training samples"
            )),
            "{out}"
        );
        place.json(&call)
    };
    for missing in ["mean", "median"] {
        let (small, large) = (answer("small.csv", missing), answer("large.csv", missing));
        // The fold whose test samples are those of p8.
        let features = |answer: &Value| answer["folds"][8]["outcomes"][0]["features"].clone();
        assert_eq!(features(&small), serde_json::json!([0]), "{small}");
        assert_eq!(features(&large), features(&small), "{missing}");
    }
}

#[test]
fn json_has_the_promised_keys_in_their_order() {
    let place = Place::with_table();
    let text = place.done(&words("evaluate table.csv -m f-score -k 2,1 --folds 4 --learner knn --json -"));
    assert_eq!(
        key_order(&text, 2),
        "fewest method params seed data design results chosen folds baselines status notes timings seconds"
    );
    let document: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(document["method"], "f-score");
    assert_eq!(document["data"]["task"], "regression");
    let design = &document["design"];
    assert_eq!((&design["learner"], &design["splitter"]), (&"nearest-neighbours".into(), &"4 folds".into()));
    assert_eq!((&design["n_folds"], &design["k"]), (&4.into(), &serde_json::json!([1, 2])));
    assert_eq!(design["metrics"], serde_json::json!([{ "name": "mse", "greater_is_better": false }]));
    let result = &document["results"][0];
    assert_eq!(result["k"], 1);
    assert!(result["metrics"][0]["mean"].as_f64().unwrap() > 0.0);
    assert!(result["stability"]["phi"].as_f64().unwrap() <= 1.0);
    assert_eq!(result["redundancy"], Value::Null);
    assert_eq!(document["chosen"][0]["rule"], "best-mean");
    assert_eq!(document["chosen"][1]["rule"], "one-standard-error");
    assert!(document["chosen"][0]["features"][0]["name"].is_string());
    let folds = document["folds"].as_array().unwrap();
    assert_eq!(folds.len(), 4);
    for fold in folds {
        assert_eq!((&fold["n_train"], &fold["n_test"]), (&45.into(), &15.into()));
        assert_eq!(fold["outcomes"][1]["features"].as_array().map(Vec::len), Some(2));
        assert_eq!(fold["outcomes"][1]["scores"].as_array().map(Vec::len), Some(1));
    }
    assert_eq!(document["status"], "converged");
    assert_eq!(document["timings"].as_array().map(Vec::len), Some(2));
    assert!(document["seconds"].as_f64().unwrap() >= 0.0);

    let text =
        place.done(&words("compare table.csv -m f-score,hsic -k 1,2 --folds 4 --learner knn --json -"));
    assert_eq!(
        key_order(&text, 2),
        "fewest methods seed data design comparisons baselines status notes timings seconds"
    );
    assert!(key_order(&text, 6).starts_with("method params results chosen folds "), "{text}");
    let compared: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(compared["methods"][0]["results"], document["results"], "the same folds, the same result");
    let comparison = &compared["comparisons"][1];
    assert_eq!((&comparison["metric"], &comparison["k"]), (&"mse".into(), &2.into()));
    let other = &comparison["others"][0];
    assert_ne!(comparison["best"], other["method"]);
    let p = other["corrected_t"]["p_value"].as_f64().unwrap();
    assert!((0.0..=1.0).contains(&p) && other["mean_difference"].as_f64().unwrap() <= 0.0, "{other}");
}

#[test]
fn threads_change_nothing_but_the_times() {
    let place = Place::with_wdbc();
    for call in [
        "evaluate wdbc.csv -k 2,6 --folds 4",
        "compare wdbc.csv -m relieff,jmi -k 3 --test-share 0.2 --repeats 5 -l tree",
    ] {
        place.threads_change_nothing(&words(call), without_times);
    }
}

#[test]
fn comparing_marks_the_best_and_tests_the_others_against_it() {
    let place = Place::with_wdbc();
    let out =
        place.done(&["compare", "wdbc.csv", "-m", "mrmr,variance", "-k", "1,2", "--learner", "naive-bayes"]);
    assert!(out.contains("2 methods, then naive-bayes: 10 folds, stratified"), "{out}");
    let rows: Vec<&str> =
        out.lines().filter(|line| line.starts_with("mrmr") || line.starts_with("variance")).collect();
    assert_eq!(rows.len(), 2 * 5, "means, p-values, stability, seconds, the choice: {out}");
    // One feature gives both the same mean over the folds, by 1e-16 or so.
    assert_eq!(out.matches(" *").count() - 1, 3, "all that are best at a k, and the explanation: {out}");
    assert_eq!(out.matches("best\n").count() + out.matches("best ").count() - 3, 2, "{out}");
}

/// The rows without a selection stand beside the others.
#[test]
fn baselines_are_in_every_evaluation() {
    let place = Place::with_wdbc();
    let call = "-k 3 --folds 4 --metric accuracy,matthews,auc";
    let document = place.json(&words(&format!("evaluate wdbc.csv -m f-score {call}")));
    let mean = |row: &Value, m: usize| row["metrics"][m]["mean"].as_f64().unwrap();
    let [none, all] = &document["baselines"].as_array().unwrap()[..] else { panic!("two baselines") };
    assert_eq!((&none["name"], &none["n_features"]), (&"majority-class".into(), &0.into()));
    assert_eq!((&all["name"], &all["n_features"]), (&"all-features".into(), &30.into()));
    // 357 of 569 samples are benign; a constant is not correlated, and orders nothing.
    assert!((mean(none, 0) - 357.0 / 569.0).abs() < 0.01, "{none}");
    assert_eq!((mean(none, 1), mean(none, 2)), (0.0, 0.5));
    let three = &document["results"][0];
    for m in 0..3 {
        assert!(mean(all, m) > mean(none, m) && mean(three, m) > mean(none, m), "{document}");
    }
    // The learner with all features is what the method is that selects them all.
    let every = place.json(&words(&format!("evaluate wdbc.csv -m f-score {}", "-k 30 --folds 4")));
    assert_eq!(every["results"][0]["metrics"][0]["mean"], all["metrics"][0]["mean"]);
    let out = place.done(&words(&format!("evaluate wdbc.csv -m f-score {call}")));
    assert!(
        out.contains("\nnone  ") && out.contains("\n all  ") && out.contains("; all: 30 features"),
        "{out}"
    );
    let out = place.done(&words(&format!("compare wdbc.csv -m f-score,mrmr {call}")));
    assert_eq!(out.matches("\n(none)").count() + out.matches("\n(all)").count(), 6, "{out}");
    let compared = place.json(&words(&format!("compare wdbc.csv -m f-score,mrmr {call} --resume f.json")));
    assert_eq!(compared["baselines"], document["baselines"]);
    let numbers = place.json(&words("evaluate wdbc.csv -t 3 -m correlation -k 3 --folds 3"));
    assert_eq!(numbers["baselines"][0]["name"], "mean");
}

/// Neither rows, lines nor notes speak of results that were not wanted, and the other numbers are the same.
#[test]
fn baselines_are_left_out_where_they_are_not_wanted() {
    let place = Place::with_wdbc();
    for (command, methods) in [("evaluate", "f-score"), ("compare", "f-score,mrmr")] {
        let call = format!("{command} wdbc.csv -m {methods} -k 3 --folds 4");
        let with = place.json(&words(&call));
        let without = format!("{call} --no-baselines");
        let json = place.json(&words(&format!("{without} --resume folds.json --report r.html")));
        assert_eq!(json["baselines"], Value::Array(Vec::new()), "{command}");
        assert_eq!((&json["results"], &json["comparisons"]), (&with["results"], &with["comparisons"]));
        assert_eq!(json["status"], "converged");
        let out = place.done(&words(&without));
        for gone in ["none", "\n all", "all:", "majority"] {
            assert!(!out.contains(gone), "{gone}: {out}");
        }
        assert!(out.contains("note: the results without a selection are left out: as asked for"), "{out}");
        let report = place.read("r.html");
        assert!(!report.contains("Without a selection:") && report.contains("as asked for"), "{command}");
        assert!(!place.read("folds.json").contains("baseline "));
        // The file serves a call with them, too.
        let again = place.json(&words(&format!("{call} --resume folds.json")));
        assert_eq!(again["baselines"], with["baselines"]);
        std::fs::remove_file(place.path("folds.json")).unwrap();
    }
    // What is said of guessing in leave-one-out is said of a row that is there.
    let text: String = (0..12).map(|i| format!("{},{}\n", i * 5 % 7, i % 2)).collect();
    place.write("even.csv", &format!("x,y\n{text}"));
    let call = "evaluate even.csv -m f-score -k 1 --folds 12";
    assert!(place.done(&words(call)).contains("guessing the most"));
    assert!(!place.done(&words(&format!("{call} --no-baselines"))).contains("guessing"));
}

#[test]
fn metrics_of_scores_need_a_learner_that_gives_them() {
    let place = Place::with_wdbc();
    let call = "evaluate wdbc.csv -m f-score -k 3 --folds 3 --metric";
    place.refuses(
        &words(&format!("{call} log-loss")),
        &[
            "log-loss needs probabilities",
            "linear-svm",
            "decision-tree, naive-bayes, kernel-logistic, svc, random-forest, nearest-neighbours",
        ],
    );
    place.refuses(&words(&format!("{call} log-loss -l twsvm")), &["twsvm does not give", "probabilities"]);
    for learner in ["tree --learner-param min_leaf=10", "svc", "twsvm", "linear-svm"] {
        let document = place.json(&words(&format!("{call} auc -l {learner}")));
        let auc = document["results"][0]["metrics"][0]["mean"].as_f64().unwrap();
        assert!(auc > 0.9, "{learner}: {auc}");
    }
    let document = place.json(&words(&format!("{call} log-loss,auc -l naive-bayes")));
    let mean = |row: &Value, m: usize| row["metrics"][m]["mean"].as_f64().unwrap();
    let none = &document["baselines"][0];
    // The entropy of the classes.
    assert!((mean(none, 0) - 0.6603).abs() < 0.01, "{none}");
    let best = &document["results"][0];
    assert!(mean(best, 0) < mean(none, 0) && mean(best, 1) > 0.9, "{best}");
    assert_eq!(document["design"]["metrics"][0]["greater_is_better"], false);
}

/// Groups reach every fold: `line` is taken with `noise`, which alone tells nothing.
#[test]
fn groups_of_features_are_evaluated() {
    let place = Place::with_table();
    place.write("groups.csv", "feature,group\nline,together\nnoise,together\ncopy,squares\nsquare,squares\n");
    let penalty = "-p penalty=group --groups groups.csv -k 2,4 --folds 3";
    let document = place.json(&words(&format!("evaluate table.csv {penalty}")));
    for fold in document["folds"].as_array().unwrap() {
        let mut found: Vec<u64> =
            fold["outcomes"][1]["features"].as_array().unwrap().iter().filter_map(Value::as_u64).collect();
        found.sort_unstable();
        assert_eq!(found, [0, 1, 2, 3], "{fold}");
    }
    let compared = "-m hsic-lasso,mrmr -p hsic-lasso.penalty=group --groups groups.csv -k 2 --folds 3";
    place.done(&words(&format!("compare table.csv {compared}")));
    let without = "evaluate table.csv -p penalty=group -k 2";
    place.refuses(&words(without), &["--param penalty=group", "no groups", "--groups"]);
    place.refuses(&words("evaluate table.csv --groups groups.csv"), &["--groups", "--param penalty=group"]);
    place.refuses(&words("evaluate table.csv -m hsic --groups groups.csv"), &["hsic does not use it"]);
    // Folds of other groups are other folds.
    place.done(&words(&format!("evaluate table.csv {penalty} --resume folds.json")));
    place.write("groups.csv", "feature,group\nline,together\nsquare,together\n");
    place.refuses(&words(&format!("evaluate table.csv {penalty} --resume folds.json")), &["other data"]);
}

#[test]
fn a_single_split_has_no_standard_error() {
    let place = Place::with_table();
    let call = ["evaluate", "table.csv", "--test-share", "0.3", "-k", "1,2", "--method", "hsic"];
    let out = place.done(&call);
    assert!(out.contains(" ± -") && !out.contains("± 0"), "{out}");
    let json = place.json(&call);
    let metric = &json["results"][0]["metrics"][0];
    assert!(metric["mean"].is_number(), "{metric}");
    assert!(metric["standard_error"].is_null() && metric["standard_deviation"].is_null(), "{metric}");
    assert_eq!(json["chosen"][0]["k"], json["chosen"][1]["k"]);
    let out =
        place.done(&["compare", "table.csv", "--test-share", "0.3", "-k", "1", "--methods", "hsic,nocco"]);
    assert!(out.contains(" ± -") && !out.contains("± 0"), "{out}");
}

#[test]
fn groups_stay_together_and_are_no_feature() {
    let place = Place::new();
    place.write("t.csv", &classes());
    let call =
        ["evaluate", "t.csv", "-m", "f-score", "-k", "1", "--group-column", "batch", "--id-column", "batch"];
    let json = place.json(&call);
    assert_eq!(json["data"]["n_features"], 3);
    assert_eq!(json["design"]["splitter"], "a fold for each group of `batch`");
    let folds = json["folds"].as_array().unwrap();
    assert_eq!(folds.len(), 6);
    assert!(folds.iter().all(|fold| fold["n_test"] == 10));
    let json = place.json(&[
        "evaluate",
        "t.csv",
        "-m",
        "f-score",
        "-k",
        "1",
        "--group-column",
        "batch",
        "--folds",
        "3",
        "--repeats",
        "2",
    ]);
    assert_eq!(json["folds"].as_array().map(Vec::len), Some(6));
    assert!(json["folds"].as_array().unwrap().iter().all(|fold| fold["n_test"] == 20));
}

#[test]
fn finished_folds_are_gone_on_from() {
    let place = Place::with_wdbc();
    let call =
        ["evaluate", "wdbc.csv", "-m", "mrmr", "-k", "2,4", "--metric", "accuracy,macro-f1", "--json", "-"];
    let whole = without_times(&place.done(&call));
    let resumed = [&call[..], &["--resume", "folds.json"]].concat();
    assert_eq!(without_times(&place.done(&resumed)), whole);
    let stored = place.read("folds.json");
    // Of the method, and of both baselines.
    assert_eq!(stored.lines().count(), 30);
    let part: Vec<&str> = stored.lines().step_by(3).collect();
    place.write("part.json", &(part.join("\n") + "\n"));
    let resumed = [&call[..], &["--resume", "part.json"]].concat();
    assert_eq!(
        without_times(&place.done(&resumed)),
        whole,
        "a third of the folds is taken, the others are run"
    );
    assert!(place.read("part.json").starts_with(&part.join("\n")));
    assert_eq!(place.read("part.json").lines().count(), 30);
    // Other methods find a place in the same file.
    place.done(&[
        "compare",
        "wdbc.csv",
        "-m",
        "jmi,mrmr",
        "-k",
        "2,4",
        "--metric",
        "accuracy,macro-f1",
        "--resume",
        "part.json",
    ]);
    assert_eq!(place.read("part.json").lines().count(), 40);
    assert_eq!(place.files(), ["folds.json", "part.json", "wdbc.csv"]);
}

#[cfg(unix)]
#[test]
fn stopped_runs_tell_the_folds_they_have_and_can_go_on() {
    let place = Place::with_wdbc();
    let call = [
        "evaluate",
        "wdbc.csv",
        "-k",
        "1-20",
        "--repeats",
        "100",
        "--learner",
        "naive-bayes",
        "--resume",
        "folds.json",
        "--quiet",
        "--json",
        "a.json",
    ];
    let mut child = place.command(&call).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let started = std::time::Instant::now();
    while !place.path("folds.json").exists() {
        if let Some(status) = child.try_wait().unwrap() {
            panic!("it ended before it had a fold: {status}");
        }
        if started.elapsed() > std::time::Duration::from_secs(120) {
            child.kill().unwrap();
            panic!("no fold in two minutes");
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let output = child.wait_with_output().unwrap();
    let (out, complaint) =
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert_eq!((output.status.code(), complaint.as_str()), (Some(130), ""));
    assert!(
        out.contains("note: interrupted after ")
            && out.contains(" of 1,000 folds: the same command continues"),
        "{out}"
    );
    let document: Value = serde_json::from_str(&place.read("a.json")).unwrap();
    assert_eq!(document["status"], "interrupted");
    let first = document["folds"].as_array().unwrap().len();
    assert!((1..1000).contains(&first));

    let limited = [&call[..], &["--time-limit", "1"]].concat();
    let ran = place.run(&limited);
    assert_eq!((ran.status, ran.stderr.as_str()), (124, ""));
    assert!(ran.stdout.contains("note: time limit reached after "), "{}", ran.stdout);
    let document: Value = serde_json::from_str(&place.read("a.json")).unwrap();
    assert_eq!(document["status"], "time-limit");
    assert!(document["folds"].as_array().unwrap().len() >= first);
}

#[test]
fn the_report_has_curves_and_needs_nothing_else() {
    let place = Place::with_wdbc();
    place.done(&[
        "compare",
        "wdbc.csv",
        "-m",
        "mrmr,f-score",
        "-k",
        "1,3,10",
        "--metric",
        "accuracy,macro-f1",
        "--report",
        "r.html",
    ]);
    let html = place.read("r.html");
    for told in [
        "id=\"metric-accuracy\"",
        "id=\"metric-macro-f1\"",
        "id=\"stability\"",
        "id=\"time\"",
        "id=\"chosen\"",
        "fewest compare wdbc.csv",
    ] {
        assert!(html.contains(told), "{told}");
    }
    // Two metrics and the stability, two methods, three numbers of features.
    assert_eq!(html.matches("<use class=\"point c").count(), 3 * 2 * 3);
    let html = html.replace("href=\"#shape", "");
    for outside in ["http:", "https:", "src=", "href=", "url(", "@import", "<link", ">NaN"] {
        assert!(!html.contains(outside), "`{outside}`");
    }
}

#[test]
fn rare_classes_are_noted() {
    let place = Place::new();
    let rare: String =
        (0..40).map(|i| format!("{},{},{}\n", i, i * 7 % 11, if i < 4 { "rare" } else { "often" })).collect();
    place.write("t.csv", &format!("a,b,class\n{rare}"));
    let out = place.done(&["evaluate", "t.csv", "-m", "f-score", "-k", "1"]);
    assert!(out.contains("note: class `rare` has 4 samples, fewer than the 10 folds"), "{out}");
}

/// With `-k auto` each fold has as many features as the method finds on its training samples.
#[test]
fn methods_may_decide_the_number_of_features_in_each_fold() {
    let place = Place::with_wdbc();
    let call = "evaluate wdbc.csv -m lasso -p lambda_ratio=0.2 --folds 4";
    let ran = |k: &str| place.json(&words(&format!("{call} -k {k} --report r.html --resume folds.json")));
    let document = ran("2,auto");
    assert_eq!(document["design"]["k"], serde_json::json!([2, "auto"]));
    let folds = document["folds"].as_array().unwrap();
    let counts: Vec<usize> = folds
        .iter()
        .map(|fold| {
            let auto = &fold["outcomes"][1];
            assert_eq!((&fold["outcomes"][0]["k"], &auto["k"]), (&2.into(), &"auto".into()));
            auto["features"].as_array().unwrap().len()
        })
        .collect();
    assert!(counts.iter().all(|count| (1..30).contains(count)), "{counts:?}");
    let mean = counts.iter().sum::<usize>() as f64 / counts.len() as f64;
    assert_eq!(document["results"][1]["mean_features"].as_f64(), Some(mean));
    // What is stored serves again, and other numbers are told.
    assert_eq!(ran("auto,2")["folds"], document["folds"]);
    place.refuses(&words(&format!("{call} -k auto --resume folds.json")), &["other numbers of features"]);
    // As many features as `select` finds with all samples.
    let selected = place.json(&words("select wdbc.csv -m lasso -p lambda_ratio=0.2"));
    let best = |name: &str| {
        let chosen = document["chosen"].as_array().unwrap().iter();
        chosen
            .filter(|chosen| chosen["k"] == name)
            .map(|chosen| chosen["features"].as_array().unwrap().len())
            .max()
    };
    if let Some(length) = best("auto") {
        assert_eq!(length, selected["features"].as_array().unwrap().len());
    }
    let out = place.done(&words(&format!("{call} -k auto")));
    assert!(out.contains("\nauto  ") && out.contains("k = auto") && out.contains("  features\n"), "{out}");
    assert!(out.contains("mean number of features found, with auto as many as the method decides"), "{out}");
    let report = place.read("r.html");
    assert!(report.contains(">auto<") && !report.contains(&usize::MAX.to_string()), "{report}");
    let out = place.done(&words(
        "compare wdbc.csv -m boruta,lasso -p lasso.lambda_ratio=0.2 -p boruta.trees=20 \
                                 -p boruta.rounds=10 --folds 3 -k auto",
    ));
    assert!(out.contains("k = auto") && !out.contains(&usize::MAX.to_string()), "{out}");
    // Of equal means that of the fewest features is the best, in the table and in the report.
    let document = place.json(&words("evaluate wdbc.csv -m cfs -k 10,20,auto --report cfs.html"));
    let found = document["results"][2]["mean_features"].as_f64().unwrap();
    let means = [0, 2].map(|at| document["results"][at]["metrics"][0]["mean"].as_f64().unwrap());
    assert!(means[0] == means[1] && found < 10.0, "{document}");
    assert_eq!(document["chosen"][0]["k"], "auto");
    assert!(place.read("cfs.html").contains("from as many features as it decides"));
    // A method that does not decide says what does.
    place.refuses(
        &words("compare wdbc.csv -m lasso,hsic-lasso -p lasso.lambda_ratio=0.2 -k auto"),
        &["-k auto: hsic-lasso does not decide the number of features by itself: give -k N or --param lambda"],
    );
}
