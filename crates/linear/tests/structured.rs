//! Penalties on groups, trees and graphs: optimality from the definition, laws, hostile input.

use crate::common::{self, noise, standardised, weights};
use fewest_core::method::Regularization;
use fewest_core::{
    Budget, Context, Dataset, DenseColumns, Error, FeatureKind, Graph, Groups, Selection, Selector, Target,
};
use fewest_linear::{
    FeatureGraph, Fitting, FusedLasso, GfLasso, Goscar, GraphLasso, GroupLasso, Grouping, Hierarchy, Lasso,
    LinearLoss, NonconvexGrouping, NonconvexLasso, OnGraph, Oscar, Overlap, OverlappingGroupLasso, Slope,
    SlopeWeights, SparseGroupLasso, TreeLasso,
};
use fewest_testkit::conformance::{check_by_place, problem};

type Tested = Result<(), Error>;

const D: usize = 12;
const N: usize = 50;

/// Strong and weak correlations of both signs between neighbours.
fn table() -> Vec<Vec<f64>> {
    let own: Vec<Vec<f64>> = (0..D as u64).map(|j| noise(N, j)).collect();
    let mix = |j: usize| {
        let (before, sign) = (&own[j / 3 * 3], if j % 3 == 1 { -1.0 } else { 1.0 });
        own[j].iter().zip(before).map(|(a, b)| a + 1.5 * sign * b).collect()
    };
    (0..D).map(mix).collect()
}

fn target() -> Vec<f64> {
    let x = table();
    (0..N)
        .map(|i| 2.0 * x[0][i] - x[1][i] + 0.7 * x[6][i] + 0.4 * x[7][i])
        .zip(noise(N, 99))
        .map(|(y, e)| y + e)
        .collect()
}

fn data_of(columns: &[Vec<f64>]) -> Result<Dataset, Error> {
    Dataset::new(DenseColumns::from_columns(columns)?, Target::real(target())?)
}

fn data() -> Result<Dataset, Error> {
    data_of(&table())
}

fn triples() -> Groups {
    Groups::partition((0..D).map(|j| j / 3).collect())
}

fn fitting(ratio: f64) -> Fitting {
    Fitting { regularization: Regularization::Ratio(ratio), tolerance: 1e-12, ..Fitting::default() }
}

fn at(lambda: f64) -> Fitting {
    Fitting { regularization: Regularization::Value(lambda), tolerance: 1e-12, ..Fitting::default() }
}

fn graph(graph: FeatureGraph, fitting: Fitting) -> OnGraph {
    OnGraph { graph, fitting, ..OnGraph::default() }
}

fn run(selector: &dyn Selector, data: &Dataset) -> Result<Selection, Error> {
    selector.select(data, Budget::Auto, &Context::default())
}

/// All weights, and the penalty they are for.
fn fitted(selector: &dyn Selector, data: &Dataset) -> Result<(Vec<f64>, f64), Error> {
    let selection = run(selector, data)?;
    let report = selection.solver.clone().ok_or(Error::TooFew { what: "reports", minimum: 1, found: 0 })?;
    assert!(report.certificate.value() <= 1e-11, "{report:?}");
    Ok((weights(&selection), report.lambda))
}

fn assert_near(a: &[f64], b: &[f64], tolerance: f64) {
    for (j, (x, y)) in a.iter().zip(b).enumerate() {
        assert!((x - y).abs() <= tolerance, "feature {j}: {x} and {y}");
    }
}

