//! `cargo xtask bench --nonmonotonic`: NMMKL and NMMKLR at a gap of 1e-6, and a conic solver on the same
//! problems.

use std::fmt::Write;
use std::time::Instant;

use fewest::core::{Budget, Context, Dataset, DenseColumns, Target};
use fewest::data::{ReadOptions, Table};
use fewest::mkl::{Nmmkl, Nmmklr, NonMonotonic, NonMonotonicSolution};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;

use super::{Arguments, cpu};
use crate::output::{Documents, minimum};
use crate::{Result, machine, workspace};

// The formulation that the tests of the method check it against.
#[path = "../../../crates/mkl/tests/conic/mod.rs"]
mod conic;

/// The requested gap.
const TOLERANCE: f64 = 1e-6;

/// Relevant features of the data drawn here.
const RELEVANT: usize = 20;

/// A problem: samples, features, features to select, whether the target is real, whether the conic solver is
/// run, and the most seconds it may take.
struct Case {
    name: &'static str,
    n: usize,
    d: usize,
    m: usize,
    real: bool,
    conic: bool,
    most: Option<f64>,
}

const CASES: &[Case] = &[
    Case { name: "1500 x 241", n: 1500, d: 241, m: 20, real: false, conic: false, most: Some(10.0) },
    Case { name: "colon, 62 x 2000", n: 62, d: 2000, m: 20, real: false, conic: true, most: Some(2.0) },
    Case { name: "100 x 20000", n: 100, d: 20_000, m: 20, real: false, conic: false, most: Some(30.0) },
    Case { name: "1000 x 3000", n: 1000, d: 3000, m: 20, real: false, conic: true, most: None },
    Case { name: "300 x 500, real target", n: 300, d: 500, m: 20, real: true, conic: true, most: None },
];

/// A run of ours.
struct Run {
    seconds: f64,
    cpu: f64,
    solution: NonMonotonicSolution,
}

/// The result of a case.
struct Outcome {
    case: &'static Case,
    runs: Vec<Run>,
    /// Seconds, processor seconds and objective of the conic solver.
    conic: Option<(f64, f64, f64)>,
}

/// Measures and writes `docs/benchmarks/nonmonotonic.csv` and `.md`.
pub(super) fn run(arguments: &Arguments) -> Result<()> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(arguments.threads as usize).build()?;
    let mut facts = machine::facts();
    facts.push(("threads", arguments.threads.to_string()));
    let mut outcomes = Vec::new();
    for case in CASES.iter().filter(|case| case.name.contains(&arguments.only)) {
        let (data, columns, y) = problem(case, arguments)?;
        let mut runs = Vec::new();
        for _ in 0..arguments.repetitions {
            let (start, before) = (Instant::now(), cpu::of_this());
            let solution = pool.install(|| ours(case, &data))?;
            let (seconds, cpu) = (start.elapsed().as_secs_f64(), since(before));
            eprintln!("{}: {seconds:.3} s, {cpu:.3} CPU s, gap {:.1e}", case.name, solution.gap);
            runs.push(Run { seconds, cpu, solution });
        }
        let conic = case.conic.then(|| {
            let (start, before) = (Instant::now(), cpu::of_this());
            let found = if case.real {
                conic::nmmklr(&columns, &y, 1.0, 0.1, case.m, TOLERANCE)
            } else {
                conic::nmmkl(&columns, &y, 1.0, 0.1, case.m, TOLERANCE)
            };
            let (seconds, cpu) = (start.elapsed().as_secs_f64(), since(before));
            eprintln!("{}: Clarabel {seconds:.3} s, lambda {:.6}", case.name, found.lambda);
            (seconds, cpu, found.objective)
        });
        outcomes.push(Outcome { case, runs, conic });
    }
    write_all(&Documents::new(workspace::root().join("docs/benchmarks"), facts), &outcomes)
}

fn since(before: Option<f64>) -> f64 {
    match (before, cpu::of_this()) {
        (Some(before), Some(now)) => now - before,
        _ => f64::NAN,
    }
}

fn ours(case: &Case, data: &Dataset) -> Result<NonMonotonicSolution> {
    let options = NonMonotonic { tolerance: TOLERANCE, ..NonMonotonic::default() };
    let (budget, context) = (Budget::Count(case.m), Context::default());
    Ok(if case.real {
        Nmmklr { options, ..Nmmklr::default() }.solve(data, budget, &context)?
    } else {
        Nmmkl { options, ..Nmmkl::default() }.solve(data, budget, &context)?
    })
}

