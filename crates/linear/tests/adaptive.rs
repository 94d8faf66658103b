//! Adaptive lasso: optimality from the definition, with weights from another solution of the first problem.

use crate::common::{self, noise, real, regression, standardised, three_classes, weights};
use fewest_core::method::Regularization;
use fewest_core::{Budget, Context, Dataset, DenseColumns, Error, Selector, Status, Target};
use fewest_linear::{AdaptiveLasso, FirstEstimate, Lasso, LinearLoss};

type Tested = Result<(), Error>;

const N: usize = 50;

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// `(XᵀX/n + μ I)⁻¹ Xᵀy/n` by many sweeps of coordinate descent.
fn ridge(x: &[Vec<f64>], y: &[f64], mu: f64) -> Vec<f64> {
    let mut w = vec![0.0; x.len()];
    let mut residual = y.to_vec();
    for _ in 0..5000 {
        for (j, x) in x.iter().enumerate() {
            let change = (dot(x, &residual) / N as f64 - mu * w[j]) / (1.0 + mu);
            w[j] += change;
            residual.iter_mut().zip(x).for_each(|(r, x)| *r -= change * x);
        }
    }
    w
}

fn table(d: usize) -> Vec<Vec<f64>> {
    (0..d as u64).map(|j| noise(N, j)).collect()
}

/// Fewer features than samples, and more.
#[test]
fn correlations_are_at_their_bounds() -> Tested {
    let y = standardised(&real());
    for (d, mu) in [(12, 0.0), (12, 0.1), (70, 0.3)] {
        let x: Vec<Vec<f64>> = table(d).iter().map(|x| standardised(x)).collect();
        let first = ridge(&x, &y, mu);
        let data = Dataset::new(DenseColumns::from_columns(&table(d))?, Target::real(real())?)?;
        for gamma in [0.5, 1.0, 2.0] {
            let b: Vec<f64> = first.iter().map(|w| w.abs().powf(gamma)).collect();
            let largest = x.iter().zip(&b).map(|(x, b)| b * dot(x, &y).abs() / N as f64).fold(0.0, f64::max);
            for ratio in [0.9, 0.3, 0.02] {
                let initial =
                    if mu > 0.0 { FirstEstimate::Ridge { mu } } else { FirstEstimate::LeastSquares };
                let lasso = Lasso {
                    regularization: Regularization::Ratio(ratio),
                    tolerance: 1e-13,
                    ..Lasso::default()
                };
                let method = AdaptiveLasso { initial, gamma, lasso };
                let selection = method.select(&data, Budget::Auto, &Context::default())?;
                let report = selection.solver.clone();
                let report = report.ok_or(Error::TooFew { what: "reports", minimum: 1, found: 0 })?;
                assert!((report.lambda / (ratio * largest) - 1.0).abs() < 1e-9, "{d} {gamma} {ratio}");
                let w = weights(&selection);
                let fit = |i: usize| x.iter().zip(&w).map(|(x, w)| w * x[i]).sum::<f64>();
                let residual: Vec<f64> = (0..N).map(|i| y[i] - fit(i)).collect();
                for j in 0..d {
                    let share = b[j] * dot(&x[j], &residual) / (N as f64 * report.lambda);
                    let what = format!("{d} {gamma} {ratio}: feature {j}, {share}");
                    if w[j] == 0.0 {
                        assert!(share.abs() <= 1.0 + 1e-5, "{what}");
                    } else {
                        assert!((share - w[j].signum()).abs() < 1e-5, "{what}");
                    }
                }
                let norm: f64 = w.iter().zip(&b).filter(|(w, _)| **w != 0.0).map(|(w, b)| w.abs() / b).sum();
                let objective = dot(&residual, &residual) / (2 * N) as f64 + report.lambda * norm;
                assert!((objective - report.objective).abs() < 1e-9, "{objective} {report:?}");
            }
        }
    }
    Ok(())
}

