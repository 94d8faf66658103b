//! Reweighted steps over projections with columns that are orthonormal with respect to `B`.

use fewest_core::{Context, Error, Status, derive_seed};
use fewest_linalg::{lowest, symmetric_eigen};
use nalgebra::{DMatrix, DVector};

use super::scatter::Start;
use super::{FeatureRows, Scatter, combined, symmetric, times, transposed_times};
use crate::unsupervised::not_finite;

/// Most steps, and steps in a row without progress after which it ends.
const MOST_STEPS: usize = 5000;
const PATIENCE: usize = 50;

/// How the lowest eigenvectors of `M` are found without all others: vectors beyond those wanted, most steps,
/// and the residual relative to the vectors' products, or to a share of those of random vectors.
const EXTRA: usize = 4;
const START_STEPS: usize = 200;
const START_TOLERANCE: f64 = 1e-6;
const START_ROUNDING: f64 = 1e-6;

/// A decrease that is rounding, relative to the objective, and an increase that rounding in eigenvectors may
/// make.
const ROUNDING: f64 = 1e-15;
const NOISE: f64 = 1e-13;

/// Reweighted problems solved in a span, at most, and the decrease after which no more are, as a share of the
/// first.
const INNER: usize = 8;
const ENOUGH: f64 = 0.05;

/// The diagonal less this share of its smallest entry: the nearer a system is to a singular one, the better
/// its solution tells the lowest eigenvectors.
const SHIFT: f64 = 0.9;

/// What is added to a matrix that may be singular, relative to its mean eigenvalue.
const DEFINITE: f64 = 1e-6;

pub(crate) struct Descent<'a> {
    pub(crate) rows: &'a FeatureRows,
    pub(crate) scatter: &'a Scatter<'a>,
    pub(crate) alpha: f64,
    pub(crate) smoothing: f64,
    pub(crate) tolerance: f64,
    pub(crate) context: &'a Context<'a>,
}

/// The end of a descent.
pub(crate) struct Found {
    pub(crate) w: DMatrix<f64>,
    pub(crate) objective: f64,
    pub(crate) first_objective: f64,
    pub(crate) stationarity: f64,
    pub(crate) status: Status,
    pub(crate) iterations: usize,
}

/// A point with the products of `M` and `B` with it.
struct Point {
    w: DMatrix<f64>,
    image: DMatrix<f64>,
    /// None where it is the point.
    weighted: Option<DMatrix<f64>>,
    objective: f64,
    /// `D`.
    weights: Vec<f64>,
}

