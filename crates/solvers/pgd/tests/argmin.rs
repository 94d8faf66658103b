//! What argmin gives: observers, checkpoints, time limits, interruption.

#[path = "../../../solver/tests/common/mod.rs"]
mod common;

use fewest_pgd::ProximalGradient;

#[test]
fn observers_checkpoints_and_limits_hold() {
    let solver = ProximalGradient::default();
    common::argmin::holds_for(solver.clone(), solver.tolerance(0.0));
}
