//! Certificates and optima from the definition.

use super::*;

/// The duality gap from the scores alone: fitted values from the standardised columns, the best coefficients
/// of covariates and intercept by search, the dual point scaled until no correlation is above `λ`.
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

/// Frisch and Waugh: with squared errors the problem is that of what covariates leave of features and target.
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

/// The adaptive lasso by its definition: the first estimate with the covariates projected out, then the gap
/// of the weighted problem. With fewer features than samples and with more.
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

/// For a number of features as many are found, of which none is a covariate, by every method of the family
/// and with a sign.
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
