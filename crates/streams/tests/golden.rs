//! The reference results, step by step. `FEWEST_GOLDEN` names the folder with all of them, `FEWEST_DATA` that
//! with their data; without these the cases of this folder are compared.

use std::path::{Path, PathBuf};

use fewest_core::method::Regularization;
use fewest_core::{
    Budget, Context, Dataset, DenseColumns, FeatureBatches, FeatureStream, StreamSelector, Target,
};
use fewest_data::{Missing, ReadOptions, Table};
use fewest_streams::{
    AlphaInvesting, FastOsfs, Fsds, Grafting, IndependenceTest, InvestingTest, Ofs, Osfs, OsfsStream,
    Outcome, OuterAnalysis, Verdict,
};
use fewest_testkit::datasets;
use fewest_testkit::golden::{self, Case};
use serde_json::Value;

fn cases(method: &str, at_least: usize) -> Vec<(Case, Dataset)> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let folder = std::env::var_os("FEWEST_GOLDEN").map_or(own, PathBuf::from);
    let cases = golden::load(&folder, method).unwrap();
    let read = |case: Case| {
        let path = datasets::find(&case.dataset)?;
        let table = Table::read(path, &ReadOptions::with_target("target")).unwrap();
        let mut data = table.complete(Missing::DropRows).unwrap().dataset;
        if let Some(first) = case.n_columns() {
            data = data.feature_subset(&(0..first).collect::<Vec<usize>>()).unwrap();
        }
        Some((case, data))
    };
    let found: Vec<_> = cases.into_iter().filter(|case| case.method == method).filter_map(read).collect();
    assert!(found.len() >= at_least, "{} cases of {method}", found.len());
    found
}

fn number(case: &Case, name: &str) -> f64 {
    case.params.get(name).or_else(|| case.extra.get(name)).and_then(Value::as_f64).unwrap()
}

fn word<'a>(case: &'a Case, name: &str) -> &'a str {
    case.params.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn list(case: &Case, name: &str) -> Vec<Value> {
    case.extra[name].as_array().unwrap().clone()
}

fn near(found: f64, expected: f64, tolerance: f64, what: &str) {
    assert!((found - expected).abs() <= tolerance, "{what}: {found}, expected {expected}");
}

/// Feeds the features of `data` one by one and calls `seen` after each.
fn feed<S: StreamSelector>(stream: &mut S, data: &Dataset, mut seen: impl FnMut(&S, usize)) {
    let groups = (0..data.n_features()).map(|j| vec![j]).collect();
    let mut features = FeatureBatches::new(data, groups);
    let mut j = 0;
    while let Some(group) = features.next_group().unwrap() {
        stream.update(&group, &Context::default()).unwrap();
        seen(stream, j);
        j += 1;
    }
}

fn verdict(last: Option<&Verdict>, j: usize) -> &Verdict {
    let last = last.unwrap();
    assert_eq!(last.feature, j);
    last
}

fn sorted(mut features: Vec<usize>) -> Vec<usize> {
    features.sort_unstable();
    features
}

#[test]
fn alpha_investing_spends_what_the_reference_spends() {
    for (case, data) in cases("alpha_investing", 4) {
        let test = match word(&case, "test") {
            "t" => InvestingTest::T,
            "lr" => InvestingTest::Lr,
            "ll" => InvestingTest::Ll,
            other => panic!("{other}"),
        };
        let options =
            AlphaInvesting { wealth: number(&case, "w0"), reward: number(&case, "alpha_delta"), test };
        let wealth = list(&case, "wealth");
        let mut stream = options.stream().unwrap();
        feed(&mut stream, &data, |stream, j| {
            let what = format!("{} feature {j}", case.name);
            let last = verdict(stream.last(), j);
            near(last.value, case.scores[&j], 1e-10, &what);
            assert_eq!(last.outcome == Outcome::Admitted, case.ranking.contains(&j), "{what}");
            if let Some(next) = wealth.get(j + 1).and_then(Value::as_f64) {
                near(stream.wealth(), next, 1e-9 * next, &what);
            }
        });
        let selection = stream.selection(Budget::Auto).unwrap();
        assert_eq!(selection.order, case.ranking, "{}", case.name);
        let expected = case.objective.unwrap();
        near(stream.wealth(), expected, 1e-9 * expected, &case.name);
        assert_eq!(stream.held().features, case.ranking.len());
    }
}

