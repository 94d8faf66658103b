//! The support vectors of a machine and the linear system that its free ones solve.

use fewest_core::Error;
use fewest_linalg::Cholesky;
use fewest_smo::{DualProblem, Machine};
use fewest_solver::Control;
use nalgebra::{DMatrix, DVector};

/// Added to the diagonal, relative to its largest entry: kernels of equal samples have no inverse.
const JITTER: f64 = 1e-13;

/// The kernel `K̃ = K + r` between support vectors, the free ones first.
pub(super) struct Support {
    /// Free support vectors, then those at a bound, each increasing.
    pub samples: Vec<usize>,
    pub n_free: usize,
    pub coefficients: DVector<f64>,
    pub kernel: DMatrix<f64>,
    /// `sign(β)`.
    pub signs: DVector<f64>,
    /// Whether the slack is above 0, at an optimum only possible at a bound.
    pub has_slack: Vec<bool>,
    /// `Σ ξ` over all samples, those without a coefficient too: with the coefficients of another kernel they
    /// have slacks as well. 0 for squared losses.
    pub slack: f64,
}

impl Support {
    pub(super) fn new(
        problem: &DualProblem<'_>,
        machine: &Machine,
        control: &Control<'_>,
    ) -> Result<Self, Error> {
        let all = &machine.dual.solution.coefficients;
        if all.len() != problem.n_variables() {
            let (expected, found) = (problem.n_variables(), all.len());
            return Err(Error::ShapeMismatch { what: "coefficients of the machine", expected, found });
        }
        let (mut samples, bounded): (Vec<usize>, Vec<usize>) =
            machine.support.iter().partition(|&&i| problem.is_free(i, all[i]));
        let n_free = samples.len();
        samples.extend(bounded);
        let m = samples.len();
        let mut kernel = DMatrix::zeros(m, m);
        let mut row = vec![0.0; problem.n_variables()];
        let mut outputs = vec![machine.bias; problem.n_variables()];
        for (mut column, &i) in kernel.column_iter_mut().zip(&samples) {
            control.go_on(COMPUTED)?;
            problem.kernel().row(i, &mut row);
            outputs.iter_mut().zip(&row).for_each(|(output, value)| *output += all[i] * value);
            for (value, &j) in column.iter_mut().zip(&samples) {
                *value = row[j];
            }
        }
        for (a, &i) in samples.iter().enumerate() {
            kernel[(a, a)] += problem.ridges()[i];
        }
        let coefficients = DVector::from_iterator(m, samples.iter().map(|&i| all[i]));
        let signs = coefficients.map(f64::signum);
        let slacks: Vec<f64> =
            outputs.iter().enumerate().map(|(i, output)| slack(problem, i, *output)).collect();
        let has_slack = samples.iter().enumerate().map(|(a, &i)| a >= n_free && slacks[i] > 0.0).collect();
        let slack = slacks.iter().sum();
        Ok(Self { samples, n_free, coefficients, kernel, signs, has_slack, slack })
    }

    pub(super) fn len(&self) -> usize {
        self.samples.len()
    }

    /// The rows and columns of the free ones, bordered by ones:
    ///
    /// ```text
    /// M = ( K̃_FF  1 )
    ///     (  1ᵀ   0 )
    /// ```
    pub(super) fn bordered(&self, control: &Control<'_>) -> Result<Bordered, Error> {
        let m = self.n_free;
        let mut matrix = self.kernel.view((0, 0), (m, m)).into_owned();
        let largest = matrix.diagonal().iter().fold(f64::MIN_POSITIVE, |most, value| most.max(*value));
        let jitter = JITTER * m as f64 * largest;
        // With the border a constant in all entries changes the multiplier only; a linear kernel of d
        // features and d + 1 free vectors gets the rank it lacks.
        matrix.add_scalar_mut(largest);
        for a in 0..m {
            matrix[(a, a)] += jitter;
        }
        let hint = "the kernel of the support vectors is not positive semidefinite".to_owned();
        let fault = Error::Numerical { what: "the inverse of the kernel of the support vectors", hint };
        let factor = Cholesky::of_unless(matrix.data.into(), m, &|| control.stopped().is_some());
        control.go_on(COMPUTED)?;
        let factor = factor.ok_or(fault)?;
        let mut ones = DVector::from_element(m, 1.0);
        factor.solve(ones.as_mut_slice());
        let sum = ones.sum();
        Ok(Bordered { factor, ones, sum, jitter, shift: largest })
    }
}

/// What a stop comes before.
pub(super) const COMPUTED: &str = "the bound on the leave-one-out error was computed";

/// The slack `ξ_i` of a linear loss at an output: how far the residual `t − f` exceeds `ε` on a side that the
/// bounds on `β_i` allow. A squared loss has no bounds and no slacks, but a ridge.
fn slack(problem: &DualProblem<'_>, i: usize, output: f64) -> f64 {
    let residual = problem.targets()[i] - output;
    let (lower, upper) = problem.bounds(i);
    let above = if upper > 0.0 && upper.is_finite() { residual } else { 0.0 };
    let below = if lower < 0.0 && lower.is_finite() { -residual } else { 0.0 };
    (above.max(below) - problem.absolute_weights()[i]).max(0.0)
}

/// `M⁻¹` through the Cholesky factor of `K̃_FF + shift`, which has at least one row.
pub(super) struct Bordered {
    factor: Cholesky,
    shift: f64,
    /// The factor's solution for ones, and its sum.
    ones: DVector<f64>,
    sum: f64,
    pub jitter: f64,
}

impl Bordered {
    /// The upper part of `M⁻¹ (right, last)`, and its last entry.
    pub(super) fn solve(&self, right: &DVector<f64>, last: f64) -> (DVector<f64>, f64) {
        let mut upper = right.clone();
        self.factor.solve(upper.as_mut_slice());
        let bias = (upper.sum() - last) / self.sum;
        (upper - &self.ones * bias, bias + self.shift * last)
    }

    /// Column `p` of the upper left block of `M⁻¹`.
    pub(super) fn inverse_column(&self, p: usize) -> DVector<f64> {
        let mut unit = DVector::zeros(self.ones.len());
        unit[p] = 1.0;
        self.solve(&unit, 0.0).0
    }

    /// The diagonal entry of that column.
    pub(super) fn inverse_diagonal(&self, p: usize) -> f64 {
        let mut unit = vec![0.0; self.ones.len()];
        unit[p] = 1.0;
        self.factor.solve_lower(&mut unit);
        unit.iter().map(|value| value * value).sum::<f64>() - self.ones[p] * self.ones[p] / self.sum
    }
}
