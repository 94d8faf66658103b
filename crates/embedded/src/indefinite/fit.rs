//! The alternation of Algorithm 1: machines with fixed weights, then weights with fixed machines.

use fewest_core::{Context, Error, Status};
use fewest_solver::Control;
use rayon::prelude::*;

use super::atoms::Atoms;
use super::loss::Loss;
use super::machine::{FixedKernel, Machine};
use super::matrix::KernelMatrix;
use super::screen::{Pairs, Screen};
use super::vectors::{add_scaled, centre, dot};
use super::weights::{Weights, projected};

/// Relative differences of coefficients below this are rounding.
const ROUNDING: f64 = 1e-12;

/// One machine's part of the problem: its samples and what it is to say about them.
#[derive(Debug, Clone)]
pub(crate) struct Task {
    pub(crate) rows: Vec<usize>,
    pub(crate) y: Vec<f64>,
}

/// When things stop.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Relative decrease of the objective at which the alternation has converged.
    pub(crate) tolerance: f64,
    pub(crate) iterations: usize,
    /// Relative decrease of objective and coefficients at which a machine is fitted.
    pub(crate) inner_tolerance: f64,
    pub(crate) inner_iterations: u64,
    pub(crate) accelerated: bool,
    /// Whether only weights that come into question take part.
    pub(crate) working_set: bool,
}

/// What is minimised: `λ₁ Σ_t β_tᵀKβ_t + λ₂ Σ d + Σ loss`, one `β_t, b_t` a task and one `d ≥ 0` for all.
pub(crate) struct Objective<'a> {
    pub(crate) atoms: &'a Atoms,
    pub(crate) tasks: &'a [Task],
    pub(crate) loss: Loss,
    pub(crate) lambda1: f64,
    pub(crate) lambda2: f64,
}

/// Where the alternation stands.
#[derive(Debug, Clone)]
pub(crate) struct Point {
    pub(crate) weights: Vec<f64>,
    pub(crate) machines: Vec<Machine>,
}

impl Point {
    /// The weights above zero and where they are.
    fn positive(&self) -> (Vec<usize>, Vec<f64>) {
        self.weights.iter().copied().enumerate().filter(|(_, weight)| *weight > 0.0).unzip()
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
    /// The largest relative duality gap among the convex problems.
    pub(crate) convex_gap: f64,
    /// Convex problems solved.
    pub(crate) convex_problems: u64,
}

/// What the machines make of every atom: `θ` and `γ` of Eq. 16, and the labels and biases beside them.
struct Responses {
    responses: Vec<f64>,
    slopes: Vec<f64>,
    y: Vec<f64>,
    base: Vec<f64>,
}

impl Responses {
    fn problem(&self, loss: Loss) -> Weights<'_> {
        let Self { responses, slopes, y, base } = self;
        Weights { responses, slopes, y, base, loss }
    }
}

