//! Non-monotonic selection against its definitions, an independent solver of support vector machines,
//! exhaustive search and a conic solver.

use crate::common::Sparse;
use crate::conic;
use fewest_core::method::KernelWidth;
use fewest_core::{
    Budget, Certificate, Context, Dataset, DenseColumns, Error, FeatureKind, Groups, Selector, Status,
    Target, derive_seed,
};
use fewest_kernels::{Gaussian, Gram};
use fewest_mkl::{
    FeatureCosts, FeatureKernel, FeatureScaling, Nmmkl, Nmmklr, NonMonotonic, NonMonotonicSolution,
    WeightUnit,
};
use fewest_smo::{Classifier, GramRows, Regressor};
use fewest_solver::Control;

/// Standard normal numbers, nearly.
fn noise(seed: u64, len: usize) -> Vec<f64> {
    let uniform = |i: u64| derive_seed(seed, i) as f64 / u64::MAX as f64 - 0.5;
    (0..len as u64).map(|i| (0..12).map(|k| uniform(12 * i + k)).sum()).collect()
}

fn standardised(values: &[f64]) -> Vec<f64> {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let deviation = (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n).sqrt();
    values.iter().map(|v| (v - mean) / deviation).collect()
}

/// `d` features, of which the first four carry a signal that noise blurs.
fn problem(n: usize, d: usize, seed: u64) -> (Vec<Vec<f64>>, Vec<f64>) {
    let columns: Vec<Vec<f64>> = (0..d).map(|j| standardised(&noise(seed + 1000 * j as u64, n))).collect();
    let blur = noise(seed + 7, n);
    let y: Vec<f64> = (0..n)
        .map(|i| {
            let signal: f64 = columns.iter().take(4).enumerate().map(|(j, x)| x[i] / (1.0 + j as f64)).sum();
            signal + 0.7 * blur[i]
        })
        .collect();
    (columns, standardised(&y))
}

fn classes(columns: &[Vec<f64>], y: &[f64]) -> Dataset {
    let labels: Vec<bool> = y.iter().map(|y| *y > 0.0).collect();
    Dataset::new(DenseColumns::from_columns(columns).unwrap(), Target::from_labels(&labels)).unwrap()
}

fn real(columns: &[Vec<f64>], y: &[f64]) -> Dataset {
    Dataset::new(DenseColumns::from_columns(columns).unwrap(), Target::real(y.to_vec()).unwrap()).unwrap()
}

fn gram(columns: &[Vec<f64>], weights: &[f64], ridge: f64) -> GramRows {
    let n = columns[0].len();
    let mut values = vec![0.0; n * n];
    for (column, weight) in columns.iter().zip(weights) {
        for i in 0..n {
            for j in 0..n {
                values[i + j * n] += weight * column[i] * column[j];
            }
        }
    }
    (0..n).for_each(|i| values[i + i * n] += ridge);
    GramRows::new(values, n).unwrap()
}

const EXACT: Control<'static> = Control {
    tolerance: 1e-10,
    max_iterations: 100_000_000,
    deadline: None,
    interrupt: None,
    progress: None,
    stop: None,
};

/// `ω(p)` of Eq. (3), by sequential minimal optimisation.
fn omega_classes(kernel: &GramRows, labels: &[bool], cost: f64) -> f64 {
    let machine = Classifier { cost, ..Classifier::default() }.train(kernel, labels, &[], &EXACT).unwrap();
    -2.0 * machine.dual.solution.objective
}

/// `ω(p)` of Eq. (19).
fn omega_real(kernel: &GramRows, y: &[f64], cost: f64, epsilon: f64) -> f64 {
    let machine = Regressor { cost, epsilon, ..Regressor::default() }.train(kernel, y, &[], &EXACT).unwrap();
    -2.0 * machine.dual.solution.objective
}

fn indicator(set: &[usize], d: usize) -> Vec<f64> {
    let mut weights = vec![0.0; d];
    set.iter().for_each(|&j| weights[j] = 1.0);
    weights
}

fn near(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance * a.abs().max(b.abs())
}

/// `τ` of every feature.
fn squares(columns: &[Vec<f64>], beta: &[f64]) -> Vec<f64> {
    columns.iter().map(|x| x.iter().zip(beta).map(|(x, b)| x * b).sum::<f64>().powi(2)).collect()
}

fn sum_of_largest(mut values: Vec<f64>, m: usize) -> f64 {
    values.sort_by(|a, b| b.total_cmp(a));
    values[..m].iter().sum()
}

