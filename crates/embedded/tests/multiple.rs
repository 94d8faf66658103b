//! Multiple kernel learning in the dual from outside: the laws of every selector, threads, several classes, hostile input.

use std::sync::atomic::AtomicBool;

use fewest_core::{Budget, Context, Dataset, DenseColumns, Error, FeatureKind, Selector, Target};
use fewest_embedded::{BaseKernel, Combination, DualKernelLearning, Spectrum};
use fewest_testkit::conformance::{check_selector, problem};

fn sum(kernel: BaseKernel, spectrum: Option<Spectrum>) -> DualKernelLearning {
    DualKernelLearning { combination: Combination::Sum { kernel, spectrum }, ..DualKernelLearning::default() }
}

fn product() -> DualKernelLearning {
    DualKernelLearning { combination: Combination::Product, ..DualKernelLearning::default() }
}

fn all() -> Vec<DualKernelLearning> {
    let mut all = vec![DualKernelLearning::default(), product()];
    for spectrum in [Spectrum::Clip, Spectrum::Flip, Spectrum::Shift] {
        all.push(sum(BaseKernel::default(), Some(spectrum)));
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
    for method in all() {
        check_selector(&method, &problem(true), 3);
    }
}

#[test]
fn what_matters_is_found_for_three_classes() -> Result<(), Error> {
    for method in all() {
        let mut found = method.select(&three_classes()?, Budget::Count(2), &Context::default())?.order;
        found.sort_unstable();
        assert_eq!(found, [0, 1], "{method:?}");
    }
    Ok(())
}

#[test]
fn threads_change_no_bit() -> Result<(), Box<dyn std::error::Error>> {
    let data = three_classes()?;
    for method in all() {
        let run = |threads: usize| -> Result<_, Box<dyn std::error::Error>> {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
            Ok(pool.install(|| method.select(&data, Budget::Auto, &Context::default()))?)
        };
        let (one, other) = (run(1)?, run(3)?);
        assert_eq!((&one.order, &one.scores), (&other.order, &other.scores));
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
    for method in all() {
        assert_eq!(method.select(&data, Budget::Count(1), &Context::default())?.order, [1], "{method:?}");
    }
    Ok(())
}

#[test]
fn an_indefinite_kernel_is_never_fed_to_the_dual_as_it_is() -> Result<(), Error> {
    for kernel in [
        BaseKernel::default(),
        BaseKernel::Sigmoid { scale: 0.5, offset: -1.0 },
        BaseKernel::Polynomial { degree: 3, offset: -0.5, scale: 1.0 },
    ] {
        let outcome = sum(kernel.clone(), None).select(&problem(true), Budget::Count(1), &Context::default());
        let Err(Error::Unsupported { method: "rfmkl", what, .. }) = outcome else {
            panic!("{kernel:?}: {outcome:?}")
        };
        assert!(
            what.contains(&format!("{kernel:?}")) && what.contains("sequential minimal optimisation"),
            "{what}"
        );
        sum(kernel, Some(Spectrum::Clip)).select(&problem(true), Budget::Count(1), &Context::default())?;
    }
    Ok(())
}

#[test]
fn what_cannot_be_done_is_said() -> Result<(), Error> {
    let context = Context::default();
    let standard = DualKernelLearning::default;
    for (name, method) in [
        ("C", DualKernelLearning { cost: 0.0, ..standard() }),
        ("C", DualKernelLearning { cost: f64::NAN, ..standard() }),
        ("tolerance", DualKernelLearning { tolerance: -1.0, ..standard() }),
        ("ratio", DualKernelLearning { ratio: 0.0, ..standard() }),
        ("ratio", DualKernelLearning { ratio: 1.5, ..standard() }),
        ("iterations", DualKernelLearning { iterations: 0, ..standard() }),
        ("sigma", sum(BaseKernel::Gaussian { sigma: -1.0 }, None)),
    ] {
        let message = method.select(&problem(true), Budget::Count(1), &context).err().map(|e| e.to_string());
        assert!(message.as_ref().is_some_and(|message| message.contains(name)), "{name}: {message:?}");
    }
    let raised = AtomicBool::new(true);
    let interrupted = Context { interrupt: Some(&raised), ..Context::default() };
    for method in all() {
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
        assert!(method.select(&constant, Budget::Count(1), &context)?.order.is_empty());
        let hole = Dataset::new(
            DenseColumns::from_columns(&[vec![1.0, f64::NAN, 2.0, 3.0]])?,
            Target::from_labels(&[0, 0, 1, 1]),
        )?;
        let outcome = method.select(&hole, Budget::Count(1), &context);
        assert!(matches!(outcome, Err(Error::NonFinite { .. })), "{outcome:?}");
    }
    Ok(())
}