fn all() -> common::Selectors {
    vec![
        ("group-lasso", Box::new(GroupLasso::default())),
        ("sparse-group-lasso", Box::new(SparseGroupLasso::default())),
        ("tree-lasso", Box::new(TreeLasso::default())),
        ("graph-lasso", Box::new(GraphLasso::default())),
        ("gflasso", Box::new(GfLasso::default())),
        ("gflasso", Box::new(GfLasso { power: 2, ..GfLasso::default() })),
        ("oscar", Box::new(Oscar::default())),
        ("goscar", Box::new(Goscar::default())),
        ("fused-lasso", Box::new(FusedLasso::default())),
        ("slope", Box::new(Slope::default())),
        ("overlapping-group-lasso", Box::new(OverlappingGroupLasso::default())),
        ("overlapping-group-lasso", Box::new(latent())),
        ("nonconvex-lasso", Box::new(NonconvexLasso::default())),
        ("nonconvex-grouping", Box::new(NonconvexGrouping::default())),
    ]
}

fn latent() -> OverlappingGroupLasso {
    OverlappingGroupLasso { overlap: Overlap::Latent, ..OverlappingGroupLasso::default() }
}

/// Weights of ranks, of which some are equal.
fn falling() -> Vec<f64> {
    (0..D).map(|k| 1.0 + 0.4 * (D - k).div_euclid(2) as f64).collect()
}

/// The methods at a penalty of `ratio` with their penalties at strength 1, from the definition.
#[expect(clippy::type_complexity, reason = "a table of a test")]
fn with_penalties(
    loss: LinearLoss,
    ratio: f64,
) -> Vec<(&'static str, Box<dyn Selector>, Box<dyn Fn(&[f64]) -> f64>)> {
    let fitting = || Fitting { loss, ..fitting(ratio) };
    let by_correlation = FeatureGraph::Correlation { threshold: 0.4 };
    let norm1 = |w: &[f64]| w.iter().map(|w| w.abs()).sum::<f64>();
    let groups =
        |w: &[f64]| w.chunks(3).map(|g| (3.0 * g.iter().map(|w| w * w).sum::<f64>()).sqrt()).sum::<f64>();
    let edges = {
        let x: Vec<Vec<f64>> = table().iter().map(|x| standardised(x)).collect();
        let r = move |i: usize, j: usize| x[i].iter().zip(&x[j]).map(|(a, b)| a * b).sum::<f64>() / N as f64;
        let pairs = (0..D).flat_map(|i| (i + 1..D).map(move |j| (i, j)));
        let edges: Vec<(usize, usize, f64)> = pairs
            .map(|(i, j)| (i, j, r(i, j)))
            .filter(|(_, _, r)| r.abs() > 0.4)
            .map(|(i, j, r)| (i, j, r.signum()))
            .collect();
        assert!(edges.len() > 5 && edges.iter().any(|edge| edge.2 < 0.0));
        edges
    };
    let over = |edges: &[(usize, usize, f64)], value: &dyn Fn(f64, f64, f64) -> f64, w: &[f64]| -> f64 {
        edges.iter().map(|&(i, j, sign)| value(w[i], w[j], sign)).sum()
    };
    let [e1, e2, e3, e4] = [edges.clone(), edges.clone(), edges.clone(), edges];
    vec![
        (
            "group-lasso",
            Box::new(GroupLasso { fitting: fitting(), ..GroupLasso::default() }),
            Box::new(groups),
        ),
        (
            "sparse-group-lasso",
            Box::new(SparseGroupLasso {
                l1_ratio: 0.3,
                group_lasso: GroupLasso { fitting: fitting(), ..GroupLasso::default() },
            }),
            Box::new(move |w| 0.3 * norm1(w) + 0.7 * groups(w)),
        ),
        (
            "tree-lasso",
            Box::new(TreeLasso { fitting: fitting(), ..TreeLasso::default() }),
            Box::new(move |w| norm1(w) + groups(w)),
        ),
        (
            "fused-lasso",
            Box::new(FusedLasso { fitting: fitting(), ..FusedLasso::default() }),
            Box::new(move |w| 0.5 * norm1(w) + 0.5 * w.windows(2).map(|p| (p[0] - p[1]).abs()).sum::<f64>()),
        ),
        (
            "graph-lasso",
            Box::new(GraphLasso { on_graph: graph(by_correlation, fitting()) }),
            Box::new(move |w| 0.5 * norm1(w) + 0.5 * over(&e1, &|a, b, _| (a - b).powi(2), w)),
        ),
        (
            "gflasso",
            Box::new(GfLasso { power: 1, on_graph: graph(by_correlation, fitting()) }),
            Box::new(move |w| 0.5 * norm1(w) + 0.5 * over(&e2, &|a, b, sign| (a - sign * b).abs(), w)),
        ),
        (
            "gflasso power=2",
            Box::new(GfLasso { power: 2, on_graph: graph(by_correlation, fitting()) }),
            Box::new(move |w| 0.5 * norm1(w) + 0.5 * over(&e3, &|a, b, sign| (a - sign * b).powi(2), w)),
        ),
        (
            "goscar",
            Box::new(Goscar { on_graph: graph(by_correlation, fitting()) }),
            Box::new(move |w| 0.5 * norm1(w) + 0.5 * over(&e4, &|a, b, _| a.abs().max(b.abs()), w)),
        ),
        (
            "slope",
            Box::new(Slope { weights: SlopeWeights::Given(falling()), fitting: fitting() }),
            Box::new(|w| {
                let mut sizes: Vec<f64> = w.iter().map(|w| w.abs()).collect();
                sizes.sort_by(|a, b| b.total_cmp(a));
                sizes.iter().zip(falling()).map(|(size, weight)| size * weight).sum()
            }),
        ),
        (
            "oscar",
            Box::new(Oscar { fitting: fitting(), ..Oscar::default() }),
            Box::new(move |w| {
                let pairs = (0..D).flat_map(|i| (0..i).map(move |j| (i, j)));
                0.5 * norm1(w) + 0.5 * pairs.map(|(i, j)| w[i].abs().max(w[j].abs())).sum::<f64>()
            }),
        ),
    ]
}

