//! Scales that minimise the radius-margin bound.

use crate::common::read;
use fewest_core::method::KernelWidth;
use fewest_core::{Budget, Context, Dataset, DenseColumns, FeatureKind, Selector, Status, Target};
use fewest_data::Task;
use fewest_margin::{Multiclass, R2w2, ScaledKernel};
use fewest_testkit::conformance::{check_selector, problem};

fn noise(i: usize, j: usize) -> f64 {
    let mut z = (i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15)
        ^ (j as u64 + 7).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 30)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z = (z ^ (z >> 27)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
}

/// Sixteen features; the class follows from the product or the difference of features 3 and 9.
fn hidden(product: bool) -> Dataset {
    let columns: Vec<Vec<f64>> = (0..16).map(|j| (0..100).map(|i| noise(i, j)).collect()).collect();
    let label = |i: usize| {
        let (a, b) = (columns[3][i], columns[9][i]);
        if product { a * b > 0.0 } else { a - b > 0.05 }
    };
    let labels: Vec<bool> = (0..100).map(label).collect();
    Dataset::new(DenseColumns::from_columns(&columns).unwrap(), Target::from_labels(&labels)).unwrap()
}

fn chosen(selector: &R2w2, data: &Dataset, k: usize) -> Vec<usize> {
    let mut order = selector.select(data, Budget::Count(k), &Context::default()).unwrap().order;
    order.sort_unstable();
    order
}

#[test]
fn features_of_either_kind_are_found_by_their_kernel() {
    assert_eq!(chosen(&R2w2::default(), &hidden(false), 2), [3, 9]);
    let gaussian =
        R2w2 { kernel: ScaledKernel::Gaussian { sigma: KernelWidth::Dimension }, c: 10.0, ..R2w2::default() };
    assert_eq!(chosen(&gaussian, &hidden(true), 2), [3, 9]);
}

#[test]
fn laws_hold() {
    check_selector(&R2w2::default(), &problem(true), 3);
    let kernel = ScaledKernel::Gaussian { sigma: KernelWidth::Value(2.5_f64.sqrt()) };
    check_selector(&R2w2 { kernel, ..R2w2::default() }, &problem(true), 3);
}

/// After 30 steps, where the descent once ended, the slope was 0.15 with all features and 0.23 with three.
#[test]
fn converged_is_said_of_stationary_points_only() {
    let data = read("wdbc.csv", Task::Classification);
    let mut objectives = Vec::new();
    for k in [30, 3] {
        let selection = R2w2::default().select(&data, Budget::Count(k), &Context::default()).unwrap();
        let report = selection.solver.unwrap();
        assert_eq!((selection.status, report.name), (Status::Converged, "l-bfgs"));
        assert!(report.certificate.name() == "stationarity" && report.certificate.value() <= 1e-6);
        objectives.push(report.objective);
    }
    // With a tolerance that any point meets the descent ends where it starts.
    let start = R2w2 { tolerance: 1e9, ..R2w2::default() };
    let start = start.select(&data, Budget::Count(30), &Context::default()).unwrap().solver.unwrap();
    assert_eq!(start.iterations, 0);
    assert!(objectives[0] < start.objective, "{objectives:?} {start:?}");
}

#[test]
fn more_classes_and_categories_work() {
    let data = read("wine.csv", Task::Classification);
    for multiclass in [Multiclass::OneVsRest, Multiclass::OneVsOne] {
        let selector = R2w2 { multiclass, ..R2w2::default() };
        let selection = selector.select(&data, Budget::Count(5), &Context::default()).unwrap();
        assert_eq!((selection.order.len(), selection.status), (5, Status::Converged));
        let certificate = selection.solver.unwrap().certificate;
        assert!(certificate.name() == "stationarity" && certificate.value() <= 1e-6, "{certificate:?}");
    }
    let codes: Vec<f64> = (0..60).map(|i| (i % 3) as f64).collect();
    let labels: Vec<bool> = codes.iter().map(|code| *code == 1.0).collect();
    let columns = [(0..60).map(|i| noise(i, 1)).collect(), codes];
    let levels = vec!["a".to_owned(), "b".to_owned(), "c".to_owned()];
    let data = Dataset::new(DenseColumns::from_columns(&columns).unwrap(), Target::from_labels(&labels))
        .unwrap()
        .with_feature_kinds(vec![FeatureKind::Numeric, FeatureKind::Categorical { levels }])
        .unwrap();
    assert_eq!(chosen(&R2w2::default(), &data, 1), [1]);
}

#[test]
fn bad_input_is_an_error_that_names_it() {
    let message = |selector: R2w2, budget: Budget| {
        selector.select(&problem(true), budget, &Context::default()).unwrap_err().to_string()
    };
    let default = R2w2::default;
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(message(R2w2 { c: bad, ..default() }, Budget::Count(1)).contains("`c`"));
        let kernel = ScaledKernel::Gaussian { sigma: KernelWidth::Value(bad) };
        assert!(message(R2w2 { kernel, ..default() }, Budget::Count(1)).contains("`sigma`"));
    }
    assert!(message(default(), Budget::Auto).contains("`k`"));
}

#[test]
fn rules_for_the_width_are_the_widths_they_name() {
    // Two columns of ±1: squared distances are 0 or 4 for a feature that differs, and four samples have
    // distances 4, 4, 8, 8, 4, 4.
    let columns = [vec![-1.0, -1.0, 1.0, 1.0], vec![-1.0, 1.0, -1.0, 1.0]];
    let target = Target::from_labels(&["a", "a", "b", "b"]);
    let data = Dataset::new(DenseColumns::from_columns(&columns).unwrap(), target).unwrap();
    let scores = |sigma: KernelWidth| {
        let selector = R2w2 { kernel: ScaledKernel::Gaussian { sigma }, ..R2w2::default() };
        selector.select(&data, Budget::Count(2), &Context::default()).unwrap().scores
    };
    assert_eq!(scores(KernelWidth::Median), scores(KernelWidth::Value(2.0)));
    assert_eq!(scores(KernelWidth::Dimension), scores(KernelWidth::Value(1.0)));
    assert_ne!(scores(KernelWidth::Median), scores(KernelWidth::Dimension));
}

/// What there is no memory for is told before anything of it is made.
#[test]
fn memory_that_is_not_there_is_told_before() {
    let table = |n: usize, n_classes: usize| {
        let column: Vec<f64> = (0..n).map(|i| (i % 97) as f64).collect();
        let labels: Vec<usize> = (0..n).map(|i| i % n_classes).collect();
        Dataset::new(DenseColumns::from_columns(&[column]).unwrap(), Target::from_labels(&labels)).unwrap()
    };
    let message = |selector: R2w2, data: &Dataset| {
        selector.select(data, Budget::Count(1), &Context::default()).unwrap_err().to_string()
    };
    let names = message(R2w2::default(), &table(200_000, 200_000));
    assert!(names.contains("r2w2 needs") && names.contains("200000 classes"), "{names}");
    let kernel = ScaledKernel::Gaussian { sigma: KernelWidth::Median };
    let pairs = message(R2w2 { kernel, ..R2w2::default() }, &table(600_000, 2));
    assert!(pairs.contains("r2w2 needs") && pairs.contains("fewer samples"), "{pairs}");
}
