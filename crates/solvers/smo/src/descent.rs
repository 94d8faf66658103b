//! Steps of two variables, over the variables not set aside (shrinking).

use fewest_solver::Error;
use serde::{Deserialize, Serialize};

use crate::cache::RowCache;
use crate::certificate::{downward, upward};
use crate::passes::{self, Element, Extremes, LEAST_CURVATURE};
use crate::{DualProblem, rows};

/// Curvatures below this share of the two diagonal entries are too negative to be rounding of the stored
/// rows.
const NEGATIVE: f64 = -1e-6;

/// A point, in an order in which the variables not set aside come first.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Point {
    /// The variable at each place.
    pub(crate) order: Vec<usize>,
    pub(crate) coefficients: Vec<f64>,
    /// `e = t − Kβ − rβ`; from `n_active` on, the values at `reference`.
    pub(crate) errors: Vec<f64>,
    pub(crate) n_active: usize,
    /// The whole point and its errors when the first variable was set aside.
    reference: Option<(Vec<f64>, Vec<f64>)>,
    /// The objective, updated by the decrease of each step.
    pub(crate) objective: f64,
}

impl Point {
    pub(crate) fn new(coefficients: Vec<f64>, errors: Vec<f64>, objective: f64) -> Self {
        let n = coefficients.len();
        Self { order: (0..n).collect(), coefficients, errors, n_active: n, reference: None, objective }
    }

    /// `values` by variable.
    pub(crate) fn natural(&self, values: &[f64]) -> Vec<f64> {
        let mut natural = vec![0.0; values.len()];
        for (&i, &value) in self.order.iter().zip(values) {
            natural[i] = value;
        }
        natural
    }

    pub(crate) fn is_whole(&self) -> bool {
        self.n_active == self.order.len()
    }
}

/// Data that a run can compute again: the stored rows, and tables by position.
#[derive(Debug, Clone)]
pub(crate) struct Descent<T> {
    pub(crate) cache: RowCache<T>,
    pub(crate) up: Vec<f64>,
    pub(crate) down: Vec<f64>,
    /// `K_ii + r_i`.
    pub(crate) diagonal: Vec<f64>,
    extremes: Extremes,
    /// Whether a pair of negative curvature was found.
    pub(crate) indefinite: bool,
}

impl<T: Element> Descent<T> {
    pub(crate) fn new(problem: &DualProblem<'_>, point: &Point, bytes: usize) -> Self {
        let mut new = Self {
            cache: RowCache::new(problem.n_variables(), bytes),
            up: Vec::new(),
            down: Vec::new(),
            diagonal: Vec::new(),
            extremes: Extremes { highest: 0.0, place: 0, lowest: 0.0 },
            indefinite: false,
        };
        new.refresh(problem, point);
        new
    }

    /// Prepares for a point whose coefficients, errors or order changed other than by steps.
    pub(crate) fn refresh(&mut self, problem: &DualProblem<'_>, point: &Point) {
        let places = || point.order.iter().zip(&point.coefficients);
        self.up = places().map(|(&i, &value)| upward(problem, i, value)).collect();
        self.down = places().map(|(&i, &value)| downward(problem, i, value)).collect();
        self.diagonal = point.order.iter().map(|&i| problem.kernel.diagonal(i) + problem.ridges[i]).collect();
        self.look(point);
    }

    fn look(&mut self, point: &Point) {
        let n = point.n_active;
        self.extremes = passes::extremes(&point.errors[..n], &self.up[..n], &self.down[..n]);
    }

    /// `m(β) − M(β)` over the variables not set aside.
    pub(crate) fn violation(&self) -> f64 {
        self.extremes.violation()
    }

    /// Moves the pair with the largest predicted decrease (second order). Returns by how much the objective
    /// fell, `None` if no pair lowers it.
    pub(crate) fn step(
        &mut self,
        problem: &DualProblem<'_>,
        point: &mut Point,
    ) -> Result<Option<f64>, Error> {
        let n = point.n_active;
        let Extremes { place: first, highest, .. } = self.extremes;
        if !highest.is_finite() {
            return Ok(None);
        }
        let slot_first = self.cache.fetch(problem.kernel, point.order[first], &point.order)?;
        let second = T::partner(
            &point.errors[..n],
            &self.down[..n],
            &self.diagonal[..n],
            &self.cache.row(slot_first)[..n],
            self.diagonal[first],
            highest,
        );
        let Some(second) = second else { return Ok(None) };
        let slot_second = self.cache.fetch(problem.kernel, point.order[second], &point.order)?;
        let (row_first, row_second) = (self.cache.row(slot_first), self.cache.row(slot_second));
        let (product, mirrored) = (row_first[second].widen(), row_second[first].widen());
        let size = self.diagonal[first].abs().max(self.diagonal[second].abs());
        if (product - mirrored).abs() > rows::SYMMETRY * product.abs().max(mirrored.abs()).max(size) {
            return Err(rows::not_symmetric(point.order[first], point.order[second], product, mirrored));
        }

        let (before_first, before_second) = (point.coefficients[first], point.coefficients[second]);
        let gain = self.move_pair(problem, point, first, second, product)?;
        let change_first = point.coefficients[first] - before_first;
        let change_second = point.coefficients[second] - before_second;
        for (place, change) in [(first, change_first), (second, change_second)] {
            let (i, value) = (point.order[place], point.coefficients[place]);
            point.errors[place] -= problem.ridges[i] * change;
            self.up[place] = upward(problem, i, value);
            self.down[place] = downward(problem, i, value);
        }
        let (row_first, row_second) = (self.cache.row(slot_first), self.cache.row(slot_second));
        self.extremes = T::update(
            &mut point.errors[..n],
            (change_first, &row_first[..n]),
            (change_second, &row_second[..n]),
            &self.up[..n],
            &self.down[..n],
        );
        point.objective -= gain;
        Ok(Some(gain))
    }

