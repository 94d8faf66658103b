//! How long a run will take, told by its progress.

use std::time::{Duration, Instant};

use crate::Context;

/// Runs longer than this say so.
const LONG: f64 = 60.0;

/// Reports the progress of a stage. Where all steps will take minutes, this is announced after the first one,
/// and the name of the stage says so from there on, so that whoever waits may stop it at once.
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
        let told = self.told.get_or_insert_with(|| match minutes(self.start.elapsed(), self.whole) {
            None => self.stage.to_owned(),
            Some(minutes) => {
                let told = format!("{}, {minutes}", self.stage);
                context.announce(&told);
                told
            }
        });
        context.report(told, done, total);
    }
}

/// The time that a stage will take if that is minutes: `whole` times as long as its first step, which took
/// `first`.
fn minutes(first: Duration, whole: f64) -> Option<String> {
    let seconds = first.as_secs_f64() * whole;
    match seconds {
        _ if seconds < LONG => None,
        _ if seconds < 90.0 * 60.0 => Some(format!("about {:.0} min in all", (seconds / 60.0).ceil())),
        _ => Some(format!("about {:.1} h in all", seconds / 3600.0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_long_runs_are_told() {
        let of = |seconds: u64, whole: f64| minutes(Duration::from_secs(seconds), whole);
        assert_eq!(of(1, 59.0), None);
        assert_eq!(of(2, 40.0).as_deref(), Some("about 2 min in all"));
        assert_eq!(of(600, 18.0).as_deref(), Some("about 3.0 h in all"));
    }
}
