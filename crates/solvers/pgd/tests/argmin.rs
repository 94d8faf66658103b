//! What argmin gives: observers, checkpoints, time limits, interruption.

use crate::common;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use fewest_pgd::ProximalGradient;
use fewest_solver::{Composite, Control, Datafit, Error, L1, Status, run};

#[test]
fn observers_checkpoints_and_limits_hold() {
    let solver = ProximalGradient::default();
    common::argmin::holds_for(solver.clone(), solver.tolerance(0.0));
}

/// A slowly bending bowl that raises a flag when it is looked at for the ninth time.
struct Watched<'a> {
    looks: AtomicUsize,
    raised: &'a AtomicBool,
}

impl Watched<'_> {
    fn look(&self) {
        if self.looks.fetch_add(1, Ordering::Relaxed) == 8 {
            self.raised.store(true, Ordering::Relaxed);
        }
    }
}

impl Datafit for Watched<'_> {
    fn n_coefficients(&self) -> usize {
        2
    }

    fn value(&self, w: &[f64]) -> f64 {
        self.look();
        (w[0] - 1.0).powi(2) + 1e-3 * (w[1] - 1.0).powi(2)
    }

    fn gradient(&self, w: &[f64], out: &mut [f64]) -> f64 {
        self.look();
        out[0] = 2.0 * (w[0] - 1.0);
        out[1] = 2e-3 * (w[1] - 1.0);
        (w[0] - 1.0).powi(2) + 1e-3 * (w[1] - 1.0).powi(2)
    }
}

/// An iteration is ten steps: a stop is heard between two of them.
#[test]
fn a_stop_is_heard_within_an_iteration() -> Result<(), Error> {
    for accelerated in [true, false] {
        let raised = AtomicBool::new(false);
        let watched = Watched { looks: AtomicUsize::new(0), raised: &raised };
        let penalty = L1::new(0.0, 2)?;
        let control = Control { interrupt: Some(&raised), ..Control::default() };
        let problem = Composite::new(&watched, &penalty)?.within(&control);
        let mut solver = ProximalGradient::default().accelerated(accelerated).tolerance(0.0);
        let solution = run(problem, &mut solver, Vec::new(), &control)?;
        assert_eq!(solution.status, Status::Interrupted);
        let looks = watched.looks.into_inner();
        assert!((9..13).contains(&looks), "{accelerated}: {looks}");
    }
    Ok(())
}
