//! Every solution is certified from the problem itself.

use crate::common::optimality as laws;
use crate::common::{Explicit, dot, penalties};
use fewest_pgd::ProximalGradient;
use fewest_solver::{
    BlockPenalty, Composite, Control, Datafit, DenseOperator, Error, InnerProducts, L1, Logistic, Penalty,
    Quadratic, QuadraticSolver, SquaredLoss, Status, run,
};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn quadratic_solutions_are_certified(
        n_rows in 3_usize..30, n_atoms in 6_usize..40, exponent in 0.0..4.0, ratio in 0.02..0.9, seed in 0_u64..1000,
        accelerated in proptest::bool::ANY,
    ) {
        let problem = Explicit::random(n_rows, n_atoms, 10_f64.powf(exponent), seed).with_degenerate_atoms();
        let quadratic = problem.quadratic();
        let solver = ProximalGradient::default().accelerated(accelerated);
        // Without momentum one problem of some hundreds takes more than the default: see the flat valley
        // below.
        let max_iterations = if accelerated { Control::default().max_iterations } else { 100_000 };
        let patient = Control { max_iterations, ..Control::default() };
        for (name, penalty) in penalties(ratio * problem.lambda_max(), n_atoms) {
            let solution = solver.minimise(&quadratic, &*penalty, &[], &patient).unwrap();
            prop_assert_eq!(solution.status, Status::Converged, "{}: {}", name, solution.certificate.value());
            prop_assert_eq!(solution.certificate.name(), "gap");
            let (objective, gap) = problem.certificate(&*penalty, &solution.coefficients);
            prop_assert!(gap.abs() <= 1.1e-9, "{name}: {gap}");
            prop_assert!((objective - solution.objective).abs() <= 1e-12 * quadratic.target_squared_norm());
        }
    }
}

/// Equal atoms in two groups, where the second atom of one group hardly counts: along the valley between
/// them the objective falls by less than a part in a billion. Steps without momentum need more than the
/// default number of iterations there, and say so.
#[test]
fn a_flat_valley_takes_long_and_says_so() {
    let problem = Explicit::random(23, 36, 10_f64.powf(1.006_845_178_642_918_4), 724).with_degenerate_atoms();
    let penalties = penalties(0.073_063_248_306_638_34 * problem.lambda_max(), 36);
    let (name, penalty) = penalties.last().unwrap();
    assert_eq!(*name, "group lasso, non-negative");
    let minimise = |accelerated, max_iterations| {
        let solution = ProximalGradient::default()
            .accelerated(accelerated)
            .minimise(
                &problem.quadratic(),
                &**penalty,
                &[],
                &Control { max_iterations, ..Control::default() },
            )
            .unwrap();
        let (_, gap) = problem.certificate(&**penalty, &solution.coefficients);
        assert!(
            (gap - solution.certificate.value()).abs() <= 1e-10,
            "{gap} {}",
            solution.certificate.value()
        );
        (solution.status, gap)
    };
    assert_eq!(minimise(true, 10_000).0, Status::Converged);
    let (status, gap) = minimise(false, 10_000);
    assert!(gap < 1e-6 && (status == Status::Converged) == (gap <= 1e-9), "{status:?} {gap}");
    assert_eq!(minimise(false, 100_000).0, Status::Converged);
}

#[test]
fn atoms_hard_to_tell_apart() {
    for width in [2.0, 4.0] {
        let problem = Explicit::bumps(60, 50, width, 1).with_degenerate_atoms();
        for (name, penalty) in penalties(0.01 * problem.lambda_max(), 50) {
            let solution = ProximalGradient::default()
                .minimise(&problem.quadratic(), &*penalty, &[], &Control::default())
                .unwrap();
            assert_eq!(
                solution.status,
                Status::Converged,
                "{name}, {width}: {}",
                solution.certificate.value()
            );
            let (_, gap) = problem.certificate(&*penalty, &solution.coefficients);
            assert!(gap.abs() <= 1.1e-9, "{name}, {width}: {gap}");
        }
    }
}

