//! The method as a solver of the small dense problems of a working set.

use fewest_solver::certificate::{DualityGap, certify};
use fewest_solver::{
    BlockPenalty, Certificate, Control, DenseOperator, Error, InnerProducts, Penalty, Quadratic,
    QuadraticSolver, Solution, SquaredLoss, Status,
};

use crate::DualAugmentedLagrangian;
use crate::cholesky::PivotedCholesky;
use crate::polish::{newton_step, step_length};

/// Share of its squared length that an atom must have outside the span of those before it to count as
/// independent.
const INDEPENDENT: f64 = 1e-15;
/// Largest number of Newton steps that correct the rounding of the factor.
const MOST_REFINEMENTS: usize = 5;

/// Atoms and target with the inner products of `problem`, in as few dimensions as they need.
///
/// `G = RᵀR` by pivoted Cholesky, `b'` from `Rᵀb' = c`; one more row, zero in every atom, holds the
/// part of `‖b‖²` outside the span of the atoms.
fn isometric(problem: &Quadratic) -> Result<SquaredLoss<DenseOperator>, Error> {
    let n = problem.n_atoms();
    let order: Vec<usize> = (0..n).collect();
    let factor = PivotedCholesky::new(problem.gram(), &order, INDEPENDENT);
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
        let refined =
            refine(problem, penalty.convex_blocks("dal")?, solution.coefficients, control.tolerance);
        let gap = refined.certificate.relative_gap();
        // Because of the rounding of the factor, the gap of the problem itself may be above the tolerance
        // when the gap on the factor is not, and the reverse.
        let status = match solution.status {
            _ if gap <= control.tolerance => Status::Converged,
            Status::Converged | Status::AlmostConverged | Status::Stalled => {
                Status::by_certificate(gap, control.tolerance)
            }
            status => status,
        };
        Ok(Solution {
            coefficients: refined.coefficients,
            objective: refined.certificate.objective,
            certificate: Certificate::gap(gap),
            iterations: solution.iterations,
            status,
        })
    }
}

/// Coefficients with their certificate.
struct Certified {
    coefficients: Vec<f64>,
    correlations: Vec<f64>,
    certificate: DualityGap,
}

impl Certified {
    fn new(problem: &Quadratic, penalty: &dyn BlockPenalty, coefficients: Vec<f64>) -> Self {
        let mut correlations = vec![0.0; problem.n_atoms()];
        problem.correlations(&coefficients, &mut correlations);
        let certificate = certify(problem, penalty, &coefficients, &correlations);
        Self { coefficients, correlations, certificate }
    }
}

/// Newton steps by the Gram matrix itself, free of the factor's rounding, while the gap is above `tolerance`
/// and falls.
fn refine(
    problem: &Quadratic,
    penalty: &dyn BlockPenalty,
    coefficients: Vec<f64>,
    tolerance: f64,
) -> Certified {
    let largest = problem.squared_norms().iter().fold(0.0_f64, |most, norm| most.max(*norm));
    let mut current = Certified::new(problem, penalty, coefficients);
    for _ in 0..MOST_REFINEMENTS {
        let gap = current.certificate.duality_gap;
        if current.certificate.relative_gap() <= tolerance || largest <= 0.0 {
            break;
        }
        let (w, v) = (&current.coefficients, &current.correlations);
        let tau = step_length(largest.recip(), w, v);
        let hessian = |rows: &[usize], columns: &[usize]| {
            let column = |&j: &usize| rows.iter().map(move |&i| problem.gram_column(j)[i]);
            columns.iter().flat_map(column).collect()
        };
        let Some(next) = newton_step(penalty, w, v, tau, hessian) else { break };
        let next = Certified::new(problem, penalty, next);
        if next.certificate.duality_gap.is_nan() || next.certificate.duality_gap >= gap {
            break;
        }
        current = next;
    }
    current
}