    /// Raises the first and lowers the second variable as far as the objective falls: over the
    /// breakpoints of `|β|`, up to the bounds. Returns by how much it fell.
    fn move_pair(
        &mut self,
        problem: &DualProblem<'_>,
        point: &mut Point,
        first: usize,
        second: usize,
        product: f64,
    ) -> Result<f64, Error> {
        let (i, j) = (point.order[first], point.order[second]);
        let sizes = self.diagonal[first].abs() + self.diagonal[second].abs();
        let mut curvature = self.diagonal[first] + self.diagonal[second] - 2.0 * product;
        if curvature <= LEAST_CURVATURE {
            self.indefinite |= curvature < NEGATIVE * sizes;
            curvature = LEAST_CURVATURE;
        }
        let (mut raised, mut lowered) = (point.coefficients[first], point.coefficients[second]);
        let difference = point.errors[first] - point.errors[second];
        let (mut moved, mut gain) = (0.0, 0.0);
        // Each may cross its breakpoint once and end at its bound.
        for _ in 0..4 {
            let slope =
                difference - curvature * moved + upward(problem, i, raised) - downward(problem, j, lowered);
            if slope <= 0.0 || slope.is_nan() {
                break;
            }
            let (_, top) = limits(problem, i, raised);
            let (bottom, _) = limits(problem, j, lowered);
            let step = (slope / curvature).min(top - raised).min(lowered - bottom);
            if !step.is_finite() {
                let hint = "the problem has no minimum: bound the variables or add a ridge".to_owned();
                return Err(Error::Numerical { what: "the step of a pair", hint });
            }
            raised = settle(raised + step, top, raised);
            lowered = settle(lowered - step, bottom, lowered);
            moved += step;
            gain += step * (slope - 0.5 * curvature * step);
        }
        point.coefficients[first] = raised;
        point.coefficients[second] = lowered;
        Ok(gain)
    }

    /// Sets aside the variables at a bound or breakpoint that no pair would move: shrinking (Fan, Chen and
    /// Lin 2005, Section 5.1; Joachims 1999).
    pub(crate) fn shrink(&mut self, point: &mut Point) {
        let Extremes { highest, lowest, .. } = self.extremes;
        let mut exchanged = Vec::new();
        let mut kept = point.n_active;
        let mut place = 0;
        while place < kept {
            let error = point.errors[place];
            if error + self.up[place] < lowest && error + self.down[place] > highest {
                kept -= 1;
                // The variable that was exchanged from the end may have to be set aside as well.
                exchanged.push((place, kept));
                if point.reference.is_none() {
                    point.reference = Some((point.coefficients.clone(), point.errors.clone()));
                }
                self.exchange(point, place, kept);
            } else {
                place += 1;
            }
        }
        if exchanged.is_empty() {
            return;
        }
        exchanged.retain(|(a, b)| a != b);
        self.cache.exchange(&exchanged);
        point.n_active = kept;
        self.look(point);
    }

    fn exchange(&mut self, point: &mut Point, a: usize, b: usize) {
        point.order.swap(a, b);
        for values in
            [&mut point.coefficients, &mut point.errors, &mut self.up, &mut self.down, &mut self.diagonal]
        {
            values.swap(a, b);
        }
        if let Some((coefficients, errors)) = &mut point.reference {
            coefficients.swap(a, b);
            errors.swap(a, b);
        }
    }

    /// Returns all variables, with their current errors: those of the reference, changed by the rows of the
    /// variables that moved since.
    pub(crate) fn unshrink(&mut self, problem: &DualProblem<'_>, point: &mut Point) -> Result<(), Error> {
        let Some((coefficients, errors)) = point.reference.take() else { return Ok(()) };
        let (n, n_active) = (point.order.len(), point.n_active);
        point.errors[n_active..].copy_from_slice(&errors[n_active..]);
        for place in 0..n {
            let change = point.coefficients[place] - coefficients[place];
            if change == 0.0 {
                continue;
            }
            let i = point.order[place];
            if place >= n_active {
                point.errors[place] -= problem.ridges[i] * change;
            }
            let slot = self.cache.fetch(problem.kernel, i, &point.order)?;
            let row = &self.cache.row(slot)[n_active..];
            for (error, value) in point.errors[n_active..].iter_mut().zip(row) {
                *error -= change * value.widen();
            }
        }
        point.n_active = n;
        self.look(point);
        Ok(())
    }
}

/// How far `β_i` may move down and up without crossing its breakpoint.
pub(crate) fn limits(problem: &DualProblem<'_>, i: usize, value: f64) -> (f64, f64) {
    let (lower, upper) = (problem.lower[i], problem.upper[i]);
    let bent = problem.absolute_weights[i] > 0.0;
    let bottom = if bent && value > 0.0 { lower.max(0.0) } else { lower };
    let top = if bent && value < 0.0 { upper.min(0.0) } else { upper };
    (bottom, top)
}

/// `value`, or `limit` if they differ by rounding only.
pub(crate) fn settle(value: f64, limit: f64, from: f64) -> f64 {
    let near = (limit - value).abs() <= 4.0 * f64::EPSILON * limit.abs().max(from.abs());
    if limit.is_finite() && near { limit } else { value }
}