/// The units of the atoms change the solution's units and nothing else.
#[test]
fn scaled_atoms_cost_no_more() {
    let problem = Explicit::random(40, 20, 10.0, 4);
    let mut scaled = Explicit { atoms: problem.atoms.clone(), target: problem.target.clone() };
    let units: Vec<f64> = (0..20).map(|j| 10_f64.powi(j % 5 - 2)).collect();
    for (atom, unit) in scaled.atoms.iter_mut().zip(&units) {
        atom.iter_mut().for_each(|value| *value *= unit);
    }
    let lambda = 0.1 * problem.lambda_max();
    let minimise = |problem: &Explicit, penalty: &L1| {
        ProximalGradient::default().minimise(&problem.quadratic(), penalty, &[], &Control::default()).unwrap()
    };
    let plain = minimise(&problem, &L1::new(lambda, 20).unwrap());
    let other = minimise(&scaled, &L1::weighted(lambda, &units).unwrap());
    assert!(other.iterations <= plain.iterations + 2, "{} against {}", other.iterations, plain.iterations);
    for ((a, b), unit) in plain.coefficients.iter().zip(&other.coefficients).zip(&units) {
        assert!((a - b * unit).abs() <= 1e-5, "{a} {b} {unit}");
    }
}

fn operator(problem: &Explicit) -> DenseOperator {
    DenseOperator::new(problem.atoms.concat(), problem.target.len(), problem.atoms.len()).unwrap()
}

#[test]
fn losses_with_an_operator_are_certified() {
    let problem = Explicit::random(50, 30, 10.0, 8);
    let labels: Vec<f64> = problem.target.iter().map(|value| value.signum()).collect();
    let squared = SquaredLoss::new(operator(&problem), problem.target.clone()).unwrap();
    let logistic = Logistic::new(operator(&problem), labels.clone()).unwrap();
    for accelerated in [true, false] {
        for (name, penalty) in penalties(0.05 * problem.lambda_max(), 30) {
            let mut solver = ProximalGradient::default().accelerated(accelerated);
            let composite = Composite::new(&squared, &*penalty).unwrap();
            let solution = run(composite, &mut solver, Vec::new(), &Control::default()).unwrap();
            assert_eq!(solution.status, Status::Converged, "{name}");
            assert!(problem.certificate(&*penalty, &solution.coefficients).1.abs() <= 1.1e-9, "{name}");
        }
        for (name, penalty) in penalties(1.0, 30) {
            let mut solver = ProximalGradient::default().accelerated(accelerated);
            let composite = Composite::new(&logistic, &*penalty).unwrap();
            let solution = run(composite, &mut solver, Vec::new(), &Control::default()).unwrap();
            assert_eq!(solution.status, Status::Converged, "{name}");
            let gap = logistic_gap(&problem, &labels, &*penalty, &solution.coefficients);
            assert!(gap.abs() <= 1.1e-9, "{name}: {gap}");
            assert!(solution.coefficients.iter().any(|w| *w != 0.0));
        }
    }
}

/// `P(w) − D` relative to `P(0)`, with the dual point `qᵢ = t / (1 + e^{mᵢ})` and
/// `D = −Σ [q ln q + (1 − q) ln(1 − q)] − Ω*(Aᵀ(y q))`; `t ≤ 1` the largest feasible.
fn logistic_gap(problem: &Explicit, labels: &[f64], penalty: &dyn BlockPenalty, w: &[f64]) -> f64 {
    let mut fitted = vec![0.0; labels.len()];
    for (w, atom) in w.iter().zip(&problem.atoms) {
        fitted.iter_mut().zip(atom).for_each(|(value, a)| *value += w * a);
    }
    let margins: Vec<f64> = fitted.iter().zip(labels).map(|(z, y)| z * y).collect();
    let primal: f64 = margins.iter().map(|m| (-m).exp().ln_1p()).sum::<f64>() + penalty.value(w);
    let dual = |t: f64| {
        let q: Vec<f64> = margins.iter().map(|m| t / (1.0 + m.exp())).collect();
        let signed: Vec<f64> = q.iter().zip(labels).map(|(q, y)| q * y).collect();
        let v: Vec<f64> = problem.atoms.iter().map(|a| dot(a, &signed)).collect();
        -q.iter().map(|q| q * q.ln() + (1.0 - q) * (1.0 - q).ln()).sum::<f64>() - penalty.conjugate(&v)
    };
    // The largest feasible scale, by bisection.
    let (mut feasible, mut infeasible) = (0.0, 2.0);
    for _ in 0..60 {
        let middle = 0.5 * (feasible + infeasible);
        if middle <= 1.0 && dual(middle).is_finite() {
            feasible = middle;
        } else {
            infeasible = middle;
        }
    }
    let best = dual(feasible);
    (primal - best) / (labels.len() as f64 * 2_f64.ln())
}

