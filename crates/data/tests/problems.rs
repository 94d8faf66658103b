//! The synthetic problems, by their formulas.

use crate::support::columns;
use fewest_core::{Dataset, Target};
use fewest_data::synthetic::{self, Interaction, Synthetic};

fn target(data: &Dataset) -> &[f64] {
    match data.target() {
        Target::Real(outputs) => outputs.output(0),
        target => panic!("{}", target.describe()),
    }
}

/// Asserts that the output minus the formula is standard normal noise, unrelated to the features.
fn check_noise(problem: &Synthetic, formula: impl Fn(&[f64]) -> f64) {
    let x = columns(problem.dataset.x());
    let n = problem.dataset.n_samples();
    let noise: Vec<f64> = (0..n)
        .map(|i| target(&problem.dataset)[i] - formula(&x.iter().map(|column| column[i]).collect::<Vec<_>>()))
        .collect();
    let mean = |values: &dyn Fn(usize) -> f64| (0..n).map(values).sum::<f64>() / n as f64;
    // Five standard errors.
    let bound = 5.0 / (n as f64).sqrt();
    for column in x.iter().chain([&noise]) {
        assert!(mean(&|i| column[i]).abs() < bound);
        assert!((mean(&|i| column[i].powi(2)) - 1.0).abs() < bound * 2.0_f64.sqrt());
        assert!((mean(&|i| column[i].powi(4)) - 3.0).abs() < bound * 96.0_f64.sqrt());
    }
    for (j, column) in x.iter().enumerate() {
        assert!(mean(&|i| column[i] * noise[i]).abs() < bound, "feature {j} and the noise");
        for (k, other) in x.iter().enumerate().take(j) {
            assert!(mean(&|i| column[i] * other[i]).abs() < bound, "features {j} and {k}");
        }
    }
}

#[test]
fn outputs_follow_the_formulas() {
    let data1 = synthetic::data1(20_000, 6, 1).unwrap();
    check_noise(&data1, |x| -2.0 * (2.0 * x[0]).sin() + x[1].powi(2) + x[2] + (-x[3]).exp());
    assert_eq!(data1.true_features, [0, 1, 2, 3]);
    let data2 = synthetic::data2(20_000, 5, 2).unwrap();
    check_noise(&data2, |x| x[0] * (2.0 * x[1]).exp() + x[2].powi(2));
    assert_eq!(data2.true_features, [0, 1, 2]);
}

#[test]
fn stored_and_on_demand_are_the_same() {
    for seed in [0, 7] {
        let pairs = [(synthetic::data2(50, 9, seed), synthetic::data2_on_demand(50, 9, seed))];
        for (stored, on_demand) in pairs {
            let (stored, on_demand) = (stored.unwrap().dataset, on_demand.unwrap().dataset);
            assert_eq!(columns(stored.x()), columns(on_demand.x()));
            assert_eq!(stored.target(), on_demand.target());
        }
    }
}

#[test]
fn more_features_or_samples_change_none_of_the_first() {
    let small = synthetic::data2(20, 5, 3).unwrap().dataset;
    let wide = synthetic::data2(20, 50, 3).unwrap().dataset;
    assert_eq!(columns(small.x()), columns(wide.x())[..5]);
    assert_eq!(small.target(), wide.target());
    let long = synthetic::data2(90, 5, 3).unwrap().dataset;
    for (short, long) in columns(small.x()).iter().zip(columns(long.x())) {
        assert_eq!(short[..], long[..20]);
    }
    assert_eq!(target(&small), &target(&long)[..20]);
    let other = synthetic::data2(20, 5, 4).unwrap().dataset;
    assert_ne!(columns(small.x()), columns(other.x()));
}

#[test]
fn the_numbers_are_these_and_stay_so() {
    // Published figures depend on them: a change here is a change of every reproduction.
    let data = synthetic::data1(2, 4, 0).unwrap().dataset;
    let found: Vec<f64> = columns(data.x()).concat();
    for (found, expected) in found.iter().zip(EXPECTED) {
        assert!((found - expected).abs() < 1e-12, "{:?}", columns(data.x()).concat());
    }
}

const EXPECTED: [f64; 8] = [
    0.3596488259525274,
    0.7524408868150582,
    -0.7413269497176088,
    0.3629977336146462,
    -0.6877947773060517,
    0.6703219627117956,
    -1.2506237993858804,
    0.7014313271662025,
];

