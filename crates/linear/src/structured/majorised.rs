//! Penalties that are not convex: from a convex start, one convex majorant after the other.

use fewest_core::{Error, Status};
use fewest_newton::Start;
use fewest_solver::{BlockPenalty, Control, certificate};

use super::engine::Found;
use super::structure::Family;

/// Majorants of one run, at most.
const MOST_MAJORANTS: usize = 1000;

/// Majorants in a row that do not lower the objective before a run ends.
const PATIENCE: usize = 200;

/// The value of a penalty, by its strength and the coefficients.
type Value = Box<dyn Fn(f64, &[f64]) -> Result<f64, Error> + Sync>;

/// A convex penalty that is, but for a constant, at least as large as the penalty of a strength everywhere
/// and equal to it at a point, given with its correlations.
type Majorant = Box<dyn Fn(f64, &[f64], &[f64]) -> Result<Box<dyn BlockPenalty>, Error> + Sync>;

/// A penalty that is not convex.
///
/// Since the loss with a majorant falls, the objective falls, and a point that minimises the loss with its
/// own majorant is stationary: the duality gap of that problem at the point is the certificate.
pub(super) struct Majorised {
    /// Convex penalties, at whose solutions runs start: the lowest end is the answer.
    pub(super) starts: Vec<Family>,
    pub(super) value: Value,
    pub(super) majorant: Majorant,
}

impl Majorised {
    /// A stationary point, from zero; `solve(penalty, start, control)` minimises the loss with a convex
    /// penalty. The gap is that of the majorant at the point itself.
    pub(super) fn minimise(
        &self,
        lambda: f64,
        control: &Control<'_>,
        solve: impl Fn(&dyn BlockPenalty, Option<&Start>, &Control<'_>) -> Result<Found, Error>,
    ) -> Result<Found, Error> {
        let mut best: Option<Found> = None;
        for start in &self.starts {
            let first = solve(&*start(lambda)?, None, control)?;
            let found = self.descend(lambda, first, control, &solve)?;
            let is_stopped = found.status.is_stopped();
            if best.as_ref().is_none_or(|best| found.objective < best.objective) {
                best = Some(found);
            }
            if is_stopped {
                break;
            }
        }
        best.ok_or(Error::TooFew { what: "starts", minimum: 1, found: 0 })
    }

    fn descend(
        &self,
        lambda: f64,
        first: Found,
        control: &Control<'_>,
        solve: impl Fn(&dyn BlockPenalty, Option<&Start>, &Control<'_>) -> Result<Found, Error>,
    ) -> Result<Found, Error> {
        let mut iterations = first.iterations;
        let mut at = first;
        // The objective at the start is that of another penalty.
        let (mut last, mut without_fall) = (f64::INFINITY, 0);
        for _ in 0..MOST_MAJORANTS {
            if at.status.is_stopped() {
                break;
            }
            at = self.step(lambda, &at, control, &solve)?;
            iterations += at.iterations;
            if at.iterations == 0 {
                // The gap at the point itself is small enough.
                return Ok(Found { iterations, ..at });
            }
            // The gap falls in proportion to the steps, the objective to their squares: below rounding while
            // the gap still falls.
            without_fall = if at.objective < last { 0 } else { without_fall + 1 };
            if without_fall >= PATIENCE {
                break;
            }
            last = last.min(at.objective);
        }
        let certify = Control { max_iterations: 0, ..*control };
        let end = self.step(lambda, &at, &certify, &solve)?;
        let gap = certificate::relative(end.gap, end.at_zero);
        let status =
            if at.status.is_stopped() { at.status } else { Status::by_certificate(gap, control.tolerance) };
        Ok(Found { iterations, status, ..end })
    }

    /// The minimum of the loss with the majorant of a point, with the objective of the penalty itself.
    fn step(
        &self,
        lambda: f64,
        at: &Found,
        control: &Control<'_>,
        solve: impl Fn(&dyn BlockPenalty, Option<&Start>, &Control<'_>) -> Result<Found, Error>,
    ) -> Result<Found, Error> {
        let majorant = (self.majorant)(lambda, &at.point.coefficients, &at.correlations)?;
        let mut next = solve(&*majorant, Some(&at.point), control)?;
        let w = &next.point.coefficients;
        next.objective += (self.value)(lambda, w)? - majorant.value(w);
        Ok(next)
    }
}
