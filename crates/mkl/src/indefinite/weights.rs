//! The kernel weights with fixed machines, by projected gradient descent (Algorithm 3) that Newton steps
//! finish.

use fewest_core::{Error, order};
use fewest_pgd::ProximalGradient;
use fewest_solver::{Composite, Control, Datafit, L1, SolverState, run};
use nalgebra::DMatrix;

use super::loss::Loss;
use super::newton::Newton;
use fewest_linalg::{add_scaled, dot, projected};

/// Samples times weights that are enough for a thread of their own.
const THREADED: usize = 1 << 16;

/// Working sets at most.
const ROUNDS: usize = 40;

/// Iterations of projected gradients, of ten steps each, where Newton steps follow: they find which weights
/// are zero.
const FEW_ITERATIONS: u64 = 1;

/// And where those would cost too much. The first working set, which may hold every feature, has few in any
/// case.
const ITERATIONS: u64 = 100;

/// Newton steps on a working set at most.
const NEWTON_STEPS: usize = 40;

/// Multiplications that a Newton step may take.
const AFFORDABLE: usize = 1 << 28;

/// `γᵀd + Σ loss(y, base + θ d)` (Eq. 16) over some of the weights.
pub(crate) struct Weights<'a> {
    /// `θ`, column after column.
    pub(crate) responses: &'a [f64],
    /// `γ`.
    pub(crate) slopes: &'a [f64],
    pub(crate) y: &'a [f64],
    /// The biases.
    pub(crate) base: &'a [f64],
    pub(crate) loss: Loss,
}

/// Some of the weights, the others zero.
pub(super) struct Restricted<'a> {
    all: &'a Weights<'a>,
    members: &'a [usize],
}

impl Restricted<'_> {
    fn decision(&self, w: &[f64]) -> Vec<f64> {
        self.all.decision(self.members.iter().copied().zip(w.iter().copied()))
    }

    /// The responses of the weights `free` on the samples that pull at `w`.
    pub(super) fn responses(&self, free: &[usize], w: &[f64]) -> DMatrix<f64> {
        let half_gradients = self.all.half_gradients(&self.decision(w));
        let pulled: Vec<usize> = (0..half_gradients.len()).filter(|&i| half_gradients[i] != 0.0).collect();
        let columns = free.iter().map(|&a| self.all.column(self.members[a]));
        let values = columns.flat_map(|column| pulled.iter().map(|&i| column[i])).collect();
        DMatrix::from_vec(pulled.len(), free.len(), values)
    }
}

/// Where the descent has ended.
pub(crate) struct Descended {
    pub(crate) weights: Vec<f64>,
    pub(crate) value: f64,
}

