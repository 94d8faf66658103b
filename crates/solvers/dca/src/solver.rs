//! The argmin solver.

use argmin::core::{KV, Problem, Solver, TerminationStatus};
use fewest_solver::{Certificate, Error, SolverState, Step, given};
use serde::{Deserialize, Serialize};

use crate::DifferenceOfConvex;

/// Difference-of-convex programming, an argmin [`Solver`](argmin::core::Solver) over references to any
/// [`DifferenceOfConvex`].
///
/// An iteration is one subgradient and one convex problem. The solver holds numbers only and can be written
/// to a checkpoint. Observers receive `decrease`, the fall of the objective, and `squared_step`,
/// `‖xₖ₊₁ − xₖ‖²`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Dca {
    tolerance: f64,
    accelerated: bool,
    progress: Progress,
}

/// The state of a run between iterations.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Progress {
    /// The point before the current one, from which the momentum is computed.
    previous: Vec<f64>,
    /// `t` of Nesterov; 1 without momentum.
    momentum: f64,
    /// `|f|` at the start, which decreases are relative to.
    scale: f64,
}

impl Default for Dca {
    fn default() -> Self {
        Self { tolerance: 1e-9, accelerated: false, progress: Progress::default() }
    }
}

impl Dca {
    /// The relative decrease of objective and iterates at which the solver stops of itself, at least 0.
    /// Default 1e-9.
    #[must_use]
    pub fn tolerance(mut self, tolerance: f64) -> Self {
        self.tolerance = tolerance;
        self
    }

    /// Whether subgradients are taken at a point ahead, if the objective is not higher there. Default false.
    #[must_use]
    pub fn accelerated(mut self, accelerated: bool) -> Self {
        self.accelerated = accelerated;
        self
    }

    /// The point of the next subgradient: ahead of `x` if the objective there is at most `value`, that at
    /// `x`.
    fn ahead<P: DifferenceOfConvex + ?Sized>(&mut self, problem: &P, x: &[f64], value: f64) -> Vec<f64> {
        if !self.accelerated {
            return x.to_vec();
        }
        let momentum = 0.5 * (1.0 + (1.0 + 4.0 * self.progress.momentum.powi(2)).sqrt());
        let weight = (self.progress.momentum - 1.0) / momentum;
        let ahead: Vec<f64> =
            x.iter().zip(&self.progress.previous).map(|(new, old)| new + weight * (new - old)).collect();
        if problem.objective(&ahead) <= value {
            self.progress.momentum = momentum;
            ahead
        } else {
            self.progress.momentum = 1.0;
            x.to_vec()
        }
    }
}

fn squared_norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum()
}

/// `part / whole`, 0 if both are 0.
fn relative(part: f64, whole: f64) -> f64 {
    if part <= 0.0 { 0.0 } else { (part / whole).min(f64::MAX) }
}

fn not_finite() -> Error {
    Error::Numerical {
        what: "the objective of a difference of convex functions",
        hint: "it is not finite: start where g is finite, and rescale the problem".to_owned(),
    }
}

impl<P: DifferenceOfConvex + ?Sized> Solver<&P, SolverState> for Dca {
    fn name(&self) -> &str {
        "dca"
    }

    fn init(&mut self, problem: &mut Problem<&P>, mut state: SolverState) -> Step {
        let problem = given(problem)?;
        let expected = problem.n_coefficients();
        let x = &state.coefficients;
        if x.len() != expected {
            return Err(
                Error::ShapeMismatch { what: "starting coefficients", expected, found: x.len() }.into()
            );
        }
        if let Some(value) = x.iter().find(|value| !value.is_finite()) {
            return Err(Error::parameter("start", value, "finite").into());
        }
        state.objective = problem.objective(x);
        if !state.objective.is_finite() {
            return Err(not_finite().into());
        }
        self.progress = Progress { previous: x.clone(), momentum: 1.0, scale: state.objective.abs() };
        Ok((state, None))
    }

    fn next_iter(&mut self, problem: &mut Problem<&P>, mut state: SolverState) -> Step {
        let problem = given(problem)?;
        let base = self.ahead(problem, &state.coefficients, state.objective);
        let mut slope = vec![0.0; base.len()];
        problem.subgradient_of_h(&base, &mut slope);
        let next = problem.minimise_above(&slope, &base)?;
        let objective = problem.objective(&next);
        if !objective.is_finite() || next.len() != base.len() {
            return Err(not_finite().into());
        }
        let decrease = state.objective - objective;
        let steps: Vec<f64> = next.iter().zip(&state.coefficients).map(|(new, old)| new - old).collect();
        let squared_step = squared_norm(&steps);
        let mut observed = KV::new();
        observed.insert("decrease", decrease.into());
        observed.insert("squared_step", squared_step.into());
        if decrease < 0.0 {
            // Only rounding raises the objective: the previous point is the most accurate one possible.
            state.stalled = true;
            return Ok((state, Some(observed)));
        }
        let length = squared_norm(&next).max(squared_norm(&state.coefficients));
        let decrease = relative(decrease, objective.abs().max(self.progress.scale));
        state.certificate = Certificate::stationarity(decrease.max(relative(squared_step, length)));
        state.objective = objective;
        self.progress.previous = std::mem::replace(&mut state.coefficients, next);
        Ok((state, Some(observed)))
    }

    fn terminate(&mut self, state: &SolverState) -> TerminationStatus {
        state.ended(self.tolerance)
    }
}
