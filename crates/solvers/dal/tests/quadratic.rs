//! The solver behind the interface of small dense problems.

use crate::common::{self, Case, Data, LossKind, PenaltyKind};
use fewest_dal::DualAugmentedLagrangian;
use fewest_solver::certificate::{certify, correlations};
use fewest_solver::{Control, Error, L1, Penalty, Quadratic, QuadraticSolver, Solution, Status, working_set};
use nalgebra::{DMatrix, DVector};
use proptest::prelude::*;

fn quadratic(data: &Data) -> Result<Quadratic, Error> {
    let b = &data.observations;
    Quadratic::new(data.gram(), data.transpose(b), b.iter().map(|b| b * b).sum())
}

fn minimise(problem: &Quadratic, penalty: &dyn Penalty, tolerance: f64) -> Result<Solution, Error> {
    let solver: &dyn QuadraticSolver = &DualAugmentedLagrangian::default();
    assert_eq!(solver.name(), "dal");
    let control = Control { tolerance, ..Control::default() };
    solver.minimise(problem, penalty, &vec![0.0; problem.n_atoms()], &control)
}

#[test]
fn two_atoms_by_hand() -> Result<(), Error> {
    // Orthonormal atoms with c = (3, 0.5): soft thresholding at 1 gives (2, 0).
    let problem = Quadratic::new(vec![1.0, 0.0, 0.0, 1.0], vec![3.0, 0.5], 10.0)?;
    let penalty = L1::new(1.0, 2)?.nonnegative();
    let solution = minimise(&problem, &penalty, 1e-9)?;
    assert_eq!(solution.status, Status::Converged);
    assert!((solution.coefficients[0] - 2.0).abs() < 1e-12);
    assert_eq!(solution.coefficients[1], 0.0);
    // 5 − 3·2 + 2²/2 + 2 with ‖b‖²/2 = 5.
    assert!((solution.objective - 3.0).abs() < 1e-12);
    let v = correlations(&problem, &solution.coefficients)?;
    let certificate = certify(&problem, &penalty, &solution.coefficients, &v);
    assert_eq!(certificate.relative_gap(), solution.certificate.value());
    Ok(())
}

/// The optimum of the non-negative lasso by trying every support.
fn by_enumeration(problem: &Quadratic, lambda: f64) -> Option<Vec<f64>> {
    let n = problem.n_atoms();
    let c = {
        let mut c = vec![0.0; n];
        problem.correlations(&vec![0.0; n], &mut c);
        c
    };
    let mut best: Option<(f64, Vec<f64>)> = None;
    for bits in 0..1_usize << n {
        let support: Vec<usize> = (0..n).filter(|j| bits >> j & 1 == 1).collect();
        let g = DMatrix::from_fn(support.len(), support.len(), |i, j| {
            problem.gram_column(support[j])[support[i]]
        });
        let right = DVector::from_iterator(support.len(), support.iter().map(|&j| c[j] - lambda));
        let Some(x) = g.clone().cholesky().map(|factor| factor.solve(&right)) else { continue };
        if x.iter().any(|&x| x < 0.0) {
            continue;
        }
        let objective = 0.5 * (g * &x).dot(&x) - right.dot(&x);
        if best.as_ref().is_none_or(|(least, _)| objective < *least) {
            let mut w = vec![0.0; n];
            support.iter().zip(x.iter()).for_each(|(&j, &x)| w[j] = x);
            best = Some((objective, w));
        }
    }
    best.map(|(_, w)| w)
}

#[test]
fn coefficients_are_exact_at_condition_1e5() -> Result<(), Error> {
    for (condition, seed) in [(1e2, 1), (1e5, 2), (1e5, 3)] {
        // The Gram matrix squares the condition of the atoms.
        let data = Data::conditioned(seed, 30, 9, f64::sqrt(condition));
        let problem = quadratic(&data)?;
        for share in [0.1, 1e-3, 1e-5] {
            let lambda = share * data.transpose(&data.observations).iter().copied().fold(0.0, f64::max);
            let penalty = L1::new(lambda, 9)?.nonnegative();
            let solution = minimise(&problem, &penalty, 1e-10)?;
            assert_eq!(solution.status, Status::Converged, "{condition} {share}");
            let expected = by_enumeration(&problem, lambda).unwrap_or_default();
            let scale = expected.iter().fold(0.0_f64, |most, w| most.max(w.abs()));
            for (w, expected) in solution.coefficients.iter().zip(&expected) {
                assert!((w - expected).abs() <= 1e-6 * scale, "{condition} {share}: {w} {expected}");
            }
        }
    }
    Ok(())
}

