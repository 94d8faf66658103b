//! Paths of penalties: the models along them.

use fewest_core::method::Regularization;
use fewest_core::{Context, Dataset, Error, Path, PathPoint, Status};

use super::atoms::Atoms;
use super::descent::Descent;
use super::fit::Fit;
use super::model::MikFsModel;
use super::select::MikFs;
use super::tasks::{Tasks, tasks};
use super::validation::{Penalties, RATIOS, ValidationPoint, validate};
use crate::decreasing::DecreasingPenalty;

/// What a run leaves behind: the model, the path of penalties on the way to it, and the cross-validation
/// before.
pub(super) struct Run {
    pub(super) model: Option<MikFsModel>,
    pub(super) path: Path,
    pub(super) validation: Vec<ValidationPoint>,
    pub(super) n_constant: usize,
    /// Penalties at which the problem was solved.
    pub(super) n_penalties: usize,
    /// How the run was stopped, where it was.
    pub(super) stopped: Option<Status>,
}

impl MikFs {
    /// The model for the penalty asked for, of all features it finds worth that; `None` where no feature can
    /// have a weight, since all are constant or no kernel has anything in common with the target.
    ///
    /// # Errors
    /// As [`MikFs`].
    pub fn fit(&self, data: &Dataset, context: &Context<'_>) -> Result<Option<MikFsModel>, Error> {
        Ok(self.run(data, 0, context)?.model)
    }

    /// The cross-validated path of penalties, from the largest, with the score, the objective and the number
    /// of features at each.
    ///
    /// # Errors
    /// As [`MikFs`], and for fewer than two folds or more folds than samples.
    pub fn validate(
        &self,
        data: &Dataset,
        folds: usize,
        context: &Context<'_>,
    ) -> Result<Vec<ValidationPoint>, Error> {
        self.check_with(data)?;
        validate(self, data, folds, Penalties::Ratios(&RATIOS), None, context)
    }

    /// [`MikFs::validate`] at penalties of your own, each the start of the next: from the largest they follow
    /// a path.
    ///
    /// # Errors
    /// As [`MikFs::validate`], and for a penalty that is not finite and above 0.
    pub fn validate_at(
        &self,
        data: &Dataset,
        folds: usize,
        lambda2: &[f64],
        context: &Context<'_>,
    ) -> Result<Vec<ValidationPoint>, Error> {
        self.check_with(data)?;
        check_penalties(lambda2)?;
        validate(self, data, folds, Penalties::Given(lambda2), None, context)
    }

    /// [`MikFs::validate_at`] for the first point of the largest score alone: penalties at the end of the
    /// path that cannot have it, or are not `worth` it, are left out as soon as that is known. `worth` gets
    /// the place of a penalty and the most that its score can be.
    ///
    /// # Errors
    /// As [`MikFs::validate_at`].
    pub fn validate_while(
        &self,
        data: &Dataset,
        folds: usize,
        lambda2: &[f64],
        worth: &dyn Fn(usize, f64) -> bool,
        context: &Context<'_>,
    ) -> Result<Vec<ValidationPoint>, Error> {
        self.check_with(data)?;
        check_penalties(lambda2)?;
        validate(self, data, folds, Penalties::Given(lambda2), Some(worth), context)
    }

    /// The models at penalties of your own, each the start of the next; without any where no feature can have
    /// a weight. The penalty of `self` is not looked at. A run that is stopped ends with the last model it
    /// has found.
    ///
    /// # Errors
    /// As [`MikFs`], and for a penalty that is not finite and above 0.
    pub fn fit_path(
        &self,
        data: &Dataset,
        lambda2: &[f64],
        context: &Context<'_>,
    ) -> Result<Vec<MikFsModel>, Error> {
        self.check_with(data)?;
        check_penalties(lambda2)?;
        let tasks = tasks(data, self.epsilon, "mik-fs")?;
        let atoms = Atoms::new(data, &self.kernel.0, self.factor_tolerance, self.form, context)?;
        let mut models = Vec::new();
        let Some(mut descent) = Descent::new(&atoms, &tasks, self.lambda1, context)? else {
            return Ok(models);
        };
        for &penalty in lambda2 {
            let fit = descent.to(penalty, &self.limits(), context)?;
            let status = fit.status;
            if status.is_stopped() && fit.history.len() < 2 && !models.is_empty() {
                break;
            }
            models.push(self.model(data, &atoms, &tasks, fit, descent.lambda2())?);
            if status.is_stopped() {
                break;
            }
        }
        Ok(models)
    }

