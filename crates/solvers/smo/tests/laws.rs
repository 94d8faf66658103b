//! What must hold for any problem.

use crate::common::{Gaussian, Samples, feasible};
use fewest_smo::{
    Classifier, DualProblem, GramRows, KernelRows, Loss, Machine, Regressor, RowsBy, SignedRows, Smo,
    certificate,
};
use fewest_solver::{Control, Error, Status};
use proptest::prelude::*;
use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;

const TIGHT: Control<'_> = Control {
    tolerance: 1e-11,
    max_iterations: 10_000,
    deadline: None,
    interrupt: None,
    progress: None,
    stop: None,
};

fn kernel(n: usize, seed: u64) -> Gaussian {
    Samples::random(n, 3, seed).gaussian(0.5)
}

/// Whether the second feature is above a parabola of the first, or with `noise` the other way round for some.
fn labels(kernel: &Gaussian, noise: usize) -> Vec<bool> {
    let columns = &kernel.samples.columns;
    (0..kernel.len()).map(|i| (columns[1][i] > columns[0][i].powi(2) - 0.3) != (i % 10 < noise)).collect()
}

fn curve(kernel: &Gaussian) -> Vec<f64> {
    let columns = &kernel.samples.columns;
    (0..kernel.len())
        .map(|i| (3.0 * columns[0][i]).sin() + 0.3 * columns[1][i] * f64::from(i as u32 % 3))
        .collect()
}

/// `f(x_i)` of each training sample, from the definition.
fn outputs(kernel: &dyn KernelRows, machine: &Machine) -> Vec<f64> {
    let mut row = vec![0.0; kernel.len()];
    (0..kernel.len())
        .map(|i| {
            kernel.row(i, &mut row);
            machine.decision(&row).unwrap()
        })
        .collect()
}

/// The primal objective of a machine: `½‖w‖²` and the losses that `loss` says by sample and output.
fn primal(kernel: &dyn KernelRows, machine: &Machine, loss: impl Fn(usize, f64) -> f64) -> f64 {
    let coefficients = &machine.dual.solution.coefficients;
    let outputs = outputs(kernel, machine);
    let norm: f64 = coefficients.iter().zip(&outputs).map(|(b, f)| b * (f - machine.bias)).sum();
    0.5 * norm + outputs.iter().enumerate().map(|(i, &f)| loss(i, f)).sum::<f64>()
}

fn close(a: f64, b: f64, tolerance: f64) {
    assert!((a - b).abs() <= tolerance * a.abs().max(b.abs()).max(1e-300), "{a} and {b}");
}

/// `relative_gap()` is never below 0, so this looks at the gap itself.
fn not_negative(certificate: &certificate::SvmCertificate) -> bool {
    certificate.duality_gap >= -1e-12 * certificate.objective.abs()
}

#[test]
fn the_gap_is_primal_minus_dual() {
    let kernel = kernel(120, 1);
    let (labels, targets) = (labels(&kernel, 2), curve(&kernel));
    let weights: Vec<f64> = (0..120).map(|i| f64::from(i % 4) * 0.5).collect();
    for tolerance in [1e-1, 1e-3, 1e-9] {
        let control = Control { tolerance, ..Control::default() };
        for loss in [Loss::Linear, Loss::Squared] {
            let power = |excess: f64| if loss == Loss::Linear { excess } else { excess * excess };
            let learner = Classifier { cost: 3.0, loss, class_weights: [1.0, 2.5], ..Classifier::default() };
            let machine = learner.train(&kernel, &labels, &weights, &control).unwrap();
            assert_eq!(machine.dual.solution.status, Status::Converged);
            let value = primal(&kernel, &machine, |i, f| {
                let (y, class) = if labels[i] { (1.0, 2.5) } else { (-1.0, 1.0) };
                3.0 * class * weights[i] * power((1.0 - y * f).max(0.0))
            });
            let found = machine.dual.certificate;
            close(value, found.duality_gap - found.objective, 1e-12);

            let learner = Regressor { cost: 2.0, epsilon: 0.05, loss, ..Regressor::default() };
            let machine = learner.train(&kernel, &targets, &weights, &control).unwrap();
            assert_eq!(machine.dual.solution.status, Status::Converged);
            let value = primal(&kernel, &machine, |i, f| {
                2.0 * weights[i] * power(((targets[i] - f).abs() - 0.05).max(0.0))
            });
            let found = machine.dual.certificate;
            close(value, found.duality_gap - found.objective, 1e-12);
            assert!(found.relative_gap() <= tolerance && not_negative(&found), "{found:?}");
        }
    }
}

