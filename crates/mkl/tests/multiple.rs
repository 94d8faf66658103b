//! Multiple kernel learning in the dual from outside: the laws of every selector, threads, several classes,
//! hostile input.

use std::sync::atomic::AtomicBool;

use fewest_core::method::{KernelWidth, Regularization};
use fewest_core::{Budget, Context, Dataset, DenseColumns, Error, FeatureKind, Selector, Status, Target};
use fewest_kernels::kernel_width;
use fewest_mkl::{BaseKernel, BaseKernels, FeatureKernel, Gmkl, MikFs, Nmmkl, NonMonotonic, Rfmkl, Spectrum};
use fewest_testkit::conformance::{check_selector, problem};

fn sum(kernel: BaseKernel, spectrum: Option<Spectrum>) -> Rfmkl {
    Rfmkl { kernel, spectrum, ..Rfmkl::default() }
}

fn all() -> Vec<(&'static str, Box<dyn Selector>)> {
    let mut all: Vec<(&'static str, Box<dyn Selector>)> = vec![
        ("gaussian", Box::new(Rfmkl::default())),
        ("linear", Box::new(sum(BaseKernel::Linear, None))),
        ("product", Box::new(Gmkl::default())),
    ];
    for (name, spectrum) in [("clip", Spectrum::Clip), ("flip", Spectrum::Flip), ("shift", Spectrum::Shift)] {
        all.push((name, Box::new(sum(BaseKernel::default(), Some(spectrum)))));
    }
    all
}

fn wave(step: usize) -> Vec<f64> {
    (0..90).map(|i| (i * step % 91) as f64 / 45.0 - 1.0).collect()
}

/// Six features; the classes are thirds of the sum of the first two.
fn three_classes() -> Result<Dataset, Error> {
    let columns: Vec<Vec<f64>> = [1, 17, 23, 9, 13, 29].map(wave).to_vec();
    let labels: Vec<u8> = (0..90)
        .map(|i| {
            let sum = columns[0][i] + columns[1][i];
            u8::from(sum > -0.4) + u8::from(sum > 0.4)
        })
        .collect();
    Dataset::new(DenseColumns::from_columns(&columns)?, Target::from_labels(&labels))
}

#[test]
fn the_laws_of_selectors_hold() {
    for (_, method) in all() {
        check_selector(&*method, &problem(true), 3);
    }
    check_selector(&Gmkl { starts: 3, ..Gmkl::default() }, &problem(true), 3);
}

#[test]
fn what_matters_is_found_for_three_classes() -> Result<(), Error> {
    for (name, method) in all() {
        let mut found = method.select(&three_classes()?, Budget::Count(2), &Context::default())?;
        found.order.sort_unstable();
        assert_eq!(found.order, [0, 1], "{name}");
        // Only the sum of kernels is a convex problem.
        let certificate = found.solver.as_ref().map(|report| report.certificate.name());
        assert_eq!(certificate, Some(if name == "product" { "stationarity" } else { "gap" }), "{name}");
    }
    Ok(())
}

#[test]
fn threads_change_no_bit() -> Result<(), Box<dyn std::error::Error>> {
    let data = three_classes()?;
    for (name, method) in all() {
        let run = |threads: usize| -> Result<_, Box<dyn std::error::Error>> {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
            Ok(pool.install(|| method.select(&data, Budget::Auto, &Context::default()))?)
        };
        let (one, other) = (run(1)?, run(3)?);
        assert_eq!((&one.order, &one.scores), (&other.order, &other.scores), "{name}");
    }
    Ok(())
}

