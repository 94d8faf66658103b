//! The reference results of usfs, step by step, and its laws; only with the feature of that name.

use std::path::{Path, PathBuf};

use fewest_core::method::{Parameters, Regularization};
use fewest_core::{
    Budget, Context, Dataset, DenseColumns, Error, FeatureBatches, FeatureStream, Graph, Selector,
    StreamSelector, Target, derive_seed,
};
use fewest_data::{Missing, ReadOptions, Table};
use fewest_streams::{LatentFactors, METHODS, Outcome, Usfs, UsfsStream};
use fewest_testkit::conformance::{check_by_place, linked_problem};
use fewest_testkit::golden::{self, Case};
use serde_json::Value;

fn networks(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../testkit/data/networks").join(name)
}

/// The table of a case with its factors as outputs.
fn problem_of(case: &Case) -> Dataset {
    let table = Table::read(networks("sbm_a.csv"), &ReadOptions::with_target("target")).unwrap();
    let data = table.complete(Missing::DropRows).unwrap().dataset;
    assert_eq!(case.dataset, "networks/sbm_a.csv");
    let text = std::fs::read_to_string(networks("sbm_a_factors.csv")).unwrap();
    let rows: Vec<Vec<f64>> = text
        .lines()
        .skip(1)
        .map(|line| line.split(',').map(|cell| cell.parse().unwrap()).collect())
        .collect();
    let outputs = (0..rows[0].len()).flat_map(|k| rows.iter().map(move |row| row[k])).collect();
    data.with_target(Target::outputs(outputs, rows.len()).unwrap()).unwrap()
}

fn number(case: &Case, name: &str) -> f64 {
    case.params[name].as_f64().unwrap()
}

fn feed(stream: &mut UsfsStream, data: &Dataset, mut seen: impl FnMut(&UsfsStream, usize)) {
    let mut features = FeatureBatches::new(data, (0..data.n_features()).map(|j| vec![j]).collect());
    for j in 0..data.n_features() {
        stream.update(&features.next_group().unwrap().unwrap(), &Context::default()).unwrap();
        seen(stream, j);
    }
}

#[test]
fn usfs_does_what_the_reference_does() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let cases = golden::load(&folder, "usfs").unwrap();
    assert_eq!(cases.len(), 2);
    for case in cases {
        let data = problem_of(&case);
        let n = data.n_samples() as f64;
        let options = Usfs {
            regularization: Regularization::Value(number(&case, "alpha") / n),
            latent: LatentFactors::Target,
            ridge: number(&case, "beta"),
            graph: number(&case, "gamma"),
            tolerance: 1e-13,
        };
        let log = case.extra["log"].as_array().unwrap().clone();
        let mut stream = options.stream().unwrap();
        feed(&mut stream, &data, |stream, j| {
            let last = stream.last().unwrap();
            let outcome = match last.outcome {
                Outcome::Admitted => "accepted",
                _ => "refused",
            };
            let dropped: Vec<u64> =
                log[j][2].as_array().unwrap().iter().map(|j| j.as_u64().unwrap()).collect();
            assert_eq!((j as u64, Some(outcome)), (log[j][0].as_u64().unwrap(), log[j][1].as_str()));
            assert_eq!(last.left.iter().map(|j| *j as u64).collect::<Vec<u64>>(), dropped, "feature {j}");
        });
        let found = stream.selection(Budget::Auto).unwrap();
        assert_eq!(found.order, case.ranking, "{}", case.name);
        for (j, score) in found.order.iter().zip(&found.scores) {
            assert!((score - case.scores[j]).abs() <= 1e-6, "{} feature {j}: {score}", case.name);
        }
        let expected = case.objective.unwrap();
        assert!((n * stream.objective() - expected).abs() <= 1e-9 * expected, "{}", case.name);
        assert_eq!(case.params["tables"], Value::from(vec!["networks/sbm_a_factors.csv"]));
        // A table is its columns one by one, and the share of the largest penalty is that of the reference.
        let ratio = Usfs { regularization: Regularization::Ratio(number(&case, "r")), ..options };
        let table = ratio.select(&data, Budget::Auto, &Context::default()).unwrap();
        assert_eq!(table.order, case.ranking, "{}", case.name);
    }
}

/// Two communities, which features 3 and 11 tell apart, with noise.
fn communities(n_features: u64) -> Dataset {
    let n = 60;
    let uniform = |j: u64, i: usize| derive_seed(j, i as u64) as f64 / u64::MAX as f64 - 0.5;
    let side = |i: usize| if i < 25 { -1.0 } else { 1.0 };
    let value = |j: u64, i: usize| uniform(j, i) + if j == 3 || j == 11 { side(i) } else { 0.0 };
    let columns: Vec<Vec<f64>> = (0..n_features).map(|j| (0..n).map(|i| value(j, i)).collect()).collect();
    let pairs = (0..n).flat_map(|i| (0..i).map(move |j| (j, i)));
    let linked =
        pairs.filter(|&(j, i)| uniform(900 + j as u64, i) < if side(i) == side(j) { 0.1 } else { -0.45 });
    let links: Vec<(usize, usize, f64)> = linked.map(|(j, i)| (j, i, 1.0)).collect();
    let names = (0..n_features).map(|j| format!("x{j}")).collect();
    Dataset::new(DenseColumns::from_columns(&columns).unwrap(), Target::None)
        .and_then(|data| data.with_sample_graph(Graph::undirected(n, &links).unwrap()))
        .and_then(|data| data.with_feature_names(names))
        .unwrap()
}