/// What must hold of a solution with a count of `m`, whatever the target.
fn check_sets(solution: &NonMonotonicSolution, columns: &[Vec<f64>], m: usize) {
    let tau = squares(columns, &solution.coefficients[0]);
    assert!(solution.tau.iter().zip(&tau).all(|(a, b)| (a - b).abs() <= 1e-9 * solution.lambda.max(1e-3)));
    assert!(solution.weights.iter().all(|p| (0.0..=1.0).contains(p)));
    assert!(solution.weights.iter().sum::<f64>() <= m as f64 + 1e-9);
    assert!((solution.weights.iter().sum::<f64>() - m as f64).abs() < 1e-5);
    // Corollary 1.
    assert!(solution.above.iter().all(|&j| solution.weights[j] > 1.0 - 1e-4));
    assert_eq!(solution.above.len() + solution.tied.len() + solution.n_below, columns.len());
    assert!(solution.above.len() <= m && m <= solution.above.len() + solution.tied.len());
    assert_eq!(solution.selected.len(), m);
    assert_eq!(solution.selected[..solution.above.len()], solution.above);
    assert!(solution.selected[solution.above.len()..].iter().all(|j| solution.tied.contains(j)));
}

#[test]
fn the_gap_of_classes_is_what_the_definition_says() {
    for (n, d, m, seed) in [(60, 12, 3, 1), (40, 120, 5, 2), (90, 30, 10, 3)] {
        let (columns, y) = problem(n, d, seed);
        let labels: Vec<bool> = y.iter().map(|y| *y > 0.0).collect();
        let (cost, ridge) = (1.5, 0.2);
        let options = NonMonotonic { tolerance: 1e-10, ..NonMonotonic::default() };
        let method = Nmmkl { c: cost, tau: ridge, options };
        let solution = method.solve(&classes(&columns, &y), Budget::Count(m), &Context::default()).unwrap();
        assert_eq!(solution.status, Status::Converged);
        check_sets(&solution, &columns, m);
        let beta = &solution.coefficients[0];
        assert!(beta.iter().sum::<f64>().abs() < 1e-12 * n as f64);
        for (b, label) in beta.iter().zip(&labels) {
            let alpha = if *label { *b } else { -b };
            assert!((0.0..=cost).contains(&alpha));
        }
        let dual = 2.0 * beta.iter().map(|b| b.abs()).sum::<f64>()
            - ridge * beta.iter().map(|b| b * b).sum::<f64>()
            - sum_of_largest(squares(&columns, beta), m);
        assert!(near(dual, solution.objective, 1e-10), "{dual} {}", solution.objective);
        let primal = omega_classes(&gram(&columns, &solution.weights, ridge), &labels, cost);
        assert!(primal >= dual * (1.0 - 1e-9) && near(primal, dual, 1e-8), "{primal} {dual}");
        let selected = gram(&columns, &indicator(&solution.selected, d), ridge);
        assert!(near(solution.omega, omega_classes(&selected, &labels, cost), 1e-8));
    }
}

#[test]
fn the_gap_of_real_targets_is_what_the_definition_says() {
    for (n, d, m, seed, ridge) in [(60, 12, 3, 1, 0.0), (40, 120, 5, 2, 0.1), (90, 30, 10, 3, 0.0)] {
        let (columns, y) = problem(n, d, seed);
        let (cost, epsilon) = (2.0, 0.05);
        let options = NonMonotonic { tolerance: 1e-10, ..NonMonotonic::default() };
        let method = Nmmklr { c: cost, epsilon, tau: ridge, options, ..Nmmklr::default() };
        let solution = method.solve(&real(&columns, &y), Budget::Count(m), &Context::default()).unwrap();
        assert_eq!(solution.status, Status::Converged);
        check_sets(&solution, &columns, m);
        let beta = &solution.coefficients[0];
        assert!(beta.iter().all(|b| b.abs() <= cost));
        let linear: f64 = beta.iter().zip(&y).map(|(b, y)| b * y - epsilon * b.abs()).sum();
        let dual = 2.0 * linear
            - ridge * beta.iter().map(|b| b * b).sum::<f64>()
            - sum_of_largest(squares(&columns, beta), m);
        assert!(near(dual, solution.objective, 1e-10), "{dual} {}", solution.objective);
        let primal = omega_real(&gram(&columns, &solution.weights, ridge), &y, cost, epsilon);
        assert!(primal >= dual * (1.0 - 1e-9) && near(primal, dual, 1e-7), "{primal} {dual}");
        let selected = gram(&columns, &indicator(&solution.selected, d), ridge);
        assert!(near(solution.omega, omega_real(&selected, &y, cost, epsilon), 1e-7));
    }
}

