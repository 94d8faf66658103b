//! Finished folds in a file, to go on from.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use fewest::data::Journal;
use fewest::eval::{Evaluation, FoldRecord, Plan};
use serde::{Deserialize, Serialize};

use crate::baselines::is_baseline;
use crate::design::Design;
use crate::{Error, Mismatch};

/// Finished folds in a file, a line each: of several methods and of the baselines, and of one design.
///
/// Each fold is appended as soon as it is finished, so that a run that is killed loses the folds at work and
/// no other; an edited fold is refused ([`Journal`]). Runs at the same time may share a file, for example for
/// different methods: each appends its folds.
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
    journal: Journal,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    evaluations: Vec<Evaluation>,
    /// The first reason why a fold was not stored.
    failure: Option<String>,
}

/// What a line holds.
#[derive(Serialize, Deserialize)]
struct Entry {
    plan: Plan,
    fold: FoldRecord,
}

impl Store {
    /// The store in this file; an empty one where there is no file yet, or an empty one.
    ///
    /// # Errors
    /// [`Error::Unreadable`] and [`Error::NoFolds`], both with the path.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, Error> {
        let journal = Journal::new(path);
        let mut evaluations = Vec::new();
        for line in journal.read().map_err(Error::Unreadable)? {
            let no_fold = |source| Error::NoFolds { path: journal.path().to_owned(), source };
            let Entry { plan, fold } = serde_json::from_str(&line).map_err(no_fold)?;
            insert(&mut evaluations, plan, fold);
        }
        Ok(Self { journal, state: Mutex::new(State { evaluations, failure: None }) })
    }

    /// Refuses folds of another design.
    pub(crate) fn check(&self, design: &Design, seed: u64, n_features: usize) -> Result<(), Error> {
        let state = self.state();
        let mismatch = state.evaluations.iter().find_map(|stored| mismatch(stored, design, seed, n_features));
        match mismatch {
            Some(mismatch) => Err(Error::OtherFolds { path: self.journal.path().to_owned(), mismatch }),
            None => Ok(()),
        }
    }

    /// The finished folds of the experiment `label`.
    pub(crate) fn finished(&self, label: &str) -> Option<Evaluation> {
        self.state().evaluations.iter().find(|evaluation| evaluation.plan.label == label).cloned()
    }

    /// Appends a fold to the file.
    pub(crate) fn add(&self, plan: &Plan, record: &FoldRecord) {
        let stored =
            line(plan, record).and_then(|line| self.journal.append(&line).map_err(|error| error.to_string()));
        if let Err(failure) = stored {
            self.state().failure.get_or_insert(failure);
        }
    }

    /// What kept folds from being stored.
    pub(crate) fn failure(&self) -> Option<String> {
        self.state().failure.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Adds a fold; of equal ones, by two runs at the same time, the first.
fn insert(evaluations: &mut Vec<Evaluation>, plan: Plan, fold: FoldRecord) {
    match evaluations.iter_mut().find(|evaluation| evaluation.plan == plan) {
        Some(evaluation) => {
            if let Err(at) = evaluation.folds.binary_search_by_key(&fold.fold, |record| record.fold) {
                evaluation.folds.insert(at, fold);
            }
        }
        None => evaluations.push(Evaluation { plan, folds: vec![fold], out_of_time: false }),
    }
}

/// The line for a fold.
fn line(plan: &Plan, record: &FoldRecord) -> Result<String, String> {
    let entry = Entry { plan: plan.clone(), fold: record.clone() };
    let line = serde_json::to_string(&entry).map_err(|error| error.to_string())?;
    // JSON has no infinite numbers: better no line than one that makes the file useless.
    match serde_json::from_str::<Entry>(&line) {
        Ok(_) => Ok(line),
        Err(_) => Err(format!("fold {} has a value that is not a number", record.fold)),
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
    } else if plan.ks != design.ks && !is_baseline(&plan.label) {
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
