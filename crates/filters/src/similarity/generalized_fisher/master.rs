//! The problem over the features in the constraints found so far.

use fewest_core::{Context, Error, order};
use nalgebra::{DMatrix, DVector};

/// Projected gradient steps after which `p` must do.
const MOST_STEPS: usize = 1000;

/// `min J(p)` over `0 ≤ p ≤ 1` with `Σ p = k`, for the features found so far. That is the hull of all
/// constraints that can be made of them, so far fewer have to be found one by one than if only those found
/// could be combined.
///
/// While there are fewer columns of these features than samples, everything is done among the columns: with
/// `R = XᵀX`, `B = XᵀH` and `A = I + P^½ R P^½ / γ`, the ridge regression is `V = H − X P^½ A⁻¹ P^½ B / γ`,
/// of which only `XᵀV` is needed inside. From then on it is done among the samples,
/// `V = (I + X P Xᵀ / γ)⁻¹ H`.
pub(super) struct Master {
    labels: DMatrix<f64>,
    gamma: f64,
    count: f64,
    features: Vec<usize>,
    /// The relaxed indicator of each feature.
    indicators: Vec<f64>,
    /// For each column the position of its feature.
    owners: Vec<usize>,
    columns: DMatrix<f64>,
    /// `R`, while there are fewer columns than samples.
    gram: DMatrix<f64>,
    with_labels: DMatrix<f64>,
    objective: f64,
    residual: DMatrix<f64>,
}

/// `J` at some `p`.
struct Point {
    objective: f64,
    gradient: Vec<f64>,
    /// `P^½ A⁻¹ P^½ B / γ`, which is `P Xᵀ V / γ`.
    coefficients: DMatrix<f64>,
}

impl Master {
    /// For `count` features, before any is found: `p = 0` and `V = H`.
    pub(super) fn new(labels: DMatrix<f64>, gamma: f64, count: usize) -> Self {
        let (n, c) = labels.shape();
        Self {
            gamma,
            count: count as f64,
            features: Vec::new(),
            indicators: Vec::new(),
            owners: Vec::new(),
            columns: DMatrix::zeros(n, 0),
            gram: DMatrix::zeros(0, 0),
            with_labels: DMatrix::zeros(0, c),
            objective: 0.5 * labels.norm_squared(),
            residual: labels.clone(),
            labels,
        }
    }

    /// `J` at the present `p`.
    pub(super) fn objective(&self) -> f64 {
        self.objective
    }

    /// `V` at the present `p`.
    pub(super) fn residual(&self) -> &DMatrix<f64> {
        &self.residual
    }

    /// The features found so far with their relaxed indicators.
    pub(super) fn indicators(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        self.features.iter().copied().zip(self.indicators.iter().copied())
    }

    /// Adds the constraint of these features, `count` of them, and minimises `J` to within `tolerance`, or
    /// until the context says stop: then the `p` reached stands.
    pub(super) fn add(
        &mut self,
        constraint: &[usize],
        columns: impl Fn(usize) -> Result<Vec<Vec<f64>>, Error>,
        tolerance: f64,
        context: &Context<'_>,
    ) -> Result<(), Error> {
        let starts_at = if self.features.is_empty() { 1.0 } else { 0.0 };
        let mut new = Vec::new();
        for &j in constraint {
            if !self.features.contains(&j) {
                let columns = columns(j)?;
                self.owners.extend(columns.iter().map(|_| self.features.len()));
                self.features.push(j);
                self.indicators.push(starts_at);
                new.extend(columns);
            }
        }
        let total = self.owners.len();
        let old = total - new.len();
        let empty = || DMatrix::zeros(0, 0);
        let mut all = std::mem::replace(&mut self.columns, empty()).resize_horizontally(total, 0.0);
        for (at, column) in new.iter().enumerate() {
            all.column_mut(old + at).copy_from_slice(column);
        }
        let added = all.columns(old, total - old).transpose();
        let mut gram = std::mem::replace(&mut self.gram, empty());
        if total < self.labels.nrows() {
            let cross = &added * &all;
            gram = gram.resize(total, total, 0.0);
            gram.rows_mut(old, total - old).copy_from(&cross);
            gram.columns_mut(old, total - old).copy_from(&cross.transpose());
        }
        let mut with_labels = std::mem::replace(&mut self.with_labels, empty()).resize_vertically(total, 0.0);
        with_labels.rows_mut(old, total - old).copy_from(&(&added * &self.labels));
        (self.columns, self.gram, self.with_labels) = (all, gram, with_labels);
        self.minimise(tolerance, context);
        Ok(())
    }

    fn evaluate(&self, indicators: &[f64]) -> Point {
        if self.owners.len() < self.labels.nrows() {
            self.among_columns(indicators)
        } else {
            self.among_samples(indicators)
        }
    }

