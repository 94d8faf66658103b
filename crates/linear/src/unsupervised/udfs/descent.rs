//! Reweighted steps over projections with orthonormal columns.

use fewest_core::{Context, Error, Status};
use fewest_linalg::{lowest, symmetric_eigen};
use nalgebra::{DMatrix, DVector};

use super::super::design::{Design, symmetric, times};
use super::super::not_finite;
use super::scatter::Scatter;

/// Most steps, and steps in a row without progress after which it ends.
const MOST_STEPS: usize = 5000;
const PATIENCE: usize = 50;

/// A decrease that is rounding, relative to the objective.
const ROUNDING: f64 = 1e-15;

/// Reweighted problems solved in a span, at most, and the decrease after which no more are, as a share of the
/// first.
const INNER: usize = 8;
const ENOUGH: f64 = 0.05;

/// The diagonal less this share of its smallest entry: the nearer a system is to a singular one, the better
/// its solution tells the lowest eigenvectors.
const SHIFT: f64 = 0.9;

pub(super) struct Descent<'a> {
    pub(super) design: &'a Design,
    pub(super) scatter: &'a Scatter<'a>,
    pub(super) alpha: f64,
    pub(super) smoothing: f64,
    pub(super) tolerance: f64,
    pub(super) context: &'a Context<'a>,
}

/// The end of a descent.
pub(super) struct Found {
    pub(super) w: DMatrix<f64>,
    pub(super) objective: f64,
    pub(super) first_objective: f64,
    pub(super) stationarity: f64,
    pub(super) status: Status,
    pub(super) iterations: usize,
}

/// A point with the product of `M` with it.
struct Point {
    w: DMatrix<f64>,
    image: DMatrix<f64>,
    objective: f64,
    /// `D`.
    weights: Vec<f64>,
}