#[test]
fn regression_in_the_form_of_the_textbooks_is_the_same() {
    let kernel = kernel(60, 2);
    let targets = curve(&kernel);
    let machine =
        Regressor { cost: 1.5, ..Regressor::default() }.train(&kernel, &targets, &[], &TIGHT).unwrap();
    // Q over (a, a*): K with the signs of both halves.
    let gram = kernel.gram();
    let mut row = vec![0.0; 60];
    let mut values = Vec::new();
    for i in 0..120 {
        gram.row(i % 60, &mut row);
        let sign = |k: usize| if k < 60 { 1.0 } else { -1.0 };
        values.extend((0..120).map(|j| sign(i) * sign(j) * row[j % 60]));
    }
    let positive: Vec<bool> = (0..120).map(|i| i < 60).collect();
    let q = GramRows::new(values, 120).unwrap();
    let rows = SignedRows::new(&q, &positive).unwrap();
    let linear: Vec<f64> =
        (0..120).map(|i| if i < 60 { 0.1 - targets[i] } else { 0.1 + targets[i - 60] }).collect();
    let problem = DualProblem::from_standard_form(&rows, &linear, &vec![1.5; 120], 0.0).unwrap();
    let double = Smo::default().minimise(&problem, &[], &TIGHT).unwrap();
    close(double.solution.objective, machine.dual.solution.objective, 1e-10);
    for i in 0..60 {
        // a_i = β_i and a*_i = −β_{i + n} in signed variables.
        let both = double.solution.coefficients[i] + double.solution.coefficients[i + 60];
        assert!((both - machine.dual.solution.coefficients[i]).abs() < 1e-4);
    }
}

#[test]
fn a_ridge_is_a_larger_diagonal() {
    let kernel = kernel(50, 3);
    let labels = labels(&kernel, 2);
    let squared = Classifier { cost: 4.0, loss: Loss::Squared, ..Classifier::default() };
    let machine = squared.train(&kernel, &labels, &[], &TIGHT).unwrap();
    let plain = RowsBy::new(vec![1.125; 50], |i, out: &mut [f64]| {
        kernel.row(i, out);
        out[i] += 1.0 / 8.0;
    });
    // No dual reaches a bound this high.
    let hard = Classifier { cost: 1e4, ..Classifier::default() }.train(&plain, &labels, &[], &TIGHT).unwrap();
    close(machine.dual.solution.objective, hard.dual.solution.objective, 1e-10);
    close(machine.bias, hard.bias, 1e-5);
    assert_eq!((machine.n_bounded, hard.n_bounded), (0, 0));
}

#[test]
fn a_weight_counts_samples() {
    let kernel = kernel(40, 4);
    let labels = labels(&kernel, 3);
    let weights: Vec<f64> = (0..40).map(|i| f64::from(i % 3)).collect();
    let weighted = Classifier::default().train(&kernel, &labels, &weights, &TIGHT).unwrap();
    let repeated: Vec<usize> = (0..40).flat_map(|i| std::iter::repeat_n(i, i % 3)).collect();
    let rows = RowsBy::new(vec![1.0; repeated.len()], |k, out: &mut [f64]| {
        let mut row = vec![0.0; 40];
        kernel.row(repeated[k], &mut row);
        for (value, &i) in out.iter_mut().zip(&repeated) {
            *value = row[i];
        }
    });
    let labels: Vec<bool> = repeated.iter().map(|&i| labels[i]).collect();
    let copies = Classifier::default().train(&rows, &labels, &[], &TIGHT).unwrap();
    close(weighted.dual.solution.objective, copies.dual.solution.objective, 1e-10);
    close(weighted.bias, copies.bias, 1e-5);
}

