//! The lasso with the hinge loss: optimality from the definition, laws, what it refuses.

use std::sync::Arc;

use crate::common::{columns, noise, real, regression, standardised, three_classes, weights};
use fewest_cd::CoordinateDescent;
use fewest_core::method::Regularization;
use fewest_core::{Budget, Context, Dataset, DenseColumns, Error, Selector, Status, Target};
use fewest_linear::{AdaptiveLasso, ElasticNet, GroupLasso, Lasso, LinearLoss};
use fewest_solver::SolverChoice;
use fewest_testkit::conformance::{check_selector, problem};

type Tested = Result<(), Error>;

const HINGE: LinearLoss = LinearLoss::Hinge { intercept: true };

fn at(loss: LinearLoss, regularization: Regularization) -> Lasso {
    Lasso { loss, regularization, ..Lasso::default() }
}

fn labels() -> Vec<bool> {
    real().iter().map(|y| *y > 0.4).collect()
}

fn data() -> Result<Dataset, Error> {
    Dataset::new(DenseColumns::from_columns(&columns())?, Target::from_labels(&labels()))
}

/// The mean hinge loss at the best `b`, which is one where a sample is on the margin.
fn hinge(z: &[f64], intercept: bool) -> f64 {
    let y: Vec<f64> = labels().iter().map(|label| if *label { 1.0 } else { -1.0 }).collect();
    let value = |b: f64| y.iter().zip(z).map(|(y, z)| (1.0 - y * (z + b)).max(0.0)).sum::<f64>() / 50.0;
    if !intercept {
        return value(0.0);
    }
    y.iter().zip(z).map(|(y, z)| value(y - z)).fold(f64::INFINITY, f64::min)
}

/// No other point has a lower objective, and it is the one reported.
#[test]
fn nothing_is_better() -> Tested {
    let x: Vec<Vec<f64>> = columns().iter().map(|x| standardised(x)).collect();
    for intercept in [true, false] {
        let loss = LinearLoss::Hinge { intercept };
        for ratio in [0.5, 0.1, 0.01] {
            let found =
                at(loss, Regularization::Ratio(ratio)).select(&data()?, Budget::Auto, &Context::default())?;
            let report = found.solver.clone().ok_or(Error::TooFew { what: "r", minimum: 1, found: 0 })?;
            assert!(report.status == Status::Converged && report.certificate.value() <= 1e-9, "{report:?}");
            let w = weights(&found);
            let objective = |w: &[f64]| {
                let z: Vec<f64> = (0..50).map(|i| x.iter().zip(w).map(|(x, w)| w * x[i]).sum()).collect();
                hinge(&z, intercept) + report.lambda * w.iter().map(|w| w.abs()).sum::<f64>()
            };
            let best = objective(&w);
            assert!((report.objective - best).abs() < 1e-12, "{ratio}: {} {best}", report.objective);
            for seed in 0..300_u64 {
                let size = 10.0_f64.powi(-((seed % 6) as i32));
                let moved: Vec<f64> =
                    w.iter().zip(noise(12, 900 + seed)).map(|(w, e)| w + size * e).collect();
                assert!(objective(&moved) >= best - 1e-12, "{ratio} {seed}");
            }
        }
        let all = at(loss, Regularization::Ratio(1.0)).select(&data()?, Budget::Auto, &Context::default())?;
        assert!(all.order.is_empty(), "{:?}", all.order);
    }
    Ok(())
}

#[test]
fn as_many_features_as_asked_for() -> Tested {
    for k in [1, 3, 7] {
        let lasso = Lasso { loss: HINGE, ..Lasso::default() };
        let found = lasso.select(&data()?, Budget::Count(k), &Context::default())?;
        assert_eq!((found.order.len(), found.status), (k, Status::Converged));
    }
    check_selector(&Lasso { loss: HINGE, ..Lasso::default() }, &problem(true), 3);
    Ok(())
}

#[test]
fn what_is_no_linear_program_of_two_classes_is_an_error() -> Tested {
    let lasso = || Lasso { loss: HINGE, ..Lasso::default() };
    let context = Context::default();
    for data in [regression()?, three_classes()?] {
        let found = lasso().select(&data, Budget::Count(2), &context);
        assert!(matches!(found, Err(Error::UnsupportedTarget { .. })), "{found:?}");
    }
    let mut group = GroupLasso::default();
    group.fitting.loss = HINGE;
    let solver = SolverChoice::Use(Arc::new(CoordinateDescent::default()));
    let refused: [Box<dyn Selector>; 4] = [
        Box::new(ElasticNet { l1_ratio: 0.5, lasso: lasso() }),
        Box::new(AdaptiveLasso { lasso: lasso(), ..AdaptiveLasso::default() }),
        Box::new(group),
        Box::new(Lasso { solver, ..lasso() }),
    ];
    for selector in refused {
        let found = selector.select(&data()?, Budget::Count(2), &context);
        assert!(matches!(found, Err(Error::Unsupported { .. })), "{found:?}");
    }
    Ok(())
}

/// A penalty that the data choose is refused in words of the command line.
#[test]
fn the_data_do_not_choose_its_penalty() -> Tested {
    for (given, word) in [
        (Regularization::CrossValidated { folds: 5 }, "lambda_folds = 5"),
        (Regularization::OneStandardError { folds: 4 }, "lambda_folds = 4 with lambda_rule = one-se"),
        (Regularization::Information { gamma: 0.5 }, "lambda_ebic = 0.5"),
    ] {
        let told = at(HINGE, given).select(&data()?, Budget::Auto, &Context::default());
        let Err(Error::Unsupported { method: "lasso", what, instead }) = told else { panic!("{told:?}") };
        assert_eq!(what, format!("loss=hinge with {word}"));
        assert!(instead.contains("squared-hinge"), "{instead}");
    }
    Ok(())
}
