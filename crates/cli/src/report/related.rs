//! For each selected feature, the features most related to it.

use fewest::core::{Related, Selection};
use fewest_study::RunInfo;
use maud::{Markup, html};

use super::{at, section as wrap};
use crate::text;

/// Related features listed for each.
const MOST: usize = 8;

pub(super) fn section(selection: &Selection, run: &RunInfo) -> Markup {
    if selection.related.iter().all(Vec::is_empty) {
        return html! {};
    }
    let explanation = "Features that could replace a selected feature. Relatedness is between 0 \
                       (nothing in common) and 1 (the same); features in bold are also selected.";
    let cards = html! {
        div.cards {
            @for (i, (&j, related)) in selection.order.iter().zip(&selection.related).enumerate() {
                div.card {
                    h3 { span.quiet { (i + 1) } " " (run.data.name(j)) }
                    table.plain {
                        tbody {
                            @for other in related.iter().take(MOST) { (row(other, selection, run)) }
                        }
                    }
                }
            }
        }
    };
    wrap("related", "Related features", explanation, cards)
}

fn row(other: &Related, selection: &Selection, run: &RunInfo) -> Markup {
    let chosen = selection.order.contains(&other.feature);
    let share = if other.relatedness.is_nan() { 0.0 } else { other.relatedness.clamp(0.0, 1.0) };
    html! {
        tr {
            td.name.chosen[chosen] { (run.data.name(other.feature)) }
            td.bar {
                svg.bar viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true" {
                    rect.track x="0" y="0" width="100" height="8" {}
                    rect.fill x="0" y="0" width=(at(100.0 * share)) height="8" {}
                }
            }
            td.number { (text::number(other.relatedness, 2)) }
        }
    }
}
