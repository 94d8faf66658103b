//! Many atoms, few of them looked at: coordinate descent as the solver of working sets.

use crate::common::{Explicit, normals, penalties};
use fewest_cd::CoordinateDescent;
use fewest_solver::{Control, InnerProducts, L1, SolverState, Status, working_set};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn problems_of_all_shapes(
        n_rows in 1_usize..30, n in 6_usize..60, exponent in 0.0..4.0, seed in 0_u64..1000, ratio in 0.01..1.2_f64,
        warm in proptest::bool::ANY,
    ) {
        let problem = Explicit::random(n_rows, n, 10_f64.powf(exponent), seed).with_degenerate_atoms();
        let quadratic = problem.quadratic();
        let control = Control { tolerance: 1e-10, ..Control::default() };
        for (name, penalty) in penalties(ratio * problem.lambda_max() + 1e-3, n) {
            let mut start = if warm { normals(n, seed + 1) } else { vec![0.0; n] };
            penalty.prox(&mut start, 0.0);
            let solver = CoordinateDescent::default();
            let found = working_set::solve(&quadratic, &*penalty, &solver, &start, &control).unwrap();
            prop_assert_eq!(found.solution.status, Status::Converged, "{}: {}", name, found.solution.certificate.value());
            let (objective, gap) = problem.certificate(&*penalty, &found.solution.coefficients);
            prop_assert!(gap.abs() <= 2e-10, "{name}: {gap}");
            prop_assert!((objective - found.solution.objective).abs() <= 1e-12 * quadratic.target_squared_norm());
        }
    }
}

#[test]
fn atoms_hard_to_tell_apart() {
    let problem = Explicit::bumps(100, 200, 5.0, 1).with_degenerate_atoms();
    let quadratic = problem.quadratic();
    let control = Control { tolerance: 1e-11, ..Control::default() };
    for (name, penalty) in penalties(0.02 * problem.lambda_max(), 200) {
        let solver = CoordinateDescent::default();
        let found = working_set::solve(&quadratic, &*penalty, &solver, &[0.0; 200], &control).unwrap();
        assert_eq!(
            found.solution.status,
            Status::Converged,
            "{name}: {}",
            found.solution.certificate.value()
        );
        let (_, gap) = problem.certificate(&*penalty, &found.solution.coefficients);
        assert!(gap.abs() <= 1e-10, "{name}: {gap}");
    }
}

/// The caller's own test is seen by the inner solver only.
#[test]
fn the_callers_test_ends_the_outer_loop() {
    let problem = Explicit::random(60, 100, 1.0, 6);
    let penalty = L1::new(0.1 * problem.lambda_max(), 100).unwrap();
    let stop = |_: &SolverState| true;
    let control = Control { stop: Some(&stop), ..Control::default() };
    let solver = CoordinateDescent::default();
    let found = working_set::solve(&problem.quadratic(), &penalty, &solver, &[0.0; 100], &control).unwrap();
    assert_eq!((found.solution.status, found.passes), (Status::Interrupted, 1));
}
