//! The path as a solver of one small problem.

use fewest_solver::{
    BlockPenalty, Certificate, Control, Error, Penalty, Quadratic, QuadraticSolver, Signed, Solution, Status,
    certificate, run,
};

use crate::homotopy::Homotopy;

/// Solves a [`Quadratic`] with an l1 penalty, with or without `w ≥ 0`, by following the path down to it:
/// exact up to rounding, with one step for each atom that joins or leaves. Starting coefficients are not
/// used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Lars;

impl QuadraticSolver for Lars {
    fn name(&self) -> &'static str {
        "lars"
    }

    fn follows_path(&self) -> bool {
        true
    }

    fn minimise(
        &self,
        problem: &Quadratic,
        penalty: &dyn Penalty,
        _start: &[f64],
        control: &Control<'_>,
    ) -> Result<Solution, Error> {
        let unsupported = || Error::Unsupported {
            method: "lars",
            what: format!("the penalty {}, which is not l1", penalty.name()),
            instead: "use the solver cd, dal or pgd, or add the elastic net's ridge to the problem (Ridged)"
                .to_owned(),
        };
        let l1 = penalty.by_blocks().and_then(BlockPenalty::as_l1).ok_or_else(unsupported)?;
        if l1.levels().len() != problem.n_atoms() {
            let (expected, found) = (problem.n_atoms(), l1.levels().len());
            return Err(Error::ShapeMismatch { what: "levels of the penalty", expected, found });
        }
        // The path in the scale of the penalty: weights are its levels, and its end is at 1.
        let n = problem.n_atoms();
        let (mut solution, is_done);
        if l1.is_nonnegative() {
            let mut homotopy = Homotopy::new(l1.levels().to_vec(), 1.0, usize::MAX)?;
            solution = run(problem, &mut homotopy, vec![0.0; n], control)?;
            is_done = homotopy.is_done();
        } else {
            let levels = l1.levels().iter().flat_map(|level| [*level; 2]).collect();
            let mut homotopy = Homotopy::new(levels, 1.0, usize::MAX)?;
            solution = run(&Signed::new(problem), &mut homotopy, vec![0.0; 2 * n], control)?;
            is_done = homotopy.is_done();
            let (signs, _) = solution.coefficients.as_chunks::<2>();
            solution.coefficients = signs.iter().map(|[positive, negative]| positive - negative).collect();
        }
        let mut correlations = vec![0.0; problem.n_atoms()];
        problem.correlations(&solution.coefficients, &mut correlations);
        let certificate = certificate::certify(problem, l1, &solution.coefficients, &correlations);
        solution.objective = certificate.objective;
        let gap = certificate.relative_gap();
        solution.certificate = Certificate::gap(gap);
        if is_done {
            solution.status = Status::by_certificate(gap, control.tolerance);
        }
        Ok(solution)
    }
}
