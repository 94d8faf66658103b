//! Projected gradient descent on the weights, a machine trained at every point.

use fewest_core::{Context, Error, Status};
use fewest_smo::{Classifier, GramRows};
use fewest_solver::Control;
use rayon::prelude::*;

use super::bases::Bases;

/// Share of the fall that the gradient promises, which a step must bring (Armijo).
const ARMIJO: f64 = 1e-4;

/// Halvings of a step at most.
const HALVINGS: usize = 40;

/// Relative duality gap of the machines, below what a step gains.
const MACHINE_TOLERANCE: f64 = 1e-10;

/// Relative decrease below which the machines' gaps hide what a step gains.
const LEAST_FALL: f64 = 1e-9;

/// A machine's samples and which of them are positive.
pub(super) struct Pair {
    pub(super) rows: Vec<usize>,
    pub(super) positive: Vec<bool>,
}

/// `minimise over d ≥ 0   Σ_t J_t(d) + λ Σ d`, `J_t` the optimum of a machine's dual with the kernel of `d`.
pub(super) struct Learning<'a> {
    pub(super) bases: &'a dyn Bases,
    pub(super) pairs: &'a [Pair],
    pub(super) cost: f64,
    pub(super) lambda: f64,
}

/// A point of the descent.
#[derive(Clone)]
pub(super) struct Point {
    pub(super) weights: Vec<f64>,
    pub(super) value: f64,
    gradient: Vec<f64>,
    /// Multipliers times labels, for each machine.
    betas: Vec<Vec<f64>>,
}

/// How a descent ended.
pub(super) struct Descended {
    pub(super) point: Point,
    pub(super) status: Status,
    pub(super) iterations: usize,
    /// The largest entry of the projected gradient, relative to `λ`.
    pub(super) violation: f64,
}

impl Learning<'_> {
    /// `λ` at which no weight is worth its price where all are zero: there every multiplier that balances the classes is
    /// optimal, and these are alike within a class.
    pub(super) fn largest_lambda(&self) -> f64 {
        let mut worths = vec![0.0; self.bases.len()];
        for pair in self.pairs {
            let n = pair.rows.len();
            let positive = pair.positive.iter().filter(|positive| **positive).count() as f64;
            let negative = n as f64 - positive;
            let least = positive.min(negative);
            let beta: Vec<f64> =
                pair.positive
                    .iter()
                    .map(|&is_positive| {
                        if is_positive { self.cost * least / positive } else { -self.cost * least / negative }
                    })
                    .collect();
            let gram = self.bases.gram(&vec![0.0; worths.len()], &pair.rows);
            for (sum, worth) in worths.iter_mut().zip(self.bases.worths(&gram, &beta, &pair.rows)) {
                *sum += worth;
            }
        }
        worths.into_iter().fold(0.0, f64::max)
    }

    /// Trains the machines at `weights`, from the multipliers `starts` where there are any.
    pub(super) fn point(
        &self,
        weights: Vec<f64>,
        starts: &[Vec<f64>],
        control: &Control<'_>,
    ) -> Result<Point, Error> {
        let one = |(t, pair): (usize, &Pair)| -> Result<(f64, Vec<f64>, Vec<f64>), Error> {
            let gram = self.bases.gram(&weights, &pair.rows);
            let rows = GramRows::new(gram.clone(), pair.rows.len())?;
            let classifier = Classifier { cost: self.cost, ..Classifier::default() };
            let start = starts.get(t).map_or(&[][..], Vec::as_slice);
            let solution = classifier.train_from(&rows, &pair.positive, &[], start, control)?.dual.solution;
            let worths = self.bases.worths(&gram, &solution.coefficients, &pair.rows);
            Ok((-solution.objective, worths, solution.coefficients))
        };
        let trained: Vec<Result<_, Error>> = self.pairs.par_iter().enumerate().map(one).collect();
        let mut value = self.lambda * weights.iter().sum::<f64>();
        let mut gradient = vec![self.lambda; weights.len()];
        let mut betas = Vec::with_capacity(self.pairs.len());
        for trained in trained {
            let (optimum, worths, beta) = trained?;
            value += optimum;
            gradient.iter_mut().zip(&worths).for_each(|(slope, worth)| *slope -= worth);
            betas.push(beta);
        }
        if !(value.is_finite() && gradient.iter().all(|slope| slope.is_finite())) {
            let hint = "lower the cost or the kernel's parameters".to_owned();
            return Err(Error::Numerical { what: "multiple kernel learning", hint });
        }
        Ok(Point { weights, value, gradient, betas })
    }

    fn violation(&self, point: &Point) -> f64 {
        let entry = |(d, g): (&f64, &f64)| if *d > 0.0 { g.abs() } else { (-g).max(0.0) };
        point.weights.iter().zip(&point.gradient).map(entry).fold(0.0, f64::max) / self.lambda
    }

    /// Descends from `start` until the projected gradient is at most `tolerance λ`. The objective never rises.
    pub(super) fn descend(
        &self,
        start: Vec<f64>,
        tolerance: f64,
        iterations: usize,
        context: &Context<'_>,
    ) -> Result<Descended, Error> {
        let control = Control {
            tolerance: MACHINE_TOLERANCE,
            max_iterations: u64::MAX,
            deadline: context.deadline,
            interrupt: context.interrupt,
            stop: None,
        };
        let mut point = self.point(start, &[], &control)?;
        let largest = |values: &[f64]| values.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
        let mut step = largest(&point.weights) / largest(&point.gradient).max(f64::MIN_POSITIVE);
        let end = |point: Point, status, iterations| {
            let violation = self.violation(&point);
            Ok(Descended { point, status, iterations, violation })
        };
        for iteration in 0..iterations {
            if self.violation(&point) <= tolerance {
                return end(point, Status::Converged, iteration);
            }
            if context.interrupted() {
                return end(point, Status::Interrupted, iteration);
            }
            if context.time_left().is_some_and(|left| left.is_zero()) {
                return end(point, Status::TimeLimit, iteration);
            }
            let mut next = None;
            for _ in 0..HALVINGS {
                let moved: Vec<f64> =
                    point.weights.iter().zip(&point.gradient).map(|(d, g)| (d - step * g).max(0.0)).collect();
                let squares: f64 =
                    moved.iter().zip(&point.weights).map(|(new, old)| (new - old).powi(2)).sum();
                let trial = self.point(moved, &point.betas, &control)?;
                if trial.value <= point.value - ARMIJO / step * squares {
                    next = Some((trial, squares));
                    break;
                }
                step *= 0.5;
            }
            let Some((next, squares)) = next else { return end(point, Status::AlmostConverged, iteration) };
            // The step of Barzilai and Borwein: the curvature along the way just gone.
            let curvature: f64 = (0..next.weights.len())
                .map(|m| (next.weights[m] - point.weights[m]) * (next.gradient[m] - point.gradient[m]))
                .sum();
            step = if curvature > 0.0 { squares / curvature } else { 2.0 * step };
            let fall = point.value - next.value;
            point = next;
            context.report("steps", iteration + 1, iterations);
            if fall <= LEAST_FALL * point.value.abs() {
                let status = if self.violation(&point) <= tolerance {
                    Status::Converged
                } else {
                    Status::AlmostConverged
                };
                return end(point, status, iteration + 1);
            }
        }
        end(point, Status::MaxIterations, iterations)
    }
}

