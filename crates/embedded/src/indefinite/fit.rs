//! The alternation of Algorithm 1: machines with fixed weights, then weights with fixed machines.

use fewest_core::{Context, Error, Status};
use fewest_solver::Control;
use rayon::prelude::*;

use super::atoms::Atoms;
use super::loss::Loss;
use super::machine::{FixedKernel, Machine};
use super::vectors::{add_scaled, centre, dot};
use super::weights::{Weights, projected};

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
    /// Machines that say the best constant, and the forces that pull at it, on all samples.
    fn null(&self) -> (Vec<Machine>, Vec<Vec<f64>>) {
        let machine = |task: &Task| {
            let bias = self.loss.best_constant(&task.y);
            let mut forces: Vec<f64> = task.y.iter().map(|&y| self.loss.force(y, bias)).collect();
            centre(&mut forces);
            (Machine { beta: vec![0.0; task.rows.len()], bias }, forces)
        };
        self.tasks.iter().map(machine).unzip()
    }

    /// The smallest `λ₂` at which no feature is worth its price to the best constant: with `r` the forces there,
    /// `max_m Σ_t r_tᵀ K_m r_t / λ₁`. For positive semidefinite kernels nothing is selected from there on.
    pub(crate) fn largest_lambda2(&self) -> f64 {
        let (_, forces) = self.null();
        let worth = |m: usize| -> f64 {
            let mut image = vec![0.0; self.atoms.n_samples()];
            let worth = |(task, forces): (&Task, &Vec<f64>)| {
                let spread = self.spread(task, forces);
                self.atoms.apply(m, &spread, &mut image);
                dot(&spread, &image)
            };
            self.tasks.iter().zip(&forces).map(worth).sum()
        };
        let worths: Vec<f64> = (0..self.atoms.len()).into_par_iter().with_min_len(16).map(worth).collect();
        worths.into_iter().fold(0.0, f64::max) / self.lambda1
    }

    /// Equal weights at the scale that balances both penalties: `√(λ₁ n/(λ₂ η))` in all, `η` the largest eigenvalue of
    /// the mean kernel. A kernel fitted to ±1 has `λ₁ βᵀKβ ≈ λ₁ n/(s η)` at the scale `s`, and pays `λ₂ s`.
    pub(crate) fn start(&self) -> Result<Point, Error> {
        let m = self.atoms.len();
        let (machines, _) = self.null();
        let mut weights = vec![1.0 / m as f64; m];
        let mut eta = 0.0_f64;
        let mut n = 0;
        for task in self.tasks {
            eta = eta.max(self.atoms.combine(&weights, &task.rows)?.rho());
            n = n.max(task.rows.len());
        }
        let scale = (self.lambda1 * n as f64 / (self.lambda2 * eta)).sqrt();
        weights.iter_mut().for_each(|weight| *weight *= scale);
        Ok(Point { weights, machines })
    }

    /// `v` of a task's samples among all samples.
    fn spread(&self, task: &Task, v: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; self.atoms.n_samples()];
        for (&row, &value) in task.rows.iter().zip(v) {
            out[row] = value;
        }
        out
    }

    fn responses(&self, machines: &[Machine]) -> Responses {
        let spreads: Vec<Vec<f64>> =
            self.tasks.iter().zip(machines).map(|(task, machine)| self.spread(task, &machine.beta)).collect();
        let total: usize = self.tasks.iter().map(|task| task.rows.len()).sum();
        let mut responses = vec![0.0; total * self.atoms.len()];
        let mut slopes = vec![0.0; self.atoms.len()];
        let columns = responses.par_chunks_exact_mut(total.max(1)).zip(&mut slopes).enumerate();
        columns.with_min_len(16).for_each_init(
            || vec![0.0; self.atoms.n_samples()],
            |image, (m, (out, slope))| {
                let mut rest = out;
                *slope = self.lambda2;
                for ((task, machine), spread) in self.tasks.iter().zip(machines).zip(&spreads) {
                    let (own, after) = rest.split_at_mut(task.rows.len());
                    self.atoms.apply(m, spread, image);
                    for (out, &row) in own.iter_mut().zip(&task.rows) {
                        *out = image[row];
                    }
                    centre(own);
                    *slope += self.lambda1 * dot(&machine.beta, own);
                    rest = after;
                }
            },
        );
        let y = self.tasks.iter().flat_map(|task| task.y.iter().copied()).collect();
        let base = self
            .tasks
            .iter()
            .zip(machines)
            .flat_map(|(task, machine)| std::iter::repeat_n(machine.bias, task.rows.len()))
            .collect();
        Responses { responses, slopes, y, base }
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
        let fitted = problem.minimise(start, limits.accelerated, control)?;
        let mut machine = fitted.machine;
        // In the directions that the kernel maps to zero the objective says nothing about β. Those of its stationary
        // form, β = forces/λ₁, tell the weights what another feature would add.
        let values = values(&matrix, &machine);
        let mut stationary: Vec<f64> =
            task.y.iter().zip(&values).map(|(&y, &f)| self.loss.force(y, f)).collect();
        centre(&mut stationary);
        stationary.iter_mut().for_each(|force| *force /= self.lambda1);
        let missing: Vec<f64> = stationary.iter().zip(&machine.beta).map(|(new, old)| new - old).collect();
        if let Some(missing) = matrix.null_part(&missing) {
            add_scaled(&mut machine.beta, 1.0, &missing);
        }
        // ∇ = 2 K (λ₁β − forces), relative to 2 K forces at β = 0.
        let gradient: Vec<f64> = machine.beta.iter().zip(&stationary).map(|(a, b)| a - b).collect();
        let gradient = matrix.apply(&gradient);
        let bias = self.loss.best_constant(&task.y);
        let mut forces: Vec<f64> = task.y.iter().map(|&y| self.loss.force(y, bias) / self.lambda1).collect();
        centre(&mut forces);
        let scale = matrix.apply(&forces);
        let scale = dot(&scale, &scale).sqrt();
        let violation = if scale > 0.0 { dot(&gradient, &gradient).sqrt() / scale } else { 0.0 };
        Ok((machine, fitted.iterations, problem.certificate(), violation))
    }

    /// Alternates from `start` until the objective settles.
    pub(crate) fn alternate(
        &self,
        start: Point,
        limits: &Limits,
        context: &Context<'_>,
    ) -> Result<Fit, Error> {
        let control = Control {
            tolerance: limits.inner_tolerance,
            max_iterations: limits.inner_iterations,
            deadline: context.deadline,
            interrupt: context.interrupt,
            stop: None,
        };
        let stopped = || {
            if context.interrupted() {
                Some(Status::Interrupted)
            } else {
                context.time_left().is_some_and(|left| left.is_zero()).then_some(Status::TimeLimit)
            }
        };
        let first = self.responses(&start.machines).problem(self.loss).value(&start.weights);
        let mut fit = Fit {
            point: start,
            history: vec![first],
            status: Status::MaxIterations,
            weight_violation: f64::INFINITY,
            machine_violation: f64::INFINITY,
            convex_gap: 0.0,
            convex_problems: 0,
        };
        let mut before = first;
        for iteration in 0..limits.iterations {
            if let Some(status) = stopped() {
                fit.status = status;
                break;
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
            let responses = self.responses(&machines);
            let problem = responses.problem(self.loss);
            // With positive semidefinite kernels all parts of the objective are at least zero, so this is no constraint.
            let bound = before.max(0.0) / self.lambda2;
            let descended = problem.minimise(&fit.point.weights, bound, &control)?;
            let gradient = problem.gradient(&descended.weights);
            let scale = problem
                .gradient(&vec![0.0; gradient.len()])
                .iter()
                .fold(0.0_f64, |most, g| most.max(g.abs()));
            if descended.value > before {
                // Only rounding raises it: the point before is as good as this arithmetic gets.
                fit.status = Status::Converged;
                break;
            }
            let violation = projected(&descended.weights, &gradient);
            fit.weight_violation = if scale > 0.0 { violation / scale } else { 0.0 };
            fit.machine_violation = machine_violation;
            fit.point = Point { weights: descended.weights, machines };
            fit.history.push(descended.value);
            context.report("alternations", iteration + 1, limits.iterations);
            let decrease = before - descended.value;
            before = descended.value;
            if decrease <= limits.tolerance * before.abs() {
                fit.status = Status::Converged;
                break;
            }
        }
        Ok(fit)
    }
}

/// `K β + b`.
fn values(matrix: &super::matrix::KernelMatrix, machine: &Machine) -> Vec<f64> {
    let mut values = matrix.apply(&machine.beta);
    values.iter_mut().for_each(|value| *value += machine.bias);
    values
}
