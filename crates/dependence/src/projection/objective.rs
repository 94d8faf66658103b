//! `−HSIC(WX, y) + λ Σ ‖w_j‖_∞`, smoothed, with its gradient.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use argmin::core::{ArgminError, CostFunction, Gradient};
use fewest_core::{Context, Dataset, Error};

use crate::OutputKernel;
use crate::atoms::CentredTarget;
use fewest_columns::{finite_values, parts, seed_of_values, standardise};
use fewest_linalg::dot;
use fewest_linalg::lanes::sum;
use fewest_solver::Point;

/// Samples that are projected at a time: a constant, so that sums do not depend on the threads.
const BLOCK: usize = 64;

/// Columns whose part of the gradient one thread computes at a time.
const COLUMNS: usize = 32;

/// Values closer than this are one: they are of the order of 1.
const ROUNDING: f64 = 1e-14;

/// The features written out, the target, and the penalty.
pub(super) struct Objective {
    n: usize,
    /// Number of projections.
    q: usize,
    /// Standardised columns: one a number, one an indicator of each level of a category.
    columns: Vec<Vec<f64>>,
    /// The columns of each feature; none of one that is constant.
    features: Vec<Range<usize>>,
    /// `L̄ / (n ‖L̄‖)`.
    target: Vec<f64>,
    lambda: f64,
    sharpness: f64,
}

impl Objective {
    pub(super) fn new(
        data: &Dataset,
        output: &OutputKernel,
        q: usize,
        lambda: f64,
        sharpness: f64,
        context: &Context<'_>,
    ) -> Result<Self, Error> {
        let n = data.n_samples();
        if n < 2 {
            return Err(Error::TooFew { what: "samples", minimum: 2, found: n });
        }
        let written = fewest_parallel::try_map(data.n_features(), |j| match context.stopped() {
            Some(_) => Err(Error::Stopped { before: "every feature had been read" }),
            None => write_out(data, j),
        })?;
        let (mut columns, mut features) = (Vec::new(), Vec::with_capacity(written.len()));
        for own in written {
            let start = columns.len();
            columns.extend(own);
            features.push(start..columns.len());
        }
        let mut target = Vec::with_capacity(n * n);
        let mut squares = Vec::with_capacity(n);
        CentredTarget::new(data, output, "hsfs", context)?.each(context, |_, column| {
            target.extend_from_slice(column);
            squares.push(dot(column, column));
        })?;
        let norm = sum(&squares).sqrt();
        if norm.partial_cmp(&0.0) != Some(std::cmp::Ordering::Greater) {
            let expected = "values that vary";
            return Err(Error::UnsupportedTarget { method: "hsfs", expected, found: "constant".to_owned() });
        }
        target.iter_mut().for_each(|value| *value /= n as f64 * norm);
        Ok(Self { n, q, columns, features, target, lambda, sharpness })
    }

    /// Number of coefficients: `q` for each column, next to each other.
    pub(super) fn len(&self) -> usize {
        self.columns.len() * self.q
    }

    /// A seed for column `column`: the same wherever it stands and however its samples are ordered.
    pub(super) fn seed(&self, column: usize, seed: u64) -> u64 {
        seed_of_values(seed, self.columns[column].clone())
    }

    pub(super) fn lambda(&self) -> f64 {
        self.lambda
    }

    pub(super) fn n_columns(&self) -> usize {
        self.columns.len()
    }

    /// `‖w_j‖_∞` of every feature.
    pub(super) fn weights(&self, w: &[f64]) -> Vec<f64> {
        let largest = |own: &[f64]| own.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
        self.features
            .iter()
            .map(|columns| largest(&w[columns.start * self.q..columns.end * self.q]))
            .collect()
    }

    /// The projections `Z`, the `q` of a sample next to each other.
    fn project(&self, w: &[f64]) -> Vec<f64> {
        let mut z = vec![0.0; self.n * self.q];
        fewest_parallel::chunks(&mut z, BLOCK * self.q, |block, z| {
            // One projection after the other, so that the samples of a block are next to each other.
            let len = z.len() / self.q;
            let mut sums = vec![0.0; z.len()];
            for (column, w) in self.columns.iter().zip(w.chunks_exact(self.q)) {
                let x = &column[block * BLOCK..block * BLOCK + len];
                for (sums, w) in sums.chunks_exact_mut(len).zip(w) {
                    for (sum, x) in sums.iter_mut().zip(x) {
                        *sum += w * x;
                    }
                }
            }
            for (a, sums) in sums.chunks_exact(len).enumerate() {
                for (z, sum) in z.iter_mut().skip(a).step_by(self.q).zip(sums) {
                    *z = *sum;
                }
            }
        });
        z
    }

