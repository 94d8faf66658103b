//! Lasso and elastic net with other losses, l2,1 logistic regression and RFS: certificates from the
//! definition, laws, hostile input.

use crate::common::{columns, noise, real, refuses_parameter, standardised, three_classes, weights};
use fewest_core::method::Regularization;
use fewest_core::{Budget, Context, Dataset, DenseColumns, Error, Selection, Selector, Status, Target};
use fewest_linear::{ClassLoss, ElasticNet, L21Logistic, Lasso, LinearLoss, Rfs};
use fewest_solver::loss::{Cox, Huber, Logistic, Loss, Poisson, Samples, Separable, SquaredHinge, Ties};
use fewest_testkit::conformance::{check_selector, problem};

type Tested = Result<(), Error>;

const LOGISTIC: LinearLoss = LinearLoss::Logistic { intercept: true };
const SQUARED_HINGE: LinearLoss = LinearLoss::SquaredHinge { intercept: true };
const MULTINOMIAL: LinearLoss = LinearLoss::Multinomial { intercept: true };
const HUBER: LinearLoss = LinearLoss::Huber { intercept: true, delta: 0.8 };
const POISSON: LinearLoss = LinearLoss::Poisson { intercept: true };
const COX: LinearLoss = LinearLoss::Cox { ties: Ties::Efron };

fn lasso(loss: LinearLoss) -> Lasso {
    Lasso { loss, ..Lasso::default() }
}

fn at(loss: LinearLoss, ratio: f64) -> Lasso {
    Lasso { loss, regularization: Regularization::Ratio(ratio), ..Lasso::default() }
}

fn data(target: Target) -> Result<Dataset, Error> {
    Dataset::new(DenseColumns::from_columns(&columns())?, target)
}

fn labels() -> Vec<bool> {
    real().iter().map(|y| *y > 0.4).collect()
}

fn counts() -> Vec<f64> {
    real().iter().map(|y| (2.0 * y).exp().floor().min(40.0)).collect()
}

/// Times with ties, and events.
fn survival() -> (Vec<f64>, Vec<bool>) {
    (real().into_iter().map(|y| (10.0 * (-y).exp()).ceil()).collect(), (0..50).map(|i| i % 4 != 1).collect())
}

fn survival_target() -> Result<Target, Error> {
    let (times, events) = survival();
    Target::survival(times, events)
}

/// Every loss with a target it is for.
fn losses() -> Result<Vec<(LinearLoss, Dataset)>, Error> {
    Ok(vec![
        (LOGISTIC, data(Target::from_labels(&labels()))?),
        (LinearLoss::Logistic { intercept: false }, data(Target::from_labels(&labels()))?),
        (SQUARED_HINGE, data(Target::from_labels(&labels()))?),
        (MULTINOMIAL, three_classes()?),
        (HUBER, data(Target::real(real())?)?),
        (POISSON, data(Target::real(counts())?)?),
        (COX, data(survival_target()?)?),
    ])
}

/// The loss again, by the solver's own types but from the target as it is.
fn loss_of(loss: LinearLoss) -> Result<(Box<dyn Loss>, bool), Error> {
    let mean = Samples::mean(50);
    let signs = || labels().into_iter().map(|label| if label { 1.0 } else { -1.0 }).collect();
    Ok(match loss {
        LinearLoss::Logistic { intercept } => (Box::new(Separable::new(Logistic, signs(), mean)?), intercept),
        LinearLoss::SquaredHinge { intercept } => {
            (Box::new(Separable::new(SquaredHinge, signs(), mean)?), intercept)
        }
        LinearLoss::Huber { delta, intercept } => {
            (Box::new(Separable::new(Huber::new(delta)?, standardised(&real()), mean)?), intercept)
        }
        LinearLoss::Poisson { intercept } => (Box::new(Separable::new(Poisson, counts(), mean)?), intercept),
        LinearLoss::Cox { ties } => {
            let (times, events) = survival();
            (Box::new(Cox::new(&times, &events, ties, mean)?), false)
        }
        _ => return Err(Error::parameter("loss", "of another kind", "of one output")),
    })
}

fn gap(selection: &Selection) -> f64 {
    selection.solver.as_ref().map_or(f64::NAN, |report| report.certificate.value())
}

