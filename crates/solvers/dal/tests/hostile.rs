//! Input with one thing wrong, or at the edge of what is allowed.

use crate::common::{self, Data, LossKind, PenaltyKind};
use fewest_dal::{DualAugmentedLagrangian, PenalisedLoss};
use fewest_solver::{
    BlockPenalty, Control, DenseOperator, ElasticNetPenalty, Error, GroupLasso, L1, Logistic, Penalty,
    SquaredLoss, Status,
};

fn operator(data: &Data) -> Result<DenseOperator, Error> {
    DenseOperator::new(data.matrix.clone(), data.n_rows, data.n_columns)
}

fn squared(data: &Data) -> Result<SquaredLoss<DenseOperator>, Error> {
    SquaredLoss::new(operator(data)?, data.observations.clone())
}

#[test]
fn without_a_penalty_it_is_least_squares() -> Result<(), Error> {
    let data = Data::random(1, 30, 6);
    let solution = DualAugmentedLagrangian::default().solve(
        &squared(&data)?,
        &L1::new(0.0, 6)?,
        &[0.0; 6],
        &Control::default(),
    )?;
    // Only dual points orthogonal to every column are feasible, and scaling reaches but zero: no certificate,
    // and it says so, although the coefficients are right.
    assert_eq!(solution.status, Status::Stalled);
    let fitted = data.apply(&solution.coefficients);
    let residual: Vec<f64> = data.observations.iter().zip(&fitted).map(|(b, z)| b - z).collect();
    assert!(data.transpose(&residual).iter().all(|v| v.abs() < 1e-10));
    Ok(())
}

#[test]
fn without_a_penalty_separable_labels_have_an_infimum_of_zero() -> Result<(), Error> {
    let operator = DenseOperator::new(vec![1.0, 2.0, -1.0], 3, 1)?;
    let datafit = Logistic::new(operator, vec![1.0, 1.0, -1.0])?;
    let solution =
        DualAugmentedLagrangian::default().solve(&datafit, &L1::new(0.0, 1)?, &[0.0], &Control::default())?;
    assert!(solution.coefficients[0].is_finite() && solution.objective < 1e-6, "{solution:?}");
    Ok(())
}

#[test]
fn from_the_largest_useful_penalty_on_everything_is_zero() -> Result<(), Error> {
    for loss in common::ALL_LOSSES {
        for kind in [PenaltyKind::L1, PenaltyKind::Group] {
            for share in [3.0, 100.0] {
                let case = common::Case::new(Data::random(2, 20, 9), loss, kind, false, share);
                let penalty = case.library_penalty()?;
                let (start, control) = (vec![0.5; 9], Control::default());
                let solver = DualAugmentedLagrangian::default();
                let b = case.data.observations.clone();
                let solution = match loss {
                    LossKind::Squared => solver.solve(
                        &SquaredLoss::new(operator(&case.data)?, b)?,
                        &*penalty,
                        &start,
                        &control,
                    ),
                    LossKind::Logistic => {
                        solver.solve(&Logistic::new(operator(&case.data)?, b)?, &*penalty, &start, &control)
                    }
                }?;
                assert_eq!(solution.status, Status::Converged);
                assert_eq!(solution.coefficients, vec![0.0; 9], "{loss:?} {kind:?} {share}");
            }
        }
    }
    // Exactly at the largest correlation, from zero: nothing to do.
    let data = Data::random(2, 20, 9);
    let largest = data.transpose(&data.observations).iter().fold(0.0_f64, |most, v| most.max(v.abs()));
    let solution = DualAugmentedLagrangian::default().solve(
        &squared(&data)?,
        &L1::new(largest, 9)?,
        &[0.0; 9],
        &Control::default(),
    )?;
    assert_eq!((solution.status, solution.coefficients), (Status::Converged, vec![0.0; 9]));
    Ok(())
}

#[test]
fn labels_must_be_signs() -> Result<(), Error> {
    for bad in [0.0, 2.0] {
        let error = Logistic::new(DenseOperator::new(vec![1.0, 1.0], 2, 1)?, vec![1.0, bad]).err();
        assert!(matches!(error, Some(Error::InvalidParameter { name: "label", .. })), "{error:?}");
    }
    for bad in [f64::NAN, f64::INFINITY] {
        let error = SquaredLoss::new(DenseOperator::new(vec![1.0, 1.0], 2, 1)?, vec![1.0, bad]).err();
        assert!(matches!(error, Some(Error::NonFiniteTarget { row: 1, .. })), "{error:?}");
    }
    Ok(())
}

#[test]
fn sizes_must_agree() -> Result<(), Error> {
    let data = Data::random(3, 10, 4);
    let datafit = squared(&data)?;
    let solver = DualAugmentedLagrangian::default();
    let control = Control::default();
    let error = solver.solve(&datafit, &L1::new(1.0, 5)?, &[0.0; 4], &control).err();
    assert!(matches!(error, Some(Error::ShapeMismatch { expected: 4, found: 5, .. })), "{error:?}");
    let error = solver.solve(&datafit, &L1::new(1.0, 4)?, &[0.0; 3], &control).err();
    assert!(matches!(error, Some(Error::ShapeMismatch { expected: 4, found: 3, .. })), "{error:?}");
    Ok(())
}