impl Descent<'_> {
    pub(super) fn objective(&self, w: &DMatrix<f64>) -> f64 {
        let squares = self.design.squared_lengths(w);
        w.dot(&self.scatter.product(w)) + self.alpha * self.design.smoothed_sum(&squares, self.smoothing)
    }

    fn weights(&self, squares: &[f64]) -> Vec<f64> {
        squares.iter().map(|square| 0.5 * self.alpha / (square + self.smoothing).sqrt()).collect()
    }

    fn point(&self, w: DMatrix<f64>, image: DMatrix<f64>) -> Point {
        let squares = self.design.squared_lengths(&w);
        let objective = w.dot(&image) + self.alpha * self.design.smoothed_sum(&squares, self.smoothing);
        Point { weights: self.weights(&squares), w, image, objective }
    }

    /// Descends from `w`, which has orthonormal columns.
    pub(super) fn from(&self, w: DMatrix<f64>) -> Result<Found, Error> {
        let image = self.scatter.product(&w);
        let mut now = self.point(w, image);
        let first_objective = now.objective;
        let mut before: Option<(DMatrix<f64>, DMatrix<f64>)> = None;
        let (mut iterations, mut without_progress) = (0, 0);
        loop {
            let gradient = &now.image + times(&now.weights, &now.w);
            let rest = &gradient - &now.w * symmetric(now.w.tr_mul(&gradient));
            let stationarity = rest.norm() / gradient.norm();
            let ended = match self.context.stopped() {
                Some(status) => Some(status),
                None if stationarity <= self.tolerance => Some(Status::Converged),
                None if iterations >= MOST_STEPS => Some(Status::MaxIterations),
                None if without_progress >= PATIENCE => {
                    Some(Status::by_certificate(stationarity, self.tolerance))
                }
                None => None,
            };
            if let Some(status) = ended {
                let Point { w, objective, .. } = now;
                return Ok(Found { w, objective, first_objective, stationarity, status, iterations });
            }
            let next = match self.scatter.with_diagonal(&now.weights) {
                Some(matrix) => {
                    let (_, w) = lowest(&symmetric_eigen(matrix).ok_or_else(not_finite)?, now.w.ncols());
                    let image = self.scatter.product(&w);
                    self.point(w, image)
                }
                None => match self.in_span(&now, &rest, &mut before) {
                    // What there is is the answer; the loop sees that it was stopped.
                    Err(_) if self.context.stopped().is_some() => continue,
                    next => next?,
                },
            };
            iterations += 1;
            self.context.report("reweighted steps", iterations, MOST_STEPS);
            let decrease = now.objective - next.objective;
            without_progress = if decrease > ROUNDING * now.objective { 0 } else { without_progress + 1 };
            if decrease >= -ROUNDING * now.objective {
                now = next;
            } else {
                without_progress = PATIENCE;
            }
        }
    }

    /// The best point found in the span of the point, the solution of a system for what is left of its
    /// gradient, and the step before.
    fn in_span(
        &self,
        now: &Point,
        rest: &DMatrix<f64>,
        before: &mut Option<(DMatrix<f64>, DMatrix<f64>)>,
    ) -> Result<Point, Error> {
        let c = now.w.ncols();
        let least = now.weights.iter().copied().fold(f64::INFINITY, f64::min);
        let shifted: Vec<f64> = now.weights.iter().map(|weight| weight - SHIFT * least).collect();
        let towards = self.scatter.solve(&shifted, rest, self.context)?;
        let toward_image = self.scatter.product(&towards);
        let mut span = Span { vectors: Vec::new(), images: Vec::new() };
        span.extend(&now.w, &now.image);
        span.extend(&towards, &toward_image);
        if let Some((step, image)) = before {
            span.extend(step, image);
        }
        let vectors = DMatrix::from_columns(&span.vectors);
        let images = DMatrix::from_columns(&span.images);
        let projected = symmetric(vectors.tr_mul(&images));
        let mut weights = now.weights.clone();
        let (mut objective, mut first_decrease) = (now.objective, None);
        let mut best = DMatrix::identity(span.vectors.len(), c);
        for _ in 0..INNER {
            let matrix = &projected + symmetric(vectors.tr_mul(&times(&weights, &vectors)));
            let (_, coordinates) = lowest(&symmetric_eigen(matrix).ok_or_else(not_finite)?, c);
            let squares = self.design.squared_lengths(&(&vectors * &coordinates));
            let smooth = coordinates.dot(&(&projected * &coordinates));
            let value = smooth + self.alpha * self.design.smoothed_sum(&squares, self.smoothing);
            let decrease = objective - value;
            if decrease <= 0.0 {
                break;
            }
            (objective, best, weights) = (value, coordinates, self.weights(&squares));
            if decrease < ENOUGH * *first_decrease.get_or_insert(decrease) {
                break;
            }
        }
        // What is new in the answer, without what it has of the point.
        let others = span.vectors.len() - c;
        let part = |all: &DMatrix<f64>| all.columns(c, others) * best.rows(c, others);
        *before = (others > 0).then(|| (part(&vectors), part(&images)));
        Ok(self.point(&vectors * &best, &images * &best))
    }
}

/// Orthonormal vectors with their images.
struct Span {
    vectors: Vec<DVector<f64>>,
    images: Vec<DVector<f64>>,
}

impl Span {
    /// Adds what columns have orthogonal to those there, unless it is rounding.
    fn extend(&mut self, columns: &DMatrix<f64>, images: &DMatrix<f64>) {
        for (column, image) in columns.column_iter().zip(images.column_iter()) {
            let (mut vector, mut image) = (column.into_owned(), image.into_owned());
            let size = vector.norm();
            if size == 0.0 || !size.is_finite() {
                continue;
            }
            for _ in 0..2 {
                for (other, other_image) in self.vectors.iter().zip(&self.images) {
                    let along = other.dot(&vector);
                    vector.axpy(-along, other, 1.0);
                    image.axpy(-along, other_image, 1.0);
                }
            }
            let length = vector.norm();
            if length > 1e-9 * size {
                self.vectors.push(vector / length);
                self.images.push(image / length);
            }
        }
    }
}