/// The duality gap from the scores alone: fitted values from the standardised columns, the best intercept by
/// search, the dual point scaled until no correlation is above `λ`.
#[test]
fn gaps_are_small_by_the_definition() -> Tested {
    let x: Vec<Vec<f64>> = columns().iter().map(|x| standardised(x)).collect();
    for (loss, data) in losses()?.into_iter().filter(|(loss, _)| *loss != MULTINOMIAL) {
        let (function, intercept) = loss_of(loss)?;
        let search = |z: &[f64]| {
            let shifted = |b: f64| -> Vec<f64> { z.iter().map(|z| z + b).collect() };
            // Where the derivative, which rises with b, is zero.
            let (mut low, mut high) = (-30.0, if intercept { 30.0 } else { -30.0 });
            for _ in 0..200 {
                let middle = 0.5 * (low + high);
                let mut dual = [0.0; 50];
                function.dual_point(&shifted(middle), &mut dual);
                if dual.iter().sum::<f64>() > 0.0 { low = middle } else { high = middle }
            }
            shifted(if intercept { 0.5 * (low + high) } else { 0.0 })
        };
        let at_zero = function.value(&search(&[0.0; 50]));
        for ratio in [0.6, 0.2, 0.03] {
            let selection = at(loss, ratio).select(&data, Budget::Auto, &Context::default())?;
            let report = selection.solver.clone().ok_or(Error::TooFew { what: "r", minimum: 1, found: 0 })?;
            let w = weights(&selection);
            let z: Vec<f64> = (0..50).map(|i| x.iter().zip(&w).map(|(x, w)| w * x[i]).sum()).collect();
            let fitted = search(&z);
            let mut dual = vec![0.0; 50];
            function.dual_point(&fitted, &mut dual);
            if intercept {
                function.balance(&mut dual);
            }
            let v: Vec<f64> = x.iter().map(|x| x.iter().zip(&dual).map(|(x, a)| x * a).sum()).collect();
            let lambda = report.lambda;
            let t = v.iter().fold(1.0_f64, |t, v| t.min(lambda / v.abs()));
            let norm: f64 = w.iter().map(|w| w.abs()).sum();
            let along: f64 = w.iter().zip(&v).map(|(w, v)| w * v).sum();
            let found = function.loss_gap(&fitted, &dual, t) + lambda * norm - t * along;
            assert!(found / at_zero <= 1e-9, "{loss:?} {ratio}: {}", found / at_zero);
            let objective = function.value(&fitted) + lambda * norm;
            assert!(
                (objective - report.objective).abs() < 1e-9 * at_zero,
                "{loss:?}: {objective} {report:?}"
            );
            assert!(report.certificate.value() <= 1e-9 && report.status == Status::Converged, "{loss:?}");
            assert!(!selection.order.is_empty(), "{loss:?} {ratio}");
        }
        let nothing = at(loss, 1.0).select(&data, Budget::Auto, &Context::default())?;
        let some = at(loss, 0.99).select(&data, Budget::Auto, &Context::default())?;
        assert!(nothing.order.is_empty() && !some.order.is_empty(), "{loss:?}: {nothing:?} {some:?}");
    }
    Ok(())
}

#[test]
fn exactly_as_many_features_as_asked_for() -> Tested {
    for (loss, data) in losses()? {
        for k in [1, 3, 7, 11] {
            let net = ElasticNet { l1_ratio: 0.7, lasso: lasso(loss) };
            for selector in [&lasso(loss) as &dyn Selector, &net] {
                let selection = selector.select(&data, Budget::Count(k), &Context::default())?;
                assert_eq!(selection.order.len(), k, "{loss:?}: {:?}", selection.notes);
                assert_eq!(selection.status, Status::Converged, "{loss:?}");
                assert!(gap(&selection) <= 1e-9, "{loss:?}");
            }
        }
    }
    let data = three_classes()?;
    for k in [1, 4, 9] {
        let ovr = L21Logistic { loss: ClassLoss::OneVsRest, ..L21Logistic::default() };
        for selector in [&L21Logistic::default() as &dyn Selector, &ovr, &Rfs::default()] {
            let selection = selector.select(&data, Budget::Count(k), &Context::default())?;
            assert_eq!((selection.order.len(), selection.status), (k, Status::Converged));
            assert!(gap(&selection) <= 1e-9);
            assert!(selection.scores.iter().all(|score| *score > 0.0), "norms have no sign");
        }
    }
    Ok(())
}

