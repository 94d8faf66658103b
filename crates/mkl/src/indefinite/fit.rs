//! The alternation of Algorithm 1: machines with fixed weights, then weights with fixed machines.

use fewest_core::{Context, Error, Status, order};
use fewest_solver::Control;

use super::machine::{FixedKernel, Machine};
use super::matrix::KernelMatrix;
use super::objective::{Objective, Point, Task, values};
use super::screen::Screen;
use fewest_linalg::{add_scaled, centre, dot};

/// Relative differences of coefficients below this are rounding.
const ROUNDING: f64 = 1e-12;

/// What was not done yet where the run is stopped.
pub(super) const FITTED: &str = "a machine was fitted";

/// When things stop.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// The violations of weights and machines that are small enough.
    pub(crate) tolerance: f64,
    /// Relative decrease of the objective at which Newton steps follow the alternation.
    pub(crate) min_improvement: f64,
    pub(crate) iterations: usize,
    /// Relative decrease of objective and coefficients at which a machine is fitted.
    pub(crate) inner_tolerance: f64,
    pub(crate) inner_iterations: u64,
    pub(crate) accelerated: bool,
    /// Whether only a working set of weights takes part.
    pub(crate) working_set: bool,
}

impl Limits {
    /// The settings of the inner solvers.
    pub(super) fn control<'c>(&self, context: &Context<'c>) -> Control<'c> {
        Control {
            tolerance: self.inner_tolerance,
            max_iterations: self.inner_iterations,
            ..Control::from(context)
        }
    }
}

/// How it went.
#[derive(Debug, Clone)]
pub(crate) struct Fit {
    pub(crate) point: Point,
    /// The objective at the start and after every iteration; empty where the run was stopped before.
    pub(crate) history: Vec<f64>,
    pub(crate) status: Status,
    /// The largest entry of the projected gradient of all weights at `point`, relative to `λ₂`; NaN where it
    /// was not measured for want of time.
    pub(crate) weight_violation: f64,
    /// How many of the iterations were Newton steps.
    pub(crate) newton_steps: usize,
    /// The largest relative duality gap among the convex problems and stationary points.
    pub(crate) convex_gap: f64,
    /// How many of these there were.
    pub(crate) convex_problems: u64,
}

impl Fit {
    /// The objective at `point`.
    fn value(&self) -> f64 {
        self.history.last().copied().unwrap_or(f64::INFINITY)
    }

    /// Whether the point is stationary within the tolerance.
    fn is_stationary(&self, limits: &Limits) -> bool {
        self.weight_violation.max(self.point.machine_violation) <= limits.tolerance
    }
}

/// Machines fitted to weights.
pub(super) struct Fitted {
    pub(super) machines: Vec<Machine>,
    /// The largest of their gradients, relative to those without coefficients.
    pub(super) violation: f64,
    pub(super) convex_gap: f64,
    pub(super) convex_problems: u64,
}

