//! MIK-FS from outside: the laws of every selector, threads, several classes, predictions, hostile input.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use fewest_core::method::{KernelWidth, Regularization};
use fewest_core::{
    Budget, Certificate, Context, Dataset, DenseColumns, Error, FeatureKind, OnDemand, Selector, Status,
    Target, derive_seed,
};
use fewest_mkl::{BaseKernel, BaseKernels, Gmkl, MikFs, Rfmkl};
use fewest_testkit::StopAt;
use fewest_testkit::conformance::{check_selector, problem};

fn wave(n: usize, step: usize) -> Vec<f64> {
    (0..n).map(|i| (i * step % (n + 1)) as f64 / n as f64 * 2.0 - 1.0).collect()
}

/// Twelve features; the classes are thirds of the sum of the first two.
fn three_classes() -> Result<Dataset, Error> {
    let columns: Vec<Vec<f64>> =
        [1, 17, 23, 9, 13, 29, 31, 37, 41, 43, 47, 53].iter().map(|&step| wave(96, step)).collect();
    let labels: Vec<u8> = (0..96)
        .map(|i| {
            let sum = columns[0][i] + columns[1][i];
            u8::from(sum > -0.4) + u8::from(sum > 0.4)
        })
        .collect();
    Dataset::new(DenseColumns::from_columns(&columns)?, Target::from_labels(&labels))
}

fn mixed() -> BaseKernels {
    BaseKernels(vec![
        BaseKernel::default(),
        BaseKernel::Gaussian { sigma: KernelWidth::Value(1.0) },
        BaseKernel::Polynomial { degree: 2, offset: 1.0, scale: 1.0 },
    ])
}

#[test]
fn the_laws_of_selectors_hold_for_classes_and_outputs() {
    for classes in [true, false] {
        check_selector(&MikFs::default(), &problem(classes), 3);
        check_selector(&MikFs { kernel: mixed(), ..MikFs::default() }, &problem(classes), 2);
    }
}

#[test]
fn three_classes_share_their_weights_and_are_told_apart() -> Result<(), Error> {
    let data = three_classes()?;
    for kernel in [
        BaseKernels::default(),
        BaseKernels(vec![BaseKernel::Gaussian { sigma: KernelWidth::Value(1.0) }]),
        mixed(),
    ] {
        let method = MikFs { kernel, ..MikFs::default() };
        let selection = method.select(&data, Budget::Count(2), &Context::default())?;
        let mut found = selection.order.clone();
        found.sort_unstable();
        assert_eq!(found, [0, 1], "{:?}", method.kernel);
        let Some(model) = method.fit(&data, &Context::default())? else { panic!("nothing was selected") };
        let Target::Class(classes) = data.target() else { panic!("classes") };
        let predicted = model.predict(data.x())?;
        let right = predicted.iter().zip(classes.codes()).filter(|(p, c)| **p == f64::from(**c)).count();
        assert!(right >= 80, "{right} of 96: {:?}", method.kernel);
        assert!(model.alternation.history.windows(2).all(|pair| pair[1] <= pair[0]));
        assert!(model.alternation.weight_violation < 1e-5 && model.alternation.convex_gap < 1e-8);
    }
    Ok(())
}

#[test]
fn an_output_is_predicted_on_its_own_scale() -> Result<(), Error> {
    let (a, b, c) = (wave(60, 1), wave(60, 17), wave(60, 23));
    let y: Vec<f64> = a.iter().zip(&b).map(|(a, b)| 1000.0 + 50.0 * (2.0 * a + b)).collect();
    let data = Dataset::new(DenseColumns::from_columns(&[c, a, b])?, Target::real(y.clone())?)?;
    let method = MikFs { regularization: Regularization::Ratio(0.001), ..MikFs::default() };
    assert_eq!(method.select(&data, Budget::Count(2), &Context::default())?.order, [1, 2]);
    let Some(model) = method.fit(&data, &Context::default())? else { panic!("nothing was selected") };
    let mean_square = |predicted: &[f64]| -> f64 {
        predicted.iter().zip(&y).map(|(p, y)| (p - y).powi(2)).sum::<f64>() / 60.0
    };
    let (own, constant) = (mean_square(&model.predict(data.x())?), mean_square(&[1000.0; 60]));
    assert!(own < 0.2 * constant, "{own} {constant}");
    Ok(())
}

