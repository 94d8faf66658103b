//! Finished divisions of an experiment, stored one by one, so that a later call goes on from them.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use fewest::core::{Context, Dataset, Error};
use fewest::eval::{Evaluation, Experiment, FoldRecord, Plan, RunOptions, Split, Splitter};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::estimate::{remaining, words};
use crate::Result;

/// An estimate below this many seconds is not told.
const WORTH_TELLING: f64 = 60.0;

/// The first divisions of another splitter.
struct First<'a> {
    splitter: &'a dyn Splitter,
    runs: usize,
}

impl Splitter for First<'_> {
    fn splits(&self, data: &Dataset, seed: u64) -> std::result::Result<Vec<Split>, Error> {
        let mut splits = self.splitter.splits(data, seed)?;
        splits.truncate(self.runs);
        Ok(splits)
    }
}

/// An experiment and the file with its finished divisions.
pub(super) struct Stored<'a> {
    /// The experiment with all its divisions.
    pub experiment: &'a Experiment<'a>,
    /// The data.
    pub data: &'a Dataset,
    /// Features are taken from there, if given.
    pub selections: Option<&'a Evaluation>,
    /// The file.
    pub path: &'a Path,
}

impl Stored<'_> {
    /// The first `runs` divisions, without those that were not finished at the deadline. With `resume` those
    /// in the file are not run again; without, the file begins anew.
    ///
    /// Every finished division is stored at once. The file may come from a call for more or fewer of the same
    /// divisions: it is used if its plan is that of this experiment with as many.
    pub(super) fn run(&self, runs: usize, resume: bool, context: &Context<'_>) -> Result<Evaluation> {
        let first = First { splitter: self.experiment.splitter, runs };
        let experiment = with_splitter(self.experiment, &first);
        let found = if resume { self.load(context.seed)? } else { None };
        if !resume && self.path.exists() {
            std::fs::remove_file(self.path)?;
        }
        let plan = plan(&experiment, self.data, context.seed)?;
        let mut finished = Evaluation { plan, folds: Vec::new(), out_of_time: false };
        // A file for more divisions than are asked for now keeps its plan and its folds.
        let mut kept = finished.clone();
        if let Some(found) = found {
            finished.folds = found.folds.clone();
            finished.folds.retain(|record| record.fold < finished.plan.n_folds);
            let plan = if found.plan.n_folds > kept.plan.n_folds { found.plan } else { kept.plan };
            kept = Evaluation { plan, folds: found.folds, out_of_time: false };
        }

        let start = Instant::now();
        let n_folds = finished.plan.n_folds;
        let pending = n_folds - finished.folds.len();
        let growing = Mutex::new(kept);
        let before = growing.lock().map_or(0, |growing| growing.folds.len());
        let on_fold = |_: &Plan, record: &FoldRecord| {
            // A poisoned list is whole: a push is one step.
            let mut growing = growing.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            growing.folds.push(record.clone());
            if growing.folds.len() == before + 1 {
                let seconds = remaining(start.elapsed().as_secs_f64(), pending - 1);
                if seconds >= WORTH_TELLING {
                    let label = &self.experiment.label;
                    eprintln!("{label}: about {} for {} more divisions", words(seconds), pending - 1);
                }
            }
            // If this fails, so does the call at the end, which tells why.
            let _ = store(self.path, &*growing);
        };
        let options = RunOptions {
            finished: Some(&finished),
            selections: self.selections,
            on_fold: Some(&on_fold),
            ..RunOptions::default()
        };
        let evaluation = experiment.run_with(self.data, options, context)?;
        if pending > 0 {
            store(self.path, &growing.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner))?;
        }
        Ok(evaluation)
    }

    /// What the file has, if it is of this experiment.
    fn load(&self, seed: u64) -> Result<Option<Evaluation>> {
        let Some(found) = load::<Evaluation>(self.path) else { return Ok(None) };
        let first = First { splitter: self.experiment.splitter, runs: found.plan.n_folds };
        let same = plan(&with_splitter(self.experiment, &first), self.data, seed)? == found.plan;
        if !same {
            eprintln!("{}: of other data or settings, so it is not used", self.path.display());
        }
        Ok(same.then_some(found))
    }
}

fn with_splitter<'a>(experiment: &Experiment<'a>, splitter: &'a dyn Splitter) -> Experiment<'a> {
    Experiment { splitter, label: experiment.label.clone(), ks: experiment.ks.clone(), ..*experiment }
}

/// The plan alone: nothing is run in a context that is interrupted.
fn plan(experiment: &Experiment<'_>, data: &Dataset, seed: u64) -> Result<Plan> {
    let stop = AtomicBool::new(true);
    let context = Context { interrupt: Some(&stop), ..Context::seeded(seed) };
    Ok(experiment.run(data, &context)?.plan)
}

/// What a file has, if it can be read as that.
pub(super) fn load<T: DeserializeOwned>(path: &Path) -> Option<T> {
    let text = std::fs::read_to_string(path).ok()?;
    serde_json::from_str(&text).ok()
}