impl Objective<'_> {
    /// All machines with fixed weights, from where they stand.
    fn fit_machines(
        &self,
        start: &[Machine],
        weights: &[f64],
        limits: &Limits,
        context: &Context<'_>,
    ) -> Result<Fitted, Error> {
        let fitted = fewest_parallel::try_map(self.tasks.len(), |at| {
            context.go_on(FITTED)?;
            self.fit_machine(&self.tasks[at], &start[at], weights, limits, context)
        })?;
        let mut all = Fitted { machines: Vec::new(), violation: 0.0, convex_gap: 0.0, convex_problems: 0 };
        for (machine, problems, gap, violation) in fitted {
            all.machines.push(machine);
            all.convex_problems += problems;
            all.convex_gap = all.convex_gap.max(gap);
            all.violation = all.violation.max(violation);
        }
        Ok(all)
    }

    /// One machine with fixed weights, from where it stands.
    fn fit_machine(
        &self,
        task: &Task,
        start: &Machine,
        weights: &[f64],
        limits: &Limits,
        context: &Context<'_>,
    ) -> Result<(Machine, u64, f64, f64), Error> {
        let matrix = self.atoms.combine(weights, &task.rows, context)?;
        let mut problem = FixedKernel::new(&matrix, &task.y, self.loss, self.lambda1, context);
        let (mut machine, iterations) = match problem.stationary_below(start) {
            Some(machine) => (machine, 1),
            None => {
                context.go_on(FITTED)?;
                problem = problem.adapted(start)?;
                let fitted = problem.minimise(start, limits.accelerated, &limits.control(context))?;
                (fitted.machine, fitted.iterations)
            }
        };
        self.complete(task, &matrix, &mut machine, context)?;
        let violation = self.machine_violation(task, &matrix, &machine);
        Ok((machine, iterations, problem.certificate(), violation))
    }

    /// In the directions that the kernel maps to zero the objective says nothing about β. Those of its
    /// stationary form, `β = half_gradients/λ₁`, tell the weights what another feature would add.
    ///
    /// # Errors
    /// [`Error::Stopped`].
    pub(super) fn complete(
        &self,
        task: &Task,
        matrix: &KernelMatrix,
        machine: &mut Machine,
        context: &Context<'_>,
    ) -> Result<(), Error> {
        let mut missing = self.coefficients(task, &values(matrix, machine));
        add_scaled(&mut missing, -1.0, &machine.beta);
        if dot(&missing, &missing) > ROUNDING * ROUNDING * dot(&machine.beta, &machine.beta)
            && let Some(mut missing) = matrix.null_part(&missing, context)?
        {
            // The matrix maps constants to zero as well, but coefficients sum to zero.
            centre(&mut missing);
            add_scaled(&mut machine.beta, 1.0, &missing);
        }
        Ok(())
    }

    /// Alternates from `start`, whose machines are those of its weights, until the point is stationary or the
    /// objective settles, and no weight that is zero would rise.
    ///
    /// Only a working set of weights takes part at a time: those above zero, and those that would rise the
    /// steepest. When the alternation has settled all are looked at, and those that would rise now take part
    /// as well. Without working sets all take part in every iteration, as in Algorithm 1.
    pub(crate) fn alternate(
        &self,
        start: Point,
        screen: &mut Screen,
        limits: &Limits,
        context: &Context<'_>,
    ) -> Result<Fit, Error> {
        let mut fit = Fit {
            point: start,
            history: Vec::new(),
            status: Status::Converged,
            weight_violation: f64::NAN,
            newton_steps: 0,
            convex_gap: 0.0,
            convex_problems: 0,
        };
        match self.alternate_on(&mut fit, screen, limits, context) {
            Err(Error::Stopped { .. }) => {
                // What was begun leaves the point as it was, and not all of its weights were looked at.
                fit.status = context.stopped().unwrap_or(Status::Interrupted);
                fit.weight_violation = f64::NAN;
            }
            ended => ended?,
        }
        Ok(fit)
    }

    /// [`alternate`](Self::alternate), which ends in an [`Error::Stopped`] where time is over in a part.
    fn alternate_on(
        &self,
        fit: &mut Fit,
        screen: &mut Screen,
        limits: &Limits,
        context: &Context<'_>,
    ) -> Result<(), Error> {
        let (mut members, weights) = fit.point.positive();
        let responses = self.responses(&fit.point.machines, &members, context)?;
        fit.history.push(responses.problem(self.loss).value(&weights));
        if limits.working_set {
            let allowed = limits.inner_tolerance * self.lambda2;
            loop {
                let (entering, outside) = self.entering(&fit.point, &members, allowed, screen, context)?;
                // Where it was not measured it stays so.
                if fit.weight_violation < outside {
                    fit.weight_violation = outside;
                }
                let is_over = fit.status != Status::Converged;
                if is_over || (entering.is_empty() && fit.history.len() > 1) {
                    break;
                }
                members.extend(entering.iter().map(|(m, _)| m));
                order::sort_indices(&mut members);
                self.settle(fit, &members, limits, context)?;
                if fit.status.is_stopped() {
                    // The weights left out are not looked at any more.
                    fit.weight_violation = f64::NAN;
                    return Ok(());
                }
            }
        } else {
            members = (0..self.atoms.len()).collect();
            self.settle(fit, &members, limits, context)?;
        }
        if fit.status == Status::Converged && !fit.is_stationary(limits) {
            fit.status = Status::Stalled;
        }
        Ok(())
    }

    /// Alternates over the weights of `members`, and takes Newton steps, until the point is stationary or
    /// nothing lowers the objective; the status is `Converged` unless that was cut short.
    ///
    /// Each iteration ends with the machines, so that all violations are those at the point.
    fn settle(
        &self,
        fit: &mut Fit,
        members: &[usize],
        limits: &Limits,
        context: &Context<'_>,
    ) -> Result<(), Error> {
        let mut responses = self.responses(&fit.point.machines, members, context)?;
        let mut has_settled = false;
        // Where the alternation is slow, half of the iterations are left to Newton steps; where these do not
        // lower the objective yet, half of what is left.
        let mut newton_from = limits.iterations.div_ceil(2);
        loop {
            let weights: Vec<f64> = members.iter().map(|&m| fit.point.weights[m]).collect();
            fit.weight_violation = self.weight_violation(&responses, &weights);
            let iteration = fit.history.len() - 1;
            fit.status = match context.stopped() {
                Some(status) => status,
                None if iteration > 0 && fit.is_stationary(limits) => return Ok(()),
                None if iteration == limits.iterations => Status::MaxIterations,
                None => Status::Converged,
            };
            if fit.status != Status::Converged {
                return Ok(());
            }
            let before = fit.value();
            if has_settled || iteration >= newton_from {
                let Some(reached) = self.newton_step(&fit.point, members, &responses, before, context)?
                else {
                    // Where time was over, that is said.
                    fit.status = context.stopped().unwrap_or(Status::Converged);
                    if has_settled || fit.status.is_stopped() {
                        return Ok(());
                    }
                    newton_from = iteration + (limits.iterations - iteration).div_ceil(2);
                    continue;
                };
                fit.convex_gap = fit.convex_gap.max(reached.convex_gap);
                fit.convex_problems += self.tasks.len() as u64;
                fit.newton_steps += 1;
                fit.history.push(reached.value);
                (fit.point, responses) = (reached.point, reached.responses);
            } else {
                // With positive semidefinite kernels all parts of the objective are at least zero, so this
                // is no constraint.
                let bound = before.max(0.0) / self.lambda2;
                let descended =
                    responses.problem(self.loss).minimise(&weights, bound, &limits.control(context))?;
                let mut next = fit.point.weights.clone();
                for (&m, weight) in members.iter().zip(&descended.weights) {
                    next[m] = *weight;
                }
                let fitted = self
                    .fit_machines(&fit.point.machines, &next, limits, context)
                    .and_then(|fitted| Ok((self.responses(&fitted.machines, members, context)?, fitted)));
                let (after, fitted) = match fitted {
                    Err(Error::Stopped { .. }) => {
                        // The point stays as it was measured. Where there is none yet, that with the
                        // machines as they are is better than nothing.
                        fit.status = context.stopped().unwrap_or(Status::Interrupted);
                        if iteration == 0 && descended.value < before {
                            fit.point.weights = next;
                            fit.point.machine_violation = f64::NAN;
                            fit.history.push(descended.value);
                        }
                        return Ok(());
                    }
                    fitted => fitted?,
                };
                fit.convex_gap = fit.convex_gap.max(fitted.convex_gap);
                fit.convex_problems += fitted.convex_problems;
                let value = after.problem(self.loss).value(&descended.weights);
                has_settled = before - value <= limits.min_improvement * value.abs();
                if value > before {
                    // Only rounding raises it: the point before is as good as alternating gets.
                    if iteration == 0 {
                        fit.history.push(before);
                    }
                    continue;
                }
                responses = after;
                let Fitted { machines, violation, .. } = fitted;
                fit.point = Point { weights: next, machines, machine_violation: violation };
                fit.history.push(value);
            }
            context.report("alternations", iteration + 1, limits.iterations);
        }
    }
}