#[test]
fn threads_change_no_bit() -> Result<(), Box<dyn std::error::Error>> {
    let data = three_classes()?;
    let run = |threads: usize| -> Result<_, Box<dyn std::error::Error>> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
        let method = MikFs {
            regularization: Regularization::CrossValidated { folds: 3 },
            kernel: mixed(),
            ..MikFs::default()
        };
        Ok(pool.install(|| method.select(&data, Budget::Auto, &Context::seeded(3)))?)
    };
    let one = run(1)?;
    for threads in [2, 7] {
        let other = run(threads)?;
        assert_eq!((&one.order, &one.scores, &one.path), (&other.order, &other.scores, &other.path));
    }
    Ok(())
}

#[test]
fn cross_validation_prefers_penalties_that_tell_classes_apart() -> Result<(), Error> {
    let path = MikFs::default().validate(&three_classes()?, 4, &Context::seeded(1))?;
    let best = path.iter().map(|point| point.score).fold(0.0, f64::max);
    assert!(best > 0.7, "{path:?}");
    assert!(path[0].score < best, "almost no feature is as good as the best: {path:?}");
    assert!(path.windows(2).all(|pair| pair[1].ratio < pair[0].ratio));
    Ok(())
}

/// What is given up does not change which penalty is the best, and what is left has the same scores.
#[test]
fn the_best_penalty_is_found_without_those_that_cannot_be() -> Result<(), Error> {
    let penalties = [1e3, 30.0, 10.0, 3.0, 1.0, 0.3, 0.1];
    let best = |path: &[fewest_mkl::ValidationPoint]| {
        path.iter().enumerate().rev().max_by(|a, b| a.1.score.total_cmp(&b.1.score)).map(|(at, _)| at)
    };
    let data = three_classes()?;
    for (seed, scale) in [(1, 1.0), (2, 0.1), (3, 10.0)] {
        let kernel = BaseKernels(vec![BaseKernel::Sigmoid { scale, shift: 0.0 }]);
        let method = MikFs { kernel, iterations: 20, ..MikFs::default() };
        let context = Context::seeded(seed);
        let all = method.validate_at(&data, 4, &penalties, &context)?;
        let some = method.validate_while(&data, 4, &penalties, &|_, _| true, &context)?;
        assert_eq!(best(&some), best(&all));
        assert_eq!(some[..], all[..some.len()]);
        // With what is worth it known from before.
        let at = best(&all).unwrap_or(0);
        let score = all[at].score;
        let worth = |other: usize, most: f64| most > score || (most == score && other <= at);
        assert_eq!(best(&method.validate_while(&data, 4, &penalties, &worth, &context)?), Some(at));
    }
    Ok(())
}

#[test]
fn categories_and_duplicates_are_no_trouble() -> Result<(), Error> {
    let data = three_classes()?;
    let mut columns: Vec<Vec<f64>> =
        (0..3).map(|j| data.x().column(j, &mut Vec::new()).unwrap().to_vec(96)).collect();
    columns.push(columns[0].clone());
    let Target::Class(classes) = data.target() else { panic!("classes") };
    columns.push(classes.codes().iter().map(|&code| f64::from(code)).collect());
    let mut kinds = vec![FeatureKind::Numeric; 5];
    kinds[4] = FeatureKind::Categorical { levels: vec!["a".into(), "b".into(), "c".into()] };
    let data = Dataset::new(DenseColumns::from_columns(&columns)?, data.target().clone())?
        .with_feature_kinds(kinds)?;
    let selection = MikFs::default().select(&data, Budget::Count(5), &Context::default())?;
    assert!(selection.order.contains(&4), "{:?}", selection.order);
    Ok(())
}

fn ionosphere() -> Result<Dataset, fewest_data::Error> {
    let options = fewest_data::ReadOptions::with_target("target");
    let table = fewest_data::Table::read(fewest_testkit::datasets::path("ionosphere.csv"), &options)?;
    Ok(table.complete(fewest_data::Missing::Error)?.dataset)
}

/// What the default settings select is what much tighter ones do, and the certificate says so.
#[test]
fn the_default_settles_what_is_selected() -> Result<(), Box<dyn std::error::Error>> {
    let data = ionosphere()?;
    for scale in [1.0, 10.0, 100.0] {
        let method = |tolerance: f64, min_improvement: f64| MikFs {
            kernel: BaseKernels(vec![BaseKernel::Sigmoid { scale, shift: 0.0 }]),
            regularization: Regularization::Ratio(0.02),
            tolerance,
            min_improvement,
            iterations: 20_000,
            ..MikFs::default()
        };
        let standard = MikFs::default();
        let (own, tight) = (method(standard.tolerance, standard.min_improvement), method(1e-10, 1e-12));
        let own = own.select(&data, Budget::Auto, &Context::default())?;
        let tight = tight.select(&data, Budget::Auto, &Context::default())?;
        assert_eq!(own.order, tight.order, "{scale}");
        let report = own.solver.as_ref().map(|report| (report.status, report.certificate));
        let Some((Status::Converged, Certificate::Stationarity { relative })) = report else {
            panic!("{scale}: {report:?}")
        };
        let summary = own.alternation.unwrap_or_default();
        assert_eq!(relative, summary.weight_violation.max(summary.machine_violation));
        assert!(relative <= standard.tolerance, "{scale}: {relative}");
    }
    Ok(())
}