#[test]
fn categories_and_duplicates_are_no_trouble() -> Result<(), Error> {
    let data = three_classes()?;
    let Target::Class(classes) = data.target() else { panic!("classes") };
    let code: Vec<f64> = classes.codes().iter().map(|&code| f64::from(code)).collect();
    let mut kinds = vec![FeatureKind::Numeric; 4];
    kinds[1] = FeatureKind::Categorical { levels: vec!["a".into(), "b".into(), "c".into()] };
    let x = DenseColumns::from_columns(&[wave(23), code, wave(9), wave(9)])?;
    let data = Dataset::new(x, data.target().clone())?.with_feature_kinds(kinds)?;
    for (name, method) in all() {
        // A shift adds the identity to the kernels of the others: with it they know every sample by heart.
        if name != "shift" {
            assert_eq!(method.select(&data, Budget::Count(1), &Context::default())?.order, [1], "{name}");
        }
        let selection = method.select(&data, Budget::Count(4), &Context::default())?;
        assert!(!selection.order.contains(&3), "{name}: {:?}", selection.order);
    }
    Ok(())
}

#[test]
fn an_indefinite_kernel_is_never_fed_to_the_dual_as_it_is() -> Result<(), Error> {
    for kernel in [
        BaseKernel::default(),
        BaseKernel::Sigmoid { scale: 0.5, shift: 1.0 },
        BaseKernel::Polynomial { degree: 3, offset: -0.5, scale: 1.0 },
    ] {
        let outcome = sum(kernel.clone(), None).select(&problem(true), Budget::Count(1), &Context::default());
        let Err(Error::Indefinite { kernel: named, solver, .. }) = outcome else {
            panic!("{kernel:?}: {outcome:?}")
        };
        assert!(named.contains(&format!("{kernel:?}")), "{named}");
        assert!(
            solver.contains("rfmkl") && solver.contains("interior-point method for the dual"),
            "{solver}"
        );
        sum(kernel, Some(Spectrum::Clip)).select(&problem(true), Budget::Count(1), &Context::default())?;
    }
    Ok(())
}

#[test]
fn what_cannot_be_done_is_said() -> Result<(), Error> {
    let context = Context::default();
    let (standard, product) = (Rfmkl::default, Gmkl::default);
    let wrong: Vec<(&str, Box<dyn Selector>)> = vec![
        ("tolerance", Box::new(Rfmkl { tolerance: -1.0, ..standard() })),
        ("tolerance", Box::new(Rfmkl { tolerance: f64::NAN, ..standard() })),
        ("lambda_ratio", Box::new(Rfmkl { regularization: Regularization::Ratio(0.0), ..standard() })),
        ("lambda_ratio", Box::new(Rfmkl { regularization: Regularization::Ratio(1.5), ..standard() })),
        ("sigma", Box::new(sum(BaseKernel::Gaussian { sigma: KernelWidth::Value(-1.0) }, None))),
        ("`c`", Box::new(Gmkl { c: 0.0, ..product() })),
        ("`c`", Box::new(Gmkl { c: f64::NAN, ..product() })),
        ("tolerance", Box::new(Gmkl { tolerance: 0.0, ..product() })),
        ("lambda_ratio", Box::new(Gmkl { regularization: Regularization::Ratio(-0.1), ..product() })),
        ("iterations", Box::new(Gmkl { iterations: 0, ..product() })),
    ];
    for (name, method) in wrong {
        let message = method.select(&problem(true), Budget::Count(1), &context).err().map(|e| e.to_string());
        assert!(message.as_ref().is_some_and(|message| message.contains(name)), "{name}: {message:?}");
    }
    let raised = AtomicBool::new(true);
    let interrupted = Context { interrupt: Some(&raised), ..Context::default() };
    for (name, method) in all() {
        let outcome = method.select(&problem(false), Budget::Count(1), &context);
        assert!(matches!(outcome, Err(Error::UnsupportedTarget { .. })), "{outcome:?}");
        let outcome = method.select(&problem(true), Budget::Count(1), &interrupted);
        assert!(matches!(outcome, Err(Error::Stopped { .. })), "{outcome:?}");
        let one_class =
            Dataset::new(DenseColumns::from_columns(&[wave(9)])?, Target::from_labels(&["a"; 90]))?;
        assert!(matches!(method.select(&one_class, Budget::Auto, &context), Err(Error::TooFew { .. })));
        let constant = Dataset::new(
            DenseColumns::from_columns(&[vec![1.0; 4], vec![2.0; 4]])?,
            Target::from_labels(&[0, 0, 1, 1]),
        )?;
        assert!(method.select(&constant, Budget::Count(1), &context)?.order.is_empty(), "{name}");
        let mut labels = [0; 90];
        labels[40] = 1;
        let alone = Dataset::new(
            DenseColumns::from_columns(&[wave(9), wave(23), wave(13)])?,
            Target::from_labels(&labels),
        )?;
        let selection = method.select(&alone, Budget::Count(3), &context)?;
        assert!(selection.scores.iter().all(|score| score.is_finite() && *score > 0.0), "{name}");
        assert!(method.select(&alone, Budget::Count(4), &context).is_err(), "{name}");
        let weighted = alone.with_sample_weights(vec![2.0; 90])?;
        assert!(matches!(method.select(&weighted, Budget::Auto, &context), Err(Error::Unsupported { .. })));
        let hole = Dataset::new(
            DenseColumns::from_columns(&[vec![1.0, f64::NAN, 2.0, 3.0]])?,
            Target::from_labels(&[0, 0, 1, 1]),
        )?;
        let outcome = method.select(&hole, Budget::Count(1), &context);
        assert!(matches!(outcome, Err(Error::NonFinite { .. })), "{outcome:?}");
    }
    Ok(())
}

