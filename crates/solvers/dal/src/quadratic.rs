//! Serving the small dense problems of a working set.

use fewest_solver::certificate::certify;
use fewest_solver::{
    Control, DenseOperator, Error, InnerProducts, Penalty, Quadratic, QuadraticSolver, Solution, SquaredLoss,
    Status,
};

use crate::DualAugmentedLagrangian;
use crate::cholesky::PivotedCholesky;

/// Share of its squared length that an atom must have outside the span of those before it to count as
/// independent.
const INDEPENDENT: f64 = 1e-15;

/// Atoms and target with the inner products of `problem`, in as few dimensions as they need.
///
/// `G = RᵀR` by pivoted Cholesky, `b'` from `Rᵀb' = c`; one more row, zero in every atom, holds what of
/// `‖b‖²` lies outside the span of the atoms.
fn isometric(problem: &Quadratic) -> Result<SquaredLoss<DenseOperator>, Error> {
    let n = problem.len();
    let factor = PivotedCholesky::new(problem.gram(), n, INDEPENDENT);
    let mut observations = factor.solve_transposed(problem.target_products());
    let explained: f64 = observations.iter().map(|b| b * b).sum();
    observations.push((problem.target_squared_norm() - explained).max(0.0).sqrt());
    let n_rows = observations.len();
    let mut values = vec![0.0; n_rows * n];
    for k in 0..factor.rank() {
        for (j, &value) in factor.row(k).iter().enumerate() {
            values[k + j * n_rows] = value;
        }
    }
    SquaredLoss::new(DenseOperator::new(values, n_rows, n)?, observations)
}

impl QuadraticSolver for DualAugmentedLagrangian {
    fn name(&self) -> &'static str {
        "dal"
    }

    /// Recovers explicit atoms by pivoted Cholesky and runs the method on them; the gap returned is that of
    /// `problem` itself. Cost: `n r²` for the rank `r`, then the outer iterations on an `r × n` operator.
    fn minimise(
        &self,
        problem: &Quadratic,
        penalty: &dyn Penalty,
        start: &[f64],
        control: &Control<'_>,
    ) -> Result<Solution, Error> {
        let datafit = isometric(problem)?;
        let solution = self.solve(&datafit, penalty, start, control)?;
        let mut correlations = vec![0.0; problem.len()];
        problem.correlations(&solution.coefficients, &mut correlations);
        let certificate = certify(problem, penalty, &solution.coefficients, &correlations);
        let gap = certificate.relative_gap();
        // What was reached on the factor may be missed by its rounding.
        let status = match solution.status {
            Status::Converged if gap > 1e3 * control.tolerance => Status::Stalled,
            Status::Converged if gap > control.tolerance => Status::AlmostConverged,
            status => status,
        };
        Ok(Solution { objective: certificate.objective, duality_gap: gap, status, ..solution })
    }
}
