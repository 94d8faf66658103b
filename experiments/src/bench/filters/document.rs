//! The raw figures, the summary and the picture.

use std::fmt::Write;

use super::cases::{Case, K, Values};
use super::{LONG_RUN, Results, Side, agreement};
use crate::Result;
use crate::bench::MEBIBYTE;
use crate::bench::measure::{CPU, Figure, MEMORY, PROCESS, PROCESS_CPU, SECONDS, TIMED};
use crate::output::{Documents, median, minimum};
use crate::plot::{Bar, BarPanel, bars};

/// Writes `filters.csv`, `.md` and `.svg`.
pub(super) fn write_all(documents: &Documents, all: &[Results], threads: u32) -> Result<()> {
    let case = &["case", "side", "repetition", "k", "threads"][..];
    documents.csv("filters", &[case, TIMED, &["features"]].concat(), &rows(all, threads))?;
    documents.page("filters", summary(all))?;
    bars(&documents.path("filters.svg"), &panels(all))
}

impl Side {
    fn figures(&self, of: Figure) -> Vec<f64> {
        self.runs.iter().map(|run| of(&run.timed)).collect()
    }

    fn median(&self, of: Figure) -> f64 {
        median(&self.figures(of))
    }

    /// `median (smallest)`.
    fn cell(&self, of: Figure) -> String {
        format!("{:.3} ({:.3})", self.median(of), minimum(&self.figures(of)))
    }
}

impl Results {
    fn sides(&self) -> impl Iterator<Item = &Side> {
        std::iter::once(&self.ours).chain(&self.peers)
    }
}

fn rows(all: &[Results], threads: u32) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for results in all {
        for side in results.sides() {
            for (repetition, run) in side.runs.iter().enumerate() {
                let features: Vec<String> = run.features.iter().map(u64::to_string).collect();
                let mut row = vec![
                    results.case.name.to_owned(),
                    side.name.to_owned(),
                    (repetition + 1).to_string(),
                    K.to_string(),
                    threads.to_string(),
                ];
                row.extend(run.timed.cells());
                row.push(features.join(" "));
                rows.push(row);
            }
        }
    }
    rows
}

fn summary(all: &[Results]) -> String {
    let mut text = format!(
        "# Filters against other packages\n\n\
         Median (smallest) of the runs; all programs of a case were run in turn in one session, on the same \
         files, with the same number of threads. *Selection* is what each program measures itself, from the \
         data in memory to the scores or the {K} features: wall seconds, and CPU seconds (user and system) \
         of all threads. *Process* is everything: start, imports, reading, and for fast-select the \
         compilation of its functions, which its selection does not count. *Memory* is the highest resident \
         set of the process, and in units of the data (n × d numbers of 8 bytes). A peer that takes more \
         than {LONG_RUN} s is run once. On a machine that others use too, CPU seconds are the figure to \
         compare. Every run is in [filters.csv](filters.csv).\n\n\
         **Not measured in this run:** the CPU seconds of praznik, an R package. They were recorded earlier, \
         with as many samples, features and selected features, but on other data and not side by side with \
         ours.\n\n\
         ![CPU seconds of the selection, and memory](filters.svg)\n"
    );
    for results in all {
        section(&mut text, results);
    }
    text.push_str(
        "\n## Where definitions differ\n\n\
         - mRMR: fast-select computes the mutual information of all pairs of features first, ours that of \
         the selected ones with the others. Ties apart, the features are the same.\n\
         - FCQ: mrmrs, by the scores it gives, divides the redundancy by one more than the number of \
         selected features, which changes the scores and not the choice.\n\
         - ReliefF and MultiSURF: fast-select computes in single precision, so samples at nearly the same \
         distance can change places among the neighbours; ours is in double precision, and exact ties go to \
         the lower index. With more than two classes, MultiSURF would differ too: fast-select takes all \
         misses together, ours class by class. Here there are two.\n\
         - F-score: the same statistic as `f_classif`, whose p-values are part of its time.\n",
    );
    text
}

fn section(text: &mut String, results: &Results) {
    let case = results.case;
    let _ = writeln!(
        text,
        "\n## {}\n\n{}\n\n\
         | program | selection, s | selection, CPU s | process, s | process, CPU s | memory, MiB | × data |\n\
         |---|---|---|---|---|---|---|",
        case.name,
        describe(case)
    );
    for side in results.sides() {
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {:.0} | {:.1} |",
            side.name,
            side.cell(SECONDS),
            side.cell(CPU),
            side.cell(PROCESS),
            side.cell(PROCESS_CPU),
            side.median(MEMORY),
            side.median(MEMORY) * MEBIBYTE / case.source.bytes(),
        );
    }
    if let Some(recorded) = case.recorded {
        let _ =
            writeln!(text, "| {} (recorded, not run) | | {} | | | | |", recorded.name, recorded.cpu_seconds);
    }
    if !results.peers.is_empty() || case.recorded.is_some() {
        text.push('\n');
    }
    for peer in &results.peers {
        let ratio = |of: Figure| peer.median(of) / results.ours.median(of);
        let _ = writeln!(
            text,
            "- {}: {:.1} times our CPU seconds, {:.1} times our seconds, {:.1} times our memory. {}",
            peer.name,
            ratio(CPU),
            ratio(SECONDS),
            ratio(MEMORY),
            agreement(&results.ours, peer)
        );
    }
    if let Some(recorded) = case.recorded {
        let ratio = recorded.cpu_seconds / results.ours.median(CPU);
        let _ =
            writeln!(text, "- {}: the recorded figure is {ratio:.1} times our CPU seconds.", recorded.name);
    }
}

fn agreement(ours: &Side, theirs: &Side) -> String {
    let (Some(a), Some(b)) = (ours.runs.first(), theirs.runs.first()) else { return String::new() };
    let best = format!("Same best features: {}", agreement::of_features(&a.features, &b.features));
    match agreement::of_scores(&a.scores, &b.scores) {
        Some(correlation) => format!("{best}; rank correlation of all scores {correlation:.6}."),
        None => format!("{best}."),
    }
}

fn describe(case: &Case) -> String {
    let source = case.source;
    let values = match source.values {
        Values::Levels => "whole numbers from 0 to 4",
        Values::Normal => "normal values",
    };
    format!(
        "`{}`, n = {}, d = {}, {} classes, {values}: {:.0} MiB.",
        case.method,
        source.n,
        source.d,
        source.classes,
        source.bytes() / MEBIBYTE
    )
}

/// One scale per case: the cases are too different for a common one.
fn panels(all: &[Results]) -> Vec<BarPanel> {
    let panel = |results: &Results, what: &str, of: Figure, unit: &'static str| BarPanel {
        title: format!("{}: {what}", results.case.name),
        unit,
        bars: results
            .sides()
            .map(|side| Bar {
                label: side.name.to_owned(),
                value: side.median(of),
                is_ours: std::ptr::eq(side, &results.ours),
            })
            .collect(),
    };
    all.iter()
        .flat_map(|results| {
            let mut cpu = panel(results, "CPU time of the selection", CPU, "s");
            cpu.bars.extend(results.case.recorded.map(|recorded| Bar {
                label: format!("{} (recorded, not run)", recorded.name),
                value: recorded.cpu_seconds,
                is_ours: false,
            }));
            [cpu, panel(results, "highest resident memory", MEMORY, "MiB")]
        })
        .collect()
}
