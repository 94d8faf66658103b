//! Convex piecewise linear functions of a number.

use fewest_solver::Error;

/// A convex piecewise linear function with at most two kinks: the cost of a column or of a row.
///
/// A slope may be infinite, which makes the kink beside it a bound. What is no such function is refused where
/// it joins a [`Simplex`](crate::Simplex): kinks that are not finite, slopes that fall.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cost {
    /// Where the slope changes, the lower one first; equal where it changes once only.
    pub(crate) kinks: [f64; 2],
    /// To the left of both kinks, between them and to the right.
    pub(crate) slopes: [f64; 3],
}

impl Cost {
    /// `left · (t − kink)` below the kink and `right · (t − kink)` above, with `left ≤ right`.
    pub fn hinge(kink: f64, left: f64, right: f64) -> Self {
        Self { kinks: [kink; 2], slopes: [left, right, right] }
    }

    /// `weight · |t|`.
    pub fn absolute(weight: f64) -> Self {
        Self::hinge(0.0, -weight, weight)
    }

    /// 0 everywhere.
    pub fn free() -> Self {
        Self::absolute(0.0)
    }

    /// 0 between `low` and `high`, both included, and not allowed elsewhere. An infinite `low` or `high` is
    /// no bound: `within(0.0, f64::INFINITY)` is `t ≥ 0`.
    pub fn within(low: f64, high: f64) -> Self {
        match (low == f64::NEG_INFINITY, high == f64::INFINITY) {
            (true, true) => Self::free(),
            (true, false) => Self::hinge(high, 0.0, f64::INFINITY),
            (false, true) => Self::hinge(low, f64::NEG_INFINITY, 0.0),
            (false, false) => Self { kinks: [low, high], slopes: [f64::NEG_INFINITY, 0.0, f64::INFINITY] },
        }
    }

    /// This cost with `slope · t` added.
    #[must_use]
    pub fn tilted(mut self, slope: f64) -> Self {
        self.slopes.iter_mut().for_each(|own| *own += slope);
        self
    }

    /// Whether this is a convex function with finite kinks. Slopes that are no numbers are left to
    /// [`Simplex::minimise`](crate::Simplex::minimise): they come from data.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let [low, high] = self.kinks;
        if !(low.is_finite() && high.is_finite() && low <= high) {
            return Err(self.refused("finite kinks, the lower one first"));
        }
        if self.slopes[0] > self.slopes[1] || self.slopes[1] > self.slopes[2] {
            return Err(self.refused("slopes that do not fall"));
        }
        Ok(())
    }

    /// The error for a cost that is not as `expected`.
    pub(crate) fn refused(&self, expected: impl Into<String>) -> Error {
        let Self { kinks, slopes } = self;
        Error::parameter("cost", format!("kinks {kinks:?} and slopes {slopes:?}"), expected)
    }

    /// Whether the slopes are numbers that leave a way to somewhere.
    pub(crate) fn has_slopes(&self) -> bool {
        let [left, middle, right] = self.slopes;
        !middle.is_nan() && left < f64::INFINITY && right > f64::NEG_INFINITY
    }

    /// How many kinks there are.
    pub(crate) fn n_kinks(&self) -> usize {
        if self.kinks[0] < self.kinks[1] { 2 } else { 1 }
    }

    /// The slope on segment `segment`, of which there is one more than kinks.
    pub(crate) fn slope(&self, segment: usize) -> f64 {
        // With one kink the segment between the two is empty.
        if segment == self.n_kinks() { self.slopes[2] } else { self.slopes[segment] }
    }

    /// The segment that `t` is on; a kink belongs to the segment on its right.
    pub(crate) fn segment(&self, t: f64) -> usize {
        self.kinks[..self.n_kinks()].iter().filter(|kink| t >= **kink).count()
    }

    /// The cost at `t`, up to a constant, with slopes that end at `wall`.
    pub(crate) fn value(&self, t: f64, wall: f64) -> f64 {
        let [left, middle, right] = self.slopes.map(|slope| slope.clamp(-wall, wall));
        let [low, high] = self.kinks;
        match t {
            _ if t < low => left * (t - low),
            _ if t <= high => middle * (t - low),
            _ => middle * (high - low) + right * (t - high),
        }
    }

    /// The largest size of a slope that is finite.
    pub(crate) fn steepness(&self) -> f64 {
        self.slopes.iter().filter(|slope| slope.is_finite()).fold(0.0, |most, slope| most.max(slope.abs()))
    }
}
