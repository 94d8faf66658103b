//! Coefficients of one sign: certificates from the definition, laws, and what is refused.

use crate::common::{columns, real, standardised, weights};
use fewest_core::method::Regularization;
use fewest_core::{Budget, Context, Dataset, DenseColumns, Error, Selection, Selector, Status, Target};
use fewest_linear::{AdaptiveLasso, ElasticNet, Lasso, LinearLoss, Sign};

type Tested = Result<(), Error>;

const N: usize = 50;

fn lasso(loss: LinearLoss, sign: Sign, regularization: Regularization) -> Lasso {
    Lasso { loss, sign, regularization, tolerance: 1e-10, ..Lasso::default() }
}

fn data(factor: f64, target: Target) -> Result<Dataset, Error> {
    let table: Vec<Vec<f64>> =
        columns().iter().map(|column| column.iter().map(|x| factor * x).collect()).collect();
    Dataset::new(DenseColumns::from_columns(&table)?, target)
}

fn targets() -> Result<Vec<(LinearLoss, Target)>, Error> {
    let labels: Vec<bool> = real().iter().map(|y| *y > 0.4).collect();
    let three: Vec<u8> = real().iter().map(|y| u8::from(*y > 0.2) + u8::from(*y > 0.9)).collect();
    let times = real().into_iter().map(|y| 10.0 * (-y).exp()).collect();
    Ok(vec![
        (LinearLoss::Squared, Target::real(real())?),
        (LinearLoss::Squared, Target::outputs([real(), columns()[5].clone()].concat(), N)?),
        (LinearLoss::Logistic { intercept: true }, Target::from_labels(&labels)),
        (LinearLoss::Multinomial { intercept: true }, Target::from_labels(&three)),
        (LinearLoss::Huber { intercept: true, delta: 0.8 }, Target::real(real())?),
        (LinearLoss::Auto, Target::survival(times, (0..N).map(|i| i % 4 != 1).collect())?),
    ])
}