impl Descent<'_> {
    pub(crate) fn objective(&self, w: &DMatrix<f64>) -> Result<f64, Error> {
        Ok(self.at(w.clone())?.objective)
    }

    /// Where to start: at the lowest eigenvectors of `M`, if need be found by steps without penalty.
    pub(crate) fn start(&self, clusters: usize) -> Result<Start, Error> {
        if let Some(start) = self.scatter.spectral_start(clusters, self.context)? {
            return Ok(start);
        }
        let uniform = |at: usize| derive_seed(0, at as u64) as f64 / u64::MAX as f64 - 0.5;
        let (p, c) = (self.rows.len(), clusters);
        let any = DMatrix::from_fn(p, (c + EXTRA).min(p), |i, j| uniform(i + j * p));
        let plain = Descent { alpha: 0.0, ..*self };
        let mut now = plain.at(self.scatter.orthonormal(&any)?)?;
        // Where the lowest eigenvalues are 0, their products are rounding of those of any vectors.
        let rounding = START_ROUNDING * now.image.norm();
        let (mut before, mut residual, mut is_lowest) = (None, 0.0, false);
        for step in 0..START_STEPS {
            let weighted = now.weighted.as_ref().unwrap_or(&now.w);
            let rest = &now.image - weighted * symmetric(transposed_times(&now.w, &now.image));
            residual = rest.columns(0, c).norm();
            if !residual.is_finite() {
                return Err(not_finite());
            }
            is_lowest = residual <= START_TOLERANCE * now.image.columns(0, c).norm().max(rounding);
            if is_lowest {
                break;
            }
            self.context.report("a first point", step, START_STEPS);
            now = match plain.in_span(&now, &rest, &mut before) {
                // What there is after a step is where to start.
                Err(_) if step > 0 && self.context.stopped().is_some() => break,
                next => next?,
            };
        }
        let w = now.w.columns(0, c).into_owned();
        // Of vectors that are not the lowest, nothing is known but that `M` has no negative eigenvalue.
        let lowest = if is_lowest { w.dot(&now.image.columns(0, c)) } else { 0.0 };
        let name = if is_lowest { "the lowest eigenvectors of M" } else { "vectors with a low trace" };
        Ok(Start { w, lowest, residual, name })
    }

    fn at(&self, w: DMatrix<f64>) -> Result<Point, Error> {
        let (image, weighted) = self.scatter.images(&w)?;
        Ok(self.point(w, image, weighted))
    }

    fn weights(&self, squares: &[f64]) -> Vec<f64> {
        squares.iter().map(|square| 0.5 * self.alpha / (square + self.smoothing).sqrt()).collect()
    }

    fn point(&self, w: DMatrix<f64>, image: DMatrix<f64>, weighted: Option<DMatrix<f64>>) -> Point {
        let squares = self.rows.squared_lengths(&w);
        let objective = w.dot(&image) + self.alpha * self.rows.smoothed_sum(&squares, self.smoothing);
        Point { weights: self.weights(&squares), w, image, weighted, objective }
    }

    /// Descends from `w`, whose columns are orthonormal with respect to `B`.
    pub(crate) fn from(&self, w: DMatrix<f64>) -> Result<Found, Error> {
        let mut now = self.at(w)?;
        let first_objective = now.objective;
        let mut before: Option<Vectors> = None;
        let (mut iterations, mut without_progress, mut least) = (0, 0, first_objective);
        loop {
            let gradient = &now.image + times(&now.weights, &now.w);
            let weighted = now.weighted.as_ref().unwrap_or(&now.w);
            let rest = &gradient - weighted * symmetric(transposed_times(&now.w, &gradient));
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
            let step = |before: &mut Option<Vectors>| {
                let columns = now.w.ncols();
                match self.scatter.lowest_with(&now.weights, columns, self.context)? {
                    Some(w) => self.at(w),
                    None => self.in_span(&now, &rest, before),
                }
            };
            let next = match step(&mut before) {
                // What there is is the answer; the loop sees that it was stopped.
                Err(_) if self.context.stopped().is_some() => continue,
                next => next?,
            };
            iterations += 1;
            self.context.report("reweighted steps", iterations, MOST_STEPS);
            let falls = least - next.objective > ROUNDING * least;
            without_progress = if falls { 0 } else { without_progress + 1 };
            least = least.min(next.objective);
            if next.objective - now.objective <= NOISE * now.objective {
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
        before: &mut Option<Vectors>,
    ) -> Result<Point, Error> {
        let c = now.w.ncols();
        let least = now.weights.iter().copied().fold(f64::INFINITY, f64::min);
        // Without penalty the matrix may be singular.
        let added = if least > 0.0 { -SHIFT * least } else { DEFINITE * self.scatter.mean_diagonal() };
        let shifted: Vec<f64> = now.weights.iter().map(|weight| weight + added).collect();
        let towards = self.scatter.solve(&shifted, rest, self.context)?;
        let mut span = Span::default();
        span.extend(&now.w, now.weighted.as_ref());
        let weighted = if now.weighted.is_some() { self.scatter.images(&towards)?.1 } else { None };
        span.extend(&towards, weighted.as_ref());
        if let Some(step) = before {
            span.extend(&step.w, step.weighted.as_ref());
        }
        if span.vectors.len() < c {
            return Err(not_finite());
        }
        let vectors = DMatrix::from_columns(&span.vectors);
        // Anew at each step: combined from those of the step before, their rounding errors would grow until
        // the trace seems to be below zero.
        let (images, weighted) = self.scatter.images(&vectors)?;
        let projected = symmetric(transposed_times(&vectors, &images));
        let mut weights = now.weights.clone();
        let (mut objective, mut first_decrease) = (now.objective, None);
        let mut best = DMatrix::identity(span.vectors.len(), c);
        for _ in 0..INNER {
            let matrix = &projected + symmetric(transposed_times(&vectors, &times(&weights, &vectors)));
            let (_, coordinates) = lowest(&symmetric_eigen(matrix).ok_or_else(not_finite)?, c);
            let squares = self.rows.squared_lengths(&combined(&vectors, &coordinates));
            let smooth = coordinates.dot(&(&projected * &coordinates));
            let value = smooth + self.alpha * self.rows.smoothed_sum(&squares, self.smoothing);
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
        *before = (others > 0).then(|| Vectors { w: part(&vectors), weighted: weighted.as_ref().map(part) });
        let weighted = weighted.map(|weighted| combined(&weighted, &best));
        Ok(self.point(combined(&vectors, &best), combined(&images, &best), weighted))
    }
}

/// Vectors with their products with `B`.
struct Vectors {
    w: DMatrix<f64>,
    /// None where they are the vectors.
    weighted: Option<DMatrix<f64>>,
}

/// Vectors that are orthonormal with respect to `B`, with their products.
#[derive(Default)]
struct Span {
    vectors: Vec<DVector<f64>>,
    /// Empty where they are the vectors.
    weighted: Vec<DVector<f64>>,
}

impl Span {
    /// Adds what columns have orthogonal to those there, unless it is rounding.
    fn extend(&mut self, columns: &DMatrix<f64>, weighted: Option<&DMatrix<f64>>) {
        for (k, column) in columns.column_iter().enumerate() {
            let mut vector = column.into_owned();
            let mut weighted = weighted.map(|all| all.column(k).into_owned());
            let length_of = |vector: &DVector<f64>, weighted: &Option<DVector<f64>>| match weighted {
                Some(weighted) => vector.dot(weighted).max(0.0).sqrt(),
                None => vector.norm(),
            };
            let size = length_of(&vector, &weighted);
            if size == 0.0 || !size.is_finite() {
                continue;
            }
            for _ in 0..2 {
                for (at, other) in self.vectors.iter().enumerate() {
                    let along = self.weighted.get(at).unwrap_or(other).dot(&vector);
                    vector.axpy(-along, other, 1.0);
                    if let Some(weighted) = &mut weighted {
                        weighted.axpy(-along, &self.weighted[at], 1.0);
                    }
                }
            }
            let length = length_of(&vector, &weighted);
            if length > 1e-9 * size {
                self.vectors.push(vector / length);
                self.weighted.extend(weighted.map(|weighted| weighted / length));
            }
        }
    }
}
