//! The numbers of an evaluation, in tables that fit on a narrow screen: one for each number of features with
//! a row for each method, or one with a row for each number of features for a single method.

use fewest::eval::k_text;
use fewest_study::{Report, Row, differences};
use maud::{Markup, html};

use crate::text::{self, baseline_name, error};

/// A table: its caption, and its rows.
struct Part {
    caption: String,
    lines: Vec<Line>,
}

#[derive(Clone)]
struct Line {
    /// The method, or the number of features; what stands for no selection.
    name: String,
    value: Markup,
    /// The p-value or what else stands beside it.
    beside: Markup,
}

/// The means of metric `m` with their standard errors and p-values.
pub(super) fn of_metric(report: &Report, m: usize, metric: &str) -> Markup {
    let parts = differences::columns(report, m).into_iter().map(|column| {
        let cells = column.cells.iter().enumerate().map(|(i, cell)| Line {
            name: name(report, i, column.k),
            value: html! {
                @if cell.is_best { strong { (text::number(cell.mean, 4)) } } @else { (text::number(cell.mean, 4)) }
                span.quiet { " ± " (error(cell.standard_error)) }
            },
            beside: match &cell.difference {
                Some(difference) => html! { (text::p_value(difference.corrected_t.p_value, 2)) },
                None => html! {},
            },
        });
        (column.k, cells.collect())
    });
    let without = report.baselines.iter().filter_map(|known| {
        let summary = known.summaries.get(m)?;
        Some(Line {
            name: baseline_name(known).to_owned(),
            value: html! {
                (text::number(summary.mean, 4)) span.quiet { " ± " (error(summary.standard_error)) }
            },
            beside: html! {},
        })
    });
    draw(report, metric, &format!("{metric} ± error"), "p", parts.collect(), &without.collect::<Vec<_>>())
}

/// The seconds to select, and to learn and predict.
pub(super) fn of_time(report: &Report, rows: &[Vec<Row>]) -> Markup {
    let parts = report.ks().iter().map(|&k| {
        let of_k =
            rows.iter().enumerate().filter_map(|(i, rows)| Some((i, rows.iter().find(|row| row.k == k)?)));
        let lines = of_k.map(|(i, row)| Line {
            name: name(report, i, k),
            value: html! { (text::number(row.selection_seconds, 2)) },
            beside: html! { (text::number(row.fit_seconds, 2)) },
        });
        (k, lines.collect())
    });
    draw(report, "seconds per fold", "select", "learn", parts.collect(), &[])
}

/// What a row is called: the method, or for a single one the number of features.
fn name(report: &Report, i: usize, k: usize) -> String {
    match report.methods.as_slice() {
        [_] => k_text(k),
        several => several.get(i).map_or(String::new(), |method| method.name.clone()),
    }
}

/// `without` are lines without a selection, which belong to each table.
fn draw(
    report: &Report,
    what: &str,
    value: &str,
    beside: &str,
    of_k: Vec<(usize, Vec<Line>)>,
    without: &[Line],
) -> Markup {
    let is_single = report.methods.len() < 2;
    let part = |caption: String, lines: Vec<Line>| Part {
        caption,
        lines: lines.into_iter().chain(without.iter().cloned()).collect(),
    };
    let parts: Vec<Part> = match is_single {
        true => vec![part(
            format!("{what} by the number of features k"),
            of_k.into_iter().flat_map(|(_, lines)| lines).collect(),
        )],
        false => of_k.into_iter().map(|(k, lines)| part(format!("k = {}", k_text(k)), lines)).collect(),
    };
    let has_beside = parts.iter().flat_map(|part| &part.lines).any(|line| !line.beside.0.is_empty());
    html! {
        div.cards.numbers {
            @for part in parts {
                table.ranking.sortable[is_single] {
                    caption { (part.caption) @if !is_single { span.unseen { ": " (what) } } }
                    thead { tr {
                        th.number[is_single] scope="col" { @if is_single { "k" } @else { "Method" } }
                        th.number scope="col" { (value) }
                        @if has_beside { th.number scope="col" { (beside) } }
                    } }
                    tbody {
                        @for line in &part.lines {
                            tr {
                                th.name.number[is_single] scope="row" { (line.name) }
                                td.number { (line.value) }
                                @if has_beside { td.number { (line.beside) } }
                            }
                        }
                    }
                }
            }
        }
    }
}