#[test]
fn links_tell_which_features_to_keep() {
    let data = communities(40);
    for regularization in [Regularization::Ratio(0.5), Regularization::Count] {
        let options = Usfs { regularization, latent: LatentFactors::Links { factors: 1 }, ..Usfs::default() };
        let found = options.select(&data, Budget::Count(2), &Context::default()).unwrap();
        let mut order = found.order.clone();
        order.sort_unstable();
        assert_eq!(order, [3, 11], "{found:?}");
        assert!(found.solver.unwrap().certificate.value() <= 1e-9);
    }
    // One factor that is an eigenvector of the modularity: as an output it gives the same answer.
    let mut stream = Usfs {
        regularization: Regularization::Value(0.2),
        latent: LatentFactors::Links { factors: 1 },
        ..Usfs::default()
    }
    .stream()
    .unwrap();
    feed(&mut stream, &data, |stream, _| {
        // Two features of 60 values and two factors' worth of numbers, and the pairs.
        let held = stream.held();
        assert!(held.bytes <= 8 * (60 * (held.features + 1) + held.features + 60 * 59 / 2));
    });
    assert_eq!(stream.kept(), [3, 11]);
}

/// No subgradient of the objective, from its definition, is larger than rounding.
#[test]
fn the_model_is_optimal_over_those_held() {
    let n = 60;
    let data = communities(12);
    let p: Vec<f64> = (0..n).map(|i| if i < 25 { -1.2 } else { 0.8 } + 0.01 * (i % 7) as f64).collect();
    let data = data.with_target(Target::real(p.clone()).unwrap()).unwrap();
    let (lambda, ridge, graph) = (0.2, 3.0, 0.4);
    let options = Usfs {
        regularization: Regularization::Value(lambda),
        latent: LatentFactors::Target,
        ridge,
        graph,
        tolerance: 1e-13,
    };
    let mut stream = options.stream().unwrap();
    feed(&mut stream, &data, |_, _| {});
    // The last feature was admitted and none has left, so that the last L is of those held.
    assert_eq!((stream.kept(), stream.last().unwrap().outcome), (vec![3, 11], Outcome::Admitted));
    let found = stream.selection(Budget::Auto).unwrap();
    let x: Vec<Vec<f64>> = found
        .order
        .iter()
        .map(|&j| {
            let mut column = data.x().column(j, &mut Vec::new()).unwrap().to_vec(n);
            assert!(fewest_columns::standardise(&mut column));
            column
        })
        .collect();
    // Both follow the factor, so that both weights are above 0.
    let fitted: Vec<f64> = (0..n).map(|i| x.iter().zip(&found.scores).map(|(x, w)| w * x[i]).sum()).collect();
    let alike = |i: usize, k: usize| (-x.iter().map(|x| (x[i] - x[k]).powi(2)).sum::<f64>() / 4.0).exp();
    let pulled = |i: usize| (0..n).map(|k| alike(i, k) * (fitted[i] - fitted[k])).sum::<f64>();
    for (x, w) in x.iter().zip(&found.scores) {
        let loss: f64 = (0..n).map(|i| x[i] * (fitted[i] - p[i] + graph * pulled(i))).sum();
        assert!(((loss + ridge * w) / n as f64 + lambda).abs() < 1e-6, "{loss} {w}");
    }
    assert!(found.solver.unwrap().certificate.value() <= 1e-13);
}

#[test]
fn usfs_conforms() {
    let method = METHODS.iter().find(|method| method.id == "usfs").unwrap();
    for parameters in [&[][..], &["lambda_ratio=0.2", "factors=2"], &["lambda=0.2", "graph=0", "factors=1"]] {
        let parameters = Parameters::parse(method, parameters).unwrap();
        let selector = method.build(&parameters).unwrap().into_selector();
        check_by_place(&*selector, &linked_problem(true).with_target(Target::None).unwrap(), 3);
    }
}

#[test]
fn what_has_no_factors_is_an_error() {
    let context = Context::default();
    let data = communities(5);
    let without =
        Dataset::new(DenseColumns::from_columns(&[vec![1.0, 2.0, 4.0]]).unwrap(), Target::None).unwrap();
    let lone = without.clone().with_sample_graph(Graph::undirected(3, &[]).unwrap()).unwrap();
    for data in [without, lone] {
        let found = Usfs::default().select(&data, Budget::Count(1), &context);
        assert!(
            matches!(&found, Err(Error::Unsupported { what, .. }) if what.contains("links")),
            "{found:?}"
        );
    }
    let outputs = Usfs { latent: LatentFactors::Target, ..Usfs::default() };
    let found = outputs.select(&data, Budget::Count(1), &context);
    assert!(matches!(found, Err(Error::UnsupportedTarget { .. })), "{found:?}");
    assert!(Usfs::default().stream().is_err(), "the penalty of a stream is a number");
    // Hostile arrivals change nothing.
    let mut stream = Usfs { regularization: Regularization::Value(0.1), ..Usfs::default() }.stream().unwrap();
    stream.update(&data.feature_subset(&[3]).unwrap(), &context).unwrap();
    let before = format!("{:?}", stream.selection(Budget::Auto).unwrap());
    let good = data.feature_subset(&[4]).unwrap();
    for hostile in [
        data.feature_subset(&[3]).unwrap(),
        good.subset(&(0..59).collect::<Vec<usize>>()).unwrap(),
        good.clone().with_sample_weights(vec![1.0; 60]).unwrap(),
        good.clone().with_target(Target::real((0..60).map(f64::from).collect()).unwrap()).unwrap(),
        good.clone()
            .with_x(fewest_core::OnDemand::new(60, 1, |_, out: &mut [f64]| {
                out.fill(f64::NAN);
                Ok(())
            }))
            .unwrap(),
    ] {
        assert!(stream.update(&hostile, &context).is_err());
        assert_eq!(format!("{:?}", stream.selection(Budget::Auto).unwrap()), before);
    }
    stream.update(&good, &context).unwrap();
}
