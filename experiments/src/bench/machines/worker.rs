//! The program of our side: one machine, once.

use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use fewest::core::Target;
use fewest::data::{Missing, ReadOptions, Table, Task};
use fewest::kernels::VectorKernel;
use fewest::machines::{PointRows, Points};
use fewest::solver::Control;
use fewest::solvers::smo::{Classifier, Regressor};
use serde_json::json;

use crate::Result;
use crate::bench::cpu;

/// Trains one machine once, for the benchmarks.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The features, as .npy.
    #[arg(long)]
    x: PathBuf,
    /// The classes 0 and 1, or numbers, as .npy.
    #[arg(long)]
    y: String,
    #[arg(long)]
    kind: String,
    #[arg(long)]
    cost: f64,
    #[arg(long)]
    gamma: f64,
    #[arg(long)]
    epsilon: f64,
    #[arg(long)]
    tolerance: f64,
    /// The answer.
    #[arg(long)]
    json: PathBuf,
}

/// Trains; `seconds` and `cpu_seconds` of the answer are those of the training, without reading.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let options = ReadOptions { task: Task::Regression, ..ReadOptions::with_target(&arguments.y) };
    let data = Table::read(&arguments.x, &options)?.complete(Missing::Error)?.dataset;
    let Target::Real(outputs) = data.target() else { return Err("the target must be numbers".into()) };
    let targets = outputs.output(0);
    let (n, width) = (data.n_samples(), data.n_features());
    let mut values = vec![0.0; n * width];
    for j in 0..width {
        let column = data.x().column(j, &mut Vec::new())?.to_vec(n);
        for (place, value) in values.iter_mut().skip(j).step_by(width).zip(column) {
            *place = value;
        }
    }
    let points = Points { values, n_samples: n, width };
    let control = Control { tolerance: arguments.tolerance, ..Control::default() };
    let (start, cpu_before) = (Instant::now(), cpu::of_this());
    let kernel = PointRows::new(&points, VectorKernel::Gaussian { gamma: arguments.gamma })?;
    let cost = arguments.cost;
    let machine = if arguments.kind == "svc" {
        let positive: Vec<bool> = targets.iter().map(|target| *target > 0.0).collect();
        Classifier { cost, ..Classifier::default() }.train(&kernel, &positive, &[], &control)?
    } else {
        let epsilon = arguments.epsilon;
        Regressor { cost, epsilon, ..Regressor::default() }.train(&kernel, targets, &[], &control)?
    };
    let (seconds, cpu_after) = (start.elapsed().as_secs_f64(), cpu::of_this());
    let certificate = machine.dual.certificate;
    let answer = json!({
        "seconds": seconds,
        "cpu_seconds": cpu_after.zip(cpu_before).map(|(after, before)| after - before),
        "objective": certificate.objective,
        "relative_gap": certificate.relative_gap(),
        "violation": certificate.violation,
        "bias": machine.bias,
        "n_support": machine.support.len(),
        "status": machine.dual.solution.status.name(),
    });
    Ok(std::fs::write(&arguments.json, answer.to_string())?)
}