#[test]
fn neither_memory_nor_setting_aside_changes_the_answer() {
    let kernel = kernel(300, 5);
    let targets = curve(&kernel);
    let train = |solver: Smo| {
        let learner = Regressor { cost: 10.0, solver, ..Regressor::default() };
        learner.train(&kernel, &targets, &[], &TIGHT).unwrap()
    };
    let reference = train(Smo::default());
    assert_eq!(reference, train(Smo::default()));
    assert!(reference.dual.n_rows <= 300);
    for bytes in [0, 50_000, 400_000] {
        for shrinking in [false, true] {
            let other = train(Smo::default().cache_bytes(bytes).shrinking(shrinking));
            assert_eq!(other.dual.solution.status, Status::Converged);
            close(other.dual.solution.objective, reference.dual.solution.objective, 1e-10);
            assert_eq!(other.support, reference.support);
            for (a, b) in other.dual.solution.coefficients.iter().zip(&reference.dual.solution.coefficients) {
                assert!((a - b).abs() < 1e-4);
            }
        }
    }
}

#[test]
fn a_start_at_the_solution_is_the_end() {
    let kernel = kernel(100, 6);
    let labels = labels(&kernel, 2);
    let problem = Classifier { cost: 5.0, ..Classifier::default() }.problem(&kernel, &labels, &[]).unwrap();
    let control = Control::default();
    let cold = Smo::default().minimise(&problem, &[], &control).unwrap();
    let warm = Smo::default().minimise(&problem, &cold.solution.coefficients, &control).unwrap();
    assert_eq!((warm.n_steps, warm.solution.iterations), (0, 0));
    assert_eq!(warm.solution.coefficients, cold.solution.coefficients);
    // One that breaks every constraint is projected, and costs steps but not the answer.
    let wild = Smo::default().minimise(&problem, &vec![7.0; 100], &control).unwrap();
    assert_eq!(wild.solution.status, Status::Converged);
    close(wild.solution.objective, cold.solution.objective, 1e-8);
}