/// `(β, d) → (β/c, c d)` turns the problem of `(λ₁, λ₂)` into that of `(c λ₁, λ₂/c)`: why `lambda1` is no
/// cost of errors.
/// With more features than samples and a small penalty the alternation falls by more than the share that
/// brings Newton steps for hundreds of times: half of the iterations are left to these.
#[test]
fn a_slow_alternation_leaves_half_of_its_iterations_to_newton_steps() -> Result<(), Error> {
    let columns: Vec<Vec<f64>> = (0..60)
        .map(|j| (0..30).map(|i| derive_seed(j, i) as f64 / u64::MAX as f64 - 0.5).collect())
        .collect();
    let labels: Vec<bool> = columns[0].iter().zip(&columns[1]).map(|(a, b)| a + b > 0.0).collect();
    let data = Dataset::new(DenseColumns::from_columns(&columns)?, Target::from_labels(&labels))?;
    for ratio in [1e-3, 1e-4, 1e-5] {
        let method = MikFs {
            kernel: BaseKernels(vec![BaseKernel::Gaussian { sigma: KernelWidth::Value(1.0) }]),
            regularization: Regularization::Ratio(ratio),
            iterations: 60,
            ..MikFs::default()
        };
        let Some(model) = method.fit(&data, &Context::default())? else { panic!("nothing was found") };
        let end = &model.alternation;
        assert_eq!(end.status, Status::Converged, "{ratio}: {}", end.weight_violation);
        assert!(end.newton_steps > 0 && end.history.len() <= 61, "{}", end.history.len());
    }
    Ok(())
}

#[test]
fn the_ridge_rescales_the_scores_and_nothing_else() -> Result<(), Error> {
    let data = three_classes()?;
    for kernel in [BaseKernels::default(), mixed()] {
        let select = |lambda1: f64| {
            let method = MikFs { kernel: kernel.clone(), lambda1, ..MikFs::default() };
            method.select(&data, Budget::Auto, &Context::default())
        };
        let (one, other) = (select(1.0)?, select(4.0)?);
        assert!(one.order.len() > 1 && one.order == other.order, "{:?} {:?}", one.order, other.order);
        for (a, b) in one.scores.iter().zip(&other.scores) {
            assert!((4.0 * a - b).abs() < 1e-6 * other.scores[0], "{a} {b}");
        }
    }
    Ok(())
}

#[test]
fn what_cannot_be_done_is_said() -> Result<(), Error> {
    let data = problem(true);
    let context = Context::default();
    let fails = |method: MikFs| method.select(&data, Budget::Count(1), &context).err().map(|e| e.to_string());
    let standard = MikFs::default;
    for (name, method) in [
        ("lambda1", MikFs { lambda1: 0.0, ..standard() }),
        ("`lambda`", MikFs { regularization: Regularization::Value(f64::NAN), ..standard() }),
        ("lambda_ratio", MikFs { regularization: Regularization::Ratio(0.0), ..standard() }),
        ("lambda_folds", MikFs { regularization: Regularization::CrossValidated { folds: 1 }, ..standard() }),
        (
            "lambda_folds",
            MikFs { regularization: Regularization::CrossValidated { folds: 1000 }, ..standard() },
        ),
        ("epsilon", MikFs { epsilon: -1.0, ..standard() }),
        ("threshold", MikFs { threshold: 1.0, ..standard() }),
        ("factor_tolerance", MikFs { factor_tolerance: 0.0, ..standard() }),
        ("min_improvement", MikFs { min_improvement: f64::INFINITY, ..standard() }),
        ("iterations", MikFs { iterations: 0, ..standard() }),
        ("kernel", MikFs { kernel: BaseKernels(Vec::new()), ..standard() }),
        (
            "scale",
            MikFs {
                kernel: BaseKernels(vec![BaseKernel::Sigmoid { scale: f64::NAN, shift: 0.0 }]),
                ..standard()
            },
        ),
        (
            "sigma",
            MikFs {
                kernel: BaseKernels(vec![BaseKernel::Gaussian { sigma: KernelWidth::Value(0.0) }]),
                ..standard()
            },
        ),
    ] {
        let message = fails(method).unwrap_or_default();
        assert!(message.contains(name), "{name}: {message}");
    }
    let overflow = BaseKernel::Polynomial { degree: 64, offset: 1e300, scale: 1.0 };
    assert!(fails(MikFs { kernel: BaseKernels(vec![overflow]), ..standard() }).is_some());
    let one_class = Dataset::new(DenseColumns::from_columns(&[wave(9, 1)])?, Target::from_labels(&["a"; 9]))?;
    let outcome = MikFs::default().select(&one_class, Budget::Auto, &context);
    assert!(matches!(outcome, Err(Error::TooFew { minimum: 2, found: 1, .. })));
    let flat = Dataset::new(DenseColumns::from_columns(&[wave(9, 1)])?, Target::real(vec![2.0; 9])?)?;
    assert!(MikFs::default().select(&flat, Budget::Auto, &context).is_err());
    let constant = Dataset::new(
        DenseColumns::from_columns(&[vec![1.0; 4], vec![2.0; 4]])?,
        Target::from_labels(&[0, 0, 1, 1]),
    )?;
    assert!(MikFs::default().select(&constant, Budget::Count(1), &context)?.order.is_empty());
    // A class of one sample, and two samples in all.
    let lone = Dataset::new(DenseColumns::from_columns(&[vec![1.0, 2.0]])?, Target::from_labels(&[0, 1]))?;
    assert_eq!(MikFs::default().select(&lone, Budget::Count(1), &context)?.order, [0]);
    Ok(())
}

