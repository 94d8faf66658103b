//! What is said of runs that take long, and of those that were stopped.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use fewest_core::{Context, Progress, Status};
use fewest_eval::RandomForest;

/// Of a run that was stopped before it had an opinion.
pub(crate) const UNJUDGED: &str =
    "stopped before any feature was judged: the features are in the order of the table, without scores";

/// Runs longer than this say so.
const LONG: f64 = 60.0;

/// How the run was stopped.
pub(crate) fn how_stopped(context: &Context<'_>) -> Status {
    context.stopped().unwrap_or(Status::TimeLimit)
}

/// Reports the progress of a stage, from its first step on with the time that all steps will take.
pub(crate) struct Forecast {
    stage: &'static str,
    start: Instant,
    /// How many times as long as the first step all of them take.
    whole: f64,
    told: Option<String>,
}

impl Forecast {
    pub(crate) fn start(stage: &'static str, whole: f64) -> Self {
        Self { stage, start: Instant::now(), whole, told: None }
    }

    /// After a step: `done` of `total`.
    pub(crate) fn report(&mut self, done: usize, total: usize, context: &Context<'_>) {
        let told = self.told.get_or_insert_with(|| told(self.stage, self.start.elapsed(), self.whole));
        context.report(told, done, total);
    }
}

/// The name of a stage, with the time that it will take if that is minutes; the whole of it is `whole` times
/// as long as its first step, which took `first`.
fn told(stage: &str, first: Duration, whole: f64) -> String {
    let seconds = first.as_secs_f64() * whole;
    match seconds {
        _ if seconds < LONG => stage.to_owned(),
        _ if seconds < 90.0 * 60.0 => format!("{stage}, about {:.0} min in all", (seconds / 60.0).ceil()),
        _ => format!("{stage}, about {:.1} h in all", seconds / 3600.0),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_long_runs_are_told() {
        let of = |seconds: u64, whole: f64| told("a search", Duration::from_secs(seconds), whole);
        assert_eq!(of(1, 59.0), "a search");
        assert_eq!(of(2, 40.0), "a search, about 2 min in all");
        assert_eq!(of(600, 18.0), "a search, about 3.0 h in all");
    }
}
