use std::sync::atomic::AtomicBool;

use fewest_core::{DenseColumns, FeatureKind, Target};

use super::*;
use crate::learners::{Learner, Predictions};

fn wave(n: u32, step: u32) -> Vec<f64> {
    (0..n).map(|i| f64::from(i * step % 101) / 50.0 - 1.0).collect()
}

/// Three rings in the plane and an irrelevant feature.
fn rings(n: u32) -> Dataset {
    let (a, b, c) = (wave(n, 7), wave(n, 30), wave(n, 58));
    let ring: Vec<u32> =
        a.iter().zip(&b).map(|(a, b)| ((a * a + b * b) * 2.2) as u32).map(|ring| ring.min(2)).collect();
    let x = DenseColumns::from_columns(&[a, b, c]).unwrap();
    Dataset::new(x, Target::from_labels(&ring)).unwrap()
}

fn hill(n: u32) -> Dataset {
    let (a, b) = (wave(n, 7), wave(n, 30));
    let y = a.iter().zip(&b).map(|(a, b)| 1e4 + 300.0 * (-3.0 * (a * a + b * b)).exp()).collect();
    Dataset::new(DenseColumns::from_columns(&[a, b]).unwrap(), Target::real(y).unwrap()).unwrap()
}

fn halves(data: &Dataset) -> (Dataset, Dataset) {
    let rows = |rest| (0..data.n_samples()).filter(|i| i % 2 == rest).collect::<Vec<usize>>();
    (data.subset(&rows(0)).unwrap(), data.subset(&rows(1)).unwrap())
}

fn hits(learner: &SupportVectorClassifier, train: &Dataset, test: &Dataset) -> f64 {
    let model = learner.fit(train, &Context::seeded(3)).unwrap();
    let Predictions::Classes(found) = model.predict(test.x()).unwrap() else { unreachable!() };
    let Target::Class(classes) = test.target() else { unreachable!() };
    let right = found.iter().zip(classes.codes()).filter(|(a, b)| a == b).count();
    right as f64 / found.len() as f64
}

#[test]
fn curved_classes_need_the_gaussian_kernel() {
    let (train, test) = halves(&rings(200));
    let gaussian = SupportVectorClassifier::default();
    assert!(hits(&gaussian, &train, &test) > 0.9, "{}", hits(&gaussian, &train, &test));
    let linear = SupportVectorClassifier { kernel: MachineKernel::Linear, ..gaussian.clone() };
    assert!(hits(&linear, &train, &test) < 0.8);
    let model = gaussian.train(&train, &Context::seeded(3)).unwrap();
    assert_eq!(model.machines.as_ref().unwrap().machines.len(), 3);
    assert!(gaussian.grid.costs.contains(&model.cost));
    let gap = model.machines.as_ref().unwrap().machines[0].machine.dual.solution.certificate.value();
    assert!((-1e-12..=gaussian.tolerance).contains(&gap), "{gap}");
    // The same seed gives the same model; the last width and cost of a grid can be chosen too.
    let again = gaussian.train(&train, &Context::seeded(3)).unwrap();
    assert_eq!(model.machines, again.machines);
    let one = MachineGrid { costs: vec![7.0], gammas: vec![0.5], ..MachineGrid::default() };
    let fixed = SupportVectorClassifier { grid: one, ..gaussian };
    let model = fixed.train(&train, &Context::default()).unwrap();
    assert_eq!(model.cost, 7.0);
    let VectorKernel::Gaussian { gamma } = model.rows.0.kernel() else { unreachable!() };
    assert!((gamma - 0.5 / 3.0).abs() < 1e-12);
}

