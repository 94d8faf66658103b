use fewest::core::{Budget, Context, Dataset, DenseColumns, Related, Scorer, Selection, Status, Target};
use fewest::data::{Missing, ReadOptions, Reduction, Table};
use fewest::registry::{Built, Registry};
use serde_json::Value as Json;

use super::*;
use crate::{Candidate, Study, StudyOptions};

/// The keys of the outermost object, in the order in which they are written.
fn keys(document: &str) -> Vec<&str> {
    let quoted = document.lines().filter_map(|line| line.strip_prefix("  \""));
    quoted.filter_map(|rest| rest.split_once("\":").map(|(key, _)| key)).collect()
}

fn data() -> Result<Dataset, Error> {
    let wave = |step: i32| (0..60).map(|i| f64::from(i * step % 61)).collect::<Vec<f64>>();
    let labels: Vec<bool> = wave(17).iter().map(|value| *value > 30.0).collect();
    let x = DenseColumns::from_columns(&[wave(1), wave(17), wave(23)])?;
    let names = ["first", "middle", "last"].map(str::to_owned).to_vec();
    Ok(Dataset::new(x, Target::from_labels(&labels))?.with_feature_names(names)?)
}

fn run(data: &Dataset, method: &str) -> Result<RunInfo, Error> {
    let method = Registry::standard().find(method)?;
    let data = DataInfo { targets: vec!["class".to_owned()], ..DataInfo::new("waves", data) };
    Ok(RunInfo {
        method: method.clone(),
        parameters: Parameters::defaults(method),
        seed: 5,
        data,
        seconds: 0.25,
    })
}

#[test]
fn a_selection_has_its_keys_in_order() -> Result<(), Error> {
    let data = data()?;
    let run = run(&data, "hsic-lasso")?;
    let mut told = Selection::new(vec![1, 2], vec![f64::INFINITY, f64::NAN], 3, Status::TimeLimit);
    told.related = vec![vec![Related { feature: 0, relatedness: 0.5 }], Vec::new()];
    told.notes = vec!["a note".to_owned()];
    let text = selection(&told, None, &run)?;
    let expected =
        ["fewest", "method", "params", "seed", "data", "features", "solver", "status", "notes", "seconds"];
    assert_eq!(keys(&text), expected);
    let document: Json = serde_json::from_str(&text)?;
    assert_eq!((&document["fewest"], &document["seed"]), (&VERSION.into(), &5.into()));
    assert_eq!(document["data"]["n_classes"], 2);
    assert_eq!(document["status"], "time-limit");
    let features = &document["features"];
    // Numbers that JSON cannot represent.
    assert_eq!((&features[0]["score"], &features[1]["score"]), (&"inf".into(), &Json::Null));
    assert_eq!(
        (&features[0]["name"], &features[0]["related"][0]["name"]),
        (&"middle".into(), &"first".into())
    );
    assert!(features[1].get("related").is_none() && features[1].get("p_value").is_none());
    // Every parameter that has a value, in the method's order.
    let names: Vec<&str> = run.parameters.iter().map(|(name, _)| name).collect();
    let params = text.split_once("\"params\": {").and_then(|(_, rest)| rest.split_once("\n  },"));
    let written = params.map(|(params, _)| params.lines().filter_map(|line| line.trim().split('"').nth(1)));
    assert_eq!(written.map(Iterator::collect::<Vec<&str>>), Some(names));
    Ok(())
}

#[test]
fn scores_are_written_best_first_with_their_p_values() -> Result<(), Error> {
    let data = data()?;
    let run = run(&data, "f-score")?;
    let Built::Scorer(scorer) = run.method.build(&run.parameters)? else { panic!("f-score is a score") };
    let found = scorer.score(&data, &Context::default())?;
    let document: Json = serde_json::from_str(&scores(&found, None, &run)?)?;
    let features = document["features"].as_array().cloned().unwrap_or_default();
    assert_eq!(features.len(), 3);
    for (rank, (feature, j)) in features.iter().zip(found.ranking()).enumerate() {
        assert_eq!((&feature["rank"], &feature["index"]), (&(rank + 1).into(), &j.into()));
        assert_eq!(feature["score"].as_f64(), Some(found.values[j]));
        let p_value = found.p_values.as_ref().map(|values| values[j]);
        assert!(p_value.is_some() && feature["p_value"].as_f64() == p_value);
        let q_value = found.q_values().map(|values| values[j]);
        assert!(q_value.is_some() && feature["q_value"].as_f64() == q_value);
    }
    Ok(())
}

