//! Running without Python's lock, on threads of its own, until it is done or Python wants it to stop.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use fewest::core::{Context, Error, Progress};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::errors::wrong;

/// How often Python is asked whether somebody pressed Ctrl-C.
const PATIENCE: Duration = Duration::from_millis(50);

/// How to run: a dictionary of Python.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Run {
    pub(crate) seed: u64,
    time_limit: Option<f64>,
    threads: Option<usize>,
    /// Called with the name of a stage, what is done of it and what there is.
    progress: Option<Py<PyAny>>,
}

/// The last that was told, for whoever asks.
#[derive(Default)]
struct Told(Mutex<Option<(String, u64, u64)>>);

impl Told {
    fn take(&self) -> Option<(String, u64, u64)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Progress for Told {
    fn update(&self, stage: &str, done: u64, total: u64) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((stage.to_owned(), done, total));
    }
}

/// Calls `work` on threads of its own, and returns its answer and the seconds it took.
///
/// Meanwhile Python runs other threads. A signal that raises, such as Ctrl-C, and an error in the callback of
/// progress stop the work and are raised.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    run: &Run,
    work: impl FnOnce(&Context<'_>) -> T + Send,
) -> PyResult<(T, f64)> {
    let deadline = match run.time_limit {
        Some(limit) if !(limit.is_finite() && limit > 0.0) => {
            return Err(wrong(Error::parameter("time_limit", limit, "a number of seconds above 0, or None")));
        }
        limit => limit.and_then(|limit| Instant::now().checked_add(Duration::from_secs_f64(limit))),
    };
    if run.threads == Some(0) {
        return Err(wrong(Error::parameter(
            "threads",
            0,
            "a whole number of at least 1, or None for all cores",
        )));
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(run.threads.unwrap_or(0)).build();
    let pool = pool.map_err(|error| {
        PyRuntimeError::new_err(format!(
            "the threads cannot be started ({error}): ask for fewer by `threads`"
        ))
    })?;
    let (told, interrupt) = (Told::default(), AtomicBool::new(false));
    let seed = run.seed;
    let (answer, stopped) = py.detach(|| {
        let (told, interrupt, pool) = (&told, &interrupt, &pool);
        std::thread::scope(|scope| {
            let (done, finished) = mpsc::channel();
            let worker = scope.spawn(move || {
                let progress = Some(told as &dyn Progress);
                let context = Context { seed, progress, deadline, interrupt: Some(interrupt), memory: None };
                let start = Instant::now();
                let answer = pool.install(|| work(&context));
                let seconds = start.elapsed().as_secs_f64();
                // Nobody waits any more if this fails.
                let _ = done.send(());
                (answer, seconds)
            });
            let mut stopped: Option<PyErr> = None;
            while let Err(RecvTimeoutError::Timeout) = finished.recv_timeout(PATIENCE) {
                let asked = Python::attach(|py| {
                    py.check_signals()?;
                    match (&run.progress, told.take()) {
                        (Some(callback), Some(told)) => callback.call1(py, told).map(|_| ()),
                        _ => Ok(()),
                    }
                });
                if let Err(error) = asked {
                    interrupt.store(true, Ordering::Relaxed);
                    stopped.get_or_insert(error);
                }
            }
            (worker.join(), stopped)
        })
    });
    if let Some(error) = stopped {
        return Err(error);
    }
    // A panic: a fault of this library, which told more on stderr.
    answer.map_err(|_| {
        PyRuntimeError::new_err("a fault in fewest: please report it with the lines before this one")
    })
}