impl Objective<'_> {
    /// The smallest `λ₂` at which no feature is worth its price to the best constant: with `r` the forces there,
    /// `max_m Σ_t r_tᵀ K_m r_t / λ₁`. For positive semidefinite kernels nothing is selected from there on.
    pub(crate) fn largest_lambda2(&self, screen: &mut Screen) -> Result<f64, Error> {
        let pairs = self.pairs(&self.start())?;
        let estimates = screen.estimates(self.atoms, &pairs, f64::NEG_INFINITY)?;
        let sure = estimates.iter().map(|worth| worth.value - worth.error).fold(0.0, f64::max);
        let mut largest = 0.0_f64;
        for (m, worth) in estimates.iter().enumerate() {
            if worth.bound() >= sure {
                largest = largest.max(if worth.error > 0.0 { self.atoms.product(m, &pairs)? } else { worth.value });
            }
        }
        Ok(largest)
    }

    /// No weights, and machines that say the best constant. Without weights no coefficients count; those of the stationary form
    /// `β = forces/λ₁` tell what every feature would add.
    pub(crate) fn start(&self) -> Point {
        let machine = |task: &Task| {
            let bias = self.loss.best_constant(&task.y);
            Machine { beta: self.coefficients(task, &vec![bias; task.y.len()]), bias }
        };
        Point { weights: vec![0.0; self.atoms.len()], machines: self.tasks.iter().map(machine).collect() }
    }

    /// `β = forces/λ₁` of a machine that says `values`, less their mean: its coefficients, were it stationary.
    fn coefficients(&self, task: &Task, values: &[f64]) -> Vec<f64> {
        let force = |(&y, &f): (&f64, &f64)| self.loss.force(y, f) / self.lambda1;
        let mut beta: Vec<f64> = task.y.iter().zip(values).map(force).collect();
        centre(&mut beta);
        beta
    }

    /// `v` of a task's samples among all samples.
    fn spread(&self, task: &Task, v: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; self.atoms.n_samples()];
        for (&row, &value) in task.rows.iter().zip(v) {
            out[row] = value;
        }
        out
    }

    /// What the machines make of the atoms `members`.
    fn responses(&self, machines: &[Machine], members: &[usize]) -> Result<Responses, Error> {
        let spreads: Vec<Vec<f64>> =
            self.tasks.iter().zip(machines).map(|(task, machine)| self.spread(task, &machine.beta)).collect();
        let total: usize = self.tasks.iter().map(|task| task.rows.len()).sum();
        let mut responses = vec![0.0; total * members.len()];
        let mut slopes = vec![0.0; members.len()];
        let columns = responses.par_chunks_exact_mut(total.max(1)).zip(&mut slopes).zip(members);
        columns.with_min_len(16).try_for_each_init(
            || vec![0.0; self.atoms.n_samples()],
            |image, ((out, slope), &m)| {
                let mut rest = out;
                *slope = self.lambda2;
                for ((task, machine), spread) in self.tasks.iter().zip(machines).zip(&spreads) {
                    let (own, after) = rest.split_at_mut(task.rows.len());
                    self.atoms.apply(m, spread, image)?;
                    for (out, &row) in own.iter_mut().zip(&task.rows) {
                        *out = image[row];
                    }
                    centre(own);
                    *slope += self.lambda1 * dot(&machine.beta, own);
                    rest = after;
                }
                Ok::<(), Error>(())
            },
        )?;
        let y = self.tasks.iter().flat_map(|task| task.y.iter().copied()).collect();
        let base = self
            .tasks
            .iter()
            .zip(machines)
            .flat_map(|(task, machine)| std::iter::repeat_n(machine.bias, task.rows.len()))
            .collect();
        Ok(Responses { responses, slopes, y, base })
    }

    /// The largest entry of the projected gradient of the weights, relative to the largest slope without weights.
    fn weight_violation(&self, responses: &Responses, weights: &[f64]) -> f64 {
        let problem = responses.problem(self.loss);
        let scale = problem.gradient(&vec![0.0; weights.len()]);
        let scale = scale.iter().fold(self.lambda2, |most, slope| most.max(slope.abs()));
        projected(weights, &problem.gradient(weights)) / scale
    }

    /// The vectors `β_t` and `2 forces_t − λ₁β_t`, all forces of a task less their mean: the slope of a weight is `λ₂` less their
    /// products with its kernel.
    fn pairs(&self, point: &Point) -> Result<Pairs, Error> {
        let n = self.atoms.n_samples();
        let (members, weights) = point.positive();
        let mut values = self.responses(&point.machines, &members)?.problem(self.loss).decisions(&weights);
        let mut vectors = (Vec::new(), Vec::new());
        for (task, machine) in self.tasks.iter().zip(&point.machines) {
            let rest = values.split_off(task.rows.len());
            let mut other = machine.beta.clone();
            other.iter_mut().for_each(|beta| *beta *= -self.lambda1);
            add_scaled(&mut other, 2.0 * self.lambda1, &self.coefficients(task, &values));
            vectors.0.push(self.spread(task, &machine.beta));
            vectors.1.push(self.spread(task, &other));
            values = rest;
        }
        Ok(Pairs::new(&vectors.0, &vectors.1, n))
    }

    /// The atoms whose weights would rise from zero the steepest, by falling steepness: as many as there are samples or above zero, if
    /// there are that many besides `members`.
    fn entering(
        &self,
        point: &Point,
        members: &[usize],
        allowed: f64,
        screen: &mut Screen,
    ) -> Result<Vec<usize>, Error> {
        let pairs = self.pairs(point)?;
        let least = self.lambda2 + allowed;
        let estimates = screen.estimates(self.atoms, &pairs, least)?;
        let mut candidates: Vec<usize> = (0..self.atoms.len())
            .filter(|m| members.binary_search(m).is_err() && estimates[*m].bound() > least)
            .collect();
        candidates.sort_by(|&a, &b| estimates[b].value.total_cmp(&estimates[a].value));
        let wanted = (self.atoms.n_samples() / 2).max(members.len()).max(1);
        let mut entering: Vec<(usize, f64)> = Vec::new();
        // Estimates tell where to look; who enters is decided by the kernel itself.
        for batch in candidates.chunks(wanted) {
            let products: Vec<Result<f64, Error>> =
                batch.par_iter().map(|&m| self.atoms.product(m, &pairs)).collect();
            for (&m, product) in batch.iter().zip(products) {
                let product = product?;
                if product > least {
                    entering.push((m, product));
                }
            }
            if entering.len() >= wanted {
                break;
            }
        }
        entering.sort_by(|a, b| b.1.total_cmp(&a.1));
        entering.truncate(wanted);
        Ok(entering.into_iter().map(|(m, _)| m).collect())
    }

    /// One machine with fixed weights, from where it stands.
    fn fit_machine(
        &self,
        task: &Task,
        start: &Machine,
        weights: &[f64],
        limits: &Limits,
        control: &Control<'_>,
    ) -> Result<(Machine, u64, f64, f64), Error> {
        let matrix = self.atoms.combine(weights, &task.rows)?;
        let problem = FixedKernel::new(&matrix, &task.y, self.loss, self.lambda1).adapted(start);
        let stationary = problem.is_guarded().then(|| problem.stationary(start)).flatten();
        let fitted = problem.minimise(stationary.as_ref().unwrap_or(start), limits.accelerated, control)?;
        let mut machine = fitted.machine;
        // In the directions that the kernel maps to zero the objective says nothing about β. Those of its stationary
        // form, β = forces/λ₁, tell the weights what another feature would add.
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
        Ok((machine, fitted.iterations, problem.certificate(), violation))
    }

    /// The norm of `∇ = 2 K (λ₁β − forces)`, relative to that of `2 K forces` at `β = 0`.
    fn machine_violation(&self, task: &Task, matrix: &KernelMatrix, machine: &Machine) -> f64 {
        let mut rest = self.coefficients(task, &values(matrix, machine));
        add_scaled(&mut rest, -1.0, &machine.beta);
        let gradient = matrix.apply(&rest);
        let constant = vec![self.loss.best_constant(&task.y); task.y.len()];
        let scale = matrix.apply(&self.coefficients(task, &constant));
        let scale = dot(&scale, &scale).sqrt();
        if scale > 0.0 { dot(&gradient, &gradient).sqrt() / scale } else { 0.0 }
    }

    /// Alternates from `start` until the objective settles and no weight that is zero would rise.
    ///
    /// Only a working set of weights takes part at a time: those above zero, and those that would rise the steepest. When the
    /// alternation has settled all are looked at, and those that would rise now take part as well. Without working sets all take
    /// part in every iteration, as in Algorithm 1.
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
        loop {
            let entering = self.entering(&fit.point, &members, limits.inner_tolerance * self.lambda2, screen)?;
            let is_first = fit.history.len() == 1;
            if entering.is_empty() && !is_first {
                return Ok(fit);
            }
            members.extend(entering);
            members.sort_unstable();
            self.settle(&mut fit, &members, limits, context)?;
            if fit.status != Status::Converged || fit.history.len() == 1 {
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
        let control = Control {
            tolerance: limits.inner_tolerance,
            max_iterations: limits.inner_iterations,
            deadline: context.deadline,
            interrupt: context.interrupt,
            stop: None,
        };
        loop {
            let iteration = fit.history.len() - 1;
            fit.status = if context.interrupted() {
                Status::Interrupted
            } else if context.time_left().is_some_and(|left| left.is_zero()) {
                Status::TimeLimit
            } else if iteration == limits.iterations {
                Status::MaxIterations
            } else {
                Status::Converged
            };
            if fit.status != Status::Converged {
                return Ok(());
            }
            let fitted: Vec<Result<_, Error>> = self
                .tasks
                .par_iter()
                .zip(&fit.point.machines)
                .map(|(task, machine)| self.fit_machine(task, machine, &fit.point.weights, limits, &control))
                .collect();
            let mut machines = Vec::with_capacity(fitted.len());
            let mut machine_violation = 0.0_f64;
            for fitted in fitted {
                let (machine, problems, gap, violation) = fitted?;
                machines.push(machine);
                fit.convex_problems += problems;
                fit.convex_gap = fit.convex_gap.max(gap);
                machine_violation = machine_violation.max(violation);
            }
            let responses = self.responses(&machines, members)?;
            let problem = responses.problem(self.loss);
            let before = fit.history.last().copied().unwrap_or(f64::INFINITY);
            // With positive semidefinite kernels all parts of the objective are at least zero, so this is no constraint.
            let bound = before.max(0.0) / self.lambda2;
            let weights: Vec<f64> = members.iter().map(|&m| fit.point.weights[m]).collect();
            let descended = problem.minimise(&weights, bound, &control)?;
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
            fit.weight_violation = self.weight_violation(&responses, &descended.weights);
            fit.machine_violation = machine_violation;
            for (&m, weight) in members.iter().zip(descended.weights) {
                fit.point.weights[m] = weight;
            }
            fit.point.machines = machines;
            fit.history.push(descended.value);
            context.report("alternations", iteration + 1, limits.iterations);
            if before - descended.value <= limits.tolerance * descended.value.abs() {
                return Ok(());
            }
        }
    }
}

/// `K β + b`.
fn values(matrix: &KernelMatrix, machine: &Machine) -> Vec<f64> {
    let mut values = matrix.apply(&machine.beta);
    values.iter_mut().for_each(|value| *value += machine.bias);
    values
}