/// A loss that knows no dual, as a kernel machine's weights give: `Σ (wⱼ − aⱼ)⁴ / 4 + (wⱼ − aⱼ)² / 2`.
struct Quartic(Vec<f64>);

impl Datafit for Quartic {
    fn n_coefficients(&self) -> usize {
        self.0.len()
    }

    fn value(&self, w: &[f64]) -> f64 {
        w.iter().zip(&self.0).map(|(w, a)| (w - a).powi(4) / 4.0 + (w - a).powi(2) / 2.0).sum()
    }

    fn gradient(&self, w: &[f64], out: &mut [f64]) -> f64 {
        for ((g, w), a) in out.iter_mut().zip(w).zip(&self.0) {
            *g = (w - a).powi(3) + (w - a);
        }
        self.value(w)
    }
}

/// Algorithm 3 of Xue, Song and Xu: at a bound the gradient does not vanish, the projected gradient does.
#[test]
fn projected_gradient_stops_at_bounds() {
    let datafit = Quartic(vec![2.0, -1.0, 0.5, -3.0]);
    let orthant = L1::new(0.0, 4).unwrap().nonnegative();
    for accelerated in [true, false] {
        let mut solver = ProximalGradient::default().accelerated(accelerated);
        let composite = Composite::new(&datafit, &orthant).unwrap();
        let solution = run(composite, &mut solver, vec![1.0, 2.0, -3.0, 4.0], &Control::default()).unwrap();
        assert_eq!((solution.status, solution.certificate.name()), (Status::Converged, "stationarity"));
        for (found, expected) in solution.coefficients.iter().zip([2.0, 0.0, 0.5, 0.0]) {
            assert!((found - expected).abs() <= 1e-7, "{found} {expected}");
        }
        let mut gradient = vec![0.0; 4];
        datafit.gradient(&solution.coefficients, &mut gradient);
        assert!(gradient[3] > 10.0);
    }
}

/// Non-negative least squares has no dual point by scaling; the optimality conditions decide.
#[test]
fn nonnegative_least_squares() {
    let problem = Explicit::random(40, 20, 10.0, 6);
    let penalty = L1::new(0.0, 20).unwrap().nonnegative();
    let solution = ProximalGradient::default()
        .minimise(&problem.quadratic(), &penalty, &[], &Control::default())
        .unwrap();
    assert_eq!((solution.status, solution.certificate.name()), (Status::Converged, "stationarity"));
    let residual = problem.residual(&solution.coefficients);
    for (w, atom) in solution.coefficients.iter().zip(&problem.atoms) {
        let v = dot(atom, &residual);
        assert!(*w >= 0.0 && v <= 1e-6 && (v * w).abs() <= 1e-5, "{w} {v}");
    }
}

/// `λ · #{wⱼ ≠ 0}`: not convex; its prox keeps what is larger than `√(2 λ step)`.
struct Count {
    lambda: f64,
    n: usize,
}

impl Penalty for Count {
    fn name(&self) -> &'static str {
        "count"
    }

    fn n_coefficients(&self) -> usize {
        self.n
    }

    fn value(&self, w: &[f64]) -> f64 {
        self.lambda * w.iter().filter(|w| **w != 0.0).count() as f64
    }

    fn prox(&self, w: &mut [f64], step: f64) {
        for w in w.iter_mut().filter(|w| **w * **w <= 2.0 * self.lambda * step) {
            *w = 0.0;
        }
    }

    fn is_convex(&self) -> bool {
        false
    }
}

/// `λ Σ |wⱼ₊₁ − wⱼ|` of two coefficients: convex, and no sum over blocks.
struct Fused {
    lambda: f64,
}

impl Penalty for Fused {
    fn name(&self) -> &'static str {
        "fused"
    }

    fn n_coefficients(&self) -> usize {
        2
    }

    fn value(&self, w: &[f64]) -> f64 {
        self.lambda * (w[1] - w[0]).abs()
    }

    fn prox(&self, w: &mut [f64], step: f64) {
        let (mean, half) = (0.5 * (w[0] + w[1]), 0.5 * (w[1] - w[0]));
        let shrunk = (half.abs() - step * self.lambda).max(0.0).copysign(half);
        (w[0], w[1]) = (mean - shrunk, mean + shrunk);
    }
}

