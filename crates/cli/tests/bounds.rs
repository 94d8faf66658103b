//! Bounds on false discoveries: what is selected, what is told, and what is refused.

use crate::common::{Place, words};

/// 25 features, of which the first twelve add up to the target.
fn table(place: &Place) {
    let mut state = 1_u64;
    let mut number = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / f64::from(1_u32 << 31) - 0.5
    };
    let names: Vec<String> = (0..25).map(|j| format!("x{j}")).collect();
    let mut text = format!("{},y\n", names.join(","));
    for _ in 0..150 {
        let row: Vec<f64> = (0..25).map(|_| number()).collect();
        let y = row[..12].iter().sum::<f64>() + 0.3 * number();
        let cells: Vec<String> = row.iter().map(|value| format!("{value:.6}")).collect();
        text.push_str(&format!("{},{y:.6}\n", cells.join(",")));
    }
    place.write("t.csv", &text);
}

fn document(place: &Place, call: &str) -> serde_json::Value {
    serde_json::from_str(&place.done(&words(&format!("{call} --json -")))).unwrap()
}

fn indices(document: &serde_json::Value) -> Vec<u64> {
    let features = document["features"].as_array().unwrap();
    features.iter().map(|feature| feature["index"].as_u64().unwrap()).collect()
}

#[test]
fn the_bound_decides_how_many_features_and_is_told() {
    let place = Place::new();
    table(&place);
    for method in ["lasso", "elastic-net", "correlation", "lasso -p lambda_ratio=0.1"] {
        let call = format!("select t.csv -m {method} --fdr 0.2 --seed 3");
        let answer = document(&place, &call);
        let found = indices(&answer);
        assert!(found.iter().filter(|j| **j < 12).count() >= 8, "{method}: {found:?}");
        assert!(found.iter().filter(|j| **j >= 12).count() <= 6, "{method}: {found:?}");
        let bound = &answer["false_discoveries"];
        assert_eq!((bound["kind"].as_str(), bound["bound"].as_f64()), (Some("rate"), Some(0.2)));
        assert_eq!((bound["offset"].as_u64(), bound["draws"].as_u64()), (Some(1), Some(1)));
        assert_eq!((bound["construction"].as_str(), bound["factors"].as_u64()), (Some("mvr"), Some(0)));
        let (name, value) = match bound["covariance"].as_str() {
            Some("graph") => ("graph", &bound["pairs"]),
            _ => ("shrunk", &bound["shrinkage"]),
        };
        assert_eq!(bound["covariance"].as_str(), Some(name));
        assert!(value.is_number(), "{bound}");
        assert!(bound["assumption"].as_str().unwrap().contains("jointly normal"), "{bound}");
        let (statistic, folds) = match method {
            "lasso" | "elastic-net" => ("cross-validated", Some(5)),
            "correlation" => ("score", None),
            _ => ("coefficient", None),
        };
        assert_eq!((bound["statistic"].as_str(), bound["folds"].as_u64()), (Some(statistic), folds));
        // With the reported parameters the run can be repeated: they are those that were given.
        assert_eq!(answer["params"], document(&place, &format!("select t.csv -m {method}"))["params"]);
        let out = place.done(&words(&call));
        assert!(out.contains("expected share of irrelevant features at most 0.200"), "{out}");
    }
    let report = "select t.csv -m correlation --fdr 0.2 --fdr-draws 5 --fdr-construction sdp --report r.html";
    place.done(&words(report));
    let page = place.read("r.html");
    assert!(page.contains("5 sets of knockoffs") && page.contains("sdp"));
}

#[test]
fn stability_selection_tells_its_bound() {
    let place = Place::new();
    table(&place);
    let answer = document(&place, "select t.csv -m lasso --per-family-error 1 --stability-threshold 0.9");
    let bound = &answer["false_discoveries"];
    // q = ⌊√(0.8 · 25)⌋ = 4.
    assert_eq!((bound["kind"].as_str(), bound["per_half"].as_f64()), (Some("number"), Some(4.0)));
    assert!((bound["bound"].as_f64().unwrap() - 16.0 / 20.0).abs() < 1e-12);
    assert_eq!((bound["threshold"].as_f64(), bound["halves"].as_u64()), (Some(0.9), Some(100)));
    assert!(indices(&answer).iter().all(|j| *j < 12));
    assert!(
        answer["features"].as_array().unwrap().iter().all(|feature| feature["score"].as_f64() >= Some(0.9))
    );
    let plain = document(&place, "select t.csv -m lasso -k 3");
    assert!(plain.get("false_discoveries").is_none());
}

#[test]
fn what_does_not_go_together_is_refused() {
    let place = Place::new();
    table(&place);
    place.write("groups.csv", "feature,group\nx0,a\nx1,a\n");
    for (call, told) in [
        ("-m laplacian --fdr 0.1", &["--fdr", "laplacian", "does not use the target"][..]),
        ("-m group-lasso -p lambda_ratio=0.1 --groups groups.csv --fdr 0.2", &["knockoffs", "groups"]),
        ("-m hsic-lasso -p lambda_ratio=0.1 --force-in x3 --fdr 0.2", &["--fdr", "--force-in"]),
        ("-m hsic-lasso -p lambda_ratio=0.1 --covariates x3 --fdr 0.2", &["--fdr", "--covariates"]),
        ("-m lasso -p lambda_ratio=0.1 --offset x3 --fdr 0.2", &["--fdr", "--offset"]),
        ("-m lasso --fdr 0.1 -k 5", &["--fdr", "cannot be used with", "--k"]),
        ("-m lasso --per-family-error 1 -k 5", &["--per-family-error", "cannot be used with"]),
        ("-m lasso --per-family-error 1 --fdr 0.1", &["cannot be used with"]),
        ("-m lasso --fdr-draws 3", &["--fdr"]),
        ("-m lasso --fdr 1", &["above 0 and below 1"]),
        ("-m lasso --fdr nan", &["above 0 and below 1"]),
        ("-m lasso --fdr 0.1 --fdr-offset 2", &["0 or 1"]),
        ("-m lasso --fdr 0.1 --fdr-draws 2 --fdr-offset 0", &["`offset`", "more than one draw"]),
        ("-m lasso --fdr 0.1 --fdr-construction x", &["auto|mvr|sdp|equicorrelated"]),
        ("-m lasso -p loss=huber --fdr 0.1", &["--fdr", "lambda_ratio"]),
        (
            "-m mrmr --fdr 0.1",
            &["--fdr", "mrmr has no score for every feature: take a method", "fewest score"],
        ),
        ("-m correlation -p alpha=0.01 --fdr 0.1", &["--fdr", "leave out --param alpha"]),
        ("-m hsic-lasso --fdr 0.1", &["--fdr", "hsic-lasso", "--param lambda"]),
        ("-m lasso --per-family-error 0.001", &["`per_family_error`", "at least"]),
        ("-m lasso --per-family-error 1 --stability-threshold 0.5", &["above 0.5"]),
    ] {
        place.refuses(&words(&format!("select t.csv {call}")), told);
    }
}
