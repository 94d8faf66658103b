//! What argmin gives: observers, checkpoints, time limits, interruption.

use crate::common;
use fewest_cd::CoordinateDescent;

#[test]
fn observers_checkpoints_and_limits_hold() {
    let solver = CoordinateDescent::default().newton(false);
    common::argmin::holds_for(solver.clone(), solver.tolerance(0.0));
}
