//! `cargo xtask bench --peers`: both sides in turn, on the same files, in one session.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::cases::{CASES, Case, Source};
use super::programs::{Run, build_ours, prepare_python, run_ours, run_peer};
use super::{Arguments, MEBIBYTE};
use crate::output::{Documents, median, minimum};
use crate::plot::{Bar, BarPanel, bars};
use crate::{Result, machine, workspace};

const HEADER: &[&str] = &[
    "case",
    "side",
    "repetition",
    "k",
    "threads",
    "seconds",
    "process_seconds",
    "peak_rss_bytes",
    "worker_peak_rss_bytes",
    "features",
];

/// A case with all its runs.
struct Results {
    case: &'static Case,
    ours: Vec<Run>,
    theirs: Vec<Run>,
}

/// Measures every case; writes `docs/benchmarks/peers.csv`, `.md` and two `.svg`.
pub(super) fn run(arguments: &Arguments) -> Result<()> {
    let scratch = workspace::root().join("target/bench");
    std::fs::create_dir_all(&scratch)?;
    let json = scratch.join("answer.json");
    let program = build_ours()?;
    let python = match &arguments.python {
        Some(python) => python.clone(),
        None => prepare_python(".venv-peers", "requirements.txt")?,
    };
    let mut facts = machine::facts();
    let mut peer_version = None;
    let mut all = Vec::new();
    for case in CASES.iter().filter(|case| case.name.contains(&arguments.only)) {
        let files = case.source.files(arguments.data.as_deref(), &scratch)?;
        let mut results = Results { case, ours: Vec::new(), theirs: Vec::new() };
        for repetition in 1..=arguments.repetitions {
            let ours = run_ours(&program, &files, case.source, case.k, arguments.threads, &json)?;
            eprintln!("{} {repetition}: fewest {:.3} s", case.name, ours.seconds);
            results.ours.push(ours);
            if let Some(options) = case.peer {
                let (theirs, version) =
                    run_peer(&python, &files, case.source, case.k, options, arguments.threads, &json)?;
                eprintln!("{} {repetition}: pyHSICLasso {:.3} s", case.name, theirs.seconds);
                results.theirs.push(theirs);
                peer_version = Some(version);
            }
        }
        files.remove()?;
        all.push(results);
    }
    if let Some(version) = peer_version {
        facts.push(("peer", version));
    }
    facts.push(("threads of each program", arguments.threads.to_string()));
    let documents = Documents::new(workspace::root().join("docs/benchmarks"), facts);
    documents.csv("peers", HEADER, &rows(&all, arguments.threads))?;
    documents.page("peers", summary(&all))?;
    let [seconds, memory] = panels(&all);
    bars(&documents.path("peers.svg"), &[seconds, memory])
}

fn rows(all: &[Results], threads: u32) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for results in all {
        for (side, runs) in [("fewest", &results.ours), ("pyHSICLasso", &results.theirs)] {
            for (repetition, run) in runs.iter().enumerate() {
                let features: Vec<String> = run.features.iter().map(u64::to_string).collect();
                rows.push(vec![
                    results.case.name.to_owned(),
                    side.to_owned(),
                    (repetition + 1).to_string(),
                    results.case.k.to_string(),
                    threads.to_string(),
                    format!("{:.6}", run.seconds),
                    format!("{:.6}", run.measured.process_seconds),
                    run.measured.peak_bytes.map_or_else(String::new, |bytes| bytes.to_string()),
                    run.worker_peak_bytes.to_string(),
                    features.join(" "),
                ]);
            }
        }
    }
    rows
}

fn seconds(runs: &[Run]) -> Vec<f64> {
    runs.iter().map(|run| run.seconds).collect()
}

fn process_seconds(runs: &[Run]) -> Vec<f64> {
    runs.iter().map(|run| run.measured.process_seconds).collect()
}

/// Of the main process alone, in MiB: a peer's worker processes are not added, which is in its favour.
fn memory(runs: &[Run]) -> Vec<f64> {
    runs.iter().map(|run| run.measured.peak_bytes.map_or(f64::NAN, |bytes| bytes as f64 / MEBIBYTE)).collect()
}

fn summary(all: &[Results]) -> String {
    let mut text = String::from(
        "# HSIC Lasso against pyHSICLasso\n\n\
         Median (smallest) of the runs; both programs were run in turn in one session, on the same files, \
         with the same number of threads. *Seconds* are what each program measures itself: kernels and lasso, \
         without starting and reading; *process* is everything; *memory* is the highest resident set of the \
         main process (a peer's worker processes, listed in the raw data, are not added). Ours is the full \
         estimator throughout. Every run is in [peers.csv](peers.csv).\n\n![Seconds and memory of both \
         sides](peers.svg)\n\n\
         | case | side | seconds | process, s | memory, MiB | same features |\n|---|---|---|---|---|---|\n",
    );
    for results in all {
        for (side, runs) in [("fewest", &results.ours), (peer_name(results.case), &results.theirs)] {
            if runs.is_empty() {
                continue;
            }
            let cell = |values: Vec<f64>| format!("{:.3} ({:.3})", median(&values), minimum(&values));
            let _ = writeln!(
                text,
                "| {} | {side} | {} | {} | {:.0} ({:.0}) | {} |",
                describe(results.case),
                cell(seconds(runs)),
                cell(process_seconds(runs)),
                median(&memory(runs)),
                minimum(&memory(runs)),
                if side == "fewest" { agreement(results) } else { String::new() },
            );
        }
        if !results.theirs.is_empty() {
            let ratio =
                |of: fn(&[Run]) -> Vec<f64>| median(&of(&results.theirs)) / median(&of(&results.ours));
            let _ = writeln!(
                text,
                "| | **ratio** | **{:.1}** | **{:.1}** | **{:.1}** | |",
                ratio(seconds),
                ratio(process_seconds),
                ratio(memory)
            );
        }
    }
    text
}

fn describe(case: &Case) -> String {
    match case.source {
        Source::Matlab(file) => format!("{file}, k = {}", case.k),
        Source::Data2 { n, d } => format!("Data2, n = {n}, d = {d}, k = {}", case.k),
    }
}

fn peer_name(case: &Case) -> &'static str {
    match case.peer {
        Some(options) if options.block > 0 => "pyHSICLasso, block estimator",
        _ => "pyHSICLasso, full estimator",
    }
}

/// The number of our features that the peer selects too.
fn agreement(results: &Results) -> String {
    match (results.ours.first(), results.theirs.first()) {
        (Some(ours), Some(theirs)) => {
            let theirs: BTreeSet<_> = theirs.features.iter().collect();
            let shared = ours.features.iter().filter(|feature| theirs.contains(feature)).count();
            format!("{shared} of {}", ours.features.len())
        }
        _ => String::new(),
    }
}

fn panels(all: &[Results]) -> [BarPanel; 2] {
    let panel = |title: &str, of: fn(&[Run]) -> Vec<f64>, unit: &'static str| BarPanel {
        title: title.to_owned(),
        unit,
        bars: all
            .iter()
            .flat_map(|results| {
                [("fewest", &results.ours), (peer_name(results.case), &results.theirs)]
                    .into_iter()
                    .filter(|(_, runs)| !runs.is_empty())
                    .map(|(side, runs)| Bar {
                        label: format!("{}: {side}", describe(results.case)),
                        value: median(&of(runs)),
                        is_ours: side == "fewest",
                    })
            })
            .collect(),
    };
    [panel("Time of kernels and lasso", seconds, "s"), panel("Highest resident memory", memory, "MiB")]
}
