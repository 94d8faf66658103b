//! The argmin solver.

use argmin::core::{KV, Problem, Solver, TerminationStatus};
use fewest_solver::{Certificate, Control, Error, Solution, SolverState, Status, Step, given};
use serde::{Deserialize, Serialize};

use crate::DualProblem;
use crate::certificate::{self, SvmCertificate};
use crate::descent::{Descent, Point};

/// Most steps in an iteration, and steps after which variables are set aside.
const STEPS: usize = 1000;

/// What a step costs for each variable, in multiplications of a Newton step.
const WORK_OF_STEP: f64 = 16.0;

/// Smallest and largest waiting time for Newton steps: work of steps as a multiple of the Newton steps' own.
const LEAST_WAIT: f64 = 1.0 / 256.0;
const MOST_WAIT: f64 = 64.0;

/// Largest number of multiplications of a call of Newton steps, a fraction of a second: stopping is checked
/// only between calls.
const MOST_WORK: f64 = 2e9;

/// The violation at which the gap is first computed, relative to that of the start.
const FIRST_CHECK: f64 = 2e-3;

/// Computations of the gap without progress after which the run ends; after half as many, the errors are
/// computed from their definition.
const PATIENCE: u32 = 10;

/// Sequential minimal optimisation of a [`DualProblem`], an argmin [`Solver`].
///
/// An iteration is a block of up to 1000 steps of two variables each, after which variables that no step
/// would move are set aside. The solver holds numbers only and can be written to a checkpoint; the stored
/// rows are not written, but computed again.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Smo {
    tolerance: f64,
    cache_bytes: usize,
    shrinking: bool,
    newton: bool,
    run: Run,
    #[serde(skip)]
    rows: Option<Rows>,
}

/// The state of a run between iterations.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Run {
    point: Point,
    /// The violation at which all variables return and the gap is computed.
    target: f64,
    best_gap: f64,
    without_progress: u32,
    since_shrinking: usize,
    idle: Idle,
    /// Multiplications of steps since the last Newton step, and the number the next one waits for, as a
    /// multiple of its own.
    step_work: f64,
    /// The decrease of the objective by these steps.
    step_gain: f64,
    newton_wait: f64,
    indefinite: bool,
    n_steps: u64,
    /// The certificate of the point from the definition, until the next step.
    #[serde(skip)]
    certified: Option<SvmCertificate>,
}

/// Steps since the violation or the objective last fell.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Idle {
    steps: usize,
    lowest_violation: f64,
    gained: f64,
}

impl Idle {
    fn after_step(&mut self, gain: f64, violation: f64, objective: f64) {
        self.steps += 1;
        self.gained += gain;
        if violation < 0.9 * self.lowest_violation || self.gained > 4.0 * f64::EPSILON * objective.abs() {
            *self = Self { steps: 0, lowest_violation: self.lowest_violation.min(violation), gained: 0.0 };
        }
    }

    fn restarted(violation: f64) -> Self {
        Self { steps: 0, lowest_violation: violation, gained: 0.0 }
    }
}

/// Rows are stored in double precision if the whole matrix fits, otherwise in single precision.
#[derive(Debug, Clone)]
enum Rows {
    Single(Descent<f32>),
    Double(Descent<f64>),
}

macro_rules! with {
    ($rows:expr, $descent:ident => $body:expr) => {
        match $rows {
            Rows::Single($descent) => $body,
            Rows::Double($descent) => $body,
        }
    };
}

impl Default for Smo {
    fn default() -> Self {
        Self {
            tolerance: 1e-6,
            cache_bytes: 256 << 20,
            shrinking: true,
            newton: true,
            run: Run::default(),
            rows: None,
        }
    }
}

/// The outcome of [`Smo::minimise`].
#[derive(Debug, Clone, PartialEq)]
pub struct DualSolution {
    /// `β`, objective and gap relative to the larger of the primal and the dual objective.
    pub solution: Solution,
    /// The certificate, computed from the definition, or from the stored errors if the run was stopped from
    /// outside.
    pub certificate: SvmCertificate,
    /// Steps of two variables.
    pub n_steps: u64,
    /// Rows of the kernel computed, those of the certificate left out.
    pub n_rows: u64,
}

impl Smo {
    /// The relative duality gap at which the solver stops of itself, at least 0. Default 1e-6.
    /// [`minimise`](Self::minimise) takes it from its `control`.
    #[must_use]
    pub fn tolerance(mut self, tolerance: f64) -> Self {
        self.tolerance = tolerance;
        self
    }

    /// Memory for stored rows, in bytes; at least two rows are stored. Default 256 MiB.
    #[must_use]
    pub fn cache_bytes(mut self, bytes: usize) -> Self {
        self.cache_bytes = bytes;
        self
    }

