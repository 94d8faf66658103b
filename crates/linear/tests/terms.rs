//! Covariates without a penalty and offsets: certificates from the definition, laws, hostile input.

mod common;

use common::{columns, noise, real, standardised, weights};
use fewest_cd::CoordinateDescent;
use fewest_core::method::Regularization;
use fewest_core::{
    Budget, Context, Dataset, DenseColumns, Error, FeatureKind, PathChoice, Selection, Selector, Target,
};
use fewest_linear::{AdaptiveLasso, ElasticNet, FirstEstimate, Lasso, LinearLoss, Sign};
use fewest_newton::LinearModel;
use fewest_solver::loss::{
    Cox, Huber, Logistic, Loss, Multinomial, Poisson, Samples, Separable, Squared, SquaredHinge, Ties,
};
use fewest_solver::{Control, DenseOperator, L1};

type Tested = Result<(), Error>;

const N: usize = 50;
const COVARIATES: [usize; 2] = [0, 5];
const OFFSET: usize = 9;

const LOGISTIC: LinearLoss = LinearLoss::Logistic { intercept: true };
const POISSON: LinearLoss = LinearLoss::Poisson { intercept: true };
const LOSSES: [LinearLoss; 9] = [
    LinearLoss::Squared,
    LOGISTIC,
    LinearLoss::Logistic { intercept: false },
    LinearLoss::Multinomial { intercept: true },
    LinearLoss::SquaredHinge { intercept: true },
    LinearLoss::Huber { intercept: true, delta: 0.8 },
    POISSON,
    LinearLoss::Cox { ties: Ties::Breslow },
    LinearLoss::Cox { ties: Ties::Efron },
];

fn takes_offset(loss: LinearLoss) -> bool {
    !matches!(loss, LinearLoss::Multinomial { .. } | LinearLoss::SquaredHinge { .. })
}

fn is_difference(loss: LinearLoss) -> bool {
    matches!(loss, LinearLoss::Squared | LinearLoss::Huber { .. })
}

fn labels(limits: &[f64]) -> Vec<usize> {
    real().iter().map(|y| limits.iter().filter(|limit| y > limit).count()).collect()
}

fn counts() -> Vec<f64> {
    real().iter().map(|y| (2.0 * y).exp().floor().min(40.0)).collect()
}

fn survival() -> (Vec<f64>, Vec<bool>) {
    (real().into_iter().map(|y| (10.0 * (-y).exp()).ceil()).collect(), (0..N).map(|i| i % 4 != 1).collect())
}

fn target(loss: LinearLoss) -> Result<Target, Error> {
    match loss {
        LinearLoss::Logistic { .. } | LinearLoss::SquaredHinge { .. } => {
            Ok(Target::from_labels(&labels(&[0.4])))
        }
        LinearLoss::Multinomial { .. } => Ok(Target::from_labels(&labels(&[0.2, 0.9]))),
        LinearLoss::Poisson { .. } => Target::real(counts()),
        LinearLoss::Cox { .. } => {
            let (times, events) = survival();
            Target::survival(times, events)
        }
        _ => Target::real(real()),
    }
}

fn data(loss: LinearLoss) -> Result<Dataset, Error> {
    Dataset::new(DenseColumns::from_columns(&columns())?, target(loss)?)
}

