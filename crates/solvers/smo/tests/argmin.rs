//! What argmin gives: observers, checkpoints, time limits, interruption.

#[path = "common/mod.rs"]
mod common;
#[path = "../../../solver/tests/common/mod.rs"]
mod shared;

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use argmin::core::observers::ObserverMode;
use argmin::core::{Executor, State, TerminationReason};
use common::{Gaussian, Samples};
use fewest_smo::{DualProblem, Regressor, Smo};
use fewest_solver::{Control, SolverState, Status};
use shared::{InMemory, Notes};

fn kernel() -> Gaussian {
    Samples::random(400, 3, 11).gaussian(2.0)
}

/// A problem that takes some thirty iterations by steps of two variables.
fn problem(kernel: &Gaussian) -> DualProblem<'_> {
    let columns = &kernel.samples.columns;
    let targets: Vec<f64> =
        (0..400).map(|i| (5.0 * columns[0][i]).sin() + columns[1][i] * columns[2][i]).collect();
    Regressor { cost: 10.0, epsilon: 0.05, ..Regressor::default() }.problem(kernel, &targets, &[]).unwrap()
}

#[test]
fn observers_see_a_falling_objective() {
    let kernel = kernel();
    let problem = problem(&kernel);
    for newton in [false, true] {
        let notes = Notes::default();
        let result = Executor::new(&problem, Smo::default().newton(newton))
            .add_observer(notes.clone(), ObserverMode::Always)
            .run()
            .unwrap();
        let objectives = notes.objectives.lock().unwrap();
        assert_eq!(objectives.len() as u64, result.state.get_iter());
        assert!(objectives.len() > if newton { 1 } else { 3 });
        assert!(objectives.windows(2).all(|pair| pair[1] <= pair[0] + 1e-10 * pair[0].abs()));
        assert_eq!(result.state.get_termination_reason(), Some(&TerminationReason::SolverConverged));
    }
}

#[test]
fn a_resumed_run_ends_where_an_unbroken_one_does() {
    let kernel = kernel();
    let problem = problem(&kernel);
    // Single precision, and few rows kept: what is not in a checkpoint must not matter.
    let solver = Smo::default().cache_bytes(100_000);
    let unbroken = Executor::new(&problem, solver.clone()).run().unwrap().state;
    let last = unbroken.get_iter() - 1;
    for break_at in [1, 2, 10, last - 1, last] {
        let checkpoint = InMemory::default();
        let notes = Notes { break_at: Some(break_at), ..Notes::default() };
        let broken = Executor::new(&problem, solver.clone())
            .checkpointing(checkpoint.clone())
            .add_observer(notes, ObserverMode::Always)
            .run();
        assert!(broken.is_err());
        assert!(checkpoint.0.lock().unwrap().is_some());

        let notes = Notes::default();
        let resumed = Executor::new(&problem, solver.clone())
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

#[test]
fn the_executor_keeps_its_time_limit() {
    let kernel = kernel();
    let problem = problem(&kernel);
    let result = Executor::new(&problem, Smo::default().tolerance(0.0))
        .configure(|state: SolverState| state.max_iterations(1_000_000))
        .timeout(Duration::ZERO)
        .run()
        .unwrap();
    assert_eq!(result.state.get_termination_reason(), Some(&TerminationReason::Timeout));
    assert_eq!(result.state.get_iter(), 1);
}

#[test]
fn control_stops_a_run() {
    let kernel = kernel();
    let problem = problem(&kernel);
    let solver = Smo::default().newton(false);
    let run = |control: &Control<'_>| solver.minimise(&problem, &[], control).unwrap();

    let late = run(&Control { deadline: Some(Instant::now()), ..Control::default() });
    assert_eq!((late.solution.status, late.solution.iterations), (Status::TimeLimit, 0));

    let flag = AtomicBool::new(true);
    let interrupted = run(&Control { interrupt: Some(&flag), ..Control::default() });
    assert_eq!((interrupted.solution.status, interrupted.solution.iterations), (Status::Interrupted, 0));

    let stop = |state: &SolverState| state.get_iter() == 2;
    let stopped = run(&Control { stop: Some(&stop), ..Control::default() });
    assert_eq!((stopped.solution.status, stopped.solution.iterations), (Status::Interrupted, 2));
    assert!(stopped.solution.objective < late.solution.objective);
    // Stored errors say the same as the definition.
    let certificate = fewest_smo::certificate::certify(&problem, &stopped.solution.coefficients).unwrap();
    let difference = (certificate.duality_gap - stopped.certificate.duality_gap).abs();
    assert!(difference <= 1e-9 * certificate.duality_gap);

    let few = run(&Control { max_iterations: 3, ..Control::default() });
    assert_eq!((few.solution.status, few.solution.iterations), (Status::MaxIterations, 3));
    assert!(few.solution.objective < stopped.solution.objective && few.solution.duality_gap > 1e-9);
}

#[test]
fn a_tolerance_beyond_rounding_ends_as_almost_converged_or_stalled() {
    let kernel = kernel();
    let control = Control { tolerance: 1e-18, ..Control::default() };
    for bytes in [1 << 28, 100_000] {
        let found = Smo::default().cache_bytes(bytes).minimise(&problem(&kernel), &[], &control).unwrap();
        assert!(matches!(found.solution.status, Status::AlmostConverged | Status::Stalled));
        assert!(found.solution.duality_gap < 1e-11, "{}", found.solution.duality_gap);
    }
}