/// With `Σ d` fixed the weights are those of the relaxation of non-monotonic selection for one feature, on
/// whose simplex they lie: a factor `D` on all kernels is one on the cost.
#[test]
fn on_a_simplex_it_is_the_relaxation_of_nmmkl() -> Result<(), Error> {
    let gaussian = FeatureKernel::Gaussian { sigma: KernelWidth::Value(1.0), factor_tolerance: 1e-9 };
    for (kernel, theirs) in [
        (BaseKernel::Gaussian { sigma: KernelWidth::Value(1.0) }, gaussian),
        (BaseKernel::Linear, FeatureKernel::default()),
    ] {
        for ratio in [0.5, 0.1, 0.01] {
            let method = Rfmkl {
                kernel: kernel.clone(),
                regularization: Regularization::Ratio(ratio),
                ..Rfmkl::default()
            };
            let data = problem(true);
            let selection = method.select(&data, Budget::Auto, &Context::default())?;
            let report = selection.solver.as_ref().ok_or(Error::Stopped { before: "a report" })?;
            let gap = report.certificate.value();
            assert!((-1e-12..=1e-10).contains(&gap), "{gap}");
            let total: f64 = selection.scores.iter().sum();
            let options = NonMonotonic { kernel: theirs, tolerance: 1e-11, ..NonMonotonic::default() };
            let relaxed =
                Nmmkl { c: total, tau: 0.0, options }.solve(&data, Budget::Count(1), &Context::default())?;
            let value = 2.0 * total * (report.objective - report.lambda * total);
            assert!(
                (relaxed.objective - value).abs() < 1e-8 * value,
                "{ratio}: {} {value}",
                relaxed.objective
            );
            for (j, weight) in relaxed.weights.iter().enumerate() {
                let ours = selection.order.iter().position(|&chosen| chosen == j);
                let ours = ours.map_or(0.0, |at| selection.scores[at] / total);
                assert!((weight - ours).abs() < 1e-4, "{ratio} {j}: {weight} {ours}");
            }
        }
    }
    Ok(())
}