#[test]
fn a_run_can_be_stopped() -> Result<(), Error> {
    let data = problem(true);
    let raised = AtomicBool::new(true);
    let interrupted = Context { interrupt: Some(&raised), ..Context::default() };
    let outcome = MikFs::default().select(&data, Budget::Count(1), &interrupted);
    assert!(matches!(outcome, Err(Error::Stopped { .. })), "{outcome:?}");
    let late = Context { deadline: Some(Instant::now() + Duration::from_secs(3600)), ..Context::default() };
    assert_eq!(MikFs::default().select(&data, Budget::Count(1), &late)?.status, Status::Converged);
    Ok(())
}

/// Wherever it is stopped, a run says so and has the best of what it has found; it never says that it has
/// converged.
#[test]
fn a_run_that_is_stopped_midway_has_what_it_has_found() -> Result<(), Error> {
    let data = problem(true);
    let d = data.n_features();
    let folds = MikFs { regularization: Regularization::CrossValidated { folds: 3 }, ..MikFs::default() };
    let gmkl = Gmkl::default();
    let rfmkl = Rfmkl { regularization: Regularization::Ratio(0.9), ..Rfmkl::default() };
    let methods: [(&str, &dyn Selector); 4] =
        [("mik-fs", &MikFs::default()), ("folds", &folds), ("gmkl", &gmkl), ("rfmkl", &rfmkl)];
    for (name, method) in methods {
        let mut most = 1;
        let mut partial = 0;
        loop {
            let stop = StopAt::report(most);
            let outcome = method.select(&data, Budget::Count(d), &stop.context(0));
            if stop.n_reports() < most {
                assert!(!outcome?.status.is_stopped(), "{name}");
                break;
            }
            match outcome {
                Err(Error::Stopped { .. }) => assert_eq!(partial, 0, "{name} {most}: had something before"),
                Ok(selection) => {
                    partial += 1;
                    // The flag may be raised by the last thing there was to do.
                    if selection.status != Status::Interrupted {
                        assert!(stop.n_reports() <= most, "{name} {most}: {selection:?}");
                    }
                    assert!(selection.scores.iter().all(|score| *score > 0.0 && score.is_finite()), "{name}");
                }
                Err(error) => return Err(error),
            }
            most = most + 1 + most / 8;
        }
        assert!(partial > 0 || name == "rfmkl", "{name}: never stopped with an answer");
    }
    Ok(())
}

#[test]
fn a_path_that_is_stopped_has_its_first_models() -> Result<(), Error> {
    let data = problem(true);
    let largest = MikFs::default().fit(&data, &Context::default())?.unwrap().alternation.lambda / 0.1;
    let penalties: Vec<f64> = [0.5, 0.3, 0.2, 0.1].iter().map(|ratio| ratio * largest).collect();
    let whole = MikFs::default().fit_path(&data, &penalties, &Context::default())?;
    assert_eq!(whole.len(), 4);
    let mut seen = Vec::new();
    for most in 1..100 {
        let stop = StopAt::report(most);
        let context = stop.context(0);
        let models = match MikFs::default().fit_path(&data, &penalties, &context) {
            Err(Error::Stopped { .. }) if seen.is_empty() => continue,
            models => models?,
        };
        for (model, whole) in models.iter().zip(&whole) {
            if !model.alternation.status.is_stopped() {
                assert_eq!(model.weights, whole.weights);
            }
        }
        seen.push(models.len());
    }
    assert!(seen.is_sorted() && seen[0] == 1 && seen.contains(&4), "{seen:?}");
    Ok(())
}

