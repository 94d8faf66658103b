//! Every solution is certified from the atoms themselves.

use crate::common::optimality as laws;
use crate::common::{self, Explicit, penalties};
use fewest_cd::CoordinateDescent;
use fewest_solver::{Control, InnerProducts, L1, Quadratic, QuadraticSolver, Status};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn solutions_are_certified(
        n_rows in 3_usize..40, n_atoms in 6_usize..60, exponent in 0.0..6.0, ratio in 0.005..0.9, seed in 0_u64..1000,
    ) {
        let problem = Explicit::random(n_rows, n_atoms, 10_f64.powf(exponent), seed).with_degenerate_atoms();
        let quadratic = problem.quadratic();
        let control = Control { tolerance: 1e-10, ..Control::default() };
        for (name, penalty) in penalties(ratio * problem.lambda_max(), n_atoms) {
            let solution = CoordinateDescent::default().minimise(&quadratic, &*penalty, &[], &control).unwrap();
            prop_assert_eq!(solution.status, Status::Converged, "{}: {}", name, solution.certificate.value());
            let (objective, gap) = problem.certificate(&*penalty, &solution.coefficients);
            prop_assert!(gap.abs() <= 2e-10, "{name}: {gap}");
            prop_assert!((objective - solution.objective).abs() <= 1e-12 * quadratic.target_squared_norm());
        }
    }

    #[test]
    fn where_it_starts_does_not_matter(seed in 0_u64..1000, size in 0.1..100.0) {
        let problem = Explicit::random(20, 15, 100.0, seed);
        let quadratic = problem.quadratic();
        let control = Control { tolerance: 1e-12, ..Control::default() };
        let start: Vec<f64> = common::normals(15, seed + 1).iter().map(|value| size * value).collect();
        for (name, penalty) in penalties(0.1 * problem.lambda_max(), 15) {
            let solver = CoordinateDescent::default();
            let cold = solver.minimise(&quadratic, &*penalty, &[], &control).unwrap();
            let warm = solver.minimise(&quadratic, &*penalty, &start, &control).unwrap();
            for (a, b) in cold.coefficients.iter().zip(&warm.coefficients) {
                prop_assert!((a - b).abs() <= 1e-4, "{name}: {a} {b}");
            }
        }
    }
}

/// Every penalty at `ratio` of the largest level is certified to `tolerance`, in at most `most(name)`
/// iterations.
fn check_all(problem: &Explicit, ratio: f64, tolerance: f64, most: impl Fn(&str) -> u64) {
    let n = problem.atoms.len();
    for (name, penalty) in penalties(ratio * problem.lambda_max(), n) {
        let control = Control { tolerance, max_iterations: most(name), ..Control::default() };
        let solution =
            CoordinateDescent::default().minimise(&problem.quadratic(), &*penalty, &[], &control).unwrap();
        let what =
            format!("{name}, {} x {n}, {ratio}: {}", problem.target.len(), solution.certificate.value());
        assert_eq!(solution.status, Status::Converged, "{what}");
        let (_, gap) = problem.certificate(&*penalty, &solution.coefficients);
        assert!(gap.abs() <= 10.0 * tolerance, "{what}: {gap}");
    }
}

/// The conditions at which sweeps alone would take millions of iterations.
#[test]
fn ill_conditioned_problems_take_few_iterations() {
    for condition in [1e6, 1e8] {
        for (n_rows, n_atoms) in [(60, 40), (40, 120), (150, 150)] {
            let problem = Explicit::random(n_rows, n_atoms, condition, 1).with_degenerate_atoms();
            for ratio in [0.1, 1e-3] {
                check_all(&problem, ratio, 1e-13, |_| 100);
            }
        }
    }
}

/// Where most coefficients that enter leave again, few may enter at a time: without this, these problems take
/// hundreds of iterations and more.
#[test]
fn few_enter_where_most_leave() {
    for (width, name) in [(4.0, "l1"), (8.0, "l1"), (20.0, "l1, non-negative")] {
        let problem = Explicit::bumps(100, 200, width, 1).with_degenerate_atoms();
        let ratio = if width == 20.0 { 1e-3 } else { 1e-5 };
        let l1 = L1::new(ratio * problem.lambda_max(), 200).unwrap();
        let penalty = if name == "l1" { l1 } else { l1.nonnegative() };
        let control = Control { tolerance: 1e-11, max_iterations: 150, ..Control::default() };
        let solution =
            CoordinateDescent::default().minimise(&problem.quadratic(), &penalty, &[], &control).unwrap();
        assert_eq!(
            solution.status,
            Status::Converged,
            "{name}, width {width}: {}",
            solution.certificate.value()
        );
    }
}

