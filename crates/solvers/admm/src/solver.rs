//! The argmin solver.

use argmin::core::{KV, Problem, Solver, TerminationStatus};
use fewest_solver::{Error, SolverState, Step, given};
use serde::{Deserialize, Serialize};

use crate::{Judgement, Split, Splitting};

/// `ρ` is changed where one residual is more than so many times the other.
const UNEVEN: f64 = 4.0;

/// The largest factor of a change of `ρ`.
const LARGEST_CHANGE: f64 = 100.0;

/// Where the first change of `ρ` may be, in iterations; the others at twice the place of the one before, so
/// that in the long run `ρ` is constant, as the proof of convergence needs.
const FIRST_CHANGE: u64 = 8;

/// The alternating direction method of multipliers, an argmin [`Solver`](argmin::core::Solver) over
/// references to any [`Splitting`].
///
/// The coefficients of the state are `z`. The solver holds numbers only and can be written to a checkpoint.
/// Observers receive `primal_residual`, `dual_residual` and `rho`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Admm {
    tolerance: f64,
    rho: f64,
    adaptive: bool,
    over_relaxation: f64,
    progress: Progress,
}

/// The state of a run between iterations.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Progress {
    rho: f64,
    /// `A x`.
    first: Vec<f64>,
    /// `u`.
    scaled_dual: Vec<f64>,
    iteration: u64,
    next_change: u64,
}

impl Default for Admm {
    fn default() -> Self {
        Self {
            tolerance: 1e-9,
            rho: 1.0,
            adaptive: true,
            over_relaxation: 1.6,
            progress: Progress::default(),
        }
    }
}

impl Admm {
    /// The certificate at which the solver stops of itself, at least 0. Default 1e-9.
    #[must_use]
    pub fn tolerance(mut self, tolerance: f64) -> Self {
        self.tolerance = tolerance;
        self
    }

    /// The weight `ρ` of the constraint, or the first one where it is adaptive; above 0. Default 1.
    #[must_use]
    pub fn rho(mut self, rho: f64) -> Self {
        self.rho = rho;
        self
    }

    /// Whether `ρ` follows the residuals. Default true.
    #[must_use]
    pub fn adaptive(mut self, adaptive: bool) -> Self {
        self.adaptive = adaptive;
        self
    }

    /// The over-relaxation `α`, between 0 and 2; 1 is none. Default 1.6.
    #[must_use]
    pub fn over_relaxation(mut self, over_relaxation: f64) -> Self {
        self.over_relaxation = over_relaxation;
        self
    }

    /// `A x` of the last step: where `A = I`, the answer in the domain of `f`, as the coefficients are that
    /// in the domain of `g`.
    pub fn first(&self) -> &[f64] {
        &self.progress.first
    }

    /// The dual variable `y = ρ u` of the last step.
    pub fn dual(&self) -> Vec<f64> {
        self.progress.dual()
    }

    fn check(&self) -> Result<(), Error> {
        if !(self.rho > 0.0 && self.rho.is_finite()) {
            return Err(Error::parameter("rho", self.rho, "a finite number above 0"));
        }
        if !(self.over_relaxation > 0.0 && self.over_relaxation < 2.0) {
            return Err(Error::parameter("over_relaxation", self.over_relaxation, "between 0 and 2"));
        }
        Ok(())
    }
}

impl Progress {
    fn dual(&self) -> Vec<f64> {
        self.scaled_dual.iter().map(|u| self.rho * u).collect()
    }

    /// Brings `ρ` towards the value at which both residuals fall alike; the dual variable stays.
    fn balance(&mut self, primal: f64, dual: f64) {
        self.next_change = 2 * self.iteration;
        let ratio = primal / dual;
        if !(ratio.is_finite() && ratio > 0.0) || (ratio < UNEVEN && ratio > 1.0 / UNEVEN) {
            return;
        }
        let change = ratio.sqrt().clamp(1.0 / LARGEST_CHANGE, LARGEST_CHANGE);
        if (self.rho * change).is_normal() {
            self.rho *= change;
            self.scaled_dual.iter_mut().for_each(|u| *u /= change);
        }
    }
}

