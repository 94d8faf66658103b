//! Similarity of the selected features: a heatmap in the order of a clustering, with its tree.

use fewest::core::{Selection, Similarity};
use fewest_study::RunInfo;
use maud::{Markup, html};

use super::cluster::{Merge, average_linkage, leaf_order};
use super::{at, section as wrap};
use crate::text;

/// Largest number of features drawn; more would be too small to see.
const MOST: usize = 60;
/// Longest name in characters.
const LABEL: usize = 32;
const WIDTH: f64 = 960.0;
const LABELS: f64 = 270.0;
const TREE: f64 = 130.0;
/// Cells of at least this size show their value.
const CELL_WITH_TEXT: f64 = 30.0;
/// Columns at least this wide show their number.
const CELL_WITH_NUMBER: f64 = 18.0;
/// Text on cells darker than this has the colour of the background.
const DARK: f64 = 0.55;

pub(super) fn section(similarity: &Similarity, selection: &Selection, run: &RunInfo) -> Markup {
    let n = similarity.len.min(selection.order.len()).min(MOST);
    if n < 2 || similarity.values.len() < similarity.len * similarity.len {
        return html! {};
    }
    let shown =
        if n < selection.order.len() { format!(" The {n} best features are drawn.") } else { String::new() };
    let explanation = format!(
        "Similarity of each pair of selected features, from 0 (nothing in common) to 1 (the same). The tree at \
         the left joins similar features: the further to the right, the more similar they are.{shown}"
    );
    wrap(
        "redundancy",
        "Redundancy of the selected features",
        &explanation,
        draw(similarity, selection, run, n),
    )
}

fn draw(similarity: &Similarity, selection: &Selection, run: &RunInfo, n: usize) -> Markup {
    let value = |i: usize, j: usize| similarity.values[i + j * similarity.len];
    let distances: Vec<f64> = (0..n * n)
        .map(|at| value(at % n, at / n))
        .map(|value| if value.is_nan() { 1.0 } else { (1.0 - value).max(0.0) })
        .collect();
    let merges = average_linkage(&distances, n);
    let order = leaf_order(&merges, n);
    let cell = ((WIDTH - LABELS - TREE - 16.0) / n as f64).min(40.0);
    let (left, top) = (TREE + 8.0, 22.0);
    let side = cell * n as f64;
    let center = |at: usize| (at as f64 + 0.5) * cell;
    let height = top + side + 44.0;
    let name = |i: usize| selection.order.get(i).map_or("", |&j| run.data.name(j));
    html! {
        figure {
            svg.heatmap viewBox=(format!("0 0 {WIDTH} {}", at(height))) role="img"
                aria-label="Similarity of the selected features" {
                (tree(&merges, &order, cell, top))
                @for (row, &i) in order.iter().enumerate() {
                    @for (column, &j) in order.iter().enumerate() {
                        (one_cell(value(i, j), [left + column as f64 * cell, top + row as f64 * cell], cell,
                            &format!("{} and {}", name(i), name(j))))
                    }
                    text x=(at(left + side + 10.0)) y=(at(top + center(row))) dy="0.32em"
                        style=(font_size(cell)) {
                        tspan.quiet { (i + 1) } " " (text::shortened(name(i), LABEL))
                    }
                    @if cell >= CELL_WITH_NUMBER { text.quiet x=(at(left + center(row))) y=(at(top - 7.0)) text-anchor="middle"
                        style=(font_size(cell)) { (i + 1) } }
                }
                (legend(left, top + side + 16.0))
            }
        }
    }
}

/// Names as large as their row allows. This is a style, because the style sheet overrides an attribute.
fn font_size(cell: f64) -> String {
    format!("font-size:{}px", at((cell * 0.8).clamp(6.0, 13.0)))
}

fn one_cell(value: f64, [x, y]: [f64; 2], cell: f64, names: &str) -> Markup {
    let shade = if value.is_nan() { 0.0 } else { value.clamp(0.0, 1.0) };
    let gap = if cell > 14.0 { 1.0 } else { 0.0 };
    html! {
        g {
            rect.cell x=(at(x)) y=(at(y)) width=(at(cell - gap)) height=(at(cell - gap))
                fill-opacity=(format!("{shade:.2}")) {
                title { (names) ": " (text::number(value, 3)) }
            }
            @if cell >= CELL_WITH_TEXT && value.is_finite() {
                text.value.on-dark[shade > DARK] x=(at(x + cell / 2.0)) y=(at(y + cell / 2.0)) dy="0.32em"
                    text-anchor="middle" { (format!("{value:.2}")) }
            }
        }
    }
}

/// The tree at the left: leaves at the heatmap, the root at the left edge.
fn tree(merges: &[Merge], order: &[usize], cell: f64, top: f64) -> Markup {
    let highest = merges.iter().map(|merge| merge.height).fold(0.0, f64::max);
    let x = |height: f64| if highest > 0.0 { TREE - (TREE - 8.0) * height / highest } else { TREE - 8.0 };
    let mut places = vec![(0.0, 0.0); order.len()];
    for (row, &leaf) in order.iter().enumerate() {
        places[leaf] = (TREE, top + (row as f64 + 0.5) * cell);
    }
    let mut d = String::new();
    for merge in merges {
        let (a, b) = (places[merge.left], places[merge.right]);
        let joint = x(merge.height);
        d.push_str(&format!("M{} {}H{}V{}H{}", at(a.0), at(a.1), at(joint), at(b.1), at(b.0)));
        places.push((joint, (a.1 + b.1) / 2.0));
    }
    html! { path.tree d=(d) {} }
}

fn legend(x: f64, y: f64) -> Markup {
    const STEPS: usize = 11;
    const STEP: f64 = 14.0;
    html! {
        g.legend {
            text.quiet x=(at(x)) y=(at(y + 7.0)) dy="0.32em" { "0" }
            @for step in 0..STEPS {
                rect.cell x=(at(x + 14.0 + step as f64 * STEP)) y=(at(y)) width=(at(STEP)) height="14"
                    fill-opacity=(format!("{:.2}", step as f64 / (STEPS - 1) as f64)) {}
            }
            text.quiet x=(at(x + 20.0 + STEPS as f64 * STEP)) y=(at(y + 7.0)) dy="0.32em" { "1" }
        }
    }
}