/// Atoms whose Gram matrix is singular to rounding, as those of correlated features are.
#[test]
fn atoms_hard_to_tell_apart() {
    for width in [3.0, 8.0] {
        let problem = Explicit::bumps(100, 120, width, 1).with_degenerate_atoms();
        for ratio in [0.1, 1e-3] {
            check_all(&problem, ratio, 1e-12, |name| if name == "group lasso" { 2000 } else { 60 });
        }
    }
}

/// An orthonormal design has its solution in closed form: soft thresholds.
#[test]
fn orthonormal_atoms_are_thresholded() {
    let products = vec![3.0, -2.0, 0.5, -0.5, 1.0];
    let gram = (0..25).map(|i| if i % 6 == 0 { 1.0 } else { 0.0 }).collect();
    let problem = Quadratic::new(gram, products, 20.0).unwrap();
    let penalty = L1::new(1.0, 5).unwrap();
    let solution =
        CoordinateDescent::default().minimise(&problem, &penalty, &[], &Control::default()).unwrap();
    assert_eq!(solution.coefficients, [2.0, -1.0, 0.0, 0.0, 0.0]);
    let nonnegative = CoordinateDescent::default()
        .minimise(&problem, &penalty.nonnegative(), &[], &Control::default())
        .unwrap();
    assert_eq!(nonnegative.coefficients, [2.0, 0.0, 0.0, 0.0, 0.0]);
    assert_eq!(nonnegative.objective, 8.0);
}

/// Sweeps, extrapolation and screening must be right without the Newton steps that would hide their errors.
#[test]
fn sweeps_alone_converge() {
    let problem = Explicit::random(40, 60, 10.0, 3).with_degenerate_atoms();
    for (name, penalty) in penalties(0.2 * problem.lambda_max(), 60) {
        let control = Control { tolerance: 1e-10, ..Control::default() };
        for sweeps in [0, 10] {
            let solution = CoordinateDescent::default()
                .newton(false)
                .sweeps(sweeps)
                .minimise(&problem.quadratic(), &*penalty, &[], &control)
                .unwrap();
            assert_eq!(
                solution.status,
                Status::Converged,
                "{name}, {sweeps}: {}",
                solution.certificate.value()
            );
            assert!(problem.certificate(&*penalty, &solution.coefficients).1.abs() <= 2e-10);
        }
    }
}

#[test]
fn extrapolation_saves_sweeps() {
    let problem = Explicit::random(60, 40, 1e3, 5);
    let penalty = L1::new(0.01 * problem.lambda_max(), 40).unwrap();
    let iterations = |sweeps: usize| {
        let solver = CoordinateDescent::default().newton(false).sweeps(sweeps);
        solver.minimise(&problem.quadratic(), &penalty, &[], &Control::default()).unwrap().iterations
    };
    // An iteration with 10 sweeps over the non-zeros costs at most 11 without them.
    let (plain, extrapolated) = (iterations(0), iterations(10));
    assert!(11 * extrapolated < plain, "{extrapolated} iterations of 11 sweeps against {plain} of 1");
}

#[test]
fn nothing_to_do_takes_no_iteration() {
    laws::nothing_to_do_takes_no_iteration(&CoordinateDescent::default());
}

#[test]
fn hostile_input_is_refused_by_name() {
    laws::hostile_input_is_refused_by_name(&CoordinateDescent::default());
}

/// Non-negative least squares: optimal, although no gap can say so.
#[test]
fn a_level_of_zero_ends_at_the_optimum() {
    let problem = Explicit::random(40, 20, 1e3, 6);
    let penalty = L1::new(0.0, 20).unwrap().nonnegative();
    let solution = CoordinateDescent::default()
        .minimise(&problem.quadratic(), &penalty, &[], &Control::default())
        .unwrap();
    assert_eq!(solution.status, Status::Stalled);
    assert!(solution.iterations < 30, "{}", solution.iterations);
    let residual = problem.residual(&solution.coefficients);
    for (w, atom) in solution.coefficients.iter().zip(&problem.atoms) {
        let v = common::dot(atom, &residual);
        assert!(*w >= 0.0 && v <= 1e-9 && (v * w).abs() <= 1e-9, "{w} {v}");
    }
}

/// A tolerance below rounding ends in a status, soon.
#[test]
fn an_unreachable_tolerance_ends() {
    let problem = Explicit::random(30, 30, 1e6, 2);
    let penalty = L1::new(0.01 * problem.lambda_max(), 30).unwrap();
    let control = Control { tolerance: 1e-300, ..Control::default() };
    let solution =
        CoordinateDescent::default().minimise(&problem.quadratic(), &penalty, &[], &control).unwrap();
    assert!(solution.certificate.value() <= 1e-13, "{}", solution.certificate.value());
    assert!(solution.iterations < 200, "{}", solution.iterations);
}