/// The loss again, by the solver's own types but from the target as it is, with the offset, and whether there
/// is an intercept that is not part of it.
fn loss_of(loss: LinearLoss, offset: &[f64]) -> Result<(Box<dyn Loss>, bool), Error> {
    let mean = || {
        if offset.is_empty() { Ok(Samples::mean(N)) } else { Samples::mean(N).with_offsets(offset.to_vec()) }
    };
    let less = || -> Vec<f64> {
        let offset = |i: usize| offset.get(i).copied().unwrap_or(0.0);
        standardised(&real().iter().enumerate().map(|(i, y)| y - offset(i)).collect::<Vec<f64>>())
    };
    let signs = || labels(&[0.4]).into_iter().map(|label| if label == 1 { 1.0 } else { -1.0 }).collect();
    Ok(match loss {
        LinearLoss::Squared => (Box::new(Separable::new(Squared, less(), Samples::mean(N))?), false),
        LinearLoss::Logistic { intercept } => {
            (Box::new(Separable::new(Logistic, signs(), mean()?)?), intercept)
        }
        LinearLoss::SquaredHinge { intercept } => {
            (Box::new(Separable::new(SquaredHinge, signs(), mean()?)?), intercept)
        }
        LinearLoss::Multinomial { intercept } => {
            (Box::new(Multinomial::new(labels(&[0.2, 0.9]), 3, mean()?)?), intercept)
        }
        LinearLoss::Huber { delta, intercept } => {
            (Box::new(Separable::new(Huber::new(delta)?, less(), Samples::mean(N))?), intercept)
        }
        LinearLoss::Poisson { intercept } => {
            (Box::new(Separable::new(Poisson, counts(), mean()?)?), intercept)
        }
        LinearLoss::Cox { ties } => {
            let (times, events) = survival();
            (Box::new(Cox::new(&times, &events, ties, mean()?)?), false)
        }
        LinearLoss::Hinge { .. } => return Err(Error::parameter("loss", "hinge", "with a gradient")),
    })
}

fn at(loss: LinearLoss, ratio: f64) -> Lasso {
    let regularization = Regularization::Ratio(ratio);
    Lasso { loss, regularization, covariates: COVARIATES.to_vec(), ..Lasso::default() }
}

fn with_offset(loss: LinearLoss, ratio: f64) -> Lasso {
    let offset = if takes_offset(loss) { vec![OFFSET] } else { Vec::new() };
    Lasso { offset, ..at(loss, ratio) }
}

fn select(selector: &dyn Selector, data: &Dataset) -> Result<Selection, Error> {
    selector.select(data, Budget::Auto, &Context::default())
}