#[test]
fn a_reduction_is_read_back() -> Result<(), Error> {
    let data = data()?;
    let run = run(&data, "hsic-lasso")?;
    let found = Selection::new(vec![1], vec![0.5], 3, Status::Converged);
    // A category and a number, both with a gap, and words of its own for missing.
    let mut options = ReadOptions::with_target("y");
    options.missing_tokens.push("none".to_owned());
    let rows = "a,b,c,y\nu,0.1,1,1\nv,0.2,2,2\n,none,3,3\nv,0.6,4,4\n";
    let table = Table::read_bytes("t.csv", rows.as_bytes().into(), &options);
    let complete = table.and_then(|table| table.complete(Missing::Mean));
    let reduction = complete.and_then(|complete| Reduction::of(&complete, Missing::Mean, &[1, 0, 2]));
    let reduction = reduction.map_err(Error::Unreadable)?;
    let text = selection(&found, Some(&reduction), &run)?;
    assert_eq!(reduction_of(text.as_bytes())?, reduction);
    let without = reduction_of(selection(&found, None, &run)?.as_bytes());
    assert!(matches!(without, Err(Error::NoReduction)));
    assert!(matches!(reduction_of(b"{"), Err(Error::Json(_))));
    for (reduction, told) in [("3", "invalid type"), ("{}", "missing field `named`")] {
        let wrong = reduction_of(format!("{{\"reduction\": {reduction}}}").as_bytes()).err();
        let wrong = wrong.map(|error| error.to_string()).unwrap_or_default();
        assert!(wrong.starts_with("its `reduction` is not as") && wrong.contains(told), "{wrong}");
    }
    // Of a program that did not write all of this yet.
    let early = r#"{"reduction": {"named": false, "missing": "error", "columns": []}}"#;
    assert_eq!(reduction_of(early.as_bytes())?.missing_tokens, ReadOptions::default().missing_tokens);
    Ok(())
}

/// The q-values are those over all features, however many are listed.
#[test]
fn listing_fewer_scores_changes_no_q_value() -> Result<(), Error> {
    let data = data()?;
    let run = run(&data, "f-score")?;
    let Built::Scorer(scorer) = run.method.build(&run.parameters)? else { panic!("f-score is a score") };
    let found = scorer.score(&data, &Context::default())?;
    let listed = |most| -> Result<Json, Error> { Ok(serde_json::from_str(&scores(&found, most, &run)?)?) };
    let (all, two) = (listed(None)?["features"].take(), listed(Some(2))?["features"].take());
    let all = all.as_array().cloned().unwrap_or_default();
    assert_eq!((all.len(), two), (3, Json::from(all[..2].to_vec())));
    let method = Registry::standard().find("f-score")?;
    let selector = method.build(&run.parameters)?.into_selector();
    let selected = selector.select(&data, Budget::Count(2), &Context::default())?;
    let document: Json = serde_json::from_str(&selection(&selected, None, &run)?)?;
    assert_eq!(document["features"], Json::from(all[..2].to_vec()));
    Ok(())
}

#[test]
fn studies_have_their_keys_in_order() -> Result<(), Error> {
    let data = data()?;
    let candidates = ["f-score", "mrmr"].map(|id| {
        let method = Registry::standard().find(id)?;
        Candidate::new(method, Parameters::defaults(method))
    });
    let candidates = candidates.into_iter().collect::<Result<_, _>>()?;
    let metrics = ["accuracy", "macro-f1"].map(str::to_owned).to_vec();
    let options =
        StudyOptions { ks: vec![2, 1], learner: Some("knn".to_owned()), metrics, ..StudyOptions::default() };
    let study = Study::new(Registry::standard(), &data, DataInfo::new("waves", &data), candidates, &options)?;
    let report = study.run(None, &Context::default())?;
    let text = evaluation(&report)?;
    let expected = [
        "fewest",
        "method",
        "params",
        "seed",
        "data",
        "design",
        "results",
        "chosen",
        "folds",
        "baselines",
        "status",
        "notes",
        "timings",
        "seconds",
    ];
    assert_eq!(keys(&text), expected);
    let text = comparison(&report)?;
    let expected = [
        "fewest",
        "methods",
        "seed",
        "data",
        "design",
        "comparisons",
        "baselines",
        "status",
        "notes",
        "timings",
        "seconds",
    ];
    assert_eq!(keys(&text), expected);
    let document: Json = serde_json::from_str(&text)?;
    assert_eq!(document["design"]["k"], serde_json::json!([1, 2]));
    // A comparison for each metric and number of features, with the best method and the other one.
    let comparisons = document["comparisons"].as_array().cloned().unwrap_or_default();
    assert_eq!(comparisons.len(), 4);
    for comparison in &comparisons {
        assert_eq!(comparison["others"].as_array().map(Vec::len), Some(1));
        assert_ne!(comparison["best"], comparison["others"][0]["method"]);
    }
    let chosen: Vec<&Json> = (0..2).map(|rule| &document["methods"][0]["chosen"][rule]["rule"]).collect();
    assert_eq!(chosen, ["best-mean", "one-standard-error"]);
    Ok(())
}

#[test]
fn a_selection_of_a_selector_is_written_unchanged() -> Result<(), Error> {
    let data = data()?;
    let run = run(&data, "hsic-lasso")?;
    let selector = run.method.build(&run.parameters)?.into_selector();
    let found = selector.select(&data, Budget::Count(2), &Context::default())?;
    let document: Json = serde_json::from_str(&selection(&found, None, &run)?)?;
    let solver = found.solver.as_ref().map(|solver| (solver.name, solver.iterations));
    let described = &document["solver"];
    assert_eq!(solver, described["name"].as_str().zip(described["iterations"].as_u64().map(|i| i as usize)));
    assert_eq!(document["features"].as_array().map(Vec::len), Some(found.order.len()));
    Ok(())
}