/// All subsets of `0..d` that `allowed` lets through.
fn subsets(d: usize, allowed: impl Fn(&[usize]) -> bool) -> Vec<Vec<usize>> {
    (0..1_usize << d)
        .map(|bits| (0..d).filter(|j| bits >> j & 1 == 1).collect::<Vec<_>>())
        .filter(|set| allowed(set))
        .collect()
}

#[test]
fn no_subset_is_better_than_the_bounds_say() {
    let (n, d) = (40, 9);
    let mut finite = 0;
    for seed in 0..4 {
        let (columns, y) = problem(n, d, 50 + seed);
        let labels: Vec<bool> = y.iter().map(|y| *y > 0.0).collect();
        let data = classes(&columns, &y);
        for m in [1, 2, 4] {
            let ridge = [0.1, 5.0][m % 2];
            let method = Nmmkl { tau: ridge, ..Nmmkl::default() };
            let solution = method.solve(&data, Budget::Count(m), &Context::default()).unwrap();
            let values: Vec<f64> = subsets(d, |set| set.len() == m)
                .iter()
                .map(|set| omega_classes(&gram(&columns, &indicator(set, d), ridge), &labels, 1.0))
                .collect();
            let best = values.iter().copied().fold(f64::INFINITY, f64::min);
            assert!(solution.objective <= best * (1.0 + 1e-9));
            assert!(solution.omega >= best * (1.0 - 1e-8));
            let bound = solution.bound.unwrap();
            assert!(bound >= 1.0 && solution.omega <= bound * best * (1.0 + 1e-8));
            finite += usize::from(bound.is_finite());
            // With swaps it is at least as good, and never better than the best.
            let options = NonMonotonic { refine: true, ..NonMonotonic::default() };
            let refined = Nmmkl { tau: ridge, options, ..Nmmkl::default() }.solve(
                &data,
                Budget::Count(m),
                &Context::default(),
            );
            let refined = refined.unwrap();
            assert!(refined.omega <= solution.omega * (1.0 + 1e-8) && refined.omega >= best * (1.0 - 1e-8));
            assert_eq!(refined.swaps == 0, refined.selected == solution.selected);
            let own = gram(&columns, &indicator(&refined.selected, d), ridge);
            assert!(near(refined.omega, omega_classes(&own, &labels, 1.0), 1e-7));
            // No single swap is better.
            for out in &refined.selected {
                for into in (0..d).filter(|j| !refined.selected.contains(j)) {
                    let mut set: Vec<usize> =
                        refined.selected.iter().copied().filter(|j| j != out).chain([into]).collect();
                    set.sort_unstable();
                    let other = omega_classes(&gram(&columns, &indicator(&set, d), ridge), &labels, 1.0);
                    assert!(other >= refined.omega * (1.0 - 1e-6));
                }
            }
        }
    }
    assert!(finite >= 6);
}

#[test]
fn the_bound_is_that_of_theorem_4() {
    // M^-1/2 B M^-1/2 from the definition, on both sides of the number of samples.
    for (n, d, m) in [(30, 8, 3), (12, 40, 4)] {
        let (columns, y) = problem(n, d, 77);
        let ridge = 0.5;
        let method = Nmmkl { tau: ridge, ..Nmmkl::default() };
        let solution = method.solve(&classes(&columns, &y), Budget::Count(m), &Context::default()).unwrap();
        let outer = |set: &[usize]| {
            let mut sum = nalgebra::DMatrix::<f64>::zeros(n, n);
            for &j in set {
                let x = nalgebra::DVector::from_column_slice(&columns[j]);
                sum += solution.weights[j] * &x * x.transpose();
            }
            sum
        };
        let b = outer(&solution.tied);
        let full = outer(&solution.above) + &b + ridge * nalgebra::DMatrix::identity(n, n);
        let root = nalgebra::SymmetricEigen::new(full);
        let inverse = &root.eigenvectors
            * nalgebra::DMatrix::from_diagonal(&root.eigenvalues.map(|v| v.sqrt().recip()))
            * root.eigenvectors.transpose();
        let sigma = (&inverse * b * &inverse).symmetric_eigenvalues().max();
        assert!(near(solution.bound.unwrap(), 1.0 / (1.0 - sigma), 1e-6));
    }
}

