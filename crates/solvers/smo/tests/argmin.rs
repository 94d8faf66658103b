//! What argmin gives: observers, checkpoints, time limits, interruption.

use crate::common::{Gaussian, Samples};
use crate::shared::argmin as laws;
use argmin::core::State;
use fewest_smo::{DualProblem, Regressor, Smo};
use fewest_solver::{Control, SolverState, Status};

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
    for (newton, fewest) in [(false, 3), (true, 1)] {
        laws::observers_see_a_falling_objective(&problem, Smo::default().newton(newton), fewest, 1e-10);
    }
}

#[test]
fn a_resumed_run_ends_where_an_unbroken_one_does() {
    let kernel = kernel();
    let problem = problem(&kernel);
    // Single precision, and few rows kept: what is not in a checkpoint must not matter.
    let solver = Smo::default().cache_bytes(100_000);
    let breaks = |n_iterations: u64| vec![1, 2, 10, n_iterations - 2, n_iterations - 1];
    laws::a_resumed_run_ends_where_an_unbroken_one_does(&problem, &solver, breaks);
}

#[test]
fn the_executor_keeps_its_time_limit() {
    let kernel = kernel();
    let problem = problem(&kernel);
    laws::the_executor_keeps_its_time_limit(&problem, Smo::default().tolerance(0.0));
}

#[test]
fn control_stops_a_run() {
    let kernel = kernel();
    let problem = problem(&kernel);
    let solver = Smo::default().newton(false);
    let run = |control: &Control<'_>| solver.minimise(&problem, &[], control).unwrap();
    laws::control_stops_a_run(|control| run(control).solution);
    // Stored errors say the same as the definition.
    let stop = |state: &SolverState| state.get_iter() == 2;
    let stopped = run(&Control { stop: Some(&stop), ..Control::default() });
    let certificate = fewest_smo::certificate::certify(&problem, &stopped.solution.coefficients).unwrap();
    let difference = (certificate.duality_gap - stopped.certificate.duality_gap).abs();
    assert!(difference <= 1e-9 * certificate.duality_gap);
}

#[test]
fn a_tolerance_beyond_rounding_ends_as_almost_converged_or_stalled() {
    let kernel = kernel();
    let control = Control { tolerance: 1e-18, ..Control::default() };
    for bytes in [1 << 28, 100_000] {
        let found = Smo::default().cache_bytes(bytes).minimise(&problem(&kernel), &[], &control).unwrap();
        assert!(matches!(found.solution.status, Status::AlmostConverged | Status::Stalled));
        assert!(found.solution.certificate.value() < 1e-11, "{}", found.solution.certificate.value());
    }
}
