//! The report: one self-contained HTML file, for a screen (light or dark) and for paper.
//!
//! Each section is a module that turns the selection and the run into markup; a section without content is
//! left out. The template language escapes text, so nothing in a data file can become markup.

mod cluster;
mod curves;
mod evaluation;
mod facts;
mod header;
mod path;
mod ranking;
mod related;
mod scale;
mod similarity;

use fewest::core::Selection;
use fewest_study::{RunInfo, VERSION};
use maud::{DOCTYPE, Markup, PreEscaped, html};

pub(crate) use evaluation::render as evaluation;

/// The complete report of a selection made by `command`.
pub(crate) fn render(selection: &Selection, run: &RunInfo, command: &str) -> String {
    let title = format!("{} of {}", run.method.id, run.data.file);
    page(
        &title,
        html! {
            (header::section(selection, run))
            (ranking::section(selection, run))
            @if let Some(path) = &selection.path { (path::section(path, selection, run)) }
            @if let Some(similarity) = &selection.similarity {
                (similarity::section(similarity, selection, run))
            }
            (related::section(selection, run))
            (facts::section(selection, run, command))
        },
    )
}

/// A self-contained page.
fn page(title: &str, content: Markup) -> String {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="generator" content={ "fewest " (VERSION) };
                title { (title) }
                style { (PreEscaped(include_str!("report/style.css"))) }
            }
            body { main { (content) } }
        }
    }
    .into_string()
}

/// A section with its heading and a sentence that explains how to read it.
fn section(id: &str, heading: &str, explanation: &str, content: Markup) -> Markup {
    html! {
        section id=(id) {
            h2 { (heading) }
            @if !explanation.is_empty() { p.explanation { (explanation) } }
            (content)
        }
    }
}

/// A coordinate of a drawing, with only as many digits as are visible.
fn at(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

#[cfg(test)]
pub(crate) mod tests;
