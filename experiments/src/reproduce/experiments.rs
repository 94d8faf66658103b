//! Methods × data sets, by the evaluation of `fewest-eval`, with finished ones kept for the next call.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use fewest::core::{Context, Dataset, Selector};
use fewest::data::{Missing, ReadOptions, Table};
use fewest::eval::{Evaluation, Experiment, Learner, Metric, Splitter};
use fewest::registry::{Parameters, Registry};
use rayon::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::estimate;
use super::finished::{Stored, load, store};
use crate::output::{Documents, mean_and_error};
use crate::{Result, machine, workspace};

/// How experiments are run.
#[derive(Debug, Clone, Args)]
pub(super) struct Protocol {
    /// Random divisions of the samples.
    #[arg(long, default_value_t = estimate::RUNS, value_parser = clap::value_parser!(u64).range(2..))]
    pub runs: u64,
    /// Seed of all divisions.
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// Threads.
    #[arg(long, default_value_t = estimate::THREADS)]
    pub threads: usize,
    /// The folder with the data sets.
    #[arg(long, env = "FEWEST_DATA")]
    data: Option<PathBuf>,
    /// Write to docs/reproduction in the checkout; otherwise below target/reproduce.
    #[arg(long)]
    publish: bool,
    /// Go on from the finished runs of an earlier call with the same number of runs and seed.
    #[arg(long)]
    pub resume: bool,
    /// Give up a method on a data set after this many seconds.
    #[arg(long, value_name = "SECONDS")]
    limit: Option<u32>,
}

/// A method of a paper, as this workspace has it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Method {
    /// Its name in the paper.
    pub name: &'static str,
    /// The id in the registry.
    pub id: &'static str,
    /// Parameters that are not the defaults.
    pub parameters: &'static [&'static str],
}

impl Method {
    /// The selector with these parameters.
    pub(super) fn selector(&self) -> Result<Box<dyn Selector>> {
        let method = Registry::standard().find(self.id)?;
        Ok(method.build(&Parameters::parse(method, self.parameters)?)?.into_selector())
    }
}

/// The result of one method on one data set with one number of features.
#[derive(Debug, Clone)]
pub(super) struct Row {
    /// The data set, as the paper calls it.
    pub dataset: &'static str,
    /// The method, as the paper calls it.
    pub method: &'static str,
    /// The learner.
    pub learner: String,
    /// The division of the samples.
    pub run: usize,
    /// Number of features.
    pub k: usize,
    /// The features, best first.
    pub features: Vec<usize>,
    /// One value per metric.
    pub scores: Vec<f64>,
    /// The redundancy rate.
    pub redundancy: f64,
    /// Seconds to select.
    pub seconds: f64,
}

/// The setting of an experiment, except data and method.
pub(super) struct Setting<'a> {
    /// Names the experiment among those of all papers.
    pub name: &'a str,
    /// The learner.
    pub learner: &'a dyn Learner,
    /// The splitter.
    pub splitter: &'a dyn Splitter,
    /// The metrics.
    pub metrics: &'a [&'a dyn Metric],
    /// Numbers of features.
    pub ks: &'a [usize],
    /// Whether features are selected once and the first k are taken, also where another k would give others.
    pub nested: bool,
}

/// A part of the runs.
pub(super) struct Part {
    /// The first so many.
    pub runs: usize,
    /// Whether those that are stored are taken.
    pub resume: bool,
    /// No work after this.
    pub deadline: Option<Instant>,
}

impl Protocol {
    /// The defaults with these runs and this seed.
    #[cfg(test)]
    pub(super) fn of(runs: u64, seed: u64) -> Self {
        let (threads, data, limit) = (estimate::THREADS, None, None);
        Self { runs, seed, threads, data, publish: false, resume: false, limit }
    }

