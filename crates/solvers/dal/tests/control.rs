//! Observers, checkpoints, limits and interruption.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use crate::common::{Case, Data, LossKind, PenaltyKind};
use argmin::core::checkpointing::{Checkpoint, CheckpointingFrequency};
use argmin::core::observers::{Observe, ObserverMode};
use argmin::core::{Executor, KV, State};
use fewest_dal::{DualAugmentedLagrangian, PenalisedLoss};
use fewest_solver::{
    Control, DenseOperator, Error, L1, Logistic, Penalty, Solution, SolverState, Status, run,
};

struct Fixture {
    datafit: Logistic<DenseOperator>,
    penalty: L1,
    n: usize,
}

impl Fixture {
    /// A problem that takes several outer iterations.
    fn new() -> Result<Self, Error> {
        let data = Data::conditioned(4, 60, 80, 1e4);
        let case = Case::new(data, LossKind::Logistic, PenaltyKind::L1, true, 1e-3);
        let operator = DenseOperator::new(case.data.matrix.clone(), 60, 80)?;
        Ok(Self {
            datafit: Logistic::new(operator, case.data.observations.clone())?,
            penalty: L1::new(case.lambda, 80)?.nonnegative(),
            n: 80,
        })
    }

    fn problem(&self) -> Result<PenalisedLoss<'_, Logistic<DenseOperator>>, Error> {
        PenalisedLoss::new(&self.datafit, &self.penalty)
    }

    fn solve(&self, control: &Control<'_>) -> Result<Solution, Error> {
        let start = vec![0.0; self.n];
        run(self.problem()?, &mut DualAugmentedLagrangian::default(), start, control)
    }
}

type Outcome = Result<(), Box<dyn std::error::Error>>;

/// Iteration, objective, gap, and what the solver logs.
type Seen = (u64, f64, f64, KV);

/// Remembers what it is shown.
struct Log(Arc<Mutex<Vec<Seen>>>);

impl Observe<SolverState> for Log {
    fn observe_iter(&mut self, state: &SolverState, kv: &KV) -> Result<(), argmin::core::Error> {
        if let Ok(mut log) = self.0.lock() {
            log.push((state.get_iter(), state.objective, state.certificate.value(), kv.clone()));
        }
        Ok(())
    }
}

#[test]
fn observers_see_every_outer_iteration() -> Outcome {
    let fixture = Fixture::new()?;
    let log = Arc::new(Mutex::new(Vec::new()));
    let result = Executor::new(fixture.problem()?, DualAugmentedLagrangian::default())
        .configure(|state: SolverState| state.starting_at(vec![0.0; fixture.n]).max_iterations(5))
        .add_observer(Log(log.clone()), ObserverMode::Always)
        .run()?;
    let log = log.lock().map_err(|error| error.to_string())?;
    assert_eq!(log.len(), 5);
    assert_eq!(result.state.get_iter(), 5);
    let mut before = f64::INFINITY;
    for (i, (iteration, objective, gap, kv)) in log.iter().enumerate() {
        assert_eq!(*iteration, i as u64);
        assert!(*objective <= before && *gap >= 0.0, "the objective never rises");
        before = *objective;
        for key in ["proximal_step", "newton_steps", "non_zeros"] {
            assert!(kv.get(key).is_some(), "{key}");
        }
    }
    Ok(())
}

/// Keeps what is saved after one iteration as text, and offers it on demand.
struct Saved {
    at: u64,
    text: Arc<Mutex<Option<String>>>,
    load: bool,
}

impl Checkpoint<DualAugmentedLagrangian, SolverState> for Saved {
    fn save(&self, solver: &DualAugmentedLagrangian, state: &SolverState) -> Result<(), argmin::core::Error> {
        if state.get_iter() == self.at {
            let text = serde_json::to_string(&(solver, state))?;
            if let Ok(mut slot) = self.text.lock() {
                *slot = Some(text);
            }
        }
        Ok(())
    }