    /// Whether variables are set aside. Default true. The answer is the same up to the tolerance.
    #[must_use]
    pub fn shrinking(mut self, shrinking: bool) -> Self {
        self.shrinking = shrinking;
        self
    }

    /// Whether Newton steps on the free variables may end an iteration. Default true. They take no more time
    /// than the other steps did, and save most of them where the kernel is nearly singular.
    #[must_use]
    pub fn newton(mut self, newton: bool) -> Self {
        self.newton = newton;
        self
    }

    /// Minimises from `start` (empty for zeros), projected on the constraints.
    ///
    /// # Errors
    /// As [`DualProblem::feasible_start`]; [`Error::InvalidParameter`] for a tolerance out of range and for
    /// kernel values that are not finite, not symmetric or not those of the diagonal, as far as they are
    /// used; [`Error::Numerical`] for a problem without a minimum.
    pub fn minimise(
        &self,
        problem: &DualProblem<'_>,
        start: &[f64],
        control: &Control<'_>,
    ) -> Result<DualSolution, Error> {
        let mut solver = self.clone().tolerance(control.tolerance);
        let start = problem.feasible_start(start)?;
        let mut solution = fewest_solver::run(problem, &mut solver, start, control)?;
        let stopped = matches!(solution.status, Status::TimeLimit | Status::Interrupted);
        let certificate = match solver.run.certified {
            Some(certificate) => certificate,
            None if stopped => {
                solver.take_back(problem)?;
                solver.assess(problem)
            }
            None => certificate::certify(problem, &solution.coefficients)?,
        };
        solution.objective = certificate.objective;
        solution.certificate =
            if solver.run.indefinite { Certificate::None } else { certificate.certificate() };
        let n_rows = solver.rows.as_ref().map_or(0, |rows| with!(rows, descent => descent.cache.n_computed));
        Ok(DualSolution { solution, certificate, n_steps: solver.run.n_steps, n_rows })
    }

    fn rows<'a>(&'a mut self, problem: &DualProblem<'_>) -> (&'a mut Rows, &'a mut Run) {
        let n = problem.n_variables();
        let (bytes, point) = (self.cache_bytes, &self.run.point);
        let fits = n.saturating_mul(n).saturating_mul(size_of::<f64>()) <= bytes;
        let rows = self.rows.get_or_insert_with(|| {
            if fits {
                Rows::Double(Descent::new(problem, point, bytes))
            } else {
                Rows::Single(Descent::new(problem, point, bytes))
            }
        });
        (rows, &mut self.run)
    }

    fn take_back(&mut self, problem: &DualProblem<'_>) -> Result<(), Error> {
        let (rows, run) = self.rows(problem);
        with!(rows, descent => descent.unshrink(problem, &mut run.point))
    }

    /// The certificate by the stored errors, which must be those of all variables.
    fn assess(&self, problem: &DualProblem<'_>) -> SvmCertificate {
        let point = &self.run.point;
        certificate::assess(problem, &point.natural(&point.coefficients), &point.natural(&point.errors))
    }

    /// Replaces the errors updated step by step by errors computed from the definition, and returns the
    /// certificate.
    fn recompute(&mut self, problem: &DualProblem<'_>) -> Result<SvmCertificate, Error> {
        let natural = self.run.point.natural(&self.run.point.coefficients);
        let errors = certificate::errors(problem, &natural)?;
        let certificate = certificate::assess(problem, &natural, &errors);
        let (rows, run) = self.rows(problem);
        let point = &mut run.point;
        for (error, &i) in point.errors.iter_mut().zip(&point.order) {
            *error = errors[i];
        }
        point.objective = certificate.objective;
        run.certified = Some(certificate);
        with!(rows, descent => descent.refresh(problem, point));
        Ok(certificate)
    }

    /// Computes the gap with all variables; returns the certificate if it was computed from the definition.
    fn look(&mut self, problem: &DualProblem<'_>, idle: bool) -> Result<Option<f64>, Error> {
        let mut certificate = self.assess(problem);
        let mut exact = false;
        if idle || self.run.without_progress >= PATIENCE / 2 || certificate.relative_gap() <= self.tolerance {
            certificate = self.recompute(problem)?;
            exact = true;
        }
        let run = &mut self.run;
        run.indefinite |= certificate.indefinite;
        let gap = certificate.relative_gap();
        run.without_progress = if gap < 0.9 * run.best_gap { 0 } else { run.without_progress + 1 };
        run.best_gap = run.best_gap.min(gap);
        // The gap falls about as fast as the violation.
        if !idle {
            let factor = (0.5 * self.tolerance / gap).clamp(0.02, 0.5);
            run.target = certificate.violation.min(run.target).max(0.0) * factor;
        }
        run.idle = Idle::restarted(certificate.violation);
        Ok(exact.then_some(gap))
    }
}