#[test]
fn the_best_feature_alone_is_not_one_of_the_best_two() {
    let problem = synthetic::better_together(40_000, 1).unwrap();
    let Target::Class(classes) = problem.dataset.target() else { panic!("classes") };
    let x = columns(problem.dataset.x());
    // The best linear rules, by the means and the covariance that the problem is drawn with.
    let accuracy = |rule: &dyn Fn(usize) -> f64| {
        let right = (0..40_000).filter(|&i| (rule(i) > 0.0) == (classes.codes()[i] == 1)).count();
        right as f64 / 40_000.0
    };
    let rules: [(&dyn Fn(usize) -> f64, f64); 5] = [
        (&|i| x[0][i], 0.863),
        (&|i| x[1][i], 0.863),
        (&|i| x[2][i], 0.939),
        (&|i| x[0][i] + x[1][i], 0.997),
        (&|i| 1.094 * x[0][i] + 1.546 * x[2][i], 0.971),
    ];
    for (rule, expected) in rules {
        let found = accuracy(rule);
        assert!(
            (found - expected).abs() < 5.0 * (expected * (1.0 - expected) / 40_000.0).sqrt() + 5e-4,
            "{found}, {expected}"
        );
    }
}

#[test]
fn the_weighted_sum_has_no_noise() {
    let problem = synthetic::weighted_sum(300, 2).unwrap();
    let x = columns(problem.dataset.x());
    for i in 0..300 {
        let y = x[0][i] + 2.0 * x[1][i] + 3.0 * x[2][i] + 4.0 * x[3][i] + x[4][i].exp();
        assert!((target(&problem.dataset)[i] - y).abs() < 1e-12);
        assert_eq!(x[5][i], x[0][i] + 1.0);
        assert_eq!(x[6][i], x[1][i] * x[2][i]);
    }
}

#[test]
fn the_sensitivity_problems_follow_their_formulas() {
    let n = 20_000;
    let friedman = |x: &[f64], squared: bool| {
        let bend = x[2] - 0.5;
        let product = std::f64::consts::PI * x[0] * x[1];
        10.0 * product.sin() + 20.0 * if squared { bend * bend } else { bend } + 10.0 * x[3] + 5.0 * x[4]
    };
    type Formula<'a> = &'a dyn Fn(&[f64]) -> f64;
    let cases: [(Synthetic, f64, f64, Formula<'_>); 4] = [
        (synthetic::additive(n, 0.1, 1).unwrap(), 0.0, 0.1, &|x| {
            0.1 * (4.0 * x[0]).exp()
                + 4.0 / (1.0 + (10.0 - 20.0 * x[1]).exp())
                + 3.0 * x[2]
                + 2.0 * x[3]
                + x[4]
        }),
        (synthetic::interactive(n, Interaction::Squared, 0.1, 2).unwrap(), 0.0, 0.1, &|x| friedman(x, true)),
        (synthetic::interactive(n, Interaction::Linear, 0.3, 3).unwrap(), 0.0, 0.3, &|x| friedman(x, false)),
        (synthetic::exponential(n, 0.2, 4).unwrap(), -1.0, 0.2, &|x| {
            10.0 * (-x[0].powi(2) - x[1].powi(2)).exp()
        }),
    ];
    for (problem, low, deviation, formula) in &cases {
        let x = columns(problem.dataset.x());
        assert_eq!(x.len(), 10);
        let mean = |values: &dyn Fn(usize) -> f64| (0..n).map(values).sum::<f64>() / n as f64;
        let noise = |i: usize| {
            let sample: Vec<f64> = x.iter().map(|column| column[i]).collect();
            (target(&problem.dataset)[i] - formula(&sample)) / deviation
        };
        let bound = 5.0 / (n as f64).sqrt();
        assert!(mean(&noise).abs() < bound);
        assert!((mean(&|i| noise(i).powi(2)) - 1.0).abs() < bound * 2.0_f64.sqrt());
        for column in &x {
            assert!(column.iter().all(|value| (*low..=1.0).contains(value)));
            assert!((mean(&|i| column[i]) - 0.5 * (low + 1.0)).abs() < bound * (1.0 - low));
        }
    }
    for deviation in [-0.1, f64::NAN, f64::INFINITY] {
        assert!(synthetic::exponential(10, deviation, 0).is_err());
    }
}

#[test]
fn too_small_is_an_error() {
    assert!(synthetic::better_together(0, 0).is_err());
    assert!(synthetic::weighted_sum(0, 0).is_err());
    assert!(synthetic::additive(0, 0.1, 0).is_err());
    assert!(synthetic::data1(10, 3, 0).is_err());
    assert!(synthetic::data2(10, 2, 0).is_err());
    assert!(synthetic::data2_on_demand(0, 5, 0).is_err());
}