fn report(selection: &Selection) -> Result<fewest_core::SolverReport, Error> {
    selection.solver.clone().ok_or(Error::TooFew { what: "reports", minimum: 1, found: 0 })
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The fitted values with the best coefficients of `free` columns, one after the other by bisection of the
/// derivative, again and again.
fn best(loss: &dyn Loss, free: &[Vec<f64>], fitted: &[f64]) -> Vec<f64> {
    let mut z = fitted.to_vec();
    let slope = |z: &[f64], column: &[f64]| {
        let mut dual = vec![0.0; z.len()];
        loss.dual_point(z, &mut dual);
        dot(&dual, column)
    };
    for _ in 0..400 {
        let mut moved = 0.0_f64;
        for column in free {
            let at = |t: f64| -> Vec<f64> { z.iter().zip(column).map(|(z, x)| z + t * x).collect() };
            let (mut low, mut high) = (-4.0, 4.0);
            for _ in 0..60 {
                let middle = 0.5 * (low + high);
                if slope(&at(middle), column) > 0.0 { low = middle } else { high = middle }
            }
            moved = moved.max(high.abs());
            z = at(high);
        }
        if moved < 1e-14 {
            break;
        }
    }
    z
}

/// The duality gap from the scores alone: fitted values from the standardised columns, the best coefficients of
/// covariates and intercept by search, the dual point scaled until no correlation is above `λ`.
#[test]
fn gaps_are_small_by_the_definition() -> Tested {
    let x: Vec<Vec<f64>> = columns().iter().map(|x| standardised(x)).collect();
    let is_candidate = |j: &usize| !COVARIATES.contains(j) && *j != OFFSET;
    for loss in LOSSES.into_iter().filter(|loss| !matches!(loss, LinearLoss::Multinomial { .. })) {
        let offset = if takes_offset(loss) { columns().swap_remove(OFFSET) } else { Vec::new() };
        let (function, intercept) = loss_of(loss, &offset)?;
        let mut free: Vec<Vec<f64>> = COVARIATES.iter().map(|&j| x[j].clone()).collect();
        free.extend(intercept.then(|| vec![1.0; N]));
        let at_zero = function.value(&best(&*function, &free, &[0.0; N]));
        for ratio in [0.6, 0.2, 0.03] {
            let data = data(loss)?;
            let selection = select(&with_offset(loss, ratio), &data)?;
            let report = report(&selection)?;
            let w = weights(&selection);
            assert!(
                COVARIATES.iter().chain(&[OFFSET]).all(|&j| w[j] == 0.0 || j == OFFSET && offset.is_empty())
            );
            let z: Vec<f64> = (0..N).map(|i| x.iter().zip(&w).map(|(x, w)| w * x[i]).sum()).collect();
            let fitted = best(&*function, &free, &z);
            let mut dual = vec![0.0; N];
            function.dual_point(&fitted, &mut dual);
            // What makes the dual point one of the problem with covariates.
            assert!(free.iter().all(|column| dot(column, &dual).abs() < 1e-12), "{loss:?}");
            let candidates = || (0..12).filter(|j| is_candidate(j) || *j == OFFSET && offset.is_empty());
            let v: Vec<f64> = (0..12).map(|j| dot(&x[j], &dual)).collect();
            let lambda = report.lambda;
            let t = candidates().fold(1.0_f64, |t, j| t.min(lambda / v[j].abs()));
            let norm: f64 = w.iter().map(|w| w.abs()).sum();
            let found = function.loss_gap(&fitted, &dual, t) + lambda * norm - t * dot(&w, &v);
            assert!(found / at_zero <= 1e-9, "{loss:?} {ratio}: {}", found / at_zero);
            let objective = function.value(&fitted) + lambda * norm;
            assert!(
                (objective - report.objective).abs() < 1e-9 * at_zero,
                "{loss:?}: {objective} {report:?}"
            );
            assert!(report.certificate.value() <= 1e-9, "{loss:?}");
            assert!(!selection.order.is_empty(), "{loss:?} {ratio}");
        }
        let nothing = select(&with_offset(loss, 1.0), &data(loss)?)?;
        let some = select(&with_offset(loss, 0.99), &data(loss)?)?;
        assert!(nothing.order.is_empty() && some.order.len() == 1, "{loss:?}: {nothing:?} {some:?}");
    }
    Ok(())
}

/// Covariates are what columns with almost no penalty are in the limit.
#[test]
fn covariates_are_columns_of_almost_no_penalty() -> Tested {
    let x: Vec<f64> = columns().iter().flat_map(|x| standardised(x)).collect();
    let design = DenseOperator::new(x, N, 12)?;
    for loss in LOSSES {
        let (function, intercept) = loss_of(loss, &[])?;
        let c = function.n_outputs();
        let found = select(&Lasso { tolerance: 1e-12, ..at(loss, 0.2) }, &data(loss)?)?;
        let share = |j: usize| if COVARIATES.contains(&j) { 1e-6 } else { 1.0 };
        let levels: Vec<f64> = (0..12 * c).map(|at| share(at / c)).collect();
        let penalty = L1::weighted(report(&found)?.lambda, &levels)?;
        let model = LinearModel { design: &design, loss: &*function, intercept };
        let control = Control { tolerance: 1e-10, ..Control::default() };
        let solved = model.minimise(
            &model.null(&control)?,
            &penalty,
            &CoordinateDescent::default(),
            None,
            &control,
        )?;
        let of_feature = |j: usize| -> f64 {
            let own = &solved.solution.coefficients[j * c..(j + 1) * c];
            if c == 1 { own[0] } else { own.iter().map(|w| w * w).sum::<f64>().sqrt() }
        };
        let w = weights(&found);
        for j in (0..12).filter(|j| !COVARIATES.contains(j)) {
            assert!((w[j] - of_feature(j)).abs() < 1e-4, "{loss:?} {j}: {} {}", w[j], of_feature(j));
        }
        assert!(COVARIATES.iter().any(|&j| of_feature(j).abs() > 1e-2), "{loss:?}: they have no effect");
    }
    Ok(())
}

/// Frisch and Waugh: with squared errors, the problem is that of what covariates leave of features and target.
#[test]
fn squared_errors_are_those_of_residuals() -> Tested {
    // Orthogonal covariates, so that residuals are written down.
    let x: Vec<Vec<f64>> = columns().iter().map(|x| standardised(x)).collect();
    let first = x[0].clone();
    let second: Vec<f64> = {
        let along = dot(&first, &x[5]) / N as f64;
        standardised(&x[5].iter().zip(&first).map(|(x, f)| x - along * f).collect::<Vec<f64>>())
    };
    let rest = |v: &[f64]| -> Vec<f64> {
        let (a, b) = (dot(v, &first) / N as f64, dot(v, &second) / N as f64);
        v.iter().zip(first.iter().zip(&second)).map(|(v, (f, s))| v - a * f - b * s).collect()
    };
    let size = |v: &[f64]| (dot(v, v) / N as f64).sqrt();
    let y = rest(&standardised(&real()));
    // Features of one length after the projection: then standardising them again is no other problem.
    let table: Vec<Vec<f64>> = (0..12)
        .map(|j| {
            let own = rest(&x[j]);
            let length = size(&own);
            let added = if COVARIATES.contains(&j) { vec![0.0; N] } else { own };
            // Of deviation 1, half of its variance along the first covariate.
            let value = |i: usize| 0.5_f64.sqrt() * (added[i] / length.max(1e-9) + first[i]);
            if j == 0 {
                first.clone()
            } else if j == 5 {
                second.clone()
            } else {
                (0..N).map(value).collect()
            }
        })
        .collect();
    let whole: Vec<f64> = y.iter().zip(&first).map(|(y, f)| y + 3.0 * f).collect();
    let with = Dataset::new(DenseColumns::from_columns(&table)?, Target::real(whole.clone())?)?;
    let residual = |j: usize| if COVARIATES.contains(&j) { vec![0.0; N] } else { rest(&table[j]) };
    let residuals: Vec<Vec<f64>> = (0..12).map(residual).collect();
    let without = Dataset::new(DenseColumns::from_columns(&residuals)?, Target::real(y.clone())?)?;
    for ratio in [0.5, 0.1, 0.01] {
        let (with, without) = (
            select(&Lasso { tolerance: 1e-13, ..at(LinearLoss::Squared, ratio) }, &with)?,
            select(
                &Lasso { tolerance: 1e-13, covariates: Vec::new(), ..at(LinearLoss::Squared, ratio) },
                &without,
            )?,
        );
        assert_eq!(with.order, without.order);
        // In units of what is left of them.
        let unit = size(&y) / (0.5_f64.sqrt() * size(&standardised(&whole)) * size(&whole_deviation(&whole)));
        for (a, b) in with.scores.iter().zip(&without.scores) {
            assert!((a - b * unit).abs() < 1e-8 * unit, "{ratio}: {a} {}", b * unit);
        }
    }
    Ok(())
}

/// As many copies of the standard deviation as there are samples.
fn whole_deviation(values: &[f64]) -> Vec<f64> {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let square =
        values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / values.len() as f64;
    vec![square.sqrt(); values.len()]
}

fn close(a: &Selection, b: &Selection, tolerance: f64, what: &str) {
    assert!(!a.order.is_empty(), "{what}");
    for (a, b) in weights(a).iter().zip(weights(b)) {
        assert!((a - b).abs() < tolerance, "{what}: {a} {b}");
    }
}

/// A category is its levels; copies, sums and constants among the covariates change nothing.
#[test]
fn categories_are_their_levels_and_dependent_covariates_count_once() -> Tested {
    let level = |i: usize| (i * i + i / 7) % 3;
    let mut table = columns();
    table[5] = (0..N).map(|i| level(i) as f64).collect();
    for loss in LOSSES {
        let kinds: Vec<FeatureKind> = (0..12)
            .map(|j| match j {
                5 => FeatureKind::Categorical { levels: ["a", "b", "c"].map(str::to_owned).to_vec() },
                _ => FeatureKind::Numeric,
            })
            .collect();
        let category =
            Dataset::new(DenseColumns::from_columns(&table)?, target(loss)?)?.with_feature_kinds(kinds)?;
        let mut wide = table.clone();
        for k in 0..3 {
            wide.push((0..N).map(|i| f64::from(u8::from(level(i) == k))).collect());
        }
        wide.push(wide[0].iter().map(|x| 7.0 - 3.0 * x).collect());
        wide.push(vec![4.0; N]);
        // The last two: a copy and a constant. The category itself is no candidate.
        wide[5] = vec![1.0; N];
        let by_hand = Dataset::new(DenseColumns::from_columns(&wide)?, target(loss)?)?;
        let lasso = |covariates: &[usize]| Lasso {
            covariates: covariates.to_vec(),
            tolerance: 1e-12,
            ..at(loss, 0.15)
        };
        let one = select(&lasso(&[0, 5]), &category)?;
        let two = select(&lasso(&[0, 12, 13, 14, 15, 16]), &by_hand)?;
        let three = select(&lasso(&[16, 14, 15, 13]), &by_hand)?;
        let named = weights(&one);
        assert_eq!((named[0], named[5]), (0.0, 0.0));
        for other in [two, three] {
            for (a, b) in named.iter().zip(weights(&other)) {
                assert!((a - b).abs() < 1e-5, "{loss:?}: {a} {b}");
            }
        }
    }
    Ok(())
}

#[test]
fn offsets_keep_their_laws() -> Tested {
    // Squared errors: the lasso on the difference, to the last bit.
    let x = columns();
    for loss in [LinearLoss::Squared, LinearLoss::Huber { intercept: true, delta: 0.8 }] {
        let lasso = Lasso { covariates: Vec::new(), ..with_offset(loss, 0.1) };
        let mut less = x.clone();
        less[OFFSET] = vec![1.0; N];
        let difference = real().iter().zip(&x[OFFSET]).map(|(y, o)| y - o).collect();
        let less = Dataset::new(DenseColumns::from_columns(&less)?, Target::real(difference)?)?;
        let (one, two) =
            (select(&lasso, &data(loss)?)?, select(&Lasso { offset: Vec::new(), ..lasso.clone() }, &less)?);
        assert_eq!((&one.order, &one.scores), (&two.order, &two.scores), "{loss:?}");
    }
    for loss in LOSSES.into_iter().filter(|loss| takes_offset(*loss)) {
        let table = |offset: Vec<f64>| -> Result<Dataset, Error> {
            let mut table = columns();
            table[OFFSET] = offset;
            Dataset::new(DenseColumns::from_columns(&table)?, target(loss)?)
        };
        let found = |lasso: &Lasso, offset: Vec<f64>| {
            select(&Lasso { tolerance: 1e-12, ..lasso.clone() }, &table(offset)?)
        };
        // None is one of zeros.
        let lasso = with_offset(loss, 0.1);
        let none = Lasso { offset: Vec::new(), ..lasso.clone() };
        let zero = found(&lasso, vec![0.0; N])?;
        close(&found(&none, vec![0.0; N])?, &zero, 1e-12, "zeros");
        // Exposures in another unit: the intercept makes up for it.
        let log = |unit: f64| -> Vec<f64> { (0..N).map(|i| (unit * (1.0 + (i % 4) as f64)).ln()).collect() };
        let has_constant = !matches!(loss, LinearLoss::Logistic { intercept: false });
        if has_constant {
            close(&found(&lasso, log(1.0))?, &found(&lasso, log(1000.0))?, 1e-6, "units");
        }
        let changed = weights(&found(&lasso, log(1.0))?);
        let differs = weights(&zero).iter().zip(&changed).any(|(a, b)| (a - b).abs() > 1e-3);
        assert!(differs, "{loss:?}: an offset has no effect");
        // What a covariate explains as well changes nothing; real outputs have another unit then.
        if has_constant && !is_difference(loss) {
            let covariate = columns().swap_remove(COVARIATES[1]).iter().map(|x| 2.0 * x).collect();
            close(&zero, &found(&lasso, covariate)?, 1e-6, "a covariate as offset");
        }
    }
    Ok(())
}

fn choice(selection: &Selection) -> Result<(Vec<f64>, PathChoice), Error> {
    let missing = || Error::TooFew { what: "paths", minimum: 1, found: 0 };
    let path = selection.path.clone().ok_or_else(missing)?;
    let lambdas = path.points.iter().map(|point| point.lambda).collect();
    Ok((lambdas, path.choice.ok_or_else(missing)?))
}

/// What is held out is predicted with covariates and offset: one that a covariate explains changes no loss.
#[test]
fn held_out_samples_have_covariates_and_offsets() -> Tested {
    // Without a constant an offset that is not centred is not one that a covariate explains.
    let has_constant = |loss: &LinearLoss| *loss != LinearLoss::Logistic { intercept: false };
    for loss in LOSSES.into_iter().filter(|loss| takes_offset(*loss)).filter(has_constant) {
        for regularization in
            [Regularization::CrossValidated { folds: 4 }, Regularization::Information { gamma: 0.5 }]
        {
            if matches!(
                (loss, regularization),
                (LinearLoss::Huber { .. }, Regularization::Information { .. })
            ) {
                continue;
            }
            let lasso = Lasso { regularization, ..with_offset(loss, 0.1) };
            let found = |factor: f64| -> Result<_, Error> {
                let mut table = columns();
                table[OFFSET] = table[COVARIATES[1]].iter().map(|x| factor * x).collect();
                let data = Dataset::new(DenseColumns::from_columns(&table)?, target(loss)?)?;
                let difference: Vec<f64> = real().iter().zip(&table[OFFSET]).map(|(y, o)| y - o).collect();
                let unit = if is_difference(loss) { whole_deviation(&difference)[0] } else { 1.0 };
                let selection = select(&lasso, &data)?;
                assert!(selection.order.iter().all(|j| !COVARIATES.contains(j) && *j != OFFSET));
                Ok((unit, choice(&selection)?))
            };
            let ((unit, (lambdas, plain)), (other_unit, (others, moved))) = (found(0.0)?, found(0.7)?);
            if matches!(loss, LinearLoss::Huber { .. }) {
                // Its parameter is in units of the target.
                continue;
            }
            assert_eq!(plain.chosen, moved.chosen, "{loss:?} {regularization}");
            for at in 0..plain.values.len().min(moved.values.len()) {
                assert!((lambdas[at] * unit - others[at] * other_unit).abs() < 1e-6 * unit, "{loss:?}");
                let (a, b) = match (regularization, loss) {
                    (Regularization::CrossValidated { .. }, _) => {
                        (plain.values[at] * unit * unit, moved.values[at] * other_unit * other_unit)
                    }
                    // Of normal errors, up to a constant that is the unit.
                    _ => (plain.values[at] - plain.values[0], moved.values[at] - moved.values[0]),
                };
                assert!(
                    !(a.is_finite() || b.is_finite()) || (a - b).abs() < 1e-3 * (1.0 + a.abs()),
                    "{loss:?} {regularization} {at}: {a} {b}"
                );
            }
        }
    }
    Ok(())
}

/// For a number of features as many are found, of which none is a covariate, by every method of the family and
/// with a sign.
#[test]
fn a_number_of_features_is_found_beside_covariates() -> Tested {
    for loss in LOSSES {
        let lasso = Lasso { regularization: Regularization::Count, ..with_offset(loss, 0.1) };
        let signed = Lasso { sign: Sign::Negative, ..lasso.clone() };
        let net = ElasticNet { l1_ratio: 0.7, lasso: lasso.clone() };
        let adaptive = AdaptiveLasso { lasso: lasso.clone(), ..AdaptiveLasso::default() };
        for k in [1, 4, 9] {
            for selector in [&lasso as &dyn Selector, &net, &adaptive] {
                let selection = selector.select(&data(loss)?, Budget::Count(k), &Context::default())?;
                assert_eq!(selection.order.len(), k, "{loss:?}: {:?}", selection.notes);
                assert!(selection.order.iter().all(|j| !COVARIATES.contains(j)), "{loss:?}");
                let gap = report(&selection)?.certificate.value();
                assert!(gap <= 1e-9, "{loss:?}: {gap}");
            }
        }
        let selection = signed.select(&data(loss)?, Budget::Count(2), &Context::default())?;
        assert!(selection.scores.iter().all(|score| *score < 0.0 || function_outputs(loss) > 1), "{loss:?}");
    }
    Ok(())
}

fn function_outputs(loss: LinearLoss) -> usize {
    if matches!(loss, LinearLoss::Multinomial { .. }) { 3 } else { 1 }
}

/// A weight of 2 is a sample that is there twice, 0 one that is not there.
#[test]
fn weights_of_samples_are_those_of_covariates_too() -> Tested {
    let weight = |i: usize| [1.0, 2.0, 0.0, 1.0][i % 4];
    let copied: Vec<usize> = (0..N).flat_map(|i| vec![i; weight(i) as usize]).collect();
    for loss in LOSSES.into_iter().filter(|loss| *loss != LinearLoss::Cox { ties: Ties::Efron }) {
        let plain = data(loss)?;
        let weighted = plain.clone().with_sample_weights((0..N).map(weight).collect())?;
        let copies = plain.subset(&copied)?;
        let lasso = Lasso { tolerance: 1e-12, ..with_offset(loss, 0.1) };
        let adaptive = AdaptiveLasso { lasso: lasso.clone(), ..AdaptiveLasso::default() };
        for selector in [&lasso as &dyn Selector, &adaptive] {
            close(&select(selector, &weighted)?, &select(selector, &copies)?, 1e-5, &format!("{loss:?}"));
        }
    }
    Ok(())
}

/// Solves `a x = b` by Gaussian elimination.
fn solved(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    for k in 0..n {
        for i in k + 1..n {
            let factor = a[i][k] / a[k][k];
            for j in k..n {
                a[i][j] -= factor * a[k][j];
            }
            b[i] -= factor * b[k];
        }
    }
    for k in (0..n).rev() {
        b[k] = (b[k] - (k + 1..n).map(|j| a[k][j] * b[j]).sum::<f64>()) / a[k][k];
    }
    b
}

/// The adaptive lasso by its definition: the first estimate with the covariates projected out, then the gap of
/// the weighted problem. With fewer features than samples and with more.
#[test]
fn the_first_estimate_is_one_with_covariates() -> Tested {
    for (n, initial) in [
        (N, FirstEstimate::Ridge { mu: 0.1 }),
        (N, FirstEstimate::LeastSquares),
        (9, FirstEstimate::Ridge { mu: 0.3 }),
    ] {
        let rows: Vec<usize> = (0..n).collect();
        let data = data(LinearLoss::Squared)?.subset(&rows)?;
        let adaptive = AdaptiveLasso { initial, gamma: 1.0, lasso: at(LinearLoss::Squared, 0.1) };
        let selection = select(&adaptive, &data)?;
        let x: Vec<Vec<f64>> = columns().iter().map(|x| standardised(&x[..n])).collect();
        let mut basis: Vec<Vec<f64>> = Vec::new();
        let rest = |basis: &[Vec<f64>], v: &[f64]| -> Vec<f64> {
            let part = |v: Vec<f64>, u: &Vec<f64>| {
                let along = dot(&v, u);
                v.iter().zip(u).map(|(v, u)| v - along * u).collect()
            };
            basis.iter().fold(v.to_vec(), part)
        };
        for j in COVARIATES {
            let own = rest(&basis, &x[j]);
            let length = dot(&own, &own).sqrt();
            basis.push(own.iter().map(|value| value / length).collect());
        }
        let y = rest(&basis, &standardised(&real()[..n]));
        let used: Vec<usize> = (0..12).filter(|j| !COVARIATES.contains(j)).collect();
        let mx: Vec<Vec<f64>> = used.iter().map(|&j| rest(&basis, &x[j])).collect();
        let mu = match initial {
            FirstEstimate::Ridge { mu } => mu,
            FirstEstimate::LeastSquares => 0.0,
        };
        let entry = |a: usize, b: usize| dot(&mx[a], &mx[b]) / n as f64 + if a == b { mu } else { 0.0 };
        let gram = (0..10).map(|a| (0..10).map(|b| entry(a, b)).collect()).collect();
        let estimate = solved(gram, mx.iter().map(|x| dot(x, &y) / n as f64).collect());
        let w: Vec<f64> = used.iter().map(|&j| weights(&selection)[j]).collect();
        let residual: Vec<f64> =
            (0..n).map(|i| y[i] - mx.iter().zip(&w).map(|(x, w)| w * x[i]).sum::<f64>()).collect();
        let lambda = report(&selection)?.lambda;
        let level = |a: usize| lambda / estimate[a].abs();
        let v: Vec<f64> = mx.iter().map(|x| dot(x, &residual) / n as f64).collect();
        let t = (0..10).fold(1.0_f64, |t, a| t.min(level(a) / v[a].abs()));
        let square = dot(&residual, &residual) / n as f64;
        let value: f64 = (0..10).map(|a| level(a) * w[a].abs()).sum();
        let gap = 0.5 * (1.0 - t) * (1.0 - t) * square + value - t * dot(&w, &v);
        let at_zero = 0.5 * dot(&y, &y) / n as f64;
        assert!(gap <= 1e-8 * at_zero, "{n} {initial:?}: {}", gap / at_zero);
        assert!((0.5 * square + value - report(&selection)?.objective).abs() < 1e-9, "{n} {initial:?}");
        assert!(!selection.order.is_empty());
    }
    Ok(())
}

#[test]
fn threads_change_nothing() -> Tested {
    let wide: Vec<Vec<f64>> = (0..300).map(|j| noise(N, j)).collect();
    for loss in [LinearLoss::Squared, LinearLoss::Multinomial { intercept: true }, POISSON] {
        let wide = Dataset::new(DenseColumns::from_columns(&wide)?, target(loss)?)?;
        let with = |threads: usize| -> Result<Selection, Error> {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            let pool = pool.map_err(|error| Error::parameter("threads", error, "a pool"))?;
            pool.install(|| select(&at(loss, 0.2), &wide))
        };
        let one = with(1)?;
        assert!(one == with(2)? && one == with(7)?, "{loss:?}");
    }
    Ok(())
}

#[test]
fn what_makes_no_sense_is_refused() -> Tested {
    let refused = |lasso: Lasso, data: &Dataset, parts: &[&str]| {
        let error = select(&lasso, data).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(!error.is_empty() && parts.iter().all(|part| error.contains(part)), "{parts:?}: {error:?}");
    };
    let plain = data(LinearLoss::Squared)?;
    let squared = at(LinearLoss::Squared, 0.1);
    refused(Lasso { covariates: vec![12], ..squared.clone() }, &plain, &["covariates", "12"]);
    refused(Lasso { offset: vec![40], ..squared.clone() }, &plain, &["offset", "40"]);
    refused(Lasso { offset: vec![5], ..squared.clone() }, &plain, &["offset", "5", "once"]);
    refused(with_offset(LinearLoss::Squared, 0.1), &data(LOGISTIC)?, &["offset", "logistic"]);
    for loss in [LinearLoss::Multinomial { intercept: true }, LinearLoss::SquaredHinge { intercept: true }] {
        refused(Lasso { offset: vec![OFFSET], ..at(loss, 0.1) }, &data(loss)?, &["offset", "loss="]);
    }
    let hinge = LinearLoss::Hinge { intercept: true };
    refused(at(hinge, 0.1), &data(LOGISTIC)?, &["covariates", "squared-hinge"]);
    // The target itself, and one that separates the classes.
    let mut table = columns();
    table[5] = real();
    let own = Dataset::new(DenseColumns::from_columns(&table)?, Target::real(real())?)?;
    refused(squared.clone(), &own, &["covariates", "exactly"]);
    refused(at(LinearLoss::Huber { intercept: true, delta: 1.0 }, 0.1), &own, &["covariates", "exactly"]);
    table[5] = labels(&[0.4]).iter().map(|&label| label as f64).collect();
    let own = Dataset::new(DenseColumns::from_columns(&table)?, target(LOGISTIC)?)?;
    refused(at(LOGISTIC, 0.1), &own, &["covariates"]);
    // As many covariates as samples leave nothing.
    let many: Vec<Vec<f64>> = (0..60).map(|j| noise(N, j)).collect();
    let many = Dataset::new(DenseColumns::from_columns(&many)?, Target::real(real())?)?;
    refused(Lasso { covariates: (0..55).collect(), ..squared.clone() }, &many, &["covariates", "exactly"]);
    // The cell that is no number.
    for (j, lasso) in [(5, squared), (OFFSET, with_offset(POISSON, 0.1))] {
        let mut table = columns();
        table[j][3] = f64::NAN;
        let holed = Dataset::new(DenseColumns::from_columns(&table)?, target(lasso.loss)?)?;
        let error = select(&lasso, &holed).err();
        assert!(matches!(error, Some(Error::NonFinite { .. })), "{error:?}");
    }
    Ok(())
}
