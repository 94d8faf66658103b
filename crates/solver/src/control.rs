//! When a solver stops, and how it runs on argmin.

use std::collections::HashMap;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use argmin::core::{Executor, KV, Problem, Solver, State, TerminationReason, TerminationStatus};
use serde::{Deserialize, Serialize};

use fewest_core::{Context, Progress};

use crate::{Certificate, Error, Solution, Status};

/// When a solver stops, and the receiver of its progress.
///
/// A method makes one of its [`Context`], with the deadline, the interruption and the progress of that:
///
/// ```
/// use fewest_core::Context;
/// use fewest_solver::Control;
///
/// let context = Context::default();
/// let control = Control { tolerance: 1e-6, ..Control::from(&context) };
/// assert!(control.stopped().is_none());
/// ```
#[derive(Clone, Copy)]
pub struct Control<'a> {
    /// Certificate to reach: a duality gap relative to the objective at zero or, where a problem has none,
    /// the solver's measure of stationarity. Default 1e-9; range above 0.
    pub tolerance: f64,
    /// Largest number of iterations, as the solver counts them. Default 10 000.
    pub max_iterations: u64,
    /// When to stop with [`Status::TimeLimit`]. Default never.
    pub deadline: Option<Instant>,
    /// Set to true from elsewhere to stop with [`Status::Interrupted`].
    pub interrupt: Option<&'a AtomicBool>,
    /// The receiver of progress reports. Default: none.
    pub progress: Option<&'a dyn Progress>,
    /// A stopping test of the caller, called after every iteration; true stops with
    /// [`Status::Interrupted`].
    pub stop: Option<&'a (dyn Fn(&SolverState) -> bool + Sync)>,
}

impl Default for Control<'_> {
    fn default() -> Self {
        Self::from(&Context::default())
    }
}

/// The defaults, with the deadline, the interruption and the progress of a run.
impl<'a> From<&Context<'a>> for Control<'a> {
    fn from(context: &Context<'a>) -> Self {
        let Context { progress, deadline, interrupt, .. } = *context;
        Self { tolerance: 1e-9, max_iterations: 10_000, deadline, interrupt, progress, stop: None }
    }
}

impl Control<'_> {
    /// Checks the ranges.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] naming the field.
    pub fn check(&self) -> Result<(), Error> {
        if !(self.tolerance.is_finite() && self.tolerance > 0.0) {
            return Err(Error::parameter("tolerance", self.tolerance, "above 0"));
        }
        Ok(())
    }

    /// The same limits and progress as a context, of seed 0.
    fn context(&self) -> Context<'_> {
        Context {
            progress: self.progress,
            deadline: self.deadline,
            interrupt: self.interrupt,
            ..Context::default()
        }
    }

    /// Ends what was stopped: for computations that have nothing to show before they are done.
    ///
    /// # Errors
    /// [`Error::Stopped`] with `before` once the caller asked to stop or the deadline has passed.
    pub fn go_on(&self, before: &'static str) -> Result<(), Error> {
        self.context().go_on(before)
    }

    /// [`Status::Interrupted`] once the caller asked to stop, [`Status::TimeLimit`] once the deadline has
    /// passed: every solver checks this between two steps.
    pub fn stopped(&self) -> Option<Status> {
        self.context().stopped()
    }

    /// Reports the progress of the solver, if there is a receiver.
    pub fn report(&self, stage: &str, done: usize, total: usize) {
        self.context().report(stage, done, total);
    }

    fn stop_reason(&self, state: &SolverState) -> Option<TerminationReason> {
        let outside = self.stopped();
        if outside == Some(Status::Interrupted) || self.stop.is_some_and(|stop| stop(state)) {
            return Some(TerminationReason::Interrupt);
        }
        outside.map(|_| TerminationReason::Timeout)
    }
}

/// The argmin state of every solver here.
///
/// argmin's own `IterState` clones the parameter vector at every improvement; this one holds a single
/// vector, since the solvers here never rise by more than rounding. Observers read its fields.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SolverState {
    /// The current coefficients.
    pub coefficients: Vec<f64>,
    /// `f(w) + Ω(w)` at them.
    pub objective: f64,
    /// Their certificate: none until first computed.
    #[serde(with = "stored")]
    pub certificate: Certificate,
    /// Set by a solver that can make no further progress.
    pub stalled: bool,
    iteration: u64,
    max_iterations: u64,
    best_objective: f64,
    best_iteration: u64,
    counts: HashMap<String, u64>,
    time: Option<Duration>,
    termination: TerminationStatus,
}

