//! The error by number of features, by cross-validation.

use fewest_core::{Context, Dataset, Error, Target};
use fewest_eval::{KFold, Split, Splitter};
use fewest_smo::KernelRows;

use super::problem::{Problem, State};
use super::{Elimination, EliminationCriterion, JUDGED, RecursiveElimination, Rounds};
use crate::table::Canonical;
use crate::{Trained, TrainingTarget};

/// A point of the curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CurvePoint {
    /// Number of features left.
    pub n_features: usize,
    /// The mean over the folds: of the squared error, in the target's unit squared, or the share of wrong
    /// classes.
    pub error: f64,
    /// The standard error of that mean.
    pub standard_error: f64,
}

impl<C: EliminationCriterion> RecursiveElimination<C> {
    /// The cross-validated error for each number of features in the rounds of `outcome`, an elimination on
    /// all of `data`: on the training samples of each fold the features are eliminated again, and the
    /// machines of every round predict the others. Largest number first.
    ///
    /// # Errors
    /// As the type's, and for a number of folds out of range. [`Error::Stopped`] when `context` says stop.
    pub fn curve(
        &self,
        data: &Dataset,
        folds: usize,
        outcome: &Elimination,
        context: &Context<'_>,
    ) -> Result<Vec<CurvePoint>, Error> {
        self.rounds().curve(data, folds, outcome, context)
    }
}

impl Rounds<'_> {
    pub(super) fn curve(
        &self,
        data: &Dataset,
        folds: usize,
        outcome: &Elimination,
        context: &Context<'_>,
    ) -> Result<Vec<CurvePoint>, Error> {
        // Folds are drawn in an order of samples that does not depend on that of rows.
        let order = Canonical::of(data)?.samples;
        let stratified = matches!(data.target(), Target::Class(_));
        let splits = KFold { folds, stratified }.splits(&data.subset(&order)?, context.seed)?;
        // Progress is reported from one thread at a time.
        let silent = Context { progress: None, ..*context };
        let errors =
            fewest_parallel::try_map(splits.len(), |at| self.fold(data, &order, &splits[at], &silent));
        let errors = errors.map_err(|error| match error {
            Error::TooFew { what, minimum, found } => {
                let expected = format!(
                    "left out, or leave at least {minimum} {what} to learn from; one fold leaves {found}"
                );
                Error::parameter("folds", folds, expected)
            }
            other => other,
        })?;
        let sizes = outcome.rounds.iter().map(|round| round.features.len());
        Ok(sizes.map(|size| point(size, &errors)).collect())
    }

    /// The error of each round of an elimination on the training samples, by number of features.
    fn fold(
        &self,
        data: &Dataset,
        order: &[usize],
        split: &Split,
        context: &Context<'_>,
    ) -> Result<Vec<(usize, f64)>, Error> {
        let rows: Vec<usize> = split.train.iter().chain(&split.test).map(|&place| order[place]).collect();
        let n_train = split.train.len();
        let (problem, truth) = Problem::split(data, &rows, n_train, self.training, self.criterion.name())?;
        let unit = unit(data, &rows, &truth);
        let mut errors = Vec::new();
        let outcome = self.eliminate(problem, 1, true, context, &mut |state, machines| {
            errors.push((state.n_features, unit * unit * error(state, machines, &truth, n_train)));
        })?;
        if outcome.status != fewest_core::Status::Converged {
            context.go_on(JUDGED)?;
        }
        Ok(errors)
    }
}

/// The size of one unit of the standardised target in the target of the data.
fn unit(data: &Dataset, rows: &[usize], truth: &TrainingTarget) -> f64 {
    let (TrainingTarget::Real(scaled), Target::Real(outputs)) = (truth, data.target()) else { return 1.0 };
    let range = |values: &mut dyn Iterator<Item = f64>| {
        let (low, high) = values
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
        high - low
    };
    let raw = outputs.output(0);
    range(&mut rows.iter().map(|&row| raw[row])) / range(&mut scaled.iter().copied())
}

/// The mean squared error, or the share of wrong classes, of the samples after the first `n_train`.
fn error(state: &State<'_>, machines: &[Trained], truth: &TrainingTarget, n_train: usize) -> f64 {
    let mut row = vec![0.0; state.kernel.len()];
    let mut sum = 0.0;
    let n = match truth {
        TrainingTarget::Real(values) => values.len(),
        TrainingTarget::Classes(codes) => codes.len(),
    };
    for i in n_train..n {
        state.kernel.row_of(i, &mut row);
        match truth {
            TrainingTarget::Real(values) => {
                let output = machines.first().map_or(0.0, |machine| machine.output(&row));
                sum += (values[i] - output).powi(2);
            }
            TrainingTarget::Classes(codes) => {
                if vote(machines, &row) != Some(codes[i]) {
                    sum += 1.0;
                }
            }
        }
    }
    sum / (n - n_train) as f64
}

/// The class that most machines predict; at a tie the smaller code.
fn vote(machines: &[Trained], row: &[f64]) -> Option<u32> {
    let mut votes = std::collections::BTreeMap::new();
    for machine in machines {
        if let Some([first, second]) = machine.classes {
            *votes.entry(if machine.output(row) > 0.0 { first } else { second }).or_insert(0_usize) += 1;
        }
    }
    votes.into_iter().rev().max_by_key(|&(_, count)| count).map(|(class, _)| class)
}

/// The point at `size` features; a fold in which fewer vary or another number was left counts with the next
/// larger one.
fn point(size: usize, folds: &[Vec<(usize, f64)>]) -> CurvePoint {
    let at = |errors: &Vec<(usize, f64)>| {
        let next = errors.iter().rev().find(|(n, _)| *n >= size).or(errors.first());
        next.map_or(f64::NAN, |(_, error)| *error)
    };
    let errors: Vec<f64> = folds.iter().map(at).collect();
    let n = errors.len() as f64;
    let mean = errors.iter().sum::<f64>() / n;
    let variance = errors.iter().map(|error| (error - mean).powi(2)).sum::<f64>() / (n - 1.0);
    CurvePoint { n_features: size, error: mean, standard_error: (variance / n).sqrt() }
}

/// The point of least error; at a tie the one with fewer features.
pub(super) fn best(points: &[CurvePoint]) -> Option<CurvePoint> {
    points.iter().copied().reduce(|best, point| if point.error <= best.error { point } else { best })
}

/// The curve in words.
pub(super) fn describe(points: &[CurvePoint], data: &Dataset) -> String {
    let what = match data.target() {
        Target::Class(_) => "share of wrong classes",
        _ => "mean squared error",
    };
    let points: Vec<String> =
        points.iter().map(|point| format!("{} {:.4}", point.n_features, point.error)).collect();
    format!("cross-validated {what} by number of features: {}", points.join(", "))
}