    /// Says how long the command will take, and does `work` with the requested number of threads.
    pub(super) fn with_threads(&self, work: impl FnOnce() -> Result<()> + Send) -> Result<()> {
        if self.publish {
            machine::check_optimised()?;
        }
        estimate::tell(&std::env::args().collect::<Vec<_>>(), self.runs, self.threads);
        rayon::ThreadPoolBuilder::new().num_threads(self.threads).build()?.install(work)
    }

    /// [`documents`](Protocol::documents) about `rows`, of which there must be some.
    pub(super) fn documents_of(&self, folder: &str, rows: &[Row]) -> Result<Documents> {
        if rows.is_empty() {
            return Err("none of the data sets is there".into());
        }
        Ok(self.documents(folder))
    }

    /// The documents of a paper, in its `folder`.
    pub(super) fn documents(&self, folder: &str) -> Documents {
        let mut facts = machine::facts();
        facts.push(("runs", self.runs.to_string()));
        facts.push(("seed", self.seed.to_string()));
        let all = if self.publish { "docs/reproduction" } else { "target/reproduce" };
        Documents::new(workspace::root().join(all).join(folder), facts)
    }

    /// The data set in `file`, or `None` with a line that says so when the file is missing.
    ///
    /// Rows with a missing value are left out; the target of a text table is its column `target`.
    pub(super) fn read(&self, name: &str, file: &str) -> Result<Option<Dataset>> {
        let data = self.data.as_deref().ok_or("where are the data sets? give --data or FEWEST_DATA")?;
        let path = data.join(file);
        if !path.exists() {
            eprintln!("{name}: skipped, there is no file {file}");
            return Ok(None);
        }
        let options =
            if file.ends_with(".mat") { ReadOptions::default() } else { ReadOptions::with_target("target") };
        Ok(Some(Table::read(&path, &options)?.complete(Missing::DropRows)?.dataset))
    }

    fn path(&self, name: &str) -> PathBuf {
        let Self { runs, seed, .. } = self;
        workspace::root().join("target/reproduce").join(format!("{}-{runs}-{seed}.json", plain(name)))
    }

    /// The result of `compute`, or the stored one of an earlier call; `name` identifies it. `None` if the
    /// limit has passed, which is stored with the limit.
    pub(super) fn kept<T: Serialize + DeserializeOwned>(
        &self,
        name: &str,
        compute: impl FnOnce(&Context<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        let path = self.path(name);
        if let Some(found) = self.resume.then(|| load(&path)).flatten() {
            return Ok(Some(found));
        }
        let given_up = path.with_extension(format!("{}s.json", self.limit.unwrap_or(0)));
        if self.resume && given_up.exists() {
            return Ok(None);
        }
        let context = self.context();
        let found = compute(&context);
        // After the time limit the result may be an error or incomplete.
        if context.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            store(&given_up, &())?;
            return Ok(None);
        }
        let found = found?;
        store(&path, &found)?;
        Ok(Some(found))
    }

    /// What `one` gives for each run, or was stored by an earlier call, also by one with fewer runs; see
    /// [`kept`](Protocol::kept).
    pub(super) fn kept_runs<T: Serialize + DeserializeOwned + Send>(
        &self,
        name: &str,
        one: impl Fn(u64) -> Result<T> + Sync,
    ) -> Result<Option<Vec<T>>> {
        self.kept(name, |_| {
            let fewer = |runs: u64| load(&Self { runs, ..self.clone() }.path(name));
            let first = (1..self.runs).rev().filter(|_| self.resume).find_map(fewer);
            let mut found: Vec<T> = first.unwrap_or_default();
            let more: std::result::Result<Vec<T>, String> = (found.len() as u64..self.runs)
                .into_par_iter()
                .map(|run| one(run).map_err(|error| error.to_string()))
                .collect();
            found.extend(more?);
            Ok(found)
        })
    }

