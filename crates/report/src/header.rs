//! The header: the result in one line, and the main figures.

use fewest::core::{Selection, Status};
use fewest_study::RunInfo;
use maud::{Markup, html};

use crate::text;

pub(super) fn section(what: &str, selection: &Selection, run: &RunInfo) -> Markup {
    let chosen = selection.order.len();
    let whole = text::counted(run.data.n_features, "feature", "features");
    html! {
        header {
            p.kicker { (what) " by " (run.method.title) }
            h1 { strong { (text::count(chosen)) } " of " (whole) }
            p.source { "from " span.file { (run.data.file) } }
            @if let Some(warning) = warning(selection.status) { p.warning { (warning) } }
            dl.figures {
                (figure("Samples", &text::count(run.data.n_samples)))
                (figure("Features", &text::count(run.data.n_features)))
                (figure("Target", &run.data.target_text().replace('`', "")))
                @if let Some((name, value)) = selection.solver.as_ref().and_then(|solver| text::certificate(solver.certificate)) {
                    (figure(&text::capitalised(name), &value))
                }
                (figure("Time", &text::duration(run.seconds)))
            }
        }
    }
}

pub(super) fn figure(name: &str, value: &str) -> Markup {
    html! { div { dt { (name) } dd { (value) } } }
}

/// A warning if the computation ended early.
fn warning(status: Status) -> Option<&'static str> {
    match status {
        Status::Converged | Status::AlmostConverged => None,
        Status::TimeLimit => Some("The time limit ended the computation: this is the best result so far."),
        Status::Interrupted => Some("The computation was interrupted: this is the best result so far."),
        Status::MaxIterations => Some("The iteration limit was reached: this is the best result so far."),
        _ => Some("The computation ended before the certificate met the tolerance: this is the best result."),
    }
}