    fn among_samples(&self, indicators: &[f64]) -> Point {
        let n = self.labels.nrows();
        let weights = || self.owners.iter().map(|&owner| indicators[owner]);
        let used: Vec<usize> = weights().enumerate().filter(|(_, p)| *p > 0.0).map(|(at, _)| at).collect();
        let mut scaled = self.columns.select_columns(&used);
        for (mut column, &at) in scaled.column_iter_mut().zip(&used) {
            column *= (indicators[self.owners[at]] / self.gamma).sqrt();
        }
        let mut inner = DMatrix::identity(n, n);
        inner.gemm(1.0, &scaled, &scaled.transpose(), 1.0);
        let residual = solve(inner, &self.labels);
        let mut coefficients = self.columns.tr_mul(&residual);
        let mut gradient = vec![0.0; indicators.len()];
        for ((mut row, &owner), weight) in coefficients.row_iter_mut().zip(&self.owners).zip(weights()) {
            gradient[owner] -= row.norm_squared() / (2.0 * self.gamma);
            row *= weight / self.gamma;
        }
        Point { objective: 0.5 * self.labels.dot(&residual), gradient, coefficients }
    }

    fn among_columns(&self, indicators: &[f64]) -> Point {
        let r = self.owners.len();
        let roots = DVector::from_iterator(r, self.owners.iter().map(|&owner| indicators[owner].sqrt()));
        let mut inner = DMatrix::from_fn(r, r, |a, b| roots[a] * self.gram[(a, b)] * roots[b] / self.gamma);
        for at in 0..r {
            inner[(at, at)] += 1.0;
        }
        let scaled =
            DMatrix::from_fn(r, self.with_labels.ncols(), |a, b| roots[a] * self.with_labels[(a, b)]);
        let solution = solve(inner, &scaled);
        let objective = 0.5 * (self.labels.norm_squared() - scaled.dot(&solution) / self.gamma);
        let coefficients =
            DMatrix::from_fn(r, solution.ncols(), |a, b| roots[a] * solution[(a, b)] / self.gamma);
        let products = &self.with_labels - &self.gram * &coefficients;
        let mut gradient = vec![0.0; indicators.len()];
        for (at, &owner) in self.owners.iter().enumerate() {
            gradient[owner] -= products.row(at).norm_squared() / (2.0 * self.gamma);
        }
        Point { objective, gradient, coefficients }
    }

    /// How far `J` can fall at most from `p`, since it is convex: to the linear bound of its tangent.
    fn gap(&self, indicators: &[f64], gradient: &[f64]) -> f64 {
        let mut sorted = gradient.to_vec();
        order::sort(&mut sorted);
        let least: f64 = sorted.iter().take(self.count as usize).sum();
        indicators.iter().zip(gradient).map(|(p, g)| p * g).sum::<f64>() - least
    }

    /// Projected gradient steps of Barzilai–Borwein length with Armijo's rule.
    fn minimise(&mut self, tolerance: f64, context: &Context<'_>) {
        let mut p = self.indicators.clone();
        let mut point = self.evaluate(&p);
        let steepest = point.gradient.iter().fold(0.0_f64, |most, g| most.max(g.abs()));
        let mut length = 1.0 / steepest.max(f64::MIN_POSITIVE);
        for _ in 0..MOST_STEPS {
            // So written, NaN ends the steps too.
            let can_fall = self.gap(&p, &point.gradient) > tolerance;
            if !can_fall || context.stopped().is_some() {
                break;
            }
            let moved: Vec<f64> = p.iter().zip(&point.gradient).map(|(p, g)| p - length * g).collect();
            let target = onto_capped_simplex(&moved, self.count);
            let direction: Vec<f64> = target.iter().zip(&p).map(|(a, b)| a - b).collect();
            let slope: f64 = direction.iter().zip(&point.gradient).map(|(d, g)| d * g).sum();
            let mut step = 1.0;
            let mut accepted = None;
            while step > 1e-12 && slope < 0.0 && context.stopped().is_none() {
                let next: Vec<f64> =
                    p.iter().zip(&direction).map(|(p, d)| (p + step * d).clamp(0.0, 1.0)).collect();
                let there = self.evaluate(&next);
                if there.objective <= point.objective + 1e-4 * step * slope {
                    accepted = Some((next, there));
                    break;
                }
                step *= 0.5;
            }
            let Some((next, there)) = accepted else { break };
            let (mut squared, mut curvature) = (0.0, 0.0);
            for j in 0..p.len() {
                let change = next[j] - p[j];
                squared += change * change;
                curvature += change * (there.gradient[j] - point.gradient[j]);
            }
            length = if curvature > 0.0 { squared / curvature } else { 2.0 * length };
            (p, point) = (next, there);
        }
        self.objective = point.objective;
        self.residual = &self.labels - &self.columns * &point.coefficients;
        self.indicators = p;
    }
}

