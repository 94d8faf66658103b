//! The F statistic and correlation criterion against its definition.

use crate::common::{Sparse, uniform};
use fewest_core::{Budget, Context, Dataset, DenseColumns, Error, FeatureKind, Selector, Target};
use fewest_filters::information::{Fcq, MrmrForm};

/// 90 features, many of them mixtures of two others and the target; mostly zeros when `sparse`.
fn columns(n: usize, target: &[f64], sparse: bool) -> Vec<Vec<f64>> {
    let mut columns: Vec<Vec<f64>> = Vec::new();
    for j in 0..90 {
        let noise = uniform(n, 1000 + j as u64);
        let column = (0..n).map(|i| {
            let mixed = noise[i]
                + if j % 3 == 0 { target[i] * 0.5 / (1.0 + j as f64 / 9.0) } else { 0.0 }
                + if j > 4 && j % 4 == 0 { columns[j - 4][i] } else { 0.0 };
            if sparse && noise[i] < 0.7 { 0.0 } else { mixed }
        });
        let column = column.collect();
        columns.push(column);
    }
    columns
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let (ma, mb) = (mean(a), mean(b));
    let product = |f: &dyn Fn(usize) -> f64| (0..a.len()).map(f).sum::<f64>();
    product(&|i| (a[i] - ma) * (b[i] - mb))
        / (product(&|i| (a[i] - ma).powi(2)) * product(&|i| (b[i] - mb).powi(2))).sqrt()
}

/// Of a one-way analysis of variance.
fn f_of_classes(x: &[f64], y: &[usize], n_classes: usize) -> f64 {
    let (mut between, mut within) = (0.0, 0.0);
    for class in 0..n_classes {
        let members: Vec<f64> = (0..x.len()).filter(|i| y[*i] == class).map(|i| x[i]).collect();
        between += members.len() as f64 * (mean(&members) - mean(x)).powi(2);
        within += members.iter().map(|v| (v - mean(&members)).powi(2)).sum::<f64>();
    }
    (between / (n_classes - 1) as f64) / (within / (x.len() - n_classes) as f64)
}

fn select(form: MrmrForm, data: &Dataset, k: usize) -> fewest_core::Selection {
    Fcq { form }.select(data, Budget::Count(k), &Context::default()).unwrap()
}

#[test]
fn every_step_takes_the_best_by_the_formula() {
    let n = 120;
    let real = uniform(n, 3);
    let classes: Vec<usize> = real.iter().map(|u| (u * 3.0) as usize).collect();
    for sparse in [false, true] {
        let x = columns(n, &real, sparse);
        let r2 = |k: usize| correlation(&x[k], &real).powi(2);
        let of_real: Vec<f64> = (0..90).map(|k| r2(k) / (1.0 - r2(k)) * (n - 2) as f64).collect();
        let of_classes: Vec<f64> = (0..90).map(|k| f_of_classes(&x[k], &classes, 3)).collect();
        for (target, relevance) in
            [(Target::real(real.clone()).unwrap(), of_real), (Target::from_labels(&classes), of_classes)]
        {
            let dense = Dataset::new(DenseColumns::from_columns(&x).unwrap(), target.clone()).unwrap();
            let stored = Dataset::new(Sparse::without_zeros(&x), target).unwrap();
            for form in [MrmrForm::Quotient, MrmrForm::Difference] {
                for data in [&dense, &stored] {
                    let selection = select(form, data, 12);
                    for (step, (&picked, score)) in selection.order.iter().zip(&selection.scores).enumerate()
                    {
                        let selected = &selection.order[..step];
                        let value = |k: usize| {
                            let sum: f64 =
                                selected.iter().map(|&j| correlation(&x[k], &x[j]).abs().max(1e-3)).sum();
                            match form {
                                _ if step == 0 => relevance[k],
                                MrmrForm::Quotient => relevance[k] / (sum / step as f64),
                                MrmrForm::Difference => relevance[k] - sum / step as f64,
                            }
                        };
                        let best =
                            (0..90).filter(|k| !selected.contains(k)).map(value).fold(f64::MIN, f64::max);
                        assert!((score - value(picked)).abs() < 1e-8 * best, "step {step}: {score}");
                        assert!(value(picked) >= best * (1.0 - 1e-9), "step {step}: {picked}");
                    }
                }
            }
        }
    }
}

#[test]
fn an_offset_changes_nothing() {
    let n = 100;
    let target = uniform(n, 3);
    let x = columns(n, &target, false);
    let shifted: Vec<Vec<f64>> = x.iter().map(|column| column.iter().map(|v| v + 1e5).collect()).collect();
    let data = |x: &[Vec<f64>]| {
        Dataset::new(DenseColumns::from_columns(x).unwrap(), Target::real(target.clone()).unwrap()).unwrap()
    };
    let (plain, moved) =
        (select(MrmrForm::Quotient, &data(&x), 10), select(MrmrForm::Quotient, &data(&shifted), 10));
    assert_eq!(plain.order, moved.order);
    for (a, b) in plain.scores.iter().zip(&moved.scores) {
        assert!((a - b).abs() < 1e-6 * a, "{a} {b}");
    }
}

