//! Input with one fault at a time, and problems at the edge.

use crate::common::Samples;
use fewest_smo::{Classifier, DualProblem, GramRows, KernelRows, Regressor, RowsBy, SignedRows, Smo};
use fewest_solver::{Certificate, Control, Error, Status};

fn line(x: &[f64]) -> GramRows {
    GramRows::new(x.iter().flat_map(|a| x.iter().map(move |b| a * b)).collect(), x.len()).unwrap()
}

fn classify(kernel: &dyn KernelRows, labels: &[bool]) -> Result<fewest_smo::Machine, Error> {
    Classifier::default().train(kernel, labels, &[], &Control::default())
}

fn named<T>(result: Result<T, Error>, parameter: &str) {
    match result {
        Err(Error::InvalidParameter { name, .. }) if name == parameter => {}
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("{parameter} was accepted"),
    }
}

#[test]
fn one_class_is_refused_and_a_class_of_one_is_not() {
    let kernel = line(&[-1.0, 0.5, 2.0]);
    for label in [false, true] {
        let error = classify(&kernel, &[label; 3]).unwrap_err();
        assert!(matches!(error, Error::TooFew { minimum: 2, found: 1, .. }), "{error}");
    }
    let weights = [0.0, 1.0, 1.0];
    let error = Classifier::default().train(&kernel, &[true, false, false], &weights, &Control::default());
    assert!(matches!(error, Err(Error::TooFew { minimum: 2, found: 1, .. })));
    let machine = classify(&kernel, &[false, true, true]).unwrap();
    assert_eq!(machine.dual.solution.status, Status::Converged);
    assert_eq!(machine.support[0], 0);
}

#[test]
fn equal_targets_are_a_constant_function() {
    let kernel = Samples::random(20, 2, 1).gaussian(1.0);
    let machine = Regressor::default().train(&kernel, &[2.5; 20], &[], &Control::default()).unwrap();
    assert_eq!((machine.dual.solution.status, machine.support.len()), (Status::Converged, 0));
    assert!((machine.bias - 2.5).abs() < 1e-12);
    assert_eq!(machine.dual.certificate.duality_gap, 0.0);
}

#[test]
fn equal_samples_and_opposite_labels_converge() {
    // All samples the same, half of each class: nothing can be learned, and every dual is at its bound.
    let kernel = GramRows::new(vec![1.0; 36], 6).unwrap();
    let machine = classify(&kernel, &[true, false, true, false, true, false]).unwrap();
    assert_eq!(machine.dual.solution.status, Status::Converged);
    assert_eq!(machine.n_bounded, 6);
    assert!((machine.dual.solution.objective + 6.0).abs() < 1e-12);
    // Each sample twice.
    let twice: Vec<f64> = [-1.5, -0.2, 0.3, 1.0].iter().flat_map(|&x| [x, x]).collect();
    let machine = classify(&line(&twice), &[false, false, false, false, true, true, true, true]).unwrap();
    assert_eq!(machine.dual.solution.status, Status::Converged);
    let targets: Vec<f64> = twice.iter().enumerate().map(|(i, x)| x + 0.5 * (i % 2) as f64).collect();
    let machine = Regressor::default().train(&line(&twice), &targets, &[], &Control::default()).unwrap();
    assert_eq!(machine.dual.solution.status, Status::Converged);
}

#[test]
fn a_kernel_of_zeros_converges() {
    let kernel = GramRows::new(vec![0.0; 16], 4).unwrap();
    let machine = classify(&kernel, &[true, false, false, false]).unwrap();
    assert_eq!(machine.dual.solution.status, Status::Converged);
    assert!((machine.dual.solution.objective + 2.0).abs() < 1e-12);
    assert!((machine.bias + 1.0).abs() < 1e-9);
}

