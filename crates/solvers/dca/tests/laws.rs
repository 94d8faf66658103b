//! What every run must keep: the decrease of Proposition 1, critical points, checkpoints, errors.

use std::cell::RefCell;

use argmin::core::{Problem, Solver};
use fewest_dca::{Dca, DifferenceOfConvex, solve};
use fewest_solver::{Control, Error, SolverState, Status, run};

/// `½ xᵀ A x + Σ (cosh xⱼ − 1) − bᵀx` with a symmetric `A` that is not positive:
/// `g = Σ cosh + ½ ρ‖x‖² − bᵀx`, `h = ½ xᵀ (ρ I − A) x`, `ρ` above the largest eigenvalue.
struct Wells {
    matrix: [[f64; 3]; 3],
    b: [f64; 3],
    rho: f64,
}

const LARGEST: f64 = 3.0; // the largest absolute row sum of the matrices below

fn wells(rho: f64) -> Wells {
    Wells { matrix: [[-2.0, 0.5, 0.0], [0.5, 1.0, -1.0], [0.0, -1.0, -1.5]], b: [0.3, -0.2, 0.1], rho }
}

impl Wells {
    fn product(&self, x: &[f64]) -> Vec<f64> {
        self.matrix.iter().map(|row| row.iter().zip(x).map(|(a, x)| a * x).sum()).collect()
    }

    fn gradient(&self, x: &[f64]) -> Vec<f64> {
        let ax = self.product(x);
        (0..3).map(|j| ax[j] + x[j].sinh() - self.b[j]).collect()
    }
}

impl DifferenceOfConvex for Wells {
    fn n_coefficients(&self) -> usize {
        3
    }
    fn g(&self, x: &[f64]) -> f64 {
        (0..3).map(|j| x[j].cosh() - 1.0 + 0.5 * self.rho * x[j] * x[j] - self.b[j] * x[j]).sum()
    }
    fn h(&self, x: &[f64]) -> f64 {
        let ax = self.product(x);
        (0..3).map(|j| 0.5 * x[j] * (self.rho * x[j] - ax[j])).sum()
    }
    fn objective(&self, x: &[f64]) -> f64 {
        // Without the shift, which would cost digits.
        let ax = self.product(x);
        (0..3).map(|j| x[j].cosh() - 1.0 + 0.5 * x[j] * ax[j] - self.b[j] * x[j]).sum()
    }
    fn subgradient_of_h(&self, x: &[f64], out: &mut [f64]) {
        let ax = self.product(x);
        for (j, out) in out.iter_mut().enumerate() {
            *out = self.rho * x[j] - ax[j];
        }
    }
    fn minimise_above(&self, slope: &[f64], start: &[f64]) -> Result<Vec<f64>, Error> {
        // sinh x + ρ x = b + slope, by Newton: increasing, so it converges from anywhere.
        Ok((0..3)
            .map(|j| {
                let wanted = self.b[j] + slope[j];
                let mut x = start[j];
                for _ in 0..100 {
                    x -= (x.sinh() + self.rho * x - wanted) / (x.cosh() + self.rho);
                }
                x
            })
            .collect())
    }
}

fn starts() -> impl Iterator<Item = Vec<f64>> {
    (0..30_u32).map(|seed| (1..4).map(|j| f64::from((seed * 37 + j * 53) % 41) / 10.0 - 2.0).collect())
}

/// Every step of a run: objective before, objective after, squared step.
fn steps(problem: &Wells, mut solver: Dca, start: Vec<f64>) -> Result<Vec<(f64, f64, f64)>, Error> {
    let mut steps = Vec::new();
    let broken = |error: argmin::core::Error| Error::Numerical { what: "a test", hint: error.to_string() };
    let mut given = Problem::new(problem);
    let state = SolverState::starting_at(argmin::core::State::new(), start);
    let (mut state, _) = solver.init(&mut given, state).map_err(broken)?;
    for _ in 0..200 {
        let before = state.clone();
        (state, _) = solver.next_iter(&mut given, state).map_err(broken)?;
        let squares: f64 =
            state.coefficients.iter().zip(&before.coefficients).map(|(a, b)| (a - b).powi(2)).sum();
        steps.push((before.objective, state.objective, squares));
    }
    Ok(steps)
}

#[test]
fn every_step_falls_by_what_proposition_1_promises() -> Result<(), Error> {
    let rho = 2.0 * LARGEST;
    let problem = wells(rho);
    // g has curvature of at least 1 + ρ, h of at least ρ − LARGEST.
    let tau = 0.5 * (1.0 + rho + rho - LARGEST);
    for start in starts() {
        for (before, after, squares) in steps(&problem, Dca::default(), start.clone())? {
            assert!(
                before - after >= tau * squares - 1e-13 * (1.0 + before.abs()),
                "{before} {after} {squares}"
            );
        }
        for (before, after, _) in steps(&problem, Dca::default().accelerated(true), start)? {
            assert!(after <= before, "the objective rose from {before} to {after}");
        }
    }
    Ok(())
}

