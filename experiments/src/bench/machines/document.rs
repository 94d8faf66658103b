//! The raw figures, the summary and the picture.

use std::fmt::Write;

use super::cases::Case;
use super::{OUR_TOLERANCE, Objectives, Results, Run, Side, THEIR_TOLERANCE};
use crate::Result;
use crate::bench::measure::{CPU, Figure, MEMORY, PROCESS_CPU, SECONDS, TIMED};
use crate::output::{Documents, median, minimum};
use crate::plot::{Bar, BarPanel, bars};

/// Writes `machines.csv`, `.md` and `.svg`.
pub(super) fn write_all(
    documents: &Documents,
    timed: &[Results],
    objectives: &[Objectives],
    skipped: &[String],
) -> Result<()> {
    let case = &["case", "problem", "n", "d", "cost", "side", "repetition"][..];
    let found = &["objective", "violation", "support_vectors"];
    documents.csv("machines", &[case, TIMED, found].concat(), &rows(timed, objectives))?;
    documents.page("machines", summary(timed, objectives, skipped))?;
    bars(&documents.path("machines.svg"), &panels(timed))
}

fn figures(side: &Side, of: Figure) -> Vec<f64> {
    side.runs.iter().map(|run| of(&run.timed)).collect()
}

fn cell(side: &Side, of: Figure) -> String {
    format!("{:.2} ({:.2})", median(&figures(side, of)), minimum(&figures(side, of)))
}

fn row(case: &Case, side: &str, repetition: usize, run: &Run) -> Vec<String> {
    let mut row = vec![
        case.name.clone(),
        case.kind.name().to_owned(),
        case.n.to_string(),
        case.d.to_string(),
        case.cost.to_string(),
        side.to_owned(),
        repetition.to_string(),
    ];
    row.extend(run.timed.cells());
    row.extend([
        format!("{:.12}", run.objective),
        run.violation.map_or_else(String::new, |value| format!("{value:.3e}")),
        run.n_support.to_string(),
    ]);
    row
}

fn rows(timed: &[Results], objectives: &[Objectives]) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for Results { case, sides } in timed {
        for side in sides {
            rows.extend(side.runs.iter().enumerate().map(|(k, run)| row(case, side.name, k + 1, run)));
        }
    }
    for Objectives { case, ours, theirs } in objectives {
        rows.push(row(case, "fewest", 1, ours));
        rows.push(row(case, "scikit-learn", 1, theirs));
    }
    rows
}

fn summary(timed: &[Results], objectives: &[Objectives], skipped: &[String]) -> String {
    let mut text = format!(
        "# Support vector machines against LIBSVM\n\n\
         Gaussian kernel, one thread, 256 MiB for kept rows on every side; scikit-learn's `SVC` and `SVR` \
         are LIBSVM with dense samples. Median (smallest) of the runs, in turn in one session on the same \
         files. *Training* is what each program measures itself, from the samples in memory to the \
         coefficients; of `svm-train` it is everything. On a machine that others use too, CPU seconds are \
         the figure to compare. LIBSVM stops at a violation of the optimality conditions of \
         {THEIR_TOLERANCE}, its default; ours at a duality gap of {OUR_TOLERANCE} of the objective. \
         *Objective* is the minimised dual, computed in double precision from each side's coefficients: the \
         lower the nearer to the optimum. *Violation* is that of the optimality conditions, computed in the \
         same way. Every run is in [machines.csv](machines.csv).\n\n\
         ![CPU seconds of the training](machines.svg)\n"
    );
    if !skipped.is_empty() {
        text.push_str("\n**Not run:**\n\n");
        for reason in skipped {
            let _ = writeln!(text, "- {reason}.");
        }
    }
    for results in timed {
        section(&mut text, results);
    }
    if !objectives.is_empty() {
        table(&mut text, objectives);
    }
    text
}

fn section(text: &mut String, Results { case, sides }: &Results) {
    let _ = writeln!(
        text,
        "\n## {}\n\nn = {}, d = {}, C = {}, γ = {}.\n\n\
         | program | training, CPU s | training, s | process, CPU s | memory, MiB | objective | violation | \
         support vectors |\n\
         |---|---|---|---|---|---|---|---|",
        case.name, case.n, case.d, case.cost, case.gamma
    );
    for side in sides {
        let Some(run) = side.runs.first() else { continue };
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {:.0} | {:.6} | {} | {} |",
            side.name,
            cell(side, CPU),
            cell(side, SECONDS),
            cell(side, PROCESS_CPU),
            median(&figures(side, MEMORY)),
            run.objective,
            run.violation.map_or_else(|| "not told".to_owned(), |value| format!("{value:.1e}")),
            run.n_support
        );
    }
    text.push('\n');
    let least = |side: &Side| minimum(&figures(side, CPU));
    if let Some(ours) = sides.iter().find(|side| side.is_ours) {
        for side in sides.iter().filter(|side| !side.is_ours) {
            let ratio = least(side) / least(ours);
            let _ = writeln!(text, "- {}: {ratio:.2} times our CPU seconds, smallest of each.", side.name);
        }
    }
}

fn table(text: &mut String, objectives: &[Objectives]) {
    let difference =
        |entry: &Objectives| (entry.ours.objective - entry.theirs.objective) / entry.theirs.objective.abs();
    let worst = objectives.iter().map(|entry| difference(entry).abs()).fold(0.0, f64::max);
    let _ = writeln!(
        text,
        "\n## Objectives\n\nStandardised features and targets, γ = 1/d, ε = 0.1; scikit-learn at a tolerance \
         of 1e-6, ours at a gap of 1e-9. Below 0 the difference says that ours is nearer to the optimum. The \
         largest is {worst:.1e}.\n\n\
         | data | problem | n | d | C | scikit-learn | ours | relative difference | theirs, CPU s | ours, \
         CPU s |\n\
         |---|---|---|---|---|---|---|---|---|---|"
    );
    for entry in objectives {
        let Case { name, kind, n, d, cost, .. } = &entry.case;
        let _ = writeln!(
            text,
            "| {name} | {} | {n} | {d} | {cost} | {:.8} | {:.8} | {:+.1e} | {:.3} | {:.3} |",
            kind.name(),
            entry.theirs.objective,
            entry.ours.objective,
            difference(entry),
            CPU(&entry.theirs.timed),
            CPU(&entry.ours.timed),
        );
    }
}

fn panels(timed: &[Results]) -> Vec<BarPanel> {
    let panel = |results: &Results| BarPanel {
        title: format!("{}: CPU time of the training", results.case.name),
        unit: "s",
        bars: results
            .sides
            .iter()
            .map(|side| Bar {
                label: side.name.to_owned(),
                value: median(&figures(side, CPU)),
                is_ours: side.is_ours,
            })
            .collect(),
    };
    timed.iter().map(panel).collect()
}
