//! What a criterion sees of a round, and what it must say.

use std::sync::{Mutex, PoisonError};

use fewest_core::{Context, Error, Status};
use fewest_smo::{KernelRows, Loss};

use crate::kernel::{KernelMatrix, Without};
use crate::{Trained, Training, TrainingTarget};

/// Says how much each of the features left matters; the one that matters least goes.
pub trait EliminationCriterion: Send + Sync {
    /// The name of the method, for messages: `sd-l-rfe`, …
    fn name(&self) -> &'static str;

    /// Whether it asks for machines trained on the features left. Default yes.
    fn needs_machines(&self) -> bool {
        true
    }

    /// The loss of the machines. Default linear.
    ///
    /// # Errors
    /// For a target that its loss is not made for.
    fn loss(&self, _truth: &TrainingTarget) -> Result<Loss, Error> {
        Ok(Loss::Linear)
    }

    /// The importance of each feature left, in the order of [`Round::feature`].
    ///
    /// # Errors
    /// [`Error::Stopped`] when `context` says stop; what the data or the parameters do not allow.
    fn importances(&self, round: &Round<'_>, context: &Context<'_>) -> Result<Vec<f64>, Error>;
}

impl<C: EliminationCriterion + ?Sized> EliminationCriterion for Box<C> {
    fn name(&self) -> &'static str {
        (**self).name()
    }

    fn needs_machines(&self) -> bool {
        (**self).needs_machines()
    }

    fn loss(&self, truth: &TrainingTarget) -> Result<Loss, Error> {
        (**self).loss(truth)
    }

    fn importances(&self, round: &Round<'_>, context: &Context<'_>) -> Result<Vec<f64>, Error> {
        (**self).importances(round, context)
    }
}

/// The features left, their kernel, and the machines trained with it.
#[non_exhaustive]
pub struct Round<'a> {
    /// Rounds before this one.
    pub number: usize,
    pub(crate) kernel: &'a KernelMatrix,
    /// The features left, as places in `varying`.
    pub(crate) left: &'a [usize],
    /// The features that vary, by their index in the data.
    pub(crate) varying: &'a [usize],
    /// What is to be predicted.
    pub truth: &'a TrainingTarget,
    /// The place of each sample in an order that depends on what the samples are only.
    pub canonical: &'a [usize],
    /// The machines trained on the features left, unless the criterion needs none: one for regression, else
    /// one for each pair of classes.
    pub machines: &'a [Trained],
    /// How the machines were trained.
    pub training: &'a Training,
    /// What the judgement leaves besides importances.
    pub(crate) left_behind: &'a Mutex<LeftBehind>,
}

/// What a judgement leaves besides importances.
pub(crate) struct LeftBehind {
    /// The worst end of what was computed to judge.
    pub(crate) ended: Status,
    /// Of a judgement that was stopped: what it knew of the importances, NaN for features not reached.
    pub(crate) so_far: Option<Vec<f64>>,
}

impl<'a> Round<'a> {
    /// Number of samples.
    pub fn n_samples(&self) -> usize {
        self.kernel.len()
    }

    /// Number of features left, at least 1.
    pub fn n_features(&self) -> usize {
        self.left.len()
    }

    /// The index in the data of feature `at < n_features()`.
    pub fn feature(&self, at: usize) -> usize {
        self.varying[self.left[at]]
    }

