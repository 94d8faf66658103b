//! The alternation of Algorithm 1: machines with fixed weights, then weights with fixed machines.

use fewest_core::{Context, Error, Status, order};
use fewest_solver::Control;

use super::machine::{FixedKernel, Machine};
use super::objective::{Objective, Point, Task, values};
use super::screen::Screen;
use fewest_linalg::{add_scaled, centre, dot};

/// Relative differences of coefficients below this are rounding.
const ROUNDING: f64 = 1e-12;

/// When things stop.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Relative decrease of the objective at which the alternation has converged.
    pub(crate) min_improvement: f64,
    pub(crate) iterations: usize,
    /// Relative decrease of objective and coefficients at which a machine is fitted.
    pub(crate) inner_tolerance: f64,
    pub(crate) inner_iterations: u64,
    pub(crate) accelerated: bool,
    /// Whether only weights that come into question take part.
    pub(crate) working_set: bool,
}

impl Limits {
    /// The settings of the inner solvers.
    fn control<'c>(&self, context: &Context<'c>) -> Control<'c> {
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
    /// The objective at the start and after every iteration.
    pub(crate) history: Vec<f64>,
    pub(crate) status: Status,
    /// The projected gradient of the weights at the end, relative to the largest slope at no weights.
    pub(crate) weight_violation: f64,
    /// The gradient of the machines at the end, relative to that without coefficients.
    pub(crate) machine_violation: f64,
    /// The largest relative duality gap among the convex problems and stationary points.
    pub(crate) convex_gap: f64,
    /// How many of these there were.
    pub(crate) convex_problems: u64,
}

impl Objective<'_> {
    /// One machine with fixed weights, from where it stands.
    fn fit_machine(
        &self,
        task: &Task,
        start: &Machine,
        weights: &[f64],
        limits: &Limits,
        context: &Context<'_>,
    ) -> Result<(Machine, u64, f64, f64), Error> {
        let matrix = self.atoms.combine(weights, &task.rows)?;
        let mut problem = FixedKernel::new(&matrix, &task.y, self.loss, self.lambda1);
        let (mut machine, iterations) = match problem.stationary(start, context) {
            Some(machine) => (machine, 1),
            None => {
                problem = problem.adapted(start)?;
                let fitted = problem.minimise(start, limits.accelerated, &limits.control(context))?;
                (fitted.machine, fitted.iterations)
            }
        };
        // In the directions that the kernel maps to zero the objective says nothing about β. Those of its
        // stationary form, β = half_gradients/λ₁, tell the weights what another feature would add.
        let mut missing = self.coefficients(task, &values(&matrix, &machine));
        add_scaled(&mut missing, -1.0, &machine.beta);
        if dot(&missing, &missing) > ROUNDING * ROUNDING * dot(&machine.beta, &machine.beta)
            && let Some(mut missing) = matrix.null_part(&missing)
        {
            // The matrix maps constants to zero as well, but coefficients sum to zero.
            centre(&mut missing);
            add_scaled(&mut machine.beta, 1.0, &missing);
        }
        let violation = self.machine_violation(task, &matrix, &machine);
        Ok((machine, iterations, problem.certificate(), violation))
    }

    /// Alternates from `start` until the objective settles and no weight that is zero would rise.
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
        let (mut members, weights) = start.positive();
        let first = self.responses(&start.machines, &members)?.problem(self.loss).value(&weights);
        let mut fit = Fit {
            point: start,
            history: vec![first],
            status: Status::Converged,
            weight_violation: 0.0,
            machine_violation: 0.0,
            convex_gap: 0.0,
            convex_problems: 0,
        };
        if !limits.working_set {
            members = (0..self.atoms.len()).collect();
            self.settle(&mut fit, &members, limits, context)?;
            return Ok(fit);
        }
        let allowed = limits.inner_tolerance * self.lambda2;
        loop {
            let entering = self.entering(&fit.point, &members, allowed, screen)?;
            if entering.is_empty() && fit.history.len() > 1 {
                return Ok(fit);
            }
            members.extend(entering.iter().map(|(m, _)| m));
            order::sort_indices(&mut members);
            self.settle(&mut fit, &members, limits, context)?;
            if fit.status.is_stopped() {
                return Ok(fit);
            }
            if fit.status != Status::Converged || fit.history.len() == 1 {
                // Those that were not looked at count as well.
                if let Some((_, product)) = self.entering(&fit.point, &members, allowed, screen)?.first() {
                    fit.weight_violation = fit.weight_violation.max(product / self.lambda2 - 1.0);
                }
                return Ok(fit);
            }
        }
    }

    /// Alternates over the weights of `members` until the objective settles.
    fn settle(
        &self,
        fit: &mut Fit,
        members: &[usize],
        limits: &Limits,
        context: &Context<'_>,
    ) -> Result<(), Error> {
        loop {
            let iteration = fit.history.len() - 1;
            let is_last = iteration == limits.iterations;
            fit.status =
                context.stopped().unwrap_or(if is_last { Status::MaxIterations } else { Status::Converged });
            if fit.status != Status::Converged {
                return Ok(());
            }
            let point = &fit.point;
            let fitted = fewest_parallel::try_map(self.tasks.len(), |at| {
                self.fit_machine(&self.tasks[at], &point.machines[at], &point.weights, limits, context)
            })?;
            let mut machines = Vec::with_capacity(fitted.len());
            let mut machine_violation = 0.0_f64;
            for fitted in fitted {
                let (machine, problems, gap, violation) = fitted;
                machines.push(machine);
                fit.convex_problems += problems;
                fit.convex_gap = fit.convex_gap.max(gap);
                machine_violation = machine_violation.max(violation);
            }
            let responses = self.responses(&machines, members)?;
            let problem = responses.problem(self.loss);
            let before = fit.history.last().copied().unwrap_or(f64::INFINITY);
            // With positive semidefinite kernels all parts of the objective are at least zero, so this is no
            // constraint.
            let bound = before.max(0.0) / self.lambda2;
            let weights: Vec<f64> = members.iter().map(|&m| fit.point.weights[m]).collect();
            let descended = problem.minimise(&weights, bound, &limits.control(context))?;
            if descended.value > before {
                // Only rounding raises it: the point before is as good as this arithmetic gets.
                let responses = self.responses(&fit.point.machines, members)?;
                fit.weight_violation = self.weight_violation(&responses, &weights);
                fit.machine_violation = 0.0;
                for (task, machine) in self.tasks.iter().zip(&fit.point.machines) {
                    let matrix = self.atoms.combine(&fit.point.weights, &task.rows)?;
                    let violation = self.machine_violation(task, &matrix, machine);
                    fit.machine_violation = fit.machine_violation.max(violation);
                }
                return Ok(());
            }
            let stopped = context.stopped();
            if let Some(status) = stopped
                && descended.value == before
            {
                // Nothing was done for want of time, which says nothing about where it would end.
                fit.status = status;
                return Ok(());
            }
            fit.weight_violation = self.weight_violation(&responses, &descended.weights);
            fit.machine_violation = machine_violation;
            for (&m, weight) in members.iter().zip(descended.weights) {
                fit.point.weights[m] = weight;
            }
            fit.point.machines = machines;
            fit.history.push(descended.value);
            context.report("alternations", iteration + 1, limits.iterations);
            if let Some(status) = stopped {
                fit.status = status;
                return Ok(());
            }
            if before - descended.value <= limits.min_improvement * descended.value.abs() {
                return Ok(());
            }
        }
    }
}
