//! What is minimised (Eq. 8), and what every weight would do about it.

use fewest_core::{Context, Error, order};

use super::atoms::Atoms;
use super::fit::FITTED;
use super::loss::Loss;
use super::machine::Machine;
use super::matrix::KernelMatrix;
use super::screen::{Pairs, Screen};
use super::weights::Weights;
use fewest_linalg::{add_scaled, centre, dot, projected};

/// Samples times features, of which some ten columns of a factor each make a job large enough for a thread of
/// its own.
const THREADED: usize = 1 << 13;

/// One machine's part of the problem: its samples and what it is to say about them.
#[derive(Debug, Clone)]
pub(crate) struct Task {
    pub(crate) rows: Vec<usize>,
    pub(crate) y: Vec<f64>,
}

/// What is minimised: `λ₁ Σ_t β_tᵀKβ_t + λ₂ Σ d + Σ loss`, one `β_t, b_t` a task and one `d ≥ 0` for all.
pub(crate) struct Objective<'a> {
    pub(crate) atoms: &'a Atoms<'a>,
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
    /// The largest gradient of a machine, relative to that without coefficients; NaN where it was not
    /// measured.
    pub(crate) machine_violation: f64,
}

impl Point {
    /// The weights above zero and where they are.
    pub(super) fn positive(&self) -> (Vec<usize>, Vec<f64>) {
        self.weights.iter().copied().enumerate().filter(|(_, weight)| *weight > 0.0).unzip()
    }
}

/// What the machines make of every atom: `θ` and `γ` of Eq. 16, and the labels and biases.
pub(super) struct Responses {
    responses: Vec<f64>,
    slopes: Vec<f64>,
    y: Vec<f64>,
    base: Vec<f64>,
}

impl Responses {
    pub(super) fn problem(&self, loss: Loss) -> Weights<'_> {
        let Self { responses, slopes, y, base } = self;
        Weights { responses, slopes, y, base, loss }
    }
}