const LOGISTIC: LinearLoss = LinearLoss::Logistic { intercept: true };

/// The mean of `ln(1 + exp(−y (z + b)))` at the best `b`, where the derivative is zero.
fn logistic(y: &[f64], z: &[f64]) -> f64 {
    let margins = |b: f64| y.iter().zip(z).map(move |(y, z)| y * (z + b));
    let (mut low, mut high) = (-20.0, 20.0);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        let slope: f64 = margins(middle).zip(y).map(|(m, y)| -y / (1.0 + m.exp())).sum();
        if slope < 0.0 { low = middle } else { high = middle }
    }
    margins(low).map(|m| (-m).exp().ln_1p()).sum::<f64>() / y.len() as f64
}

/// No nearby point has a lower objective, the objective is the one that is reported, and at the largest
/// penalty and above, but not below, everything is zero.
#[test]
fn the_answer_is_the_minimum_of_the_formula() -> Tested {
    let x: Vec<Vec<f64>> = table().iter().map(|x| standardised(x)).collect();
    let y = standardised(&target());
    let squares =
        |y: &[f64], z: &[f64]| y.iter().zip(z).map(|(y, z)| (y - z).powi(2)).sum::<f64>() / (2 * N) as f64;
    let labels: Vec<bool> = y.iter().map(|y| *y > 0.3).collect();
    let signs: Vec<f64> = labels.iter().map(|label| if *label { 1.0 } else { -1.0 }).collect();
    let numbers = data()?.with_feature_groups(triples())?;
    let classes = numbers.clone().with_target(Target::from_labels(&labels))?;
    let squared: &dyn Fn(&[f64]) -> f64 = &|z| squares(&y, z);
    let other: &dyn Fn(&[f64]) -> f64 = &|z| logistic(&signs, z);
    for (loss, data, value) in [(LinearLoss::Squared, numbers, squared), (LOGISTIC, classes, other)] {
        for ratio in [0.7, 0.2, 0.03] {
            for (name, selector, penalty) in with_penalties(loss, ratio) {
                let what = format!("{name} {loss:?} {ratio}");
                let selection = run(&*selector, &data)?;
                let report = selection.solver.clone().ok_or(Error::TooFew {
                    what: "reports",
                    minimum: 1,
                    found: 0,
                })?;
                let w = weights(&selection);
                let objective = |w: &[f64]| {
                    let z: Vec<f64> = (0..N).map(|i| (0..D).map(|j| w[j] * x[j][i]).sum()).collect();
                    value(&z) + report.lambda * penalty(w)
                };
                let best = objective(&w);
                assert!((report.objective - best).abs() <= 1e-12, "{what}: {} {best}", report.objective);
                assert!(report.certificate.value().abs() <= 1e-11, "{what}: {report:?}");
                for seed in 0..400 {
                    for length in [1e-1, 1e-3] {
                        let other: Vec<f64> =
                            w.iter().zip(noise(D, 1000 + seed)).map(|(w, e)| w + length * e).collect();
                        let found = objective(&other);
                        assert!(found >= best - 1e-13, "{what}: {found} below {best}");
                    }
                }
            }
        }
        for ratio in [1.0, 0.999] {
            for (name, selector, _) in with_penalties(loss, ratio) {
                let found = run(&*selector, &data)?;
                assert_eq!(found.order.is_empty(), ratio == 1.0, "{name} {loss:?} {ratio}");
            }
        }
    }
    Ok(())
}

