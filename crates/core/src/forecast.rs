//! How long a run will take, told by its progress.

use std::time::{Duration, Instant};

use crate::Context;

/// Runs longer than this say so.
const LONG: f64 = 60.0;

/// Reports the progress of a stage. Where all steps will take minutes, the name of the stage says so from its
/// first step on, so that whoever waits may stop it at once.
///
/// ```
/// use fewest_core::{Context, Forecast};
///
/// // Of ten features one goes in each step, and a step takes as long as there are features.
/// let mut progress = Forecast::start("elimination", (1..=10).sum::<usize>() as f64 / 10.0);
/// for gone in 1..=10 {
///     progress.report(gone, 10, &Context::default());
/// }
/// ```
pub struct Forecast {
    stage: &'static str,
    start: Instant,
    whole: f64,
    told: Option<String>,
}

impl Forecast {
    /// Before the first step of this stage; all steps, the first one too, take `whole` times as long as the
    /// first one. 0 where this is not known: then nothing is said of the time.
    pub fn start(stage: &'static str, whole: f64) -> Self {
        Self { stage, start: Instant::now(), whole, told: None }
    }

    /// After a step: `done` of `total`.
    pub fn report(&mut self, done: usize, total: usize, context: &Context<'_>) {
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
