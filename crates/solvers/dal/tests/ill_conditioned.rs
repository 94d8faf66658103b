//! Problems on which first-order methods crawl.

use crate::common::{ALL_LOSSES, ALL_PENALTIES, Case, Data, LossKind, PenaltyKind};
use fewest_dal::DualAugmentedLagrangian;
use fewest_solver::{Control, DenseOperator, Error, Logistic, Status};

const TOLERANCE: f64 = 1e-10;

#[test]
fn condition_of_a_million_with_duplicates_and_zero_atoms() -> Result<(), Error> {
    for (n_rows, n_columns) in [(120, 120), (30, 400), (400, 30)] {
        for loss in ALL_LOSSES {
            for penalty in ALL_PENALTIES {
                for nonnegative in [false, true] {
                    let data = Data::conditioned(5, n_rows, n_columns, 1e6).with_duplicates();
                    let case = Case::new(data, loss, penalty, nonnegative, 0.01);
                    let solution = case.solve(TOLERANCE)?;
                    let gap = case.relative_gap(&solution.coefficients);
                    let what = format!("{n_rows} {n_columns} {loss:?} {penalty:?} {nonnegative}: {gap:e}");
                    assert_eq!(solution.status, Status::Converged, "{what}");
                    assert!(gap.abs() <= TOLERANCE, "{what}");
                    assert!(solution.iterations <= 15, "{what}: {} iterations", solution.iterations);
                    assert_eq!(solution.coefficients[n_columns - 1], 0.0, "{what}: the zero atom");
                }
            }
        }
    }
    Ok(())
}

#[test]
fn hardly_penalised() -> Result<(), Error> {
    // The smaller the penalty, the more of the spectrum matters.
    for share in [1e-3, 1e-5] {
        let data = Data::conditioned(6, 60, 40, 1e4);
        let case = Case::new(data, LossKind::Squared, PenaltyKind::L1, true, share);
        let solution = case.solve(TOLERANCE)?;
        assert_eq!(solution.status, Status::Converged, "{share}");
        assert!(case.relative_gap(&solution.coefficients).abs() <= TOLERANCE, "{share}");
    }
    Ok(())
}

#[test]
fn at_the_edge_of_what_rounding_allows() -> Result<(), Error> {
    // Coefficients of 10⁴ and more that cancel: eps · ‖A‖ ‖w‖ limits the gap, which must be honest and close.
    for (seed, n_rows, n_columns) in [(1, 60, 40), (2, 20, 30), (3, 60, 40)] {
        for loss in ALL_LOSSES {
            for penalty in [PenaltyKind::L1, PenaltyKind::Group] {
                let data = Data::conditioned(seed, n_rows, n_columns, 1e6);
                let data = if seed == 2 { data.with_duplicates() } else { data };
                let case = Case::new(data, loss, penalty, false, 1e-4);
                let solution = case.solve(TOLERANCE)?;
                let gap = case.relative_gap(&solution.coefficients);
                let what = format!("{seed} {loss:?} {penalty:?}: {gap:e} {:e}", solution.certificate.value());
                assert!(matches!(solution.status, Status::Converged | Status::AlmostConverged), "{what}");
                assert!(gap.abs() <= 1e-8 && solution.certificate.value() <= 1e-9, "{what}");
                assert!(solution.iterations <= 30, "{what}: {}", solution.iterations);
            }
        }
    }
    Ok(())
}

#[test]
fn badly_scaled_columns() -> Result<(), Error> {
    let mut data = Data::random(7, 50, 30);
    for j in 0..30 {
        let scale = 10.0_f64.powi((j as i32 % 7) - 3);
        data.matrix[j * 50..(j + 1) * 50].iter_mut().for_each(|a| *a *= scale);
    }
    for loss in ALL_LOSSES {
        let case = Case::new(data.clone(), loss, PenaltyKind::L1, false, 1e-4);
        let solution = case.solve(TOLERANCE)?;
        assert_eq!(solution.status, Status::Converged, "{loss:?}");
        assert!(case.relative_gap(&solution.coefficients).abs() <= TOLERANCE, "{loss:?}");
    }
    Ok(())
}

#[test]
fn asking_for_more_than_rounding_allows_ends() -> Result<(), Error> {
    let case = Case::new(Data::conditioned(9, 80, 80, 1e6), LossKind::Logistic, PenaltyKind::L1, false, 1e-4);
    let data = &case.data;
    let operator = DenseOperator::new(data.matrix.clone(), data.n_rows, data.n_columns)?;
    let datafit = Logistic::new(operator, data.observations.clone())?;
    let control = Control { tolerance: 1e-300, ..Control::default() };
    let penalty = case.library_penalty()?;
    let solution = DualAugmentedLagrangian::default().solve(&datafit, &*penalty, &[0.0; 80], &control)?;
    assert!(matches!(solution.status, Status::Stalled | Status::Converged), "{:?}", solution.status);
    assert!(solution.certificate.value() <= 1e-10, "{:e}", solution.certificate.value());
    assert!(solution.iterations < 60, "{}", solution.iterations);
    Ok(())
}
