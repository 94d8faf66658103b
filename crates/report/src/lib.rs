#![doc = include_str!("../README.md")]

// Each section is a module that turns the selection and the run into markup; a section without content is
// left out. The template language escapes text, so nothing in a data file can become markup. The script only
// adds to a page that is whole without it.

mod chart;
mod cluster;
mod curves;
mod data;
mod evaluation;
mod facts;
mod header;
mod layout;
mod matrix;
mod names;
mod network;
mod origin;
mod papers;
mod path;
mod ranking;
mod related;
mod sample;
mod samples;
mod scale;
mod similarity;
pub mod text;

use fewest::core::{Dataset, Error, Selection};
use fewest_study::{RunInfo, VERSION};
use maud::{DOCTYPE, Markup, PreEscaped, html};

pub use evaluation::render as evaluation;
pub use origin::Origin;

/// What a browser may load for a report: nothing.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'";

/// The complete report of a selection from `data`; `what` it is: "Feature selection", "Feature scores".
///
/// # Errors
/// When a column of `data` cannot be read.
pub fn selection(
    what: &str,
    selection: &Selection,
    run: &RunInfo,
    data: &Dataset,
    origin: &Origin,
) -> Result<String, Error> {
    let title = format!("{} of {}", run.method.id, run.data.file);
    let (data_section, samples) =
        (data::section(data, selection, run)?, samples::section(data, selection, run)?);
    let network = network::section(data, selection, run)?;
    Ok(page(
        &title,
        html! {
            (header::section(what, selection, run))
            (ranking::section(selection, run))
            (data_section)
            (samples)
            (network)
            @if let Some(path) = &selection.path { (path::section(path, selection, run)) }
            @if let Some(similarity) = &selection.similarity {
                (similarity::section(similarity, selection, run))
            }
            (related::section(selection, run))
            (facts::section(selection, run, origin))
        },
    ))
}

/// A self-contained page.
fn page(title: &str, content: Markup) -> String {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="generator" content={ "fewest " (VERSION) };
                title { (title) }
                style { (PreEscaped(include_str!("style.css"))) }
            }
            body {
                (chart::shapes())
                main { (content) }
                script { (PreEscaped(include_str!("script.js"))) }
            }
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

/// A drawing of this height, told to those who do not see it, and what stands below.
fn figure(class: &str, height: f64, told: &str, drawing: Markup, below: Markup) -> Markup {
    html! {
        figure class=(class) {
            svg height=(at(height)) role="img" aria-label=(text::one_line(told)) { (drawing) }
            (below)
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
