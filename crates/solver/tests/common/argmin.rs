//! What argmin gives every solver: observers, checkpoints, time limits, interruption.

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use argmin::core::observers::ObserverMode;
use argmin::core::{Executor, Solver, State, TerminationReason};
use fewest_solver::{Composite, Control, L1, Quadratic, QuadraticSolver, Solution, SolverState, Status};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Explicit, InMemory, Notes};

/// Observers see more than `fewest` iterations, and an objective that falls but for `rounding`.
pub(crate) fn observers_see_a_falling_objective<P>(
    problem: P,
    solver: impl Solver<P, SolverState>,
    fewest: usize,
    rounding: f64,
) {
    let notes = Notes::default();
    let result =
        Executor::new(problem, solver).add_observer(notes.clone(), ObserverMode::Always).run().unwrap();
    let objectives = notes.objectives.lock().unwrap();
    assert_eq!(objectives.len() as u64, result.state.get_iter());
    assert!(objectives.len() > fewest);
    assert!(objectives.windows(2).all(|pair| pair[1] <= pair[0] + rounding * pair[0].abs()));
    assert_eq!(result.state.get_termination_reason(), Some(&TerminationReason::SolverConverged));
}

/// A run broken off after `break_at` iterations and resumed ends where an unbroken one does. The breaks are
/// made of the iterations of the latter.
pub(crate) fn a_resumed_run_ends_where_an_unbroken_one_does<P: Copy, S>(
    problem: P,
    solver: &S,
    breaks: impl Fn(u64) -> Vec<u64>,
) where
    S: Solver<P, SolverState> + Serialize + DeserializeOwned + Clone,
{
    let unbroken = Executor::new(problem, solver.clone()).run().unwrap().state;
    for break_at in breaks(unbroken.get_iter()) {
        let checkpoint = InMemory::default();
        let notes = Notes { break_at: Some(break_at), ..Notes::default() };
        let broken = Executor::new(problem, solver.clone())
            .checkpointing(checkpoint.clone())
            .add_observer(notes, ObserverMode::Always)
            .run();
        assert!(broken.is_err());
        assert!(checkpoint.0.lock().unwrap().is_some());

        let notes = Notes::default();
        let resumed = Executor::new(problem, solver.clone())
            .checkpointing(checkpoint)
            .add_observer(notes.clone(), ObserverMode::Always)
            .run()
            .unwrap()
            .state;
        assert_eq!(resumed.coefficients, unbroken.coefficients);
        assert_eq!(resumed.get_iter(), unbroken.get_iter());
        assert_eq!(notes.objectives.lock().unwrap().len() as u64, unbroken.get_iter() - break_at);
    }
}

/// `solver` should never end of itself.
pub(crate) fn the_executor_keeps_its_time_limit<P>(problem: P, solver: impl Solver<P, SolverState>) {
    let result = Executor::new(problem, solver)
        .configure(|state: SolverState| state.max_iterations(1_000_000))
        .timeout(Duration::ZERO)
        .run()
        .unwrap();
    assert_eq!(result.state.get_termination_reason(), Some(&TerminationReason::Timeout));
    assert_eq!(result.state.get_iter(), 1);
}

/// Every limit of a [`Control`] stops `run`, which takes more than three iterations.
pub(crate) fn control_stops_a_run(run: impl Fn(&Control<'_>) -> Solution) {
    let late = run(&Control { deadline: Some(Instant::now()), ..Control::default() });
    assert_eq!((late.status, late.iterations), (Status::TimeLimit, 0));

    let flag = AtomicBool::new(true);
    let interrupted = run(&Control { interrupt: Some(&flag), ..Control::default() });
    assert_eq!((interrupted.status, interrupted.iterations), (Status::Interrupted, 0));

    let stop = |state: &SolverState| state.get_iter() == 2;
    let stopped = run(&Control { stop: Some(&stop), ..Control::default() });
    assert_eq!((stopped.status, stopped.iterations), (Status::Interrupted, 2));
    assert!(stopped.objective < late.objective);

    let few = run(&Control { max_iterations: 3, ..Control::default() });
    assert_eq!((few.status, few.iterations), (Status::MaxIterations, 3));
    assert!(few.objective < stopped.objective && few.certificate.value() > 1e-9);
}

/// All of the above for a solver of quadratics that takes more than three iterations of a badly conditioned
/// one; `endless` should never end of itself.
pub(crate) fn holds_for<S>(solver: S, endless: S)
where
    S: for<'a> Solver<Composite<'a, Quadratic>, SolverState>,
    S: QuadraticSolver + Serialize + DeserializeOwned + Clone,
{
    let problem = Explicit::random(60, 40, 1e3, 5);
    let penalty = L1::new(0.01 * problem.lambda_max(), 40).unwrap();
    let problem = problem.quadratic();
    let composite = Composite::new(&problem, &penalty).unwrap();
    observers_see_a_falling_objective(composite, solver.clone(), 3, 1e-14);
    a_resumed_run_ends_where_an_unbroken_one_does(composite, &solver, |_| vec![3]);
    the_executor_keeps_its_time_limit(composite, endless);
    control_stops_a_run(|control| solver.minimise(&problem, &penalty, &[], control).unwrap());
}