/// With a power near 0 all weights are 1.
#[test]
fn without_weights_it_is_the_lasso() -> Tested {
    let labels: Vec<bool> = real().iter().map(|y| *y > 0.4).collect();
    let classes = regression()?.with_target(Target::from_labels(&labels))?;
    let logistic = LinearLoss::Logistic { intercept: true };
    let multinomial = LinearLoss::Multinomial { intercept: true };
    let all = [(LinearLoss::Squared, regression()?), (logistic, classes), (multinomial, three_classes()?)];
    for (loss, data) in all {
        let regularization = Regularization::Value(0.02);
        let lasso = Lasso { loss, regularization, tolerance: 1e-12, ..Lasso::default() };
        let expected = weights(&lasso.select(&data, Budget::Auto, &Context::default())?);
        let method = AdaptiveLasso { gamma: 1e-13, lasso, ..AdaptiveLasso::default() };
        let found = weights(&method.select(&data, Budget::Auto, &Context::default())?);
        assert!(expected.iter().zip(&found).all(|(a, b)| (a - b).abs() < 1e-5), "{expected:?} {found:?}");
    }
    Ok(())
}

/// With every loss there are as many features as asked for, and fewer than the lasso has at the same
/// relative penalty.
#[test]
fn few_features_are_left() -> Tested {
    let labels: Vec<bool> = real().iter().map(|y| *y > 0.4).collect();
    let classes = regression()?.with_target(Target::from_labels(&labels))?;
    let logistic = LinearLoss::Logistic { intercept: true };
    for (loss, data) in [(LinearLoss::Squared, regression()?), (logistic, classes)] {
        let lasso = Lasso { loss, ..Lasso::default() };
        let method = AdaptiveLasso { lasso: lasso.clone(), ..AdaptiveLasso::default() };
        for k in [1, 4, 8] {
            let found = method.select(&data, Budget::Count(k), &Context::default())?;
            assert_eq!((found.order.len(), found.status), (k, Status::Converged), "{loss:?}");
        }
        let regularization = Regularization::Ratio(0.02);
        let count = |selector: &dyn Selector| {
            selector.select(&data, Budget::Auto, &Context::default()).map(|found| found.order.len())
        };
        let plain = Lasso { regularization, ..lasso };
        let method = AdaptiveLasso { lasso: plain.clone(), ..AdaptiveLasso::default() };
        assert!(count(&method)? < count(&plain)?, "{loss:?}");
    }
    Ok(())
}

#[test]
fn least_squares_need_independent_features() -> Tested {
    let ols = AdaptiveLasso { initial: FirstEstimate::LeastSquares, ..AdaptiveLasso::default() };
    let mut copies = table(12);
    copies[7] = copies[2].iter().map(|x| 3.0 - 2.0 * x).collect();
    for columns in [copies, table(N)] {
        let data = Dataset::new(DenseColumns::from_columns(&columns)?, Target::real(real())?)?;
        let found = ols.select(&data, Budget::Count(2), &Context::default());
        assert!(matches!(found, Err(Error::Unsupported { .. })), "{found:?}");
        let ridge = AdaptiveLasso::default().select(&data, Budget::Count(2), &Context::default())?;
        assert_eq!(ridge.order.len(), 2);
    }
    // A constant feature is no feature.
    let mut constant = table(12);
    constant[7] = vec![2.0; N];
    let data = Dataset::new(DenseColumns::from_columns(&constant)?, Target::real(real())?)?;
    assert_eq!(ols.select(&data, Budget::Count(3), &Context::default())?.order.len(), 3);
    Ok(())
}

#[test]
fn bad_parameters_are_typed_errors() {
    for bad in [f64::NAN, 0.0, -1.0, f64::INFINITY] {
        let method = AdaptiveLasso { gamma: bad, ..AdaptiveLasso::default() };
        common::refuses_parameter("gamma", &method, Budget::Count(2));
        let initial = FirstEstimate::Ridge { mu: bad };
        common::refuses_parameter(
            "mu",
            &AdaptiveLasso { initial, ..AdaptiveLasso::default() },
            Budget::Count(2),
        );
    }
}
