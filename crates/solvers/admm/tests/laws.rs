//! Solutions against closed forms and against gaps recomputed from the definition; the dual variable,
//! checkpoints, errors.

use argmin::core::{Problem, Solver};
use fewest_admm::{Admm, Judgement, Split, Splitting, solve};
use fewest_solver::{Certificate, Control, Error, SolverState, Status, run};

fn half_square(values: impl Iterator<Item = f64>) -> f64 {
    0.5 * values.map(|value| value * value).sum::<f64>()
}

fn shrunk(value: f64, by: f64) -> f64 {
    (value.abs() - by).max(0.0).copysign(value)
}

/// Numbers between -1 and 1 without a pattern.
fn noise(n: usize, seed: u64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    };
    (0..n).map(|_| next()).collect()
}

/// Solves a symmetric positive definite system by conjugate gradients, far beyond the accuracy of the tests.
fn solved(product: impl Fn(&[f64]) -> Vec<f64>, b: &[f64]) -> Vec<f64> {
    let (mut x, mut r) = (vec![0.0; b.len()], b.to_vec());
    let (mut p, mut rr) = (r.clone(), 2.0 * half_square(r.iter().copied()));
    for _ in 0..20 * b.len() {
        if rr < 1e-30 * (1.0 + 2.0 * half_square(b.iter().copied())) {
            break;
        }
        let image = product(&p);
        let step = rr / p.iter().zip(&image).map(|(p, q)| p * q).sum::<f64>();
        (0..x.len()).for_each(|j| x[j] += step * p[j]);
        (0..x.len()).for_each(|j| r[j] -= step * image[j]);
        let next = 2.0 * half_square(r.iter().copied());
        (0..x.len()).for_each(|j| p[j] = r[j] + next / rr * p[j]);
        rr = next;
    }
    x
}

/// `½ ‖A x − b‖² + λ ‖x‖₁`, columns of `a` in turn.
struct Lasso {
    a: Vec<Vec<f64>>,
    b: Vec<f64>,
    lambda: f64,
}

impl Lasso {
    fn residual(&self, x: &[f64]) -> Vec<f64> {
        let fitted = |i: usize| self.a.iter().zip(x).map(|(column, x)| column[i] * x).sum::<f64>();
        self.b.iter().enumerate().map(|(i, b)| b - fitted(i)).collect()
    }

    fn correlations(&self, r: &[f64]) -> Vec<f64> {
        self.a.iter().map(|column| column.iter().zip(r).map(|(a, r)| a * r).sum()).collect()
    }

    /// The gap at `x` by the residual, scaled until it is feasible: nothing of the solver enters.
    fn gap(&self, x: &[f64]) -> (f64, f64) {
        let r = self.residual(x);
        let objective = half_square(r.iter().copied()) + self.lambda * x.iter().map(|x| x.abs()).sum::<f64>();
        let largest = self.correlations(&r).into_iter().fold(0.0_f64, |most, c| most.max(c.abs()));
        let scale = if largest > self.lambda { self.lambda / largest } else { 1.0 };
        let at_zero = half_square(self.b.iter().copied());
        let dual = at_zero - half_square(self.b.iter().zip(&r).map(|(b, r)| b - scale * r));
        (objective, (objective - dual) / at_zero)
    }
}

impl Splitting for Lasso {
    fn n_values(&self) -> usize {
        self.a.len()
    }
    fn first(&self, v: &[f64], rho: f64, out: &mut [f64]) -> Result<(), Error> {
        let right: Vec<f64> = self.correlations(&self.b).iter().zip(v).map(|(c, v)| c + rho * v).collect();
        let product = |x: &[f64]| {
            let minus: Vec<f64> = self.residual(x).iter().zip(&self.b).map(|(r, b)| b - r).collect();
            self.correlations(&minus).iter().zip(x).map(|(c, x)| c + rho * x).collect()
        };
        out.copy_from_slice(&solved(product, &right));
        Ok(())
    }
    fn second(&self, v: &[f64], rho: f64, out: &mut [f64]) -> Result<(), Error> {
        (0..v.len()).for_each(|j| out[j] = shrunk(v[j], self.lambda / rho));
        Ok(())
    }
    fn judge(&self, point: &Split<'_>) -> Result<Judgement, Error> {
        let (objective, gap) = self.gap(point.second);
        Ok(Judgement { objective, certificate: Certificate::gap(gap) })
    }
}

/// `½ ‖x − y‖² + λ Σ |xᵢ₊₁ − xᵢ|`: here `A x` are the differences.
struct TotalVariation {
    y: Vec<f64>,
    lambda: f64,
}

