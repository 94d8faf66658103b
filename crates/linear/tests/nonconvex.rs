//! Penalties that are not convex: stationarity from the definition, closed forms, minima by search.

use crate::common::{noise, standardised, weights};
use fewest_core::method::Regularization;
use fewest_core::{
    Budget, Certificate, Context, Dataset, DenseColumns, Error, Graph, Selection, Selector, SolverReport,
    Target,
};
use fewest_linear::{
    FeatureGraph, Fitting, FoldedPenalty, GfLasso, Goscar, Lasso, LinearLoss, NonconvexGrouping,
    NonconvexLasso, OnGraph,
};

type Tested = Result<(), Error>;

const N: usize = 40;

const PENALTIES: [FoldedPenalty; 5] = [
    FoldedPenalty::Mcp { gamma: 3.0 },
    FoldedPenalty::Mcp { gamma: 1.2 },
    FoldedPenalty::Scad { a: 3.7 },
    FoldedPenalty::Scad { a: 2.1 },
    FoldedPenalty::Half,
];

/// Standardised features, of which neighbours are correlated, and a standardised target.
fn problem(d: usize, seed: u64) -> (Vec<Vec<f64>>, Vec<f64>) {
    let own: Vec<Vec<f64>> = (0..=d as u64).map(|j| noise(N, 50 * seed + j)).collect();
    let x: Vec<Vec<f64>> = (0..d)
        .map(|j| standardised(&own[j].iter().zip(&own[j + 1]).map(|(a, b)| a + 0.6 * b).collect::<Vec<_>>()))
        .collect();
    let y = (0..N).map(|i| x[0][i] - 0.8 * x[d - 1][i] + 0.3 * own[0][(i + 7) % N] + own[d][(i + 3) % N]);
    let y = standardised(&y.collect::<Vec<f64>>());
    (x, y)
}

fn data((x, y): &(Vec<Vec<f64>>, Vec<f64>)) -> Result<Dataset, Error> {
    Dataset::new(DenseColumns::from_columns(x)?, Target::real(y.clone())?)
}

fn at(lambda: f64) -> Fitting {
    Fitting { regularization: Regularization::Value(lambda), tolerance: 1e-13, ..Fitting::default() }
}

fn fitted(selector: &dyn Selector, data: &Dataset) -> Result<(Vec<f64>, SolverReport), Error> {
    let selection: Selection = selector.select(data, Budget::Auto, &Context::default())?;
    let report = selection.solver.clone().ok_or(Error::Stopped { before: "a report" })?;
    Ok((weights(&selection), report))
}

fn value(penalty: FoldedPenalty, lambda: f64, t: f64) -> f64 {
    match penalty {
        FoldedPenalty::Mcp { gamma } if t <= gamma * lambda => lambda * t - t * t / (2.0 * gamma),
        FoldedPenalty::Mcp { gamma } => 0.5 * gamma * lambda * lambda,
        FoldedPenalty::Scad { .. } if t <= lambda => lambda * t,
        FoldedPenalty::Scad { a } if t <= a * lambda => {
            (2.0 * a * lambda * t - t * t - lambda * lambda) / (2.0 * (a - 1.0))
        }
        FoldedPenalty::Scad { a } => 0.5 * lambda * lambda * (a + 1.0),
        FoldedPenalty::Half => lambda * t.sqrt(),
    }
}

fn squares((x, y): &(Vec<Vec<f64>>, Vec<f64>), w: &[f64]) -> f64 {
    let fit = |i: usize| w.iter().zip(x).map(|(w, x)| w * x[i]).sum::<f64>();
    (0..N).map(|i| (y[i] - fit(i)).powi(2)).sum::<f64>() / (2 * N) as f64
}

fn objective(problem: &(Vec<Vec<f64>>, Vec<f64>), penalty: FoldedPenalty, lambda: f64, w: &[f64]) -> f64 {
    squares(problem, w) + w.iter().map(|w| value(penalty, lambda, w.abs())).sum::<f64>()
}

/// The point of a plane with the least value, by a grid that is made finer around its best point.
fn best_of_plane(value: impl Fn(&[f64]) -> f64) -> f64 {
    let (mut centre, mut half) = ([0.0, 0.0], 2.0);
    let mut best = value(&centre);
    for _ in 0..9 {
        let around = centre;
        for a in -40..=40 {
            for b in -40..=40 {
                // Zeros and equal sizes are on the grid.
                let mut point =
                    [around[0] + half * f64::from(a) / 40.0, around[1] + half * f64::from(b) / 40.0];
                for snapped in
                    [point, [point[0], 0.0], [0.0, point[1]], [point[0], point[0]], [point[0], -point[0]]]
                {
                    point = snapped;
                    let found = value(&point);
                    if found < best {
                        (best, centre) = (found, point);
                    }
                }
            }
        }
        half *= 0.2;
    }
    best
}