/// Whatever is given up on the way, the choice is that of all costs and widths on all folds.
#[test]
fn the_choice_is_that_of_all_candidates() {
    use fewest_smo::{Classifier, Pairwise, Regressor};
    let mut choices = Vec::new();
    for (n, kernel) in
        [(60, MachineKernel::Gaussian), (90, MachineKernel::Linear), (40, MachineKernel::Gaussian)]
    {
        for seed in 0..4 {
            let context = Context::seeded(seed);
            let data = rings(n);
            let Target::Class(classes) = data.target() else { unreachable!() };
            let codes = classes.codes();
            let learner = SupportVectorClassifier { kernel, ..SupportVectorClassifier::default() };
            let space = Space::new(&data, kernel, &context).unwrap();
            let (kernels, costs) = (learner.grid.kernels(kernel, space.unit), learner.grid.sorted_costs());
            let splits = learner.grid.splits(&data, 8, true, &context).unwrap();
            let (mut most, mut best) = (0, (kernels[0], costs[0]));
            for &kernel in &kernels {
                let rows = space.rows(kernel).unwrap();
                let mut hits = vec![0; costs.len()];
                for split in &splits {
                    let own: Vec<u32> = split.train.iter().map(|&i| codes[i]).collect();
                    let train = train_rows(&*rows, split).unwrap();
                    let mut last: Option<Pairwise> = None;
                    for (hits, &cost) in hits.iter_mut().zip(&costs) {
                        let one = Classifier { cost, ..Classifier::default() };
                        let control = control(ROUGH, &context);
                        let machine =
                            Pairwise::train_from(&one, &train, &own, &[], last.as_ref(), &control).unwrap();
                        visit_tests(&*rows, split, |i, row| {
                            *hits += usize::from(machine.predict(row)? == codes[i]);
                            Ok(())
                        })
                        .unwrap();
                        last = Some(machine);
                    }
                }
                for (&hits, &cost) in hits.iter().zip(&costs) {
                    if hits > most {
                        (most, best) = (hits, (kernel, cost));
                    }
                }
            }
            let model = learner.train(&data, &context).unwrap();
            assert_eq!((model.rows.0.kernel(), model.cost), best, "{n} {kernel:?} {seed}");
            choices.push(format!("{best:?}"));

            let data = hill(n);
            let learner = SupportVectorRegression {
                kernel,
                epsilons: vec![0.3, 0.01],
                ..SupportVectorRegression::default()
            };
            let Target::Real(outputs) = data.target() else { unreachable!() };
            let values = outputs.output(0);
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            let scale =
                (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / values.len() as f64).sqrt();
            let targets: Vec<f64> = values.iter().map(|value| (value - mean) / scale).collect();
            let space = Space::new(&data, kernel, &context).unwrap();
            let splits = learner.grid.splits(&data, 8, false, &context).unwrap();
            let mut best = (f64::INFINITY, 0.0, 0.0, 0.0);
            for kernel in learner.grid.kernels(kernel, space.unit) {
                let rows = space.rows(kernel).unwrap();
                for epsilon in [0.3, 0.01] {
                    let mut errors = vec![0.0; costs.len()];
                    for split in &splits {
                        let own: Vec<f64> = split.train.iter().map(|&i| targets[i]).collect();
                        let train = train_rows(&*rows, split).unwrap();
                        let mut start = Vec::new();
                        for (error, &cost) in errors.iter_mut().zip(&costs) {
                            let one = Regressor { cost, epsilon, ..Regressor::default() };
                            let control = control(ROUGH, &context);
                            let machine = one.train_from(&train, &own, &[], &start, &control).unwrap();
                            visit_tests(&*rows, split, |i, row| {
                                *error += (machine.decision(row)? - targets[i]).powi(2);
                                Ok(())
                            })
                            .unwrap();
                            start = machine.dual.solution.coefficients;
                        }
                    }
                    for (error, &cost) in errors.into_iter().zip(&costs) {
                        if error < best.0 {
                            best = (error, gamma_of(kernel), cost, epsilon);
                        }
                    }
                }
            }
            let model = learner.train(&data, &context).unwrap();
            let found = (gamma_of(model.rows.0.kernel()), model.cost, model.epsilon);
            assert_eq!(found, (best.1, best.2, best.3), "{n} {kernel:?} {seed}");
        }
    }
    choices.sort();
    choices.dedup();
    assert!(choices.len() > 2, "{choices:?}");
}

/// What is only to predict predicts the same.
#[test]
fn predictions_do_not_need_what_probabilities_take() {
    let (train, test) = halves(&rings(200));
    let learner: Box<dyn Learner> = Box::new(SupportVectorClassifier::default());
    let [whole, part] =
        [learner.fit(&train, &Context::seeded(3)), learner.fit_to_predict(&train, &Context::seeded(3))]
            .map(Result::unwrap);
    assert_eq!(whole.predict(test.x()), part.predict(test.x()));
    assert_eq!(whole.facts(), part.facts());
    let train = |calibrated| {
        let model = SupportVectorClassifier::default().train_with(&train, calibrated, &Context::seeded(3));
        model.unwrap().scalings.len()
    };
    assert_eq!((train(true), train(false)), (3, 0));
}

