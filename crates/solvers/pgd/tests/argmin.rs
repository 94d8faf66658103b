//! What argmin gives: observers, checkpoints, time limits, interruption.

#[path = "../../../solver/tests/common/mod.rs"]
mod common;

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use argmin::core::observers::ObserverMode;
use argmin::core::{Executor, State, TerminationReason};
use common::{Explicit, InMemory, Notes};
use fewest_pgd::ProximalGradient;
use fewest_solver::{Composite, Control, L1, Quadratic, QuadraticSolver, SolverState, Status};

/// A problem that takes many iterations of this solver.
fn slow() -> (Quadratic, L1, ProximalGradient) {
    let problem = Explicit::random(60, 40, 1e3, 5);
    let penalty = L1::new(0.01 * problem.lambda_max(), 40).unwrap();
    (problem.quadratic(), penalty, ProximalGradient::default())
}

#[test]
fn observers_see_a_falling_objective() {
    let (problem, penalty, solver) = slow();
    let notes = Notes::default();
    let result = Executor::new(Composite::new(&problem, &penalty).unwrap(), solver)
        .add_observer(notes.clone(), ObserverMode::Always)
        .run()
        .unwrap();
    let objectives = notes.objectives.lock().unwrap();
    assert_eq!(objectives.len() as u64, result.state.get_iter());
    assert!(objectives.len() > 3);
    assert!(objectives.windows(2).all(|pair| pair[1] <= pair[0] * (1.0 + 1e-14)));
    assert_eq!(result.state.get_termination_reason(), Some(&TerminationReason::SolverConverged));
}

#[test]
fn a_resumed_run_ends_where_an_unbroken_one_does() {
    let (problem, penalty, solver) = slow();
    let composite = Composite::new(&problem, &penalty).unwrap();
    let unbroken = Executor::new(composite, solver.clone()).run().unwrap().state;

    let checkpoint = InMemory::default();
    let notes = Notes { break_at: Some(3), ..Notes::default() };
    let broken = Executor::new(composite, solver.clone())
        .checkpointing(checkpoint.clone())
        .add_observer(notes, ObserverMode::Always)
        .run();
    assert!(broken.is_err());
    assert!(checkpoint.0.lock().unwrap().is_some());

    let notes = Notes::default();
    let resumed = Executor::new(composite, solver)
        .checkpointing(checkpoint)
        .add_observer(notes.clone(), ObserverMode::Always)
        .run()
        .unwrap()
        .state;
    assert_eq!(resumed.coefficients, unbroken.coefficients);
    assert_eq!(resumed.get_iter(), unbroken.get_iter());
    assert_eq!(notes.objectives.lock().unwrap().len() as u64, unbroken.get_iter() - 3);
}

#[test]
fn the_executor_keeps_its_time_limit() {
    let (problem, penalty, solver) = slow();
    let result = Executor::new(Composite::new(&problem, &penalty).unwrap(), solver.tolerance(0.0))
        .configure(|state: SolverState| state.max_iterations(1_000_000))
        .timeout(Duration::ZERO)
        .run()
        .unwrap();
    assert_eq!(result.state.get_termination_reason(), Some(&TerminationReason::Timeout));
    assert_eq!(result.state.get_iter(), 1);
}

#[test]
fn control_stops_a_run() {
    let (problem, penalty, solver) = slow();
    let run = |control: &Control<'_>| solver.minimise(&problem, &penalty, &[], control).unwrap();

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
    assert!(few.objective < stopped.objective && few.duality_gap > 1e-9);
}
