//! Notes, and everything needed to repeat the run.

use fewest::core::Selection;
use fewest::registry::{Method, Parameters};
use fewest_study::{DataInfo, RunInfo, VERSION};
use maud::{Markup, html};

use super::{Origin, section as wrap};
use crate::{papers, text};

pub(super) fn section(selection: &Selection, run: &RunInfo, origin: &Origin) -> Markup {
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
            (cited(std::iter::once(&run.method), &run.data, run.seed, origin))
            p.formula { (run.method.formula) }
            pre.command { (origin.command) }
            div.columns {
                (table("Method", &method(run)))
                (table("Data", &data(&run.data)))
                @let certificate = certificate(selection);
                @if !certificate.is_empty() { (table("Solver", &certificate)) }
                @if !selection.views.is_empty() {
                    (table("Weights of views", &text::views(&selection.views)))
                }
                @if let Some(bound) = selection.false_discoveries {
                    (table("False discoveries", &text::bound_rows(bound)))
                }
            }
        }))
    }
}

/// The run in one sentence and the papers of its methods, for those who cite it.
pub(super) fn cited<'a>(
    methods: impl Iterator<Item = &'a Method>,
    data: &DataInfo,
    seed: u64,
    origin: &Origin,
) -> Markup {
    let (mut names, mut papers) = (Vec::new(), Vec::new());
    for method in methods {
        let name = format!("{} ({})", method.title, method.id);
        // A method may be there with several values of its parameters.
        if !names.contains(&name) {
            names.push(name);
        }
        for paper in papers::of(method.id) {
            if !papers.contains(&paper) {
                papers.push(paper);
            }
        }
    }
    html! {
        p.cited {
            "To cite this run: " (names.join(", ")) ", fewest " (VERSION) ", seed " (seed) ", " (origin.date) "; data: "
            (data.file) ", " (text::counted(data.n_samples, "sample", "samples")) ", "
            (text::counted(data.n_features, "feature", "features"))
            @if let Some(digest) = &data.file_digest { ", SHA-256 " code { (digest) } }
            "."
        }
        @if !papers.is_empty() { ul.papers { @for paper in papers { li { (paper) } } } }
    }
}

pub(super) fn table(heading: &str, rows: &[(String, String)]) -> Markup {
    html! {
        @if !rows.is_empty() {
            table.plain {
                caption { (heading) }
                tbody { @for (name, value) in rows { tr { th scope="row" { (name) } td { (value) } } } }
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

/// Classes that are listed.
const MOST_CLASSES: usize = 50;

pub(super) fn data(data: &DataInfo) -> Vec<(String, String)> {
    let mut rows = vec![
        row("file", &data.file),
        row("samples", text::count(data.n_samples)),
        row("features", text::count(data.n_features)),
        row("task", data.task),
        row("target", data.targets.join(", ")),
    ];
    for (class, count) in data.classes.iter().take(MOST_CLASSES) {
        rows.push((format!("class {class}"), text::counted(*count, "sample", "samples")));
    }
    if data.classes.len() > MOST_CLASSES {
        rows.push(row("other classes", text::count(data.classes.len() - MOST_CLASSES)));
    }
    rows.push(row("missing values", data.missing.name()));
    rows
}

fn certificate(selection: &Selection) -> Vec<(String, String)> {
    let Some(solver) = &selection.solver else { return Vec::new() };
    let mut rows = vec![
        row("solver", solver.name),
        row("status", solver.status.name()),
        row("penalty λ", text::number(solver.lambda, 6)),
        row("objective", text::number(solver.objective, 6)),
    ];
    let certificate = text::certificate(solver.certificate);
    rows.extend(certificate.map(|(name, value)| row(&format!("{name} (relative)"), value)));
    rows.push(row("iterations", text::count(solver.iterations)));
    rows
}
