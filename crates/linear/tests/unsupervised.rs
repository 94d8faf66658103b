//! Methods without a target: their objectives from the definition, laws, errors that other packages made, and
//! hostile input.

use crate::common::{self, noise, standardised, weights};
use fewest_core::method::{KernelWidth, Regularization};
use fewest_core::{
    Budget, Certificate, Context, Dataset, DenseColumns, Error, FeatureKind, Selection, Selector, Status,
    Target,
};
use fewest_linear::{Clusters, Jelsr, Mcfs, Ndfs, Neighbourhoods, Udfs};
use fewest_neighbours::{EdgeWeights, GraphOptions};
use fewest_testkit::conformance::{check_selector, problem};

type Tested = Result<(), Error>;

const N: usize = 45;

/// Three groups of samples: features 0 and 1 tell them apart, feature 4 tells one from the others, feature 5
/// is constant.
fn table() -> Vec<Vec<f64>> {
    let group = |i: usize| i % 3;
    let of = |centres: [f64; 3], seed: u64| -> Vec<f64> {
        noise(N, seed).iter().enumerate().map(|(i, e)| 1.2 * centres[group(i)] + e).collect()
    };
    vec![
        of([0.0, 1.0, 2.0], 1),
        of([2.0, 0.0, 1.0], 2),
        noise(N, 3),
        noise(N, 4),
        of([0.0, 0.0, 1.0], 5),
        vec![7.0; N],
    ]
}

fn data_of(columns: &[Vec<f64>]) -> Result<Dataset, Error> {
    Dataset::new(DenseColumns::from_columns(columns)?, Target::None)
}

fn clusters(c: usize) -> Clusters {
    Clusters { clusters: Some(c), ..Clusters::default() }
}

fn neighbourhoods(c: usize) -> Neighbourhoods {
    Neighbourhoods { clusters: Some(c), ..Neighbourhoods::default() }
}

/// Every method, to high accuracy.
fn selectors() -> common::Selectors {
    let tolerance = 1e-7;
    let mcfs = Mcfs { regularization: Regularization::Ratio(0.1), clusters: clusters(2), ..Mcfs::default() };
    vec![
        ("mcfs", Box::new(mcfs)),
        ("udfs", Box::new(Udfs { neighbourhoods: neighbourhoods(2), tolerance, ..Udfs::default() })),
        ("ndfs", Box::new(Ndfs { clusters: clusters(3), tolerance, ..Ndfs::default() })),
        ("jelsr", Box::new(Jelsr { neighbourhoods: neighbourhoods(3), tolerance, ..Jelsr::default() })),
    ]
}

fn all(selector: &dyn Selector, data: &Dataset) -> Result<Selection, Error> {
    selector.select(data, Budget::Count(data.n_features()), &Context::default())
}

fn close(a: &[f64], b: &[f64], tolerance: f64) -> bool {
    let largest = a.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
    a.iter().zip(b).all(|(a, b)| (a - b).abs() <= tolerance * largest)
}

#[test]
fn every_method_keeps_the_laws_of_selectors() {
    let tolerance = 1e-11;
    let methods: common::Selectors = vec![
        ("mcfs", Box::new(Mcfs { clusters: clusters(2), ..Mcfs::default() })),
        ("udfs", Box::new(Udfs { neighbourhoods: neighbourhoods(2), tolerance, ..Udfs::default() })),
        ("ndfs", Box::new(Ndfs { clusters: clusters(2), gamma: 10.0, tolerance, ..Ndfs::default() })),
        ("jelsr", Box::new(Jelsr { neighbourhoods: neighbourhoods(2), tolerance, ..Jelsr::default() })),
    ];
    for (name, selector) in methods {
        println!("{name}");
        check_selector(&*selector, &problem(true), 3);
    }
}

/// The features of the groups come first, the constant one is never there.
#[test]
fn features_of_the_groups_are_found() -> Tested {
    let data = data_of(&table())?;
    for (name, selector) in selectors() {
        let found = all(&*selector, &data)?;
        // The embedding of `jelsr` follows what is flat, not groups.
        let are_found = name == "jelsr"
            || found.order.len() > 1 && found.order[..2].iter().all(|j| [0, 1, 4].contains(j));
        assert!(are_found, "{name}: {:?} {:?}", found.order, found.scores);
        assert!(!found.order.contains(&5), "{name}");
        assert!(found.scores.iter().all(|score| *score >= 0.0), "{name}");
        assert_eq!(found.status, Status::Converged, "{name}");
    }
    Ok(())
}