    /// The value at `w`, and the gradient; `None` when the run is to stop.
    pub(super) fn evaluate(&self, w: &[f64], context: &Context<'_>) -> Option<(f64, Vec<f64>)> {
        let (n, q) = (self.n, self.q);
        let z = self.project(w);
        // ∂ Σᵢⱼ Mᵢⱼ Kᵢⱼ / ∂zᵢ = −2 Σⱼ Mᵢⱼ Kᵢⱼ (zᵢ − zⱼ)
        let mut by_projection = vec![0.0; n * q];
        let parts = fewest_parallel::chunks(&mut by_projection, q, |i, gradient| {
            // Every sample, since with many of them one is work enough.
            if context.stopped().is_some() {
                return None;
            }
            let own = &z[i * q..(i + 1) * q];
            let mut sum = 0.0;
            for (other, m) in z.chunks_exact(q).zip(&self.target[i * n..(i + 1) * n]) {
                let distance: f64 = own.iter().zip(other).map(|(a, b)| (a - b) * (a - b)).sum();
                let product = m * (-0.5 * distance).exp();
                sum += product;
                for ((gradient, a), b) in gradient.iter_mut().zip(own).zip(other) {
                    *gradient += 2.0 * product * (a - b);
                }
            }
            Some(sum)
        });
        let mut value = 0.0;
        for part in parts {
            value -= part?;
        }
        let mut gradient = vec![0.0; self.len()];
        let parts: Vec<Vec<f64>> =
            (0..q).map(|a| by_projection.iter().skip(a).step_by(q).copied().collect()).collect();
        fewest_parallel::fill(&mut gradient, COLUMNS * q, |at| dot(&self.columns[at / q], &parts[at % q]));
        for columns in &self.features {
            let own = columns.start * q..columns.end * q;
            value += self.lambda * self.smooth_maximum(&w[own.clone()], &mut gradient[own]);
        }
        Some((value, gradient))
    }

    /// `1/s · ln(mean of cosh(s v))`: between `max |v| − ln(2 m)/s` for `m` entries and `max |v|`, and 0 at
    /// 0. Adds `λ` times its gradient.
    fn smooth_maximum(&self, v: &[f64], gradient: &mut [f64]) -> f64 {
        if v.is_empty() {
            return 0.0;
        }
        let s = self.sharpness;
        let largest = v.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
        let halves = |value: f64| ((s * (value.abs() - largest)).exp(), (-s * (value.abs() + largest)).exp());
        let sum: f64 = v.iter().map(|&value| halves(value)).map(|(rising, falling)| rising + falling).sum();
        for (gradient, &value) in gradient.iter_mut().zip(v) {
            let (rising, falling) = halves(value);
            *gradient += self.lambda * value.signum() * (rising - falling) / sum;
        }
        largest + (sum / (2.0 * v.len() as f64)).ln() / s
    }
}

/// The columns of feature `j`: none when it is constant.
fn write_out(data: &Dataset, j: usize) -> Result<Vec<Vec<f64>>, Error> {
    let mut columns = parts(finite_values(data, j)?, data.feature_kind(j));
    columns.retain_mut(|column| standardise(column));
    Ok(columns)
}

/// What a run has seen.
#[derive(Default)]
pub(super) struct Seen {
    /// The last point, its value and gradient: the line search asks for both, one after the other.
    last: Option<(Point, f64, Point)>,
    /// The point with the least value, that value and the norm of the gradient there.
    pub(super) best: Option<(Vec<f64>, f64, f64)>,
}

/// An [`Objective`] for argmin, with what has been seen of it.
pub(super) struct Watched<'a> {
    pub(super) objective: &'a Objective,
    /// What values and gradients are divided by for the solver.
    pub(super) unit: f64,
    pub(super) context: &'a Context<'a>,
    pub(super) seen: &'a Mutex<Seen>,
}

impl Watched<'_> {
    fn at(&self, point: &Point) -> Result<(f64, Point), argmin::core::Error> {
        let lock = || self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((last, value, gradient)) = &lock().last
            && last == point
        {
            return Ok((*value, gradient.clone()));
        }
        let Some((value, mut gradient)) = self.objective.evaluate(&point.0, self.context) else {
            return Err(ArgminError::ConditionViolated { text: "stopped".to_owned() }.into());
        };
        gradient.iter_mut().for_each(|slope| *slope /= self.unit);
        let norm = gradient.iter().map(|value| value * value).sum::<f64>().sqrt();
        let mut seen = lock();
        // Near the end the value is all rounding, and the gradient shows which point is nearer.
        let is_better = |(_, best, best_norm): &(Vec<f64>, f64, f64)| {
            value < *best - ROUNDING || (value <= *best + ROUNDING && norm < *best_norm)
        };
        if value.is_finite() && seen.best.as_ref().is_none_or(is_better) {
            seen.best = Some((point.0.clone(), value, norm));
        }
        let (value, gradient) = (value / self.unit, Point(gradient));
        seen.last = Some((point.clone(), value, gradient.clone()));
        Ok((value, gradient))
    }
}

