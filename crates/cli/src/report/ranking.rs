//! The chosen features, best first, with a bar for each score.

use fewest::core::Selection;
use fewest_study::RunInfo;
use maud::{Markup, html};

use super::{at, section as wrap};
use crate::text;

/// Related features named in the table; their own section has the rest.
const RELATED: usize = 1;

pub(super) fn section(selection: &Selection, run: &RunInfo) -> Markup {
    if selection.order.is_empty() {
        return wrap(
            "ranking",
            "Ranked features",
            "No feature was selected; the notes below say why.",
            html! {},
        );
    }
    let widths = bar_widths(&selection.scores);
    let has_related = selection.related.iter().any(|related| !related.is_empty());
    let table = html! {
        table.ranking {
            thead {
                tr {
                    th.number { "Rank" }
                    th { "Feature" }
                    th.number { "Column" }
                    th.number { "Score" }
                    th.bar { }
                    @if has_related { th { "Most related" } }
                }
            }
            tbody {
                @for (i, (&j, &score)) in selection.order.iter().zip(&selection.scores).enumerate() {
                    tr {
                        td.number { (i + 1) }
                        td.name { (run.data.name(j)) }
                        td.number.quiet { (j) }
                        td.number { (text::number(score, 4)) }
                        td.bar { (bar(widths.get(i).copied().unwrap_or(0.0))) }
                        @if has_related {
                            td.quiet { (most_related(selection, run, i)) }
                        }
                    }
                }
            }
        }
    };
    wrap("ranking", "Ranked features", "Columns are counted from 0 among the features.", table)
}

/// The share of the bar each score fills: its size against the largest finite one.
fn bar_widths(scores: &[f64]) -> Vec<f64> {
    let largest = scores.iter().map(|score| score.abs()).filter(|size| size.is_finite()).fold(0.0, f64::max);
    let share = |score: f64| {
        if score.is_nan() || score == 0.0 {
            0.0
        } else if score.is_infinite() || largest == 0.0 {
            1.0
        } else {
            score.abs() / largest
        }
    };
    scores.iter().map(|&score| share(score)).collect()
}

fn bar(share: f64) -> Markup {
    html! {
        svg.bar viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true" {
            rect.track x="0" y="0" width="100" height="8" {}
            rect.fill x="0" y="0" width=(at(100.0 * share)) height="8" {}
        }
    }
}

fn most_related(selection: &Selection, run: &RunInfo, i: usize) -> Markup {
    let related = selection.related.get(i).map_or(&[][..], Vec::as_slice);
    html! {
        @for (at, other) in related.iter().take(RELATED).enumerate() {
            @if at > 0 { ", " }
            span.name { (run.data.name(other.feature)) } " " (text::number(other.relatedness, 2))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_shares_of_the_largest_finite_score() {
        assert_eq!(bar_widths(&[2.0, -1.0, 0.0, f64::NAN, f64::INFINITY]), [1.0, 0.5, 0.0, 0.0, 1.0]);
        assert_eq!(bar_widths(&[0.0]), [0.0]);
    }
}