/// Samples in another order, features with the other sign or in other units: the same scores. A copy of a
/// feature has its score.
#[test]
fn scores_follow_the_features() -> Tested {
    let table = table();
    let step = 7;
    let reordered: Vec<Vec<f64>> =
        table.iter().map(|column| (0..N).map(|i| column[i * step % N]).collect()).collect();
    let scale = |j: usize| if j.is_multiple_of(2) { -3.0 } else { 0.01 };
    let scaled: Vec<Vec<f64>> = table
        .iter()
        .enumerate()
        .map(|(j, column)| column.iter().map(|x| scale(j) * x + 5.0).collect())
        .collect();
    let doubled: Vec<Vec<f64>> = table.iter().chain([&table[4]]).cloned().collect();
    for (name, selector) in selectors() {
        let scores = weights(&all(&*selector, &data_of(&table)?)?);
        for other in [&reordered, &scaled] {
            let found = weights(&all(&*selector, &data_of(other)?)?);
            assert!(close(&scores, &found, 2e-4), "{name}: {scores:?} {found:?}");
        }
        // With two copies there is more than one optimum of a convex penalty, but one of the smoothed.
        if ["udfs", "jelsr"].contains(&name) {
            let found = weights(&all(&*selector, &data_of(&doubled)?)?);
            assert!((found[4] - found[6]).abs() < 1e-4 * found[0], "{name}: {found:?}");
        }
    }
    Ok(())
}

/// The same bits for any number of threads.
#[test]
fn threads_change_nothing() -> Tested {
    let data = data_of(&table())?;
    for (name, selector) in selectors() {
        let run = |threads: usize| match rayon::ThreadPoolBuilder::new().num_threads(threads).build() {
            Ok(pool) => pool.install(|| all(&*selector, &data)),
            Err(error) => panic!("{error}"),
        };
        let one = run(1)?;
        for threads in [2, 7] {
            assert_eq!(run(threads)?, one, "{name}");
        }
    }
    Ok(())
}

/// Pitfall 17: with signed weights a feature whose coefficients are all negative would rank last.
#[test]
fn pitfall_17_negative_weights_count_as_much() -> Tested {
    let mut flipped = table();
    flipped[0].iter_mut().for_each(|value| *value = -*value);
    let mcfs = Mcfs { clusters: clusters(2), regularization: Regularization::Ratio(0.1), ..Mcfs::default() };
    let scores = weights(&all(&mcfs, &data_of(&table())?)?);
    let found = weights(&all(&mcfs, &data_of(&flipped)?)?);
    assert!(scores[0] > 0.0 && close(&scores, &found, 1e-9), "{scores:?} {found:?}");
    Ok(())
}

/// Pitfall 7: the graph leaves the table as it is, and as many neighbours as there are others are no error.
#[test]
fn pitfall_7_the_graph_changes_nothing_and_takes_any_number_of_neighbours() -> Tested {
    let columns = table();
    let data = data_of(&columns)?;
    for weights in [EdgeWeights::Cosine, EdgeWeights::Binary, EdgeWeights::default()] {
        let graph = GraphOptions { neighbours: 200, weights };
        let clusters = Clusters { graph, clusters: Some(2) };
        let few = Mcfs { clusters, ..Mcfs::default() }.select(&data, Budget::Count(2), &Context::default());
        assert!(few.is_ok_and(|found| found.order.len() == 2), "{weights:?}");
        let many = Ndfs { clusters, ..Ndfs::default() }.select(&data, Budget::Count(2), &Context::default());
        assert!(many.is_ok(), "{weights:?}: {many:?}");
    }
    let mut column = vec![0.0; N];
    for (j, values) in columns.iter().enumerate() {
        data.x().copy_column(j, &mut column)?;
        assert_eq!(&column, values);
    }
    Ok(())
}