#[test]
fn a_conic_solver_agrees() {
    for (n, d, m) in [(50, 20, 4), (30, 60, 6)] {
        let (columns, y) = problem(n, d, 11);
        let labels: Vec<f64> = y.iter().map(|y| if *y > 0.0 { 1.0 } else { -1.0 }).collect();
        let options = NonMonotonic { tolerance: 1e-10, ..NonMonotonic::default() };
        let method = Nmmkl { options: options.clone(), ..Nmmkl::default() };
        let ours = method.solve(&classes(&columns, &y), Budget::Count(m), &Context::default()).unwrap();
        let theirs = conic::nmmkl(&columns, &labels, 1.0, 0.1, m, 1e-10);
        assert!(near(ours.objective, theirs.objective, 1e-7), "{} {}", ours.objective, theirs.objective);
        assert!(near(ours.lambda, theirs.lambda, 1e-4), "{} {}", ours.lambda, theirs.lambda);
        let method = Nmmklr { options, ..Nmmklr::default() };
        let ours = method.solve(&real(&columns, &y), Budget::Count(m), &Context::default()).unwrap();
        let theirs = conic::nmmklr(&columns, &y, 1.0, 0.1, m, 1e-10);
        assert!(near(ours.objective, theirs.objective, 1e-7), "{} {}", ours.objective, theirs.objective);
    }
}

#[test]
fn costs_of_one_are_a_count_and_others_are_kept_to() {
    let (n, d) = (40, 8);
    let (columns, y) = problem(n, d, 5);
    let labels: Vec<bool> = y.iter().map(|y| *y > 0.0).collect();
    let data = classes(&columns, &y);
    let with_costs = |feature_costs: Vec<f64>, limit: f64, refine: bool| {
        let options = NonMonotonic {
            feature_costs: Some(FeatureCosts { costs: feature_costs, limit }),
            refine,
            ..NonMonotonic::default()
        };
        Nmmkl { options, ..Nmmkl::default() }.solve(&data, Budget::Auto, &Context::default()).unwrap()
    };
    let count = Nmmkl::default().solve(&data, Budget::Count(3), &Context::default()).unwrap();
    let same = with_costs(vec![1.0; d], 3.0, false);
    assert_eq!(count.selected, same.selected);
    assert!(near(count.objective, same.objective, 1e-12) && near(count.omega, same.omega, 1e-12));

    let feature_costs: Vec<f64> = (0..d).map(|j| 1.0 + 0.7 * ((j * 3) % 4) as f64).collect();
    let limit = 5.0;
    let cost = |set: &[usize]| set.iter().map(|&j| feature_costs[j]).sum::<f64>();
    let best = subsets(d, |set| cost(set) <= limit && !set.is_empty())
        .iter()
        .map(|set| omega_classes(&gram(&columns, &indicator(set, d), 0.1), &labels, 1.0))
        .fold(f64::INFINITY, f64::min);
    let plain = with_costs(feature_costs.clone(), limit, false);
    let refined = with_costs(feature_costs.clone(), limit, true);
    for solution in [&plain, &refined] {
        assert!(cost(&solution.selected) <= limit && !solution.selected.is_empty());
        assert!(solution.objective <= best * (1.0 + 1e-9) && solution.omega >= best * (1.0 - 1e-8));
        // Relaxed weights keep to the limit, and τ = λ c where they are between 0 and 1.
        let spent: f64 = solution.weights.iter().zip(&feature_costs).map(|(p, c)| p * c).sum();
        assert!(spent <= limit + 1e-9);
        for j in 0..d {
            if solution.weights[j] > 1e-3 && solution.weights[j] < 1.0 - 1e-3 {
                assert!(near(solution.tau[j], solution.lambda * feature_costs[j], 1e-5));
            }
        }
    }
    assert!(refined.omega <= plain.omega * (1.0 + 1e-9));
    // Where everything can be paid, everything is selected.
    assert_eq!(with_costs(feature_costs.clone(), 1e3, false).selected.len(), d);
    // Where nothing can, nothing.
    assert!(with_costs(feature_costs, 0.5, false).selected.is_empty());
}