    /// The coordinates of feature `at` in all samples: one for a number, one a level for a category.
    pub fn coordinates(&self, at: usize) -> impl Iterator<Item = &'a [f64]> {
        let n = self.n_samples();
        self.kernel.coordinates(self.left[at]).map(move |values| &values[..n])
    }

    /// `out[l] = k(x_i, x_l)`; `out` has one place for each sample.
    pub fn kernel_row(&self, i: usize, out: &mut [f64]) {
        self.kernel.row_of(i, out);
    }

    /// The same without feature `at`.
    pub fn kernel_row_without(&self, at: usize, i: usize, out: &mut [f64]) {
        self.without(at).row(i, out);
    }

    /// The kernel without feature `at`.
    pub(crate) fn without(&self, at: usize) -> Without<'a> {
        Without { kernel: self.kernel, feature: self.left[at], last: self.left.len() == 1 }
    }

    /// The machines of another kernel, trained from those of this round.
    pub(crate) fn retrained(
        &self,
        kernel: &dyn KernelRows,
        loss: Loss,
        context: &Context<'_>,
    ) -> Result<Vec<Trained>, Error> {
        let machines = self.training.train(kernel, self.truth, loss, self.machines, context)?;
        machines.iter().for_each(|machine| self.note_end(machine.machine.dual.solution.status));
        Ok(machines)
    }

    /// Takes note of how something that the judgement is based on ended.
    pub(crate) fn note_end(&self, status: Status) {
        let mut left = self.left_behind.lock().unwrap_or_else(PoisonError::into_inner);
        left.ended = Status::worst([left.ended, status]);
    }

    /// The error of a judgement that was stopped, which leaves what it knows of the importances, NaN for
    /// features that it has not reached.
    pub(crate) fn stopped_with(&self, so_far: Vec<f64>) -> Error {
        let mut left = self.left_behind.lock().unwrap_or_else(PoisonError::into_inner);
        left.so_far = Some(so_far);
        Error::Stopped { before: JUDGED }
    }

    /// `importances`, or where the run was stopped before some were known, the error of that.
    pub(crate) fn whole(&self, importances: Vec<f64>, context: &Context<'_>) -> Result<Vec<f64>, Error> {
        if context.stopped().is_some() && importances.iter().any(|value| value.is_nan()) {
            return Err(self.stopped_with(importances));
        }
        Ok(importances)
    }
}

/// What a stop comes before.
pub(crate) const JUDGED: &str = "the features were judged";

/// Kernel values that take longer than a look at the clock.
const LONG_ROW: usize = 256;

/// [`go_on`] before each row of `length` kernel values, unless the rows are short.
pub(crate) fn go_on_in_row(length: usize, context: &Context<'_>) -> Result<(), Error> {
    if length < LONG_ROW { Ok(()) } else { context.go_on(JUDGED) }
}

#[cfg(test)]
mod tests {
    use fewest_core::{Dataset, DenseColumns, Target};

    use super::*;
    use crate::RecursiveElimination;

    /// Judges by machines of its own only.
    struct Retrains;

    impl EliminationCriterion for Retrains {
        fn name(&self) -> &'static str {
            "retrains"
        }

        fn needs_machines(&self) -> bool {
            false
        }

        fn importances(&self, round: &Round<'_>, context: &Context<'_>) -> Result<Vec<f64>, Error> {
            round.retrained(round.kernel, Loss::Linear, context)?;
            Ok(vec![1.0; round.n_features()])
        }
    }

    #[test]
    fn machines_of_a_criterion_that_did_not_converge_are_told() -> Result<(), Error> {
        let wave = |step: usize| (0..30).map(|i| ((i * step) % 31) as f64).collect::<Vec<f64>>();
        let x = DenseColumns::from_columns(&[wave(7), wave(11)])?;
        let data = Dataset::new(x, Target::real(wave(3))?)?;
        for (tolerance, converged) in [(1e-6, true), (1e-30, false)] {
            let training = Training { tolerance, ..Training::default() };
            let elimination = RecursiveElimination { training, ..RecursiveElimination::new(Retrains) };
            let outcome = elimination.run(&data, 1, &Context::default())?;
            assert_eq!(outcome.training == Status::Converged, converged, "{:?}", outcome.training);
        }
        Ok(())
    }

    /// Is stopped when it knows the importances of some features.
    struct Stopped;

    impl EliminationCriterion for Stopped {
        fn name(&self) -> &'static str {
            "stopped"
        }

        fn needs_machines(&self) -> bool {
            false
        }

        fn importances(&self, round: &Round<'_>, _: &Context<'_>) -> Result<Vec<f64>, Error> {
            Err(round.stopped_with(vec![1.0, f64::NAN, 3.0]))
        }
    }

    #[test]
    fn what_a_stopped_criterion_knows_is_a_ranking() -> Result<(), Error> {
        let wave = |step: usize| (0..30).map(|i| ((i * step) % 31) as f64).collect::<Vec<f64>>();
        let x = DenseColumns::from_columns(&[wave(7), wave(11), wave(13)])?;
        let data = Dataset::new(x, Target::real(wave(3))?)?;
        let outcome = RecursiveElimination::new(Stopped).run(&data, 1, &Context::default())?;
        assert_eq!((outcome.ranking, outcome.rounds.len()), (vec![2, 0, 1], 0));
        assert!(outcome.importances[..2] == [3.0, 1.0] && outcome.importances[2].is_nan());
        assert!(outcome.status.is_stopped());
        Ok(())
    }
}