#[test]
fn parameters_out_of_range_are_named() {
    let kernel = line(&[-1.0, 0.5, 2.0]);
    let labels = [false, true, true];
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let train = |learner: Classifier| learner.train(&kernel, &labels, &[], &Control::default());
        named(train(Classifier { cost: bad, ..Classifier::default() }), "cost");
        named(train(Classifier { class_weights: [1.0, bad], ..Classifier::default() }), "class_weights");
        let regress = |learner: Regressor| learner.train(&kernel, &[1.0, 2.0, 0.0], &[], &Control::default());
        named(regress(Regressor { cost: bad, ..Regressor::default() }), "cost");
        if bad != 0.0 {
            named(regress(Regressor { epsilon: bad, ..Regressor::default() }), "epsilon");
            let weights = [1.0, bad, 1.0];
            named(Classifier::default().train(&kernel, &labels, &weights, &Control::default()), "weights");
        }
        if bad.is_nan() || bad <= 0.0 {
            let control = Control { tolerance: bad, ..Control::default() };
            named(Classifier::default().train(&kernel, &labels, &[], &control), "tolerance");
        }
    }
    let problem = Classifier::default().problem(&kernel, &labels, &[]).unwrap();
    named(Smo::default().minimise(&problem, &[0.0, f64::NAN, 0.0], &Control::default()), "start");
    named(DualProblem::new(&kernel, vec![0.0; 3], vec![1.0; 3], vec![0.0; 3]), "upper");
    let endless = DualProblem::new(&kernel, vec![0.0; 3], vec![0.0; 3], vec![f64::INFINITY; 3]).unwrap();
    named(Smo::default().minimise(&endless, &[], &Control::default()), "ridges");
}

#[test]
fn sizes_that_disagree_are_counted() {
    let kernel = line(&[-1.0, 0.5, 2.0]);
    let shape = |found: usize, result: Result<(), Error>| match result {
        Err(Error::ShapeMismatch { found: counted, .. }) => assert_eq!(counted, found),
        other => panic!("{other:?}"),
    };
    let control = Control::default();
    shape(2, classify(&kernel, &[true, false]).map(|_| ()));
    shape(2, Regressor::default().train(&kernel, &[1.0, 2.0], &[], &control).map(|_| ()));
    shape(2, Regressor::default().train(&kernel, &[1.0; 3], &[1.0; 2], &control).map(|_| ()));
    shape(1, SignedRows::new(&kernel, &[true]).map(|_| ()));
    shape(5, GramRows::new(vec![0.0; 5], 2).map(|_| ()));
    let machine = classify(&kernel, &[false, true, true]).unwrap();
    shape(2, machine.decision(&[1.0, 2.0]).map(|_| ()));
    let empty = GramRows::new(Vec::new(), 0).unwrap();
    assert!(matches!(classify(&empty, &[]), Err(Error::TooFew { found: 0, .. })));
    assert!(matches!(Regressor::default().train(&empty, &[], &[], &control), Err(Error::TooFew { .. })));
}

#[test]
fn kernel_values_that_are_none_are_found() {
    let mut values: Vec<f64> = vec![1.0; 9];
    values[5] = f64::NAN;
    let error = GramRows::new(values.clone(), 3).unwrap_err().to_string();
    assert!(error.contains("NaN in row 1, column 2"), "{error}");
    values[5] = 0.5;
    let error = GramRows::new(values, 3).unwrap_err().to_string();
    assert!(error.contains("symmetric") && error.contains("row 2, column 1"), "{error}");

    // By a function, faults show when a row is asked for.
    let samples = Samples::random(30, 2, 3).gaussian(1.0);
    let labels: Vec<bool> = (0..30).map(|i| i % 3 == 0).collect();
    let faulty = |change: fn(usize, &mut [f64])| {
        let rows = RowsBy::new(vec![1.0; 30], |i, out: &mut [f64]| {
            samples.row(i, out);
            change(i, out);
        });
        classify(&rows, &labels).unwrap_err().to_string()
    };
    let error = faulty(|i, out| out[7] = if i == 3 { f64::INFINITY } else { out[7] });
    assert!(error.contains("inf in row 3, column 7"), "{error}");
    let error = faulty(|i, out| out[i] = 2.0);
    assert!(error.contains("diagonal"), "{error}");
    let error = faulty(|i, out| out[29 - i] = i as f64);
    assert!(error.contains("symmetric"), "{error}");
    let error = classify(&RowsBy::new(vec![f64::NAN; 30], |_, out: &mut [f64]| out.fill(1.0)), &labels);
    assert!(error.unwrap_err().to_string().contains("NaN in row 0, column 0"));
}

