use std::sync::atomic::AtomicBool;

use fewest_core::{DenseColumns, FeatureKind, Target};

use super::*;
use crate::LinearSvm;

fn wave(n: u32, step: u32) -> Vec<f64> {
    (0..n).map(|i| f64::from(i * step % 101) / 50.0 - 1.0).collect()
}

/// Samples near crossing lines, one for each class, with a little noise and none where the lines meet.
fn cross_planes(n: u32, slopes: &[f64]) -> Dataset {
    let a: Vec<f64> = wave(n, 7).iter().map(|a| a + 0.15 * a.signum()).collect();
    let noise = wave(n, 30);
    let class: Vec<usize> = (0..n as usize).map(|i| i / 2 % slopes.len()).collect();
    let b = (0..n as usize).map(|i| slopes[class[i]] * a[i] + 0.05 * noise[i]).collect();
    Dataset::new(DenseColumns::from_columns(&[a, b]).unwrap(), Target::from_labels(&class)).unwrap()
}

fn halves(data: &Dataset) -> (Dataset, Dataset) {
    let rows = |rest| (0..data.n_samples()).filter(|i| i % 2 == rest).collect::<Vec<usize>>();
    (data.subset(&rows(0)).unwrap(), data.subset(&rows(1)).unwrap())
}

fn hits(learner: &dyn Learner, train: &Dataset, test: &Dataset) -> f64 {
    let model = learner.fit(train, &Context::seeded(3)).unwrap();
    let Predictions::Classes(found) = model.predict(test.x()).unwrap() else { unreachable!() };
    let Target::Class(classes) = test.target() else { unreachable!() };
    let right = found.iter().zip(classes.codes()).filter(|(a, b)| a == b).count();
    right as f64 / found.len() as f64
}

/// The class that is predicted has most votes, which are the scores when rounded; of two classes the scores
/// are in the order of the decision, and its opposite.
#[test]
fn scores_of_classes_are_in_the_order_of_votes_and_decisions() {
    for (n_classes, slopes) in [(2, vec![0.8, -0.9]), (3, vec![0.0, 1.5, -1.5])] {
        let (train, test) = halves(&cross_planes(200, &slopes));
        for learner in [TwinClassifier::default(), linear(TwinClassifier::tbsvm())] {
            let model = learner.train(&train, &Context::seeded(3)).unwrap();
            let scores = model.score_classes(test.x()).unwrap();
            assert_eq!(scores.len(), n_classes);
            let Predictions::Classes(codes) = model.predict(test.x()).unwrap() else { unreachable!() };
            for (i, code) in codes.iter().enumerate() {
                let votes = scores[*code as usize].1[i].round();
                assert!(scores.iter().all(|(_, values)| values[i].round() <= votes));
            }
            if n_classes == 2 {
                let mut decisions = Vec::new();
                model
                    .visit(test.x(), |features, kernel| {
                        decisions.push(model.pairs.decisions(features, kernel)?[0]);
                        Ok(())
                    })
                    .unwrap();
                let order = fewest_core::order::ascending(&decisions);
                assert_eq!(fewest_core::order::ascending(&scores[0].1), order);
                assert_eq!(fewest_core::order::descending(&scores[1].1), order);
            }
        }
    }
}

fn linear(learner: TwinClassifier) -> TwinClassifier {
    TwinClassifier { kernel: MachineKernel::Linear, ..learner }
}

#[test]
fn two_planes_separate_crossing_classes_where_one_plane_cannot() {
    let (train, test) = halves(&cross_planes(200, &[0.8, -0.9]));
    assert!(hits(&LinearSvm::default(), &train, &test) < 0.7);
    for learner in [TwinClassifier::default(), TwinClassifier::tbsvm()] {
        let found = hits(&linear(learner.clone()), &train, &test);
        assert!(found > 0.93, "linear {}: {found}", learner.name());
        let found = hits(&learner, &train, &test);
        assert!(found > 0.9, "gaussian {}: {found}", learner.name());
    }
    // Three lines: a machine for each pair.
    let (train, test) = halves(&cross_planes(300, &[0.0, 1.5, -1.5]));
    let learner = linear(TwinClassifier::tbsvm());
    let found = hits(&learner, &train, &test);
    assert!(found > 0.85, "{found}");
    let model = learner.train(&train, &Context::seeded(3)).unwrap();
    let pairs: Vec<[u32; 2]> = model.pairs().iter().map(|pair| pair.classes).collect();
    assert_eq!(pairs, [[0, 1], [0, 2], [1, 2]]);
    for pair in model.pairs() {
        let variables: usize = pair.machine.planes.iter().map(|plane| plane.dual.coefficients.len()).sum();
        assert_eq!(pair.samples.len(), variables);
        // `gap()` is never below 0, so each plane is checked.
        for gap in pair.machine.planes.iter().map(|plane| plane.dual.certificate.value()) {
            assert!((-1e-12..=1e-6).contains(&gap), "{gap}");
        }
    }
}

