//! Finished folds in a file, to go on from.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use fewest::data::write_atomically;
use fewest::eval::{Evaluation, FoldRecord, Plan};

use super::Design;
use crate::failure::Failure;

/// The file of `--resume`: an evaluation for each method, all with one design. Without a file, nothing is kept.
pub struct Resume {
    path: Option<PathBuf>,
    state: Mutex<State>,
}

struct State {
    evaluations: Vec<Evaluation>,
    /// Whether there are folds that the file has not.
    is_ahead: bool,
    /// When the file was last written, and how long that took.
    written: Option<(Instant, Duration)>,
    failure: Option<String>,
}

/// The file is written anew when folds have taken this many times as long as writing it does.
const PATIENCE: u32 = 20;

impl Resume {
    /// Reads the file, if there is one yet, and refuses what is of another design.
    pub fn open(path: Option<&Path>, design: &Design, seed: u64, n_features: usize) -> Result<Self, Failure> {
        let evaluations = match path {
            Some(path) => read(path)?,
            None => Vec::new(),
        };
        if let (Some(path), Some(difference)) = (path, difference(&evaluations, design, seed, n_features)) {
            return Err(Failure::new(format!(
                "--resume {}: its folds are of another evaluation ({difference}): give the same call again, or another \
                 file",
                path.display()
            )));
        }
        let state = Mutex::new(State { evaluations, is_ahead: false, written: None, failure: None });
        Ok(Self { path: path.map(Path::to_owned), state })
    }

    /// The finished folds of the experiment `label`.
    pub fn finished(&self, label: &str) -> Option<Evaluation> {
        self.state().evaluations.iter().find(|evaluation| evaluation.plan.label == label).cloned()
    }

    /// Adds a fold, and writes the file anew unless that was done just now.
    pub fn add(&self, plan: &Plan, record: &FoldRecord) {
        if self.path.is_none() {
            return;
        }
        let mut state = self.state();
        match state.evaluations.iter_mut().find(|evaluation| evaluation.plan.label == plan.label) {
            Some(evaluation) => evaluation.folds.push(record.clone()),
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
    pub fn finish(&self) -> Option<String> {
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
        let Some(path) = &self.path else { return };
        let start = Instant::now();
        let written = serde_json::to_vec(&state.evaluations)
            .map_err(|error| error.to_string())
            .and_then(|bytes| write_atomically(path, &bytes).map_err(|error| error.to_string()));
        state.is_ahead = written.is_err();
        state.failure = written.err();
        state.written = Some((Instant::now(), start.elapsed()));
    }
}

fn read(path: &Path) -> Result<Vec<Evaluation>, Failure> {
    let wrong = |problem: String| Failure::new(format!("--resume {}: {problem}", path.display()));
    match fs::read(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(wrong(format!("cannot be read: {error}"))),
        Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| {
            wrong(format!("holds no finished folds of this program ({error}): give another name"))
        }),
    }
}

/// What stored evaluations were made with that this design is not.
fn difference(
    evaluations: &[Evaluation],
    design: &Design,
    seed: u64,
    n_features: usize,
) -> Option<&'static str> {
    let names: Vec<&str> = design.metrics.iter().map(|metric| metric.name()).collect();
    evaluations.iter().find_map(|evaluation| {
        let plan = &evaluation.plan;
        let outcomes = || evaluation.folds.iter().flat_map(|fold| &fold.outcomes);
        if plan.n_features != n_features
            || plan.label.split_once(" | ").map(|(_, rest)| rest) != Some(&design.identity)
        {
            Some("other data, samples divided otherwise, or another --learner-param")
        } else if plan.ks != design.ks {
            Some("other numbers of features")
        } else if plan.learner != design.learner_id {
            Some("another learner")
        } else if !plan.metrics.iter().eq(&names) {
            Some("other metrics")
        } else if plan.seed != seed {
            Some("another seed")
        } else if outcomes().any(|outcome| outcome.features.iter().any(|j| *j >= n_features)) {
            Some("features that do not exist")
        } else {
            None
        }
    })
}
