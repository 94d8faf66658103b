//! The program for our runs where the command line reports too little: one method, once, with its processor
//! time and all its scores.

use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use fewest::core::{Budget, Context, Dataset, Groups};
use fewest::data::{Missing, ReadOptions, Table, Task};
use fewest::registry::{Built, Parameters, Registry};
use serde_json::{Value, json};

use super::cpu;
use crate::Result;

/// Runs one method once, for the benchmarks.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    files: Files,
    /// Whether the target is numbers.
    #[arg(long)]
    regression: bool,
    #[arg(long)]
    method: String,
    #[arg(long)]
    param: Vec<String>,
    #[arg(long)]
    k: usize,
    /// Columns of a group of features; 0 for no groups.
    #[arg(long, default_value_t = 0)]
    group_size: usize,
    #[arg(long)]
    threads: usize,
}

/// The files that a program of our side reads and writes.
#[derive(Debug, Args)]
pub(crate) struct Files {
    /// The features.
    #[arg(long)]
    x: PathBuf,
    /// The class codes, or numbers, as .npy; without, the file of the features has them.
    #[arg(long)]
    y: Option<String>,
    /// The answer.
    #[arg(long)]
    json: PathBuf,
}

impl Files {
    /// The data.
    pub(crate) fn read(&self, task: Task) -> Result<Dataset> {
        let named = self.y.as_deref().map_or_else(ReadOptions::default, ReadOptions::with_target);
        let options = ReadOptions { task, ..named };
        Ok(Table::read(&self.x, &options)?.complete(Missing::Error)?.dataset)
    }

    /// Writes the answer.
    pub(crate) fn write(&self, answer: &Value) -> Result<()> {
        Ok(std::fs::write(&self.json, answer.to_string())?)
    }
}

/// The result of `work`, its wall seconds and its processor seconds.
pub(crate) fn timed<T>(work: impl FnOnce() -> T) -> (T, f64, Option<f64>) {
    let (start, cpu_before) = (Instant::now(), cpu::of_this());
    let given = work();
    let (seconds, cpu_after) = (start.elapsed().as_secs_f64(), cpu::of_this());
    (given, seconds, cpu_after.zip(cpu_before).map(|(after, before)| after - before))
}

/// Runs the method; `seconds` and `cpu_seconds` of the answer are those of the method, without reading.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let task = if arguments.regression { Task::Regression } else { Task::Classification };
    let mut data = arguments.files.read(task)?;
    if arguments.group_size > 0 {
        let group_of = (0..data.n_features()).map(|j| j / arguments.group_size).collect();
        data = data.with_feature_groups(Groups::partition(group_of))?;
    }
    let method = Registry::standard().find(&arguments.method)?;
    let built = method.build(&Parameters::parse(method, &arguments.param)?)?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(arguments.threads).build()?;
    let select = || match built {
        Built::Scorer(scorer) => scorer.score(&data, &Context::default()).map(|scores| {
            let mut ranking = scores.ranking();
            ranking.truncate(arguments.k);
            (ranking, Some(scores.values), None)
        }),
        other => other
            .into_selector()
            .select(&data, Budget::Count(arguments.k), &Context::default())
            .map(|selection| (selection.order, None, selection.solver)),
    };
    let (answer, seconds, cpu_seconds) = timed(|| pool.install(select));
    let (features, scores, solver) = answer?;
    let (objective, gap) = solver.map(|report| (report.objective, report.certificate.value())).unzip();
    arguments.files.write(&json!({
        "features": features, "scores": scores, "objective": objective, "gap": gap,
        "seconds": seconds, "cpu_seconds": cpu_seconds,
    }))
}