    /// The model in which at least `wanted` features have a weight, if some penalty on the path down from the
    /// one asked for gives that.
    pub(super) fn run(&self, data: &Dataset, wanted: usize, context: &Context<'_>) -> Result<Run, Error> {
        self.check_with(data)?;
        let tasks = tasks(data, self.epsilon, "mik-fs")?;
        let atoms = Atoms::new(data, &self.kernel.0, self.factor_tolerance, self.form, context)?;
        let mut varying: Vec<usize> = atoms.owners().iter().map(|&(feature, _)| feature).collect();
        varying.dedup();
        let n_constant = data.n_features() - varying.len();
        let mut run = Run {
            model: None,
            path: Path::default(),
            validation: Vec::new(),
            n_constant,
            n_penalties: 0,
            stopped: None,
        };
        let Some(mut descent) = Descent::new(&atoms, &tasks, self.lambda1, context)? else { return Ok(run) };
        let largest = descent.largest();
        let penalties = match self.regularization {
            Regularization::CrossValidated { folds } => {
                run.validation = validate(self, data, folds, Penalties::Ratios(&RATIOS), None, context)?;
                // Of equal scores the first, the largest penalty.
                let mut best = 0;
                for (at, point) in run.validation.iter().enumerate() {
                    if point.score > run.validation[best].score {
                        best = at;
                    }
                }
                Penalties::Ratios(&RATIOS[..=best]).values(largest)
            }
            other => vec![other.lambda(Some(largest))?],
        };
        // As in the folds: what is found at a penalty depends on where one comes from.
        let (&last, before) = penalties.split_last().unwrap_or((&largest, &[]));
        let mut warm = None;
        for &penalty in before {
            let fit = descent.to(penalty, &self.limits(), context)?;
            run.n_penalties += 1;
            if fit.status.is_stopped() {
                run.stopped = Some(fit.status);
            }
            if fit.history.len() > 1 {
                warm = Some((fit, descent.lambda2()));
            }
            if run.stopped.is_some() {
                break;
            }
        }
        let mut decreasing = DecreasingPenalty::new(last, wanted.min(varying.len()));
        loop {
            let (fit, lambda2) = match warm.take() {
                // The time was over before the penalty that was chosen.
                Some(warm) if run.stopped.is_some() => warm,
                _ => {
                    let fit = descent.to(decreasing.penalty(), &self.limits(), context)?;
                    run.n_penalties += 1;
                    (fit, descent.lambda2())
                }
            };
            let status = fit.status;
            if status.is_stopped() {
                run.stopped = Some(status);
            }
            if status.is_stopped() && fit.history.len() < 2 && run.model.is_some() {
                // Nothing was found at this penalty; the model before stays.
                break;
            }
            let model = self.model(data, &atoms, &tasks, fit, lambda2)?;
            let scores = model.scores();
            let found = self.above_threshold(&scores);
            let coefficients = found.iter().map(|&j| (j, scores[j])).collect();
            run.path.points.push(PathPoint { lambda: lambda2, coefficients });
            for j in found.iter().copied() {
                if !run.path.entered.contains(&j) {
                    run.path.entered.push(j);
                }
            }
            if decreasing.is_best(found.len()) {
                run.model = Some(model);
            }
            if run.stopped.is_some() || !decreasing.decrease() {
                break;
            }
        }
        Ok(run)
    }

    fn model(
        &self,
        data: &Dataset,
        atoms: &Atoms<'_>,
        tasks: &Tasks,
        fit: Fit,
        lambda2: f64,
    ) -> Result<MikFsModel, Error> {
        if fit.history.len() < 2 && fit.status.is_stopped() {
            return Err(Error::Stopped { before: "the first machine was fitted" });
        }
        MikFsModel::new(data, &self.kernel.0, atoms, tasks, fit, lambda2)
    }

    /// Features by increasing index whose score counts.
    pub(super) fn above_threshold(&self, scores: &[f64]) -> Vec<usize> {
        let least = self.threshold * scores.iter().copied().fold(0.0, f64::max);
        (0..scores.len()).filter(|&j| scores[j] > 0.0 && scores[j] >= least).collect()
    }
}

fn check_penalties(lambda2: &[f64]) -> Result<(), Error> {
    match lambda2.iter().find(|value| !(value.is_finite() && **value > 0.0)) {
        Some(value) => Err(Error::parameter("lambda", value, "finite and above 0")),
        None => Ok(()),
    }
}
