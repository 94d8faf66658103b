//! `cargo xtask bench --filters`: filters against other packages, in turn, on the same files, in one session.

mod agreement;
mod cases;
mod document;

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

pub(super) use self::cases::{CASES, K};
use self::cases::{Case, Peer};
use super::cases::Files;
use super::measure::{Timed, measure};
use super::programs::{list, read};
use super::{Arguments, Start};
use crate::{Result, machine, workspace};

/// A peer that takes longer than this is run once: its ratio to ours needs no second digit.
const LONG_RUN: f64 = 30.0;

/// The result of one run of a program.
struct Run {
    /// The program itself counts the selection alone.
    timed: Timed,
    /// The best features, best first.
    features: Vec<u64>,
    /// The scores of all features, where the method gives them.
    scores: Vec<f64>,
}

/// A program with all its runs.
struct Side {
    name: &'static str,
    runs: Vec<Run>,
}

/// A case with all its runs.
struct Results {
    case: &'static Case,
    ours: Side,
    peers: Vec<Side>,
}

/// Measures every case; writes `docs/benchmarks/filters.csv`, `.md` and `.svg`, or with `--only` into
/// `target/bench`.
pub(super) fn run(arguments: &Arguments) -> Result<()> {
    let Start { scratch, json, program, python } =
        arguments.start(".venv-peers-filters", "filters-requirements.txt")?;
    let mut facts = machine::facts();
    let mut versions = Vec::new();
    let mut all = Vec::new();
    let mut drawn: Option<(cases::Source, Files)> = None;
    for case in CASES.iter().filter(|case| case.name.contains(&arguments.only)) {
        let files = match drawn.take() {
            Some((source, files)) if source == case.source => files,
            _ => case.source.files(&scratch)?,
        };
        let mut results = Results {
            case,
            ours: Side { name: "fewest", runs: Vec::new() },
            peers: case.peers.iter().map(|peer| Side { name: peer.name, runs: Vec::new() }).collect(),
        };
        for repetition in 1..=arguments.repetitions {
            let ours = run_ours(&program, &files, case, arguments.threads, &json)?;
            eprintln!("{} {repetition}: fewest {:.3} s", case.name, ours.timed.seconds);
            results.ours.runs.push(ours);
            for (peer, side) in case.peers.iter().zip(&mut results.peers) {
                if side.runs.iter().any(|run| run.timed.seconds > LONG_RUN) {
                    continue;
                }
                let (theirs, version) = run_peer(&python, &files, *peer, arguments.threads, &json)?;
                eprintln!("{} {repetition}: {} {:.3} s", case.name, peer.name, theirs.timed.seconds);
                side.runs.push(theirs);
                if !versions.contains(&version) {
                    versions.push(version);
                }
            }
        }
        all.push(results);
        drawn = Some((case.source, files));
    }
    if let Some((_, files)) = drawn {
        files.remove()?;
    }
    facts.extend(versions.into_iter().map(|version| ("peer", version)));
    facts.push(("threads of each program", arguments.threads.to_string()));
    document::write_all(&arguments.documents(facts), &all, arguments.threads)
}

fn run_ours(program: &Path, files: &Files, case: &Case, threads: u32, json: &Path) -> Result<Run> {
    let mut command = Command::new(program);
    command.args(["run-method", "--method", case.method]);
    for param in case.params {
        command.args(["--param", param]);
    }
    Ok(run_program(command, files, threads, json)?.0)
}

fn run_peer(python: &Path, files: &Files, peer: Peer, threads: u32, json: &Path) -> Result<(Run, String)> {
    let mut command = Command::new(python);
    command.arg(workspace::root().join("experiments/peers/filters.py")).args(["--peer", peer.id]);
    // The warnings of the peer are not shown.
    command.stderr(Stdio::null());
    let (run, answer) = run_program(command, files, threads, json)?;
    let text = |key: &str| answer[key].as_str().unwrap_or("?").to_owned();
    let version =
        format!("{} {} (Python {}, NumPy {})", text("peer"), text("version"), text("python"), text("numpy"));
    Ok((run, version))
}

/// Runs a program with the arguments that both sides take.
fn run_program(mut command: Command, files: &Files, threads: u32, json: &Path) -> Result<(Run, Value)> {
    command.arg("--x").arg(&files.x);
    if let Some(y) = &files.y {
        command.arg("--y").arg(y);
    }
    command.args(["--k", &K.to_string(), "--threads", &threads.to_string()]).arg("--json").arg(json);
    let measured = measure(command.stdout(Stdio::null()))?;
    let answer = read(json)?;
    let run = Run {
        timed: Timed::answered(&answer, measured)?,
        features: list(&answer["features"]).filter_map(Value::as_u64).collect(),
        scores: list(&answer["scores"]).filter_map(Value::as_f64).collect(),
    };
    Ok((run, answer))
}
