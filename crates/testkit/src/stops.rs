//! Runs that are stopped at a report of their progress.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use fewest_core::{Context, Progress};

/// Interrupts a run at a report of progress, always at the same place on one thread.
///
/// ```
/// use fewest_testkit::StopAt;
///
/// let stop = StopAt::report(2);
/// let context = stop.context(0);
/// context.report("rounds", 1, 3);
/// assert!(context.stopped().is_none());
/// context.report("rounds", 2, 3);
/// assert!(context.stopped().is_some() && stop.n_reports() == 2);
/// ```
pub struct StopAt {
    report: u64,
    stage: Option<&'static str>,
    n_reports: AtomicU64,
    flag: AtomicBool,
}

impl StopAt {
    /// Interrupts at the report with this number, counted from 1; with 0 before the run begins.
    pub fn report(number: u64) -> Self {
        Self { report: number, stage: None, n_reports: AtomicU64::new(0), flag: AtomicBool::new(number == 0) }
    }

    /// Only counts the reports; never interrupts.
    pub fn never() -> Self {
        Self::report(u64::MAX)
    }

    /// [`StopAt::report`] that counts the reports of `stage` alone.
    pub fn report_of(stage: &'static str, number: u64) -> Self {
        Self { stage: Some(stage), ..Self::report(number) }
    }

    /// The context of the run.
    pub fn context(&self, seed: u64) -> Context<'_> {
        Context { progress: Some(self), interrupt: Some(&self.flag), ..Context::seeded(seed) }
    }

    /// How many reports there were.
    pub fn n_reports(&self) -> u64 {
        self.n_reports.load(Ordering::Relaxed)
    }
}

impl Progress for StopAt {
    fn update(&self, stage: &str, _done: u64, _total: u64) {
        let counts = self.stage.is_none_or(|own| own == stage);
        if counts && self.n_reports.fetch_add(1, Ordering::Relaxed) + 1 >= self.report {
            self.flag.store(true, Ordering::Relaxed);
        }
    }
}
