//! Newton's method on the non-zero coefficients.
//!
//! Where `w` is not zero the penalty is smooth, and with `l1` the problem is a small linear system,
//! `G_SS w = c_S − λ sign(w_S)`: one solve replaces the thousands of sweeps that an ill-conditioned `G`
//! takes. For a general penalty its gradient and curvature follow from the block's prox and the Jacobian
//! of that.

use fewest_core::order;
use fewest_linalg::Cholesky;
use fewest_solver::{BlockPenalty, Quadratic};
use nalgebra::{DMatrix, DVector};

/// Largest number of steps in a row.
const MOST_STEPS: usize = 30;

/// As many multiplications of a step in its factor take the time of one in a sweep.
const BLOCKED: f64 = 8.0;

/// Most halvings of a step: along directions in which the objective decreases up to a breakpoint, steps are
/// far too long.
const MOST_HALVINGS: usize = 60;

/// Moves `w` towards the minimum over its own non-zero coefficients, which may become zero but not change
/// sign. The objective never rises by more than rounding.
///
/// A step that leaves all of them non-zero is repeated, since the factor has a small ridge. After one that
/// makes some of them zero there is another only if it lowered the objective by more, for its work, than the
/// sweeps before, of which there were `sweeps` and which lowered it by `descent`: they too find the
/// coefficients that become zero, and for less unless the problem is ill-conditioned.
///
/// Cost: a Cholesky factor of the non-zeros for each step, `k³ / 3`.
pub(crate) fn polish(
    problem: &Quadratic,
    penalty: &dyn BlockPenalty,
    curvatures: &[f64],
    w: &mut Vec<f64>,
    sweeps: usize,
    descent: f64,
) {
    let n = problem.n_atoms();
    // What a step takes beyond the work of the sweeps, in that.
    let more = (n as f64 / (3.0 * BLOCKED * sweeps.max(1) as f64) - 1.0).max(0.0);
    let noise = 1e-15 * fewest_solver::InnerProducts::target_squared_norm(problem);
    let mut correlations = vec![0.0; n];
    let mut before: Option<(Vec<f64>, f64)> = None;
    for _ in 0..MOST_STEPS {
        problem.correlations(w, &mut correlations);
        let Some(system) = System::at(problem, penalty, curvatures, w, &correlations) else { return };
        let residual = system.residual();
        // A step too small to change the objective is measured by the gradient, which it should make zero.
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
        if !same_support {
            if -change < more * descent {
                return;
            }
        } else if change > -noise {
            before = Some((earlier, residual));
        }
    }
}

/// `M d = r` over the smooth coordinates, with `M = G + H` and `r` the negative gradient there.
struct System {
    coordinates: Vec<usize>,
    /// Column after column.
    matrix: Vec<f64>,
    right: Vec<f64>,
}

impl System {
    fn at(
        problem: &Quadratic,
        penalty: &dyn BlockPenalty,
        curvatures: &[f64],
        w: &[f64],
        correlations: &[f64],
    ) -> Option<Self> {
        let (mut coordinates, mut right) = (Vec::new(), Vec::new());
        // Curvatures of the penalty: where their square starts in the system, and the square.
        let mut squares: Vec<(usize, DMatrix<f64>)> = Vec::new();
        for (b, block) in penalty.blocks().iter().enumerate() {
            if let (Some(l1), &[j]) = (penalty.as_l1(), block) {
                if curvatures[b] > 0.0 && w[j] != 0.0 {
                    coordinates.push(j);
                    right.push(correlations[j] - l1.levels()[b] * w[j].signum());
                }
                continue;
            }
            let entries: Vec<f64> = block.iter().map(|&j| w[j]).collect();
            if curvatures[b] <= 0.0 {
                continue;
            }
            if let Some(slope) = Slope::of(penalty, b, &entries, curvatures[b].recip()) {
                squares.push((coordinates.len(), slope.curvature));
                for (&i, gradient) in slope.smooth.iter().zip(&slope.gradient) {
                    coordinates.push(block[i]);
                    right.push(correlations[block[i]] - gradient);
                }
            }
        }
        let k = coordinates.len();
        let mut matrix = Vec::with_capacity(k * k);
        for &j in &coordinates {
            let column = problem.gram_column(j);
            matrix.extend(coordinates.iter().map(|&i| column[i]));
        }
        for (start, square) in &squares {
            for (j, column) in square.column_iter().enumerate() {
                let first = start + (start + j) * k;
                matrix[first..first + column.len()].iter_mut().zip(&column).for_each(|(m, s)| *m += s);
            }
        }
        (k > 0).then_some(Self { coordinates, matrix, right })
    }

