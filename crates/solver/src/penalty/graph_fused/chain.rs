//! Total variation along a chain, with an l1 norm, by dynamic programming.

use std::collections::VecDeque;

/// A place where the slope of a message changes: to the right of `at`, its derivative is larger by
/// `slope · x + offset`, which is not zero at `at` where the derivative jumps.
#[derive(Clone, Copy)]
struct Knot {
    at: f64,
    slope: f64,
    offset: f64,
}

/// A part of the derivative, `slope · x + offset`.
#[derive(Clone, Copy)]
struct Line {
    slope: f64,
    offset: f64,
}

impl Line {
    fn value(self, x: f64) -> f64 {
        self.slope * x + self.offset
    }

    fn root(self, value: f64) -> f64 {
        (value - self.offset) / self.slope
    }

    fn plus(self, slope: f64, offset: f64) -> Self {
        Self { slope: self.slope + slope, offset: self.offset + offset }
    }
}

/// The derivative of the least cost of all nodes so far, as a function of the last one: piecewise linear and
/// not decreasing.
struct Message {
    left: Line,
    right: Line,
    /// Knots below, at and above zero, where every node adds a jump.
    below: VecDeque<Knot>,
    zero: Option<Knot>,
    above: VecDeque<Knot>,
}

impl Message {
    fn pop_first(&mut self) -> Option<Knot> {
        self.below.pop_front().or_else(|| self.zero.take()).or_else(|| self.above.pop_front())
    }

    fn pop_last(&mut self) -> Option<Knot> {
        self.above.pop_back().or_else(|| self.zero.take()).or_else(|| self.below.pop_back())
    }

    /// Adds a knot next to zero, or before or after all others.
    fn add(&mut self, knot: Knot, is_first: bool) {
        let side = if knot.at < 0.0 {
            &mut self.below
        } else if knot.at > 0.0 {
            &mut self.above
        } else {
            let before = self.zero.map_or(Line { slope: 0.0, offset: 0.0 }, |zero| Line {
                slope: zero.slope,
                offset: zero.offset,
            });
            let sum = before.plus(knot.slope, knot.offset);
            self.zero = Some(Knot { at: 0.0, slope: sum.slope, offset: sum.offset });
            return;
        };
        if is_first {
            side.push_front(knot);
        } else {
            side.push_back(knot);
        }
    }

    /// Adds the derivative of `½ (x − value)² + level |x|`.
    fn add_node(&mut self, value: f64, level: f64) {
        self.left = self.left.plus(1.0, -value - level);
        self.right = self.right.plus(1.0, level - value);
        if level > 0.0 {
            self.add(Knot { at: 0.0, slope: 0.0, offset: 2.0 * level }, true);
        }
    }

    /// Raises the derivative to `−weight` where it is less, and returns where that ends.
    fn cut_below(&mut self, weight: f64) -> f64 {
        let mut line = self.left;
        let end = loop {
            let Some(knot) = self.pop_first() else { break line.root(-weight) };
            if line.value(knot.at) >= -weight {
                self.add(knot, true);
                break line.root(-weight);
            }
            line = line.plus(knot.slope, knot.offset);
            if line.value(knot.at) >= -weight {
                break knot.at;
            }
        };
        self.left = Line { slope: 0.0, offset: -weight };
        self.add(Knot { at: end, slope: line.slope, offset: line.offset + weight }, true);
        end
    }

    /// Lowers the derivative to `weight` where it is more, and returns where that begins.
    fn cut_above(&mut self, weight: f64) -> f64 {
        let mut line = self.right;
        let start = loop {
            let Some(knot) = self.pop_last() else { break line.root(weight) };
            if line.value(knot.at) <= weight {
                self.add(knot, false);
                break line.root(weight);
            }
            line = line.plus(-knot.slope, -knot.offset);
            if line.value(knot.at) <= weight {
                break knot.at;
            }
        };
        self.right = Line { slope: 0.0, offset: weight };
        self.add(Knot { at: start, slope: -line.slope, offset: weight - line.offset }, false);
        start
    }
}

/// The minimum of `Σ ½ (xᵢ − valuesᵢ)² + levelsᵢ |xᵢ| + Σ weightsᵢ |xᵢ − xᵢ₊₁|` in one pass forth and one
/// back (Johnson 2013), into `values`: neighbours that are fused are equal, and zeros are zero, to the last
/// bit.
pub(super) fn minimise(values: &mut [f64], levels: &[f64], weights: &[f64]) {
    let nothing = Line { slope: 0.0, offset: 0.0 };
    let mut message =
        Message { left: nothing, right: nothing, below: VecDeque::new(), zero: None, above: VecDeque::new() };
    // Node i takes the value of the next one, but not outside these.
    let mut bounds = Vec::with_capacity(values.len());
    for ((&value, &level), &weight) in values.iter().zip(levels).zip(weights.iter().chain([&0.0])) {
        message.add_node(value, level);
        let least = message.cut_below(weight);
        bounds.push((least, message.cut_above(weight).max(least)));
    }
    let mut next: Option<f64> = None;
    for (value, (least, most)) in values.iter_mut().zip(bounds).rev() {
        *value = next.map_or(least, |next| next.clamp(least, most));
        next = Some(*value);
    }
}
