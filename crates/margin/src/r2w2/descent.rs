//! Descent on the bound in the logarithms of the scales.

use std::collections::VecDeque;

use fewest_core::{Error, Status};
use fewest_linalg::dot;

use super::bound::{Bound, Scaled};

/// Most steps before features are removed.
const MOST_BETWEEN: usize = 30;

/// Most steps with the features that are left.
const MOST_AT_END: usize = 1000;

/// Before features are removed, steps end when one lowers the logarithm of the bound by less than this.
const LEAST_DECREASE: f64 = 1e-4;

/// The largest change of the logarithm of a scale in the first step.
const FIRST_CHANGE: f64 = 0.5;

/// The largest change of the logarithm of a scale in any step.
const MOST_CHANGE: f64 = 2.0;

/// Most halvings of a step.
const MOST_HALVINGS: usize = 20;

/// Share of the decrease that the slope predicts, which a step must bring.
const ARMIJO: f64 = 1e-2;

/// Steps that are remembered.
const MEMORY: usize = 10;

/// Where a descent has ended.
pub(super) struct End {
    /// The bound at the scales.
    pub(super) value: f64,
    /// `max_k |∂ ln T / ∂ ln σ_k|` there, along the sphere.
    pub(super) stationarity: f64,
    pub(super) steps: usize,
    pub(super) status: Status,
}

/// When a descent has done enough.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Goal {
    /// When a step gains little: features will be removed.
    Elimination,
    /// At a stationary point, to this tolerance.
    Stationary(f64),
}

/// The last steps, by which limited-memory BFGS turns a slope into a direction.
#[derive(Default)]
struct Memory(VecDeque<(Vec<f64>, Vec<f64>)>);

impl Memory {
    fn remember(&mut self, moved: Vec<f64>, change: Vec<f64>) {
        // A step along which the slope did not grow says nothing of a minimum.
        if dot(&moved, &change) > 1e-12 * dot(&change, &change) {
            self.0.push_back((moved, change));
            if self.0.len() > MEMORY {
                self.0.pop_front();
            }
        }
    }

    /// The direction of the next step; without a memory the one of steepest descent, of the length of a
    /// first step.
    fn direction(&self, slope: &[f64]) -> Vec<f64> {
        let mut direction: Vec<f64> = slope.iter().map(|value| -value).collect();
        let Some((last, change)) = self.0.back() else {
            let factor = FIRST_CHANGE / steepest(slope).max(f64::MIN_POSITIVE);
            direction.iter_mut().for_each(|value| *value *= factor);
            return direction;
        };
        let mut shares = Vec::with_capacity(self.0.len());
        for (moved, change) in self.0.iter().rev() {
            let share = dot(moved, &direction) / dot(moved, change);
            fewest_linalg::add_scaled(&mut direction, -share, change);
            shares.push(share);
        }
        let scale = dot(last, change) / dot(change, change);
        direction.iter_mut().for_each(|value| *value *= scale);
        for ((moved, change), share) in self.0.iter().zip(shares.into_iter().rev()) {
            let own = dot(change, &direction) / dot(moved, change);
            fewest_linalg::add_scaled(&mut direction, share - own, moved);
        }
        direction
    }
}

fn steepest(slope: &[f64]) -> f64 {
    slope.iter().fold(0.0, |most, value| most.max(value.abs()))
}

/// The scales after a step in their logarithms, on the sphere of those before.
fn moved(scales: &[f64], direction: &[f64], share: f64) -> Vec<f64> {
    let mut moved: Vec<f64> = scales.iter().zip(direction).map(|(s, d)| s * (share * d).exp()).collect();
    let squares = |scales: &[f64]| dot(scales, scales);
    let factor = (squares(scales) / squares(&moved)).sqrt();
    moved.iter_mut().for_each(|scale| *scale *= factor);
    moved
}

