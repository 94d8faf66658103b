//! The chosen features, best first, with a bar for each score, and their names to copy.

use fewest::core::Selection;
use fewest_study::RunInfo;
use maud::{Markup, html};

use super::{at, names, section as wrap};
use crate::text;

/// Rows of the table; the list of names has all of them.
const MOST_ROWS: usize = 400;
/// Longest name of a related feature in characters; the section on related features has it whole.
const RELATED: usize = 26;

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
        table.ranking.sortable {
            caption.unseen { "The selected features, best first" }
            thead {
                tr {
                    th.number scope="col" { "Rank" }
                    th scope="col" { "Feature" }
                    th.number scope="col" { "Column" }
                    th.number scope="col" { "Score" }
                    @if selection.q_values.is_some() {
                        th.number.if-wide scope="col" { "p" }
                        th.number scope="col" { "q" }
                    }
                    td.bar.if-wide { }
                    @if has_related { th.related.if-wide scope="col" { "Most related" } }
                }
            }
            tbody {
                @for (i, (&j, &score)) in selection.order.iter().zip(&selection.scores).enumerate().take(MOST_ROWS) {
                    tr {
                        td.number { (i + 1) }
                        th.name scope="row" { (run.data.name(j)) }
                        td.number.quiet { @if let Some(column) = run.data.column(j) { (column) } }
                        td.number { (text::number(score, 4)) }
                        @if let (Some(p), Some(q)) = (&selection.p_values, &selection.q_values) {
                            td.number.if-wide { (p.get(i).map_or(String::new(), |p| text::p_value(*p, 2))) }
                            td.number { (q.get(i).map_or(String::new(), |q| text::p_value(*q, 2))) }
                        }
                        td.bar.if-wide { (bar(widths.get(i).copied().unwrap_or(0.0))) }
                        @if has_related { td.quiet.if-wide { (most_related(selection, run, i)) } }
                    }
                }
            }
        }
    };
    let names = selection.order.iter().map(|&j| run.data.name(j));
    let list = names::to_copy(names, "Names of the selected features, best first, one a line");
    let shown = match selection.order.len() > MOST_ROWS {
        true => format!(" The {MOST_ROWS} best features are shown; the list below has the names of all."),
        false => String::new(),
    };
    let tested = match selection.q_values {
        Some(_) => {
            " p is the p-value of the feature alone; of the features with q ≤ 0.05, at most 5 % are expected to be \
             unrelated to the target."
        }
        None => "",
    };
    let explanation = format!("Columns are counted from 0 in the file.{tested}{shown}");
    wrap("ranking", "Ranked features", &explanation, html! { (table) (list) })
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

/// A bar that is filled to this share.
pub(super) fn bar(share: f64) -> Markup {
    html! {
        svg.bar width="100%" height="8" aria-hidden="true" {
            rect.track width="100%" height="8" {}
            rect.fill width={ (at(100.0 * share)) "%" } height="8" {}
        }
    }
}

fn most_related(selection: &Selection, run: &RunInfo, i: usize) -> Markup {
    let related = selection.related.get(i).and_then(|related| related.first());
    html! {
        @if let Some(other) = related {
            span.name { (text::shortened(run.data.name(other.feature), RELATED)) } " " (text::number(other.relatedness, 2))
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