#[test]
fn targets_that_are_none_are_found() {
    let kernel = line(&[-1.0, 0.5, 2.0]);
    let error = Regressor::default().train(&kernel, &[1.0, f64::NAN, 0.0], &[], &Control::default());
    assert!(matches!(error, Err(Error::NonFiniteTarget { row: 1, .. })));
}

#[test]
fn an_indefinite_kernel_ends() {
    let samples = Samples::random(80, 3, 9);
    let values: Vec<f64> = (0..80 * 80)
        .map(|k| {
            let product: f64 = samples.columns.iter().map(|column| column[k / 80] * column[k % 80]).sum();
            (2.0 * product + 1.0).tanh() - 0.5 * product
        })
        .collect();
    let kernel = GramRows::new(values, 80).unwrap();
    let labels: Vec<bool> = (0..80).map(|i| samples.columns[0][i] * samples.columns[1][i] > 0.0).collect();
    for cost in [0.1, 1.0, 100.0] {
        let learner = Classifier { cost, ..Classifier::default() };
        let problem = learner.problem(&kernel, &labels, &[]).unwrap();
        let dual = learner.solver.minimise(&problem, &[], &Control::default()).unwrap();
        assert_eq!(dual.solution.status, Status::Stalled, "cost {cost}");
        // It is a stationary point all the same.
        assert!(dual.certificate.violation < 1e-3, "{}", dual.certificate.violation);
        assert_eq!(dual.solution.certificate, Certificate::None);
        // But no machine: what trains one says which kernel and which solver do not go together.
        let regressor = Regressor { cost, ..Regressor::default() };
        let targets: Vec<f64> = labels.iter().map(|&label| if label { 1.0 } else { -1.0 }).collect();
        for outcome in [
            learner.train(&kernel, &labels, &[], &Control::default()),
            regressor.train(&kernel, &targets, &[], &Control::default()),
        ] {
            let Err(Error::Indefinite { kernel, solver, .. }) = outcome else { panic!("{outcome:?}") };
            assert!(kernel.contains("80 samples") && solver.contains("sequential minimal optimisation"));
        }
    }
}

#[test]
fn a_kernel_of_rank_one_is_not_taken_for_an_indefinite_one() {
    // At high costs β is large and Kβ, the product with a feature that says nothing, is what rounding leaves.
    for seed in 0..40 {
        let x: Vec<f64> = (0..28).map(|i| Samples::random(28, 1, seed).columns[0][i]).collect();
        let labels: Vec<bool> = (0..28).map(|i| i % 3 == 0).collect();
        let kernel = GramRows::new((0..28 * 28).map(|k| x[k / 28] * x[k % 28]).collect(), 28).unwrap();
        for cost in [0.01, 1.0, 100.0, 1e6] {
            let learner = Classifier { cost, ..Classifier::default() };
            let machine = learner.train(&kernel, &labels, &[], &Control::default()).unwrap();
            assert!(!machine.dual.certificate.indefinite, "seed {seed}, cost {cost}");
        }
    }
}

#[test]
fn extreme_scales_converge_or_say_so() {
    let samples = Samples::random(60, 2, 4).gaussian(0.5);
    let targets: Vec<f64> = (0..60).map(|i| samples.samples.columns[0][i]).collect();
    for scale in [1e-150, 1e-8, 1e8, 1e150] {
        let scaled: Vec<f64> = targets.iter().map(|y| y * scale).collect();
        let learner = Regressor { cost: scale, epsilon: 0.1 * scale, ..Regressor::default() };
        let control = Control { tolerance: 1e-7, ..Control::default() };
        let machine = learner.train(&samples, &scaled, &[], &control).unwrap();
        assert_eq!(machine.dual.solution.status, Status::Converged, "scale {scale}");
    }
    let learner = Regressor { cost: 1e12, epsilon: 0.0, ..Regressor::default() };
    let control = Control { max_iterations: 50, ..Control::default() };
    let machine = learner.train(&samples, &targets, &[], &control).unwrap();
    assert!(machine.dual.certificate.duality_gap >= 0.0);
    assert!(machine.dual.solution.iterations <= 50);
}