fn run(selector: &dyn Selector, data: &Dataset) -> Result<Selection, Error> {
    selector.select(data, Budget::Auto, &Context::seeded(3))
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The duality gap of `½‖y − Xw‖²/n + λ‖w‖₁` over `w ≥ 0` from its definition: with `t ≤ 1` such
/// that no `xⱼᵀ t r / n` is above `λ`, whatever is below `−λ`.
fn gap(x: &[Vec<f64>], y: &[f64], w: &[f64], lambda: f64) -> f64 {
    let fit = |i: usize| x.iter().zip(w).map(|(x, w)| w * x[i]).sum::<f64>();
    let r: Vec<f64> = (0..N).map(|i| y[i] - fit(i)).collect();
    let most = x.iter().map(|x| dot(x, &r) / N as f64).fold(0.0, f64::max);
    let t = if most > lambda { lambda / most } else { 1.0 };
    let primal = 0.5 * dot(&r, &r) / N as f64 + lambda * w.iter().sum::<f64>();
    let dual = t * dot(y, &r) / N as f64 - 0.5 * t * t * dot(&r, &r) / N as f64;
    primal - dual
}

#[test]
fn the_certificate_is_that_of_the_constrained_problem() -> Tested {
    let y = standardised(&real());
    for (sign, factor) in [(Sign::Positive, 1.0), (Sign::Negative, -1.0)] {
        // What has the other sign is bounded by nothing: the data have features of both.
        let x: Vec<Vec<f64>> =
            columns().iter().map(|x| standardised(x).iter().map(|x| factor * x).collect()).collect();
        let products: Vec<f64> = x.iter().map(|x| dot(x, &y) / N as f64).collect();
        let largest = products.iter().copied().fold(0.0, f64::max);
        let data = data(1.0, Target::real(real())?)?;
        for ratio in [0.9, 0.3, 0.02] {
            let found = run(&lasso(LinearLoss::Squared, sign, Regularization::Ratio(ratio)), &data)?;
            let w: Vec<f64> = weights(&found).iter().map(|w| factor * w).collect();
            assert!(w.iter().all(|w| *w >= 0.0) && !found.order.is_empty(), "{sign:?} {w:?}");
            let Some(report) = found.solver else { panic!("no report") };
            assert!((report.lambda - ratio * largest).abs() < 1e-12, "{report:?}");
            let gap = gap(&x, &y, &w, report.lambda);
            assert!(gap.abs() < 1e-9 && report.certificate.value() < 1e-9, "{gap} {report:?}");
            assert_eq!(found.status, Status::Converged);
        }
        // With as many features as are asked for, on the exact path.
        for k in [1, 3] {
            let method = lasso(LinearLoss::Squared, sign, Regularization::Count);
            let found = method.select(&data, Budget::Count(k), &Context::default())?;
            assert_eq!(found.order.len(), k);
            let w: Vec<f64> = weights(&found).iter().map(|w| factor * w).collect();
            let Some(report) = found.solver else { panic!("no report") };
            assert!(w.iter().all(|w| *w >= 0.0) && gap(&x, &y, &w, report.lambda).abs() < 1e-9, "{w:?}");
        }
    }
    Ok(())
}

/// Negated features swap the signs, for every loss and method; and where all coefficients have the sign
/// anyway, the constraint changes nothing.
#[test]
fn negated_features_swap_the_signs() -> Tested {
    let given = Regularization::Ratio(0.15);
    for (loss, target) in targets()? {
        let (plain, negated) = (data(1.0, target.clone())?, data(-1.0, target.clone())?);
        let signed = |sign| -> Vec<Box<dyn Selector>> {
            let lasso = lasso(loss, sign, given);
            vec![
                Box::new(lasso.clone()),
                Box::new(ElasticNet { l1_ratio: 0.6, lasso: lasso.clone() }),
                Box::new(AdaptiveLasso { lasso, ..AdaptiveLasso::default() }),
            ]
        };
        for (positive, negative) in signed(Sign::Positive).iter().zip(signed(Sign::Negative)) {
            let (a, b) = (run(&**positive, &plain)?, run(&*negative, &negated)?);
            assert!(!a.order.is_empty(), "{loss:?}");
            let is_single = a.scores.iter().any(|score| *score < 0.0) || b.scores.iter().any(|s| *s < 0.0);
            let factor = if is_single { -1.0 } else { 1.0 };
            for (a, b) in weights(&a).iter().zip(weights(&b)) {
                assert!((a - factor * b).abs() < 1e-5, "{loss:?}: {a} {b}");
                assert!(*a >= 0.0, "{loss:?}: {a}");
            }
        }
        let any = run(&lasso(loss, Sign::Any, given), &plain)?;
        let turned: Vec<f64> = weights(&any).iter().map(|w| if *w < 0.0 { -1.0 } else { 1.0 }).collect();
        let table: Vec<Vec<f64>> = columns()
            .iter()
            .zip(&turned)
            .map(|(column, factor)| column.iter().map(|x| factor * x).collect())
            .collect();
        if any.scores.iter().any(|score| *score < 0.0) {
            let turned = Dataset::new(DenseColumns::from_columns(&table)?, target)?;
            let value = Regularization::Value(any.solver.as_ref().map_or(0.0, |report| report.lambda));
            let found = run(&lasso(loss, Sign::Positive, value), &turned)?;
            for (a, b) in weights(&any).iter().zip(weights(&found)) {
                assert!((a.abs() - b).abs() < 1e-5, "{loss:?}: {a} {b}");
            }
        }
    }
    Ok(())
}

/// The data choose among solutions of the sign.
#[test]
fn folds_and_criteria_keep_the_sign() -> Tested {
    for given in [Regularization::CrossValidated { folds: 3 }, Regularization::Information { gamma: 0.0 }] {
        for loss in [LinearLoss::Squared, LinearLoss::Logistic { intercept: true }] {
            let (_, target) =
                targets()?.into_iter().find(|(own, _)| *own == loss).unwrap_or_else(|| panic!());
            let found = run(&lasso(loss, Sign::Negative, given), &data(1.0, target)?)?;
            let Some(path) = found.path else { panic!("no path") };
            let all = path.points.iter().flat_map(|point| &point.coefficients);
            assert!(all.map(|(_, w)| *w).all(|w| w < 0.0), "{loss:?}");
        }
    }
    Ok(())
}

/// A target that every feature is on the wrong side of: nothing is selected, and that is no error.
#[test]
fn nothing_of_the_sign_is_nothing_selected() -> Tested {
    let x: Vec<f64> = (0..N).map(|i| (i % 7) as f64).collect();
    let y: Vec<f64> = x.iter().map(|x| -2.0 * x).collect();
    let labels: Vec<bool> = y.iter().map(|y| *y > -6.0).collect();
    for (loss, target) in [
        (LinearLoss::Squared, Target::real(y)?),
        (LinearLoss::Logistic { intercept: true }, Target::from_labels(&labels)),
    ] {
        let data = Dataset::new(DenseColumns::from_columns(std::slice::from_ref(&x))?, target)?;
        for given in [Regularization::Value(0.1), Regularization::Ratio(0.1), Regularization::Count] {
            let method = lasso(loss, Sign::Positive, given);
            let found = method.select(&data, Budget::Count(1), &Context::default())?;
            assert!(found.order.is_empty(), "{loss:?} {given:?}");
            let method = lasso(loss, Sign::Negative, given);
            assert_eq!(method.select(&data, Budget::Count(1), &Context::default())?.order, [0]);
        }
    }
    let hinge = lasso(LinearLoss::Hinge { intercept: true }, Sign::Positive, Regularization::Value(0.1));
    let classes = Target::from_labels(&labels);
    let data = Dataset::new(DenseColumns::from_columns(&[x])?, classes)?;
    assert!(matches!(run(&hinge, &data), Err(Error::Unsupported { .. })));
    Ok(())
}
