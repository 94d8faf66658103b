//! The penalty that the data choose: by cross-validation, or by an information criterion.

mod folds;
mod information;

use std::collections::BTreeMap;

use fewest_core::{Error, Path, PathChoice, Status};

use super::columns::LinearColumns;

pub(super) use folds::{
    CrossValidation, FOLD_TOLERANCE, Fold, Held, cross_validate, fold_losses, residual_losses,
};
pub(super) use information::{Likelihood, by_information, normal_deviance};

/// Penalties tried, from the smallest that selects nothing down, evenly spaced in their logarithm.
const N_LAMBDAS: usize = 100;

/// The last of them as a share of the first: where there are more columns than samples, and else.
const SMALLEST_WIDE: f64 = 1e-2;
const SMALLEST_TALL: f64 = 1e-4;

const CHOSEN: &str = "the penalty was chosen";

/// The coefficients at a penalty.
pub(super) struct Step {
    /// By output, those that are not zero, by increasing column.
    pub(super) coefficients: Vec<Vec<(usize, f64)>>,
    /// One an output, or none.
    pub(super) intercepts: Vec<f64>,
    pub(super) status: Status,
}

/// Looks at a solution, and says whether another is wanted.
pub(super) type Visit<'v, L> = dyn FnMut(&L, <L as Ladder>::Fit) -> Result<bool, Error> + 'v;

/// A linear model that can be solved at one penalty after the other.
pub(super) trait Ladder {
    /// A solution.
    type Fit;

    fn columns(&self) -> &LinearColumns<'_>;

    /// The smallest penalty that selects nothing.
    fn largest(&self) -> f64;

    /// Solves at each of `lambdas`, which decrease, from the one before, until `visit` says that no other is
    /// wanted or the run is stopped: then it returns how.
    ///
    /// # Errors
    /// Those of a solution and of `visit`; [`Error::Stopped`] where there is no solution yet.
    fn walk(&mut self, lambdas: &[f64], visit: &mut Visit<'_, Self>) -> Result<Option<Status>, Error>;

    fn step(&self, fit: &Self::Fit) -> Step;

    /// Makes `status` that of a solution.
    fn end_with(fit: &mut Self::Fit, status: Status);

    /// `X w + b`, output after output, with what has no penalty.
    ///
    /// # Errors
    /// Those of reading the columns.
    fn fitted(&self, step: &Step) -> Result<Vec<f64>, Error> {
        let columns = self.columns();
        let mut fitted = columns.fitted(&step.coefficients)?;
        for (fitted, intercept) in fitted.chunks_exact_mut(columns.n_samples().max(1)).zip(&step.intercepts) {
            fitted.iter_mut().for_each(|value| *value += intercept);
        }
        Ok(fitted)
    }

    /// The score of each feature with a coefficient.
    fn scores(&self, step: &Step) -> BTreeMap<usize, f64> {
        self.columns().feature_scores(&step.coefficients)
    }
}

/// Penalties from `first` to `last`, both among them, evenly spaced in their logarithm.
pub(super) fn spaced(first: f64, last: f64, n: usize) -> Vec<f64> {
    let share = |at: usize| 1.0 - at as f64 / (n.max(2) - 1) as f64;
    let mut lambdas: Vec<f64> = (0..n).map(|at| last * (first / last).powf(share(at))).collect();
    if let Some(end) = lambdas.last_mut() {
        *end = last;
    }
    lambdas
}

/// The solution at `lambda`, and the path of `n` penalties from the smallest that selects nothing down to it;
/// of it alone where that is no larger. Where the run is stopped before, the last one.
pub(super) fn down_to<L: Ladder>(ladder: &mut L, lambda: f64, n: usize) -> Result<(L::Fit, Path), Error> {
    let first = ladder.largest();
    let lambdas = if lambda < first { spaced(first, lambda, n) } else { vec![lambda] };
    let (mut path, mut last) = (Path::default(), None);
    ladder.walk(&lambdas, &mut |ladder, fit| {
        let scores = ladder.scores(&ladder.step(&fit));
        path.push(lambdas[path.points.len()], scores.into_iter().collect());
        last = Some(fit);
        Ok(true)
    })?;
    Ok((last.ok_or(Error::Stopped { before: "a feature had a coefficient" })?, path))
}

/// The penalties to choose from.
pub(super) fn candidates<L: Ladder>(ladder: &L) -> Vec<f64> {
    let columns = ladder.columns();
    let wide = columns.features().count() > columns.n_counting();
    let largest = ladder.largest();
    if largest == 0.0 {
        // No column is correlated with the target: every penalty selects nothing.
        return vec![0.0];
    }
    spaced(largest, largest * if wide { SMALLEST_WIDE } else { SMALLEST_TALL }, N_LAMBDAS)
}

/// The penalties tried, and the one that was chosen.
pub(super) struct Choice {
    lambdas: Vec<f64>,
    how: PathChoice,
    note: String,
}

/// Three digits, for notes.
fn short(value: f64) -> String {
    let digits = (2.0 - value.abs().log10().floor()).clamp(0.0, 9.0);
    if value == 0.0 || !digits.is_finite() {
        value.to_string()
    } else {
        format!("{value:.*}", digits as usize)
    }
}

/// A solution, the path it is on, and what is to be told.
pub(super) struct Chosen<F> {
    pub(super) fit: F,
    pub(super) path: Path,
    pub(super) note: String,
}

/// The solution at the penalty that was chosen, with the path over all that were tried. Where the run is
/// stopped before, the last one.
pub(super) fn solve<L: Ladder>(ladder: &mut L, choice: Choice) -> Result<Chosen<L::Fit>, Error> {
    let Choice { lambdas, how, note } = choice;
    let mut path = Path::default();
    let mut kept = None;
    let stopped = ladder.walk(&lambdas, &mut |ladder, fit| {
        let step = ladder.step(&fit);
        let at = path.points.len();
        path.push(lambdas[at], ladder.scores(&step).into_iter().collect());
        if at <= how.chosen {
            kept = Some(fit);
        }
        Ok(true)
    })?;
    let is_whole = path.points.len() > how.chosen;
    path.choice = is_whole.then_some(how).map(|how| cut(how, path.points.len()));
    let note = match (is_whole, stopped) {
        (false, _) => format!("the run was stopped on the way to the penalty: {note}"),
        (true, Some(_)) => format!("{note}; the run was stopped: the path to smaller penalties is cut"),
        (true, None) => note,
    };
    let mut fit = kept.ok_or(Error::Stopped { before: "a feature had a coefficient" })?;
    if let Some(status) = stopped {
        L::end_with(&mut fit, status);
    }
    Ok(Chosen { fit, path, note })
}

/// The values at the points that a path has.
fn cut(mut how: PathChoice, n_points: usize) -> PathChoice {
    how.values.truncate(n_points);
    how.standard_errors.truncate(n_points);
    how
}

#[cfg(test)]
mod tests;
