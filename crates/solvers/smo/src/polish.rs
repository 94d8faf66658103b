//! Newton steps on the free variables. If the kernel is nearly singular, millions of steps of two variables
//! would be needed instead.

use fewest_solver::Error;

use crate::DualProblem;
use crate::basis::Basis;
use crate::certificate::{downward, upward};
use crate::descent::{Descent, Point, limits, settle};
use crate::passes::{self, Element};

/// Largest number of free variables, which limits memory.
const MOST: usize = 2000;

/// A variable depends linearly on the others if they leave less than this share of its diagonal entry.
const DEPENDENT: f64 = 1e-10;

/// The largest difference of slopes that should be equal, as a share of the slope of the next variable.
const LEVEL: f64 = 1e-3;

/// The share of the largest error that is rounding.
const ROUNDING: f64 = 1e-15;

/// The result of a call.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Polished {
    /// Multiplications spent.
    pub(crate) work: f64,
    /// By how much the objective fell.
    pub(crate) gain: f64,
    /// Whether the minimum over the variables not set aside was reached.
    pub(crate) whole: bool,
}

/// A direction: the variables of the basis, and one that enters.
struct Direction {
    /// Change of each variable of the basis.
    basis: Vec<f64>,
    entering: Option<Entering>,
    /// How fast the objective falls at first.
    slope: f64,
}

/// A variable that joins the basis.
struct Entering {
    place: usize,
    /// 1 upwards, −1 downwards.
    sign: f64,
    /// [`Basis::solve`] of its kernel values, and the part of its diagonal entry that the basis leaves.
    solved: Vec<f64>,
    rest: f64,
}

impl<T: Element> Descent<T> {
    /// Steps to the minimum over the free variables with `Σ β` kept,
    ///
    /// ```text
    /// (K_FF + r_F) d = e_F − ε sign(β_F) − ν 1,   Σ d = 0,
    /// ```
    ///
    /// each stopped where a variable reaches its bound or breakpoint and leaves. At the minimum, the variable
    /// with the largest violation enters, while the others keep their slopes equal (an active-set method,
    /// Scheinberg 2006), within `budget` multiplications.
    pub(crate) fn polish(
        &mut self,
        problem: &DualProblem<'_>,
        point: &mut Point,
        budget: f64,
    ) -> Result<Polished, Error> {
        let mut polished = Polished { work: 0.0, gain: 0.0, whole: false };
        let n = point.n_active;
        let is_free = |&k: &usize| problem.is_free(point.order[k], point.coefficients[k]);
        let free: Vec<usize> = (0..n).filter(is_free).collect();
        let most = MOST.min(self.cache.most_rows.saturating_sub(1));
        let building = |m: usize| 0.7 * (m * m) as f64 * m as f64;
        let moving = |m: usize| (2 * m * m + (m + 16) * n) as f64;
        if free.is_empty() || free.len() > most || building(free.len()) + moving(free.len()) > budget {
            return Ok(polished);
        }
        polished.work += building(free.len());
        let mut basis = self.basis(problem, point, &free)?;
        let mut is_fresh = true;
        let mut last_spread = f64::INFINITY;
        while !basis.places.is_empty() && basis.places.len() < most {
            polished.work += moving(basis.places.len());
            if polished.work > budget {
                break;
            }
            let slopes: Vec<f64> = basis.places.iter().map(|&k| slope(problem, point, k)).collect();
            let level = slopes.iter().sum::<f64>() / slopes.len() as f64;
            let spread = slopes.iter().fold(0.0_f64, |most, slope| most.max((slope - level).abs()));
            let candidate = self.candidate(point, &basis, level);
            let promise = candidate.map_or(0.0, |(_, _, promise)| promise);
            let rounding = ROUNDING * point.errors[..n].iter().fold(0.0_f64, |most, e| most.max(e.abs()));
            if promise.max(spread) <= rounding {
                polished.whole = true;
                break;
            }
            let levelling = spread > LEVEL * promise;
            if levelling && spread > 0.5 * last_spread {
                // The inverse has lost its accuracy, or the slopes have, and no decrease is left.
                if is_fresh {
                    polished.whole = promise <= spread;
                    break;
                }
                polished.work += building(basis.places.len());
                let places = std::mem::take(&mut basis.places);
                basis = self.basis(problem, point, &places)?;
                (is_fresh, last_spread) = (true, f64::INFINITY);
                continue;
            }
            let direction = match candidate {
                Some((place, sign, promise)) if !levelling => {
                    self.entering(problem, point, &basis, place, sign, promise)?
                }
                _ => levelled(&basis, &slopes, level),
            };
            let (gain, is_cut) = self.advance(problem, point, &basis, &direction)?;
            if gain <= 0.0 {
                polished.whole = promise.max(spread) <= 1e3 * rounding;
                break;
            }
            polished.gain += gain;
            // Only the spread after a full step shows the accuracy of the inverse.
            last_spread = if levelling && !is_cut { spread } else { f64::INFINITY };
            let before = basis.places.len();
            let mut trusted = true;
            for at in (0..before).rev() {
                let k = basis.places[at];
                if !problem.is_free(point.order[k], point.coefficients[k]) {
                    trusted &= basis.leave(at);
                }
            }
            match direction.entering {
                Some(entering) if !is_cut && basis.places.len() == before => {
                    if entering.rest > DEPENDENT * self.diagonal[entering.place] {
                        basis.join(entering.place, &entering.solved, entering.rest);
                        is_fresh = false;
                    }
                }
                _ => is_fresh &= basis.places.len() == before,
            }
            if !trusted && !basis.places.is_empty() {
                polished.work += building(basis.places.len());
                let places = std::mem::take(&mut basis.places);
                basis = self.basis(problem, point, &places)?;
                is_fresh = true;
            }
        }
        if polished.gain > 0.0 {
            point.objective -= polished.gain;
            self.refresh(problem, point);
        }
        Ok(polished)
    }