/// Pitfall 18: with the normalised Laplacian, indicators of the parts of a graph, times the roots of the
/// degrees, have no trace; and the W step is the optimum by the gap.
#[test]
fn pitfall_18_the_laplacian_is_normalised() -> Tested {
    // Two groups far apart: no edge joins them.
    let columns: Vec<Vec<f64>> = (0..3)
        .map(|j| noise(20, j).iter().enumerate().map(|(i, e)| e + if i < 10 { 0.0 } else { 99.0 }).collect())
        .collect();
    let data = data_of(&columns)?;
    let graph = GraphOptions { neighbours: 3, ..GraphOptions::default() };
    let degrees = graph.build(&data, &Context::default())?.degrees().to_vec();
    let of = |part: std::ops::Range<usize>| -> Vec<f64> {
        let total: f64 = degrees[part.clone()].iter().sum();
        (0..20).map(|i| if part.contains(&i) { (degrees[i] / total).sqrt() } else { 0.0 }).collect()
    };
    let ndfs = Ndfs { clusters: Clusters { graph, clusters: Some(2) }, tolerance: 1e-12, ..Ndfs::default() };
    let step = ndfs.regression(&data, &[of(0..10), of(10..20)], &Context::default())?;
    assert!(step.graph.abs() < 1e-12, "{step:?}");
    assert!(step.gap < 1e-11 && step.fit > 0.0 && step.fit < 2.0, "{step:?}");
    assert!(ndfs.regression(&data, &[vec![1.0; 3]], &Context::default()).is_err());
    Ok(())
}

/// Pitfall 19, and the scatter by its definition: with as many clusters as features `Wᵀ W = I` leaves no
/// choice of the row norms, and the objective is `tr M + α d`. The ridge is a parameter of its own.
#[test]
fn pitfall_19_ridge_and_penalty_are_two_parameters() -> Tested {
    let columns = table();
    let data = data_of(&columns[..5])?;
    let x: Vec<Vec<f64>> = columns[..5].iter().map(|column| standardised(column)).collect();
    for (ridge, alpha_ratio) in [(1.0, 0.1), (30.0, 0.1), (30.0, 2.0)] {
        let udfs = Udfs {
            neighbourhoods: neighbourhoods(5),
            ridge,
            alpha_ratio,
            smoothing: 1e-12,
            ..Udfs::default()
        };
        let found = all(&udfs, &data)?;
        let trace = trace_of_scatter(&x, 5, ridge);
        let report = found.solver.as_ref().map(|report| (report.objective, report.certificate));
        let Some((objective, Certificate::Stationarity { relative })) = report else { panic!("{report:?}") };
        assert!((objective / (trace * (1.0 + alpha_ratio)) - 1.0).abs() < 1e-9, "{objective} {trace}");
        assert!(relative < 1e-6 && found.scores.iter().all(|score| (score - 1.0).abs() < 1e-9));
        let Some(summary) = found.descent else { panic!("no summary") };
        assert!(summary.lower_bound.is_some_and(|bound| bound <= objective * (1.0 + 1e-9)));
    }
    Ok(())
}

/// `tr M`: by trace, `Σᵢ tr(Xᵢᵀ H (H XᵢXᵢᵀ H + λ I)⁻¹ H Xᵢ)`, which is `Σᵢ Σ σ / (σ + λ)` over the
/// eigenvalues `σ` of `H XᵢXᵢᵀ H`.
fn trace_of_scatter(x: &[Vec<f64>], k: usize, ridge: f64) -> f64 {
    let n = x[0].len();
    let distance = |a: usize, b: usize| x.iter().map(|column| (column[a] - column[b]).powi(2)).sum::<f64>();
    let mut total = 0.0;
    for i in 0..n {
        let mut others: Vec<usize> = (0..n).filter(|j| *j != i).collect();
        others.sort_by(|&a, &b| distance(i, a).total_cmp(&distance(i, b)));
        let members: Vec<usize> = [i].into_iter().chain(others.into_iter().take(k)).collect();
        let centred: Vec<Vec<f64>> = x
            .iter()
            .map(|column| {
                let mean = members.iter().map(|&a| column[a]).sum::<f64>() / members.len() as f64;
                members.iter().map(|&a| column[a] - mean).collect()
            })
            .collect();
        let products = nalgebra::DMatrix::from_fn(members.len(), members.len(), |a, b| {
            centred.iter().map(|column| column[a] * column[b]).sum::<f64>()
        });
        total += products.symmetric_eigenvalues().iter().map(|value| value / (value + ridge)).sum::<f64>();
    }
    total
}