#[test]
fn grafting_admits_what_the_reference_admits() {
    for (case, data) in cases("grafting", 2) {
        let options =
            Grafting { regularization: Regularization::Value(number(&case, "alpha")), tolerance: 1e-13 };
        let gradients = list(&case, "absolute_gradient_on_arrival");
        let mut stream = options.stream().unwrap();
        feed(&mut stream, &data, |stream, j| {
            let what = format!("{} feature {j}", case.name);
            near(verdict(stream.last(), j).value, gradients[j].as_f64().unwrap(), 1e-6, &what);
        });
        let accepted: Vec<usize> =
            list(&case, "accepted").iter().map(|j| j.as_u64().unwrap() as usize).collect();
        assert_eq!(stream.admitted(), accepted, "{}", case.name);
        let selection = stream.selection(Budget::Auto).unwrap();
        assert_eq!(selection.order, case.ranking, "{}", case.name);
        for (j, score) in selection.order.iter().zip(&selection.scores) {
            near(*score, case.scores[j], 1e-5, &case.name);
        }
        let (found, expected) = (selection.solver.unwrap().objective, case.objective.unwrap());
        near(found, expected, 1e-9 * expected, &case.name);
        assert!(found >= number(&case, "objective_with_all_features") * (1.0 - 1e-9));
    }
}

fn independence(case: &Case) -> IndependenceTest {
    match word(case, "test") {
        "fisher_z" => IndependenceTest::FisherZ,
        "g2" => {
            IndependenceTest::G2 { discretisation: Default::default(), bins: number(case, "bins") as usize }
        }
        other => panic!("{other}"),
    }
}

fn compare_candidates(case: &Case, data: &Dataset, mut stream: OsfsStream) {
    let happened = list(case, "what_happened");
    feed(&mut stream, data, |stream, j| {
        let what = format!("{} feature {j}", case.name);
        let last = verdict(stream.last(), j);
        let word = match last.outcome {
            Outcome::Admitted => "admitted",
            Outcome::Irrelevant => "irrelevant",
            Outcome::Redundant => "redundant on arrival",
            other => panic!("{other:?}"),
        };
        assert_eq!(word, happened[j].as_str().unwrap(), "{what}");
        if let Some(&expected) = case.scores.get(&j) {
            near(last.value, expected, 1e-10, &what);
        }
    });
    let selection = stream.selection(Budget::Auto).unwrap();
    assert_eq!(sorted(selection.order), case.ranking, "{}", case.name);
}

#[test]
fn osfs_keeps_what_the_reference_keeps() {
    for (case, data) in cases("osfs", 3) {
        let (alpha, max_conditioning) = (number(&case, "alpha"), number(&case, "max_conditioning") as usize);
        let options = Osfs { test: independence(&case), alpha, max_conditioning };
        compare_candidates(&case, &data, options.stream().unwrap());
    }
}

#[test]
fn fast_osfs_keeps_what_the_reference_keeps() {
    for (case, data) in cases("fast_osfs", 5) {
        let (alpha, max_conditioning) = (number(&case, "alpha"), number(&case, "max_conditioning") as usize);
        let outer_analysis = match word(&case, "outer_analysis") {
            "end" => OuterAnalysis::End,
            "each" => OuterAnalysis::Each,
            other => panic!("{other}"),
        };
        let options = FastOsfs { test: independence(&case), alpha, max_conditioning, outer_analysis };
        compare_candidates(&case, &data, options.stream().unwrap());
    }
}

