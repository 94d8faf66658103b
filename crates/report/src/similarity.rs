//! Similarity of the selected features: a matrix in the order of a clustering, with its tree.

use fewest::core::{Selection, Similarity};
use fewest_study::RunInfo;
use maud::{Markup, html};

use super::cluster::{Merge, average_linkage, leaf_order};
use super::matrix::{self, ROW};
use super::{at, section as wrap};

/// Largest number of features drawn; more would be too small to see.
const MOST: usize = 60;
/// Width of the tree.
const TREE: f64 = 110.0;
/// Up to this many features, cells show their value; up to the second, on a narrow screen too.
const WITH_VALUES: usize = 14;
const WITH_VALUES_IF_NARROW: usize = 5;
/// Levels from this one on are dark.
const DARK: usize = 6;

pub(super) fn section(similarity: &Similarity, selection: &Selection, run: &RunInfo) -> Markup {
    let n = similarity.len.min(selection.order.len()).min(MOST);
    if n < 2 || similarity.values.len() < similarity.len * similarity.len {
        return html! {};
    }
    let shown =
        if n < selection.order.len() { format!(" The {n} best features are drawn.") } else { String::new() };
    let explanation = format!(
        "Similarity of each pair of selected features, from 0 (nothing in common) to 1 (the same), in the same \
         order from left to right as from top to bottom. The tree joins similar features: the nearer to the \
         matrix, the more similar they are.{shown}"
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
    let name = |i: usize| selection.order.get(i).map_or("", |&j| run.data.name(j));
    let height = at(ROW * n as f64);
    html! {
        figure.matrix.with-tree style=(format!("--n:{n}")) {
            svg.tree width=(TREE) height=(height) aria-hidden="true" { (tree(&merges, &order)) }
            svg height=(height) role="img" aria-label={ "Similarity of the " (n) " selected features: " (told(&order, value, name)) } {
                (matrix::cells("s", n, n, |row, column| matrix::level(value(order[row], order[column]))))
                @if n <= WITH_VALUES { (values(&order, value)) }
            }
            (matrix::names(order.iter().map(|&i| (i + 1, name(i)))))
        }
        (matrix::legend("s", "0", "1"))
    }
}

/// The most similar pair, in words.
fn told<'a>(order: &[usize], value: impl Fn(usize, usize) -> f64, name: impl Fn(usize) -> &'a str) -> String {
    let pairs = order.iter().flat_map(|&i| order.iter().map(move |&j| (i, j)));
    let pairs = pairs.filter(|&(i, j)| i < j && value(i, j).is_finite());
    let best = pairs.max_by(|a, b| value(a.0, a.1).total_cmp(&value(b.0, b.1)));
    best.map_or(String::new(), |(i, j)| {
        format!("the most similar are {} and {}, {:.2}", name(i), name(j), value(i, j))
    })
}

fn values(order: &[usize], value: impl Fn(usize, usize) -> f64) -> Markup {
    let n = order.len();
    let place = |column: usize| format!("{:.2}%", 100.0 * (column as f64 + 0.5) / n as f64);
    html! {
        g.if-wide[n > WITH_VALUES_IF_NARROW] {
            @for (row, &i) in order.iter().enumerate() {
                @for (column, &j) in order.iter().enumerate() {
                    @if value(i, j).is_finite() {
                        text.on-dark[matrix::level(value(i, j)) >= DARK] x=(place(column)) text-anchor="middle"
                            y=(at((row as f64 + 0.5) * ROW)) dy="0.32em" { (format!("{:.2}", value(i, j))) }
                    }
                }
            }
        }
    }
}

/// The tree at the left: leaves at the matrix, the root at the left edge.
fn tree(merges: &[Merge], order: &[usize]) -> Markup {
    let highest = merges.iter().map(|merge| merge.height).fold(0.0, f64::max);
    let x = |height: f64| if highest > 0.0 { TREE - (TREE - 8.0) * height / highest } else { TREE - 8.0 };
    let mut places = vec![(0.0, 0.0); order.len()];
    for (row, &leaf) in order.iter().enumerate() {
        places[leaf] = (TREE, (row as f64 + 0.5) * ROW);
    }
    let mut d = String::new();
    for merge in merges {
        let (a, b) = (places[merge.left], places[merge.right]);
        let joint = x(merge.height);
        d.push_str(&format!("M{} {}H{}V{}H{}", at(a.0), at(a.1), at(joint), at(b.1), at(b.0)));
        places.push((joint, (a.1 + b.1) / 2.0));
    }
    html! { path d=(d) {} }
}
