use fewest_core::{DenseColumns, FeatureKind, Status, Target};

use super::lbfgs::Objective;
use super::logistic::Problem;
use super::*;
use crate::{KernelLogistic, KernelRidge, Learner, Model, Predictions};

/// Three overlapping classes in two features, 36 samples.
fn blobs() -> (Vec<Vec<f64>>, Vec<u32>) {
    let labels: Vec<u32> = (0..36).map(|i| i % 3).collect();
    let noise = |i: u32, step: u32| f64::from((i * step + 5) % 37) / 18.0 - 1.0;
    let a = (0..36).map(|i| f64::from(i % 3) + 0.9 * noise(i, 11)).collect();
    let b = (0..36).map(|i| f64::from(i % 3 * 2 % 3) * 40.0 + 30.0 * noise(i, 17)).collect();
    (vec![a, b], labels)
}

fn class_data() -> Dataset {
    let (columns, labels) = blobs();
    Dataset::new(DenseColumns::from_columns(&columns).unwrap(), Target::from_labels(&labels)).unwrap()
}

fn real_data() -> Dataset {
    let (columns, _) = blobs();
    let y = columns[0].iter().zip(&columns[1]).map(|(a, b)| a.sin() + b / 50.0 + 3.0).collect();
    Dataset::new(DenseColumns::from_columns(&columns).unwrap(), Target::real(y).unwrap()).unwrap()
}

fn single(width: f64, regularization: f64) -> KernelGrid {
    KernelGrid { widths: vec![width], regularizations: vec![regularization], folds: 3 }
}

/// The Gram matrix from its definition, features standardised here.
fn gram_by_definition(columns: &[Vec<f64>], width: f64) -> Vec<Vec<f64>> {
    let standardised: Vec<Vec<f64>> = columns
        .iter()
        .map(|values| {
            let n = values.len() as f64;
            let mean = values.iter().sum::<f64>() / n;
            let sd = (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / n).sqrt();
            values.iter().map(|value| (value - mean) / sd).collect()
        })
        .collect();
    let n = columns[0].len();
    let entry = |i: usize, j: usize| {
        let squares: f64 = standardised.iter().map(|values| (values[i] - values[j]).powi(2)).sum();
        (-squares / (2.0 * width * width)).exp()
    };
    (0..n).map(|i| (0..n).map(|j| entry(i, j)).collect()).collect()
}

#[test]
fn logistic_regression_is_stationary_by_the_definition() {
    // Where K is regular, ∇F = 0 means λ v_ic = y_ic − p(c | x_i).
    let data = class_data();
    let (columns, labels) = blobs();
    for (width, lambda) in [(0.5, 0.01), (1.0, 0.1), (0.25, 5.0)] {
        let learner =
            KernelLogistic { grid: single(width, lambda), tolerance: 1e-14, ..KernelLogistic::default() };
        let model = learner.train(&data, &Context::default()).unwrap();
        assert_eq!(model.status, Status::Converged);
        assert!(model.certificate <= 1e-14);
        let gram = gram_by_definition(&columns, model.width);
        let v = model.coefficients;
        for (i, row) in gram.iter().enumerate() {
            let score = |c: usize| row.iter().enumerate().map(|(j, k)| k * v[(j, c)]).sum::<f64>();
            let total: f64 = (0..3).map(|c| score(c).exp()).sum();
            for c in 0..3 {
                let target = if labels[i] as usize == c { 1.0 } else { 0.0 };
                let gap = target - score(c).exp() / total - lambda * v[(i, c)];
                // The coefficients of small eigenvalues are determined least.
                assert!(gap.abs() < 2e-4, "width {width}, lambda {lambda}, sample {i}: {gap}");
            }
        }
    }
}

fn objective_by_definition(gram: &[Vec<f64>], labels: &[u32], v: &DMatrix<f64>, lambda: f64) -> f64 {
    let mut value = 0.0;
    for (i, row) in gram.iter().enumerate() {
        let scores: Vec<f64> =
            (0..3).map(|c| row.iter().enumerate().map(|(j, k)| k * v[(j, c)]).sum::<f64>()).collect();
        value += scores.iter().map(|score| score.exp()).sum::<f64>().ln() - scores[labels[i] as usize];
        for c in 0..3 {
            value += 0.5 * lambda * v[(i, c)] * scores[c];
        }
    }
    value
}

