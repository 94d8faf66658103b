//! Newton steps on the free variables: where the kernel is nearly singular, steps of two variables take millions.

use fewest_solver::Error;
use nalgebra::{Cholesky, DMatrix, DVector};

use crate::DualProblem;
use crate::descent::{Descent, Point, limits, settle};
use crate::passes::Element;

/// Most free variables, for the sake of memory.
const MOST: usize = 2000;

/// Added to the diagonal, relative to it, so that a singular kernel has a factor.
const JITTER: f64 = 1e-13;

/// What a call came to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Polished {
    /// Multiplications spent.
    pub(crate) work: f64,
    /// By how much the objective fell.
    pub(crate) gain: f64,
    /// Whether the last step was a whole one: the minimum over the free variables.
    pub(crate) whole: bool,
}

impl<T: Element> Descent<T> {
    /// Steps to the minimum over the free variables with `Σ β` kept,
    ///
    /// ```text
    /// (K_FF + r_F) d = e_F − ε sign(β_F) − ν 1,   Σ d = 0,
    /// ```
    ///
    /// each cut where a variable meets its bound or kink and is left out of the next, as long as `budget`
    /// multiplications allow.
    pub(crate) fn polish(
        &mut self,
        problem: &DualProblem<'_>,
        point: &mut Point,
        budget: f64,
    ) -> Result<Polished, Error> {
        let mut polished = Polished { work: 0.0, gain: 0.0, whole: false };
        let n = point.n_active;
        loop {
            let is_free = |&k: &usize| problem.is_free(point.order[k], point.coefficients[k]);
            let free: Vec<usize> = (0..n).filter(is_free).collect();
            let m = free.len();
            let work = (m * m) as f64 * (m as f64 / 3.0 + 2.0) + 2.0 * (m * n) as f64;
            if m < 2 || m > MOST.min(self.cache.most_rows) || polished.work + work > budget {
                break;
            }
            polished.work += work;
            let mut matrix = DMatrix::zeros(m, m);
            for (column, &k) in free.iter().enumerate() {
                let i = point.order[k];
                let slot = self.cache.fetch(problem.kernel, i, &point.order)?;
                let row = self.cache.row(slot);
                for (entry, &other) in matrix.column_mut(column).iter_mut().zip(&free) {
                    *entry = row[other].widen();
                }
                let diagonal = problem.kernel.diagonal(i) + problem.ridges[i];
                matrix[(column, column)] = diagonal + JITTER * m as f64 * diagonal.abs();
            }
            let Some(factor) = Cholesky::new(matrix) else { break };
            let slopes = DVector::from_iterator(
                m,
                free.iter()
                    .map(|&k| point.errors[k] - problem.kinks[point.order[k]] * sign(point.coefficients[k])),
            );
            // What all slopes have in common moves nothing and would only cost digits.
            let slopes = slopes.add_scalar(-slopes.mean());
            let unconstrained = factor.solve(&slopes);
            let ones = factor.solve(&DVector::from_element(m, 1.0));
            let mut direction = &unconstrained - &ones * (unconstrained.sum() / ones.sum());
            direction.add_scalar_mut(-direction.mean());
            let slope = slopes.dot(&direction);
            if !(slope > 0.0 && direction.iter().all(|value| value.is_finite())) {
                break;
            }
            let mut change = vec![0.0; n];
            for (&k, &d) in free.iter().zip(&direction) {
                let slot = self.cache.fetch(problem.kernel, point.order[k], &point.order)?;
                for (sum, value) in change.iter_mut().zip(self.cache.row(slot)) {
                    *sum += d * value.widen();
                }
            }
            for (&k, &d) in free.iter().zip(&direction) {
                change[k] += problem.ridges[point.order[k]] * d;
            }
            let curvature: f64 = free.iter().zip(&direction).map(|(&k, d)| d * change[k]).sum();
            let best = if curvature > 0.0 { slope / curvature } else { f64::INFINITY };
            let room = |(&k, &d): (&usize, &f64)| {
                let (bottom, top) = limits(problem, point.order[k], point.coefficients[k]);
                let value = point.coefficients[k];
                if d > 0.0 { (top - value) / d } else { (bottom - value) / d }
            };
            let reach = free
                .iter()
                .zip(&direction)
                .filter(|(_, d)| **d != 0.0)
                .map(room)
                .fold(f64::INFINITY, f64::min);
            let step = best.min(reach);
            let gain = step * (slope - 0.5 * curvature * step);
            if !(step.is_finite() && gain > 0.0) {
                break;
            }
            for (&k, &d) in free.iter().zip(&direction) {
                let value = point.coefficients[k];
                let (bottom, top) = limits(problem, point.order[k], value);
                let moved =
                    settle((value + step * d).clamp(bottom, top), if d > 0.0 { top } else { bottom }, value);
                point.coefficients[k] = moved;
            }
            for (error, change) in point.errors[..n].iter_mut().zip(&change) {
                *error -= step * change;
            }
            point.objective -= gain;
            polished.gain += gain;
            polished.whole = best <= reach;
            if polished.whole {
                break;
            }
        }
        if polished.gain > 0.0 {
            self.refresh(problem, point);
        }
        Ok(polished)
    }
}

/// −1, 0 or 1.
fn sign(value: f64) -> f64 {
    if value == 0.0 { 0.0 } else { value.signum() }
}
