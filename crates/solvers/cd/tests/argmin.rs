//! What argmin gives: observers, checkpoints, time limits, interruption.

#[path = "../../../solver/tests/common/mod.rs"]
mod common;

use common::Explicit;
use common::argmin as laws;
use fewest_cd::CoordinateDescent;
use fewest_solver::{Composite, L1, Quadratic, QuadraticSolver};

/// A problem that takes many iterations of a solver without Newton steps.
fn slow() -> (Quadratic, L1, CoordinateDescent) {
    let problem = Explicit::random(60, 40, 1e3, 5);
    let penalty = L1::new(0.01 * problem.lambda_max(), 40).unwrap();
    (problem.quadratic(), penalty, CoordinateDescent::default().newton(false))
}

#[test]
fn observers_see_a_falling_objective() {
    let (problem, penalty, solver) = slow();
    laws::observers_see_a_falling_objective(Composite::new(&problem, &penalty).unwrap(), solver, 3, 1e-14);
}

#[test]
fn a_resumed_run_ends_where_an_unbroken_one_does() {
    let (problem, penalty, solver) = slow();
    let composite = Composite::new(&problem, &penalty).unwrap();
    laws::a_resumed_run_ends_where_an_unbroken_one_does(composite, &solver, |_| vec![3]);
}

#[test]
fn the_executor_keeps_its_time_limit() {
    let (problem, penalty, solver) = slow();
    let composite = Composite::new(&problem, &penalty).unwrap();
    laws::the_executor_keeps_its_time_limit(composite, solver.tolerance(0.0));
}

#[test]
fn control_stops_a_run() {
    let (problem, penalty, solver) = slow();
    laws::control_stops_a_run(|control| solver.minimise(&problem, &penalty, &[], control).unwrap());
}