/// With one cluster and neighbours whose weights add up to 1, the constant embedding costs nothing in `L`, no
/// centred feature predicts it, and under a large penalty the objective is `β (1 + α d √ε)`.
#[test]
fn the_constant_embedding_is_that_of_one_cluster() -> Tested {
    let data = data_of(&table()[..5])?;
    let jelsr =
        Jelsr { neighbourhoods: neighbourhoods(1), alpha: 1e6, beta: 1e-3, smoothing: 1e-8, tolerance: 1e-6 };
    let found = all(&jelsr, &data)?;
    let objective = found.solver.map_or(f64::NAN, |report| report.objective);
    assert!((objective / (1e-3 * (1.0 + 1e6 * 5.0 * 1e-4)) - 1.0).abs() < 1e-6, "{objective}");
    Ok(())
}

/// The objective never rises: with a looser tolerance a run is the beginning of another, and ends higher.
#[test]
fn objectives_fall() -> Tested {
    let data = data_of(&table()[..5])?;
    for tolerance in [1e-1, 1e-3, 1e-5] {
        let runs = |tolerance: f64| -> Vec<(&'static str, Box<dyn Selector>)> {
            vec![
                ("udfs", Box::new(Udfs { neighbourhoods: neighbourhoods(2), tolerance, ..Udfs::default() })),
                ("ndfs", Box::new(Ndfs { clusters: clusters(3), tolerance, ..Ndfs::default() })),
                (
                    "jelsr",
                    Box::new(Jelsr { neighbourhoods: neighbourhoods(3), tolerance, ..Jelsr::default() }),
                ),
            ]
        };
        for ((name, loose), (_, tight)) in runs(tolerance).into_iter().zip(runs(0.01 * tolerance)) {
            let (loose, tight) = (all(&*loose, &data)?, all(&*tight, &data)?);
            let (Some(loose), Some(tight)) = (loose.descent, tight.descent) else { panic!("{name}") };
            assert!(loose.last_objective <= loose.first_objective, "{name}: {loose:?}");
            assert!(
                tight.last_objective <= loose.last_objective * (1.0 + 1e-12),
                "{name}: {loose:?} {tight:?}"
            );
            let same = (loose.first_objective / tight.first_objective - 1.0).abs() < 1e-6;
            assert!(same, "{name}: {loose:?} {tight:?}");
        }
    }
    Ok(())
}

/// More features than samples, by matrices of a row for each sample: as few neighbours and clusters as that
/// allows, and the same answer as by the features themselves, which are as many when a sample is repeated.
#[test]
fn more_features_than_samples() -> Tested {
    let wide: Vec<Vec<f64>> = (0..150)
        .map(|j| {
            let e = noise(30, j);
            (0..30).map(|i| e[i] + if j < 5 { 3.0 * f64::from(u8::from(i % 2 == 0)) } else { 0.0 }).collect()
        })
        .collect();
    let data = data_of(&wide)?;
    for (name, selector) in selectors() {
        let found = selector.select(&data, Budget::Count(10), &Context::default())?;
        assert!(!found.order.is_empty() && found.scores.iter().all(|score| score.is_finite()), "{name}");
        let at_most = if name == "mcfs" { 1e-8 } else { 1e-5 };
        let certificate = found.solver.map_or(f64::NAN, |report| report.certificate.value());
        assert!(certificate <= at_most, "{name}: {certificate} {:?}", found.status);
    }
    Ok(())
}

/// Where half of the features are zero but for a few samples, steps go on for long along directions with a
/// product near zero: what `M` makes of them must not come from the steps before, or its rounding errors
/// grow until the objective is far below zero.
#[test]
fn no_objective_is_below_its_bound() -> Tested {
    let (n, p) = (40, 300);
    let rare = |column: Vec<f64>| column.iter().map(|e| f64::from(u8::from(*e > 0.45))).collect();
    for seed in 2..5 {
        let columns: Vec<Vec<f64>> = (0..p)
            .map(|j| (j, noise(n, 1000 * seed + j)))
            .map(|(j, e)| if j % 2 == 0 { rare(e) } else { e })
            .collect();
        let data = data_of(&columns)?;
        let udfs = Udfs { neighbourhoods: neighbourhoods(4), ..Udfs::default() };
        let found = all(&udfs, &data)?;
        let Some(descent) = found.descent else { panic!("{:?}", found.status) };
        let certificate = found.solver.map_or(f64::NAN, |report| report.certificate.value());
        assert!(certificate <= 1e-4, "{certificate} {descent:?}");
        assert!(Some(descent.last_objective) >= descent.lower_bound, "{descent:?}");
    }
    Ok(())
}