    /// The basis of those of `places` that do not depend linearly on earlier ones.
    fn basis(&mut self, problem: &DualProblem<'_>, point: &Point, places: &[usize]) -> Result<Basis, Error> {
        let mut basis = Basis::default();
        for &place in places {
            let (solved, rest) = self.rest(problem, point, &basis, place)?;
            if basis.places.is_empty() || rest > DEPENDENT * self.diagonal[place] {
                basis.join(place, &solved, rest);
            }
        }
        Ok(basis)
    }

    /// [`Basis::solve`] of 1 and the kernel values of the variable at `place`, and the part of its diagonal
    /// entry that is left.
    fn rest(
        &mut self,
        problem: &DualProblem<'_>,
        point: &Point,
        basis: &Basis,
        place: usize,
    ) -> Result<(Vec<f64>, f64), Error> {
        let slot = self.cache.fetch(problem.kernel, point.order[place], &point.order)?;
        let row = self.cache.row(slot);
        let values: Vec<f64> = basis.places.iter().map(|&other| row[other].widen()).collect();
        let solved = basis.solve(1.0, &values);
        let explained: f64 = solved.iter().zip([1.0].iter().chain(&values)).map(|(a, b)| a * b).sum();
        Ok((solved, self.diagonal[place] - explained))
    }

    /// The variable outside the basis whose slope differs most from `level`, the slope of those inside; the
    /// direction in which it moves; and the difference.
    fn candidate(&self, point: &Point, basis: &Basis, level: f64) -> Option<(usize, f64, f64)> {
        let mut best: Option<(usize, f64, f64)> = None;
        let mut outside = vec![true; point.n_active];
        basis.places.iter().for_each(|&k| outside[k] = false);
        for (k, &error) in point.errors[..point.n_active].iter().enumerate() {
            for (sign, promise) in [(1.0, error + self.up[k] - level), (-1.0, level - error - self.down[k])] {
                if promise > best.map_or(0.0, |(_, _, promise)| promise) && outside[k] {
                    best = Some((k, sign, promise));
                }
            }
        }
        best
    }