#[test]
fn weights_scale_with_nothing_but_the_penalty() -> Result<(), Error> {
    // A penalty no kernel is worth leaves all weights at zero.
    let all = Rfmkl { regularization: Regularization::Ratio(1.0), ..Rfmkl::default() };
    assert!(all.select(&problem(true), Budget::Auto, &Context::default())?.order.is_empty());
    let few = Rfmkl { regularization: Regularization::Ratio(0.6), ..Rfmkl::default() };
    let many = Rfmkl { regularization: Regularization::Ratio(0.001), ..Rfmkl::default() };
    let count = |method: &Rfmkl| -> Result<usize, Error> {
        Ok(method.select(&problem(true), Budget::Auto, &Context::default())?.order.len())
    };
    assert!(count(&few)? < count(&many)?);
    Ok(())
}

/// What a ratio refers to is the smallest penalty at which nothing is selected: just above it nothing is,
/// just below something, also where one class is larger than the other and the multipliers of its samples
/// are not alike.
#[test]
fn just_below_the_largest_penalty_something_is_selected() -> Result<(), Error> {
    let three = three_classes()?;
    let Target::Class(classes) = three.target() else { panic!("classes") };
    let labels: Vec<bool> = classes.codes().iter().map(|code| *code == 2).collect();
    let uneven = Dataset::shared(three.shared_x(), Target::from_labels(&labels))?;
    for data in [uneven, three, problem(true)] {
        for (name, spectrum) in [
            ("gaussian", None),
            ("clip", Some(Spectrum::Clip)),
            ("flip", Some(Spectrum::Flip)),
            ("shift", Some(Spectrum::Shift)),
        ] {
            let kernel = if spectrum.is_some() {
                BaseKernel::Sigmoid { scale: 3.0, shift: 0.2 }
            } else {
                BaseKernel::Gaussian { sigma: KernelWidth::Value(0.5) }
            };
            let select = |regularization: Regularization| {
                let method = Rfmkl { regularization, ..sum(kernel.clone(), spectrum) };
                method.select(&data, Budget::Auto, &Context::default())
            };
            let whole = select(Regularization::Ratio(1.0))?;
            assert!(whole.order.is_empty(), "{name}: {:?}", whole.order);
            let Some(largest) = whole.solver.map(|report| report.lambda) else { panic!("{name}: no report") };
            let at = |share: f64| Ok::<_, Error>(select(Regularization::Value(share * largest))?.order.len());
            assert_eq!(at(1.001)?, 0, "{name}");
            assert!(at(0.999)? > 0, "{name}: nothing below {largest}");
        }
    }
    Ok(())
}

/// A target that names its samples has more pairs of classes than there is memory for: that is told at once.
#[test]
fn a_class_for_every_two_samples_is_told_at_once() -> Result<(), Error> {
    let labels: Vec<usize> = (0..20_000).map(|i| i / 2).collect();
    let column: Vec<f64> = (0..20_000).map(|i| f64::from(i % 97)).collect();
    let data = Dataset::new(DenseColumns::from_columns(&[column])?, Target::from_labels(&labels))?;
    for method in [&Rfmkl::default() as &dyn Selector, &Gmkl::default(), &MikFs::default()] {
        let found = method.select(&data, Budget::Count(1), &Context::default());
        let message = found.err().map(|error| error.to_string()).unwrap_or_default();
        assert!(message.contains("10000 classes") && message.contains("names"), "{message}");
    }
    Ok(())
}

/// From several starts the lowest objective counts: it is no higher than from the first alone.
#[test]
fn more_starts_of_the_product_are_never_worse() -> Result<(), Error> {
    let mut lower = 0;
    for step in [3, 7, 11, 19, 27] {
        let (a, b, c, d) = (wave(step), wave(17), wave(23), wave(29));
        let labels: Vec<bool> = (0..90).map(|i| a[i] * b[i] > 0.1 * c[i] + 0.3 * d[i].powi(2)).collect();
        let data =
            Dataset::new(DenseColumns::from_columns(&[a, b, c, d, wave(31)])?, Target::from_labels(&labels))?;
        let objective = |starts: usize| -> Result<f64, Error> {
            let method =
                Gmkl { c: 10.0, starts, regularization: Regularization::Ratio(0.2), ..Gmkl::default() };
            let found = method.select(&data, Budget::Auto, &Context::seeded(5))?;
            Ok(found.objective.unwrap_or(f64::NAN))
        };
        let (one, ten) = (objective(1)?, objective(10)?);
        assert!(ten <= one, "{step}: {ten} {one}");
        lower += u8::from(ten < 0.999 * one);
    }
    assert!(lower > 0, "no other start was better anywhere");
    Ok(())
}