#[test]
fn the_answer_is_stationary_and_no_worse_than_the_lasso() -> Tested {
    for seed in 0..4 {
        let problem = problem(8, seed);
        let data = data(&problem)?;
        for penalty in PENALTIES {
            for lambda in [0.5, 0.15, 0.03] {
                let (w, report) = fitted(&NonconvexLasso { penalty, fitting: at(lambda) }, &data)?;
                assert!(matches!(report.certificate, Certificate::Stationarity { .. }), "{report:?}");
                assert!(report.certificate.value() <= 1e-12, "{penalty:?} {lambda}: {report:?}");
                let found = objective(&problem, penalty, lambda, &w);
                assert!((found - report.objective).abs() <= 1e-12, "{found} {report:?}");
                let lasso = Lasso { regularization: Regularization::Value(lambda), ..Lasso::default() };
                let (start, _) = fitted(&lasso, &data)?;
                assert!(found <= objective(&problem, penalty, lambda, &start) + 1e-9, "{penalty:?} {lambda}");
                for j in 0..w.len() {
                    let step = 1e-6;
                    let moved = |by: f64| {
                        let mut other = w.clone();
                        other[j] += by;
                        objective(&problem, penalty, lambda, &other)
                    };
                    if w[j] != 0.0 {
                        let slope = (moved(step) - moved(-step)) / (2.0 * step);
                        assert!(slope.abs() <= 1e-5, "{penalty:?} {lambda} {j}: {slope}");
                    } else {
                        assert!(moved(step).min(moved(-step)) >= found - 1e-12, "{penalty:?} {lambda} {j}");
                    }
                }
            }
        }
    }
    Ok(())
}

/// With one feature the objective is `½ (w − r)² + p(|w|)`, whose minimum is a closed form.
#[test]
fn one_feature_is_thresholded() -> Tested {
    let problem = problem(1, 3);
    let data = data(&problem)?;
    let r = problem.0[0].iter().zip(&problem.1).map(|(x, y)| x * y).sum::<f64>() / N as f64;
    assert!(r.abs() > 0.2);
    for share in [0.2, 0.45, 0.8, 1.1] {
        let lambda = share * r.abs();
        let (w, _) = fitted(&NonconvexLasso { penalty: PENALTIES[0], fitting: at(lambda) }, &data)?;
        let expected = if share >= 1.0 {
            0.0
        } else if r.abs() <= 3.0 * lambda {
            r.signum() * (r.abs() - lambda) / (1.0 - 1.0 / 3.0)
        } else {
            r
        };
        assert!((w[0] - expected).abs() <= 1e-6, "{share}: {w:?} {expected}");
    }
    Ok(())
}

/// Where the objective is convex, and almost always where it is not, the minimum by search is found.
#[test]
fn two_features_end_at_the_minimum() -> Tested {
    let (mut n_found, mut n) = (0, 0);
    for seed in 0..12 {
        let problem = problem(2, seed);
        let data = data(&problem)?;
        for penalty in PENALTIES {
            let lambda = 0.15;
            let (w, _) = fitted(&NonconvexLasso { penalty, fitting: at(lambda) }, &data)?;
            let found = objective(&problem, penalty, lambda, &w);
            let best = best_of_plane(|w| objective(&problem, penalty, lambda, w));
            // The smallest eigenvalue of the correlations is above 1/3.
            assert!(found <= best + 1e-9 || penalty != PENALTIES[0], "{seed}: {found} {best}");
            assert!(found >= best - 1e-6, "{seed} {penalty:?}: {found} {best}");
            n_found += usize::from(found <= best + 1e-9);
            n += 1;
        }
    }
    assert!(10 * n_found >= 9 * n, "{n_found} of {n}");
    Ok(())
}

#[test]
fn bent_hardly_it_is_the_lasso() -> Tested {
    let data = data(&problem(8, 1))?;
    for lambda in [0.4, 0.05] {
        let lasso =
            Lasso { regularization: Regularization::Value(lambda), tolerance: 1e-13, ..Lasso::default() };
        let (expected, _) = fitted(&lasso, &data)?;
        for penalty in [FoldedPenalty::Mcp { gamma: 1e9 }, FoldedPenalty::Scad { a: 1e9 }] {
            let (w, _) = fitted(&NonconvexLasso { penalty, fitting: at(lambda) }, &data)?;
            assert!(w.iter().zip(&expected).all(|(a, b)| (a - b).abs() <= 1e-6), "{w:?} {expected:?}");
        }
        let none = OnGraph { graph: FeatureGraph::Given, l1_ratio: 1.0, fitting: at(lambda) };
        let (w, _) = fitted(&NonconvexGrouping { on_graph: none }, &data)?;
        assert!(w.iter().zip(&expected).all(|(a, b)| (a - b).abs() <= 1e-6), "{w:?} {expected:?}");
    }
    Ok(())
}