/// `A⁻¹ B` for an `A` that is the identity plus what is semidefinite.
fn solve(matrix: DMatrix<f64>, right: &DMatrix<f64>) -> DMatrix<f64> {
    match fewest_linalg::cholesky(matrix) {
        Some(factor) => factor.solve(right),
        // It always has a factor, short of an overflow.
        None => DMatrix::from_element(right.nrows(), right.ncols(), f64::NAN),
    }
}

/// The nearest point with entries from 0 to 1 that add up to `total`, at most their number.
fn onto_capped_simplex(values: &[f64], total: f64) -> Vec<f64> {
    let clipped = |shift: f64| values.iter().map(move |value| (value - shift).clamp(0.0, 1.0));
    let mut low = values.iter().copied().fold(f64::INFINITY, f64::min) - 1.0;
    let mut high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if clipped(middle).sum::<f64>() > total {
            low = middle;
        } else {
            high = middle;
        }
    }
    // Bisection has found which entries are neither 0 nor 1; these then make the sum exact.
    let shift = 0.5 * (low + high);
    let ones = values.iter().filter(|value| **value - shift >= 1.0).count() as f64;
    let between = |value: &&f64| **value - shift > 0.0 && **value - shift < 1.0;
    let free = values.iter().filter(between).count() as f64;
    let sum: f64 = values.iter().filter(between).sum();
    let shift = if free > 0.0 { (sum + ones - total) / free } else { shift };
    clipped(shift).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_and_samples_give_one_answer() {
        let wave = |step: usize, n: usize| (0..n).map(move |i| ((i * step) % 23) as f64 / 11.0 - 1.0);
        let labels = DMatrix::from_iterator(20, 2, wave(5, 40));
        let mut master = Master::new(labels, 0.7, 3);
        let features: Vec<usize> = (0..9).collect();
        // Every second feature has two columns.
        let columns =
            |j: usize| Ok((0..1 + j % 2).map(|level| wave(3 + 2 * j + level, 20).collect()).collect());
        master.add(&features, columns, 1e-9, &Context::default()).unwrap();
        let p = [0.5, 0.0, 1.0, 0.25, 0.0, 0.125, 1.0, 0.0, 0.125];
        let (by_columns, by_samples) = (master.among_columns(&p), master.among_samples(&p));
        assert!((by_columns.objective - by_samples.objective).abs() < 1e-12);
        for (a, b) in by_columns.gradient.iter().zip(&by_samples.gradient) {
            assert!((a - b).abs() < 1e-12, "{a} {b}");
        }
        assert!((by_columns.coefficients - by_samples.coefficients).amax() < 1e-12);
    }

    /// The problem over many features takes long: a stop is heard in it, and what has been reached stands.
    #[test]
    fn a_stop_ends_the_steps() {
        let wave = |step: usize, n: usize| (0..n).map(move |i| ((i * step) % 23) as f64 / 11.0 - 1.0);
        let columns = |j: usize| Ok(vec![wave(3 + 2 * j, 20).collect()]);
        let interrupt = std::sync::atomic::AtomicBool::new(true);
        let stopped = Context { interrupt: Some(&interrupt), ..Context::default() };
        let mut master = Master::new(DMatrix::from_iterator(20, 2, wave(5, 40)), 0.7, 3);
        master.add(&[0, 1, 2], columns, 1e-9, &Context::default()).unwrap();
        let before = master.objective();
        master.add(&[3, 4, 5, 6, 7, 8], columns, 1e-9, &stopped).unwrap();
        assert!((master.objective() - before).abs() < 1e-12 * before);
        master.add(&[], columns, 1e-9, &Context::default()).unwrap();
        assert!(master.objective() < 0.99 * before, "{} {before}", master.objective());
    }

    #[test]
    fn the_projection_is_the_nearest_point() {
        let cases = [
            (vec![0.2, 0.3, 0.5], 1.0),
            (vec![3.0, 0.0, 0.4], 2.0),
            (vec![-1.0, -1.0, -1.0], 1.0),
            (vec![0.9, 0.8, -4.0, 7.0, 1e6], 3.0),
            (vec![5.0, -5.0], 2.0),
        ];
        for (values, total) in cases {
            let found = onto_capped_simplex(&values, total);
            assert!((found.iter().sum::<f64>() - total).abs() < 1e-9, "{values:?} {found:?}");
            assert!(found.iter().all(|value| (0.0..=1.0).contains(value)));
            // The shift is the same for all between the bounds, not larger at 0 and not smaller at 1.
            for (value, p) in values.iter().zip(&found) {
                for (other, q) in values.iter().zip(&found) {
                    let order = (value - p) - (other - q);
                    assert!(*p >= 1.0 || *q <= 0.0 || order < 1e-9, "{values:?} {found:?}");
                }
            }
        }
    }
}
