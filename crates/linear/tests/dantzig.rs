//! The Dantzig selector: optimality from the definition, laws against the lasso.

use crate::common::{columns, noise, real, regression, standardised, three_classes, weights};
use fewest_core::method::Regularization;
use fewest_core::{
    Budget, Context, Dataset, DenseColumns, Error, FeatureKind, Selection, Selector, Status, Target,
};
use fewest_linear::{Dantzig, Lasso};

type Tested = Result<(), Error>;

fn at(regularization: Regularization) -> Dantzig {
    Dantzig { regularization, ..Dantzig::default() }
}

fn select(selector: &dyn Selector, data: &Dataset) -> Result<Selection, Error> {
    selector.select(data, Budget::Auto, &Context::default())
}

fn table(columns: &[Vec<f64>], y: Vec<f64>) -> Result<Dataset, Error> {
    Dataset::new(DenseColumns::from_columns(columns)?, Target::real(y)?)
}

fn wide(n: usize, d: usize) -> (Vec<Vec<f64>>, Vec<f64>) {
    let x: Vec<Vec<f64>> = (0..d as u64).map(|j| noise(n, 31 * j + 5)).collect();
    let error = noise(n, 999);
    let y = (0..n).map(|i| x[0][i] - 0.8 * x[d / 2][i] + 0.6 * x[d - 1][i] + 0.3 * error[i]).collect();
    (x, y)
}

/// `(‖w‖₁, max |xⱼᵀ (y − X w)| / n)` of a selection, on the data standardised here.
fn norm_and_correlation(columns: &[Vec<f64>], y: &[f64], w: &[f64]) -> (f64, f64) {
    let n = y.len() as f64;
    let x: Vec<Vec<f64>> = columns.iter().map(|column| standardised(column)).collect();
    let mut residual = standardised(y);
    for (x, w) in x.iter().zip(w) {
        residual.iter_mut().zip(x).for_each(|(r, x)| *r -= w * x);
    }
    let correlation = |x: &Vec<f64>| x.iter().zip(&residual).map(|(x, r)| x * r).sum::<f64>().abs() / n;
    (w.iter().map(|w| w.abs()).sum(), x.iter().map(correlation).fold(0.0, f64::max))
}

/// The conditions hold for all features, and the norm is not above that of the lasso, which keeps them too.
/// From no features to as many as there are samples.
#[test]
fn the_norm_is_the_least_of_what_keeps_the_conditions() -> Tested {
    for (n, d) in [(50, 12), (30, 200), (200, 25)] {
        let (x, y) = wide(n, d);
        let data = table(&x, y.clone())?;
        for ratio in [1.0, 0.7, 0.3, 0.1, 0.01] {
            let found = select(&at(Regularization::Ratio(ratio)), &data)?;
            let report =
                found.solver.clone().ok_or(Error::TooFew { what: "reports", minimum: 1, found: 0 })?;
            assert_eq!(found.status, Status::Converged);
            assert!(report.certificate.value() <= 1e-9, "{:?}", report.certificate);
            let (norm, correlation) = norm_and_correlation(&x, &y, &weights(&found));
            assert!((norm - report.objective).abs() <= 1e-12 * (1.0 + norm));
            assert!(correlation <= report.lambda * (1.0 + 1e-10), "{correlation} for {}", report.lambda);
            let lasso = Lasso { regularization: Regularization::Ratio(ratio), ..Lasso::default() };
            let lasso = select(&lasso, &data)?;
            let (lasso_norm, lasso_correlation) = norm_and_correlation(&x, &y, &weights(&lasso));
            // The same largest λ.
            let lambda = lasso.solver.as_ref().map_or(f64::NAN, |report| report.lambda);
            assert!((lambda - report.lambda).abs() <= 1e-14 && lasso_correlation <= lambda * (1.0 + 1e-6));
            assert!(norm <= lasso_norm * (1.0 + 1e-6) + 1e-12, "{norm} and {lasso_norm} at {ratio}");
            assert_eq!(found.order.is_empty(), ratio == 1.0);
        }
    }
    Ok(())
}