    fn load(&self) -> Result<Option<(DualAugmentedLagrangian, SolverState)>, argmin::core::Error> {
        let text = self.text.lock().ok().and_then(|slot| slot.clone()).filter(|_| self.load);
        Ok(text.map(|text| serde_json::from_str(&text)).transpose()?)
    }

    fn frequency(&self) -> CheckpointingFrequency {
        CheckpointingFrequency::Always
    }
}

#[test]
fn a_resumed_run_gives_the_same_bits() -> Outcome {
    let fixture = Fixture::new()?;
    for at in [1, 3] {
        let text = Arc::new(Mutex::new(None));
        let go = |load: bool, start: Vec<f64>| {
            Ok::<_, Box<dyn std::error::Error>>(
                Executor::new(fixture.problem()?, DualAugmentedLagrangian::default())
                    .configure(|state: SolverState| state.starting_at(start).max_iterations(6))
                    .checkpointing(Saved { at, text: text.clone(), load })
                    .run()?
                    .state,
            )
        };
        let whole = go(false, vec![0.0; fixture.n])?;
        // The start is not used: what was saved is.
        let resumed = go(true, Vec::new())?;
        assert_eq!(resumed.coefficients, whole.coefficients);
        assert_eq!(resumed.objective.to_bits(), whole.objective.to_bits());
        assert_eq!(resumed.certificate, whole.certificate);
        assert_eq!(resumed.get_iter(), whole.get_iter());
        assert!(whole.get_iter() > at);
    }
    Ok(())
}

#[test]
fn two_runs_give_the_same_bits() -> Outcome {
    let fixture = Fixture::new()?;
    let control = Control::default();
    assert_eq!(fixture.solve(&control)?, fixture.solve(&control)?);
    Ok(())
}

#[test]
fn stops_at_the_deadline() -> Outcome {
    let fixture = Fixture::new()?;
    let control = Control { deadline: Some(Instant::now()), ..Control::default() };
    let solution = fixture.solve(&control)?;
    assert_eq!((solution.status, solution.iterations), (Status::TimeLimit, 0));
    assert_eq!(solution.coefficients.len(), fixture.n);
    Ok(())
}

#[test]
fn stops_when_interrupted() -> Outcome {
    let fixture = Fixture::new()?;
    let flag = AtomicBool::new(false);
    // Raised from outside while it runs: here, by its own stopping test, which lets it go on.
    let raise = |state: &SolverState| {
        flag.store(state.get_iter() >= 1, Ordering::Relaxed);
        false
    };
    let control = Control { interrupt: Some(&flag), stop: Some(&raise), ..Control::default() };
    let solution = fixture.solve(&control)?;
    assert_eq!((solution.status, solution.iterations), (Status::Interrupted, 2));
    assert!(solution.certificate.value().is_finite());
    Ok(())
}

#[test]
fn stops_when_the_caller_says_so() -> Outcome {
    let fixture = Fixture::new()?;
    let seen = AtomicUsize::new(0);
    let enough = |state: &SolverState| {
        seen.fetch_add(1, Ordering::Relaxed);
        state.coefficients.iter().filter(|w| **w != 0.0).count() >= 1
    };
    let control = Control { stop: Some(&enough), ..Control::default() };
    let solution = fixture.solve(&control)?;
    assert_eq!((solution.status, solution.iterations), (Status::Interrupted, 1));
    assert_eq!(seen.load(Ordering::Relaxed), 2);
    Ok(())
}

#[test]
fn stops_at_the_last_iteration_allowed() -> Outcome {
    let fixture = Fixture::new()?;
    let zero = fixture.penalty.value(&vec![0.0; fixture.n]);
    assert_eq!(zero, 0.0);
    for allowed in [0, 2] {
        let control = Control { max_iterations: allowed, ..Control::default() };
        let solution = fixture.solve(&control)?;
        assert_eq!((solution.status, solution.iterations), (Status::MaxIterations, allowed));
        assert!(solution.certificate.value().is_finite(), "the start has a certificate too");
    }
    Ok(())
}