/// The number of clusters is found where it is not given, and told.
#[test]
fn clusters_are_counted() -> Tested {
    let apart = |i: usize, e: f64| 20.0 * (i % 3) as f64 + e;
    let of = |seed: u64| noise(N, seed).iter().enumerate().map(|(i, e)| apart(i, *e)).collect();
    let columns: Vec<Vec<f64>> = (0..4).map(of).collect();
    let data = data_of(&columns)?;
    let found = Mcfs::default().select(&data, Budget::Count(2), &Context::default())?;
    assert!(found.notes.iter().any(|note| note.contains("it is 3,")), "{:?}", found.notes);
    Ok(())
}

/// A category enters by its levels, and has one score.
#[test]
fn categories_have_one_score() -> Tested {
    let mut columns = table();
    columns[2] = (0..N).map(|i| (i % 3) as f64).collect();
    let category = FeatureKind::Categorical { levels: vec!["a".into(), "b".into(), "c".into()] };
    let kinds = (0..6).map(|j| if j == 2 { category.clone() } else { FeatureKind::Numeric }).collect();
    let data = data_of(&columns)?.with_feature_kinds(kinds)?;
    for (name, selector) in selectors() {
        let found = all(&*selector, &data)?;
        assert_eq!(found.order.iter().filter(|j| **j == 2).count(), 1, "{name}: {:?}", found.order);
    }
    Ok(())
}

#[test]
fn strange_tables_are_answered_or_refused() -> Tested {
    let constant = data_of(&vec![vec![3.0; 8]; 3])?;
    let huge = data_of(&(0..3).map(|j| noise(8, j).iter().map(|x| x * 1e300).collect()).collect::<Vec<_>>())?;
    let single = data_of(&[vec![1.0]])?;
    let undefined = data_of(&[vec![1.0, f64::NAN, 2.0, 5.0]])?;
    let weighted = data_of(&table())?.with_sample_weights(vec![1.0; N])?;
    let methods: common::Selectors = vec![
        ("mcfs", Box::new(Mcfs::default())),
        ("udfs", Box::new(Udfs::default())),
        ("ndfs", Box::new(Ndfs { alpha: 0.01, ..Ndfs::default() })),
        ("jelsr", Box::new(Jelsr::default())),
    ];
    let context = Context::default();
    for (name, selector) in methods {
        let none = selector.select(&constant, Budget::Count(2), &context)?;
        assert!(
            none.order.is_empty() && none.notes.iter().any(|note| note.contains("0 of 2")),
            "{name}: {none:?}"
        );
        let answered = selector.select(&huge, Budget::Count(2), &context)?;
        assert!(
            !answered.order.is_empty() && answered.scores.iter().all(|score| score.is_finite()),
            "{name}"
        );
        for refused in [&single, &undefined, &weighted] {
            let error = selector.select(refused, Budget::Count(1), &context);
            assert!(error.is_err(), "{name}: {error:?}");
        }
        let too_many = selector.select(&huge, Budget::Count(4), &context);
        assert!(matches!(too_many, Err(Error::InvalidParameter { name: "k", .. })), "{name}");
    }
    let far: Vec<f64> = (0..10).map(|i| if i == 9 { 1e9 } else { f64::from(i) }).collect();
    let graph = GraphOptions { neighbours: 2, weights: EdgeWeights::Heat { t: KernelWidth::Value(1e-9) } };
    let alone = Mcfs { clusters: Clusters { graph, clusters: Some(1) }, ..Mcfs::default() };
    let error = alone.select(&data_of(&[far])?, Budget::Count(1), &context);
    assert!(matches!(&error, Err(Error::Numerical { hint, .. }) if hint.contains("weight 0")), "{error:?}");
    for c in [0, 8, 9] {
        let selector = Mcfs { clusters: clusters(c), ..Mcfs::default() };
        let error = selector.select(&huge, Budget::Count(1), &context);
        assert!(matches!(error, Err(Error::InvalidParameter { name: "clusters", .. })), "{c}: {error:?}");
    }
    let udfs = Udfs { neighbourhoods: neighbourhoods(4), ..Udfs::default() };
    let error = udfs.select(&huge, Budget::Count(1), &context);
    assert!(matches!(error, Err(Error::InvalidParameter { name: "clusters", .. })), "{error:?}");
    Ok(())
}