#[test]
fn a_penalty_that_would_be_no_penalty_is_refused() -> Tested {
    let data = data(&problem(3, 1))?;
    for (penalty, parameter) in [
        (FoldedPenalty::Mcp { gamma: 1.0 }, "gamma"),
        (FoldedPenalty::Mcp { gamma: f64::NAN }, "gamma"),
        (FoldedPenalty::Scad { a: 2.0 }, "a"),
    ] {
        let refused = fitted(&NonconvexLasso { penalty, fitting: at(0.1) }, &data);
        assert!(
            matches!(refused, Err(Error::InvalidParameter { name, .. }) if name == parameter),
            "{refused:?}"
        );
    }
    Ok(())
}

fn grouping(w: &[f64], edges: &[(usize, usize, f64)]) -> f64 {
    let pairs: f64 = edges.iter().map(|&(a, b, weight)| weight * (w[a].abs() - w[b].abs()).abs()).sum();
    0.5 * w.iter().map(|w| w.abs()).sum::<f64>() + 0.5 * pairs
}

#[test]
fn grouping_is_no_worse_than_its_starts_and_stationary() -> Tested {
    let edges = vec![(0, 1, 1.0), (1, 2, 0.5), (2, 3, 2.0), (0, 3, 1.0), (4, 5, 1.0), (5, 7, 0.3)];
    for seed in 0..4 {
        let problem = problem(8, seed);
        let data = data(&problem)?.with_feature_graph(Graph::undirected(8, &edges)?)?;
        for lambda in [0.4, 0.1, 0.03] {
            let on_graph =
                || OnGraph { graph: FeatureGraph::Given, fitting: at(lambda), ..OnGraph::default() };
            let (w, report) = fitted(&NonconvexGrouping { on_graph: on_graph() }, &data)?;
            let value = |w: &[f64]| squares(&problem, w) + lambda * grouping(w, &edges);
            let found = value(&w);
            assert!(matches!(report.certificate, Certificate::Stationarity { .. }), "{report:?}");
            assert!(report.certificate.value() <= 1e-11, "{seed} {lambda}: {report:?}");
            assert!((found - report.objective).abs() <= 1e-12, "{found} {report:?}");
            let starts: [Box<dyn Selector>; 2] = [
                Box::new(Goscar { on_graph: on_graph() }),
                Box::new(GfLasso { power: 1, on_graph: on_graph() }),
            ];
            for start in starts {
                let (start, _) = fitted(&*start, &data)?;
                assert!(found <= value(&start) + 1e-9, "{seed} {lambda}");
            }
            // No direction leads down at first order.
            for direction in 0..300 {
                let moved: Vec<f64> =
                    w.iter().zip(noise(8, 7000 + direction)).map(|(w, e)| w + 1e-5 * e).collect();
                assert!(value(&moved) >= found - 1e-9, "{seed} {lambda}: {} {found}", value(&moved));
            }
        }
    }
    Ok(())
}

#[test]
fn grouping_of_two_features_ends_at_the_minimum() -> Tested {
    let edges = vec![(0, 1, 1.0)];
    let mut n_found = 0;
    for seed in 0..12 {
        let problem = problem(2, seed);
        let data = data(&problem)?.with_feature_graph(Graph::undirected(2, &edges)?)?;
        let on_graph = OnGraph { graph: FeatureGraph::Given, fitting: at(0.2), ..OnGraph::default() };
        let (w, _) = fitted(&NonconvexGrouping { on_graph }, &data)?;
        let value = |w: &[f64]| squares(&problem, w) + 0.2 * grouping(w, &edges);
        let (found, best) = (value(&w), best_of_plane(value));
        assert!(found >= best - 1e-6, "{seed}: {found} {best}");
        n_found += usize::from(found <= best + 1e-9);
    }
    assert!(n_found >= 11, "{n_found} of 12");
    Ok(())
}

#[test]
fn with_classes_the_end_is_stationary_and_no_worse_than_the_lasso() -> Tested {
    let (x, y) = problem(8, 2);
    let labels: Vec<bool> = y.iter().map(|y| *y > 0.0).collect();
    let data = Dataset::new(DenseColumns::from_columns(&x)?, Target::from_labels(&labels))?;
    let loss = LinearLoss::Logistic { intercept: true };
    for penalty in PENALTIES {
        let fitting = Fitting { loss, regularization: Regularization::Ratio(0.3), ..Fitting::default() };
        let (w, report) = fitted(&NonconvexLasso { penalty, fitting }, &data)?;
        assert!(report.certificate.value() <= 1e-9, "{penalty:?}: {report:?}");
        assert!(w.iter().any(|w| *w != 0.0) && report.name == "newton");
        let lasso = Lasso { loss, regularization: Regularization::Ratio(0.3), ..Lasso::default() };
        let (start, of_lasso) = fitted(&lasso, &data)?;
        let lambda = report.lambda;
        let l1 = lambda * start.iter().map(|w| w.abs()).sum::<f64>();
        let bent: f64 = start.iter().map(|w| value(penalty, lambda, w.abs())).sum();
        assert!(report.objective <= of_lasso.objective - l1 + bent + 1e-9, "{penalty:?}: {report:?}");
    }
    Ok(())
}