#[test]
fn groups_share_a_weight_and_cost_their_size() {
    let (columns, y) = problem(60, 12, 8);
    let groups = vec![0, 1, 0, 1, 2, 2, 3, 3, 3, 4, 5, 6];
    let data = classes(&columns, &y).with_feature_groups(Groups::partition(groups.clone())).unwrap();
    let options = NonMonotonic { weights: WeightUnit::Group, ..NonMonotonic::default() };
    let method = Nmmkl { options, ..Nmmkl::default() };
    let solution = method.solve(&data, Budget::Count(5), &Context::default()).unwrap();
    assert!(solution.selected.len() <= 5);
    for &j in &solution.selected {
        for other in (0..12).filter(|&other| groups[other] == groups[j]) {
            assert!(solution.selected.contains(&other));
            assert_eq!(solution.weights[j], solution.weights[other]);
        }
    }
    let single = squares(&columns, &solution.coefficients[0]);
    assert!(near(solution.tau[0], single[0] + single[2], 1e-9));
    assert!(near(solution.tau[7], single[6] + single[7] + single[8], 1e-9));
    let ungrouped = method.solve(&classes(&columns, &y), Budget::Count(5), &Context::default());
    assert!(matches!(ungrouped, Err(Error::InvalidParameter { name: "weights", .. })));
}

#[test]
fn gaussian_kernels_see_what_linear_ones_do_not() {
    let n = 60;
    let columns: Vec<Vec<f64>> = (0..6).map(|j| standardised(&noise(31 + j, n))).collect();
    let y: Vec<f64> = (0..n).map(|i| columns[4][i].powi(2) - 0.8).collect();
    let data = classes(&columns, &y);
    let labels: Vec<bool> = y.iter().map(|y| *y > 0.0).collect();
    let kernel = FeatureKernel::Gaussian { sigma: KernelWidth::Value(0.8), factor_tolerance: 1e-10 };
    let options = NonMonotonic { kernel, tolerance: 1e-10, ..NonMonotonic::default() };
    let gaussian = Nmmkl { options, ..Nmmkl::default() };
    let solution = gaussian.solve(&data, Budget::Count(1), &Context::default()).unwrap();
    assert_eq!(solution.selected, [4]);
    let grams: Vec<Gram> = columns.iter().map(|x| Gram::new(&Gaussian::new(0.8).unwrap(), x)).collect();
    let combined = |weights: &[f64]| {
        let entry = |i: usize| grams.iter().zip(weights).map(|(gram, w)| w * gram.as_slice()[i]).sum::<f64>();
        let mut values: Vec<f64> = (0..n * n).map(entry).collect();
        (0..n).for_each(|i| values[i + i * n] += 0.1);
        GramRows::new(values, n).unwrap()
    };
    let omega = omega_classes(&combined(&indicator(&[4], 6)), &labels, 1.0);
    assert!(near(solution.omega, omega, 1e-7), "{} {omega}", solution.omega);
    let primal = omega_classes(&combined(&solution.weights), &labels, 1.0);
    assert!(near(solution.objective, primal, 1e-7), "{} {primal}", solution.objective);
    let linear = Nmmkl::default().solve(&data, Budget::Count(1), &Context::default()).unwrap();
    assert!(linear.omega > 2.0 * solution.omega);
}

#[test]
fn more_classes_are_machines_that_share_their_weights() {
    let (columns, y) = problem(60, 10, 21);
    let codes: Vec<usize> = y
        .iter()
        .zip(&columns[5])
        .map(|(y, x)| {
            if *y > 0.4 {
                0
            } else if *x > 0.0 {
                1
            } else {
                2
            }
        })
        .collect();
    let data =
        Dataset::new(DenseColumns::from_columns(&columns).unwrap(), Target::from_labels(&codes)).unwrap();
    let options = NonMonotonic { tolerance: 1e-10, ..NonMonotonic::default() };
    let method = Nmmkl { options, ..Nmmkl::default() };
    let solution = method.solve(&data, Budget::Count(3), &Context::default()).unwrap();
    assert_eq!((solution.status, solution.coefficients.len()), (Status::Converged, 3));
    let total = |weights: &[f64]| -> f64 {
        let kernel = gram(&columns, weights, 0.1);
        (0..3)
            .map(|class| {
                let labels: Vec<bool> = codes.iter().map(|&code| code == class).collect();
                omega_classes(&kernel, &labels, 1.0)
            })
            .sum()
    };
    assert!(near(total(&solution.weights), solution.objective, 1e-8));
    assert!(near(total(&indicator(&solution.selected, 10)), solution.omega, 1e-8));
    let best = subsets(10, |set| set.len() == 3)
        .iter()
        .map(|set| total(&indicator(set, 10)))
        .fold(f64::INFINITY, f64::min);
    assert!(solution.objective <= best && best <= solution.omega * (1.0 + 1e-8));
    assert!(solution.omega <= best * solution.bound.unwrap());
}

