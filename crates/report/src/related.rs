//! For each selected feature, the features most related to it.

use fewest::core::{Related, Selection};
use fewest_study::RunInfo;
use maud::{Markup, html};

use super::{ranking, section as wrap};
use crate::text;

/// Related features listed for each.
const MOST: usize = 8;
/// Selected features whose related ones are listed.
const MOST_CARDS: usize = 60;

pub(super) fn section(selection: &Selection, run: &RunInfo) -> Markup {
    if selection.related.iter().all(Vec::is_empty) {
        return html! {};
    }
    let shown = match selection.related.len() > MOST_CARDS {
        true => format!(" The {MOST_CARDS} best features are shown."),
        false => String::new(),
    };
    let explanation = format!(
        "Features that could replace a selected feature. Relatedness is between 0 (nothing in common) and 1 (the \
         same); features in bold are also selected.{shown}"
    );
    let cards = html! {
        div.cards {
            @for (i, (&j, related)) in selection.order.iter().zip(&selection.related).enumerate().take(MOST_CARDS) {
                div.card {
                    h3 { span.quiet { (i + 1) } " " (run.data.name(j)) }
                    table.plain {
                        caption.unseen { "Features most related to " (run.data.name(j)) }
                        tbody {
                            @for other in related.iter().take(MOST) { (row(other, selection, run)) }
                        }
                    }
                }
            }
        }
    };
    wrap("related", "Related features", &explanation, cards)
}

fn row(other: &Related, selection: &Selection, run: &RunInfo) -> Markup {
    let chosen = selection.order.contains(&other.feature);
    let share = if other.relatedness.is_nan() { 0.0 } else { other.relatedness.clamp(0.0, 1.0) };
    html! {
        tr {
            th.name.chosen[chosen] scope="row" { (run.data.name(other.feature)) }
            td.bar { (ranking::bar(share)) }
            td.number { (text::number(other.relatedness, 2)) }
        }
    }
}