/// At the largest penalty no weight is worth it, and from no weights there is no gradient to come back by.
#[test]
fn a_path_that_starts_without_weights_finds_the_feature() -> Result<(), Error> {
    let a: Vec<f64> = (0..40).map(|i| f64::from(i % 2) * 2.0 - 1.0).collect();
    let target = Target::from_labels(&a.iter().map(|a| *a > 0.0).collect::<Vec<_>>());
    let data = Dataset::new(DenseColumns::from_columns(&[a])?, target)?;
    let method = Gmkl { regularization: Regularization::Ratio(1.0), ..Gmkl::default() };
    let selection = method.select(&data, Budget::Count(1), &Context::default())?;
    assert_eq!(selection.order, [0]);
    assert!(selection.scores[0] > 0.0 && selection.status == Status::Converged, "{selection:?}");
    Ok(())
}

/// By the median rule a feature has the kernel whose width is the median distance of its standardised values.
#[test]
fn the_median_rule_is_the_median_distance_of_the_feature() -> Result<(), Error> {
    let x = wave(7).into_iter().map(|x| x * x * x).collect::<Vec<f64>>();
    let labels: Vec<bool> = (0..90).map(|i| x[i] + 0.2 * wave(23)[i] > 0.0).collect();
    let mut points = x.clone();
    assert!(fewest_columns::standardise(&mut points));
    let median = KernelWidth::Value(kernel_width(KernelWidth::Median, &points)?);
    let data = Dataset::new(DenseColumns::from_columns(&[x])?, Target::from_labels(&labels))?;
    let score = |method: &dyn Selector| -> Result<f64, Error> {
        let selection = method.select(&data, Budget::Auto, &Context::default())?;
        Ok(selection.objective.or(selection.solver.map(|report| report.objective)).unwrap_or(f64::NAN))
    };
    let kernel = |sigma| BaseKernel::Gaussian { sigma };
    let rfmkl = |sigma| score(&sum(kernel(sigma), None));
    let mik_fs = |sigma| score(&MikFs { kernel: BaseKernels(vec![kernel(sigma)]), ..MikFs::default() });
    let nmmkl = |sigma| -> Result<f64, Error> {
        let kernel = FeatureKernel::Gaussian { sigma, factor_tolerance: 1e-9 };
        let options = NonMonotonic { kernel, ..NonMonotonic::default() };
        let method = Nmmkl { options, ..Nmmkl::default() };
        Ok(method.solve(&data, Budget::Count(1), &Context::default())?.omega)
    };
    let widths = [KernelWidth::Median, median, KernelWidth::Value(5.0)];
    for (name, objectives) in
        [("rfmkl", widths.map(rfmkl)), ("mik-fs", widths.map(mik_fs)), ("nmmkl", widths.map(nmmkl))]
    {
        let [by_rule, by_value, other] = objectives;
        let (by_rule, by_value, other) = (by_rule?, by_value?, other?);
        assert!((by_rule - by_value).abs() < 1e-6 * by_value.abs(), "{name}: {by_rule} and {by_value}");
        assert!((by_rule - other).abs() > 1e-3 * other.abs(), "{name}: {by_rule} and {other}");
    }
    Ok(())
}