#[test]
fn ends_are_critical_points_and_acceleration_saves_steps() -> Result<(), Error> {
    // A large shift makes plain steps short.
    let problem = wells(40.0 * LARGEST);
    let control = Control { tolerance: 1e-22, ..Control::default() };
    let (mut plain, mut accelerated) = (0, 0);
    for start in starts() {
        for (fast, steps) in [(false, &mut plain), (true, &mut accelerated)] {
            let mut solver = Dca::default().tolerance(0.0).accelerated(fast);
            let solution = run(&problem, &mut solver, start.clone(), &control)?;
            let worst = problem.gradient(&solution.coefficients).iter().fold(0.0_f64, |m, g| m.max(g.abs()));
            // Where a fall of ‖∇f‖²/(2ρ) is rounding, 1e-16, no step is judged to be an improvement.
            assert!(worst < 1e-6, "{worst} {:?}", solution.status);
            *steps += solution.iterations;
        }
    }
    assert!(accelerated * 2 < plain, "{accelerated} steps with momentum, {plain} without");
    Ok(())
}

#[test]
fn the_end_is_no_function_of_how_the_difference_is_written() -> Result<(), Error> {
    let start = vec![0.5, 0.5, 0.5];
    let control = Control { tolerance: 1e-20, ..Control::default() };
    let a = solve(&wells(LARGEST), start.clone(), &control)?;
    let b = solve(&wells(3.0 * LARGEST), start, &control)?;
    for (a, b) in a.coefficients.iter().zip(&b.coefficients) {
        assert!((a - b).abs() < 1e-6);
    }
    Ok(())
}

/// Hands out what it is told to.
struct Broken {
    objective: f64,
    next: RefCell<Vec<f64>>,
}

impl DifferenceOfConvex for Broken {
    fn n_coefficients(&self) -> usize {
        1
    }
    fn g(&self, _x: &[f64]) -> f64 {
        self.objective
    }
    fn h(&self, _x: &[f64]) -> f64 {
        0.0
    }
    fn subgradient_of_h(&self, _x: &[f64], out: &mut [f64]) {
        out.fill(0.0);
    }
    fn minimise_above(&self, _slope: &[f64], _start: &[f64]) -> Result<Vec<f64>, Error> {
        Ok(self.next.borrow().clone())
    }
}

#[test]
fn bad_input_is_an_error_or_a_status() -> Result<(), Error> {
    let control = Control::default();
    let problem = wells(LARGEST);
    assert!(matches!(solve(&problem, vec![0.0; 2], &control), Err(Error::ShapeMismatch { expected: 3, .. })));
    assert!(matches!(solve(&problem, vec![f64::NAN; 3], &control), Err(Error::InvalidParameter { .. })));
    let wrong = Control { tolerance: -1.0, ..control };
    assert!(matches!(solve(&problem, vec![0.0; 3], &wrong), Err(Error::InvalidParameter { .. })));
    let nan = Broken { objective: f64::NAN, next: RefCell::new(vec![0.0]) };
    assert!(matches!(solve(&nan, vec![0.0], &control), Err(Error::Numerical { .. })));
    let long = Broken { objective: 0.0, next: RefCell::new(vec![0.0; 2]) };
    assert!(matches!(solve(&long, vec![0.0], &control), Err(Error::Numerical { .. })));
    // At a critical point there is nothing to do.
    let still = Broken { objective: 0.0, next: RefCell::new(vec![0.0]) };
    let solution = solve(&still, vec![0.0], &control)?;
    assert_eq!((solution.status, solution.certificate.name()), (Status::Converged, "stationarity"));
    let few = Control { max_iterations: 2, ..control };
    assert_eq!(solve(&problem, vec![1.0; 3], &few)?.status, Status::MaxIterations);
    Ok(())
}

#[test]
fn a_checkpoint_resumes_to_the_same_bits() -> Result<(), Box<dyn std::error::Error>> {
    let problem = wells(LARGEST);
    let mut given = Problem::new(&problem);
    let mut solver = Dca::default().accelerated(true);
    let state = SolverState::starting_at(argmin::core::State::new(), vec![1.0, -1.0, 0.5]);
    let (mut state, _) = solver.init(&mut given, state)?;
    for _ in 0..5 {
        (state, _) = solver.next_iter(&mut given, state)?;
    }
    let mut copy: Dca = serde_json::from_str(&serde_json::to_string(&solver)?)?;
    let mut copied: SolverState = serde_json::from_str(&serde_json::to_string(&state)?)?;
    for _ in 0..5 {
        (state, _) = solver.next_iter(&mut given, state)?;
        (copied, _) = copy.next_iter(&mut given, copied)?;
    }
    assert_eq!(state.coefficients, copied.coefficients);
    Ok(())
}
