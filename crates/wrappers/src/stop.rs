//! Runs that were stopped, and the progress of several forests.

use std::sync::{Mutex, PoisonError};

use fewest_core::{Context, Error, Forecast, Progress, Status};
use fewest_eval::RandomForest;

/// Of a run that was stopped before it had an opinion: the order of the table would be no answer.
pub(crate) const UNJUDGED: Error = Error::Stopped { before: "any feature was judged" };

/// How the run was stopped.
pub(crate) fn how_stopped(context: &Context<'_>) -> Status {
    context.stopped().unwrap_or(Status::TimeLimit)
}

/// The progress of one of several forests.
pub(crate) struct ForestOf<'a> {
    /// Of all of them, [`RandomForest::REPORTS`] steps each.
    pub(crate) forecast: &'a Mutex<Forecast>,
    /// Forests before this one.
    pub(crate) before: usize,
    /// All of them.
    pub(crate) n_forests: usize,
    /// Where to report.
    pub(crate) context: &'a Context<'a>,
}

impl ForestOf<'_> {
    /// The start of `n_forests` forests.
    pub(crate) fn forecast(stage: &'static str, n_forests: usize) -> Mutex<Forecast> {
        Mutex::new(Forecast::start(stage, RandomForest::REPORTS as f64 * n_forests as f64))
    }
}

impl Progress for ForestOf<'_> {
    fn update(&self, _stage: &str, done: u64, total: u64) {
        let (done, total) = (done as usize, total as usize);
        let mut forecast = self.forecast.lock().unwrap_or_else(PoisonError::into_inner);
        forecast.report(
            self.before.saturating_mul(total).saturating_add(done),
            self.n_forests.saturating_mul(total),
            self.context,
        );
    }
}