/// A feature that tells the classes apart comes first, and its like do not hide what it lacks.
#[test]
fn a_perfect_feature_comes_first() {
    let n = 40;
    let y: Vec<usize> = (0..n).map(|i| i % 2).collect();
    let perfect: Vec<f64> = y.iter().map(|y| *y as f64).collect();
    let good: Vec<f64> = perfect.iter().zip(uniform(n, 1)).map(|(y, u)| y + 2.0 * u).collect();
    let table = DenseColumns::from_columns(&[uniform(n, 2), good, perfect]).unwrap();
    let data = Dataset::new(table, Target::from_labels(&y)).unwrap();
    for form in [MrmrForm::Quotient, MrmrForm::Difference] {
        let selection = select(form, &data, 3);
        assert_eq!(selection.order[0], 2);
        assert!(selection.scores.iter().all(|score| score.is_finite()));
    }
}

#[test]
fn data_without_an_f_statistic_are_errors() {
    let fails = |x: &[Vec<f64>], target: Target| {
        let data = Dataset::new(DenseColumns::from_columns(x).unwrap(), target).unwrap();
        Fcq::default().select(&data, Budget::Auto, &Context::default()).unwrap_err()
    };
    let one_each = Target::from_labels(&[0, 1, 2]);
    assert!(matches!(fails(&[vec![1.0, 2.0, 4.0]], one_each), Error::TooFew { minimum: 4, .. }));
    let two = Target::real(vec![1.0, 2.0]).unwrap();
    assert!(matches!(fails(&[vec![1.0, 2.0]], two), Error::TooFew { minimum: 3, .. }));
    let constant = Target::real(vec![0.1; 30]).unwrap();
    let found = fails(&[uniform(30, 4)], constant);
    assert!(matches!(&found, Error::UnsupportedTarget { expected: "values that vary", .. }), "{found}");
    let one_class = Target::from_labels(&["a"; 30]);
    assert!(matches!(fails(&[uniform(30, 4)], one_class), Error::TooFew { minimum: 2, .. }));
}

#[test]
fn categories_of_many_levels_are_noted() {
    let kinds = |levels: usize| FeatureKind::Categorical { levels: vec![String::new(); levels] };
    let x =
        DenseColumns::from_columns(&[uniform(30, 1), (0..30).map(|i| f64::from(i % 3)).collect()]).unwrap();
    let data = Dataset::new(x, Target::real(uniform(30, 2)).unwrap()).unwrap();
    let notes = |levels| {
        let data = data.clone().with_feature_kinds(vec![FeatureKind::Numeric, kinds(levels)]).unwrap();
        select(MrmrForm::Quotient, &data, 2).notes.len()
    };
    assert_eq!((notes(2), notes(3)), (0, 1));
}

/// Nor does one of the target, however far it is from zero: its values are those of `1/2^20`, which such an
/// offset changes by nothing.
#[test]
fn an_offset_of_the_target_changes_nothing() {
    let n = 5000;
    let y: Vec<f64> =
        uniform(n, 3).iter().map(|y| (y * 2.0_f64.powi(20)).round() / 2.0_f64.powi(20)).collect();
    let x: Vec<Vec<f64>> = (0..8)
        .map(|j| uniform(n, 50 + j).iter().zip(&y).map(|(u, y)| u + y / (1.0 + j as f64)).collect())
        .collect();
    let selected = |offset: f64| {
        let target = Target::real(y.iter().map(|y| y + offset).collect()).unwrap();
        let data = Dataset::new(DenseColumns::from_columns(&x).unwrap(), target).unwrap();
        let found = select(MrmrForm::Quotient, &data, 5);
        (found.order, found.scores)
    };
    let (order, scores) = selected(0.0);
    let (moved_order, moved) = selected(2.0_f64.powi(30));
    assert_eq!(order, moved_order);
    for (own, other) in moved.iter().zip(&scores) {
        assert!((own - other).abs() <= 1e-12 * other, "{own} {other}");
    }
}

/// A power of two changes no digit of a value, however large or small the squares become.
#[test]
fn values_whose_squares_overflow_or_vanish_change_nothing() {
    let n = 60;
    let plain = columns(n, &uniform(n, 3), false);
    let scaled = |factor: f64, values: &[f64]| values.iter().map(|v| factor * v).collect::<Vec<f64>>();
    let (real, classes) = (uniform(n, 3), uniform(n, 3).iter().map(|u| u > &0.5).collect::<Vec<_>>());
    let select = |factor: f64, target: Target| {
        let x: Vec<Vec<f64>> = plain.iter().map(|column| scaled(factor, column)).collect();
        let data = Dataset::new(DenseColumns::from_columns(&x).unwrap(), target).unwrap();
        let found = select(MrmrForm::Quotient, &data, 8);
        (found.order, found.scores)
    };
    let is_same = |(order, scores): (Vec<usize>, Vec<f64>), (plain, expected): &(Vec<usize>, Vec<f64>)| {
        assert_eq!(order, *plain);
        for (score, expected) in scores.iter().zip(expected) {
            assert!((score - expected).abs() <= 1e-12 * expected, "{score} {expected}");
        }
    };
    for power in [600, -600] {
        let factor = 2.0_f64.powi(power);
        let of_classes = |factor: f64| select(factor, Target::from_labels(&classes));
        is_same(of_classes(factor), &of_classes(1.0));
        let of_real = |factor: f64, of_y: f64| select(factor, Target::real(scaled(of_y, &real)).unwrap());
        is_same(of_real(factor, 1.0), &of_real(1.0, 1.0));
        is_same(of_real(1.0, factor), &of_real(1.0, 1.0));
    }
}