/// How far the logarithm of each scale has moved. A scale that has become 0 stays there, so it counts as one
/// that has not moved.
fn change_of_logarithms(scales: &[f64], moved: &[f64]) -> Vec<f64> {
    let change = |(old, new): (&f64, &f64)| if *new > 0.0 { (new / old).ln() } else { 0.0 };
    scales.iter().zip(moved).map(change).collect()
}

/// Moves the scales of `scaled` until `goal`.
///
/// The bound on the sphere `Σ σ² = constant` is a smooth function of `ln σ` without constraints, so the steps
/// are those of limited-memory BFGS with Armijo's rule.
///
/// # Errors
/// [`Error::Stopped`] if not even the bound at the start was found; the scales stay as they
/// were.
pub(super) fn descend(scaled: &mut Scaled<'_>, goal: Goal) -> Result<End, Error> {
    let mut bound = scaled.bound(&scaled.scales, None)?;
    let mut slope = scaled.slope(&scaled.scales, &bound)?;
    let mut memory = Memory::default();
    let most = if goal == Goal::Elimination { MOST_BETWEEN } else { MOST_AT_END };
    let mut steps = 0;
    let status = loop {
        match goal {
            Goal::Stationary(tolerance) if steepest(&slope) <= tolerance => break Status::Converged,
            _ if steepest(&slope) == 0.0 => break Status::Converged,
            _ if steps == most => break Status::MaxIterations,
            _ => {}
        }
        let (next, there) = match step(scaled, &bound, &slope, &memory) {
            Ok(Some(found)) => found,
            // A memory that misleads is given up before the descent is.
            Ok(None) if !memory.0.is_empty() => {
                memory = Memory::default();
                continue;
            }
            Ok(None) => break Status::Stalled,
            Err(Error::Stopped { .. }) => break scaled.control.stopped().unwrap_or(Status::TimeLimit),
            Err(other) => return Err(other),
        };
        let new_slope = match scaled.slope(&next, &there) {
            Err(Error::Stopped { .. }) => break scaled.control.stopped().unwrap_or(Status::TimeLimit),
            found => found?,
        };
        let logarithms = change_of_logarithms(&scaled.scales, &next);
        memory.remember(logarithms, new_slope.iter().zip(&slope).map(|(new, old)| new - old).collect());
        let decrease = bound.value.ln() - there.value.ln();
        (scaled.scales, bound, slope) = (next, there, new_slope);
        steps += 1;
        if goal == Goal::Elimination && decrease < LEAST_DECREASE {
            break Status::Converged;
        }
    };
    let stationarity = steepest(&slope);
    let status = match (status, goal) {
        (Status::Stalled, Goal::Stationary(tolerance)) => Status::by_certificate(stationarity, tolerance),
        _ => status,
    };
    Ok(End { value: bound.value, stationarity, steps, status })
}

/// Scales with a smaller bound, and that; `None` where no share of the step gains what it should.
fn step(
    scaled: &Scaled<'_>,
    bound: &Bound,
    slope: &[f64],
    memory: &Memory,
) -> Result<Option<(Vec<f64>, Bound)>, Error> {
    let direction = memory.direction(slope);
    let promised = -dot(&direction, slope);
    if promised.partial_cmp(&0.0) != Some(std::cmp::Ordering::Greater) {
        return Ok(None);
    }
    let mut share = (MOST_CHANGE / steepest(&direction)).min(1.0);
    for _ in 0..MOST_HALVINGS {
        let next = moved(&scaled.scales, &direction, share);
        let there = scaled.bound(&next, Some(bound))?;
        if there.value.ln() <= bound.value.ln() - ARMIJO * share * promised {
            return Ok(Some((next, there)));
        }
        share *= 0.5;
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scale_that_vanishes_does_not_end_the_memory() {
        let change = change_of_logarithms(&[1.0, 0.0, 1e-300], &[2.0, 0.0, 0.0]);
        assert_eq!(change, [2.0_f64.ln(), 0.0, 0.0]);
        let mut memory = Memory::default();
        memory.remember(change, vec![1.0, 0.0, 0.5]);
        assert_eq!(memory.0.len(), 1);
    }
}
