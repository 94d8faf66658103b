//! Finished folds in a file, to go on from.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use fewest::data::{read_if_there, write_atomically};
use fewest::eval::{Evaluation, FoldRecord, Plan};

use crate::design::Design;
use crate::{Error, Mismatch};

/// Finished folds in a file: an evaluation for each method, all of one [`Study`](crate::Study).
///
/// A run writes the file as folds are finished, whole each time, but not so often that writing would take its
/// time, and once more in the end. The file may hold methods that a study is without, so that several studies
/// of the same design can share one.
///
/// ```
/// # use fewest::core::{Context, Dataset, DenseColumns, Target};
/// # use fewest::registry::{Parameters, Registry};
/// # use fewest_study::{Candidate, DataInfo, StudyOptions, Store, Study};
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("folds.json");
/// # let values: Vec<f64> = (0..40).map(|i| f64::from(i * 7 % 41)).collect();
/// # let labels: Vec<bool> = values.iter().map(|value| *value > 20.0).collect();
/// # let data = Dataset::new(DenseColumns::from_columns(&[values])?, Target::from_labels(&labels))?;
/// # let method = Registry::standard().find("f-score")?;
/// # let candidates = vec![Candidate::new(method, Parameters::defaults(method))?];
/// # let study = Study::new(Registry::standard(), &data, DataInfo::new("waves", &data), candidates, &StudyOptions::default())?;
/// let first = study.run(Some(&Store::open(&path)?), &Context::default())?;
/// // All folds are there by now: none is run again.
/// let again = study.run(Some(&Store::open(&path)?), &Context::default())?;
/// assert_eq!(again.methods[0].evaluation.folds, first.methods[0].evaluation.folds);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    evaluations: Vec<Evaluation>,
    /// Whether there are folds that the file has not.
    is_ahead: bool,
    /// When the file was last written, and how long that took.
    written: Option<(Instant, Duration)>,
    failure: Option<String>,
}

/// The file is written again when the folds since the last write have taken this many times as long as a
/// write.
const PATIENCE: u32 = 20;

impl Store {
    /// The store in this file; an empty one where there is no file yet.
    ///
    /// # Errors
    /// [`Error::Unreadable`] and [`Error::NoFolds`], both with the path.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, Error> {
        let path = path.into();
        let evaluations = match read_if_there(&path).map_err(Error::Unreadable)? {
            Some(bytes) => serde_json::from_slice(&bytes)
                .map_err(|source| Error::NoFolds { path: path.clone(), source })?,
            None => Vec::new(),
        };
        let state = State { evaluations, is_ahead: false, written: None, failure: None };
        Ok(Self { path, state: Mutex::new(state) })
    }

    /// Refuses folds of another design.
    pub(crate) fn check(&self, design: &Design, seed: u64, n_features: usize) -> Result<(), Error> {
        let state = self.state();
        let mismatch = state.evaluations.iter().find_map(|stored| mismatch(stored, design, seed, n_features));
        match mismatch {
            Some(mismatch) => Err(Error::OtherFolds { path: self.path.clone(), mismatch }),
            None => Ok(()),
        }
    }

    /// The finished folds of the experiment `label`.
    pub(crate) fn finished(&self, label: &str) -> Option<Evaluation> {
        self.state().evaluations.iter().find(|evaluation| evaluation.plan.label == label).cloned()
    }

    /// Adds a fold, in the order of fold numbers for any order in which threads finish them, and writes the
    /// file again unless this was done recently.
    pub(crate) fn add(&self, plan: &Plan, record: &FoldRecord) {
        let mut state = self.state();
        match state.evaluations.iter_mut().find(|evaluation| evaluation.plan.label == plan.label) {
            Some(evaluation) => {
                evaluation.folds.push(record.clone());
                evaluation.folds.sort_by_key(|record| record.fold);
            }
            None => {
                let folds = vec![record.clone()];
                state.evaluations.push(Evaluation { plan: plan.clone(), folds, out_of_time: false });
            }
        }
        state.is_ahead = true;
        if state.written.is_none_or(|(when, took)| when.elapsed() >= took * PATIENCE) {
            self.write(&mut state);
        }
    }

    /// Writes what the file has not yet. Tells what kept it from being written.
    pub(crate) fn finish(&self) -> Option<String> {
        let mut state = self.state();
        if state.is_ahead {
            self.write(&mut state);
        }
        state.failure.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, state: &mut State) {
        let start = Instant::now();
        let written = serde_json::to_vec(&state.evaluations)
            .map_err(|error| error.to_string())
            .and_then(|bytes| write_atomically(&self.path, &bytes).map_err(|error| error.to_string()));
        state.is_ahead = written.is_err();
        state.failure = written.err();
        state.written = Some((Instant::now(), start.elapsed()));
    }
}

/// What a stored evaluation was made with that this design is not.
fn mismatch(stored: &Evaluation, design: &Design, seed: u64, n_features: usize) -> Option<Mismatch> {
    let plan = &stored.plan;
    let metrics = design.metrics.iter().map(|metric| metric.name());
    let identity = plan.label.split_once(" | ").map(|(_, rest)| rest);
    let mut features =
        stored.folds.iter().flat_map(|fold| &fold.outcomes).flat_map(|outcome| &outcome.features);
    if plan.n_features != n_features || identity != Some(&design.identity) {
        Some(Mismatch::Data)
    } else if plan.ks != design.ks {
        Some(Mismatch::Ks)
    } else if plan.learner != design.learner_id {
        Some(Mismatch::Learner)
    } else if !plan.metrics.iter().map(String::as_str).eq(metrics) {
        Some(Mismatch::Metrics)
    } else if plan.seed != seed {
        Some(Mismatch::Seed)
    } else if features.any(|j| *j >= n_features) {
        Some(Mismatch::Features)
    } else {
        None
    }
}
