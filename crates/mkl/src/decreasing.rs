//! Penalties that decrease until enough features have a weight.

/// A penalty is this part of the one before.
const FACTOR: f64 = 0.7;

/// Penalties after the first at most: down to some 1e-6 of it.
const STEPS: usize = 40;

/// Penalties in a row that bring no more features than there have been, after which no more are expected:
/// down to an eighth.
const IDLE: usize = 6;

/// A penalty on its way down.
pub(crate) struct DecreasingPenalty {
    penalty: f64,
    wanted: usize,
    most: usize,
    steps: usize,
    idle: usize,
}

impl DecreasingPenalty {
    /// Decreases from `penalty` until `wanted` features have a weight.
    pub(crate) fn new(penalty: f64, wanted: usize) -> Self {
        Self { penalty, wanted, most: 0, steps: 0, idle: 0 }
    }

    pub(crate) fn penalty(&self) -> f64 {
        self.penalty
    }

    /// Takes how many features have a weight at this penalty; whether these are more than at all penalties
    /// before, or it is the first.
    pub(crate) fn is_best(&mut self, found: usize) -> bool {
        let is_best = self.steps == 0 || found > self.most;
        self.idle = if is_best { 0 } else { self.idle + 1 };
        self.most = self.most.max(found);
        is_best
    }

    /// Goes on to the next penalty; false where there are enough features, or no more to be expected.
    pub(crate) fn decrease(&mut self) -> bool {
        if self.most >= self.wanted || self.idle == IDLE || self.steps == STEPS {
            return false;
        }
        self.steps += 1;
        self.penalty *= FACTOR;
        true
    }
}
