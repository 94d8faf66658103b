//! The problem over the constraints found so far: which combination of their indicators makes `J` smallest.

use nalgebra::{Cholesky, DMatrix, DVector};

/// Projected gradient steps after which a combination must do.
const MOST_STEPS: usize = 1000;

/// `min J(Σ_t θ_t p_t)` over the simplex of `θ`, for indicators `p_t` of sets of features.
///
/// Everything is done among the columns of the features in some set: with `R = XᵀX`, `B = XᵀH` and
/// `A = I + P^½ R P^½ / γ`, the ridge regression is `V = H − X P^½ A⁻¹ P^½ B / γ`, of which only `XᵀV` is needed inside.
pub(super) struct Master {
    labels: DMatrix<f64>,
    gamma: f64,
    sets: Vec<Vec<usize>>,
    theta: Vec<f64>,
    /// The feature of each column.
    features: Vec<usize>,
    columns: DMatrix<f64>,
    gram: DMatrix<f64>,
    with_labels: DMatrix<f64>,
    objective: f64,
    residual: DMatrix<f64>,
}

/// `J` at some `θ`.
struct Point {
    objective: f64,
    gradient: Vec<f64>,
    /// `P^½ A⁻¹ P^½ B / γ`.
    coefficients: DMatrix<f64>,
}

impl Master {
    /// Without any constraint, where `p = 0` and `V = H`.
    pub(super) fn new(labels: DMatrix<f64>, gamma: f64) -> Self {
        let (n, c) = labels.shape();
        Self {
            gamma,
            sets: Vec::new(),
            theta: Vec::new(),
            features: Vec::new(),
            columns: DMatrix::zeros(n, 0),
            gram: DMatrix::zeros(0, 0),
            with_labels: DMatrix::zeros(0, c),
            objective: 0.5 * labels.norm_squared(),
            residual: labels.clone(),
            labels,
        }
    }

    /// `J` at the present combination.
    pub(super) fn objective(&self) -> f64 {
        self.objective
    }

    /// `V` at the present combination.
    pub(super) fn residual(&self) -> &DMatrix<f64> {
        &self.residual
    }

    /// The features of the present combination by increasing index, with their relaxed indicators.
    pub(super) fn indicators(&self) -> Vec<(usize, f64)> {
        let mut all: Vec<usize> = self.sets.concat();
        all.sort_unstable();
        all.dedup();
        all.into_iter().map(|j| (j, self.indicator(j, &self.theta))).collect()
    }

    fn indicator(&self, j: usize, theta: &[f64]) -> f64 {
        let holding = self.sets.iter().zip(theta).filter(|(set, _)| set.binary_search(&j).is_ok());
        holding.map(|(_, weight)| weight).sum::<f64>().min(1.0)
    }

    /// Adds the constraint of the features in `set`, increasing, and minimises `J` to within `tolerance`.
    pub(super) fn add(&mut self, set: Vec<usize>, columns: impl Fn(usize) -> Vec<Vec<f64>>, tolerance: f64) {
        let mut new = Vec::new();
        for &j in set.iter().filter(|j| !self.features.contains(j)) {
            for column in columns(j) {
                new.push((j, column));
            }
        }
        let old = self.features.len();
        self.features.extend(new.iter().map(|(j, _)| *j));
        let total = self.features.len();
        let mut all =
            std::mem::replace(&mut self.columns, DMatrix::zeros(0, 0)).resize_horizontally(total, 0.0);
        for (at, (_, column)) in new.iter().enumerate() {
            all.column_mut(old + at).copy_from_slice(column);
        }
        let added = all.columns(old, total - old).transpose();
        let cross = &added * &all;
        let mut gram = std::mem::replace(&mut self.gram, DMatrix::zeros(0, 0)).resize(total, total, 0.0);
        gram.rows_mut(old, total - old).copy_from(&cross);
        gram.columns_mut(old, total - old).copy_from(&cross.transpose());
        let mut with_labels =
            std::mem::replace(&mut self.with_labels, DMatrix::zeros(0, 0)).resize_vertically(total, 0.0);
        with_labels.rows_mut(old, total - old).copy_from(&(&added * &self.labels));
        (self.columns, self.gram, self.with_labels) = (all, gram, with_labels);
        // A set that is there already adds nothing, but must not make the first one disappear.
        self.theta.push(if self.sets.is_empty() { 1.0 } else { 0.0 });
        self.sets.push(set);
        self.minimise(tolerance);
    }

