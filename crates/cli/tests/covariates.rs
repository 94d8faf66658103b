//! Covariates and an offset: named by options, taken into account in every fold, and not selected.

use crate::common::{Place, words};
use serde_json::Value;

/// Of 60 samples `line` and `age` make the outcome, of which `line` alone says little; the others are noise.
fn place() -> Place {
    let place = Place::new();
    let mut text = String::from("line,noise,dust,age,exposure,outcome,kind,count\n");
    let wave = |i: i32, step: i32| f64::from(i * step % 61) / 30.0 - 1.0;
    for i in 0..60 {
        let (line, age) = (wave(i, 17), wave(i, 5));
        let outcome = line + 4.0 * age;
        let (kind, count) = (if outcome > 0.0 { "yes" } else { "no" }, i * 7 % 11);
        let (noise, dust, exposure) = (wave(i, 23), wave(i, 29), 100.0 + f64::from(i * 37 % 900));
        text.push_str(&format!("{line},{noise},{dust},{age},{exposure},{outcome},{kind},{count}\n"));
    }
    place.write("t.csv", &text);
    place
}

fn mean(of: &Value) -> f64 {
    of["metrics"][0]["mean"].as_f64().unwrap()
}

const CALL: &str = "evaluate t.csv -t outcome --ignore kind,count -m lasso -k 1 --folds 4 --metric r2";

#[test]
fn the_learner_has_the_covariates_beside_the_selected_features() {
    let place = place();
    let plain = place.json(&words(CALL));
    let with = place.json(&words(&format!("{CALL} --covariates age")));
    // `line` and `age` are all there is to know; `age` alone is selected without.
    let (alone, both) = (mean(&plain["results"][0]), mean(&with["results"][0]));
    assert!(alone < 0.99 && both > 0.999, "{alone} {both}");
    assert_eq!(with["design"]["covariates"], serde_json::json!(["age"]));
    assert!(plain["design"].get("covariates").is_none());
    assert_eq!(with["folds"][0]["outcomes"][0]["features"], serde_json::json!([0]));
    // Without a selection: the covariates alone, and with all that can be selected.
    let [none, all] = &with["baselines"].as_array().unwrap()[..] else { panic!("two baselines") };
    assert_eq!((&none["name"], &none["n_features"]), (&"covariates".into(), &0.into()));
    assert_eq!((&all["name"], &all["n_features"]), (&"all-features".into(), &4.into()));
    assert!(mean(none) > 0.5 && mean(none) < both && mean(all) > 0.99, "{none} {all}");
    let told =
        with["notes"].as_array().unwrap().iter().any(|note| {
            note.as_str().unwrap().contains("has the covariate `age` beside the selected features")
        });
    assert!(told, "{}", with["notes"]);
    // A parameter says the same as the option.
    let by_number = place.json(&words(&format!("{CALL} -p covariates=3")));
    assert_eq!((&by_number["results"], &by_number["baselines"]), (&with["results"], &with["baselines"]));
    let table = place.done(&words(&format!("{CALL} --covariates age")));
    assert!(table.contains("none: the covariates alone"), "{table}");
}

#[test]
fn methods_that_are_compared_have_the_same_covariates() {
    let place = place();
    let call = "compare t.csv -t outcome --ignore kind,count -m lasso,hsic-lasso -k 1 --folds 4";
    let document = place.json(&words(&format!("{call} --covariates age,dust")));
    assert_eq!(document["design"]["covariates"], serde_json::json!(["dust", "age"]));
    for method in document["methods"].as_array().unwrap() {
        assert_eq!(method["params"]["covariates"], serde_json::json!([3, 2]));
    }
    let own = "-p lasso.covariates=3";
    place.refuses(&words(&format!("{call} {own}")), &["lasso and hsic-lasso", "different covariates"]);
    let other = call.replace("hsic-lasso", "f-score");
    place.refuses(
        &words(&format!("{other} --covariates age")),
        &["--covariates: f-score does not use it", "hsic-lasso"],
    );
}

/// Folds with other covariates are other folds.
#[test]
fn stored_folds_are_those_of_their_covariates() {
    let place = place();
    let call = format!("{CALL} --resume folds.jsonl");
    let first = place.json(&words(&format!("{call} --covariates age")));
    let again = place.json(&words(&format!("{call} --covariates age")));
    assert_eq!(first["results"], again["results"]);
    place.refuses(&words(&format!("{call} --covariates dust")), &["--resume", "another evaluation"]);
}

#[test]
fn an_offset_is_for_the_selection_alone_and_that_is_said() {
    let place = place();
    let document = place.json(&words(&format!("{CALL} --offset age")));
    assert_eq!(document["design"]["offset"], serde_json::json!(["age"]));
    let notes = document["notes"].to_string();
    assert!(notes.contains("the offset `age`") && notes.contains("cannot use an offset"), "{notes}");
    assert_eq!(document["baselines"][1]["n_features"], 4);
    // The offset of a kernel is a number, and no list of features.
    let kernel = "select t.csv -t kind --ignore outcome,count -m mik-fs --offset age";
    let line = place.fails(&words(kernel));
    assert!(line.contains("--offset: mik-fs does not use it") && !line.contains("mkl"), "{line}");
}

/// What is given a place is not among the features that a number counts.
#[test]
fn covariates_are_not_counted_among_the_features_to_select() {
    let place = place();
    for command in ["select", "evaluate"] {
        let call = format!("{command} t.csv -t outcome --ignore kind,count -m lasso --covariates age,dust");
        place.refuses(
            &words(&format!("{call} -k 4")),
            &["-k is 4", "at most 3", "of 5 features, 2 are given"],
        );
        place.refuses(&words(&format!("{call} -k 6")), &["-k is 6", "at most"]);
        let out = place.done(&words(&call));
        assert!(!out.contains("of 5 features:"), "{out}");
    }
    let all =
        "select t.csv -t outcome --ignore kind,count -m lasso --covariates line,noise,dust,age,exposure";
    place.refuses(&words(all), &["nothing is left to be selected"]);
}

#[test]
fn names_of_features_are_checked() {
    let place = place();
    let call = "select t.csv -t outcome --ignore kind,count -m lasso -k 1";
    let refused = |options: &str, told: &[&str]| place.refuses(&words(&format!("{call} {options}")), told);
    refused("--covariates outcome", &["--covariates: `outcome` is the target", "leave it out"]);
    refused("--covariates age,age", &["--covariates: `age` is named twice"]);
    refused("--covariates age,3", &["--covariates: `age` is named twice"]);
    refused("--covariates gene*", &["no feature `gene*`", "`*` stands for any characters"]);
    refused("--covariates age --offset age", &["--offset: `age` is named by --covariates as well"]);
    refused("--covariates agge", &["did you mean `age`?"]);
    // A pattern, and a name that it matches, too.
    let document = place.json(&words(&format!("{call} --covariates ?us*,a*,age")));
    assert_eq!(document["params"]["covariates"], serde_json::json!([2, 3]));
    refused("-p offset=3 -p covariates=3", &["feature `age` (3, counted from 0)", "name it once"]);
}

/// The exposure in place of its logarithm is the usual mistake.
#[test]
fn an_offset_too_large_for_an_exponential_is_named() {
    let place = place();
    let call = "select t.csv -t count --task regression --ignore kind,outcome -m lasso -k 1 -p loss=poisson";
    place.refuses(&words(&format!("{call} --offset exposure")), &["feature `exposure`", "logarithm", "300"]);
    place.done(&words(&format!("{call} --offset dust")));
}
