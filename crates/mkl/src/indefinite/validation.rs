//! The penalty of weights by cross-validation.

use fewest_columns::{deal, seeded_order};
use fewest_core::{Context, Dataset, Error, Target};

use super::atoms::Atoms;
use super::descent::Descent;
use super::model::MikFsModel;
use super::select::MikFs;
use super::tasks::{Prediction, Tasks, tasks};

/// Points of the path that is tried, `λ₂ = ratio · largest`.
pub(crate) const RATIOS: [f64; 9] = [0.9, 0.7, 0.5, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01];

/// One point of the regularisation path of a cross-validation.
#[derive(Debug, Clone, PartialEq)]
pub struct ValidationPoint {
    /// `λ₂` relative to the smallest value at which no feature gains more than its penalty, in the mean
    /// over the folds that have one.
    pub ratio: f64,
    /// `λ₂`, in the mean over the folds.
    pub lambda: f64,
    /// Share of the left-out samples whose class is found; minus the mean squared error of a real output.
    pub score: f64,
    /// Mean number of features with a weight.
    pub n_features: f64,
    /// Mean objective on the training samples.
    pub objective: f64,
}

/// The fold of every sample: each class is dealt out in a seeded order.
fn folds(data: &Dataset, n_folds: usize, seed: u64) -> Result<Vec<usize>, Error> {
    deal(&seeded_order(data, seed), n_folds, "lambda_folds")
}

/// The penalties of a path, from the largest.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Penalties<'a> {
    /// Relative to the smallest value at which no feature gains more than its penalty.
    Ratios(&'a [f64]),
    /// `λ₂` itself.
    Given(&'a [f64]),
}

impl Penalties<'_> {
    fn len(self) -> usize {
        match self {
            Self::Ratios(values) | Self::Given(values) => values.len(),
        }
    }

    /// `λ₂` at every point, where `largest` is the smallest value at which no feature gains more than its
    /// penalty.
    pub(crate) fn values(self, largest: f64) -> Vec<f64> {
        match self {
            Self::Ratios(values) => values.iter().map(|ratio| ratio * largest).collect(),
            Self::Given(values) => values.to_vec(),
        }
    }
}

/// Whether a point of the path is worth another fold, given its place and the most that its score can be
/// after all folds.
pub(crate) type Worth<'a> = &'a dyn Fn(usize, f64) -> bool;

/// The path on every fold, the point before as the start of the next, and what the left-out samples say.
///
/// With `worth`, points that are not, or that cannot be the first of the largest score, are given up with all
/// behind them.
///
/// # Errors
/// [`Error::InvalidParameter`] for fewer than two folds or more than samples; what fitting returns.
pub(crate) fn validate(
    method: &MikFs,
    data: &Dataset,
    n_folds: usize,
    penalties: Penalties<'_>,
    worth: Option<Worth<'_>>,
    context: &Context<'_>,
) -> Result<Vec<ValidationPoint>, Error> {
    let n = data.n_samples();
    let fold_of = folds(data, n_folds, context.seed)?;
    let nothing = ValidationPoint { ratio: 0.0, lambda: 0.0, score: 0.0, n_features: 0.0, objective: 0.0 };
    let mut path = vec![nothing; penalties.len()];
    let (share, mut descents) = (1.0 / n_folds as f64, 0);
    for fold in 0..n_folds {
        if let Some(worth) = worth {
            give_up(&mut path, &shares_from(fold, &fold_of, n_folds, data), worth);
            if path.is_empty() {
                break;
            }
        }
        let rows =
            |inside: bool| -> Vec<usize> { (0..n).filter(|&row| (fold_of[row] == fold) == inside).collect() };
        let (train, test) = (data.subset(&rows(false))?, data.subset(&rows(true))?);
        if let Target::Class(classes) = train.target()
            && classes.occurring().len() < 2
        {
            let what =
                "samples of the smaller class, since every fold leaves some out (without folds 1 will do)";
            return Err(Error::TooFew { what, minimum: 2, found: 1 });
        }
        let tasks = tasks(&train, method.epsilon, "mik-fs")?;
        let atoms = Atoms::new(&train, &method.kernel.0, method.factor_tolerance, method.form, context)?;
        let share_of_samples = test.n_samples() as f64 / n as f64;
        let Some(mut descent) = Descent::new(&atoms, &tasks, method.lambda1, context)? else {
            // No feature of these samples says anything: the prediction is the best constant, whatever the
            // penalty.
            let score = score(&vec![constant(&tasks, &train); test.n_samples()], &test);
            path.iter_mut().for_each(|point| point.score += score * share_of_samples);
            continue;
        };
        descents += 1;
        let largest = descent.largest();
        for (point, lambda2) in path.iter_mut().zip(penalties.values(largest)) {
            point.lambda += lambda2;
            point.ratio += lambda2 / largest;
            let fit = descent.to(lambda2, &method.limits(), context)?;
            if fit.status.is_stopped() {
                return Err(Error::Stopped { before: "the cross-validation of the penalty ended" });
            }
            let objective_value = fit.history.last().copied().unwrap_or(0.0);
            let model = MikFsModel::new(&train, &method.kernel.0, &atoms, &tasks, fit, descent.lambda2())?;
            point.n_features += share * model.scores().iter().filter(|score| **score > 0.0).count() as f64;
            point.objective += share * objective_value;
            point.score += score(&model.predict(test.x())?, &test) * share_of_samples;
        }
        context.report("folds", fold + 1, n_folds);
    }
    for point in &mut path {
        point.lambda /= f64::from(descents.max(1));
        point.ratio /= f64::from(descents.max(1));
    }
    Ok(path)
}

