//! The context of a run: seed, progress, deadline, interruption.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::{Error, Status};

/// Receives the progress of a run. Called from one thread at a time, and maybe often: it should take little
/// time.
pub trait Progress: Sync {
    /// `done` of `total` units of `stage` are done.
    fn update(&self, stage: &str, done: u64, total: u64);

    /// After its first step: all of `stage` will take about `expected`. By default nobody is told; a receiver
    /// that wraps another hands it on.
    fn announce(&self, _stage: &str, _expected: Duration) {}
}

/// The inputs of a run besides data and parameters. `Context::default()` has seed 0, no progress report
/// and no limits.
#[derive(Clone, Copy, Default)]
pub struct Context<'a> {
    /// Seed of all random numbers. The same seed gives the same result, bit for bit, for any number
    /// of threads.
    pub seed: u64,
    /// The receiver of progress reports.
    pub progress: Option<&'a dyn Progress>,
    /// When to stop with [`Status::TimeLimit`](crate::Status::TimeLimit) and the best result so far.
    pub deadline: Option<Instant>,
    /// Set to true from elsewhere to stop with [`Status::Interrupted`](crate::Status::Interrupted).
    pub interrupt: Option<&'a AtomicBool>,
    /// Bytes that sums over rows which are read in passes may take, beside these rows. Without a number, a
    /// method has its own limits.
    pub memory: Option<usize>,
}

impl Context<'_> {
    /// A context with this seed.
    pub fn seeded(seed: u64) -> Self {
        Self { seed, ..Self::default() }
    }

    /// Reports to the progress callback, if there is one.
    pub fn report(&self, stage: &str, done: usize, total: usize) {
        if let Some(progress) = self.progress {
            progress.update(stage, done as u64, total as u64);
        }
    }

    /// Tells the progress callback, if there is one, how long a stage will take.
    pub(crate) fn announce(&self, stage: &str, expected: Duration) {
        if let Some(progress) = self.progress {
            progress.announce(stage, expected);
        }
    }

    /// Ends what was stopped: for computations that have nothing to show before they are done.
    ///
    /// # Errors
    /// [`Error::Stopped`] with `before` once the caller asked to stop or the deadline has passed.
    pub fn go_on(&self, before: &'static str) -> Result<(), Error> {
        if self.stopped().is_some() { Err(Error::Stopped { before }) } else { Ok(()) }
    }

    /// [`Status::Interrupted`] once the caller asked to stop, [`Status::TimeLimit`] once the deadline has
    /// passed.
    pub fn stopped(&self) -> Option<Status> {
        if self.interrupt.is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            return Some(Status::Interrupted);
        }
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline).then_some(Status::TimeLimit)
    }
}

/// An independent seed for part `stream` of a run with `seed` (SplitMix64's finaliser), so that parts
/// computed in parallel do not depend on each other's order.
pub fn derive_seed(seed: u64, stream: u64) -> u64 {
    let mut z = seed.wrapping_add(stream.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}