#[test]
fn a_bounded_machine_with_a_small_risk_is_the_twin_machine() {
    let (train, test) = halves(&cross_planes(120, &[0.8, -0.9]));
    for kernel in [MachineKernel::Linear, MachineKernel::Gaussian] {
        let grid = MachineGrid { costs: vec![1.0], gammas: vec![1.0], ..MachineGrid::default() };
        let twin = TwinClassifier { kernel, grid: grid.clone(), ..TwinClassifier::default() };
        let same = TwinRegularization::Bounded(vec![1e-4]);
        let bounded = TwinClassifier { regularization: same, ..twin.clone() };
        assert_eq!((twin.name(), bounded.name()), ("twsvm", "tbsvm"));
        let context = Context::default();
        let (twin, near) = (twin.train(&train, &context).unwrap(), bounded.train(&train, &context).unwrap());
        assert_eq!(twin.pairs(), near.pairs());
        assert_eq!((twin.regularization, twin.cost), (1e-4, 1.0));
        // The regularisation matters: more of it shortens the planes' weights.
        let more = TwinRegularization::Bounded(vec![10.0]);
        let more = TwinClassifier { regularization: more, ..bounded }.train(&train, &context).unwrap();
        for (a, b) in more.pairs()[0].machine.planes.iter().zip(&twin.pairs()[0].machine.planes) {
            let square = |plane: &crate::learners::machine::planes::Plane| {
                plane.bias.powi(2) + plane.weights.iter().map(|w| w * w).sum::<f64>()
            };
            assert!(square(a) < square(b));
        }
        assert!(twin.predict(test.x()).unwrap().n_samples() == test.n_samples());
    }
}

/// From the definition: prediction by the distances of a sample to the model's own planes.
#[test]
fn predictions_are_the_nearer_planes() {
    let (train, test) = halves(&cross_planes(120, &[0.8, -0.9]));
    let model = TwinClassifier::tbsvm().train(&train, &Context::default()).unwrap();
    let VectorKernel::Gaussian { gamma } = model.rows.0.kernel() else { unreachable!() };
    let encoding = Encoding::fit(&train).unwrap();
    let (points, others) = (encoding.encode(train.x()).unwrap(), encoding.encode(test.x()).unwrap());
    let kernel = |a: &[f64], b: &[f64]| (-gamma * fewest_machines::squared_distance(a, b)).exp();
    let Predictions::Classes(found) = model.predict(test.x()).unwrap() else { unreachable!() };
    let pair = &model.pairs()[0];
    for (t, &code) in found.iter().enumerate() {
        let distances = pair.machine.planes.each_ref().map(|plane| {
            let with = |x: &[f64]| -> f64 {
                let terms = plane.weights.iter().zip(&pair.samples);
                terms.map(|(weight, &i)| weight * kernel(points.point(i), x)).sum()
            };
            let square: f64 =
                plane.weights.iter().zip(&pair.samples).map(|(u, &i)| u * with(points.point(i))).sum();
            (with(others.point(t)) + plane.bias).abs() / square.sqrt()
        });
        if (distances[0] - distances[1]).abs() > 1e-6 {
            assert_eq!(code, u32::from(distances[1] < distances[0]));
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_bits_for_any_number_of_threads() {
    let (train, test) = halves(&cross_planes(120, &[0.0, 1.5, -1.5]));
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let model = TwinClassifier::tbsvm().train(&train, &Context::seeded(5)).unwrap();
            (model.pairs().to_vec(), model.predict(test.x()).unwrap())
        })
    };
    assert_eq!(run(1), run(4));
}