impl Solver<&DualProblem<'_>, SolverState> for Smo {
    fn name(&self) -> &str {
        "smo"
    }

    fn init(&mut self, problem: &mut Problem<&DualProblem<'_>>, mut state: SolverState) -> Step {
        let problem = given(problem)?;
        let coefficients = problem.feasible_start(&state.coefficients)?;
        let errors = certificate::errors(problem, &coefficients)?;
        let certificate = certificate::assess(problem, &coefficients, &errors);
        let point = Point::new(coefficients.clone(), errors, certificate.objective);
        // A given start is probably near the solution, so Newton steps may come first.
        let known = state.coefficients.iter().any(|value| *value != 0.0);
        let step_work = if known { WORK_OF_STEP * (STEPS * problem.n_variables()) as f64 } else { 0.0 };
        self.rows = None;
        self.run = Run {
            point,
            target: FIRST_CHECK * certificate.violation.max(0.0),
            best_gap: f64::MAX,
            idle: Idle::restarted(certificate.violation),
            step_work,
            newton_wait: 1.0,
            certified: Some(certificate),
            ..Run::default()
        };
        state.objective = certificate.objective;
        state.certificate = certificate.certificate();
        state.coefficients = coefficients;
        Ok((state, None))
    }

    fn next_iter(&mut self, problem: &mut Problem<&DualProblem<'_>>, mut state: SolverState) -> Step {
        let problem = given(problem)?;
        let n = problem.n_variables();
        let (shrinking, newton) = (self.shrinking, self.newton);
        let period = STEPS.min(n.max(10));
        // Large problems check more often whether to stop.
        let mut most_steps = (20_000_000 / n).clamp(32, STEPS);
        let (rows, run) = self.rows(problem);
        let (mut finished, mut idle) = (false, false);
        with!(rows, descent => {
            if newton && run.step_work > 0.0 {
                let budget = (run.step_work / run.newton_wait).min(MOST_WORK);
                let polished = descent.polish(problem, &mut run.point, budget)?;
                if polished.work > 0.0 {
                    // Newton steps wait less if they gained more per work than the other steps.
                    let is_better = polished.gain * run.step_work > run.step_gain * polished.work;
                    run.newton_wait = match (polished.whole, is_better) {
                        (true, _) => 1.0,
                        (false, true) => (0.25 * run.newton_wait).max(LEAST_WAIT),
                        (false, false) => (2.0 * run.newton_wait).min(MOST_WAIT),
                    };
                    let left = run.step_work - polished.work;
                    (run.step_work, run.step_gain) = (0.0, 0.0);
                    if polished.whole && !run.point.is_whole() {
                        // Continue with the variables set aside, within the remaining work.
                        descent.unshrink(problem, &mut run.point)?;
                        run.step_work = left.max(0.0);
                        most_steps = 0;
                    }
                }
                if polished.gain > 0.0 {
                    run.certified = None;
                }
            }
            for _ in 0..most_steps {
                if run.since_shrinking >= period {
                    run.since_shrinking = 0;
                    if shrinking {
                        descent.shrink(&mut run.point);
                    }
                }
                let gain = if descent.violation() > run.target {
                    descent.step(problem, &mut run.point)?
                } else {
                    None
                };
                match gain {
                    Some(gain) => {
                        run.n_steps += 1;
                        run.certified = None;
                        run.since_shrinking += 1;
                        run.step_work += WORK_OF_STEP * run.point.n_active as f64;
                        run.step_gain += gain;
                        run.idle.after_step(gain, descent.violation(), run.point.objective);
                        idle = run.idle.steps > 10 * n + 5 * STEPS;
                    }
                    None if run.point.is_whole() => finished = true,
                    None => descent.unshrink(problem, &mut run.point)?,
                }
                if finished || idle {
                    descent.unshrink(problem, &mut run.point)?;
                    break;
                }
            }
            run.indefinite |= descent.indefinite;
        });
        let violation = with!(rows, descent => descent.violation());
        state.coefficients = run.point.natural(&run.point.coefficients);
        let mut observed = KV::new();
        observed.insert("steps", run.n_steps.into());
        observed.insert("active", (run.point.n_active as u64).into());
        if finished || idle {
            let exact = self.look(problem, idle)?;
            if self.run.indefinite {
                // A stationary point: without convexity there is nothing more to prove.
                state.stalled = true;
                state.certificate = Certificate::None;
            } else if let Some(gap) = exact {
                state.certificate = Certificate::gap(gap);
                state.stalled = gap > self.tolerance && self.run.without_progress >= PATIENCE;
            }
        }
        state.objective = self.run.point.objective;
        observed.insert("violation", violation.into());
        if state.certificate != Certificate::None {
            observed.insert("duality_gap", state.certificate.value().into());
        }
        Ok((state, Some(observed)))
    }

    fn terminate(&mut self, state: &SolverState) -> TerminationStatus {
        state.ended(self.tolerance)
    }
}