/// Replaces a file, whole or not at all.
pub(super) fn store(path: &Path, value: &impl Serialize) -> Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let written: PathBuf = path.with_extension("new");
    std::fs::write(&written, serde_json::to_vec(value)?)?;
    Ok(std::fs::rename(written, path)?)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use fewest::core::{Budget, DenseColumns, Selection, Selector, Target};
    use fewest::eval::{Accuracy, HoldOut, NearestNeighbours};
    use fewest::registry::{Parameters, Registry};

    use super::*;

    /// Counts how often features are selected.
    struct Counted {
        inner: Box<dyn Selector>,
        calls: AtomicUsize,
    }

    impl Selector for Counted {
        fn select(
            &self,
            data: &Dataset,
            budget: Budget,
            context: &Context<'_>,
        ) -> std::result::Result<Selection, Error> {
            self.calls.fetch_add(1, Ordering::Relaxed);
            self.inner.select(data, budget, context)
        }
    }

    #[test]
    fn finished_divisions_are_taken_by_calls_for_more_and_for_fewer() {
        let columns: Vec<Vec<f64>> =
            [3, 7, 11].iter().map(|step| (0..40).map(|i| f64::from(i * step % 41)).collect()).collect();
        let labels: Vec<bool> = columns[1].iter().map(|&value| value > 20.0).collect();
        let x = DenseColumns::from_columns(&columns).unwrap();
        let data = Dataset::new(x.clone(), Target::from_labels(&labels)).unwrap();
        let method = Registry::standard().find("fisher").unwrap();
        let inner = method.build(&Parameters::defaults(method)).unwrap().into_selector();
        let selector = Counted { inner, calls: AtomicUsize::new(0) };
        let experiment = Experiment {
            label: "fisher".to_owned(),
            selector: &selector,
            learner: &NearestNeighbours { neighbours: 1 },
            splitter: &HoldOut { repeats: 6, ..HoldOut::default() },
            metrics: &[&Accuracy],
            ks: vec![1, 2],
            nested: true,
            prepare: None,
        };
        let folder = std::env::temp_dir().join(format!("experiments-finished-{}", std::process::id()));
        let path = folder.join("a.json");
        let stored = Stored { experiment: &experiment, data: &data, selections: None, path: &path };
        let context = Context::seeded(3);
        let calls = || selector.calls.swap(0, Ordering::Relaxed);
        let scores = |evaluation: &Evaluation| -> Vec<f64> {
            evaluation.folds.iter().map(|record| record.outcomes[0].scores[0]).collect()
        };
        let all = experiment.run(&data, &context).unwrap();
        assert_eq!(calls(), 6);

        // Two, then four that go on from them, then all from the file.
        let two = stored.run(2, true, &context).unwrap();
        assert_eq!((calls(), scores(&two)), (2, scores(&all)[..2].to_vec()));
        let four = stored.run(4, true, &context).unwrap();
        assert_eq!((calls(), scores(&four)), (2, scores(&all)[..4].to_vec()));
        // Fewer again: nothing is run, and the file keeps its four.
        assert_eq!((stored.run(1, true, &context).unwrap().folds.len(), calls()), (1, 0));
        let six = stored.run(usize::MAX, true, &context).unwrap();
        assert_eq!((calls(), scores(&six), &six.plan), (2, scores(&all), &all.plan));

        // A stop leaves what was finished.
        let stop = AtomicBool::new(true);
        let stopped = Context { interrupt: Some(&stop), ..context };
        assert_eq!(stored.run(usize::MAX, true, &stopped).unwrap().folds.len(), 6);
        assert_eq!(stored.run(3, false, &stopped).unwrap().folds.len(), 0);
        assert_eq!(load::<Evaluation>(&path).unwrap().folds.len(), 0);

        // A file that a stop left without the first of many divisions gets these from a call for few.
        let empty = Evaluation { folds: all.folds[3..].to_vec(), ..all.clone() };
        store(&path, &empty).unwrap();
        calls();
        assert_eq!((stored.run(2, true, &context).unwrap().folds.len(), calls()), (2, 2));
        assert_eq!(load::<Evaluation>(&path).unwrap().folds.len(), 5);
        assert_eq!((stored.run(6, true, &context).unwrap().folds.len(), calls()), (6, 1));

        // Other classes: what is stored is of another experiment.
        stored.run(2, true, &context).unwrap();
        calls();
        let others: Vec<bool> = labels.iter().map(|label| !label).collect();
        let mut swapped = others;
        swapped.swap(0, 1);
        swapped[5] = !swapped[5];
        let other = Dataset::new(x, Target::from_labels(&swapped)).unwrap();
        let elsewhere = Stored { data: &other, ..stored };
        assert_eq!((elsewhere.run(2, true, &context).unwrap().folds.len(), calls()), (2, 2));
        std::fs::remove_dir_all(folder).unwrap();
    }
}
