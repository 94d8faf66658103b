//! `cargo xtask bench --linear`: the lasso against celer and skglm.

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use fewest::core::{OnDemand, Target, derive_seed};
use fewest::data::{Missing, ReadOptions, Table};
use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use super::cases::Files;
use super::measure::{CPU, Figure, SECONDS, TIMED, Timed, measure};
use super::programs::{list, number, read};
use super::{Arguments, Start};
use crate::output::{median, minimum};
use crate::{Result, machine, npy, workspace};

/// Where the data of a case come from.
enum Source {
    /// Standard normal features, each with this correlation with the one before. The target is the sum of
    /// `signal` of them, at equal distances and with signs that alternate, and standard normal noise.
    Drawn { n: usize, d: usize, signal: usize, correlation: f64 },
    /// A file of the data folder: its first class against all others.
    File(&'static str),
}

/// A table, and the penalties at which it is solved.
struct Case {
    name: &'static str,
    source: Source,
    /// Shares of the smallest penalty that selects nothing.
    ratios: &'static [f64],
    /// The share at which a path of [`POINTS`] penalties ends, if there is one.
    path: Option<f64>,
}

/// Penalties of a path.
const POINTS: usize = 50;

const fn drawn(n: usize, d: usize, signal: usize, correlation: f64) -> Source {
    Source::Drawn { n, d, signal, correlation }
}

const CASES: &[Case] = &[
    Case { name: "signal", source: drawn(500, 20_000, 10, 0.0), ratios: &[0.1, 0.01], path: Some(0.01) },
    Case { name: "noise", source: drawn(500, 20_000, 0, 0.0), ratios: &[0.1, 0.01], path: Some(0.1) },
    Case { name: "correlated", source: drawn(500, 20_000, 10, 0.95), ratios: &[0.1, 0.01], path: None },
    Case { name: "tall", source: drawn(5000, 1000, 20, 0.0), ratios: &[0.1, 0.01], path: None },
    Case { name: "colon", source: Source::File("colon.mat"), ratios: &[0.1, 0.01], path: Some(0.01) },
    Case { name: "ALLAML", source: Source::File("ALLAML.mat"), ratios: &[0.1, 0.01], path: Some(0.01) },
    Case { name: "Prostate-GE", source: Source::File("Prostate-GE.mat"), ratios: &[0.1, 0.01], path: None },
    Case { name: "TOX-171", source: Source::File("TOX-171.mat"), ratios: &[0.1, 0.01], path: None },
    Case { name: "PCMAC", source: Source::File("PCMAC.mat"), ratios: &[0.1, 0.01], path: None },
    Case { name: "BASEHOCK", source: Source::File("BASEHOCK.mat"), ratios: &[0.1, 0.01], path: None },
];

/// The other packages.
const PEERS: &[&str] = &["celer", "skglm"];

/// The result of one run of a program.
struct Run {
    timed: Timed,
    objective: f64,
    gap: f64,
    n_features: usize,
}

/// One problem with the runs of each program, ours first.
struct Results {
    name: String,
    sides: Vec<(&'static str, Vec<Run>)>,
}

/// Measures every case; writes `docs/benchmarks/linear.csv` and `.md`, or with `--only` into `target/bench`.
pub(super) fn run(arguments: &Arguments) -> Result<()> {
    let Start { scratch, json, program, python } =
        arguments.start(".venv-peers-linear", "linear-requirements.txt")?;
    let mut versions = vec![None; PEERS.len()];
    let mut all = Vec::new();
    for case in CASES.iter().filter(|case| case.name.contains(&arguments.only)) {
        let (files, d) = case.files(&scratch, arguments.data.as_deref())?;
        let singles = case.ratios.iter().map(|&ratio| (ratio, 1));
        for (ratio, points) in singles.chain(case.path.map(|ratio| (ratio, POINTS))) {
            let what = if points > 1 { "path to " } else { "" };
            let mut results = Results { name: format!("{}, {what}{ratio}", case.name), sides: Vec::new() };
            results.sides.push(("fewest", Vec::new()));
            results.sides.extend(PEERS.iter().map(|&peer| (peer, Vec::new())));
            for repetition in 1..=arguments.repetitions {
                for (at, (side, runs)) in results.sides.iter_mut().enumerate() {
                    let peer = at.checked_sub(1);
                    let mut command = match peer {
                        Some(peer) => theirs(&python, PEERS[peer], ratio, points),
                        None => ours(&program, d, ratio, points),
                    };
                    command.arg("--x").arg(&files.x);
                    command.args(files.y.iter().flat_map(|y| ["--y".as_ref(), y.as_os_str()]));
                    command.args(["--threads", &arguments.threads.to_string()]).arg("--json").arg(&json);
                    let measured = measure(command.stdout(Stdio::null()).stderr(Stdio::null()))?;
                    let answer = read(&json)?;
                    if let (Some(peer), Some(version)) = (peer, answer["version"].as_str()) {
                        versions[peer] = Some(format!("{side} {version}"));
                    }
                    let timed = Timed::answered(&answer, measured)?;
                    eprintln!("{} {repetition}: {side} {:.3} CPU s", results.name, CPU(&timed));
                    runs.push(Run {
                        timed,
                        objective: number(&answer, "objective")?,
                        gap: number(&answer, "gap")?,
                        n_features: list(&answer["features"]).count(),
                    });
                }
            }
            all.push(results);
        }
        files.remove()?;
    }
    let mut facts = machine::facts();
    facts.extend(versions.into_iter().flatten().map(|version| ("peer", version)));
    facts.push(("threads of each program", arguments.threads.to_string()));
    let documents = arguments.documents(facts);
    documents.csv("linear", &[HEADER, TIMED, &["objective", "gap", "features"]].concat(), &rows(&all))?;
    documents.page("linear", summary(&all))
}

fn ours(program: &Path, d: usize, ratio: f64, points: usize) -> Command {
    let mut command = Command::new(program);
    command.args(["run-method", "--regression", "--method", "lasso", "--k", &d.to_string()]);
    command.args(["--param", &format!("lambda_ratio={ratio}"), "--param", &format!("lambda_path={points}")]);
    command
}

fn theirs(python: &Path, peer: &str, ratio: f64, points: usize) -> Command {
    let mut command = Command::new(python);
    command.arg(workspace::root().join("experiments/peers/linear.py")).args(["--peer", peer]);
    command.args(["--ratio", &ratio.to_string(), "--points", &points.to_string()]);
    command
}

impl Case {
    /// The data as arrays that every program reads, and the number of features.
    fn files(&self, scratch: &Path, data: Option<&Path>) -> Result<(Files, usize)> {
        let (x, y) = (scratch.join("linear-x.npy"), scratch.join("linear-y.npy"));
        let n_features = match self.source {
            Source::Drawn { n, d, signal, correlation } => {
                draw(n, d, signal, correlation, &x, &y)?;
                d
            }
            Source::File(name) => {
                let folder = data.ok_or("give the data folder: --data DIR or FEWEST_DATA")?;
                let table = Table::read(folder.join(name), &ReadOptions::default())?;
                let dataset = table.complete(Missing::Error)?.dataset;
                let Target::Class(classes) = dataset.target() else {
                    return Err(format!("{name} has no classes").into());
                };
                let sign = |code: &u32| if *code == 0 { 1.0 } else { -1.0 };
                npy::write_table(&x, dataset.x())?;
                npy::write_vector(&y, &classes.codes().iter().map(sign).collect::<Vec<f64>>())?;
                dataset.n_features()
            }
        };
        Ok((Files { x, y: Some(y) }, n_features))
    }
}

fn draw(n: usize, d: usize, signal: usize, correlation: f64, x: &Path, y: &Path) -> Result<()> {
    let normal = |seed: usize, out: &mut [f64]| {
        let mut rng = ChaCha8Rng::seed_from_u64(derive_seed(0, seed as u64));
        out.iter_mut().for_each(|value| *value = StandardNormal.sample(&mut rng));
    };
    let mut values = vec![0.0; n * d];
    for j in 0..d {
        let (before, own) = values.split_at_mut(j * n);
        normal(j, &mut own[..n]);
        if j > 0 && correlation > 0.0 {
            let rest = (1.0 - correlation * correlation).sqrt();
            let before = &before[(j - 1) * n..];
            own.iter_mut().zip(before).for_each(|(own, before)| *own = correlation * before + rest * *own);
        }
    }
    let mut target = vec![0.0; n];
    normal(d, &mut target);
    for s in 0..signal {
        let (j, sign) = (s * (d / signal), if s % 2 == 0 { 1.0 } else { -1.0 });
        target.iter_mut().zip(&values[j * n..]).for_each(|(sum, value)| *sum += sign * value);
    }
    let table = OnDemand::new(n, d, |j, out: &mut [f64]| {
        out.copy_from_slice(&values[j * n..(j + 1) * n]);
        Ok(())
    });
    npy::write_table(x, &table)?;
    npy::write_vector(y, &target)
}

const HEADER: &[&str] = &["case", "side", "repetition"];

fn rows(all: &[Results]) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for Results { name, sides } in all {
        for (side, runs) in sides {
            for (repetition, run) in runs.iter().enumerate() {
                let mut row = vec![name.clone(), (*side).to_owned(), (repetition + 1).to_string()];
                row.extend(run.timed.cells());
                row.push(format!("{:.15}", run.objective));
                row.push(format!("{:.1e}", run.gap));
                row.push(run.n_features.to_string());
                rows.push(row);
            }
        }
    }
    rows
}

fn summary(all: &[Results]) -> String {
    let mut text = String::from(
        "# The lasso against other packages\n\n\
         CPU seconds (user and system, all threads) and, in brackets, seconds: the smallest of the runs. The \
         programs of a case were run in turn in one session, on the same files, with the same number of \
         threads. Ours go from the table in memory to the coefficients and include standardising; those of the \
         others are for a table that was standardised before, and begin after everything is compiled. The \
         others stop by criteria of their own: their tolerance is the largest power of ten with which the \
         duality gap, relative to the objective at zero, is at most 1e-9 (`experiments/peers/linear.py`). A \
         number after the name of a table is the share of the smallest penalty that selects nothing; a path \
         has ",
    );
    let _ = write!(
        text,
        "{POINTS} penalties. *signal*, *noise* and *correlated* are 500 × 20 000, *tall* is 5000 × 1000, with \
         standard normal features and noise; the others are the first class of a data set against all others. \
         Every run is in [linear.csv](linear.csv).\n\n| case | features |"
    );
    let Some(first) = all.first() else { return text };
    for (side, _) in &first.sides {
        let _ = write!(text, " {side} |");
    }
    let _ = writeln!(text, " fastest other ÷ fewest |\n|---|---|{}---|", "---|".repeat(first.sides.len()));
    for Results { name, sides } in all {
        let least = |runs: &[Run], figure: Figure| {
            minimum(&runs.iter().map(|run| figure(&run.timed)).collect::<Vec<f64>>())
        };
        let features: Vec<f64> =
            sides.iter().flat_map(|(_, runs)| runs).map(|run| run.n_features as f64).collect();
        let _ = write!(text, "| {name} | {:.0} |", median(&features));
        for (_, runs) in sides {
            let _ = write!(text, " {:.3} ({:.3}) |", least(runs, CPU), least(runs, SECONDS));
        }
        let [(_, ours), theirs @ ..] = &sides[..] else { continue };
        let fastest = minimum(&theirs.iter().map(|(_, runs)| least(runs, CPU)).collect::<Vec<f64>>());
        let _ = writeln!(text, " {:.1} |", fastest / least(ours, CPU));
    }
    let largest = |figure: fn(&Run) -> f64, at: fn(usize) -> bool| {
        let sides = all.iter().flat_map(|results| results.sides.iter().enumerate());
        let runs = sides.filter(|(side, _)| at(*side)).flat_map(|(_, (_, runs))| runs);
        runs.map(figure).fold(0.0, f64::max)
    };
    let difference = all.iter().flat_map(|results| {
        let objectives = results.sides.iter().flat_map(|(_, runs)| runs).map(|run| run.objective);
        let least = objectives.clone().fold(f64::INFINITY, f64::min);
        objectives.map(move |objective| (objective - least) / 0.5)
    });
    let _ = writeln!(
        text,
        "\nThe largest gap is {:.0e} of ours and {:.0e} of the others; the objectives of a case differ by at \
         most {:.0e} of the objective at zero.",
        largest(|run| run.gap, |side| side == 0),
        largest(|run| run.gap, |side| side > 0),
        difference.fold(0.0, f64::max)
    );
    text
}