/// An elastic net with almost no ridge is the lasso, one with all of it shares between copies.
#[test]
fn a_ridge_shares_between_copies() -> Tested {
    let mut table = columns();
    table[5] = table[0].clone();
    let target = Target::from_labels(&labels());
    let data = Dataset::new(DenseColumns::from_columns(&table)?, target)?;
    let net = ElasticNet { l1_ratio: 0.5, lasso: at(LOGISTIC, 0.1) };
    let found = weights(&net.select(&data, Budget::Auto, &Context::default())?);
    assert!(found[0] != 0.0 && (found[0] - found[5]).abs() < 1e-5, "{found:?}");
    Ok(())
}

/// Two classes by the softmax with rows: binary logistic regression with the penalty divided by √2.
#[test]
fn two_classes_are_the_logistic_lasso() -> Tested {
    let data = data(Target::from_labels(&labels()))?;
    let lambda = 0.03;
    let rows = L21Logistic {
        regularization: Regularization::Value(lambda * 2.0_f64.sqrt()),
        tolerance: 1e-12,
        ..L21Logistic::default()
    };
    let one = Lasso {
        loss: LOGISTIC,
        regularization: Regularization::Value(lambda),
        tolerance: 1e-12,
        ..Lasso::default()
    };
    let (rows, one) = (
        rows.select(&data, Budget::Auto, &Context::default())?,
        one.select(&data, Budget::Auto, &Context::default())?,
    );
    assert_eq!(rows.order, one.order);
    for (row, w) in rows.scores.iter().zip(&one.scores) {
        assert!((row * 2.0_f64.sqrt() - w.abs()).abs() < 1e-6, "{row} {w}");
    }
    Ok(())
}

/// The multinomial gap with rows, from the rows of a solver that stops at the same point: by its KKT
/// conditions at twice the samples, which change nothing.
#[test]
fn copies_of_all_samples_change_nothing() -> Tested {
    let twice = |values: Vec<f64>| -> Vec<f64> { [values.clone(), values].concat() };
    let table: Vec<Vec<f64>> = columns().into_iter().map(twice).collect();
    let pairs: Vec<(Box<dyn Selector>, Dataset)> = vec![
        (Box::new(at(LOGISTIC, 0.1)), data(Target::from_labels(&labels()))?),
        (Box::new(at(POISSON, 0.1)), data(Target::real(counts())?)?),
        (Box::new(at(HUBER, 0.1)), data(Target::real(real())?)?),
        (
            Box::new(L21Logistic { regularization: Regularization::Ratio(0.1), ..L21Logistic::default() }),
            three_classes()?,
        ),
        (Box::new(Rfs { regularization: Regularization::Ratio(0.1), ..Rfs::default() }), three_classes()?),
    ];
    let mut order: Vec<usize> = (0..100).map(|i| i * 37 % 100).collect();
    order.rotate_left(13);
    for (selector, data) in pairs {
        let both: Vec<usize> = (0..100).map(|i| i % 50).collect();
        let target = data.target().subset(&both);
        let copied = Dataset::new(DenseColumns::from_columns(&table)?, target)?.subset(&order)?;
        let (one, two) = (
            selector.select(&data, Budget::Auto, &Context::default())?,
            selector.select(&copied, Budget::Auto, &Context::default())?,
        );
        let (a, b) = (weights(&one), weights(&two));
        for (a, b) in a.iter().zip(&b) {
            assert!((a - b).abs() < 1e-3 * (1.0 + a.abs()), "{a} {b}");
        }
    }
    Ok(())
}

#[test]
fn selectors_keep_the_laws() -> Tested {
    let (classes, numbers) = (problem(true), problem(false));
    for selector in [&lasso(LOGISTIC) as &dyn Selector, &lasso(SQUARED_HINGE), &lasso(MULTINOMIAL)] {
        check_selector(selector, &classes, 3);
    }
    check_selector(&L21Logistic::default(), &classes, 3);
    check_selector(&lasso(HUBER), &numbers, 3);
    for data in [&classes, &numbers] {
        check_selector(&Rfs::default(), data, 3);
    }
    let Target::Real(outputs) = numbers.target() else { return Ok(()) };
    let count = outputs.output(0).iter().map(|y| y.exp().floor()).collect();
    check_selector(&lasso(POISSON), &numbers.clone().with_target(Target::real(count)?)?, 3);
    let times = outputs.output(0).iter().map(|y| (-y).exp()).collect();
    let survival = Target::survival(times, (0..40).map(|i| i % 5 != 0).collect())?;
    check_selector(&lasso(COX), &numbers.clone().with_target(survival)?, 3);
    Ok(())
}