    /// Runs `selector`, the paper's `method`, unless that is finished already.
    pub(super) fn run_selector(
        &self,
        setting: &Setting<'_>,
        dataset: &'static str,
        data: &Dataset,
        method: &'static str,
        selector: &dyn Selector,
    ) -> Result<Vec<Row>> {
        let evaluation = self.evaluate(setting, dataset, data, method, selector, None)?;
        Ok(rows(dataset, method, setting.learner.name(), &evaluation))
    }

    /// Runs `method` with several learners, which share its selections.
    pub(super) fn run_learners(
        &self,
        setting: &Setting<'_>,
        learners: &[&dyn Learner],
        dataset: &'static str,
        data: &Dataset,
        method: &Method,
    ) -> Result<Vec<Row>> {
        let selector = method.selector()?;
        let mut all = Vec::new();
        let mut first: Option<Evaluation> = None;
        for &learner in learners {
            let setting = Setting { learner, ..*setting };
            let evaluation =
                self.evaluate(&setting, dataset, data, method.name, &*selector, first.as_ref())?;
            all.extend(rows(dataset, method.name, learner.name(), &evaluation));
            first.get_or_insert(evaluation);
        }
        Ok(all)
    }

    /// The finished ones of the first runs of `method` on `data`; those that are not, are run now if there
    /// is time.
    pub(super) fn run_part(
        &self,
        setting: &Setting<'_>,
        dataset: &'static str,
        data: &Dataset,
        method: &Method,
        part: &Part,
    ) -> Result<Vec<Row>> {
        let selector = method.selector()?;
        let evaluation = self.finished(setting, dataset, data, method.name, &*selector, None, part)?;
        Ok(rows(dataset, method.name, setting.learner.name(), &evaluation))
    }

    /// Runs `selector`, the paper's `method`, unless that is finished already. Features are taken from
    /// `selections`, an evaluation with another learner, where there is one.
    fn evaluate(
        &self,
        setting: &Setting<'_>,
        dataset: &'static str,
        data: &Dataset,
        method: &'static str,
        selector: &dyn Selector,
        selections: Option<&Evaluation>,
    ) -> Result<Evaluation> {
        let part = Part { runs: usize::MAX, resume: self.resume, deadline: None };
        let evaluation = self.finished(setting, dataset, data, method, selector, selections, &part)?;
        if evaluation.out_of_time {
            return Err(self.too_slow(evaluation.folds.len(), "folds").into());
        }
        Ok(evaluation)
    }

    #[allow(clippy::too_many_arguments)]
    fn finished(
        &self,
        setting: &Setting<'_>,
        dataset: &'static str,
        data: &Dataset,
        method: &'static str,
        selector: &dyn Selector,
        selections: Option<&Evaluation>,
        part: &Part,
    ) -> Result<Evaluation> {
        let start = Instant::now();
        let experiment = Experiment {
            label: method.to_owned(),
            selector,
            learner: setting.learner,
            splitter: setting.splitter,
            metrics: setting.metrics,
            ks: setting.ks.iter().copied().filter(|&k| k <= data.n_features()).collect(),
            nested: setting.nested,
            prepare: None,
        };
        let path = self.stored(setting, dataset, method);
        let stored = Stored { experiment: &experiment, data, selections, path: &path };
        // That a method was given up is kept with the limit.
        let given_up = path.with_extension(format!("{}s.json", self.limit.unwrap_or(0)));
        let mut context = self.context();
        if part.resume && given_up.exists() {
            context.deadline = Some(start);
        }
        let limit = context.deadline;
        context.deadline = limit.into_iter().chain(part.deadline).min();
        let evaluation = stored.run(part.runs, part.resume, &context)?;
        if evaluation.out_of_time && limit.is_some_and(|limit| Instant::now() >= limit) {
            store(&given_up, &())?;
        }
        let largest = experiment.ks.iter().copied().max();
        let outcomes = evaluation.folds.iter().flat_map(|fold| &fold.outcomes);
        let last: Vec<f64> =
            outcomes.filter(|outcome| Some(outcome.k) == largest).map(|outcome| outcome.scores[0]).collect();
        let (mean, error) = mean_and_error(&last);
        eprintln!(
            "{dataset}, {method}, {}: {mean:.3} ± {error:.3} with {} features, {} of {} runs, {:.1} s",
            setting.learner.name(),
            largest.unwrap_or(0),
            last.len(),
            evaluation.plan.n_folds,
            start.elapsed().as_secs_f64()
        );
        Ok(evaluation)
    }