fn differences(x: &[f64]) -> Vec<f64> {
    x.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

/// `Dᵀ v`.
fn transposed(v: &[f64]) -> Vec<f64> {
    (0..=v.len()).map(|i| if i > 0 { v[i - 1] } else { 0.0 } - v.get(i).copied().unwrap_or(0.0)).collect()
}

impl TotalVariation {
    /// The signal of a dual variable.
    fn signal(&self, dual: &[f64]) -> Vec<f64> {
        self.y.iter().zip(transposed(dual)).map(|(y, t)| y - t).collect()
    }

    fn objective(&self, x: &[f64]) -> f64 {
        let jumps: f64 = differences(x).iter().map(|jump| jump.abs()).sum();
        half_square(x.iter().zip(&self.y).map(|(x, y)| x - y)) + self.lambda * jumps
    }

    fn dual(&self, v: &[f64]) -> f64 {
        half_square(self.y.iter().copied()) - half_square(self.signal(v).into_iter())
    }
}

impl Splitting for TotalVariation {
    fn n_values(&self) -> usize {
        self.y.len() - 1
    }
    fn first(&self, v: &[f64], rho: f64, out: &mut [f64]) -> Result<(), Error> {
        let right: Vec<f64> = self.y.iter().zip(transposed(v)).map(|(y, t)| y + rho * t).collect();
        let product = |x: &[f64]| -> Vec<f64> {
            x.iter().zip(transposed(&differences(x))).map(|(x, t)| x + rho * t).collect()
        };
        out.copy_from_slice(&differences(&solved(product, &right)));
        Ok(())
    }
    fn second(&self, v: &[f64], rho: f64, out: &mut [f64]) -> Result<(), Error> {
        (0..v.len()).for_each(|j| out[j] = shrunk(v[j], self.lambda / rho));
        Ok(())
    }
    fn judge(&self, point: &Split<'_>) -> Result<Judgement, Error> {
        let objective = self.objective(&self.signal(point.dual));
        let gap = (objective - self.dual(point.dual)) / self.objective(&vec![0.0; self.y.len()]);
        Ok(Judgement { objective, certificate: Certificate::gap(gap) })
    }
}

fn lasso(seed: u64, lambda: f64) -> Lasso {
    let a: Vec<Vec<f64>> = (0..12).map(|j| noise(20, 31 * seed + j)).collect();
    let signal: Vec<f64> = (0..20).map(|i| 2.0 * a[3][i] - a[7][i]).collect();
    let b = signal.iter().zip(noise(20, seed + 999)).map(|(s, e)| s + 0.3 * e).collect();
    Lasso { a, b, lambda }
}

#[test]
fn a_lasso_of_orthonormal_columns_is_shrinkage() {
    let identity = (0..6).map(|j| (0..6).map(|i| f64::from(u8::from(i == j))).collect()).collect();
    let b = vec![3.0, -2.0, 0.4, -0.4, 0.0, 1.0];
    let problem = Lasso { a: identity, b: b.clone(), lambda: 0.5 };
    let found = solve(&problem, vec![0.0; 6], &Control { tolerance: 1e-13, ..Control::default() }).unwrap();
    assert_eq!(found.status, Status::Converged);
    for (found, b) in found.coefficients.iter().zip(b) {
        assert!((found - shrunk(b, 0.5)).abs() < 1e-6, "{found}");
    }
}

/// Of any first `ρ` over ten decades, adaptive or not ill chosen, the same answer, with the gap of the
/// definition; zeros are exact, and the dual variable is a subgradient of the norm.
#[test]
fn any_first_rho_and_relaxation_give_the_lasso() {
    for seed in 0..2 {
        let problem = lasso(seed, 1.5);
        let mut answers = Vec::new();
        for (rho, relaxation) in [(1.0, 1.6), (1e-5, 1.6), (1e5, 1.6), (3.0, 1.0), (3.0, 1.9)] {
            let mut solver = Admm::default().tolerance(1e-11).rho(rho).over_relaxation(relaxation);
            let control = Control { tolerance: 1e-11, max_iterations: 200_000, ..Control::default() };
            let found = run(&problem, &mut solver, vec![0.0; 12], &control).unwrap();
            assert_eq!(found.status, Status::Converged, "rho {rho}");
            let (objective, gap) = problem.gap(&found.coefficients);
            assert!(gap.abs() <= 1e-11 && (objective - found.objective).abs() < 1e-12, "{gap}");
            for (z, y) in found.coefficients.iter().zip(solver.dual()) {
                let sign = if *z == 0.0 { y } else { problem.lambda * z.signum() };
                assert!((y - sign).abs() < 1e-9 && y.abs() < problem.lambda * (1.0 + 1e-9), "{z}: {y}");
            }
            assert!(found.coefficients.contains(&0.0));
            answers.push(found.coefficients);
        }
        for other in &answers[1..] {
            let far = answers[0].iter().zip(other).fold(0.0_f64, |most, (a, b)| most.max((a - b).abs()));
            assert!(far < 1e-4, "{far}");
        }
    }
}

/// Two levels move towards each other by the penalty over their lengths (and no other level appears).
#[test]
fn total_variation_of_a_step_has_a_closed_form() {
    let (short, long) = (5, 9);
    let y: Vec<f64> = (0..short + long).map(|i| if i < short { 1.0 } else { 4.0 }).collect();
    let problem = TotalVariation { y, lambda: 2.0 };
    let mut solver = Admm::default().tolerance(1e-13);
    let control = Control { tolerance: 1e-13, ..Control::default() };
    let found = run(&problem, &mut solver, vec![0.0; short + long - 1], &control).unwrap();
    assert_eq!(found.status, Status::Converged);
    for (i, x) in problem.signal(&solver.dual()).into_iter().enumerate() {
        let expected = if i < short { 1.0 + 2.0 / short as f64 } else { 4.0 - 2.0 / long as f64 };
        assert!((x - expected).abs() < 1e-5, "{i}: {x}");
    }
}

#[test]
fn total_variation_of_noise_meets_its_gap() {
    for seed in 0..4 {
        let problem = TotalVariation { y: noise(30, seed), lambda: 0.4 };
        let mut solver = Admm::default();
        let found = run(&problem, &mut solver, vec![0.0; 29], &Control::default()).unwrap();
        assert_eq!(found.status, Status::Converged);
        let dual = solver.dual();
        assert!(dual.iter().all(|y| y.abs() < problem.lambda * (1.0 + 1e-12)));
        let x = problem.signal(&dual);
        let gap = problem.objective(&x) - problem.dual(&dual);
        assert!(gap.abs() <= 1e-9 * problem.objective(&[0.0; 30]), "{gap}");
        // What is one level in the answer is a zero of the differences.
        for (jump, z) in differences(&x).iter().zip(&found.coefficients) {
            assert!((jump - z).abs() < 1e-3, "{jump} {z}");
        }
    }
}

#[test]
fn a_run_goes_on_from_a_checkpoint_bit_for_bit() {
    let problem = lasso(1, 1.0);
    let step = |solver: &mut Admm, state: SolverState, times: usize| {
        let mut counted = Problem::new(&problem);
        (0..times).fold(state, |state, _| solver.next_iter(&mut counted, state).unwrap().0)
    };
    let mut solver = Admm::default();
    let state = <SolverState as argmin::core::State>::new().starting_at(vec![0.0; 12]);
    let (state, _) = solver.init(&mut Problem::new(&problem), state).unwrap();
    let halfway = step(&mut solver, state, 13);
    let text = serde_json::to_string(&(&solver, &halfway)).unwrap();
    let (mut again, stored): (Admm, SolverState) = serde_json::from_str(&text).unwrap();
    let (whole, resumed) = (step(&mut solver, halfway, 20), step(&mut again, stored, 20));
    assert_eq!(whole.coefficients, resumed.coefficients);
    assert_eq!(solver.dual(), again.dual());
}

#[test]
fn wrong_parameters_are_named_and_stops_keep_the_best() {
    let problem = lasso(2, 1.0);
    let start = || vec![0.0; 12];
    let refused = |mut solver: Admm, start: Vec<f64>| {
        run(&problem, &mut solver, start, &Control::default()).unwrap_err().to_string()
    };
    for rho in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(refused(Admm::default().rho(rho), start()).contains("`rho`"));
    }
    for relaxation in [0.0, 2.0, f64::NAN] {
        let error = refused(Admm::default().over_relaxation(relaxation), start());
        assert!(error.contains("`over_relaxation`"), "{error}");
    }
    assert!(matches!(solve(&problem, vec![0.0; 3], &Control::default()), Err(Error::ShapeMismatch { .. })));
    assert!(refused(Admm::default(), vec![f64::NAN; 12]).contains("start"));
    let broken = Lasso { b: vec![f64::NAN; 20], ..lasso(2, 1.0) };
    assert!(matches!(solve(&broken, start(), &Control::default()), Err(Error::Numerical { .. })));
    let few = solve(&problem, start(), &Control { max_iterations: 3, ..Control::default() }).unwrap();
    assert_eq!((few.status, few.iterations), (Status::MaxIterations, 3));
    assert!(few.certificate.value() > 1e-9);
}