/// The probabilities of three rings: shares that say more of the test samples than the frequencies do.
#[test]
fn probabilities_are_those_of_samples_never_seen() {
    use crate::{AreaUnderCurve, ClassScoring, LogLoss, Metric};
    let (train, test) = halves(&rings(300));
    let learner = SupportVectorClassifier::default();
    let model = learner.fit(&train, &Context::seeded(3)).unwrap();
    let needed = ClassScoring::Probabilities;
    let predicted = crate::learners::predict(&*model, learner.scoring(), needed, test.x()).unwrap();
    let Predictions::Scored(scored) = &predicted else { panic!("{predicted:?}") };
    for i in 0..test.n_samples() {
        let shares: Vec<f64> = scored.scores.iter().map(|(_, values)| values[i]).collect();
        assert!(
            (shares.iter().sum::<f64>() - 1.0).abs() < 1e-9 && shares.iter().all(|p| (0.0..=1.0).contains(p))
        );
    }
    assert!(LogLoss.score(test.target(), &predicted).unwrap() < 0.35);
    assert!(AreaUnderCurve.score(test.target(), &predicted).unwrap() > 0.97);
    // Classes that have nothing to do with the features: no sample is surely of one of them.
    let codes: Vec<u32> = (0..train.n_samples()).map(|i| (i * i % 7 % 2) as u32).collect();
    let chance = train.with_target(Target::from_labels(&codes)).unwrap();
    let model = learner.fit(&chance, &Context::seeded(3)).unwrap();
    let scores = model.score_classes(chance.x()).unwrap();
    assert!(scores.iter().flat_map(|(_, values)| values).all(|p| (0.05..0.95).contains(p)), "{scores:?}");
}

#[test]
fn a_curve_is_predicted_in_any_unit() {
    use crate::{Metric, QSquared};
    let (train, test) = halves(&hill(200));
    let learner = SupportVectorRegression { epsilons: vec![0.3, 0.01], ..SupportVectorRegression::default() };
    let model = learner.train(&train, &Context::default()).unwrap();
    assert_eq!(model.epsilon, 0.01);
    let predicted = crate::Model::predict(&model, test.x()).unwrap();
    let error = QSquared.score(test.target(), &predicted).unwrap();
    assert!(error < 1e-3, "{error}");
    let linear = SupportVectorRegression { kernel: MachineKernel::Linear, ..learner };
    let predicted = linear.fit(&train, &Context::default()).unwrap().predict(test.x()).unwrap();
    assert!(QSquared.score(test.target(), &predicted).unwrap() > 0.5);
}

#[test]
fn the_machine_is_that_of_the_chosen_parameters() {
    // The same machine trained without a start, on distances computed here.
    let (train, _) = halves(&hill(120));
    let model = SupportVectorRegression::default().train(&train, &Context::default()).unwrap();
    let VectorKernel::Gaussian { gamma } = model.rows.0.kernel() else { unreachable!() };
    let points = Encoding::fit(&train).unwrap().encode(train.x()).unwrap();
    let coefficients = &model.machine.dual.solution.coefficients;
    let Target::Real(outputs) = train.target() else { unreachable!() };
    let predicted = crate::Model::predict(&model, train.x()).unwrap();
    let Predictions::Real(predicted) = predicted else { unreachable!() };
    let values = outputs.output(0);
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let deviation =
        (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / values.len() as f64).sqrt();
    for i in 0..train.n_samples() {
        let sum: f64 = (0..train.n_samples())
            .map(|j| {
                let distance = fewest_machines::squared_distance(points.point(i), points.point(j));
                coefficients[j] * (-gamma * distance).exp()
            })
            .sum();
        let expected = mean + deviation * (sum + model.machine.bias);
        assert!((predicted[0][i] - expected).abs() < 1e-8 * deviation);
    }
}