#[test]
fn the_interface_and_the_explicit_problem_agree() -> Result<(), Error> {
    for penalty in common::ALL_PENALTIES {
        for nonnegative in [false, true] {
            for (n_rows, n_columns) in [(20, 50), (60, 15)] {
                let data = Data::random(11, n_rows, n_columns).with_duplicates();
                let case = Case::new(data, LossKind::Squared, penalty, nonnegative, 0.05);
                let problem = quadratic(&case.data)?;
                let solution = minimise(&problem, &*case.library_penalty()?, 1e-10)?;
                let gap = case.relative_gap(&solution.coefficients);
                let what = format!("{penalty:?} {nonnegative} {n_rows}: {gap:e}");
                assert_eq!(solution.status, Status::Converged, "{what}");
                assert!(gap.abs() <= 1e-10 + 1e-13, "{what}");
            }
        }
    }
    Ok(())
}

#[test]
fn a_working_set_over_many_atoms() -> Result<(), Error> {
    let case = Case::new(Data::random(12, 40, 500), LossKind::Squared, PenaltyKind::L1, true, 0.1);
    let problem = quadratic(&case.data)?;
    let control = Control { tolerance: 1e-10, ..Control::default() };
    let solver = DualAugmentedLagrangian::default();
    let penalty = case.library_penalty()?;
    let found = working_set::solve(&problem, &*penalty, &solver, &[0.0; 500], &control)?;
    assert_eq!(found.solution.status, Status::Converged);
    assert!(case.relative_gap(&found.solution.coefficients).abs() <= 1e-10 + 1e-13);
    Ok(())
}

#[test]
fn a_condition_that_squares_to_the_limit_is_reported_as_it_is() -> Result<(), Error> {
    // Condition 1e6 in the atoms is 1e12 in their Gram matrix.
    let case = Case::new(
        Data::conditioned(13, 60, 40, 1e6).with_duplicates(),
        LossKind::Squared,
        PenaltyKind::L1,
        true,
        1e-3,
    );
    let problem = quadratic(&case.data)?;
    let solution = minimise(&problem, &*case.library_penalty()?, 1e-10)?;
    assert_eq!(solution.status, Status::Converged);
    assert!(case.relative_gap(&solution.coefficients).abs() <= 1e-9);
    Ok(())
}

#[test]
fn degenerate_problems() -> Result<(), Error> {
    let control = Control::default();
    let solver: &dyn QuadraticSolver = &DualAugmentedLagrangian::default();
    // No atoms; a target of zero; atoms of zero; a gram that contradicts the target.
    let empty = Quadratic::new(Vec::new(), Vec::new(), 4.0)?;
    let solution = solver.minimise(&empty, &L1::new(1.0, 0)?, &[], &control)?;
    assert_eq!((solution.status, solution.objective), (Status::Converged, 2.0));
    let no_target = Quadratic::new(vec![1.0], vec![0.0], 0.0)?;
    let solution = solver.minimise(&no_target, &L1::new(1.0, 1)?, &[3.0], &control)?;
    assert_eq!((solution.status, solution.coefficients), (Status::Converged, vec![0.0]));
    let no_atoms = Quadratic::new(vec![0.0; 4], vec![0.0; 2], 1.0)?;
    let solution = solver.minimise(&no_atoms, &L1::new(0.1, 2)?, &[1.0, -1.0], &control)?;
    assert_eq!((solution.status, solution.coefficients), (Status::Converged, vec![0.0; 2]));
    let indefinite = Quadratic::new(vec![1.0, 2.0, 2.0, 1.0], vec![1.0, 1.0], 1.0)?;
    let solution = solver.minimise(&indefinite, &L1::new(0.1, 2)?, &[0.0; 2], &control)?;
    assert!(solution.coefficients.iter().all(|w| w.is_finite()));
    // Sizes that disagree.
    let wrong = solver.minimise(&no_atoms, &L1::new(0.1, 3)?, &[0.0; 2], &control);
    assert!(matches!(wrong, Err(Error::ShapeMismatch { expected: 2, found: 3, .. })), "{wrong:?}");
    let wrong = solver.minimise(&no_atoms, &L1::new(0.1, 2)?, &[0.0; 1], &control);
    assert!(matches!(wrong, Err(Error::ShapeMismatch { expected: 2, found: 1, .. })), "{wrong:?}");
    Ok(())
}

proptest! {
    #[test]
    fn matches_enumeration(seed in 0_u64..100_000, n in 1_usize..8, share in 0.01_f64..1.1) {
        let data = Data::random(seed, 12, n);
        let largest = data.transpose(&data.observations).iter().copied().fold(1e-3, f64::max);
        let lambda = share * largest;
        let solve = || -> Result<(Solution, Vec<f64>), Error> {
            let problem = quadratic(&data)?;
            let solution = minimise(&problem, &L1::new(lambda, n)?.nonnegative(), 1e-12)?;
            Ok((solution, by_enumeration(&problem, lambda).unwrap_or_default()))
        };
        let outcome = solve();
        prop_assert!(outcome.is_ok());
        if let Ok((solution, expected)) = outcome {
            prop_assert_eq!(solution.status, Status::Converged);
            for (w, expected) in solution.coefficients.iter().zip(&expected) {
                prop_assert!((w - expected).abs() <= 1e-8, "{} {}", w, expected);
            }
        }
    }
}