impl Weights<'_> {
    /// What the machines make of weight `m`.
    pub(super) fn column(&self, m: usize) -> &[f64] {
        let n = self.y.len();
        &self.responses[m * n..(m + 1) * n]
    }

    fn decision(&self, weights: impl Iterator<Item = (usize, f64)>) -> Vec<f64> {
        let mut values = self.base.to_vec();
        for (m, weight) in weights.filter(|(_, weight)| *weight != 0.0) {
            add_scaled(&mut values, weight, self.column(m));
        }
        values
    }

    /// `∂/∂d_m = γ_m − 2 Σ (tᵢ − fᵢ) θᵢₘ` over the support: Eq. 17 with the factor of the squared hinge that
    /// it lacks.
    fn slope(&self, m: usize, half_gradients: &[f64]) -> f64 {
        self.slopes[m] - 2.0 * dot(half_gradients, self.column(m))
    }

    /// Half of minus the derivatives of the loss where the machines say `values`.
    pub(super) fn half_gradients(&self, values: &[f64]) -> Vec<f64> {
        self.y.iter().zip(values).map(|(&y, &f)| self.loss.half_gradient(y, f)).collect()
    }

    /// What the machines say at `d`.
    pub(crate) fn decisions(&self, d: &[f64]) -> Vec<f64> {
        self.decision(d.iter().copied().enumerate())
    }

    /// The objective at `d`.
    pub(crate) fn value(&self, d: &[f64]) -> f64 {
        dot(self.slopes, d) + self.loss.sum(self.y, &self.decisions(d))
    }

    /// The gradient at `d`.
    pub(crate) fn gradient(&self, d: &[f64]) -> Vec<f64> {
        let half_gradients = self.half_gradients(&self.decisions(d));
        let mut gradient = vec![0.0; d.len()];
        let run = THREADED.div_ceil(self.y.len().max(1));
        fewest_parallel::fill(&mut gradient, run, |m| self.slope(m, &half_gradients));
        gradient
    }

    /// The weights above zero, and of those that would rise the steepest, as many as there are above zero,
    /// and at least as many as samples.
    fn working_set(&self, d: &[f64], gradient: &[f64], allowed: f64) -> Vec<usize> {
        let (mut members, zeros): (Vec<usize>, Vec<usize>) = (0..d.len()).partition(|&m| d[m] > 0.0);
        let rising = zeros.into_iter().filter(|&m| gradient[m] < -allowed);
        let mut rising: Vec<(f64, usize)> = rising.map(|m| (-gradient[m], m)).collect();
        order::largest_first(&mut rising);
        rising.truncate(members.len().max(self.y.len()));
        members.extend(rising.into_iter().map(|(_, m)| m));
        order::sort_indices(&mut members);
        members
    }

    /// Descends from `start` until the projected gradient is at most `control.tolerance` times the largest
    /// slope at zero, or the sum of the weights at `bound`, which it exceeds only where `start` does: with an
    /// indefinite kernel slopes can be negative, and the problem need not have a minimum.
    pub(crate) fn minimise(
        &self,
        start: &[f64],
        bound: f64,
        control: &Control<'_>,
    ) -> Result<Descended, Error> {
        let start_value = self.value(start);
        let start_sum: f64 = start.iter().sum();
        let bound = bound.max(start_sum);
        let beyond = |weights: &[f64]| weights.iter().sum::<f64>() > bound;
        let stop = |state: &SolverState| beyond(&state.coefficients);
        let mut d = start.to_vec();
        let zero = vec![0.0; d.len()];
        let scale = self.gradient(&zero).iter().fold(0.0_f64, |most, g| most.max(g.abs()));
        let allowed = control.tolerance * scale;
        let mut gradient = self.gradient(&d);
        let mut newton = Newton::default();
        for round in 0..ROUNDS {
            if projected(&d, &gradient) <= allowed {
                break;
            }
            let members = self.working_set(&d, &gradient, allowed);
            let restricted = Restricted { all: self, members: &members };
            let orthant = L1::new(0.0, members.len())?.nonnegative();
            let mut solver = ProximalGradient::default().accelerated(false).tolerance(0.0);
            let (fewer, more) = (members.len().min(self.y.len()), members.len().max(self.y.len()));
            let is_affordable = fewer.saturating_mul(fewer).saturating_mul(more) <= AFFORDABLE;
            let max_iterations = if round == 0 || is_affordable { FEW_ITERATIONS } else { ITERATIONS };
            // The certificate of the solver is relative to the largest slope of the working set.
            let inner =
                Control { max_iterations, tolerance: 0.5 * control.tolerance, stop: Some(&stop), ..*control };
            let from = members.iter().map(|&m| d[m]).collect();
            let problem = Composite::new(&restricted, &orthant)?.within(&inner);
            let solution = run(problem, &mut solver, from, &inner)?;
            let mut weights = solution.coefficients;
            let interrupted = solution.status.is_stopped();
            if !interrupted && is_affordable {
                let go_on = |weights: &[f64]| !beyond(weights) && control.stopped().is_none();
                newton.descend(&restricted, &mut weights, 0.5 * allowed, NEWTON_STEPS, go_on);
            }
            let settled = members.iter().zip(&weights).all(|(&m, weight)| d[m] == *weight);
            for (&m, weight) in members.iter().zip(weights) {
                d[m] = weight;
            }
            let sum: f64 = d.iter().sum();
            if sum > bound {
                // The problem is convex: on the way back to the start nothing is higher than there.
                let share = (bound - start_sum) / (sum - start_sum);
                for (d, start) in d.iter_mut().zip(start) {
                    *d = start + share * (*d - start);
                }
                break;
            }
            if interrupted || settled {
                break;
            }
            gradient = self.gradient(&d);
        }
        let value = self.value(&d);
        if value > start_value {
            // Rounding only: every step of the descent decreases it.
            return Ok(Descended { weights: start.to_vec(), value: start_value });
        }
        Ok(Descended { weights: d, value })
    }
}