/// The data, their standardised columns, and the target or the labels ±1.
///
/// Drawn are standard normal features (ChaCha8, seed 0) and `y = Σ_{j<20} xⱼ/√(j+1) + ε`, whose sign makes
/// the classes.
fn problem(case: &Case, arguments: &Arguments) -> Result<(Dataset, Vec<Vec<f64>>, Vec<f64>)> {
    if case.name.starts_with("colon") {
        let folder = arguments.data.as_ref().ok_or("--data DIR or FEWEST_DATA must name the data sets")?;
        let data = Table::read(folder.join("colon.mat"), &ReadOptions::default())?
            .complete(fewest::data::Missing::Error)?
            .dataset;
        let Target::Class(classes) = data.target() else { return Err("colon has classes".into()) };
        let y = classes.codes().iter().map(|&code| if code > 0 { 1.0 } else { -1.0 }).collect();
        let mut scratch = Vec::new();
        let mut columns = Vec::with_capacity(data.n_features());
        for j in 0..data.n_features() {
            columns.push(standardised(data.x().column(j, &mut scratch)?.to_vec(data.n_samples())));
        }
        return Ok((data, columns, y));
    }
    let mut random = ChaCha8Rng::seed_from_u64(0);
    let mut normal = |_| random.sample::<f64, _>(StandardNormal);
    let columns: Vec<Vec<f64>> =
        (0..case.d).map(|_| standardised((0..case.n).map(&mut normal).collect())).collect();
    let noise: Vec<f64> = (0..case.n).map(&mut normal).collect();
    let signal = |i: usize| -> f64 {
        columns.iter().take(RELEVANT).enumerate().map(|(j, x)| x[i] / (1.0 + j as f64).sqrt()).sum()
    };
    let y = standardised((0..case.n).map(|i| signal(i) + noise[i]).collect());
    let x = DenseColumns::from_columns(&columns)?;
    if case.real {
        return Ok((Dataset::new(x, Target::real(y.clone())?)?, columns, y));
    }
    let labels: Vec<bool> = y.iter().map(|y| *y > 0.0).collect();
    let y = labels.iter().map(|&label| if label { 1.0 } else { -1.0 }).collect();
    Ok((Dataset::new(x, Target::from_labels(&labels))?, columns, y))
}

fn standardised(mut values: Vec<f64>) -> Vec<f64> {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    values.iter_mut().for_each(|value| *value -= mean);
    let deviation = (values.iter().map(|value| value * value).sum::<f64>() / n).sqrt();
    if deviation > 0.0 {
        values.iter_mut().for_each(|value| *value /= deviation);
    }
    values
}

const HEADER: &[&str] = &[
    "case",
    "side",
    "repetition",
    "m",
    "seconds",
    "cpu_seconds",
    "objective",
    "relative_gap",
    "above",
    "tied",
];

fn write_all(documents: &Documents, outcomes: &[Outcome]) -> Result<()> {
    let mut rows = Vec::new();
    for Outcome { case, runs, conic } in outcomes {
        for (repetition, Run { seconds, cpu, solution }) in runs.iter().enumerate() {
            rows.push(vec![
                case.name.to_owned(),
                "fewest".to_owned(),
                (repetition + 1).to_string(),
                case.m.to_string(),
                format!("{seconds:.6}"),
                format!("{cpu:.6}"),
                format!("{:.12}", solution.objective),
                format!("{:.3e}", solution.gap),
                solution.above.len().to_string(),
                solution.tied.len().to_string(),
            ]);
        }
        if let Some((seconds, cpu, objective)) = conic {
            let mut row =
                vec![case.name.to_owned(), "Clarabel".to_owned(), "1".to_owned(), case.m.to_string()];
            row.extend([format!("{seconds:.6}"), format!("{cpu:.6}"), format!("{objective:.12}")]);
            row.extend([String::new(), String::new(), String::new()]);
            rows.push(row);
        }
    }
    documents.csv("nonmonotonic", HEADER, &rows)?;
    documents.page("nonmonotonic", summary(outcomes))
}

fn summary(outcomes: &[Outcome]) -> String {
    let mut text = String::from(
        "# Non-monotonic selection\n\n`cargo xtask bench --nonmonotonic`: the whole of `nmmkl` and `nmmklr` \
         (the relaxation to a relative duality gap of 1e-6, the\ndiscrete set, its `omega` and the bound of \
         Theorem 4), the smallest of the repetitions. *Clarabel* 0.11 solves the same relaxation alone,\nas \
         a second-order cone problem with tolerances of 1e-6 and its own factorisation on one thread. \
         Standard normal features and a\nlinear target with noise, drawn with a fixed seed; `colon` is the \
         data set. Raw: [nonmonotonic.csv](nonmonotonic.csv).\n\n\
         | case | m | seconds | CPU seconds | most allowed | gap | A, B | Clarabel | CPU | times faster | \
         objectives differ by |\n\
         |---|---|---|---|---|---|---|---|---|---|---|\n",
    );
    for Outcome { case, runs, conic } in outcomes {
        let least = |of: fn(&Run) -> f64| minimum(&runs.iter().map(of).collect::<Vec<f64>>());
        let (seconds, cpu) = (least(|run| run.seconds), least(|run| run.cpu));
        let Some(Run { solution, .. }) = runs.first() else { continue };
        let most = case.most.map_or_else(String::new, |most| format!("{most}"));
        let conic = conic.map_or_else(
            || " | | | ".to_owned(),
            |(theirs, their_cpu, objective)| {
                let apart = (objective / solution.objective - 1.0).abs();
                format!("{theirs:.2} | {their_cpu:.2} | {:.1} | {apart:.1e}", theirs / seconds)
            },
        );
        let (above, tied) = (solution.above.len(), solution.tied.len());
        let _ = writeln!(
            text,
            "| {} | {} | {seconds:.3} | {cpu:.3} | {most} | {:.1e} | {above}, {tied} | {conic} |",
            case.name, case.m, solution.gap
        );
    }
    text
}
