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
    /// The slack, `max(0, sign(β) (t − f̃) − ε)`; 0 except at a bound.
    pub slacks: DVector<f64>,
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
        for (mut column, &i) in kernel.column_iter_mut().zip(&samples) {
            control.go_on(COMPUTED)?;
            problem.kernel().row(i, &mut row);
            for (value, &j) in column.iter_mut().zip(&samples) {
                *value = row[j];
            }
        }
        for (a, &i) in samples.iter().enumerate() {
            kernel[(a, a)] += problem.ridges()[i];
        }
        let coefficients = DVector::from_iterator(m, samples.iter().map(|&i| all[i]));
        let signs = coefficients.map(f64::signum);
        let outputs = &kernel * &coefficients;
        let slack = |a: usize| {
            let i = samples[a];
            let residual = signs[a] * (problem.targets()[i] - outputs[a] - machine.bias);
            if a < n_free { 0.0 } else { (residual - problem.absolute_weights()[i]).max(0.0) }
        };
        let slacks = DVector::from_iterator(m, (0..m).map(slack));
        Ok(Self { samples, n_free, coefficients, kernel, signs, slacks })
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