#[test]
fn the_certificate_bounds_the_error_of_the_objective() {
    let data = class_data();
    let (columns, labels) = blobs();
    let train = |tolerance: f64| {
        let learner = KernelLogistic { grid: single(1.0, 0.05), tolerance, ..KernelLogistic::default() };
        learner.train(&data, &Context::default()).unwrap()
    };
    let exact = train(1e-15);
    let gram = gram_by_definition(&columns, exact.width);
    let best = objective_by_definition(&gram, &labels, &exact.coefficients, 0.05);
    // scipy 1.17.1, optimize.minimize(method="L-BFGS-B", tol 1e-15) of the same objective in v.
    assert!((best - 6.733417931266889).abs() < 1e-7 * best, "{best}");
    for tolerance in [1e-1, 1e-2, 1e-4, 1e-8] {
        let model = train(tolerance);
        let value = objective_by_definition(&gram, &labels, &model.coefficients, 0.05);
        let scale = 36.0 * 3.0_f64.ln();
        assert!(model.certificate <= tolerance);
        assert!(
            value <= best + model.certificate * scale + 1e-9,
            "{} and {}",
            value - best,
            model.certificate
        );
    }
}

#[test]
fn the_gradient_is_that_of_the_objective() {
    let data = class_data();
    let space = Space::new(&data, &Context::default()).unwrap();
    let (_, labels) = blobs();
    let classes = labels.iter().map(|&label| label as usize).collect();
    let decomposition = Decomposition::new(space.gram(1.0), &Context::default()).unwrap();
    let mut problem = Problem::new(&decomposition, classes, 3);
    let size = decomposition.values.len() * 3;
    let mut at: Vec<f64> = (0..size).map(|i| (i as f64 * 0.7).sin()).collect();
    let mut gradient = vec![0.0; size];
    let mut other = vec![0.0; size];
    problem.evaluate(&at, &mut gradient);
    for i in 0..size {
        let value = at[i];
        at[i] = value + 1e-5;
        let above = problem.evaluate(&at, &mut other);
        at[i] = value - 1e-5;
        let below = problem.evaluate(&at, &mut other);
        at[i] = value;
        assert!(
            ((above - below) / 2e-5 - gradient[i]).abs() < 1e-7 * (1.0 + gradient[i].abs()),
            "variable {i}"
        );
    }
}

#[test]
fn ridge_regression_solves_its_equations_and_interpolates() {
    let data = real_data();
    let (columns, _) = blobs();
    for (width, lambda) in [(0.5, 1e-3), (1.0, 0.1), (4.0, 10.0)] {
        let model = KernelRidge { grid: single(width, lambda) }.train(&data, &Context::default()).unwrap();
        assert!(model.residual < 1e-9, "{}", model.residual);
        // f(x_i) = y_i − λ α_i, with α from a Cholesky solve of the definition.
        let gram = gram_by_definition(&columns, model.width);
        let Target::Real(outputs) = data.target() else { unreachable!() };
        let y = outputs.output(0);
        let mean = y.iter().sum::<f64>() / 36.0;
        let matrix = DMatrix::from_fn(36, 36, |i, j| gram[i][j] + if i == j { lambda } else { 0.0 });
        let alpha = matrix.cholesky().unwrap().solve(&DVector::from_fn(36, |i, _| y[i] - mean));
        let Predictions::Real(predicted) = model.predict(data.x()).unwrap() else { unreachable!() };
        for i in 0..36 {
            assert!((predicted[0][i] - (y[i] - lambda * alpha[i])).abs() < 1e-9);
        }
    }
}

#[test]
fn cross_validation_chooses_the_smallest_held_out_error() {
    // The held-out errors from models fitted one by one with a grid of one entry, on the same folds and
    // standardisation: the columns are standardised beforehand, so that each fold's own standardisation is
    // the only difference.
    let data = real_data();
    let model = KernelRidge::default().train(&data, &Context::seeded(3)).unwrap();
    let space = Space::new(&data, &Context::default()).unwrap();
    let splits = KernelGrid::default().splits(&data, false, &Context::seeded(3)).unwrap();
    let Target::Real(outputs) = data.target() else { unreachable!() };
    let y = outputs.output(0);
    let mut best = (f64::INFINITY, 0.0, 0.0);
    for width in KernelGrid::default().widths {
        for lambda in KernelGrid::default().regularizations {
            let gram = space.gram(width * space.median);
            let mut error = 0.0;
            for split in &splits {
                let n = split.train.len();
                let mean = split.train.iter().map(|&row| y[row]).sum::<f64>() / n as f64;
                let matrix = submatrix(&gram, &split.train, &split.train) + DMatrix::identity(n, n) * lambda;
                let alpha =
                    matrix.cholesky().unwrap().solve(&DVector::from_fn(n, |i, _| y[split.train[i]] - mean));
                let predicted = submatrix(&gram, &split.test, &split.train) * alpha;
                error += split
                    .test
                    .iter()
                    .zip(predicted.iter())
                    .map(|(&row, f)| (y[row] - mean - f).powi(2))
                    .sum::<f64>();
            }
            if error < best.0 {
                best = (error, width * space.median, lambda);
            }
        }
    }
    assert_eq!((model.width, model.regularization), (best.1, best.2));
}

