//! Fits along decreasing penalties, each from where the one before has ended.

use fewest_core::{Context, Error};

use super::atoms::Atoms;
use super::fit::{Fit, Limits};
use super::objective::{Objective, Point};
use super::screen::Screen;
use super::tasks::Tasks;
use crate::limits::check_memory;

/// The share of the largest penalty from which smaller ones are approached step by step.
const DIRECT: f64 = 0.1;

/// A step. From too far above, a few features get weights that many would share, and the machine of their
/// indefinite kernel decreases without bound.
const STEP: f64 = 0.3;

/// The objective of MIK-FS on its way down the penalties.
pub(crate) struct Descent<'a> {
    objective: Objective<'a>,
    screen: Screen,
    largest: f64,
    point: Point,
    /// The smallest penalty that is fitted at once.
    next: f64,
}

impl<'a> Descent<'a> {
    /// At the top; `None` where no feature can have a weight, since all are constant or no kernel has
    /// anything in common with the target.
    ///
    /// # Errors
    /// [`Error::Numerical`] where a kernel overflows, and where there is too little memory;
    /// [`Error::Stopped`].
    pub(crate) fn new(
        atoms: &'a Atoms<'a>,
        tasks: &'a Tasks,
        lambda1: f64,
        context: &Context<'_>,
    ) -> Result<Option<Self>, Error> {
        // Products with the kernels take two vectors of all samples for each machine, some of them copied.
        let instead = "use fewer samples or classes";
        check_memory("mik-fs", &[10, tasks.tasks.len(), atoms.n_samples()], instead)?;
        let objective = Objective { atoms, tasks: &tasks.tasks, loss: tasks.loss, lambda1, lambda2: 1.0 };
        let mut screen = Screen::default();
        let largest = objective.largest_lambda2(&mut screen, context)?;
        let point = objective.start();
        let descent = Self { objective, screen, largest, point, next: DIRECT * largest };
        Ok((atoms.len() > 0 && largest > 0.0).then_some(descent))
    }

    /// The smallest penalty at which no feature is worth it to the best constant.
    pub(crate) fn largest(&self) -> f64 {
        self.largest
    }

    /// The penalty of the last fit.
    pub(crate) fn lambda2(&self) -> f64 {
        self.objective.lambda2
    }

    /// The fit at the penalty `lambda2`, after fits at penalties on the way there where it is far below those
    /// before. The last of these where it was stopped.
    ///
    /// # Errors
    /// What fitting returns.
    pub(crate) fn to(&mut self, lambda2: f64, limits: &Limits, context: &Context<'_>) -> Result<Fit, Error> {
        while self.next * STEP.sqrt() > lambda2 {
            let fit = self.fit(self.next, limits, context)?;
            if fit.status.is_stopped() {
                return Ok(fit);
            }
        }
        self.fit(lambda2, limits, context)
    }

    fn fit(&mut self, lambda2: f64, limits: &Limits, context: &Context<'_>) -> Result<Fit, Error> {
        self.objective.lambda2 = lambda2;
        self.next = self.next.min(STEP * lambda2);
        let fit = self.objective.alternate(self.point.clone(), &mut self.screen, limits, context)?;
        self.point = fit.point.clone();
        Ok(fit)
    }
}