#[test]
fn the_standard_form_keeps_its_sum() {
    // ½ aᵀQa − a₁ with Q = I: from (1, 1, …) sums the optimum is the sum's share plus 1 for the first.
    let identity = RowsBy::new(vec![1.0; 4], |i, out: &mut [f64]| {
        out.fill(0.0);
        out[i] = 1.0;
    });
    let rows = SignedRows::new(&identity, &[true; 4]).unwrap();
    let problem = DualProblem::from_standard_form(&rows, &[-1.0, 0.0, 0.0, 0.0], &[5.0; 4], 3.0).unwrap();
    let found = Smo::default().minimise(&problem, &[], &TIGHT).unwrap();
    for (a, expected) in found.solution.coefficients.iter().zip([1.5, 0.5, 0.5, 0.5]) {
        assert!((a - expected).abs() < 1e-9, "{a}");
    }
    let error = DualProblem::from_standard_form(&rows, &[0.0; 4], &[0.5; 4], 3.0)
        .and_then(|problem| Smo::default().minimise(&problem, &[], &TIGHT).map(|_| ()))
        .unwrap_err();
    assert!(matches!(error, Error::InvalidParameter { name: "sum", .. }), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn the_optimum_is_no_higher_than_any_feasible_point(
        n in 2_usize..40,
        seed in 0_u64..1000,
        cost in 0.01_f64..100.0,
        epsilon in 0.0_f64..0.5,
        squared: bool,
    ) {
        let kernel = kernel(n, seed);
        let targets = curve(&kernel);
        let loss = if squared { Loss::Squared } else { Loss::Linear };
        let problem = Regressor { cost, epsilon, loss, ..Regressor::default() }.problem(&kernel, &targets, &[]).unwrap();
        let found = Smo::default().minimise(&problem, &[], &Control::default()).unwrap();
        prop_assert_eq!(found.solution.status, Status::Converged);
        let certificate = certificate::certify(&problem, &found.solution.coefficients).unwrap();
        prop_assert!(certificate.relative_gap() <= 1e-9 && not_negative(&certificate), "{:?}", certificate);
        let sum: f64 = found.solution.coefficients.iter().sum();
        let size: f64 = found.solution.coefficients.iter().map(|value| value.abs()).sum();
        prop_assert!(sum.abs() <= 1e-12 * size.max(1e-300));
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        for _ in 0..5 {
            let other = certificate::certify(&problem, &feasible(&problem, &mut random)).unwrap();
            prop_assert!(other.objective >= certificate.objective - 1e-9 * certificate.objective.abs());
            // The gap bounds the distance from the optimum.
            prop_assert!(other.duality_gap >= (other.objective - certificate.objective) * (1.0 - 1e-9) - 1e-12);
        }
    }

    #[test]
    fn projections_are_feasible_and_nearest(
        start in proptest::collection::vec(-5.0_f64..5.0, 2..20),
        low in -2.0_f64..-0.1,
        high in 0.1_f64..2.0,
        share in 0.0_f64..1.0,
    ) {
        let n = start.len();
        let identity = RowsBy::new(vec![1.0; n], |i, out: &mut [f64]| {
            out.fill(0.0);
            out[i] = 1.0;
        });
        let sum = n as f64 * (low + share * (high - low));
        let problem = DualProblem::new(&identity, vec![0.0; n], vec![low; n], vec![high; n]).unwrap();
        let problem = problem.with_sum(sum).unwrap();
        let point = problem.feasible_start(&start).unwrap();
        prop_assert!(point.iter().all(|value| (low..=high).contains(value)));
        prop_assert!((point.iter().sum::<f64>() - sum).abs() < 1e-9);
        // The same shift for all that are not at a bound, more at none of the others.
        let shifts: Vec<f64> = point.iter().zip(&start).map(|(p, s)| p - s).collect();
        for (i, &value) in point.iter().enumerate() {
            for (j, &other) in point.iter().enumerate() {
                if value > low && other < high {
                    prop_assert!(shifts[i] <= shifts[j] + 1e-9);
                }
            }
        }
    }
}

#[test]
fn newton_steps_make_a_nearly_singular_kernel_quick() {
    // Wide Gaussians: neighbouring samples have nearly the same row.
    let kernel = Samples::random(150, 2, 8).gaussian(0.3);
    let targets: Vec<f64> = (0..150).map(|i| (4.0 * kernel.samples.columns[0][i]).sin()).collect();
    let learner = Regressor { cost: 30.0, epsilon: 0.02, ..Regressor::default() };
    let problem = learner.problem(&kernel, &targets, &[]).unwrap();
    let with = Smo::default().minimise(&problem, &[], &TIGHT).unwrap();
    assert_eq!(with.solution.status, Status::Converged);
    let without = Smo::default().newton(false).minimise(&problem, &[], &TIGHT).unwrap();
    assert!(5 * with.n_steps < without.n_steps, "{} and {}", with.n_steps, without.n_steps);
    close(with.solution.objective, without.solution.objective, 1e-8);
    let sum: f64 = with.solution.coefficients.iter().sum();
    assert!(sum.abs() < 1e-10, "{sum}");
}

/// Of a kernel of rank 30 most of 200 samples are free to be anything; without one feature the machine is
/// nearly the same.
#[test]
fn a_machine_of_one_feature_less_is_a_matter_of_newton_steps() {
    let samples = Samples::random(200, 30, 5);
    let gram = |d: usize| {
        let product =
            |i: usize, j: usize| (0..d).map(|k| samples.columns[k][i] * samples.columns[k][j]).sum();
        let values = (0..200 * 200).map(|at| product(at / 200, at % 200)).collect();
        fewest_smo::GramRows::new(values, 200).unwrap()
    };
    let targets: Vec<f64> =
        (0..200).map(|i| 3.0 * samples.columns[0][i] + (i as f64).sin() + samples.columns[29][i]).collect();
    let labels: Vec<bool> = targets.iter().map(|target| *target > 0.0).collect();
    let (regressor, classifier) = (Regressor::default(), Classifier::default());
    let (all, most) = (gram(30), gram(29));
    for (before, after) in [
        (regressor.problem(&all, &targets, &[]), regressor.problem(&most, &targets, &[])),
        (classifier.problem(&all, &labels, &[]), classifier.problem(&most, &labels, &[])),
    ] {
        let (before, after) = (before.unwrap(), after.unwrap());
        let start = Smo::default().minimise(&before, &[], &TIGHT).unwrap().solution.coefficients;
        let warm = Smo::default().minimise(&after, &start, &TIGHT).unwrap();
        let cold = Smo::default().newton(false).minimise(&after, &[], &TIGHT).unwrap();
        assert_eq!(warm.solution.status, Status::Converged);
        assert!(20 * warm.n_steps < cold.n_steps, "{} and {}", warm.n_steps, cold.n_steps);
        close(warm.solution.objective, cold.solution.objective, 1e-9);
    }
}