    fn evaluate(&self, theta: &[f64]) -> Point {
        let roots = DVector::from_iterator(
            self.features.len(),
            self.features.iter().map(|&j| self.indicator(j, theta).sqrt()),
        );
        let r = roots.len();
        let mut inner = DMatrix::from_fn(r, r, |a, b| roots[a] * self.gram[(a, b)] * roots[b] / self.gamma);
        for at in 0..r {
            inner[(at, at)] += 1.0;
        }
        let scaled =
            DMatrix::from_fn(r, self.with_labels.ncols(), |a, b| roots[a] * self.with_labels[(a, b)]);
        let solution = match Cholesky::new(inner) {
            Some(factor) => factor.solve(&scaled),
            // The identity plus what is semidefinite always has a factor, short of an overflow.
            None => DMatrix::from_element(r, scaled.ncols(), f64::NAN),
        };
        let objective = 0.5 * (self.labels.norm_squared() - scaled.dot(&solution) / self.gamma);
        let coefficients =
            DMatrix::from_fn(r, solution.ncols(), |a, b| roots[a] * solution[(a, b)] / self.gamma);
        let products = &self.with_labels - &self.gram * &coefficients;
        let strengths: Vec<f64> = (0..r).map(|at| products.row(at).norm_squared()).collect();
        let gradient = self
            .sets
            .iter()
            .map(|set| {
                let inside =
                    self.features.iter().zip(&strengths).filter(|(j, _)| set.binary_search(j).is_ok());
                -inside.map(|(_, strength)| strength).sum::<f64>() / (2.0 * self.gamma)
            })
            .collect();
        Point { objective, gradient, coefficients }
    }

    /// Projected gradient steps of Barzilai–Borwein length with Armijo's rule.
    fn minimise(&mut self, tolerance: f64) {
        let mut theta = self.theta.clone();
        let mut point = self.evaluate(&theta);
        let steepest = |gradient: &[f64]| gradient.iter().fold(0.0_f64, |most, g| most.max(g.abs()));
        let mut length = 1.0 / steepest(&point.gradient).max(f64::MIN_POSITIVE);
        for _ in 0..MOST_STEPS {
            let along: f64 = theta.iter().zip(&point.gradient).map(|(t, g)| t * g).sum();
            let least = point.gradient.iter().copied().fold(f64::INFINITY, f64::min);
            // How far J can fall at most, since it is convex.
            if !(along - least > tolerance) {
                break;
            }
            let moved: Vec<f64> = theta.iter().zip(&point.gradient).map(|(t, g)| t - length * g).collect();
            let target = onto_simplex(&moved);
            let direction: Vec<f64> = target.iter().zip(&theta).map(|(a, b)| a - b).collect();
            let slope: f64 = direction.iter().zip(&point.gradient).map(|(d, g)| d * g).sum();
            let mut step = 1.0;
            let mut accepted = None;
            while step > 1e-12 && slope < 0.0 {
                let next: Vec<f64> = theta.iter().zip(&direction).map(|(t, d)| t + step * d).collect();
                let there = self.evaluate(&next);
                if there.objective <= point.objective + 1e-4 * step * slope {
                    accepted = Some((next, there));
                    break;
                }
                step *= 0.5;
            }
            let Some((next, there)) = accepted else { break };
            let (mut squared, mut curvature) = (0.0, 0.0);
            for t in 0..theta.len() {
                let change = next[t] - theta[t];
                squared += change * change;
                curvature += change * (there.gradient[t] - point.gradient[t]);
            }
            length = if curvature > 0.0 { squared / curvature } else { 2.0 * length };
            (theta, point) = (next, there);
        }
        self.objective = point.objective;
        self.residual = &self.labels - &self.columns * &point.coefficients;
        self.theta = theta;
    }
}

/// The nearest point with entries of at least 0 that add up to 1.
fn onto_simplex(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let (mut sum, mut shift) = (0.0, 0.0);
    for (at, value) in sorted.iter().enumerate() {
        sum += value;
        let candidate = (sum - 1.0) / (at + 1) as f64;
        if *value > candidate {
            shift = candidate;
        }
    }
    values.iter().map(|value| (value - shift).max(0.0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_projection_is_the_nearest_point_of_the_simplex() {
        for values in [vec![0.2, 0.3, 0.5], vec![3.0, 0.0], vec![-1.0, -1.0, -1.0], vec![0.9, 0.8, -4.0]] {
            let found = onto_simplex(&values);
            assert!((found.iter().sum::<f64>() - 1.0).abs() < 1e-15);
            assert!(found.iter().all(|value| *value >= 0.0));
            // The rest is normal to the face it lies on: equal where positive, not larger elsewhere.
            let rest: Vec<f64> = values.iter().zip(&found).map(|(value, found)| value - found).collect();
            let largest = rest.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            for (rest, found) in rest.iter().zip(&found) {
                assert!(*found == 0.0 || (largest - rest).abs() < 1e-15);
            }
        }
    }
}