#[test]
fn sparse_columns_give_what_dense_ones_do() {
    let (mut columns, y) = problem(50, 130, 9);
    for (j, column) in columns.iter_mut().enumerate() {
        column.iter_mut().enumerate().filter(|(i, _)| (i * 7 + j) % 3 > 0).for_each(|(_, v)| *v = 0.0);
    }
    let dense = classes(&columns, &y);
    let sparse = Dataset::new(Sparse::without_zeros(&columns), dense.target().clone()).unwrap();
    for scaling in [FeatureScaling::Standard, FeatureScaling::Range, FeatureScaling::None] {
        let options = NonMonotonic { kernel: FeatureKernel::Linear { scaling }, ..NonMonotonic::default() };
        let method = Nmmkl { options, ..Nmmkl::default() };
        let solve = |data| method.solve(data, Budget::Count(5), &Context::default()).unwrap();
        let (a, b) = (solve(&dense), solve(&sparse));
        assert_eq!(a.selected, b.selected);
        assert!(near(a.objective, b.objective, 1e-9) && near(a.omega, b.omega, 1e-9));
    }
}

#[test]
fn two_levels_are_a_standardised_feature() {
    let (mut columns, y) = problem(50, 6, 14);
    columns[1].iter_mut().for_each(|v| *v = f64::from(*v > 0.3));
    let numeric = classes(&columns, &y);
    let mut kinds = vec![FeatureKind::Numeric; 6];
    kinds[1] = FeatureKind::Categorical { levels: vec!["no".to_owned(), "yes".to_owned()] };
    let categorical = numeric.clone().with_feature_kinds(kinds).unwrap();
    let solve = |data| Nmmkl::default().solve(data, Budget::Count(2), &Context::default()).unwrap();
    let (a, b) = (solve(&numeric), solve(&categorical));
    assert_eq!(a.selected, b.selected);
    assert!(near(a.objective, b.objective, 1e-7) && near(a.tau[1], b.tau[1], 1e-5));
}

#[test]
fn a_larger_set_need_not_hold_the_smaller() {
    let mut monotonic = 0;
    for seed in 0..10 {
        // Z resembles the sum of X and Y, but X and Y together are better.
        let (x, y, blur) = (noise(seed, 80), noise(seed + 100, 80), noise(seed + 200, 80));
        let sum: Vec<f64> = x.iter().zip(&y).map(|(x, y)| x + y).collect();
        let z = sum.iter().zip(&blur).map(|(s, b)| s + 0.5 * b).collect();
        let data = classes(&[x, y, z], &sum);
        // The relaxation is a mixture of all three for one feature: swaps find the one that is best alone.
        let select = |m| {
            let options = NonMonotonic { refine: true, ..NonMonotonic::default() };
            let method = Nmmkl { options, ..Nmmkl::default() };
            let mut order = method.select(&data, Budget::Count(m), &Context::default()).unwrap().order;
            order.sort_unstable();
            order
        };
        monotonic += usize::from(select(1) != [2] || select(2) != [0, 1]);
    }
    assert_eq!(monotonic, 0);
}

#[test]
fn threads_change_nothing_beyond_a_panel() {
    let (columns, y) = problem(150, 420, 4);
    let answers: Vec<_> = [1, 2, 7]
        .into_iter()
        .map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                (
                    Nmmkl::default().solve(&classes(&columns, &y), Budget::Count(9), &Context::default()),
                    Nmmklr::default().solve(&real(&columns, &y), Budget::Count(9), &Context::default()),
                )
            })
        })
        .collect();
    assert!(answers[0].0.as_ref().is_ok_and(|solution| solution.status == Status::Converged));
    assert!(answers[0].1.as_ref().is_ok_and(|solution| solution.status == Status::Converged));
    assert_eq!(answers[0], answers[1]);
    assert_eq!(answers[0], answers[2]);
}

#[test]
fn weights_of_samples_multiply_the_cost() {
    let (columns, y) = problem(30, 6, 61);
    let plain = classes(&columns, &y);
    let rows: Vec<usize> = (0..30).chain(0..10).collect();
    let repeated = plain.subset(&rows).unwrap();
    let weights = (0..30).map(|i| if i < 10 { 2.0 } else { 1.0 }).collect();
    let weighted = plain.with_sample_weights(weights).unwrap();
    // Without a ridge a sample twice is a sample of twice the cost.
    let options = NonMonotonic {
        kernel: FeatureKernel::Linear { scaling: FeatureScaling::None },
        tolerance: 1e-10,
        ..NonMonotonic::default()
    };
    let method = Nmmkl { tau: 0.0, options, ..Nmmkl::default() };
    let solve = |data| method.solve(data, Budget::Count(2), &Context::default()).unwrap();
    assert!(near(solve(&repeated).objective, solve(&weighted).objective, 1e-8));
}