impl SolverState {
    /// Starts from `coefficients`.
    #[must_use]
    pub fn starting_at(mut self, coefficients: Vec<f64>) -> Self {
        self.coefficients = coefficients;
        self
    }

    /// Allows at most this many iterations.
    #[must_use]
    pub fn max_iterations(mut self, max_iterations: u64) -> Self {
        self.max_iterations = max_iterations;
        self
    }

    /// Whether a run ends here: at a certificate of `tolerance`, or if the solver can make no further
    /// progress.
    pub fn ended(&self, tolerance: f64) -> TerminationStatus {
        if self.certificate.value() <= tolerance {
            TerminationStatus::Terminated(TerminationReason::SolverConverged)
        } else if self.stalled {
            TerminationStatus::Terminated(TerminationReason::SolverExit("no further progress".to_owned()))
        } else {
            TerminationStatus::NotTerminated
        }
    }

    /// The outcome so far: `tolerance` decides between [`Status::AlmostConverged`] and worse.
    fn into_solution(self, tolerance: f64) -> Solution {
        let value = self.certificate.value();
        let status = match &self.termination {
            _ if value <= tolerance => Status::Converged,
            TerminationStatus::Terminated(TerminationReason::Interrupt) => Status::Interrupted,
            TerminationStatus::Terminated(TerminationReason::Timeout) => Status::TimeLimit,
            _ if self.stalled => Status::by_certificate(value, tolerance),
            _ => Status::MaxIterations,
        };
        Solution {
            coefficients: self.coefficients,
            objective: self.objective,
            certificate: self.certificate,
            iterations: self.iteration,
            status,
        }
    }
}

impl State for SolverState {
    type Param = Vec<f64>;
    type Float = f64;

    fn new() -> Self {
        Self {
            coefficients: Vec::new(),
            objective: f64::MAX,
            certificate: Certificate::None,
            stalled: false,
            iteration: 0,
            max_iterations: u64::MAX,
            best_objective: f64::MAX,
            best_iteration: 0,
            counts: HashMap::new(),
            time: None,
            termination: TerminationStatus::NotTerminated,
        }
    }

    fn update(&mut self) {
        if self.objective < self.best_objective {
            self.best_objective = self.objective;
            self.best_iteration = self.iteration;
        }
    }

    fn get_param(&self) -> Option<&Vec<f64>> {
        Some(&self.coefficients)
    }

    fn get_best_param(&self) -> Option<&Vec<f64>> {
        Some(&self.coefficients)
    }

    fn get_max_iters(&self) -> u64 {
        self.max_iterations
    }

    fn increment_iter(&mut self) {
        self.iteration += 1;
    }

    fn get_iter(&self) -> u64 {
        self.iteration
    }

    fn get_cost(&self) -> f64 {
        self.objective
    }

    fn get_best_cost(&self) -> f64 {
        self.best_objective
    }

    fn get_target_cost(&self) -> f64 {
        f64::NEG_INFINITY
    }

    fn func_counts<O>(&mut self, problem: &Problem<O>) {
        for (&name, &count) in &problem.counts {
            self.counts.insert(name.to_owned(), count);
        }
    }

    fn get_func_counts(&self) -> &HashMap<String, u64> {
        &self.counts
    }

    fn time(&mut self, time: Option<Duration>) -> &mut Self {
        self.time = time;
        self
    }

    fn get_time(&self) -> Option<Duration> {
        self.time
    }

    fn get_last_best_iter(&self) -> u64 {
        self.best_iteration
    }

    fn is_best(&self) -> bool {
        self.best_iteration == self.iteration
    }

    fn terminate_with(mut self, reason: TerminationReason) -> Self {
        self.termination = TerminationStatus::Terminated(reason);
        self
    }

    fn get_termination_status(&self) -> &TerminationStatus {
        &self.termination
    }

    fn get_termination_reason(&self) -> Option<&TerminationReason> {
        match &self.termination {
            TerminationStatus::Terminated(reason) => Some(reason),
            TerminationStatus::NotTerminated => None,
        }
    }
}

/// A certificate in a checkpoint: its name and its value, where JSON can write it.
mod stored {
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