impl CostFunction for Watched<'_> {
    type Param = Point;
    type Output = f64;

    fn cost(&self, point: &Point) -> Result<f64, argmin::core::Error> {
        self.at(point).map(|(value, _)| value)
    }
}

impl Gradient for Watched<'_> {
    type Param = Point;
    type Gradient = Point;

    fn gradient(&self, point: &Point) -> Result<Point, argmin::core::Error> {
        self.at(point).map(|(_, gradient)| gradient)
    }
}

#[cfg(test)]
mod tests {
    use fewest_core::{DenseColumns, FeatureKind, Target, derive_seed};

    use super::*;

    fn noise(n: usize, seed: u64) -> Vec<f64> {
        (0..n as u64).map(|i| derive_seed(seed, i) as f64 / u64::MAX as f64 - 0.5).collect()
    }

    fn value(objective: &Objective, w: &[f64]) -> (f64, Vec<f64>) {
        objective.evaluate(w, &Context::default()).unwrap_or((f64::NAN, Vec::new()))
    }

    fn objective(q: usize, lambda: f64, sharpness: f64) -> Result<Objective, Error> {
        let mut columns: Vec<Vec<f64>> = (0..5).map(|j| noise(30, j)).collect();
        columns[3].iter_mut().for_each(|value| *value = (3.0 * (*value + 0.5)).floor());
        columns[4].fill(7.0);
        let y = columns[0].iter().zip(&columns[1]).map(|(a, b)| a * a + b).collect();
        let mut kinds = vec![FeatureKind::Numeric; 5];
        kinds[3] = FeatureKind::Categorical { levels: ["a", "b", "c"].map(str::to_owned).to_vec() };
        let data = Dataset::new(DenseColumns::from_columns(&columns)?, Target::real(y)?)?;
        Objective::new(
            &data.with_feature_kinds(kinds)?,
            &OutputKernel::Auto,
            q,
            lambda,
            sharpness,
            &Context::default(),
        )
    }

    #[test]
    fn the_gradient_is_that_of_finite_differences() -> Result<(), Error> {
        for (q, lambda, sharpness) in [(1, 0.0, 100.0), (2, 0.1, 5.0), (3, 0.5, 100.0)] {
            let objective = objective(q, lambda, sharpness)?;
            assert_eq!((objective.n_columns(), objective.len()), (6, 6 * q));
            let mut w = noise(objective.len(), 9);
            let gradient = value(&objective, &w).1;
            for at in 0..w.len() {
                let (here, step) = (w[at], 1e-5);
                w[at] = here + step;
                let above = value(&objective, &w).0;
                w[at] = here - step;
                let below = value(&objective, &w).0;
                w[at] = here;
                let slope = (above - below) / (2.0 * step);
                assert!((gradient[at] - slope).abs() < 1e-7, "{at}: {} and {slope}", gradient[at]);
            }
        }
        Ok(())
    }

    /// By the definition, with every entry of the Gram matrix written out.
    #[test]
    fn the_value_is_that_of_the_definition() -> Result<(), Error> {
        let objective = objective(2, 0.3, 1e6)?;
        let w = noise(12, 4);
        let z: Vec<[f64; 2]> = (0..30)
            .map(|i| [0, 1].map(|a| (0..6).map(|c| w[2 * c + a] * objective.columns[c][i]).sum()))
            .collect();
        let kernel = |i: usize, j: usize| -> f64 {
            (-0.5 * (0..2).map(|a| (z[i][a] - z[j][a]).powi(2)).sum::<f64>()).exp()
        };
        let hsic: f64 = (0..30)
            .flat_map(|i| (0..30).map(move |j| (i, j)))
            .map(|(i, j)| kernel(i, j) * objective.target[30 * i + j])
            .sum();
        let penalty: f64 = objective.weights(&w).iter().sum();
        assert!((value(&objective, &w).0 - (0.3 * penalty - hsic)).abs() < 1e-5);
        assert_eq!(objective.weights(&w)[4], 0.0, "a constant has no coefficients");
        Ok(())
    }

    #[test]
    fn the_smooth_maximum_is_close_below_the_maximum() -> Result<(), Error> {
        let objective = objective(2, 1.0, 100.0)?;
        for v in [vec![0.0_f64, 0.0], vec![0.5, -0.7], vec![1e-3, 0.0], vec![1e5, 1e5]] {
            let largest = v.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
            let smooth = objective.smooth_maximum(&v, &mut [0.0; 2]);
            assert!(smooth <= largest + 1e-12 && smooth >= largest - 4_f64.ln() / 100.0, "{v:?}: {smooth}");
        }
        let mut gradient = [0.0; 2];
        assert_eq!((objective.smooth_maximum(&[0.0; 2], &mut gradient), gradient), (0.0, [0.0; 2]));
        Ok(())
    }
}