#[test]
fn numbers_must_be_finite() -> Result<(), Error> {
    let mut data = Data::random(4, 10, 4);
    let solver = DualAugmentedLagrangian::default();
    let penalty = L1::new(1.0, 4)?;
    for bad in [f64::NAN, f64::INFINITY] {
        let error =
            solver.solve(&squared(&data)?, &penalty, &[0.0, bad, 0.0, 0.0], &Control::default()).err();
        assert!(matches!(error, Some(Error::InvalidParameter { name: "start", .. })), "{error:?}");
    }
    let tolerance = Control { tolerance: 0.0, ..Control::default() };
    let error = solver.solve(&squared(&data)?, &penalty, &[0.0; 4], &tolerance).err();
    assert!(matches!(error, Some(Error::InvalidParameter { name: "tolerance", .. })), "{error:?}");
    for bad in [f64::NAN, f64::INFINITY, 1e200] {
        data.matrix[17] = bad;
        // Either refused, or a finite answer that does not claim to have converged wrongly.
        match solver.solve(&squared(&data)?, &penalty, &[0.0; 4], &Control::default()) {
            Err(error) => assert!(matches!(error, Error::Numerical { .. }), "{error:?}"),
            Ok(solution) => {
                assert!(bad.is_finite(), "{bad}");
                assert!(solution.coefficients.iter().all(|w| w.is_finite()), "{solution:?}");
            }
        }
    }
    Ok(())
}

#[test]
fn parameters_have_ranges() {
    let solver = DualAugmentedLagrangian::default;
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = solver().with_initial_step(bad).err();
        assert!(matches!(error, Some(Error::InvalidParameter { name: "initial_step", .. })), "{error:?}");
    }
    for bad in [1.0, 0.5, f64::NAN, f64::INFINITY] {
        let error = solver().with_growth(bad).err();
        assert!(matches!(error, Some(Error::InvalidParameter { name: "growth", .. })), "{error:?}");
    }
    assert!(solver().with_initial_step(1e-3).is_ok() && solver().with_growth(2.0).is_ok());
}

#[test]
fn empty_problems() -> Result<(), Error> {
    let solver = DualAugmentedLagrangian::default();
    let control = Control::default();
    let no_columns = SquaredLoss::new(DenseOperator::new(Vec::new(), 2, 0)?, vec![1.0, 1.0])?;
    let solution = solver.solve(&no_columns, &L1::new(1.0, 0)?, &[], &control)?;
    assert_eq!((solution.status, solution.objective), (Status::Converged, 1.0));
    let no_rows = SquaredLoss::new(DenseOperator::new(Vec::new(), 0, 2)?, Vec::new())?;
    for start in [[0.0, 0.0], [1.0, -2.0]] {
        let solution = solver.solve(&no_rows, &L1::new(1.0, 2)?, &start, &control)?;
        assert_eq!((solution.status, solution.objective), (Status::Converged, 0.0));
    }
    let nothing = Logistic::new(DenseOperator::new(Vec::new(), 0, 0)?, Vec::new())?;
    let solution = solver.solve(&nothing, &GroupLasso::new(1.0, &[])?, &[], &control)?;
    assert_eq!(solution.status, Status::Converged);
    let no_atoms = SquaredLoss::new(DenseOperator::new(vec![0.0; 6], 2, 3)?, vec![1.0, 2.0])?;
    let ridge = ElasticNetPenalty::new(L1::new(1.0, 3)?, 1.0)?;
    let solution = solver.solve(&no_atoms, &ridge, &[1.0; 3], &control)?;
    assert_eq!(solution.status, Status::Converged);
    assert!(solution.coefficients.iter().all(|w| w.abs() < 1e-4), "{solution:?}");
    Ok(())
}

/// An l1 penalty that claims not to be convex.
struct NotConvex(L1);

impl Penalty for NotConvex {
    fn name(&self) -> &'static str {
        "odd"
    }
    fn n_coefficients(&self) -> usize {
        self.0.n_coefficients()
    }
    fn value(&self, w: &[f64]) -> f64 {
        self.0.value(w)
    }
    fn prox(&self, w: &mut [f64], step: f64) {
        self.0.prox(w, step);
    }
    fn is_convex(&self) -> bool {
        false
    }
    fn by_blocks(&self) -> Option<&dyn BlockPenalty> {
        Some(&self.0)
    }
}

#[test]
fn a_penalty_that_is_not_convex_is_refused() -> Result<(), Error> {
    let data = Data::random(5, 10, 3);
    let datafit = squared(&data)?;
    let penalty = NotConvex(L1::new(1.0, 3)?);
    let error = PenalisedLoss::new(&datafit, &penalty).err();
    assert!(matches!(error, Some(Error::Unsupported { method: "dal", .. })), "{error:?}");
    assert!(error.is_some_and(|error| error.to_string().contains("odd")));
    Ok(())
}