fn norm(values: impl Iterator<Item = f64>) -> f64 {
    values.map(|value| value * value).sum::<f64>().sqrt()
}

/// `part / whole`, 0 if there is no part.
fn relative(part: f64, whole: f64) -> f64 {
    if part == 0.0 { 0.0 } else { (part / whole).min(f64::MAX) }
}

fn not_finite() -> Error {
    Error::Numerical {
        what: "a step of the alternating direction method",
        hint: "a value is not finite: rescale the problem so that its numbers are near 1".to_owned(),
    }
}

impl<P: Splitting + ?Sized> Solver<&P, SolverState> for Admm {
    fn name(&self) -> &str {
        "admm"
    }

    fn init(&mut self, problem: &mut Problem<&P>, mut state: SolverState) -> Step {
        self.check()?;
        let problem = given(problem)?;
        let expected = problem.n_values();
        let z = &state.coefficients;
        if z.len() != expected {
            let found = z.len();
            return Err(Error::ShapeMismatch { what: "starting values", expected, found }.into());
        }
        if let Some(value) = z.iter().find(|value| !value.is_finite()) {
            return Err(Error::parameter("start", value, "finite").into());
        }
        self.progress = Progress {
            rho: self.rho,
            first: z.clone(),
            scaled_dual: vec![0.0; expected],
            iteration: 0,
            next_change: FIRST_CHANGE,
        };
        state.objective = f64::MAX;
        Ok((state, None))
    }

    fn next_iter(&mut self, problem: &mut Problem<&P>, mut state: SolverState) -> Step {
        let problem = given(problem)?;
        let (alpha, now) = (self.over_relaxation, &mut self.progress);
        let z = std::mem::take(&mut state.coefficients);
        let mut v: Vec<f64> = z.iter().zip(&now.scaled_dual).map(|(z, u)| z - u).collect();
        problem.first(&v, now.rho, &mut now.first)?;
        for ((v, first), (z, u)) in v.iter_mut().zip(&now.first).zip(z.iter().zip(&now.scaled_dual)) {
            *v = alpha * first + (1.0 - alpha) * z + u;
        }
        let mut next = vec![0.0; z.len()];
        problem.second(&v, now.rho, &mut next)?;
        for ((u, v), next) in now.scaled_dual.iter_mut().zip(&v).zip(&next) {
            *u = v - next;
        }
        let gap = norm(now.first.iter().zip(&next).map(|(first, next)| first - next));
        let size = norm(now.first.iter().copied()).max(norm(next.iter().copied()));
        let step = norm(next.iter().zip(&z).map(|(new, old)| new - old));
        let primal_residual = relative(gap, size);
        let dual_residual = relative(step, norm(now.scaled_dual.iter().copied()));
        if !(gap.is_finite() && step.is_finite() && size.is_finite()) {
            return Err(not_finite().into());
        }
        now.iteration += 1;
        let mut observed = KV::new();
        observed.insert("primal_residual", primal_residual.into());
        observed.insert("dual_residual", dual_residual.into());
        observed.insert("rho", now.rho.into());
        let (first, dual) = (&now.first[..], &now.dual()[..]);
        let split = Split { first, second: &next, dual, primal_residual, dual_residual };
        let Judgement { objective, certificate } = problem.judge(&split)?;
        (state.objective, state.certificate) = (objective, certificate);
        if self.adaptive && now.iteration >= now.next_change {
            now.balance(primal_residual, dual_residual);
        }
        state.coefficients = next;
        Ok((state, Some(observed)))
    }

    fn terminate(&mut self, state: &SolverState) -> TerminationStatus {
        state.ended(self.tolerance)
    }
}