    /// The largest entry of the negative gradient, each in the unit of its own curvature.
    fn residual(&self) -> f64 {
        let k = self.right.len();
        let scaled = |i: usize| self.right[i].abs() / self.matrix[i + i * k].sqrt();
        (0..self.right.len()).map(scaled).fold(0.0, f64::max)
    }

    /// The Newton direction, one entry per coefficient.
    fn direction(mut self, n: usize) -> Option<Vec<f64>> {
        let k = self.right.len();
        let scales: Vec<f64> = (0..k).map(|i| self.matrix[i + i * k].sqrt().recip()).collect();
        if !scales.iter().all(|scale| scale.is_finite()) {
            return None;
        }
        for (column, own) in self.matrix.chunks_exact_mut(k).zip(&scales) {
            column.iter_mut().zip(&scales).for_each(|(value, scale)| *value *= scale * own);
        }
        let mut solution: Vec<f64> =
            self.right.iter().zip(&scales).map(|(value, scale)| value * scale).collect();
        factor(&self.matrix, k)?.solve(&mut solution);
        let mut direction = vec![0.0; n];
        for ((&j, value), scale) in self.coordinates.iter().zip(solution).zip(&scales) {
            if !value.is_finite() {
                return None;
            }
            direction[j] = value * scale;
        }
        Some(direction)
    }
}

/// Gradient and curvature of the penalty in a block, at the entries where it is smooth.
struct Slope {
    smooth: Vec<usize>,
    gradient: Vec<f64>,
    curvature: DMatrix<f64>,
}

impl Slope {
    /// Most Newton steps for the inverse of a prox; exact after one for all penalties that are quadratic
    /// along rays.
    const MOST_STEPS: usize = 20;

    /// From the prox: `prox(v) = w` means `∇Ω(w) = (v − w) / step`, and with the prox's Jacobian `P` at `v`
    /// the curvature is `(P⁻¹ − I) / step`. `v` is found by Newton's method from `2w`.
    fn of(penalty: &dyn BlockPenalty, block: usize, w: &[f64], step: f64) -> Option<Self> {
        let size = w.len();
        let smooth: Vec<usize> = (0..size).filter(|&i| w[i] != 0.0).collect();
        if smooth.is_empty() {
            return None;
        }
        // A step so short that the prox of 2w is not zero.
        let doubled: Vec<f64> = w.iter().map(|w| 2.0 * w).collect();
        let (mut step, mut v, mut image) = (step, doubled.clone(), vec![0.0; size]);
        for _ in 0..200 {
            image.copy_from_slice(&v);
            penalty.prox_block(block, &mut image, step);
            if smooth.iter().all(|&i| image[i] != 0.0) {
                break;
            }
            step *= 0.5;
        }
        let mut jacobian = vec![0.0; size * size];
        for _ in 0..Self::MOST_STEPS {
            penalty.prox_jacobian_block(block, &v, step, &mut jacobian);
            let part =
                DMatrix::from_fn(smooth.len(), smooth.len(), |i, j| jacobian[smooth[i] + smooth[j] * size]);
            let factor = part.cholesky()?;
            let missing = DVector::from_iterator(smooth.len(), smooth.iter().map(|&i| w[i] - image[i]));
            let largest = smooth.iter().fold(0.0_f64, |most, &i| most.max(w[i].abs()));
            if missing.amax() <= 1e-14 * largest {
                let gradient = smooth.iter().map(|&i| (v[i] - w[i]) / step).collect();
                let curvature = (factor.inverse() - DMatrix::identity(smooth.len(), smooth.len())) / step;
                return Some(Self { smooth, gradient, curvature });
            }
            for (&i, change) in smooth.iter().zip(factor.solve(&missing).iter()) {
                v[i] += change;
            }
            image.copy_from_slice(&v);
            penalty.prox_block(block, &mut image, step);
        }
        None
    }
}

