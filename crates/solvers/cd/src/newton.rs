//! Newton's method on the non-zero coefficients.
//!
//! Where `w` is not zero the penalty is smooth, and with `l1` the problem is a small linear system,
//! `G_SS w = c_S − λ sign(w_S)`: one solve replaces the thousands of sweeps that an ill-conditioned `G`
//! takes. For a general penalty its curvature follows from the Jacobian `P_b` of the block's prox,
//! `H_b = (P_b⁻¹ − I) / s`, and the step is the semismooth Newton step of the equation
//! `w = prox(w − s ∇f(w))`.

use fewest_solver::{Penalty, Quadratic};
use nalgebra::{Cholesky, DMatrix, DVector, Dyn};

/// Most steps in a row.
const MOST_STEPS: usize = 30;

/// Work allowed in a row, in multiply-adds.
const MOST_WORK: usize = 1_000_000_000;

/// Most halvings of a step.
const MOST_HALVINGS: usize = 10;

/// Moves `w` towards the minimum over its own non-zero coefficients, which may become zero but not change
/// sign. The objective never rises by more than rounding.
///
/// Cost: a Cholesky factor of the non-zeros for each step, `k³ / 3`.
pub(crate) fn polish(problem: &Quadratic, penalty: &dyn Penalty, curvatures: &[f64], w: &mut Vec<f64>) {
    let n = problem.len();
    let most_steps = (MOST_WORK / (n * n * n / 3).max(1)).clamp(3, MOST_STEPS);
    let noise = 1e-15 * fewest_solver::InnerProducts::target_squared_norm(problem);
    let mut correlations = vec![0.0; n];
    let mut before: Option<(Vec<f64>, f64)> = None;
    for _ in 0..most_steps {
        problem.correlations(w, &mut correlations);
        let Some(system) = System::at(problem, penalty, curvatures, w, &correlations) else { return };
        let residual = system.residual();
        // A step too small to be seen in the objective is judged by what it was to make vanish.
        if let Some((earlier, earlier_residual)) = before.take() {
            if residual >= earlier_residual {
                *w = earlier;
                return;
            }
            if residual > 0.5 * earlier_residual {
                return;
            }
        }
        if residual == 0.0 {
            return;
        }
        let Some(direction) = system.direction(n) else { return };
        let line = Line { problem, penalty, w, correlations: &correlations, direction: &direction };
        let Some((point, change)) = line.search(noise) else { return };
        let same_support = point.iter().zip(w.iter()).all(|(new, old)| (*new == 0.0) == (*old == 0.0));
        let earlier = std::mem::replace(w, point);
        if same_support && change > -noise {
            before = Some((earlier, residual));
        }
    }
}

/// `M d = r` over the smooth coordinates, with `M = G + H` and `r` the negative gradient there.
struct System {
    coordinates: Vec<usize>,
    matrix: DMatrix<f64>,
    right: DVector<f64>,
}

impl System {
    fn at(
        problem: &Quadratic,
        penalty: &dyn Penalty,
        curvatures: &[f64],
        w: &[f64],
        correlations: &[f64],
    ) -> Option<Self> {
        let (mut coordinates, mut right) = (Vec::new(), Vec::new());
        // Curvatures of the penalty: where their square starts in the system, and the square.
        let mut squares: Vec<(usize, DMatrix<f64>)> = Vec::new();
        let blocks = penalty.blocks();
        for (b, block) in blocks.iter().enumerate() {
            if curvatures[b] <= 0.0 || block.iter().all(|&j| w[j] == 0.0) {
                continue;
            }
            let step = curvatures[b].recip();
            let moved: Vec<f64> = block.iter().map(|&j| w[j] + step * correlations[j]).collect();
            let mut target = moved.clone();
            penalty.prox_block(b, &mut target, step);
            let size = block.len();
            let mut jacobian = vec![0.0; size * size];
            penalty.prox_jacobian_block(b, &moved, step, &mut jacobian);
            // Where prox and w are on two sides of a kink, or the prox is flat, the sweeps do better.
            let smooth: Vec<usize> = (0..size)
                .filter(|&i| w[block[i]] * target[i] > 0.0 && jacobian[i + i * size] > 0.0)
                .collect();
            if smooth.is_empty() {
                continue;
            }
            let m = smooth.len();
            let part = DMatrix::from_fn(m, m, |i, j| jacobian[smooth[i] + smooth[j] * size]);
            let short = DVector::from_fn(m, |i, _| target[smooth[i]] - w[block[smooth[i]]]);
            let inverse = part.cholesky()?.inverse();
            let wanted = &inverse * short / step;
            right.extend(wanted.iter());
            squares.push((coordinates.len(), (inverse - DMatrix::identity(m, m)) / step));
            coordinates.extend(smooth.iter().map(|&i| block[i]));
        }
        let k = coordinates.len();
        let mut matrix = DMatrix::from_fn(k, k, |i, j| problem.gram_column(coordinates[j])[coordinates[i]]);
        for (start, square) in &squares {
            let mut view = matrix.view_mut((*start, *start), square.shape());
            view += square;
        }
        (k > 0).then_some(Self { coordinates, matrix, right: DVector::from_vec(right) })
    }