#[test]
fn hostile_input_is_an_error_or_an_answer() {
    let (columns, y) = problem(30, 6, 2);
    let context = Context::default();
    let data = classes(&columns, &y);
    let name = |result: Result<_, Error>| match result {
        Err(Error::InvalidParameter { name, .. }) => name,
        other => panic!("{other:?}"),
    };
    let select = |method: &dyn Selector, data: &Dataset, m| method.select(data, Budget::Count(m), &context);
    for cost in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(name(select(&Nmmkl { c: cost, ..Nmmkl::default() }, &data, 2)), "c");
        assert_eq!(name(select(&Nmmklr { c: cost, ..Nmmklr::default() }, &real(&columns, &y), 2)), "c");
    }
    assert_eq!(name(select(&Nmmkl { tau: -0.1, ..Nmmkl::default() }, &data, 2)), "tau");
    let negative = Nmmklr { epsilon: -0.1, ..Nmmklr::default() };
    assert_eq!(name(select(&negative, &real(&columns, &y), 2)), "epsilon");
    for m in [0, 7] {
        assert_eq!(name(select(&Nmmkl::default(), &data, m)), "k");
    }
    assert_eq!(name(Nmmkl::default().select(&data, Budget::Auto, &context)), "k");
    assert_eq!(name(Nmmkl::default().select(&data, Budget::Threshold(1.0), &context)), "threshold");
    let options = |feature_costs: Vec<f64>, limit| NonMonotonic {
        feature_costs: Some(FeatureCosts { costs: feature_costs, limit }),
        ..NonMonotonic::default()
    };
    let with_costs = |feature_costs, limit| {
        let method = Nmmkl { options: options(feature_costs, limit), ..Nmmkl::default() };
        method.select(&data, Budget::Auto, &context)
    };
    assert_eq!(name(with_costs(vec![0.0; 6], 1.0)), "costs");
    assert_eq!(name(with_costs(vec![1.0; 6], f64::NAN)), "limit");
    assert!(matches!(with_costs(vec![1.0; 5], 1.0), Err(Error::ShapeMismatch { .. })));
    let both = Nmmkl { options: options(vec![1.0; 6], 2.0), ..Nmmkl::default() };
    assert_eq!(name(both.select(&data, Budget::Count(2), &context)), "k");
    for tolerance in [0.0, f64::NAN] {
        let options = NonMonotonic { tolerance, ..NonMonotonic::default() };
        assert_eq!(name(select(&Nmmkl { options, ..Nmmkl::default() }, &data, 2)), "tolerance");
    }

    let with = |target| Dataset::new(DenseColumns::from_columns(&columns).unwrap(), target).unwrap();
    let one_class = select(&Nmmkl::default(), &with(Target::from_labels(&["a"; 30])), 2);
    assert!(matches!(one_class, Err(Error::TooFew { minimum: 2, found: 1, .. })));
    let unsupported = |result| assert!(matches!(result, Err(Error::UnsupportedTarget { .. })));
    unsupported(select(&Nmmkl::default(), &real(&columns, &y), 2));
    unsupported(select(&Nmmklr::default(), &data, 2));
    unsupported(select(&Nmmklr::default(), &real(&columns, &[3.0; 30]), 2));
    // A class of one, and a tube wide enough for all.
    let lonely: Vec<bool> = (0..30).map(|i| i == 4).collect();
    assert_eq!(select(&Nmmkl::default(), &with(Target::from_labels(&lonely)), 2).unwrap().order.len(), 2);
    let wide = Nmmklr { epsilon: 100.0, ..Nmmklr::default() };
    assert!(select(&wide, &real(&columns, &y), 2).unwrap().order.is_empty());

    // Copies tie: the lower index wins, and the value is that of one of them.
    let copies = vec![columns[0].clone(), columns[1].clone(), columns[0].clone(), vec![1.0; 30]];
    let selection = select(&Nmmkl::default(), &classes(&copies, &y), 4).unwrap();
    assert_eq!(selection.order.len(), 3);
    assert!(!selection.order.contains(&3));
    let single = select(&Nmmkl::default(), &classes(&copies, &y), 1).unwrap();
    assert!(single.order[0] != 2);
    assert_eq!(single.solver.unwrap().status, Status::Converged);
    let constant = vec![vec![1.0; 30]; 3];
    assert!(select(&Nmmkl::default(), &classes(&constant, &y), 2).unwrap().order.is_empty());

    // Costs from very small to very large.
    for cost in [1e-6, 1e4] {
        let selection = select(&Nmmkl { c: cost, ..Nmmkl::default() }, &data, 2).unwrap();
        assert_eq!((selection.order.len(), selection.status), (2, Status::Converged), "{cost}");
    }
    for cost in [1e-6, 10.0, 1e4] {
        for seed in 0..10 {
            let (columns, y) = problem(30, 6, seed);
            let method = Nmmklr { c: cost, ..Nmmklr::default() };
            let selection = select(&method, &real(&columns, &y), 2).unwrap();
            let Some(Certificate::Gap { relative }) = selection.solver.map(|solver| solver.certificate)
            else {
                panic!("a regression has a duality gap")
            };
            assert_eq!(selection.order.len(), 2, "{cost} {seed}");
            assert!(relative <= 1e-8, "{cost} {seed} {relative}");
            assert_eq!(selection.status, Status::Converged, "{cost} {seed} {relative}");
        }
    }
    let stopped = std::sync::atomic::AtomicBool::new(true);
    let stop = Context { interrupt: Some(&stopped), ..Context::default() };
    assert!(matches!(Nmmkl::default().select(&data, Budget::Count(2), &stop), Err(Error::Stopped { .. })));
}

