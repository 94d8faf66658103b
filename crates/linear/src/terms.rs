//! What a linear model has beside the features to choose from: covariates without a penalty, and an offset.

use std::borrow::Cow;

use fewest_columns::finite_values;
use fewest_core::method::Choice as _;
use fewest_core::{Dataset, Error, FeatureKind, Target};
use fewest_linalg::{add_scaled, dot};
use fewest_solver::loss::Samples;

use super::columns::LinearColumns;
use super::{Lasso, LinearLoss};

/// What is left of the squared norm of a covariate, as a share, when it depends on those before.
const DEPENDENT: f64 = 1e-10;

/// What is left of the loss, as a share, when covariates explain the target.
const EXPLAINED: f64 = 1e-10;

/// The columns of a model that are not to be selected.
#[derive(Default)]
pub(super) struct Terms {
    /// Those without a penalty; none where there are no covariates.
    pub(super) basis: Option<Basis>,
    /// All columns of covariates and of the offset, increasing.
    pub(super) left_out: Vec<usize>,
}

/// Covariates, orthonormal by `Σᵢ weightᵢ uᵢ vᵢ / n`.
pub(super) struct Basis {
    /// Columns of the model that span them, of which none depends on the others.
    pub(super) kept: Vec<usize>,
    /// One after the other.
    pub(super) vectors: Vec<f64>,
    /// Of the samples, with a sum of their number.
    weights: Option<Vec<f64>>,
    n: usize,
}

impl Terms {
    /// Those of a lasso in its columns.
    ///
    /// # Errors
    /// [`Error::Unreadable`].
    pub(super) fn of(lasso: &Lasso, columns: &LinearColumns<'_>) -> Result<Self, Error> {
        let of = |features: &[usize]| columns.sets(&[features.to_vec()]).concat();
        let covariates = of(&lasso.covariates);
        let mut left_out = [covariates.clone(), of(&lasso.offset)].concat();
        fewest_core::order::sort_indices(&mut left_out);
        left_out.dedup();
        let basis = if covariates.is_empty() { None } else { Some(Basis::of(&covariates, columns)?) };
        Ok(Self { basis: basis.filter(|basis| !basis.kept.is_empty()), left_out })
    }
}

impl Basis {
    /// Columns that depend on those before are left out, such as the last level of a category.
    fn of(covariates: &[usize], columns: &LinearColumns<'_>) -> Result<Self, Error> {
        let weights = columns.weights().map(|weights| weights.values().to_vec());
        let mut basis = Self { kept: Vec::new(), vectors: Vec::new(), weights, n: columns.n_samples() };
        for &column in covariates {
            let mut vector = columns.gather(&[column])?;
            // Twice: what rounding leaves after the first time is far from orthogonal to the others.
            basis.project(&mut vector);
            let squared = basis.product(&vector, &vector);
            if squared <= DEPENDENT {
                continue;
            }
            basis.project(&mut vector);
            let norm = basis.product(&vector, &vector).sqrt();
            vector.iter_mut().for_each(|value| *value /= norm);
            basis.vectors.extend(vector);
            basis.kept.push(column);
        }
        Ok(basis)
    }

    /// Number of dimensions.
    pub(super) fn len(&self) -> usize {
        self.kept.len()
    }

    fn product(&self, a: &[f64], b: &[f64]) -> f64 {
        let sum = match &self.weights {
            Some(weights) => a.iter().zip(b).zip(weights).map(|((a, b), weight)| weight * a * b).sum(),
            None => dot(a, b),
        };
        sum / self.n as f64
    }

    pub(super) fn vectors(&self) -> impl Iterator<Item = &[f64]> {
        self.vectors.chunks_exact(self.n.max(1))
    }

    /// What covariates do not explain of the values of the samples.
    pub(super) fn project(&self, values: &mut [f64]) {
        for vector in self.vectors() {
            let product = self.product(vector, values);
            add_scaled(values, -product, vector);
        }
    }

    /// The same of residuals that have been divided by the number of samples, times their weights.
    pub(super) fn project_residuals(&self, residuals: &mut [f64]) {
        for vector in self.vectors() {
            let product = dot(vector, residuals) / self.n as f64;
            match &self.weights {
                Some(weights) => {
                    let parts = vector.iter().zip(weights).map(|(u, weight)| weight * u * product);
                    residuals.iter_mut().zip(parts).for_each(|(residual, part)| *residual -= part);
                }
                None => add_scaled(residuals, -product, vector),
            }
        }
    }

    /// Adds to fitted values what covariates explain of the rest of the target.
    pub(super) fn add_explained(&self, target: &[f64], fitted: &mut [f64]) {
        let mut rest: Vec<f64> = target.iter().zip(&*fitted).map(|(y, z)| y - z).collect();
        self.project(&mut rest);
        fitted.iter_mut().zip(target).zip(rest).for_each(|((z, y), rest)| *z = y - rest);
    }
}

/// Refuses covariates that leave nothing of the target: `left` is the loss with them, of `whole` without.
///
/// # Errors
/// [`Error::InvalidParameter`].
pub(super) fn check_left(left: f64, whole: f64) -> Result<(), Error> {
    // Not a number stays for the solver, which names it.
    if left <= EXPLAINED * whole {
        let expected =
            "features that leave something of the target: leave out the one that is it in other words";
        return Err(Error::parameter("covariates", "that explain the target exactly", expected));
    }
    Ok(())
}