#[test]
fn without_a_structure_all_are_the_lasso() -> Tested {
    let data = data()?;
    let none = || OnGraph { graph: FeatureGraph::Given, ..OnGraph::default() };
    for lambda in [0.3, 0.05] {
        let lasso = |lambda| Lasso {
            regularization: Regularization::Value(lambda),
            tolerance: 1e-13,
            ..Lasso::default()
        };
        let (expected, _) = fitted(&lasso(lambda), &data)?;
        let half = 2.0 * lambda;
        let methods: Vec<(&str, Box<dyn Selector>)> = vec![
            ("groups of one", Box::new(GroupLasso { fitting: at(lambda), ..GroupLasso::default() })),
            (
                "sparse groups of one",
                Box::new(SparseGroupLasso {
                    l1_ratio: 0.2,
                    group_lasso: GroupLasso { fitting: at(lambda), ..GroupLasso::default() },
                }),
            ),
            (
                "sparse groups, l1 only",
                Box::new(SparseGroupLasso {
                    l1_ratio: 1.0,
                    group_lasso: GroupLasso {
                        groups: Grouping::Correlation { threshold: 0.3 },
                        fitting: at(lambda),
                    },
                }),
            ),
            ("leaves", Box::new(TreeLasso { fitting: at(lambda), ..TreeLasso::default() })),
            ("no edges", Box::new(GraphLasso { on_graph: OnGraph { fitting: at(half), ..none() } })),
            ("no edges", Box::new(GfLasso { power: 1, on_graph: OnGraph { fitting: at(half), ..none() } })),
            ("no edges", Box::new(Goscar { on_graph: OnGraph { fitting: at(half), ..none() } })),
            ("fused, l1 only", Box::new(FusedLasso { l1_ratio: 1.0, fitting: at(lambda) })),
            ("oscar, l1 only", Box::new(Oscar { l1_ratio: 1.0, fitting: at(lambda) })),
        ];
        for (name, method) in methods {
            println!("{name}");
            assert_near(&fitted(&*method, &data)?.0, &expected, 1e-7);
        }
    }
    Ok(())
}

