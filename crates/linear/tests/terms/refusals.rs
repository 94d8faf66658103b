//! Hostile input.

use super::*;

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