/// The dual bound, from the definition: the multipliers of the features whose condition is tight.
#[test]
fn no_point_that_keeps_the_conditions_is_smaller() -> Tested {
    let (x, y) = wide(40, 60);
    let data = table(&x, y.clone())?;
    let found = select(&at(Regularization::Ratio(0.2)), &data)?;
    let lambda = found.solver.as_ref().map_or(f64::NAN, |report| report.lambda);
    let w = weights(&found);
    let x: Vec<Vec<f64>> = x.iter().map(|column| standardised(column)).collect();
    let y = standardised(&y);
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>() / 40.0;
    let mut residual = y.clone();
    for (x, w) in x.iter().zip(&w) {
        residual.iter_mut().zip(x).for_each(|(r, x)| *r -= w * x);
    }
    // The dual point: G μ = sign(w) on the support, with μ on the tight conditions only.
    let support: Vec<usize> = (0..60).filter(|&j| w[j] != 0.0).collect();
    let tight: Vec<usize> =
        (0..60).filter(|&j| dot(&x[j], &residual).abs() >= lambda * (1.0 - 1e-9)).collect();
    assert_eq!(support.len(), tight.len());
    let gram =
        nalgebra::DMatrix::from_fn(support.len(), tight.len(), |a, b| dot(&x[support[a]], &x[tight[b]]));
    let signs = nalgebra::DVector::from_iterator(support.len(), support.iter().map(|&j| w[j].signum()));
    let mu = gram.lu().solve(&signs).ok_or(Error::TooFew { what: "solutions", minimum: 1, found: 0 })?;
    let fitted = |j: usize| tight.iter().zip(&mu).map(|(&i, mu)| mu * dot(&x[j], &x[i])).sum::<f64>();
    assert!((0..60).all(|j| fitted(j).abs() <= 1.0 + 1e-9));
    let bound: f64 = tight.iter().zip(&mu).map(|(&i, mu)| mu * dot(&x[i], &y) - lambda * mu.abs()).sum();
    let norm: f64 = w.iter().map(|w| w.abs()).sum();
    assert!((norm - bound).abs() <= 1e-10 * norm, "{norm} and {bound}");
    Ok(())
}

/// Orthonormal features: both are the soft threshold.
#[test]
fn on_orthonormal_features_it_is_the_lasso() -> Tested {
    // Cosines of different frequencies.
    let (n, d) = (32, 8);
    let wave = |j: usize| {
        (0..n).map(move |i| (std::f64::consts::PI * (i as f64 + 0.5) * (j + 1) as f64 / n as f64).cos())
    };
    let x: Vec<Vec<f64>> = (0..d).map(|j| wave(j).collect()).collect();
    let y = (0..n).map(|i| (0..d).map(|j| x[j][i] * (1.5 - 0.4 * j as f64)).sum::<f64>()).collect();
    let data = table(&x, y)?;
    for ratio in [0.8, 0.4, 0.05] {
        let dantzig = select(&at(Regularization::Ratio(ratio)), &data)?;
        let lasso = Lasso { regularization: Regularization::Ratio(ratio), ..Lasso::default() };
        for (a, b) in weights(&dantzig).iter().zip(weights(&select(&lasso, &data)?)) {
            assert!((a - b).abs() <= 1e-8, "{a} and {b} at {ratio}");
        }
    }
    Ok(())
}

/// Every sample twice, samples and features in another order, features that repeat others.
#[test]
fn order_and_copies_change_nothing() -> Tested {
    let (x, y) = wide(25, 60);
    let method = at(Regularization::Ratio(0.2));
    let plain = select(&method, &table(&x, y.clone())?)?;
    let twice: Vec<Vec<f64>> = x.iter().map(|column| [column.clone(), column.clone()].concat()).collect();
    let doubled = select(&method, &table(&twice, [y.clone(), y.clone()].concat())?)?;
    let backwards: Vec<Vec<f64>> =
        x.iter().rev().map(|column| column.iter().rev().copied().collect()).collect();
    let reversed = select(&method, &table(&backwards, y.iter().rev().copied().collect())?)?;
    let expected = weights(&plain);
    for (j, expected) in expected.iter().enumerate() {
        for found in [weights(&doubled)[j], weights(&reversed)[59 - j]] {
            assert!((found - expected).abs() <= 1e-9, "{found} for {expected}");
        }
    }
    let copies: Vec<Vec<f64>> = x.iter().chain(&x).cloned().collect();
    let copied = select(&method, &table(&copies, y)?)?;
    let objective = |found: &Selection| found.solver.as_ref().map_or(f64::NAN, |report| report.objective);
    assert!((objective(&copied) - objective(&plain)).abs() <= 1e-10);
    assert_eq!(copied.status, Status::Converged);
    Ok(())
}