/// The number of threads changes no bit.
#[test]
fn threads_change_nothing() -> Tested {
    let wide: Vec<Vec<f64>> = (0..300).map(|j| noise(50, j)).collect();
    let x = DenseColumns::from_columns(&wide)?;
    let classes = Dataset::new(x, three_classes()?.target().clone())?;
    let selectors: [Box<dyn Selector>; 3] = [
        Box::new(lasso(MULTINOMIAL)),
        Box::new(L21Logistic::default()),
        Box::new(Rfs { regularization: Regularization::Ratio(0.2), ..Rfs::default() }),
    ];
    for selector in selectors {
        let with = |threads: usize| -> Result<Selection, Error> {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            let pool = pool.map_err(|error| Error::parameter("threads", error, "a pool"))?;
            pool.install(|| selector.select(&classes, Budget::Count(6), &Context::default()))
        };
        let one = with(1)?;
        assert!(one == with(2)? && one == with(7)?);
    }
    Ok(())
}

#[test]
fn targets_that_a_loss_is_not_for_are_errors() -> Tested {
    let context = Context::default();
    let refused = |loss: LinearLoss, data: &Dataset| {
        let found = lasso(loss).select(data, Budget::Count(2), &context);
        assert!(matches!(found, Err(Error::UnsupportedTarget { .. })), "{loss:?}: {found:?}");
        println!("{}", found.err().map_or(String::new(), |error| error.to_string()));
    };
    let one_class = data(Target::from_labels(&[3; 50]))?;
    let numbers = data(Target::real(real())?)?;
    let three = three_classes()?;
    for loss in [LOGISTIC, SQUARED_HINGE, MULTINOMIAL] {
        refused(loss, &one_class);
        refused(loss, &numbers);
    }
    refused(LOGISTIC, &three);
    refused(SQUARED_HINGE, &three);
    for loss in [HUBER, POISSON, COX] {
        refused(loss, &three);
    }
    refused(POISSON, &numbers);
    refused(POISSON, &data(Target::real(vec![0.0; 50])?)?);
    refused(HUBER, &data(Target::real(vec![2.0; 50])?)?);
    let times = data(survival_target()?)?;
    refused(LinearLoss::Squared, &times);
    let cox = lasso(LinearLoss::Auto).select(&times, Budget::Count(2), &context)?;
    let breslow = LinearLoss::Cox { ties: Ties::Breslow };
    let asked = lasso(breslow).select(&times, Budget::Count(2), &context)?;
    assert_eq!((&cox.order, &cox.scores), (&asked.order, &asked.scores));
    assert!(cox.notes.iter().any(|note| note.contains("loss=cox, ties=breslow")), "{:?}", cox.notes);
    let squared = lasso(LinearLoss::Auto).select(&numbers, Budget::Count(2), &context)?;
    assert_eq!(squared, lasso(LinearLoss::Squared).select(&numbers, Budget::Count(2), &context)?);
    refused(COX, &numbers);
    refused(COX, &data(Target::outputs([real(), real()].concat(), 50)?)?);
    refused(HUBER, &data(survival_target()?)?);
    for selector in [&L21Logistic::default() as &dyn Selector, &Rfs::default()] {
        assert!(selector.select(&one_class, Budget::Count(2), &context).is_err());
    }
    // The only event is last: nobody else was at risk.
    let times: Vec<f64> = (0..50).map(f64::from).collect();
    let never = data(Target::survival(times, (0..50).map(|i| i == 49).collect())?)?;
    let found = lasso(COX).select(&never, Budget::Count(2), &context);
    assert!(matches!(found, Err(Error::TooFew { .. })), "{found:?}");
    Ok(())
}

/// Separable classes, counts of any size, an outlier: the answer is certified, and an outlier moves RFS
/// little.
#[test]
fn hostile_targets_are_answered() -> Tested {
    let context = Context::default();
    let separable = data(Target::from_labels(&columns()[2].iter().map(|x| *x > 0.0).collect::<Vec<_>>()))?;
    for loss in [LOGISTIC, SQUARED_HINGE, MULTINOMIAL] {
        let found = at(loss, 1e-4).select(&separable, Budget::Auto, &context)?;
        assert_eq!((found.status, found.order.first()), (Status::Converged, Some(&2)), "{loss:?}");
    }
    for size in [1e-9, 1e12] {
        let many = data(Target::real(counts().iter().map(|count| size * count).collect())?)?;
        let found = at(POISSON, 0.05).select(&many, Budget::Auto, &context)?;
        assert_eq!(found.status, Status::Converged, "{size}: {:?}", found.solver);
        assert!(found.scores.iter().all(|score| score.is_finite()));
    }
    let robust = Rfs { regularization: Regularization::Ratio(0.3), ..Rfs::default() };
    let mut y = real();
    let before = robust.select(&data(Target::real(y.clone())?)?, Budget::Auto, &context)?;
    y[17] += 1e6;
    let after = robust.select(&data(Target::real(y)?)?, Budget::Auto, &context)?;
    assert_eq!((before.order.first(), after.status), (after.order.first(), Status::Converged), "{after:?}");
    Ok(())
}

