//! The solver against a slow independent one, and its certificate against the definition.

use crate::common::{ALL_LOSSES, ALL_PENALTIES, Case, Data, LossKind};
use fewest_dal::DualAugmentedLagrangian;
use fewest_solver::{Control, DenseOperator, Error, Solution, SquaredLoss, Status};
use proptest::prelude::*;

/// Whether `solution` is the optimum by the definition of the problem, and honest about it.
fn check(case: &Case, solution: &Solution, tolerance: f64) {
    let what = format!("{:?} {:?} nonnegative {}", case.loss, case.penalty, case.nonnegative);
    assert_eq!(solution.status, Status::Converged, "{what}: {}", solution.certificate.value());
    let w = &solution.coefficients;
    let scale = case.objective(&vec![0.0; w.len()]);
    let gap = case.gap(w) / scale;
    assert!(gap.abs() <= tolerance + 1e-12, "{what}: gap {gap:e}");
    assert!(
        (gap - solution.certificate.value()).abs() <= 1e-12,
        "{what}: gap {gap:e} {:e}",
        solution.certificate.value()
    );
    assert!((case.objective(w) - solution.objective).abs() <= 1e-12 * scale, "{what}: objective");
    if case.nonnegative {
        assert!(w.iter().all(|&w| w >= 0.0), "{what}: sign");
    }
}

#[test]
fn agrees_with_proximal_gradient_for_every_loss_penalty_and_sign() -> Result<(), Error> {
    for loss in ALL_LOSSES {
        for penalty in ALL_PENALTIES {
            for nonnegative in [false, true] {
                for (n_rows, n_columns) in [(40, 18), (25, 60)] {
                    let data = Data::random(3, n_rows, n_columns);
                    let case = Case::new(data, loss, penalty, nonnegative, 0.15);
                    let solution = case.solve(1e-11)?;
                    check(&case, &solution, 1e-11);
                    let slow = case.slow_solution(20_000);
                    let scale = slow.iter().fold(0.0_f64, |most, w| most.max(w.abs()));
                    assert!(scale > 0.0, "the case is trivial");
                    for (w, slow) in solution.coefficients.iter().zip(&slow) {
                        assert!((w - slow).abs() <= 1e-6 * scale, "{case:?}: {w} {slow}");
                    }
                    let objective = case.objective(&slow);
                    assert!(solution.objective <= objective * (1.0 + 1e-12), "{case:?}");
                }
            }
        }
    }
    Ok(())
}

#[test]
fn converges_from_any_start() -> Result<(), Error> {
    let case = Case::new(Data::random(8, 30, 12), LossKind::Squared, ALL_PENALTIES[0], true, 0.1);
    let data = &case.data;
    let operator = DenseOperator::new(data.matrix.clone(), data.n_rows, data.n_columns)?;
    let datafit = SquaredLoss::new(operator, data.observations.clone())?;
    let penalty = case.library_penalty()?;
    let control = Control { tolerance: 1e-11, ..Control::default() };
    let solver = DualAugmentedLagrangian::default();
    let expected = solver.solve(&datafit, &*penalty, &[0.0; 12], &control)?;
    // Negative entries break the constraint and are taken to zero first.
    for scale in [1e-3, 1.0, 1e4] {
        let start: Vec<f64> = (0..12).map(|j| scale * (j as f64 - 5.0)).collect();
        let solution = solver.solve(&datafit, &*penalty, &start, &control)?;
        check(&case, &solution, 1e-11);
        for (a, b) in solution.coefficients.iter().zip(&expected.coefficients) {
            assert!((a - b).abs() <= 1e-6, "{a} {b}");
        }
    }
    // From the optimum there is nothing to do.
    let again = solver.solve(&datafit, &*penalty, &expected.coefficients, &control)?;
    assert_eq!(again.iterations, 0);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn certificate_holds_on_random_problems(
        seed in 0_u64..10_000,
        n_rows in 1_usize..40,
        n_columns in 1_usize..60,
        loss in 0_usize..2,
        penalty in 0_usize..3,
        nonnegative: bool,
        duplicates: bool,
        share in 0.001_f64..1.2,
    ) {
        let data = Data::random(seed, n_rows, n_columns);
        let data = if duplicates { data.with_duplicates() } else { data };
        let case = Case::new(data, ALL_LOSSES[loss], ALL_PENALTIES[penalty], nonnegative, share);
        let solution = case.solve(1e-10);
        prop_assert!(solution.is_ok(), "{solution:?}");
        if let Ok(solution) = solution {
            check(&case, &solution, 1e-10);
        }
    }

    #[test]
    fn scaling_the_problem_scales_the_answer(seed in 0_u64..1000, exponent in -40_i32..40) {
        // Powers of two: exact, so the coefficients must be the same to the last bit.
        let factor = 2.0_f64.powi(exponent);
        let case = Case::new(Data::random(seed, 15, 20), LossKind::Squared, ALL_PENALTIES[0], true, 0.1);
        let mut scaled = case.clone();
        scaled.data.matrix.iter_mut().for_each(|a| *a *= factor);
        scaled.data.observations.iter_mut().for_each(|b| *b *= factor);
        scaled.lambda *= factor * factor;
        let (one, other) = (case.solve(1e-9), scaled.solve(1e-9));
        prop_assert!(one.is_ok() && other.is_ok());
        if let (Ok(one), Ok(other)) = (one, other) {
            prop_assert_eq!(one.coefficients, other.coefficients);
            prop_assert_eq!(one.certificate, other.certificate);
        }
    }
}
