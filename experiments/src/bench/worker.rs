//! The program of our side where the command line tells too little: one method, once, with its processor time
//! and all its scores.

use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use fewest::core::{Budget, Context};
use fewest::data::{Missing, ReadOptions, Table, Task};
use fewest::registry::{Built, Parameters, Registry};
use serde_json::json;

use super::cpu;
use crate::Result;

/// Runs one method once, for the benchmarks.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The features, as .npy.
    #[arg(long)]
    x: PathBuf,
    /// The class codes, as .npy.
    #[arg(long)]
    y: String,
    /// They are numbers to predict.
    #[arg(long)]
    regression: bool,
    #[arg(long)]
    method: String,
    #[arg(long)]
    param: Vec<String>,
    #[arg(long)]
    k: usize,
    #[arg(long)]
    threads: usize,
    /// The answer.
    #[arg(long)]
    json: PathBuf,
}

/// Runs the method; `seconds` and `cpu_seconds` of the answer are those of the method, without reading.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let task = if arguments.regression { Task::Regression } else { Task::Classification };
    let options = ReadOptions { task, ..ReadOptions::with_target(&arguments.y) };
    let data = Table::read(&arguments.x, &options)?.complete(Missing::Error)?.dataset;
    let method = Registry::standard().find(&arguments.method)?;
    let built = method.build(&Parameters::parse(method, &arguments.param)?)?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(arguments.threads).build()?;
    let (start, cpu_before) = (Instant::now(), cpu::of_this());
    let answer = pool.install(|| match built {
        Built::Scorer(scorer) => scorer.score(&data, &Context::default()).map(|scores| {
            let mut ranking = scores.ranking();
            ranking.truncate(arguments.k);
            (ranking, Some(scores.values))
        }),
        other => other
            .into_selector()
            .select(&data, Budget::Count(arguments.k), &Context::default())
            .map(|selection| (selection.order, None)),
    });
    let (seconds, cpu_after) = (start.elapsed().as_secs_f64(), cpu::of_this());
    let (features, scores) = answer?;
    let cpu_seconds = cpu_after.zip(cpu_before).map(|(after, before)| after - before);
    let answer =
        json!({ "features": features, "scores": scores, "seconds": seconds, "cpu_seconds": cpu_seconds });
    Ok(std::fs::write(&arguments.json, answer.to_string())?)
}
