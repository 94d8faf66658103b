//! Running a method: its own threads, a progress bar, a time limit, Ctrl-C.

use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use fewest::core::{Context, Progress};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::args::RunArgs;
use crate::failure::{Failure, STATUS_INTERRUPTED};

/// Set by the first Ctrl-C, SIGTERM or SIGHUP.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Calls `work` on the threads that the arguments give, without a handler of Ctrl-C.
pub(crate) fn on_threads<T: Send>(
    args: &RunArgs,
    work: impl FnOnce() -> Result<T, Failure> + Send,
) -> Result<T, Failure> {
    threads(args)?.install(work)
}

fn threads(args: &RunArgs) -> Result<rayon::ThreadPool, Failure> {
    let mut pool = rayon::ThreadPoolBuilder::new();
    if let Some(threads) = args.threads {
        pool = pool.num_threads(usize::from(threads));
    }
    pool.build().map_err(|error| {
        Failure::new(format!("the threads cannot be started ({error}): ask for fewer with --threads"))
    })
}

/// Calls `work` with the context that the arguments give, and returns the result and the time in seconds.
pub(crate) fn run<T: Send>(
    args: &RunArgs,
    work: impl FnOnce(&Context<'_>) -> Result<T, Failure> + Send,
) -> Result<(T, f64), Failure> {
    // SIGTERM and SIGHUP count as Ctrl-C. The second one ends the program at once; so does the first one
    // without a handler.
    let _ = ctrlc::set_handler(|| {
        if INTERRUPTED.swap(true, Ordering::Relaxed) {
            fewest::data::remove_unfinished();
            process::exit(i32::from(STATUS_INTERRUPTED));
        }
    });
    let pool = threads(args)?;
    let bar = Bar::new(args.quiet);
    let started = Instant::now();
    let context = Context {
        seed: args.seed,
        progress: Some(&bar),
        deadline: args.time_limit.and_then(|limit| started.checked_add(Duration::from_secs_f64(limit))),
        interrupt: Some(&INTERRUPTED),
    };
    let result = pool.install(|| work(&context));
    let seconds = started.elapsed().as_secs_f64();
    bar.finish();
    match result {
        Err(_) if INTERRUPTED.load(Ordering::Relaxed) => Err(Failure::interrupted()),
        result => Ok((result?, seconds)),
    }
}

/// A bar on stderr, if that is a terminal.
struct Bar {
    bar: ProgressBar,
    stage: Mutex<String>,
}

impl Bar {
    fn new(quiet: bool) -> Self {
        // A target on stderr draws nothing unless that is a terminal.
        let target = if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bar = ProgressBar::with_draw_target(None, target);
        if let Ok(style) = ProgressStyle::with_template("{msg:26} {bar:40} {percent:>3} %  {elapsed}") {
            bar.set_style(style);
        }
        Self { bar, stage: Mutex::new(String::new()) }
    }

    fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl Progress for Bar {
    fn update(&self, stage: &str, done: u64, total: u64) {
        let mut current = self.stage.lock().unwrap_or_else(PoisonError::into_inner);
        if *current != stage {
            stage.clone_into(&mut current);
            self.bar.set_message(stage.to_owned());
        }
        self.bar.set_length(total);
        self.bar.set_position(done);
    }
}