#[test]
fn a_number_of_features_is_kept() -> Tested {
    for data in [regression()?, three_classes()?] {
        for k in 1..=11 {
            let found = Dantzig::default().select(&data, Budget::Count(k), &Context::default())?;
            assert_eq!((found.order.len(), found.status), (k, Status::Converged), "{:?}", found.notes);
        }
    }
    Ok(())
}

/// The refit has the residual of least squares: no correlation with what is selected.
#[test]
fn a_refit_is_least_squares_on_the_same_features() -> Tested {
    let (x, y) = wide(40, 100);
    let data = table(&x, y.clone())?;
    let plain = select(&at(Regularization::Ratio(0.3)), &data)?;
    let refitted = Dantzig { refit: true, ..at(Regularization::Ratio(0.3)) };
    let refitted = select(&refitted, &data)?;
    let (mut one, mut other) = (plain.order.clone(), refitted.order.clone());
    one.sort_unstable();
    other.sort_unstable();
    assert_eq!(one, other);
    let chosen: Vec<Vec<f64>> = one.iter().map(|&j| x[j].clone()).collect();
    let w: Vec<f64> = one.iter().map(|&j| weights(&refitted)[j]).collect();
    assert!(norm_and_correlation(&chosen, &y, &w).1 <= 1e-12);
    assert!(weights(&plain) != weights(&refitted));
    Ok(())
}

/// Several outputs, and a category of three levels: each output is a problem of its own, on the columns
/// written out.
#[test]
fn outputs_and_levels_are_problems_of_columns() -> Tested {
    let codes: Vec<f64> = noise(50, 77).iter().map(|u| (3.0 * (u + 0.5)).floor()).collect();
    let mut given = columns();
    given[11] = codes.clone();
    let mut kinds = vec![FeatureKind::Numeric; 12];
    kinds[11] = FeatureKind::Categorical { levels: ["a", "b", "c"].map(str::to_owned).to_vec() };
    let outputs = [
        real().iter().zip(&codes).map(|(y, code)| y + f64::from(*code == 1.0)).collect::<Vec<f64>>(),
        noise(50, 99),
    ];
    let both = Target::outputs(outputs.concat(), 50)?;
    let data = Dataset::new(DenseColumns::from_columns(&given)?, both)?.with_feature_kinds(kinds)?;
    let mut written = given[..11].to_vec();
    written.extend((0..3).map(|level| codes.iter().map(|c| f64::from(*c == f64::from(level))).collect()));
    let found = weights(&select(&at(Regularization::Value(0.1)), &data)?);
    let mut norms = [0.0_f64; 12];
    for output in outputs {
        let own = weights(&select(&at(Regularization::Value(0.1)), &table(&written, output)?)?);
        own.iter().enumerate().for_each(|(j, w)| norms[j.min(11)] = norms[j.min(11)].hypot(*w));
    }
    for (found, norm) in found.iter().zip(norms) {
        assert!((found - norm).abs() <= 1e-9, "{found} and {norm}");
    }
    Ok(())
}

/// Several penalties of a search do not stop it half way: the last whole solution stands.
#[test]
fn a_program_that_is_stopped_gives_no_coefficients() -> Tested {
    let flag = std::sync::atomic::AtomicBool::new(false);
    let (x, y) = wide(30, 100);
    let data = table(&x, y)?;
    let late =
        Context { deadline: Some(std::time::Instant::now()), interrupt: Some(&flag), ..Context::default() };
    let stopped = at(Regularization::Ratio(0.1)).select(&data, Budget::Auto, &late);
    assert!(matches!(stopped, Err(Error::Stopped { .. })), "{stopped:?}");
    let stop = fewest_testkit::StopAt::report_of("search for the penalty", 6);
    let found = Dantzig::default().select(&data, Budget::Count(20), &stop.context(0))?;
    assert_eq!(found.status, Status::Interrupted);
    assert!(!found.order.is_empty() && found.order.len() < 20);
    Ok(())
}