#[test]
fn hostile_input_gives_a_model_or_an_error_that_names_it() {
    let context = Context::default();
    let names = || vec!["a".to_owned(), "b".to_owned(), "c".to_owned()];
    let learners = [
        TwinClassifier::default(),
        TwinClassifier::tbsvm(),
        linear(TwinClassifier::default()),
        linear(TwinClassifier::tbsvm()),
    ];
    // Duplicated rows, duplicated and constant features; a class of one sample, one class, a class without
    // any; a sample alone.
    let columns = |n: usize| {
        let x: Vec<f64> = [1.0, 2.0, 3.0, 9.0, 1.0, 2.0].into_iter().take(n).collect();
        DenseColumns::from_columns(&[x.clone(), x, vec![5.0; n]]).unwrap()
    };
    for codes in [vec![0, 0, 0, 2, 0, 0], vec![1; 6], vec![0, 1, 2, 2, 0, 1], vec![0, 1], vec![2]] {
        let target = Target::classes(codes.clone(), names()).unwrap();
        let data = Dataset::new(columns(codes.len()), target).unwrap();
        for learner in &learners {
            let model = learner.fit(&data, &context).unwrap();
            let Predictions::Classes(found) = model.predict(data.x()).unwrap() else { unreachable!() };
            assert!(found.iter().all(|code| codes.contains(code)));
            assert!(model.facts().iter().all(|(_, value)| value.is_finite()));
            let fewer = DenseColumns::from_columns(&[vec![1.0]]).unwrap();
            assert!(matches!(model.predict(&fewer), Err(Error::ShapeMismatch { expected: 3, found: 1, .. })));
        }
    }
    // Nothing but constants; categories.
    let target = || Target::from_labels(&[0, 1, 0, 1]);
    let constant = DenseColumns::from_columns(&[vec![3.0; 4]]).unwrap();
    let levels = vec!["x".to_owned(), "y".to_owned()];
    let words = DenseColumns::from_columns(&[vec![0.0, 1.0, 0.0, 1.0]]).unwrap();
    let words = Dataset::new(words, target()).unwrap();
    let words = words.with_feature_kinds(vec![FeatureKind::Categorical { levels }]).unwrap();
    let constant = Dataset::new(constant, target()).unwrap();
    let nan = DenseColumns::from_columns(&[vec![0.0, f64::NAN, 1.0, 2.0]]).unwrap();
    let nan = Dataset::new(nan, target()).unwrap();
    let huge = DenseColumns::from_columns(&[vec![1e300, -1e300, 1.0, 2.0]]).unwrap();
    let huge = Dataset::new(huge, target()).unwrap();
    let numbers = DenseColumns::from_columns(&[vec![0.0, 1.0, 2.0, 3.0]]).unwrap();
    let numbers = Dataset::new(numbers, Target::real(vec![1.0, 2.5, 3.0, 4.0]).unwrap()).unwrap();
    for learner in &learners {
        let model = learner.fit(&constant, &context).unwrap();
        let Predictions::Classes(found) = model.predict(constant.x()).unwrap() else { unreachable!() };
        assert!(found.iter().all(|code| *code == found[0]));
        let model = learner.fit(&words, &context).unwrap();
        assert_eq!(model.predict(words.x()).unwrap(), Predictions::Classes(vec![0, 1, 0, 1]));
        // A value that is not finite is an error in training and in prediction.
        let error = model.predict(nan.x()).err();
        assert!(matches!(error, Some(Error::NonFinite { row: 1, column: 0, .. })));
        let error = learner.fit(&nan, &context).err();
        assert!(matches!(error, Some(Error::NonFinite { row: 1, column: 0, .. })));
        assert!(matches!(learner.fit(&huge, &context).err(), Some(Error::Numerical { .. })));
        assert!(matches!(learner.fit(&numbers, &context).err(), Some(Error::UnsupportedTarget { .. })));
    }
}

#[test]
fn parameters_out_of_range_and_stops_are_named() {
    let data = cross_planes(40, &[0.8, -0.9]);
    let context = Context::default();
    let name = |learner: TwinClassifier| match learner.fit(&data, &context).err() {
        Some(Error::InvalidParameter { name, .. }) => name,
        other => panic!("{other:?}"),
    };
    let twin = TwinClassifier::default;
    for cost in [0.0, -1.0, f64::NAN] {
        let grid = MachineGrid { costs: vec![cost], ..MachineGrid::default() };
        assert_eq!(name(TwinClassifier { grid, ..twin() }), "costs");
    }
    for ridge in [0.0, -1.0, f64::INFINITY] {
        assert_eq!(
            name(TwinClassifier { regularization: TwinRegularization::Ridge(ridge), ..twin() }),
            "ridge"
        );
    }
    for values in [vec![], vec![0.0], vec![1.0, f64::NAN]] {
        let regularization = TwinRegularization::Bounded(values);
        assert_eq!(name(TwinClassifier { regularization, ..twin() }), "regularizations");
    }
    for relaxation in [0.0, 2.0, f64::NAN] {
        assert_eq!(name(TwinClassifier { relaxation, ..twin() }), "relaxation");
    }
    for tolerance in [0.0, 1.0, f64::NAN] {
        assert_eq!(name(TwinClassifier { tolerance, ..twin() }), "tolerance");
    }
    let raised = AtomicBool::new(true);
    let stopped = Context { interrupt: Some(&raised), ..Context::default() };
    for learner in [twin(), TwinClassifier::tbsvm(), linear(twin())] {
        assert!(matches!(learner.fit(&data, &stopped).err(), Some(Error::Stopped { .. })));
    }
}
