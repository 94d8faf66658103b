//! Notes, and everything needed to repeat the run.

use fewest::core::Selection;
use fewest::registry::Parameters;
use fewest_study::{DataInfo, RunInfo, VERSION};
use maud::{Markup, html};

use super::section as wrap;
use crate::text;

pub(super) fn section(selection: &Selection, run: &RunInfo, command: &str) -> Markup {
    html! {
        @if !selection.notes.is_empty() || run.data.missing_done.is_some() {
            (wrap("notes", "Notes", "", html! {
                ul {
                    @if let Some(done) = &run.data.missing_done { li { (done) } }
                    @for note in &selection.notes { li { (note) } }
                }
            }))
        }
        (wrap("run", "How this was computed", "", html! {
            p.formula { (run.method.formula) }
            pre.command { (command) }
            div.columns {
                (table("Method", &method(run)))
                (table("Data", &data(&run.data)))
                @let certificate = certificate(selection);
                @if !certificate.is_empty() { (table("Solver", &certificate)) }
            }
        }))
    }
}

pub(super) fn table(heading: &str, rows: &[(String, String)]) -> Markup {
    html! {
        div {
            h3 { (heading) }
            table.plain {
                tbody { @for (name, value) in rows { tr { th { (name) } td { (value) } } } }
            }
        }
    }
}

pub(super) fn row(name: &str, value: impl ToString) -> (String, String) {
    (name.to_owned(), value.to_string())
}

fn method(run: &RunInfo) -> Vec<(String, String)> {
    let mut rows = vec![row("method", run.method.id)];
    rows.extend(parameters(&run.parameters));
    rows.push(row("seed", run.seed));
    rows.push(row("fewest", VERSION));
    rows
}

pub(super) fn parameters(parameters: &Parameters) -> Vec<(String, String)> {
    parameters.iter().map(|(name, value)| row(name, value)).collect()
}

pub(super) fn data(data: &DataInfo) -> Vec<(String, String)> {
    let mut rows = vec![
        row("file", &data.file),
        row("samples", text::count(data.n_samples)),
        row("features", text::count(data.n_features)),
        row("task", data.task),
        row("target", data.targets.join(", ")),
    ];
    for (class, count) in &data.classes {
        rows.push((format!("class {class}"), text::counted(*count, "sample", "samples")));
    }
    rows.push(row("missing values", data.missing.name()));
    rows
}

fn certificate(selection: &Selection) -> Vec<(String, String)> {
    let Some(solver) = &selection.solver else { return Vec::new() };
    vec![
        row("solver", solver.name),
        row("status", solver.status.name()),
        row("penalty λ", text::number(solver.lambda, 6)),
        row("objective", text::number(solver.objective, 6)),
        row(
            &format!("{} (relative)", text::certificate(solver.certificate)),
            text::number(solver.certificate.value(), 2),
        ),
        row("iterations", text::count(solver.iterations)),
    ]
}