impl Datafit for Restricted<'_> {
    fn n_coefficients(&self) -> usize {
        self.members.len()
    }

    fn value(&self, w: &[f64]) -> f64 {
        let values = self.decision(w);
        let linear: f64 = self.members.iter().zip(w).map(|(&m, w)| self.all.slopes[m] * w).sum();
        linear + self.all.loss.sum(self.all.y, &values)
    }

    fn gradient(&self, w: &[f64], out: &mut [f64]) -> f64 {
        let values = self.decision(w);
        let half_gradients = self.all.half_gradients(&values);
        let run = THREADED.div_ceil(self.all.y.len().max(1));
        fewest_parallel::fill(out, run, |at| self.all.slope(self.members[at], &half_gradients));
        let linear: f64 = self.members.iter().zip(w).map(|(&m, w)| self.all.slopes[m] * w).sum();
        linear + self.all.loss.sum(self.all.y, &values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Uniform in [-1, 1].
    fn random(seed: u64, stream: usize) -> f64 {
        2.0 * (fewest_core::derive_seed(seed, stream as u64) as f64 / u64::MAX as f64) - 1.0
    }

    #[test]
    fn the_descent_ends_where_the_slopes_allow_no_better() -> Result<(), Error> {
        // Fewer weights than samples, and more; both losses.
        for (n, m) in [(40, 12), (20, 300)] {
            for loss in [Loss::SquaredHinge, Loss::SquaredInsensitive { epsilon: 0.05 }] {
                let y: Vec<f64> = (0..n).map(|i| random(1, i).signum()).collect();
                let responses: Vec<f64> = (0..n * m).map(|i| random(2, i) + 0.2 * y[i % n]).collect();
                let slopes: Vec<f64> = (0..m).map(|i| 0.3 * (1.1 + random(3, i))).collect();
                let base = vec![0.1; n];
                let problem = Weights { responses: &responses, slopes: &slopes, y: &y, base: &base, loss };
                let start = vec![1.0 / m as f64; m];
                let control = Control { tolerance: 1e-10, ..Control::default() };
                let found = problem.minimise(&start, f64::INFINITY, &control)?;
                let scale = problem.gradient(&vec![0.0; m]).iter().fold(0.0_f64, |most, g| most.max(g.abs()));
                // The slopes by differences, so that nothing is shared with what is tested.
                let slope = |a: usize| {
                    let at = |step: f64| {
                        let mut d = found.weights.clone();
                        d[a] += step;
                        problem.value(&d)
                    };
                    (at(1e-6) - at(-1e-6)) / 2e-6
                };
                for a in 0..m {
                    let slope = slope(a) / scale;
                    assert!(found.weights[a] >= 0.0 && slope > -1e-7, "{n} {m} {a}: {slope}");
                    assert!(found.weights[a] == 0.0 || slope.abs() < 1e-7, "{n} {m} {a}: {slope}");
                }
                assert!(found.value < problem.value(&start) && found.weights.contains(&0.0));
            }
        }
        Ok(())
    }

    #[test]
    fn what_falls_without_end_stops_at_the_bound() -> Result<(), Error> {
        let (y, responses, slopes, base) =
            (vec![1.0, -1.0], vec![1.0, -1.0, 0.0, 0.0], vec![0.5, -1.0], vec![0.0; 2]);
        let loss = Loss::SquaredHinge;
        let problem = Weights { responses: &responses, slopes: &slopes, y: &y, base: &base, loss };
        let start = vec![0.1, 0.1];
        let found = problem.minimise(&start, 3.0, &Control { tolerance: 1e-10, ..Control::default() })?;
        assert!(found.weights.iter().sum::<f64>() <= 3.0 + 1e-12 && found.value < problem.value(&start));
        Ok(())
    }
}