/// The Cholesky factor of a positive semidefinite matrix with unit diagonal, with the smallest ridge that
/// works. Repeated steps remove the error of the ridge.
fn factor(matrix: &[f64], k: usize) -> Option<Cholesky> {
    [1e-13, 1e-11, 1e-9, 1e-7].into_iter().find_map(|ridge| {
        let mut ridged = matrix.to_vec();
        ridged.iter_mut().step_by(k + 1).for_each(|diagonal| *diagonal += ridge);
        Cholesky::of(ridged, k)
    })
}

/// The points that a Newton direction leads to.
struct Line<'a> {
    problem: &'a Quadratic,
    penalty: &'a dyn BlockPenalty,
    w: &'a [f64],
    correlations: &'a [f64],
    direction: &'a [f64],
}

impl Line<'_> {
    /// A point that does not raise the objective, with the objective's change: the full step with all
    /// coefficients that change sign set to zero if that lowers it; else the best of the step up to the first
    /// change of sign, its half, quarter, …
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
        let longest = crossing.iter().map(|&j| to_zero(j)).fold(1.0, f64::min);
        let slope: f64 = self.direction.iter().zip(self.correlations).map(|(d, q)| -d * q).sum();
        let curvature: f64 =
            self.direction.iter().zip(self.products(self.direction)).map(|(d, product)| d * product).sum();
        let mut best: Option<(Vec<f64>, f64)> = None;
        let mut length = longest;
        for _ in 0..MOST_HALVINGS {
            let mut point = self.point(length);
            if length == longest {
                for &j in crossing.iter().filter(|&&j| to_zero(j) <= length) {
                    point[j] = 0.0;
                }
            }
            let change = length * (slope + 0.5 * length * curvature) + self.penalty_change(&point);
            match &best {
                Some((_, lowest)) if change >= *lowest => break,
                _ if change <= noise => best = Some((point, change)),
                _ => {}
            }
            length *= 0.5;
        }
        best.map(|(point, change)| self.without_shrunken_blocks(point, change))
    }

    /// `point` with the blocks set to zero that shrink most, as long as that lowers the objective: a line
    /// does not pass through the breakpoint of a block of several coefficients.
    fn without_shrunken_blocks(&self, mut point: Vec<f64>, mut change: f64) -> (Vec<f64>, f64) {
        let mut shrunken: Vec<(f64, usize)> = Vec::new();
        let blocks = self.penalty.blocks();
        for (b, block) in blocks.iter().enumerate().filter(|(_, block)| block.len() > 1) {
            let length = |w: &[f64]| block.iter().map(|&j| w[j] * w[j]).sum::<f64>().sqrt();
            let share = length(&point) / length(self.w);
            if share > 0.0 && share < 0.5 {
                shrunken.push((-share, b));
            }
        }
        // The smallest share first.
        order::largest_first(&mut shrunken);
        for (_, b) in shrunken {
            let mut trial = point.clone();
            for &j in blocks.block(b) {
                trial[j] = 0.0;
            }
            let trial_change = self.change(&trial);
            if trial_change >= change {
                break;
            }
            (point, change) = (trial, trial_change);
        }
        (point, change)
    }

    fn point(&self, length: f64) -> Vec<f64> {
        self.w.iter().zip(self.direction).map(|(w, d)| w + length * d).collect()
    }

    /// The coefficients that must stop at zero on the way to `point`: where the penalty of this coefficient
    /// has a breakpoint or forbids the sign.
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
        let products = self.products(&difference);
        let smooth = difference.iter().zip(&products).zip(self.correlations);
        smooth.map(|((d, product), q)| d * (0.5 * product - q)).sum::<f64>() + self.penalty_change(point)
    }

    /// `G x`.
    fn products(&self, x: &[f64]) -> Vec<f64> {
        let mut products = vec![0.0; x.len()];
        for (j, &x) in x.iter().enumerate().filter(|&(_, &x)| x != 0.0) {
            for (product, g) in products.iter_mut().zip(self.problem.gram_column(j)) {
                *product += x * g;
            }
        }
        products
    }

    /// The penalty at `point` less that at `w`.
    fn penalty_change(&self, point: &[f64]) -> f64 {
        let blocks = self.penalty.blocks();
        let mut entries = Vec::new();
        let mut value = |b: usize, w: &[f64]| {
            entries.clear();
            entries.extend(blocks.block(b).iter().map(|&j| w[j]));
            self.penalty.value_block(b, &entries)
        };
        (0..blocks.n_blocks()).map(|b| value(b, point) - value(b, self.w)).sum()
    }
}