/// What each fold from `first` on adds to a score at most.
fn shares_from(first: usize, fold_of: &[usize], n_folds: usize, data: &Dataset) -> Vec<f64> {
    let share = |fold: usize| {
        let size = fold_of.iter().filter(|&&other| other == fold).count();
        size as f64 / fold_of.len() as f64
    };
    let is_class = matches!(data.target(), Target::Class(_));
    // A mean squared error only takes away.
    (first..n_folds).map(|fold| if is_class { share(fold) } else { 0.0 }).collect()
}

/// Leaves out the end of a path that is not worth the folds that are left, of which each adds at most its
/// share.
fn give_up(path: &mut Vec<ValidationPoint>, shares: &[f64], worth: Worth<'_>) {
    // In the order in which the scores are summed, so that rounding does not matter.
    let most = |point: &ValidationPoint| shares.iter().fold(point.score, |sum, share| sum + share);
    let is_rising = shares.iter().any(|share| *share > 0.0);
    let beaten = |at: usize, most: f64| {
        let before = |&(other, point): &(usize, &ValidationPoint)| {
            point.score > most || (point.score == most && other < at)
        };
        is_rising && path.iter().enumerate().any(|other| before(&other))
    };
    let is_worth = |at: usize| {
        let most = most(&path[at]);
        worth(at, most) && !beaten(at, most)
    };
    let end = (0..path.len()).rev().find(|&at| is_worth(at)).map_or(0, |last| last + 1);
    path.truncate(end);
}

/// The best constant prediction.
fn constant(tasks: &Tasks, train: &Dataset) -> f64 {
    match (&tasks.prediction, train.target()) {
        (Prediction::Output { scale, offset }, _) => {
            let constants = tasks.tasks.iter().map(|task| tasks.loss.best_constant(&task.y));
            offset + scale * constants.sum::<f64>()
        }
        (Prediction::Pairs(_), Target::Class(classes)) => {
            // Of equally large classes the first.
            let counts = classes.counts();
            let largest = (0..counts.len()).rev().max_by_key(|&code| counts[code]);
            largest.unwrap_or(0) as f64
        }
        (Prediction::Pairs(_), _) => 0.0,
    }
}

/// Share of the samples whose class is found; minus the mean squared error of a real output.
fn score(predicted: &[f64], test: &Dataset) -> f64 {
    let n = predicted.len() as f64;
    match test.target() {
        Target::Class(classes) => {
            let right =
                predicted.iter().zip(classes.codes()).filter(|(p, code)| **p == f64::from(**code)).count();
            right as f64 / n
        }
        Target::Real(outputs) => {
            -predicted.iter().zip(outputs.output(0)).map(|(p, y)| (p - y).powi(2)).sum::<f64>() / n
        }
        _ => 0.0,
    }
}