    use crate::Certificate;

    pub(super) fn serialize<S: Serializer>(
        certificate: &Certificate,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let value = Some(certificate.value()).filter(|value| value.is_finite());
        (certificate.name(), value).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Certificate, D::Error> {
        let (name, value) = <(String, Option<f64>)>::deserialize(deserializer)?;
        let relative = value.unwrap_or(f64::INFINITY);
        [Certificate::gap(relative), Certificate::stationarity(relative), Certificate::None]
            .into_iter()
            .find(|certificate| certificate.name() == name)
            .ok_or_else(|| de::Error::custom(format!("there is no certificate `{name}`")))
    }
}

/// A solver with the caller's [`Control`] added to its own stopping rule.
struct Controlled<'a, S> {
    solver: &'a mut S,
    control: &'a Control<'a>,
}

impl<O, S: Solver<O, SolverState>> Solver<O, SolverState> for Controlled<'_, S> {
    fn name(&self) -> &str {
        self.solver.name()
    }

    fn init(&mut self, problem: &mut Problem<O>, state: SolverState) -> Step {
        self.solver.init(problem, state)
    }

    fn next_iter(&mut self, problem: &mut Problem<O>, state: SolverState) -> Step {
        self.solver.next_iter(problem, state)
    }

    fn terminate(&mut self, state: &SolverState) -> TerminationStatus {
        let own = self.solver.terminate(state);
        let ended = if own.terminated() { own } else { state.ended(self.control.tolerance) };
        if ended.terminated() {
            return ended;
        }
        match self.control.stop_reason(state) {
            Some(reason) => TerminationStatus::Terminated(reason),
            None => TerminationStatus::NotTerminated,
        }
    }
}

/// The values that a solver passes to argmin at its start and after every iteration.
pub type Step = Result<(SolverState, Option<KV>), argmin::core::Error>;

/// The problem that argmin keeps as `Option`: always present while a solver runs.
///
/// # Errors
/// [`Error::Numerical`] for none.
pub fn given<P: Copy>(problem: &Problem<P>) -> Result<P, argmin::core::Error> {
    problem.problem.ok_or_else(|| {
        Error::Numerical { what: "the solver", hint: "it was given no problem".to_owned() }.into()
    })
}

/// Runs an argmin solver from `start` until `control` stops it; the solver keeps its own state.
///
/// For observers, checkpoints and resuming, give the solver to argmin's
/// [`Executor`] instead, with `SolverState::new().starting_at(start)` as its state.
///
/// # Errors
/// [`Error::InvalidParameter`] from `control`; what the solver returns, and [`Error::Numerical`] when it
/// fails otherwise.
pub fn run<O, S: Solver<O, SolverState>>(
    problem: O,
    solver: &mut S,
    start: Vec<f64>,
    control: &Control<'_>,
) -> Result<Solution, Error> {
    control.check()?;
    let state = |state: SolverState| state.starting_at(start).max_iterations(control.max_iterations);
    let result = Executor::new(problem, Controlled { solver, control })
        .configure(state)
        .timer(false)
        .ctrlc(false)
        .run()
        .map_err(|error| match error.downcast::<Error>() {
            Ok(own) => own,
            Err(other) => Error::Numerical { what: "the solver", hint: other.to_string() },
        })?;
    Ok(result.state.into_solution(control.tolerance))
}

#[cfg(test)]
mod tests {
    use argmin::core::State;

    use super::SolverState;
    use crate::Certificate;

    /// Every kind of certificate, also an infinite gap, for which JSON has no number.
    #[test]
    fn a_checkpoint_keeps_the_certificate() {
        let infinite = Certificate::gap(f64::INFINITY);
        for certificate in
            [Certificate::None, Certificate::stationarity(0.1), Certificate::gap(1e-9), infinite]
        {
            let state = SolverState { certificate, ..SolverState::new() };
            let text = serde_json::to_string(&state).unwrap();
            let read: SolverState = serde_json::from_str(&text).unwrap();
            assert_eq!(read.certificate, certificate, "{text}");
        }
        let text = serde_json::to_string(&SolverState::new()).unwrap().replace("\"none\"", "\"luck\"");
        let error = serde_json::from_str::<SolverState>(&text).unwrap_err();
        assert!(error.to_string().contains("luck"), "{error}");
    }
}
