//! Laws of covariates and offsets.

use super::*;

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