/// Checks covariates and offset against the table.
///
/// # Errors
/// [`Error::InvalidParameter`] for a feature that is not there, or both, or an offset of categories.
pub(super) fn check(lasso: &Lasso, data: &Dataset) -> Result<(), Error> {
    let d = data.n_features();
    for (name, features) in [("covariates", &lasso.covariates), ("offset", &lasso.offset)] {
        if let Some(j) = features.iter().find(|&&j| j >= d) {
            return Err(Error::parameter(name, j, format!("below the number of features, {d}")));
        }
    }
    if let Some(j) = lasso.offset.iter().find(|j| lasso.covariates.contains(j)) {
        let expected = "a feature that is no covariate as well: name it once";
        return Err(Error::parameter("offset", named(data, *j), expected));
    }
    if let Some(j) = lasso.offset.iter().find(|&&j| *data.feature_kind(j) != FeatureKind::Numeric) {
        return Err(Error::parameter("offset", named(data, *j), "a feature of numbers, not of categories"));
    }
    Ok(())
}

/// A feature as messages name it.
fn named(data: &Dataset, j: usize) -> String {
    format!("feature `{}` ({j}, counted from 0)", data.feature_name(j))
}

/// What is added to the fitted value of every sample: the sum of the features of the offset; nothing without.
fn offsets(lasso: &Lasso, data: &Dataset) -> Result<Vec<f64>, Error> {
    let mut sum = Vec::new();
    for &j in &lasso.offset {
        let values = finite_values(data, j)?;
        if sum.is_empty() {
            sum = values;
        } else {
            add_scaled(&mut sum, 1.0, &values);
        }
    }
    Ok(sum)
}

/// `data` with its target less the offset, for a loss of differences, of outputs that are standardised.
///
/// # Errors
/// [`Error::Unsupported`] for a loss or target that has no use for an offset; what reading it returns.
pub(super) fn less_offset<'d>(
    method: &'static str,
    lasso: &Lasso,
    data: &'d Dataset,
) -> Result<Cow<'d, Dataset>, Error> {
    if lasso.offset.is_empty() {
        return Ok(Cow::Borrowed(data));
    }
    let unsupported =
        |what: String, instead: &str| Err(Error::Unsupported { method, what, instead: instead.to_owned() });
    match (lasso.loss, data.target()) {
        (LinearLoss::Squared | LinearLoss::Huber { .. }, Target::Real(outputs)) => {
            let offset = offsets(lasso, data)?;
            let less = |k: usize| outputs.output(k).iter().zip(&offset).map(|(y, o)| y - o).collect();
            let outputs: Vec<Vec<f64>> = (0..outputs.n_outputs()).map(less).collect();
            let target = Target::outputs(outputs.concat(), data.n_samples())?;
            Ok(Cow::Owned(data.clone().with_target(target)?))
        }
        (LinearLoss::Squared | LinearLoss::Huber { .. }, target) => unsupported(
            format!("an `offset` for {}", target.describe()),
            "an offset has the unit of a real target; for two classes use loss=logistic",
        ),
        (LinearLoss::Multinomial { .. } | LinearLoss::SquaredHinge { .. } | LinearLoss::Hinge { .. }, _) => {
            unsupported(
                format!("an `offset` with loss={}", lasso.loss.word()),
                "use loss=logistic, where it is added to the log odds",
            )
        }
        _ => Ok(Cow::Borrowed(data)),
    }
}

/// The largest logarithm of an expected count: far above any, and far below where exponentials overflow.
const LARGEST_LOGARITHM: f64 = 300.0;

/// Refuses an offset whose exponential is no factor of a count: mostly the exposure in place of its
/// logarithm.
fn check_exponents(lasso: &Lasso, data: &Dataset) -> Result<(), Error> {
    for &j in &lasso.offset {
        let largest = finite_values(data, j)?.into_iter().fold(f64::NEG_INFINITY, f64::max);
        if largest > LARGEST_LOGARITHM {
            let expected = format!(
                "at most {LARGEST_LOGARITHM} with loss=poisson, where it is the logarithm of an exposure: give a \
                 column with the logarithms of these values"
            );
            return Err(Error::parameter("offset", format!("{}, up to {largest}", named(data, j)), expected));
        }
    }
    Ok(())
}

/// `samples` with the offset, for `n_outputs` of a loss that is not one of differences.
///
/// # Errors
/// What reading the offset returns.
pub(super) fn with_offset(samples: Samples, lasso: &Lasso, data: &Dataset) -> Result<Samples, Error> {
    if matches!(lasso.loss, LinearLoss::Poisson { .. }) {
        check_exponents(lasso, data)?;
    }
    let n_outputs = match (lasso.loss, data.target()) {
        _ if lasso.offset.is_empty() => return Ok(samples),
        (LinearLoss::Squared | LinearLoss::Huber { .. }, _) => return Ok(samples),
        (LinearLoss::Poisson { .. }, Target::Real(outputs)) => outputs.n_outputs(),
        _ => 1,
    };
    samples.with_offsets(offsets(lasso, data)?.repeat(n_outputs))
}