/// A chain of links is the fused lasso, a tree of depth one the group lasso, all pairs are OSCAR.
#[test]
fn one_structure_is_another() -> Tested {
    let links: Vec<(usize, usize, f64)> = (1..D).map(|j| (j - 1, j, 1.0)).collect();
    // All correlations positive: neighbours share a part.
    let columns: Vec<Vec<f64>> = table()
        .iter()
        .zip(noise(N, 7).chunks(N).cycle())
        .map(|(x, common)| standardised(x).iter().zip(common).map(|(x, c)| 0.3 * x + 4.0 * c).collect())
        .collect();
    let data = data_of(&columns)?.with_feature_graph(Graph::undirected(D, &links)?)?;
    let given = || OnGraph { graph: FeatureGraph::Given, ..OnGraph::default() };
    for ratio in [0.5, 0.05] {
        let (chain, lambda) =
            fitted(&FusedLasso { fitting: fitting(ratio), ..FusedLasso::default() }, &data)?;
        let on_graph = || OnGraph { fitting: at(lambda), ..given() };
        assert_near(&fitted(&GfLasso { power: 1, on_graph: on_graph() }, &data)?.0, &chain, 1e-7);
        let squared = fitted(&GfLasso { power: 2, on_graph: on_graph() }, &data)?.0;
        assert_near(&fitted(&GraphLasso { on_graph: on_graph() }, &data)?.0, &squared, 1e-7);

        let pairs: Vec<(usize, usize, f64)> = (0..D).flat_map(|i| (0..i).map(move |j| (j, i, 1.0))).collect();
        let complete = data.clone().with_feature_graph(Graph::undirected(D, &pairs)?)?;
        let (oscar, lambda) = fitted(&Oscar { fitting: fitting(ratio), ..Oscar::default() }, &data)?;
        let goscar = Goscar { on_graph: OnGraph { fitting: at(lambda), ..given() } };
        assert_near(&fitted(&goscar, &complete)?.0, &oscar, 1e-7);

        let grouped = data.clone().with_feature_groups(triples())?;
        let (groups, lambda) =
            fitted(&GroupLasso { fitting: fitting(ratio), ..GroupLasso::default() }, &grouped)?;
        let tree = TreeLasso { leaves: false, fitting: at(lambda), ..TreeLasso::default() };
        assert_near(&fitted(&tree, &grouped)?.0, &groups, 1e-7);
    }
    Ok(())
}

/// With the other sign of a feature its weight changes sign, and no other weight changes.
#[test]
fn a_feature_may_be_turned_round() -> Tested {
    let mut columns = table();
    for j in [0, 4, 7] {
        columns[j].iter_mut().for_each(|x| *x = -*x);
    }
    let (data, turned) =
        (data()?.with_feature_groups(triples())?, data_of(&columns)?.with_feature_groups(triples())?);
    for (name, selector, _) in with_penalties(LinearLoss::Squared, 0.1) {
        // Neighbours in a chain and the ends of an edge without signs have the same sign.
        if !["fused-lasso", "graph-lasso"].contains(&name) {
            let mut expected = fitted(&*selector, &data)?.0;
            [0, 4, 7].iter().for_each(|&j| expected[j] = -expected[j]);
            assert_near(&fitted(&*selector, &turned)?.0, &expected, 1e-7);
        }
    }
    Ok(())
}

#[test]
fn groups_come_from_names_and_correlations() -> Tested {
    let names: Vec<String> = (0..D).map(|j| format!("{}_{j}", ["a", "b", "c", "d"][j / 3])).collect();
    let data = data()?.with_feature_names(names)?;
    let given = data.clone().with_feature_groups(triples())?;
    let with = |groups| GroupLasso { groups, fitting: fitting(0.2) };
    let expected = run(&with(Grouping::Given), &given)?;
    assert_eq!(run(&with(Grouping::Prefix), &data)?, expected);
    // Features of a triple share a part, and the triples are independent.
    assert_eq!(run(&with(Grouping::Correlation { threshold: 0.5 }), &data)?, expected);
    let tree = |groups| TreeLasso { groups, fitting: fitting(0.2), ..TreeLasso::default() };
    let by_correlation = Hierarchy::Correlation { threshold: 0.5, levels: 1 };
    assert_eq!(run(&tree(by_correlation), &data)?, run(&tree(Hierarchy::Given), &given)?);
    // A parent that is zero leaves nothing in it.
    for levels in [2, 5] {
        let found = weights(&run(&tree(Hierarchy::Correlation { threshold: 0.2, levels }), &data)?);
        assert!(found.iter().any(|w| *w != 0.0) && found.contains(&0.0));
    }
    Ok(())
}