    /// The largest entry of the negative gradient, each in the unit of its own curvature.
    fn residual(&self) -> f64 {
        let scaled = |i: usize| self.right[i].abs() / self.matrix[(i, i)].sqrt();
        (0..self.right.len()).map(scaled).fold(0.0, f64::max)
    }

    /// The Newton direction, one entry a coefficient.
    fn direction(mut self, n: usize) -> Option<Vec<f64>> {
        let k = self.right.len();
        let scales = DVector::from_fn(k, |i, _| self.matrix[(i, i)].sqrt().recip());
        if !scales.iter().all(|scale| scale.is_finite()) {
            return None;
        }
        for j in 0..k {
            for i in 0..k {
                self.matrix[(i, j)] *= scales[i] * scales[j];
            }
        }
        let right = self.right.component_mul(&scales);
        let solution = factor(&self.matrix)?.solve(&right).component_mul(&scales);
        let mut direction = vec![0.0; n];
        for (&j, &value) in self.coordinates.iter().zip(solution.iter()) {
            if !value.is_finite() {
                return None;
            }
            direction[j] = value;
        }
        Some(direction)
    }
}

/// The Cholesky factor of a positive semidefinite matrix of unit diagonal, with as little ridge as it takes.
/// Repeated steps wash out what the ridge changes.
fn factor(matrix: &DMatrix<f64>) -> Option<Cholesky<f64, Dyn>> {
    [1e-13, 1e-11, 1e-9, 1e-7].into_iter().find_map(|ridge| {
        let mut ridged = matrix.clone();
        for i in 0..ridged.nrows() {
            ridged[(i, i)] += ridge;
        }
        ridged.cholesky()
    })
}

/// The points that a Newton direction leads to.
struct Line<'a> {
    problem: &'a Quadratic,
    penalty: &'a dyn Penalty,
    w: &'a [f64],
    correlations: &'a [f64],
    direction: &'a [f64],
}

impl Line<'_> {
    /// The first of these points that does not raise the objective, with the objective's change: the full
    /// step with all coefficients that change sign put to zero, the step up to the first change of sign,
    /// and its halves.
    fn search(&self, noise: f64) -> Option<(Vec<f64>, f64)> {
        let full = self.point(1.0);
        let crossing = self.crossing(&full);
        let mut projected = full;
        for &j in &crossing {
            projected[j] = 0.0;
        }
        let change = self.change(&projected);
        if change < -noise || (crossing.is_empty() && change <= noise) {
            return Some((projected, change));
        }
        let to_zero = |j: usize| -self.w[j] / self.direction[j];
        let mut length = crossing.iter().map(|&j| to_zero(j)).fold(1.0, f64::min);
        for halving in 0..=MOST_HALVINGS {
            let mut point = self.point(length);
            for &j in crossing.iter().filter(|&&j| halving == 0 && to_zero(j) <= length) {
                point[j] = 0.0;
            }
            let change = self.change(&point);
            if change <= noise {
                return Some((point, change));
            }
            length *= 0.5;
        }
        None
    }

    fn point(&self, length: f64) -> Vec<f64> {
        self.w.iter().zip(self.direction).map(|(w, d)| w + length * d).collect()
    }

    /// The coefficients that must stop at zero on the way to `point`: where the penalty has a kink of its
    /// own for the coefficient, or forbids the sign.
    fn crossing(&self, point: &[f64]) -> Vec<usize> {
        let blocks = self.penalty.blocks();
        let mut crossing = Vec::new();
        for (b, block) in blocks.iter().enumerate() {
            let entries: Vec<f64> = block.iter().map(|&j| point[j]).collect();
            if block.len() == 1 || !self.penalty.value_block(b, &entries).is_finite() {
                crossing.extend(block.iter().filter(|&&j| self.w[j] != 0.0 && self.w[j] * point[j] <= 0.0));
            }
        }
        crossing
    }

    /// The objective at `point` less that at `w`, from the difference itself.
    fn change(&self, point: &[f64]) -> f64 {
        let difference: Vec<f64> = point.iter().zip(self.w).map(|(new, old)| new - old).collect();
        let mut products = vec![0.0; difference.len()];
        for (j, &d) in difference.iter().enumerate().filter(|&(_, &d)| d != 0.0) {
            for (product, g) in products.iter_mut().zip(self.problem.gram_column(j)) {
                *product += d * g;
            }
        }
        let smooth: f64 = difference
            .iter()
            .zip(&products)
            .zip(self.correlations)
            .map(|((d, product), q)| d * (0.5 * product - q))
            .sum();
        let blocks = self.penalty.blocks();
        let mut entries = Vec::new();
        let mut value = |b: usize, w: &[f64]| {
            entries.clear();
            entries.extend(blocks.block(b).iter().map(|&j| w[j]));
            self.penalty.value_block(b, &entries)
        };
        smooth + (0..blocks.len()).map(|b| value(b, point) - value(b, self.w)).sum::<f64>()
    }
}