#[test]
fn scaling_and_shifting_a_feature_changes_nothing() {
    let (mut columns, labels) = blobs();
    let data = class_data();
    for value in &mut columns[1] {
        *value = *value * 1e-3 + 1e3;
    }
    let scaled =
        Dataset::new(DenseColumns::from_columns(&columns).unwrap(), Target::from_labels(&labels)).unwrap();
    let learner = KernelLogistic::default();
    let predict = |data: &Dataset| learner.fit(data, &Context::seeded(1)).unwrap().predict(data.x()).unwrap();
    assert_eq!(predict(&data), predict(&scaled));
}

#[test]
fn several_outputs_and_categories() {
    let (columns, labels) = blobs();
    let codes: Vec<f64> = labels.iter().map(|&label| f64::from(label)).collect();
    let x = DenseColumns::from_columns(&[columns[0].clone(), codes.clone()]).unwrap();
    let y = [codes.iter().map(|code| code * code).collect(), columns[0].clone()].concat();
    let levels = vec!["a".to_owned(), "b".to_owned(), "c".to_owned()];
    let data = Dataset::new(x, Target::outputs(y.clone(), 36).unwrap())
        .unwrap()
        .with_feature_kinds(vec![FeatureKind::Numeric, FeatureKind::Categorical { levels }])
        .unwrap();
    let model = KernelRidge::default().fit(&data, &Context::default()).unwrap();
    let Predictions::Real(predicted) = model.predict(data.x()).unwrap() else { unreachable!() };
    for (predicted, actual) in predicted.concat().iter().zip(&y) {
        assert!((predicted - actual).abs() < 0.2, "{predicted} and {actual}");
    }
    // A level that is not in the training samples is no error.
    let unseen = DenseColumns::from_columns(&[vec![0.5], vec![17.0]]).unwrap();
    assert!(model.predict(&unseen).is_ok());
}

#[test]
fn hostile_input() {
    let learner = KernelLogistic::default();
    let context = Context::default();
    // One class only: it is predicted.
    let x = || DenseColumns::from_columns(&[vec![1.0, 2.0, 3.0]]).unwrap();
    let target = Target::classes(vec![1, 1, 1], vec!["a".to_owned(), "b".to_owned()]).unwrap();
    let model = learner.fit(&Dataset::new(x(), target).unwrap(), &context).unwrap();
    assert_eq!(model.predict(&x()).unwrap(), Predictions::Classes(vec![1; 3]));
    // A class with one sample, and constant features.
    let constant = || DenseColumns::from_columns(&[vec![4.0; 5]]).unwrap();
    let target = Target::from_labels(&[0, 0, 0, 0, 1]);
    let model = learner.fit(&Dataset::new(constant(), target).unwrap(), &context).unwrap();
    assert_eq!(model.predict(&constant()).unwrap(), Predictions::Classes(vec![0; 5]));
    // Two samples and one sample.
    let target = Target::real(vec![1.0, 5.0]).unwrap();
    let two = Dataset::new(DenseColumns::new(vec![0.0, 1.0], 2, 1).unwrap(), target).unwrap();
    assert!(KernelRidge::default().fit(&two, &context).is_ok());
    let one =
        Dataset::new(DenseColumns::new(vec![0.0], 1, 1).unwrap(), Target::real(vec![7.0]).unwrap()).unwrap();
    let model = KernelRidge::default().fit(&one, &context).unwrap();
    assert_eq!(model.predict(one.x()).unwrap(), Predictions::Real(vec![vec![7.0]]));
    // Errors that name what is wrong.
    let wrong = KernelGrid { widths: vec![1.0, f64::NAN], ..KernelGrid::default() };
    let error = KernelRidge { grid: wrong }.fit(&two, &context).err().unwrap();
    assert!(matches!(error, Error::InvalidParameter { name: "widths", .. }), "{error}");
    let error = learner.fit(&two, &context).err().unwrap();
    assert!(matches!(error, Error::UnsupportedTarget { method: "kernel-logistic", .. }), "{error}");
    let error = model.predict(&DenseColumns::new(vec![0.0; 2], 1, 2).unwrap()).err().unwrap();
    assert!(matches!(error, Error::ShapeMismatch { expected: 1, found: 2, .. }), "{error}");
    let error = model.predict(&DenseColumns::new(vec![f64::NAN], 1, 1).unwrap()).err().unwrap();
    assert!(matches!(error, Error::NonFinite { column: 0, row: 0, .. }), "{error}");
    let interrupt = std::sync::atomic::AtomicBool::new(true);
    let stopped = Context { interrupt: Some(&interrupt), ..context };
    assert!(matches!(KernelRidge::default().fit(&real_data(), &stopped).err(), Some(Error::Stopped { .. })));
}
