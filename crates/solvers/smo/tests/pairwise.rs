//! More than two classes.

use crate::common::Samples;
use fewest_smo::{Calibration, Classifier, KernelRows, Pairwise};
use fewest_solver::{Control, Error, Status};

#[test]
fn the_wines_are_told_apart() {
    let (samples, codes) = Samples::read(&fewest_testkit::datasets::path("wine.csv"), true);
    let kernel = samples.gaussian(1.0 / 13.0);
    let codes: Vec<u32> = codes.iter().map(|&code| code as u32).collect();
    let trained = Pairwise::train(&Classifier::default(), &kernel, &codes, &[], &Control::default()).unwrap();
    assert_eq!(trained.classes, [0, 1, 2]);
    let pairs: Vec<[u32; 2]> = trained.machines.iter().map(|pair| pair.classes).collect();
    assert_eq!(pairs, [[0, 1], [0, 2], [1, 2]]);
    let mut row = vec![0.0; codes.len()];
    let mut right = 0;
    for (i, &code) in codes.iter().enumerate() {
        kernel.row(i, &mut row);
        right += usize::from(trained.predict(&row).unwrap() == code);
    }
    assert!(right >= 176, "{right} of {}", codes.len());
    for pair in &trained.machines {
        assert_eq!(pair.machine.dual.solution.status, Status::Converged);
        assert!(pair.samples.iter().all(|&i| pair.classes.contains(&codes[i])));
    }
}

#[test]
fn the_wines_have_probabilities_and_warm_starts_change_nothing() {
    let (samples, codes) = Samples::read(&fewest_testkit::datasets::path("wine.csv"), true);
    let kernel = samples.gaussian(1.0 / 13.0);
    let codes: Vec<u32> = codes.iter().map(|&code| code as u32).collect();
    let control = Control::default();
    let (small, large) = (
        Classifier { cost: 0.5, ..Classifier::default() },
        Classifier { cost: 4.0, ..Classifier::default() },
    );
    let near = Pairwise::train(&small, &kernel, &codes, &[], &control).unwrap();
    let warm = Pairwise::train_from(&large, &kernel, &codes, &[], Some(&near), &control).unwrap();
    let cold = Pairwise::train(&large, &kernel, &codes, &[], &control).unwrap();
    for (warm, cold) in warm.machines.iter().zip(&cold.machines) {
        let (a, b) = (&warm.machine.dual, &cold.machine.dual);
        assert!((a.solution.objective - b.solution.objective).abs() < 1e-8 * b.solution.objective.abs());
    }
    let scalings =
        cold.calibrate(&large, &kernel, &codes, &[], Calibration { folds: 5, seed: 7 }, &control).unwrap();
    assert_eq!(
        scalings,
        cold.calibrate(&large, &kernel, &codes, &[], Calibration { folds: 5, seed: 7 }, &control).unwrap()
    );
    assert!(scalings.iter().all(|scaling| scaling.slope < 0.0));
    let mut row = vec![0.0; codes.len()];
    let (mut loss, mut right) = (0.0, 0);
    for (i, &code) in codes.iter().enumerate() {
        kernel.row(i, &mut row);
        let p = cold.probabilities(&scalings, &row).unwrap();
        assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        let best = (0..3).max_by(|&a, &b| p[a].total_cmp(&p[b])).unwrap();
        right += usize::from(best == code as usize);
        loss -= p[code as usize].ln();
    }
    assert!(right >= 176, "{right}");
    assert!(loss < 0.1 * codes.len() as f64, "{loss}");
    assert!(matches!(cold.probabilities(&scalings[1..], &row), Err(Error::ShapeMismatch { .. })));
    let folds = cold.calibrate(&large, &kernel, &codes, &[], Calibration { folds: 1, seed: 7 }, &control);
    assert!(matches!(folds, Err(Error::InvalidParameter { name: "folds", .. })));
    assert!(
        cold.calibrate(&large, &kernel, &codes[1..], &[], Calibration { folds: 5, seed: 7 }, &control)
            .is_err()
    );
}

#[test]
fn a_class_of_one_is_calibrated() {
    let kernel = Samples::random(9, 2, 2).gaussian(1.0);
    let codes = [0, 1, 1, 2, 2, 2, 1, 2, 1];
    let control = Control::default();
    let pairs = Pairwise::train(&Classifier::default(), &kernel, &codes, &[], &control).unwrap();
    let scalings = pairs
        .calibrate(&Classifier::default(), &kernel, &codes, &[], Calibration { folds: 3, seed: 0 }, &control)
        .unwrap();
    let mut row = vec![0.0; 9];
    kernel.row(0, &mut row);
    assert!(pairs.probabilities(&scalings, &row).unwrap().iter().all(|p| p.is_finite() && *p > 0.0));
}

#[test]
fn two_classes_are_the_plain_machine() {
    let kernel = Samples::random(50, 2, 2).gaussian(1.0);
    let labels: Vec<bool> = (0..50).map(|i| kernel.samples.columns[0][i] > 0.2).collect();
    let codes: Vec<u32> = labels.iter().map(|&label| if label { 4 } else { 9 }).collect();
    let weights: Vec<f64> = (0..50).map(|i| f64::from(1 + i % 2)).collect();
    let control = Control::default();
    let plain = Classifier::default().train(&kernel, &labels, &weights, &control).unwrap();
    let pairs = Pairwise::train(&Classifier::default(), &kernel, &codes, &weights, &control).unwrap();
    assert_eq!(pairs.machines.len(), 1);
    assert_eq!(pairs.machines[0].machine, plain);
    let mut row = vec![0.0; 50];
    for i in 0..50 {
        kernel.row(i, &mut row);
        let expected = if plain.decision(&row).unwrap() > 0.0 { 4 } else { 9 };
        assert_eq!(pairs.predict(&row).unwrap(), expected);
    }
}

#[test]
fn faults_are_named() {
    let kernel = Samples::random(6, 2, 2).gaussian(1.0);
    let train = |codes: &[u32], weights: &[f64]| {
        Pairwise::train(&Classifier::default(), &kernel, codes, weights, &Control::default())
    };
    assert!(matches!(train(&[1; 6], &[]), Err(Error::TooFew { minimum: 2, found: 1, .. })));
    assert!(matches!(train(&[0, 1], &[]), Err(Error::ShapeMismatch { found: 2, .. })));
    assert!(matches!(train(&[0, 1, 2, 0, 1, 2], &[1.0]), Err(Error::ShapeMismatch { found: 1, .. })));
    // A class of one sample is enough.
    let trained = train(&[0, 1, 1, 1, 2, 2], &[]).unwrap();
    assert!(matches!(trained.predict(&[0.0; 5]), Err(Error::ShapeMismatch { found: 5, .. })));
    assert_eq!(trained.machines.len(), 3);
}
