//! How long a run will take, told by its progress.

use std::time::{Duration, Instant};

use crate::Context;

/// Runs longer than this say so.
const LONG: f64 = 60.0;

/// Reports the progress of a stage. How long all steps will take is announced after the first one; where that
/// is minutes, the name of the stage says so from there on, so that whoever waits may stop it at once.
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
    /// Of the stage, once the first step is over.
    name: Option<String>,
}

impl Forecast {
    /// Before the first step of this stage; all steps, the first one too, take `whole` times as long as the
    /// first one. 0 where this is not known: then nothing is said of the time.
    pub fn start(stage: &'static str, whole: f64) -> Self {
        Self { stage, start: Instant::now(), whole, name: None }
    }

    /// After a step: `done` of `total`.
    pub fn report(&mut self, done: usize, total: usize, context: &Context<'_>) {
        let name = self.name.get_or_insert_with(|| {
            let expected = Duration::try_from_secs_f64(self.start.elapsed().as_secs_f64() * self.whole);
            let expected = expected.unwrap_or(Duration::MAX);
            if self.whole > 0.0 {
                context.announce(self.stage, expected);
            }
            match Self::minutes(expected) {
                None => self.stage.to_owned(),
                Some(minutes) => format!("{}, {minutes}", self.stage),
            }
        });
        context.report(name, done, total);
    }

    /// What to say of a stage that will take so long, if that is minutes: `about 3 min in all`.
    pub fn minutes(expected: Duration) -> Option<String> {
        let seconds = expected.as_secs_f64();
        match seconds {
            _ if seconds < LONG => None,
            _ if seconds < 90.0 * 60.0 => Some(format!("about {:.0} min in all", (seconds / 60.0).ceil())),
            _ => Some(format!("about {:.1} h in all", seconds / 3600.0)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_long_runs_are_told() {
        let of = |seconds: u64| Forecast::minutes(Duration::from_secs(seconds));
        assert_eq!(of(59), None);
        assert_eq!(of(80).as_deref(), Some("about 2 min in all"));
        assert_eq!(of(10_800).as_deref(), Some("about 3.0 h in all"));
    }
}