#[test]
fn hostile_input_gives_a_model_or_an_error_that_names_it() {
    let classifier = SupportVectorClassifier::default();
    let context = Context::default();
    let names = || vec!["a".to_owned(), "b".to_owned(), "c".to_owned()];
    // Duplicated and constant features; a class of one sample, one class, a class without any.
    let columns = || {
        let x = vec![1.0, 2.0, 3.0, 9.0, 1.0, 2.0];
        DenseColumns::from_columns(&[x.clone(), x, vec![5.0; 6]]).unwrap()
    };
    for codes in [vec![0, 0, 0, 2, 0, 0], vec![1; 6], vec![0, 1, 2, 2, 0, 1]] {
        let data = Dataset::new(columns(), Target::classes(codes.clone(), names()).unwrap()).unwrap();
        for kernel in [MachineKernel::Gaussian, MachineKernel::Linear] {
            let learner = SupportVectorClassifier { kernel, ..classifier.clone() };
            let model = learner.fit(&data, &context).unwrap();
            let Predictions::Classes(found) = model.predict(data.x()).unwrap() else { unreachable!() };
            assert!(found.iter().all(|code| codes.contains(code)));
            assert!(model.facts().iter().all(|(_, value)| value.is_finite()));
            for (code, values) in model.score_classes(data.x()).unwrap() {
                assert!(
                    codes.contains(&code) && values.iter().all(|p| (0.0..=1.0).contains(p)),
                    "{values:?}"
                );
            }
        }
    }
    // Nothing but constants, two samples, one sample, a constant target, categories.
    let levels = vec!["x".to_owned(), "y".to_owned()];
    let regression = SupportVectorRegression::default();
    for (column, target) in [
        (vec![2.0; 5], vec![1.0, 2.0, 3.0, 4.0, 5.0]),
        (vec![0.0, 1.0], vec![3.0, 4.0]),
        (vec![0.0], vec![7.0]),
        (vec![0.0, 1.0, 0.0, 1.0], vec![0.1; 4]),
    ] {
        let n = column.len();
        let x = DenseColumns::from_columns(&[column]).unwrap();
        let mut data = Dataset::new(x, Target::real(target.clone()).unwrap()).unwrap();
        if n == 4 {
            data =
                data.with_feature_kinds(vec![FeatureKind::Categorical { levels: levels.clone() }]).unwrap();
        }
        let model = regression.fit(&data, &context).unwrap();
        let Predictions::Real(found) = model.predict(data.x()).unwrap() else { unreachable!() };
        assert!(found[0].iter().all(|value| value.is_finite()));
        if n == 4 || n == 1 {
            assert_eq!(found[0], target);
        }
    }
    // Values that are not finite, or too large.
    let target = || Target::from_labels(&[0, 1, 0, 1]);
    let nan = DenseColumns::from_columns(&[vec![0.0, f64::NAN, 1.0, 2.0]]).unwrap();
    let error = classifier.fit(&Dataset::new(nan, target()).unwrap(), &context).err().unwrap();
    assert!(matches!(error, Error::NonFinite { row: 1, column: 0, .. }));
    let huge = DenseColumns::from_columns(&[vec![1e300, -1e300, 1.0, 2.0]]).unwrap();
    let error = classifier.fit(&Dataset::new(huge, target()).unwrap(), &context).err().unwrap();
    assert!(matches!(error, Error::Numerical { .. }));
    // Targets of another kind.
    assert!(matches!(classifier.fit(&hill(10), &context).err(), Some(Error::UnsupportedTarget { .. })));
    assert!(matches!(regression.fit(&rings(10), &context).err(), Some(Error::UnsupportedTarget { .. })));
}

#[test]
fn parameters_out_of_range_and_stops_are_named() {
    let (classes, numbers) = (rings(40), hill(40));
    let context = Context::default();
    let name = |error: Option<Error>| match error {
        Some(Error::InvalidParameter { name, .. }) => name,
        other => panic!("{other:?}"),
    };
    let grids = [
        (MachineGrid { costs: vec![0.0], ..MachineGrid::default() }, "costs"),
        (MachineGrid { costs: vec![], ..MachineGrid::default() }, "costs"),
        (MachineGrid { costs: vec![1.0, f64::NAN], ..MachineGrid::default() }, "costs"),
        (MachineGrid { gammas: vec![-1.0], ..MachineGrid::default() }, "gammas"),
        (MachineGrid { folds: 1, ..MachineGrid::default() }, "folds"),
    ];
    for (grid, expected) in grids {
        let learner = SupportVectorClassifier { grid: grid.clone(), ..SupportVectorClassifier::default() };
        assert_eq!(name(learner.fit(&classes, &context).err()), expected);
        let learner = SupportVectorRegression { grid, ..SupportVectorRegression::default() };
        assert_eq!(name(learner.fit(&numbers, &context).err()), expected);
    }
    for tolerance in [0.0, 1.0, f64::NAN] {
        let learner = SupportVectorRegression { tolerance, ..SupportVectorRegression::default() };
        assert_eq!(name(learner.fit(&numbers, &context).err()), "tolerance");
    }
    let learner = SupportVectorRegression { epsilons: vec![-0.1], ..SupportVectorRegression::default() };
    assert_eq!(name(learner.fit(&numbers, &context).err()), "epsilons");
    let raised = AtomicBool::new(true);
    let stopped = Context { interrupt: Some(&raised), ..Context::default() };
    let error = SupportVectorClassifier::default().fit(&classes, &stopped).err();
    assert!(matches!(error, Some(Error::Stopped { .. })));
    let error = SupportVectorRegression::default().fit(&numbers, &stopped).err();
    assert!(matches!(error, Some(Error::Stopped { .. })));
}
