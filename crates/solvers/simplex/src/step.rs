//! How far a step goes.

use fewest_core::order;

use crate::simplex::{Place, Quantity, Variable};

/// Moves slower than this share of the fastest are rounding.
const STILL: f64 = 1e-11;

/// A slope of this share of the first is none.
const FLAT: f64 = 1e-12;

/// Kinks that differ by no more than this from the end of a step may be its end.
const NEAR: f64 = 1e-10;

/// A kink on the way.
#[derive(Debug, Clone)]
pub(crate) struct Passed {
    pub(crate) variable: Variable,
    pub(crate) kink: usize,
    /// How its quantity moves with the length of the step.
    pub(crate) velocity: f64,
    /// By how much the slope of the objective rises there.
    rise: (f64, f64),
    /// Length of the step to there.
    length: f64,
    pub(crate) forward: bool,
}

/// The kinks that a step may pass. The objective along it is convex and piecewise linear.
pub(crate) struct Step {
    gain: f64,
    fastest: f64,
    kinks: Vec<Passed>,
}

impl Step {
    /// A step along which the objective falls by `gain` a unit at first.
    pub(crate) fn new(gain: f64) -> Self {
        Self { gain, fastest: 0.0, kinks: Vec::new() }
    }

    /// The kinks before what leaves its own.
    pub(crate) fn enter(&mut self, quantity: &Quantity, variable: Variable, velocity: f64) {
        if let Place::Kink(at) = quantity.place {
            self.pass_from(quantity, variable, velocity, if velocity > 0.0 { at + 1 } else { at });
        }
    }

    /// The kinks before what is on a segment.
    pub(crate) fn pass(&mut self, quantity: &Quantity, variable: Variable, velocity: f64) {
        if let Place::Segment(segment) = quantity.place {
            self.pass_from(quantity, variable, velocity, segment);
        }
    }

    fn pass_from(&mut self, quantity: &Quantity, variable: Variable, velocity: f64, segment: usize) {
        if velocity == 0.0 {
            return;
        }
        self.fastest = self.fastest.max(velocity.abs());
        let forward = velocity > 0.0;
        let ahead = if forward { segment..quantity.cost.n_kinks() } else { 0..segment };
        for kink in ahead {
            let rise = (quantity.cost.slope(kink), quantity.cost.slope(kink + 1));
            // What costs nothing has no kink.
            if rise.0 == rise.1 {
                continue;
            }
            let length = ((quantity.kink(kink) - quantity.value) / velocity).max(0.0);
            self.kinks.push(Passed { variable, kink, velocity, rise, length, forward });
        }
    }

    /// The length of the step, the kinks that it passes and that at which it ends: where the objective stops
    /// falling, or, with care, at the first. Slopes end at `wall`. `None` where it falls for ever.
    pub(crate) fn end(mut self, wall: f64, careful: bool) -> Option<(f64, Vec<Passed>, Passed)> {
        let still = STILL * self.fastest;
        self.kinks.retain(|kink| kink.velocity.abs() > still);
        let lengths: Vec<f64> = self.kinks.iter().map(|kink| kink.length).collect();
        let by_length = order::ascending(&lengths);
        let mut slope = -self.gain;
        let last = by_length.iter().position(|&at| {
            let kink = &self.kinks[at];
            let (left, right) = kink.rise;
            slope += kink.velocity.abs() * (right.clamp(-wall, wall) - left.clamp(-wall, wall));
            careful || slope >= -FLAT * self.gain
        })?;
        // Of kinks as good as at the end, that which is passed fastest is the best pivot.
        let end = lengths[by_length[last]];
        let is_near = |at: usize| (lengths[at] - end).abs() * self.kinks[at].velocity.abs() <= NEAR;
        let first = by_length[..last].iter().rposition(|&at| !is_near(at)).map_or(0, |at| at + 1);
        let beyond =
            by_length[last..].iter().position(|&at| !is_near(at)).map_or(by_length.len(), |at| last + at);
        let mut chosen = last;
        if !careful {
            for at in first..beyond {
                if self.kinks[by_length[at]].velocity.abs() > self.kinks[by_length[chosen]].velocity.abs() {
                    chosen = at;
                }
            }
        } else {
            // Bland's rule asks for the first of those that tie.
            for at in first..beyond {
                if self.kinks[by_length[at]].variable < self.kinks[by_length[chosen]].variable {
                    chosen = at;
                }
            }
        }
        // With care none is passed: the others that tie have moved by rounding only.
        let passed =
            by_length[..if careful { 0 } else { chosen }].iter().map(|&at| self.kinks[at].clone()).collect();
        let last = self.kinks[by_length[chosen]].clone();
        Some((last.length, passed, last))
    }
}