impl Objective<'_> {
    /// The smallest `λ₂` at which no feature gains more than its penalty over the best constant: with `r` the
    /// half_gradients there, `max_m Σ_t r_tᵀ K_m r_t / λ₁`. For positive semidefinite kernels nothing is
    /// selected from there on.
    ///
    /// # Errors
    /// [`Error::Stopped`]; [`Error::Numerical`] where a kernel overflows; [`Error::Unreadable`].
    pub(crate) fn largest_lambda2(&self, screen: &mut Screen, context: &Context<'_>) -> Result<f64, Error> {
        let pairs = self.pairs(&self.start(), context)?;
        // Only those near the largest need be known well.
        let mut sure = f64::NEG_INFINITY;
        let estimates = loop {
            let estimates = screen.estimates(self.atoms, &pairs, sure, context)?;
            let least = estimates.iter().map(|gain| gain.least()).fold(0.0, f64::max);
            if least <= sure {
                break estimates;
            }
            sure = least;
        };
        let mut largest = 0.0_f64;
        for (m, gain) in estimates.iter().enumerate() {
            if gain.bound() >= sure {
                let is_rough = gain.error > 0.0;
                largest =
                    largest.max(if is_rough { self.atoms.product(m, &pairs, context)? } else { gain.value });
            }
        }
        Ok(largest)
    }

    /// No weights, and machines that say the best constant. Without weights no coefficients count; those of
    /// the stationary form `β = half_gradients/λ₁` tell what every feature would add.
    pub(crate) fn start(&self) -> Point {
        let machine = |task: &Task| {
            let bias = self.loss.best_constant(&task.y);
            Machine { beta: self.coefficients(task, &vec![bias; task.y.len()]), bias }
        };
        let machines = self.tasks.iter().map(machine).collect();
        // Without a kernel the best constant is the machine.
        Point { weights: vec![0.0; self.atoms.len()], machines, machine_violation: 0.0 }
    }

    /// `β = half_gradients/λ₁` of a machine that says `values`, less their mean: its coefficients, were it
    /// stationary.
    pub(super) fn coefficients(&self, task: &Task, values: &[f64]) -> Vec<f64> {
        let force = |(&y, &f): (&f64, &f64)| self.loss.half_gradient(y, f) / self.lambda1;
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
    ///
    /// # Errors
    /// [`Error::Stopped`]; [`Error::Numerical`] where a kernel overflows; [`Error::Unreadable`].
    pub(super) fn responses(
        &self,
        machines: &[Machine],
        members: &[usize],
        context: &Context<'_>,
    ) -> Result<Responses, Error> {
        let spread = |(task, machine): (&Task, &Machine)| {
            context.go_on(FITTED)?;
            Ok(self.spread(task, &machine.beta))
        };
        let spreads: Vec<Vec<f64>> =
            self.tasks.iter().zip(machines).map(spread).collect::<Result<_, Error>>()?;
        let total: usize = self.tasks.iter().map(|task| task.rows.len()).sum();
        let mut responses = vec![0.0; total * members.len()];
        let respond = |image: &mut Vec<f64>, out: &mut [f64], m: usize| {
            // Where there are many classes, one feature is work enough.
            context.go_on(FITTED)?;
            let mut rest = out;
            let mut slope = self.lambda2;
            for ((task, machine), spread) in self.tasks.iter().zip(machines).zip(&spreads) {
                let (own, after) = rest.split_at_mut(task.rows.len());
                self.atoms.apply(m, spread, image)?;
                for (out, &row) in own.iter_mut().zip(&task.rows) {
                    *out = image[row];
                }
                centre(own);
                slope += self.lambda1 * dot(&machine.beta, own);
                rest = after;
            }
            Ok(slope)
        };
        let run = THREADED.div_ceil(total.max(1));
        let slopes = fewest_parallel::chunks(&mut responses, run * total, |at, out| {
            let mut image = vec![0.0; self.atoms.n_samples()];
            let columns = out.chunks_exact_mut(total).zip(&members[at * run..]);
            columns.map(|(out, &m)| respond(&mut image, out, m)).collect::<Result<Vec<f64>, Error>>()
        });
        let slopes = slopes.into_iter().collect::<Result<Vec<_>, Error>>()?.concat();
        let y = self.tasks.iter().flat_map(|task| task.y.iter().copied()).collect();
        let base = self
            .tasks
            .iter()
            .zip(machines)
            .flat_map(|(task, machine)| std::iter::repeat_n(machine.bias, task.rows.len()))
            .collect();
        Ok(Responses { responses, slopes, y, base })
    }

    /// The largest entry of the projected gradient of the weights, relative to `λ₂`.
    pub(super) fn weight_violation(&self, responses: &Responses, weights: &[f64]) -> f64 {
        projected(weights, &responses.problem(self.loss).gradient(weights)) / self.lambda2
    }

    /// The norm of `∇ = 2 K (λ₁β − half_gradients)`, relative to that of `2 K half_gradients` at `β = 0`.
    pub(super) fn machine_violation(&self, task: &Task, matrix: &KernelMatrix, machine: &Machine) -> f64 {
        let mut rest = self.coefficients(task, &values(matrix, machine));
        add_scaled(&mut rest, -1.0, &machine.beta);
        let gradient = matrix.apply(&rest);
        let constant = vec![self.loss.best_constant(&task.y); task.y.len()];
        let scale = matrix.apply(&self.coefficients(task, &constant));
        let scale = dot(&scale, &scale).sqrt();
        if scale > 0.0 { dot(&gradient, &gradient).sqrt() / scale } else { 0.0 }
    }

    /// The vectors `β_t` and `2 forces_t − λ₁β_t`, all half_gradients of a task less their mean: the slope of
    /// a weight is `λ₂` less their products with its kernel.
    fn pairs(&self, point: &Point, context: &Context<'_>) -> Result<Pairs, Error> {
        let n = self.atoms.n_samples();
        let (members, weights) = point.positive();
        let responses = self.responses(&point.machines, &members, context)?;
        let mut values = responses.problem(self.loss).decisions(&weights);
        let mut vectors = (Vec::new(), Vec::new());
        for (task, machine) in self.tasks.iter().zip(&point.machines) {
            context.go_on(FITTED)?;
            let rest = values.split_off(task.rows.len());
            let mut other = machine.beta.clone();
            other.iter_mut().for_each(|beta| *beta *= -self.lambda1);
            add_scaled(&mut other, 2.0 * self.lambda1, &self.coefficients(task, &values));
            vectors.0.push(self.spread(task, &machine.beta));
            vectors.1.push(self.spread(task, &other));
            values = rest;
        }
        Pairs::new(&vectors.0, &vectors.1, n, context)
    }

    /// The atoms besides `members` whose weights would rise from zero the steepest, by decreasing steepness,
    /// and `λ₂` less their slopes: as many as half of the samples or as members, where there are that many.
    /// And a bound on how steeply any of all these would rise, relative to `λ₂`.
    pub(super) fn entering(
        &self,
        point: &Point,
        members: &[usize],
        allowed: f64,
        screen: &mut Screen,
        context: &Context<'_>,
    ) -> Result<(Vec<(usize, f64)>, f64), Error> {
        let pairs = self.pairs(point, context)?;
        let least = self.lambda2 + allowed;
        let estimates = screen.estimates(self.atoms, &pairs, least, context)?;
        let outside: Vec<usize> =
            (0..self.atoms.len()).filter(|m| members.binary_search(m).is_err()).collect();
        let (candidates, others): (Vec<usize>, Vec<usize>) =
            outside.into_iter().partition(|&m| estimates[m].bound() > least);
        let mut steepest = others.iter().map(|&m| estimates[m].bound()).fold(self.lambda2, f64::max);
        let values: Vec<f64> = candidates.iter().map(|&m| estimates[m].value).collect();
        let candidates: Vec<usize> =
            order::descending(&values).into_iter().map(|at| candidates[at]).collect();
        let wanted = (self.atoms.n_samples() / 2).max(members.len()).max(1);
        let mut entering: Vec<(usize, f64)> = Vec::new();
        // Estimates say which to compute; which one enters is decided by the kernel itself.
        for batch in candidates.chunks(wanted) {
            let products =
                fewest_parallel::try_map(batch.len(), |at| self.atoms.product(batch[at], &pairs, context))?;
            for (&m, product) in batch.iter().zip(products) {
                steepest = steepest.max(product);
                if product > least {
                    entering.push((m, product));
                }
            }
            if entering.len() >= wanted {
                break;
            }
        }
        let products: Vec<f64> = entering.iter().map(|(_, product)| *product).collect();
        let entering = order::descending(&products).into_iter().take(wanted).map(|at| entering[at]).collect();
        Ok((entering, steepest / self.lambda2 - 1.0))
    }
}

/// `K β + b`.
pub(super) fn values(matrix: &KernelMatrix, machine: &Machine) -> Vec<f64> {
    let mut values = matrix.apply(&machine.beta);
    values.iter_mut().for_each(|value| *value += machine.bias);
    values
}