#[cfg(test)]
mod tests {
    use fewest_core::{Dataset, DenseColumns, Target, derive_seed};

    use super::super::bases::{Product, Spectrum, Sum};
    use super::*;
    use crate::BaseKernel;

    fn data() -> Result<Dataset, Error> {
        let random = |stream: u64| 2.0 * (derive_seed(4, stream) as f64 / u64::MAX as f64) - 1.0;
        let columns: Vec<Vec<f64>> = (0..5).map(|j| (0..40).map(|i| random(i * 5 + j)).collect()).collect();
        let labels: Vec<bool> = (0..40).map(|i| columns[0][i] + columns[1][i].powi(2) > 0.4).collect();
        Dataset::new(DenseColumns::from_columns(&columns)?, Target::from_labels(&labels))
    }

    fn pairs(data: &Dataset) -> Vec<Pair> {
        let Target::Class(classes) = data.target() else { panic!("classes") };
        let positive = classes.codes().iter().map(|&code| code == 1).collect();
        vec![Pair { rows: (0..data.n_samples()).collect(), positive }]
    }

    #[test]
    fn gradients_are_slopes_and_descents_stationary() -> Result<(), Error> {
        let data = data()?;
        let context = Context::default();
        let mut all: Vec<Box<dyn Bases>> = vec![
            Box::new(Sum::new(&data, &BaseKernel::Gaussian { sigma: 1.0 }, None, &context)?),
            Box::new(Product::new(&data, &context)?),
        ];
        for spectrum in [Spectrum::Clip, Spectrum::Flip, Spectrum::Shift] {
            all.push(Box::new(Sum::new(&data, &BaseKernel::default(), Some(spectrum), &context)?));
        }
        for bases in &all {
            let pairs = pairs(&data);
            let mut learning = Learning { bases: &**bases, pairs: &pairs, cost: 1.0, lambda: 1.0 };
            let control = Control { tolerance: 1e-13, ..Control::default() };
            let weights = vec![0.3, 0.1, 0.2, 0.05, 0.15];
            let at = learning.point(weights.clone(), &[], &control)?;
            for m in 0..5 {
                let value = |change: f64| {
                    let mut moved = weights.clone();
                    moved[m] += change;
                    learning.point(moved, &[], &control).map(|point| point.value)
                };
                let slope = (value(1e-4)? - value(-1e-4)?) / 2e-4;
                assert!(
                    (slope - at.gradient[m]).abs() < 1e-4 * (1.0 + slope.abs()),
                    "{m}: {slope} {}",
                    at.gradient[m]
                );
            }
            learning.lambda = 0.2 * learning.largest_lambda();
            let end = learning.descend(vec![0.2; 5], 1e-3, 500, &context)?;
            assert!(end.violation < 0.05, "{} {:?}", end.violation, end.status);
            assert!(end.point.value <= learning.point(vec![0.2; 5], &[], &control)?.value);
            assert!(end.point.weights[0] > 0.0, "{:?}", end.point.weights);
        }
        Ok(())
    }

    #[test]
    fn changed_spectra_have_no_negative_eigenvalue() -> Result<(), Error> {
        let data = data()?;
        let rows: Vec<usize> = (0..40).collect();
        let kernel = BaseKernel::Sigmoid { scale: 2.0, offset: -1.0 };
        for spectrum in [Spectrum::Clip, Spectrum::Flip, Spectrum::Shift] {
            let sum = Sum::new(&data, &kernel, Some(spectrum), &Context::default())?;
            let gram = nalgebra::DMatrix::from_vec(40, 40, sum.gram(&[1.0, 0.5, 0.0, 2.0, 0.1], &rows));
            let eigenvalues = gram.symmetric_eigenvalues();
            assert!(eigenvalues.min() > -1e-6 * eigenvalues.amax(), "{spectrum:?} {}", eigenvalues.min());
        }
        Ok(())
    }
}
