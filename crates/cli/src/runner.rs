//! Running a method: its own threads, a progress bar, a time limit, Ctrl-C.

use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use fewest::core::{Context, Forecast, Progress};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::args::RunArgs;
use crate::failure::{Failure, STATUS_INTERRUPTED};
use crate::output;

/// Set by the first Ctrl-C, SIGTERM or SIGHUP.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Whether all files are read, so that there is something to lose. Before, what stops the command ends the
/// program, also where it waits for a pipe in which nothing comes.
static ALL_READ: Mutex<bool> = Mutex::new(false);

/// How long a message may take that is the last one: who should read it may not.
const LAST_WORDS: Duration = Duration::from_secs(1);

fn all_read() -> MutexGuard<'static, bool> {
    ALL_READ.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Says that all files are read: from now on a stop lets the command finish what it does.
pub(crate) fn end_of_reading() {
    *all_read() = true;
}

/// Begins a command: it hears Ctrl-C, SIGTERM and SIGHUP, which count as Ctrl-C. The second one ends the
/// program at once; so does the first one while files are read.
pub(crate) fn hear_signals() {
    *all_read() = false;
    let act = || {
        let is_second = INTERRUPTED.swap(true, Ordering::Relaxed);
        end_while_reading(Failure::interrupted_early);
        if is_second {
            fewest::data::remove_unfinished();
            process::exit(i32::from(STATUS_INTERRUPTED));
        }
    };
    // Another command of the same process is heard already.
    static HEARD: Once = Once::new();
    HEARD.call_once(|| on_signals(act));
}

/// Calls `act` for each signal. Where no thread can be started, each of them ends the program.
#[cfg(unix)]
fn on_signals(mut act: impl FnMut() + Send + 'static) {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let heard = [SIGINT, SIGTERM].into_iter().chain((!is_hangup_ignored()).then_some(SIGHUP));
    if let Ok(mut signals) = signal_hook::iterator::Signals::new(heard) {
        let hear = move || signals.forever().for_each(|_| act());
        let _ = thread::Builder::new().spawn(hear);
    }
}

/// Whether who started the program wants it to go on without its terminal, as `nohup` does. Systems other
/// than Linux do not tell.
#[cfg(unix)]
fn is_hangup_ignored() -> bool {
    let known = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = known.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    // The first signal is SIGHUP.
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 == 1)
}

#[cfg(not(unix))]
fn on_signals(act: impl FnMut() + Send + 'static) {
    // Without a handler it ends the program.
    let _ = ctrlc::set_handler(act);
}

/// Ends the program while it reads files; what computes asks itself whether to go on.
fn end_while_reading(why: fn() -> Failure) {
    // Held until the program has ended: no method begins in between.
    let is_over = all_read();
    if *is_over {
        return;
    }
    let why = why();
    let status = i32::from(why.status());
    let (told, is_told) = mpsc::channel();
    let tell = move || {
        output::complain(&why.to_string());
        let _ = told.send(());
    };
    if thread::Builder::new().spawn(tell).is_ok() {
        let _ = is_told.recv_timeout(LAST_WORDS);
    }
    fewest::data::remove_unfinished();
    process::exit(status);
}

/// The threads that the arguments give, for all a command does, and when that is to end.
pub(crate) struct Threads {
    pool: rayon::ThreadPool,
    deadline: Option<Instant>,
    /// Lives as long as the limit counts.
    _limit: Arc<()>,
}

impl Threads {
    /// Starts them, and the time of the limit.
    pub(crate) fn start(args: &RunArgs) -> Result<Self, Failure> {
        let limit = args.time_limit.map(Duration::from_secs_f64);
        let deadline = limit.and_then(|limit| Instant::now().checked_add(limit));
        let counts = Arc::new(());
        if let (Some(limit), Some(_)) = (limit, deadline) {
            let counts = Arc::downgrade(&counts);
            let wait = move || {
                thread::sleep(limit);
                if counts.upgrade().is_some() {
                    end_while_reading(Failure::too_late_to_read);
                }
            };
            // A system that has no thread left reads to the end, and hears the limit then.
            let _ = thread::Builder::new().spawn(wait);
        }
        let builder = || {
            // 0: as many as there are cores.
            rayon::ThreadPoolBuilder::new().num_threads(args.threads.map_or(0, usize::from))
        };
        // The calling thread is one of them: the columns of a table are then in the main heap, which grows in
        // large steps (for 50 000 columns this saves a tenth of a command's time). A thread can be in one
        // pool only, so a second command of the same thread gets new ones.
        let pool = builder().use_current_thread().build().or_else(|_| builder().build());
        let pool = pool.map_err(|error| {
            Failure::new(format!("the threads cannot be started ({error}): ask for fewer with --threads"))
        })?;
        Ok(Self { pool, deadline, _limit: counts })
    }

    /// Calls `work` on them.
    pub(crate) fn install<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        self.pool.install(work)
    }
}

/// Calls `work` with the context that the arguments give, and returns the result and the time in seconds.
pub(crate) fn run<T: Send>(
    threads: &Threads,
    args: &RunArgs,
    work: impl FnOnce(&Context<'_>) -> Result<T, Failure> + Send,
) -> Result<(T, f64), Failure> {
    end_of_reading();
    let bar = Bar::new(args.quiet, args.time_limit.is_some());
    let started = Instant::now();
    let context = Context {
        seed: args.seed,
        progress: Some(&bar),
        deadline: threads.deadline,
        interrupt: Some(&INTERRUPTED),
        memory: None,
    };
    let result = threads.install(|| work(&context));
    let seconds = started.elapsed().as_secs_f64();
    bar.finish();
    match result {
        Err(_) if INTERRUPTED.load(Ordering::Relaxed) => Err(Failure::interrupted()),
        result => Ok((result?, seconds)),
    }
}

/// A bar on stderr, if that is a terminal. Where it is none, one line, if the run will take minutes.
struct Bar {
    bar: ProgressBar,
    /// Whether that line is wanted, and not written yet.
    may_announce: AtomicBool,
    /// Whether there is a time limit.
    is_limited: bool,
    stage: Mutex<String>,
}

impl Bar {
    fn new(quiet: bool, is_limited: bool) -> Self {
        // A target on stderr draws nothing unless that is a terminal.
        let target = if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bar = ProgressBar::with_draw_target(None, target);
        if let Ok(style) = ProgressStyle::with_template("{msg:26} {bar:40} {percent:>3} %  {elapsed}") {
            bar.set_style(style);
        }
        let may_announce = AtomicBool::new(!quiet && bar.is_hidden());
        Self { bar, may_announce, is_limited, stage: Mutex::new(String::new()) }
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

    fn announce(&self, stage: &str, expected: Duration) {
        let Some(minutes) = Forecast::minutes(expected) else { return };
        if self.may_announce.swap(false, Ordering::Relaxed) {
            let advice = match self.is_limited {
                true => "",
                false => ": --time-limit SECONDS ends it with what it has by then",
            };
            output::complain(&format!("{stage}, {minutes}{advice}"));
        }
    }
}