    /// The variable at `place` enters, those of the basis move such that their slopes stay equal.
    fn entering(
        &mut self,
        problem: &DualProblem<'_>,
        point: &Point,
        basis: &Basis,
        place: usize,
        sign: f64,
        promise: f64,
    ) -> Result<Direction, Error> {
        let (solved, rest) = self.rest(problem, point, basis, place)?;
        let mut changes: Vec<f64> = solved[1..].iter().map(|value| -sign * value).collect();
        // The sum is kept to the last digit.
        let excess = (changes.iter().sum::<f64>() + sign) / changes.len() as f64;
        changes.iter_mut().for_each(|change| *change -= excess);
        let entering = Some(Entering { place, sign, solved, rest });
        Ok(Direction { basis: changes, entering, slope: promise })
    }

    /// Moves while the objective decreases, or until a variable reaches its bound or breakpoint; returns by
    /// how much it fell, and whether the step was cut.
    fn advance(
        &mut self,
        problem: &DualProblem<'_>,
        point: &mut Point,
        basis: &Basis,
        direction: &Direction,
    ) -> Result<(f64, bool), Error> {
        let n = point.n_active;
        let entering = direction.entering.iter().map(|entering| (entering.place, entering.sign));
        let moved: Vec<(usize, f64)> =
            basis.places.iter().copied().zip(direction.basis.iter().copied()).chain(entering).collect();
        let mut change = vec![0.0; n];
        for &(k, d) in &moved {
            let slot = self.cache.fetch(problem.kernel, point.order[k], &point.order)?;
            T::subtract(&mut change, &self.cache.row(slot)[..n], -d);
        }
        for &(k, d) in &moved {
            change[k] += problem.ridges[point.order[k]] * d;
        }
        let curvature: f64 = moved.iter().map(|&(k, d)| d * change[k]).sum();
        let slope = direction.slope;
        let best = if curvature > 0.0 { slope / curvature } else { f64::INFINITY };
        let limit = |k: usize, d: f64| {
            let (bottom, top) = limits(problem, point.order[k], point.coefficients[k]);
            if d > 0.0 { top } else { bottom }
        };
        let room = |&(k, d): &(usize, f64)| {
            if d == 0.0 { f64::INFINITY } else { (limit(k, d) - point.coefficients[k]) / d }
        };
        let reach = moved.iter().map(room).fold(f64::INFINITY, f64::min);
        let step = best.min(reach);
        let gain = step * (slope - 0.5 * curvature * step);
        if !(step.is_finite() && gain > 0.0) {
            return Ok((0.0, false));
        }
        for &(k, d) in &moved {
            let (i, value) = (point.order[k], point.coefficients[k]);
            let (bottom, top) = limits(problem, i, value);
            let stop = if d > 0.0 { top } else { bottom };
            let value = settle((value + step * d).clamp(bottom, top), stop, value);
            point.coefficients[k] = value;
            self.up[k] = upward(problem, i, value);
            self.down[k] = downward(problem, i, value);
        }
        passes::subtract(&mut point.errors[..n], &change, step);
        Ok((gain, reach < best))
    }
}

/// The direction to equal slopes in the basis.
fn levelled(basis: &Basis, slopes: &[f64], level: f64) -> Direction {
    let differences: Vec<f64> = slopes.iter().map(|slope| slope - level).collect();
    let mut changes = basis.solve(0.0, &differences).split_off(1);
    let excess = changes.iter().sum::<f64>() / changes.len() as f64;
    changes.iter_mut().for_each(|change| *change -= excess);
    let slope = changes.iter().zip(&differences).map(|(a, b)| a * b).sum();
    Direction { basis: changes, entering: None, slope }
}

/// `e − ε sign(β)` of the free variable at place `k`.
fn slope(problem: &DualProblem<'_>, point: &Point, k: usize) -> f64 {
    let value = point.coefficients[k];
    let sign = if value == 0.0 { 0.0 } else { value.signum() };
    point.errors[k] - problem.absolute_weights[point.order[k]] * sign
}