/// The features, each of mean 0 and standard deviation 1; constants are 0.
fn standardised(data: &Dataset) -> Dataset {
    let columns: Vec<Vec<f64>> = (0..data.n_features())
        .map(|j| {
            let mut column = vec![0.0; data.n_samples()];
            data.x().copy_column(j, &mut column).unwrap();
            if !fewest_columns::standardise(&mut column) {
                column.fill(0.0);
            }
            column
        })
        .collect();
    Dataset::new(DenseColumns::from_columns(&columns).unwrap(), data.target().clone()).unwrap()
}

#[test]
fn ofs_updates_where_the_reference_updates() {
    for (case, data) in cases("ofs", 2) {
        let data = standardised(&data);
        let n = data.n_samples();
        let step: usize = word(&case, "row_order")
            .split(' ')
            .find_map(|word| word.parse().ok())
            .unwrap_or_else(|| panic!("{}", word(&case, "row_order")));
        let options = Ofs {
            kept: Some(number(&case, "B") as usize),
            step: number(&case, "eta"),
            lambda: number(&case, "lambda"),
            margin: number(&case, "margin"),
            ..Ofs::default()
        };
        let mut stream = options.stream(0).unwrap();
        let mut updates = Vec::new();
        for t in 0..n * number(&case, "passes") as usize {
            let before = stream.n_updates();
            let row = data.subset(&[step * (t % n) % n]).unwrap();
            stream.update(&row, &Context::default()).unwrap();
            if stream.n_updates() > before {
                updates.push(t as u64);
            }
        }
        let first: Vec<u64> = list(&case, "first_updates").iter().map(|at| at.as_u64().unwrap()).collect();
        assert_eq!(&updates[..first.len()], first, "{}", case.name);
        let selection = stream.selection(Budget::Auto).unwrap();
        assert_eq!(Some(stream.n_updates() as f64), case.objective, "{}", case.name);
        assert_eq!(selection.order, case.ranking, "{}", case.name);
        for (j, score) in selection.order.iter().zip(&selection.scores) {
            near(*score, case.scores[j], 1e-8, &case.name);
        }
        // A table by the same rows, standardised by the method.
        let again = data.subset(&(0..2 * n).map(|t| step * (t % n) % n).collect::<Vec<usize>>()).unwrap();
        let table = Ofs { shuffle: false, ..options };
        let found = fewest_core::Selector::select(&table, &again, Budget::Auto, &Context::default()).unwrap();
        assert_eq!(found.order, case.ranking);
    }
}

#[test]
fn fsds_keeps_the_sketch_of_the_reference() {
    for (case, data) in cases("fsds", 2) {
        let data = standardised(&data);
        let options = Fsds {
            sketch_rows: number(&case, "sketch_rows") as usize,
            components: number(&case, "k") as usize,
            ridge: number(&case, "alpha"),
            block_rows: number(&case, "block_rows") as usize,
        };
        // Cut otherwise than into blocks: it must not matter.
        let mut stream = options.stream().unwrap();
        let rows: Vec<usize> = (0..data.n_samples()).collect();
        for rows in rows.chunks(17) {
            let batch = data.subset(rows).unwrap().with_target(Target::None).unwrap();
            stream.update(&batch, &Context::default()).unwrap();
        }
        let scores = stream.scores().unwrap();
        let largest = case.scores.values().copied().fold(0.0, f64::max);
        for (j, expected) in &case.scores {
            near(scores.values[*j], *expected, 1e-7 * largest, &case.name);
        }
        assert_eq!(scores.ranking()[..case.ranking.len()], case.ranking, "{}", case.name);
        let bound = stream.bound().unwrap();
        near(bound, number(&case, "sum_of_the_shrinkages"), 1e-7 * bound.max(1.0), &case.name);
        let shrunk = list(&case, "shrunk_singular_values");
        for (row, expected) in stream.sketch().unwrap().iter().zip(&shrunk) {
            let norm = row.iter().map(|entry| entry * entry).sum::<f64>().sqrt();
            near(norm, expected.as_f64().unwrap(), 1e-6, &case.name);
        }
    }
}