#[test]
fn a_penalty_without_blocks_is_solved_and_judged_by_its_own_conditions() {
    // ½ (w₀² + 2 w₁²) − 2 w₀ − 2 w₁ + ½·10: free, (2, 1). With 0.25 |w₁ − w₀| and w₀ > w₁: (1.75, 1.125).
    let problem = Quadratic::new(vec![1.0, 0.0, 0.0, 2.0], vec![2.0, 2.0], 10.0).unwrap();
    for accelerated in [false, true] {
        let solve = |lambda: f64| {
            let solver = ProximalGradient::default().accelerated(accelerated);
            solver.minimise(&problem, &Fused { lambda }, &[], &Control::default()).unwrap()
        };
        let apart = solve(0.25);
        assert_eq!((apart.status, apart.certificate.name()), (Status::Converged, "stationarity"));
        assert!((apart.coefficients[0] - 1.75).abs() < 1e-7 && (apart.coefficients[1] - 1.125).abs() < 1e-7);
        // Fused: 3 w = 4.
        let fused = solve(2.0);
        assert!(fused.coefficients.iter().all(|w| (w - 4.0 / 3.0).abs() < 1e-7), "{fused:?}");
    }
    let scaled = ProximalGradient::default().block_scales(vec![1.0; 2]);
    let error = scaled.minimise(&problem, &Fused { lambda: 1.0 }, &[], &Control::default()).unwrap_err();
    assert!(error.to_string().contains("fused"), "{error}");
}

#[test]
fn a_penalty_that_is_not_convex_is_judged_by_its_own_conditions() {
    let problem = Explicit::random(40, 12, 2.0, 9);
    let penalty = Count { lambda: 0.5, n: 12 };
    let solution = ProximalGradient::default()
        .minimise(&problem.quadratic(), &penalty, &[1.0; 12], &Control::default())
        .unwrap();
    assert_eq!((solution.status, solution.certificate.name()), (Status::Converged, "stationarity"));
    let residual = problem.residual(&solution.coefficients);
    assert!(solution.coefficients.iter().any(|w| *w != 0.0));
    for (w, atom) in solution.coefficients.iter().zip(&problem.atoms) {
        assert!(*w == 0.0 || dot(atom, &residual).abs() <= 1e-6 * problem.lambda_max());
    }
}

#[test]
fn hostile_input_is_refused_by_name() {
    laws::hostile_input_is_refused_by_name(&ProximalGradient::default());
    let problem = Explicit::random(10, 8, 1.0, 7).quadratic();
    let penalty = L1::new(1.0, 8).unwrap();
    let refusal = |scales: Vec<f64>| {
        let solver = ProximalGradient::default().block_scales(scales);
        solver.minimise(&problem, &penalty, &[], &Control::default()).unwrap_err()
    };
    assert!(matches!(refusal(vec![1.0; 3]), Error::ShapeMismatch { found: 3, .. }));
    assert!(matches!(refusal(vec![0.0; 8]), Error::InvalidParameter { name: "block_scales", .. }));
    let infinite = Quartic(vec![f64::INFINITY; 2]);
    let pair = L1::new(1.0, 2).unwrap();
    let composite = Composite::new(&infinite, &pair).unwrap();
    let error = fewest_pgd::solve(composite, &[], &Control::default()).unwrap_err();
    assert!(matches!(error, Error::Numerical { .. }), "{error}");
}

#[test]
fn nothing_to_do_takes_no_iteration() {
    laws::nothing_to_do_takes_no_iteration(&ProximalGradient::default());
}

/// A tolerance below rounding ends in a status.
#[test]
fn an_unreachable_tolerance_ends() {
    let problem = Explicit::random(30, 20, 10.0, 2);
    let penalty = L1::new(0.1 * problem.lambda_max(), 20).unwrap();
    for accelerated in [true, false] {
        let control = Control { tolerance: 1e-300, ..Control::default() };
        let solver = ProximalGradient::default().accelerated(accelerated);
        let solution = solver.minimise(&problem.quadratic(), &penalty, &[], &control).unwrap();
        assert!(solution.certificate.value() <= 1e-13, "{}", solution.certificate.value());
        assert!(solution.iterations < 5000, "{}", solution.iterations);
    }
}