/// Whenever it is stopped, a run has features or an error; before there are weights, the features in the
/// order of what each kernel has in common with the target.
#[test]
fn a_stopped_run_has_no_empty_answer() -> Result<(), Error> {
    let columns: Vec<Vec<f64>> = (0..12_u32)
        .map(|j| (0..400_u32).map(|i| f64::from(i.wrapping_mul(2 * j + 3) % 401) / 200.0 - 1.0).collect())
        .collect();
    let labels: Vec<bool> = columns[4].iter().map(|value| *value > 0.1).collect();
    let data = Dataset::new(DenseColumns::from_columns(&columns)?, Target::from_labels(&labels))?;
    let product = ("product", Box::new(Gmkl::default()) as Box<dyn Selector>);
    for (name, method) in [("gaussian", Box::new(Rfmkl::default()) as Box<dyn Selector>), product] {
        let mut without_weights = 0;
        let mut limit = 1e-4;
        loop {
            let deadline = std::time::Instant::now() + std::time::Duration::from_secs_f64(limit);
            let context = Context { deadline: Some(deadline), ..Context::default() };
            match method.select(&data, Budget::Count(3), &context) {
                Err(Error::Stopped { .. }) => {}
                Err(other) => return Err(other),
                Ok(found) if found.status == Status::TimeLimit => {
                    assert!(!found.order.is_empty(), "{name} {limit}");
                    if found.notes.iter().any(|note| note.contains("before there were weights")) {
                        without_weights += 1;
                        assert_eq!((found.order[0], found.order.len()), (4, 3), "{name}");
                        // Without a number of features there is nothing to tell.
                        let deadline = std::time::Instant::now() + std::time::Duration::from_secs_f64(limit);
                        let context = Context { deadline: Some(deadline), ..Context::default() };
                        let automatic = method.select(&data, Budget::Auto, &context);
                        assert!(automatic.is_err() || automatic.is_ok_and(|found| !found.order.is_empty()));
                    }
                }
                Ok(_) => break,
            }
            limit *= 1.1;
        }
        assert!(without_weights > 0, "{name}");
    }
    Ok(())
}

/// With classes of unlike size the multipliers at no weights are not determined: the largest penalty of the
/// product is twice that of the sum of linear kernels, and nothing is selected from there on.
#[test]
fn the_largest_penalty_of_the_product_is_the_smallest_that_selects_nothing() -> Result<(), Error> {
    let columns = [1, 17, 23, 9].map(wave);
    let labels: Vec<bool> = (0..90).map(|i| columns[0][i] + columns[1][i].powi(2) > 0.6).collect();
    let data = Dataset::new(DenseColumns::from_columns(&columns)?, Target::from_labels(&labels))?;
    let at = |c: f64, regularization| {
        Gmkl { c, regularization, ..Gmkl::default() }.select(&data, Budget::Auto, &Context::default())
    };
    let linear = Rfmkl { regularization: Regularization::Ratio(1.0), ..sum(BaseKernel::Linear, None) };
    let linear = linear.select(&data, Budget::Auto, &Context::default())?;
    let linear = linear.solver.map_or(f64::NAN, |report| report.lambda);
    for c in [1.0, 3.0] {
        let none = at(c, Regularization::Ratio(1.0))?;
        let largest = none.solver.as_ref().map_or(f64::NAN, |report| report.lambda);
        assert!((largest / (2.0 * c * c * linear) - 1.0).abs() < 1e-12, "{largest} {linear}");
        for ratio in [1.0, 1.05, 1.3] {
            let found = at(c, Regularization::Value(ratio * largest))?;
            assert!(found.order.is_empty(), "{ratio}: {found:?}");
            assert_eq!(found.status, Status::Converged, "{ratio}: {found:?}");
        }
        for ratio in [0.98, 0.8] {
            let found = at(c, Regularization::Ratio(ratio))?;
            assert!(!found.order.is_empty() && found.scores[0] > 1e-6, "{ratio}: {found:?}");
        }
    }
    Ok(())
}