#[test]
fn the_first_copy_of_a_feature_has_the_weight_of_all() {
    let mut n_divided = 0;
    for seed in 0..15 {
        let (mut columns, _) = problem(60, 10, seed);
        let blur = noise(seed + 99, 60);
        let y: Vec<f64> = (0..60)
            .map(|i| 3.0 * columns[0][i] + 2.0 * columns[1][i] + columns[2][i] + 0.3 * blur[i])
            .collect();
        // Three more features say what feature 2 says: each has a part of its weight.
        for (scale, shift) in [(1.0, 1.0), (-1.0, 0.0), (0.5, -3.0)] {
            columns.push(columns[2].iter().map(|value| scale * value + shift).collect());
        }
        let data = real(&columns, &y);
        let nmmklr = Nmmklr { c: 10.0, ..Nmmklr::default() };
        let three = nmmklr.solve(&data, Budget::Count(3), &Context::default()).unwrap();
        // How much of it, rounding decides.
        let shares = [2, 10, 11, 12].map(|j| three.weights[j]);
        n_divided += usize::from(shares[0] < 0.5 * shares.iter().sum::<f64>());
        assert_eq!(three.selected, [0, 1, 2]);
    }
    assert!(n_divided >= 5, "the first copy has most of the weight in all but {n_divided} of 15 tables");
}

/// A large cost makes the weights' part of the objective small, not the problem harder: outputs and weights,
/// whose products matter, move far in a step.
#[test]
fn a_regression_of_large_cost_reaches_its_certificate() {
    for cost in [1e2, 1e3, 1e4, 1e6] {
        for seed in 0..40 {
            let (columns, y) = problem(30, 6, 50 + seed);
            let method = Nmmklr { c: cost, ..Nmmklr::default() };
            let found = method.solve(&real(&columns, &y), Budget::Count(2), &Context::default()).unwrap();
            assert_eq!(found.status, Status::Converged, "{cost} {seed}: {}", found.gap);
            assert!(found.gap <= 1e-8 && found.weights.iter().sum::<f64>() <= 2.0, "{cost} {seed}");
        }
    }
}

/// Steps whose weights fit the outputs stay short on this table, far from the optimum; linear ones reach it.
#[test]
fn a_table_on_which_weights_that_fit_keep_steps_short_is_solved() -> Result<(), Box<dyn std::error::Error>> {
    let options = fewest_data::ReadOptions::with_target("target");
    let table = fewest_data::Table::read(fewest_testkit::datasets::path("wdbc.csv"), &options)?;
    let data = table.complete(fewest_data::Missing::Error)?.dataset;
    let selection = Nmmkl::default().select(&data, Budget::Count(20), &Context::default())?;
    let report = selection.solver.ok_or("no report")?;
    assert_eq!(report.status, Status::Converged);
    // 50.9787821615: a conic solver's optimum, in the reference results.
    assert!((report.objective - 50.978_782_161_5).abs() < 1e-6, "{}", report.objective);
    Ok(())
}