#[test]
fn hostile_structures_are_answered_or_refused() -> Tested {
    let context = Context::default();
    let mut columns = table();
    columns[5].fill(3.0);
    let links: Vec<(usize, usize, f64)> = vec![(0, 5, 1.0), (5, 6, 2.0), (0, 6, 1.0), (10, 11, 0.5)];
    let groups = Groups::overlapping(D, vec![vec![0, 1, 2, 5], vec![0, 1], vec![5], vec![3, 4]])?;
    let data = data_of(&columns)?.with_feature_graph(Graph::undirected(D, &links)?)?;
    let tree = TreeLasso::default().select(
        &data.clone().with_feature_groups(groups)?,
        Budget::Count(6),
        &context,
    )?;
    assert!(!tree.order.contains(&5) && !tree.order.is_empty());
    let given = OnGraph { graph: FeatureGraph::Given, ..OnGraph::default() };
    let on_given: [Box<dyn Selector>; 3] = [
        Box::new(GraphLasso { on_graph: given.clone() }),
        Box::new(GfLasso { power: 1, on_graph: given.clone() }),
        Box::new(Goscar { on_graph: given }),
    ];
    for selector in on_given {
        let found = selector.select(&data, Budget::Count(8), &context)?;
        assert!(!found.order.contains(&5) && found.order.len() == 8, "{:?}", found.order);
    }
    // Neither nested nor apart.
    let crossing = Groups::overlapping(D, vec![vec![0, 1], vec![1, 2]])?;
    let crossing = data.clone().with_feature_groups(crossing)?;
    let refused = TreeLasso::default().select(&crossing, Budget::Count(2), &context);
    assert!(
        matches!(&refused, Err(Error::Unsupported { what, .. }) if what.contains("group 1")),
        "{refused:?}"
    );
    let refused = GroupLasso::default().select(&crossing, Budget::Count(2), &context);
    assert!(matches!(refused, Err(Error::Unsupported { .. })), "{refused:?}");
    // A category of three levels has no place in a graph; in a group it has.
    let mut kinds = vec![FeatureKind::Numeric; D];
    kinds[3] = FeatureKind::Categorical { levels: ["a", "b", "c"].map(str::to_owned).to_vec() };
    columns[3] = noise(N, 77).iter().map(|u| (3.0 * (u + 0.5)).floor()).collect();
    let levels = data_of(&columns)?.with_feature_kinds(kinds)?;
    for (name, selector) in all() {
        let found = selector.select(&levels, Budget::Count(4), &context);
        let on_groups = name.contains("group-") || ["tree-lasso", "oscar", "slope"].contains(&name);
        assert_eq!(found.is_ok(), on_groups || name == "nonconvex-lasso", "{name}: {found:?}");
    }
    Ok(())
}

#[test]
fn hostile_tables_are_answered_or_refused() -> Tested {
    common::hostile_tables_are_answered_or_refused(&all())
}

#[test]
fn a_run_that_is_stopped_at_once_says_so() -> Tested {
    common::a_run_that_is_stopped_at_once_says_so(&all())
}

#[test]
fn every_method_keeps_the_laws_with_classes_too() {
    let mut selectors = all();
    // Its penalty is on the order of the columns.
    selectors.retain(|(name, _)| *name != "fused-lasso");
    common::every_method_keeps_the_laws_with_classes_too(&selectors);
    for classes in [true, false] {
        check_by_place(&FusedLasso::default(), &problem(classes), 3);
    }
}
