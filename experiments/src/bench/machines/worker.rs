//! The program of our side: one machine, once.

use clap::Args;
use fewest::core::Target;
use fewest::data::Task;
use fewest::kernels::VectorKernel;
use fewest::machines::{PointRows, Points};
use fewest::solver::Control;
use fewest::solvers::smo::{Classifier, Regressor};
use serde_json::json;

use crate::Result;
use crate::bench::worker::{Files, timed};

/// Trains one machine once, for the benchmarks.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The target is classes 0 and 1, or numbers.
    #[command(flatten)]
    files: Files,
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
}

/// Trains; `seconds` and `cpu_seconds` of the answer are those of the training, without reading.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let data = arguments.files.read(Task::Regression)?;
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
    let (machine, seconds, cpu_seconds) = timed(|| {
        let kernel = PointRows::new(&points, VectorKernel::Gaussian { gamma: arguments.gamma })?;
        let cost = arguments.cost;
        if arguments.kind == "svc" {
            let positive: Vec<bool> = targets.iter().map(|target| *target > 0.0).collect();
            Classifier { cost, ..Classifier::default() }.train(&kernel, &positive, &[], &control)
        } else {
            let epsilon = arguments.epsilon;
            Regressor { cost, epsilon, ..Regressor::default() }.train(&kernel, targets, &[], &control)
        }
    });
    let machine = machine?;
    let certificate = machine.dual.certificate;
    let answer = json!({
        "seconds": seconds,
        "cpu_seconds": cpu_seconds,
        "objective": certificate.objective,
        "relative_gap": certificate.relative_gap(),
        "violation": certificate.violation,
        "bias": machine.bias,
        "n_support": machine.support.len(),
        "status": machine.dual.solution.status.name(),
    });
    arguments.files.write(&answer)
}