#[test]
fn folds_without_a_class_or_a_feature_are_judged_as_they_are() -> Result<(), Error> {
    let context = Context::default();
    let labels =
        |n: usize, ones: usize| Target::from_labels(&(0..n).map(|i| u8::from(i < ones)).collect::<Vec<_>>());
    let wave: Vec<f64> = (0..20).map(|i| f64::from(i * 7 % 20)).collect();
    let lone = Dataset::new(DenseColumns::from_columns(&[wave])?, labels(20, 1))?;
    let error = MikFs::default().validate(&lone, 4, &context).unwrap_err();
    assert!(error.to_string().contains("smaller class"), "{error}");
    // The feature varies in one sample only, so that it is constant outside the fold which that one is in:
    // there the majority is predicted, 3 of 4 right, as everywhere else at a penalty that is too high.
    let mut spike = vec![0.0; 16];
    spike[0] = 1.0;
    let data = Dataset::new(DenseColumns::from_columns(&[spike])?, labels(16, 4))?;
    let path = MikFs::default().validate(&data, 4, &context)?;
    assert!(path.iter().all(|point| (0.5..=1.0).contains(&point.score)), "{path:?}");
    assert!(path.windows(2).all(|pair| pair[1].ratio < pair[0].ratio) && path[0].ratio > 0.8, "{path:?}");
    Ok(())
}

/// What is learned of values of any size can be asked of new ones; a NaN among these is an error.
#[test]
fn predictions_are_finite_at_any_size_of_the_values() -> Result<(), Error> {
    let labels: Vec<u8> = (0..30).map(|i| u8::from(i % 3 == 0)).collect();
    for size in [f64::MAX, 1.0, 1e-310] {
        let column: Vec<f64> =
            (0..30).map(|i| size * if i % 3 == 0 { 1.0 } else { -1.0 + f64::from(i % 2) }).collect();
        let data = Dataset::new(DenseColumns::from_columns(&[column])?, Target::from_labels(&labels))?;
        let model = MikFs::default().fit(&data, &Context::default())?.unwrap();
        assert!(model.decision_values(data.x())?[0].iter().all(|value| value.is_finite()), "{size}");
        let expected: Vec<f64> = labels.iter().map(|label| f64::from(*label)).collect();
        assert_eq!(model.predict(data.x())?, expected, "{size}");
        let hole = DenseColumns::from_columns(&[vec![0.0, f64::NAN]])?;
        assert!(matches!(model.predict(&hole), Err(Error::NonFinite { column: 0, row: 1, .. })));
    }
    Ok(())
}

/// A stop is heard between two features also while all of them are looked at: with many classes that takes
/// long.
#[test]
fn a_stop_is_heard_while_features_are_looked_at() -> Result<(), Box<dyn std::error::Error>> {
    let (n, d) = (60, 400);
    let value = |j: usize, i: usize| derive_seed(j as u64, i as u64) as f64 / u64::MAX as f64 - 0.5;
    let labels: Vec<usize> = (0..n).map(|i| i % 4).collect();
    // All are read once before, and some of them twice.
    let at = d + 100;
    let (reads, raised) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
    let (count, raise) = (Arc::clone(&reads), Arc::clone(&raised));
    let columns = OnDemand::new(n, d, move |j, out: &mut [f64]| {
        out.iter_mut().enumerate().for_each(|(i, out)| *out = value(j, i));
        if count.fetch_add(1, Ordering::Relaxed) + 1 == at {
            raise.store(true, Ordering::Relaxed);
        }
        Ok(())
    });
    let data = Dataset::new(columns, Target::from_labels(&labels))?;
    let context = Context { interrupt: Some(&raised), ..Context::default() };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    let outcome = pool.install(|| MikFs::default().select(&data, Budget::Count(3), &context));
    assert!(matches!(outcome, Err(Error::Stopped { .. })), "{outcome:?}");
    let reads = reads.load(Ordering::Relaxed);
    assert!((at..at + 3).contains(&reads), "{reads} reads, {} after the stop", reads - at);
    Ok(())
}