    /// Seed and deadline of one method on one data set.
    pub(super) fn context(&self) -> Context<'static> {
        let limit = self.limit.map(|seconds| Duration::from_secs(u64::from(seconds)));
        Context { deadline: limit.map(|limit| Instant::now() + limit), ..Context::seeded(self.seed) }
    }

    /// Why a method was stopped.
    pub(super) fn too_slow(&self, done: usize, what: &str) -> String {
        format!("given up after {} s with {done} {what} finished", self.limit.unwrap_or(0))
    }

    fn stored(&self, setting: &Setting<'_>, dataset: &str, method: &str) -> PathBuf {
        let Self { runs, seed, .. } = self;
        let file = format!(
            "{}-{}-{}-{}-{runs}-{seed}.json",
            setting.name,
            plain(dataset),
            plain(method),
            plain(setting.learner.name())
        );
        workspace::root().join("target/reproduce").join(file)
    }
}

fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_alphanumeric() { c.to_ascii_lowercase() } else { '-' }).collect()
}

fn rows(dataset: &'static str, method: &'static str, learner: &str, evaluation: &Evaluation) -> Vec<Row> {
    let mut rows = Vec::new();
    for fold in &evaluation.folds {
        for outcome in &fold.outcomes {
            rows.push(Row {
                dataset,
                method,
                learner: learner.to_owned(),
                run: fold.fold,
                k: outcome.k,
                features: outcome.features.clone(),
                scores: outcome.scores.clone(),
                redundancy: outcome.redundancy.unwrap_or(f64::NAN),
                seconds: outcome.selection_seconds,
            });
        }
    }
    rows
}

impl Documents {
    /// Writes `{name}.csv`, a line for each of `rows`.
    pub(super) fn rows(&self, name: &str, rows: &[Row], metrics: &[&str]) -> Result<()> {
        let (header, cells) = cells(rows, metrics);
        let header: Vec<&str> = header.iter().map(String::as_str).collect();
        self.csv(name, &header, &cells)
    }
}

/// The table of all rows: header and cells.
pub(super) fn cells(rows: &[Row], metrics: &[&str]) -> (Vec<String>, Vec<Vec<String>>) {
    let mut header: Vec<String> =
        ["dataset", "method", "learner", "run", "k"].iter().map(|word| (*word).to_owned()).collect();
    header.extend(metrics.iter().map(|metric| (*metric).to_owned()));
    header.extend(["redundancy_rate", "selection_seconds"].map(str::to_owned));
    let cells = rows
        .iter()
        .map(|row| {
            let mut cells = vec![
                row.dataset.to_owned(),
                row.method.to_owned(),
                row.learner.clone(),
                row.run.to_string(),
                row.k.to_string(),
            ];
            cells.extend(row.scores.iter().map(|score| format!("{score:.6}")));
            cells.push(format!("{:.6}", row.redundancy));
            cells.push(format!("{:.4}", row.seconds));
            cells
        })
        .collect();
    (header, cells)
}

/// Mean and standard error of `value` over the rows that `chosen` takes; `None` when there are none.
pub(super) fn mean_of(
    rows: &[Row],
    chosen: impl Fn(&Row) -> bool,
    value: impl Fn(&Row) -> f64,
) -> Option<(f64, f64)> {
    let values: Vec<f64> = rows.iter().filter(|row| chosen(row)).map(value).collect();
    if values.is_empty() { None } else { Some(mean_and_error(&values)) }
}