#[test]
fn bad_parameters_are_typed_errors() {
    for bad in [f64::NAN, 0.0, -1.0, f64::INFINITY] {
        let huber = LinearLoss::Huber { intercept: true, delta: bad };
        refuses_parameter("delta", &lasso(huber), Budget::Count(2));
        refuses_parameter("tolerance", &Lasso { tolerance: bad, ..lasso(HUBER) }, Budget::Count(2));
        refuses_parameter("tolerance", &Rfs { tolerance: bad, ..Rfs::default() }, Budget::Count(2));
        let strength = Regularization::Value(bad);
        refuses_parameter("lambda", &Rfs { regularization: strength, ..Rfs::default() }, Budget::Auto);
    }
    refuses_parameter("k", &Rfs::default(), Budget::Auto);
    refuses_parameter("k", &lasso(HUBER), Budget::Auto);
}

/// The objective of RFS at its scores, and nothing near is better.
#[test]
fn rfs_ends_at_a_minimum() -> Tested {
    let x: Vec<Vec<f64>> = columns().iter().map(|x| standardised(x)).collect();
    let mut y = standardised(&real());
    let median = |values: &[f64]| {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        0.5 * (sorted[24] + sorted[25])
    };
    let middle = median(&y);
    y.iter_mut().for_each(|y| *y -= middle);
    let unit = median(&y.iter().map(|y| y.abs()).collect::<Vec<f64>>());
    y.iter_mut().for_each(|y| *y /= unit);
    let at_zero: f64 = y.iter().map(|y| y.abs()).sum();
    let rfs = Rfs { regularization: Regularization::Ratio(0.2), ..Rfs::default() };
    let selection = rfs.select(&data(Target::real(real())?)?, Budget::Auto, &Context::default())?;
    let report = selection.solver.clone().ok_or(Error::TooFew { what: "reports", minimum: 1, found: 0 })?;
    // One output: a coefficient has a sign, which its score does not tell. Of all signs those with the
    // smallest objective are the solution's.
    let scores = weights(&selection);
    let used: Vec<usize> = (0..12).filter(|&j| scores[j] > 0.0).collect();
    assert!((1..=12).contains(&used.len()));
    let residual = |signs: u32| -> Vec<f64> {
        let w = |at: usize| if signs >> at & 1 == 1 { -scores[used[at]] } else { scores[used[at]] };
        (0..50).map(|i| y[i] - (0..used.len()).map(|at| w(at) * x[used[at]][i]).sum::<f64>()).collect()
    };
    let norm: f64 = scores.iter().sum();
    let value = |signs: u32| residual(signs).iter().map(|r| r.abs()).sum::<f64>() + report.lambda * norm;
    let least = (0..1 << used.len()).map(value).fold(f64::INFINITY, f64::min);
    assert!((least - report.objective).abs() < 1e-9 * at_zero, "{least} {}", report.objective);
    assert!(report.status == Status::Converged && report.certificate.value() <= 1e-9);
    // No other point is better: moves of any size in random directions.
    let signs = (0..1 << used.len()).find(|&signs| value(signs) == least).unwrap_or(0);
    let mut w = [0.0; 12];
    for (at, &j) in used.iter().enumerate() {
        w[j] = if signs >> at & 1 == 1 { -scores[j] } else { scores[j] };
    }
    let objective = |w: &[f64]| -> f64 {
        let row = |i: usize| (y[i] - x.iter().zip(w).map(|(x, w)| w * x[i]).sum::<f64>()).abs();
        (0..50).map(row).sum::<f64>() + report.lambda * w.iter().map(|w| w.abs()).sum::<f64>()
    };
    for seed in 0..400_u64 {
        let size = 10.0_f64.powi(-1 - (seed % 6) as i32);
        let moved: Vec<f64> = w.iter().zip(noise(12, 900 + seed)).map(|(w, d)| w + size * d).collect();
        assert!(objective(&moved) >= least - 1e-9 * at_zero, "{seed}: {}", objective(&moved) - least);
    }
    Ok(())
}
