//! The coefficients against the penalty.

use fewest::core::{Path, PathPoint, Selection};
use fewest_study::RunInfo;
use maud::{Markup, html};

use super::scale::{Scale, logarithmic_ticks, spread, ticks};
use super::{at, section as wrap};
use crate::text;

/// Number of lines with their own colour and label; the others are grey.
const MOST_LABELLED: usize = 20;
/// Colours in the style sheet.
const COLOURS: usize = 10;
/// Longest label in characters.
const LABEL: usize = 26;
const WIDTH: f64 = 960.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 760.0;
const TOP: f64 = 16.0;
const LABEL_GAP: f64 = 16.0;
/// Segments drawn between two points: the path is linear in the penalty, not in its logarithm.
const PIECES: usize = 12;

pub(super) fn section(path: &Path, selection: &Selection, run: &RunInfo) -> Markup {
    let Some(plot) = Plot::new(path, selection) else { return html! {} };
    let explanation = "Each line is the coefficient of a feature; the penalty decreases from left to right. \
                       Features that enter early are the most relevant ones; a line that falls shows a feature \
                       that others replace. Grey lines are features without a label: those that left the \
                       model again, and the last ranks.";
    wrap("path", "Coefficient path", explanation, plot.draw(run))
}

struct Plot<'a> {
    points: Vec<&'a PathPoint>,
    labelled: Vec<usize>,
    others: Vec<usize>,
    x: Scale,
    y: Scale,
    penalties: (f64, f64),
    largest: f64,
    bottom: f64,
}

impl<'a> Plot<'a> {
    /// `None` if there is no line to draw.
    fn new(path: &'a Path, selection: &Selection) -> Option<Self> {
        let usable = |point: &&PathPoint| point.lambda.is_finite() && point.lambda > 0.0;
        let points: Vec<&PathPoint> = path.points.iter().filter(usable).collect();
        let (first, last) = (points.first()?.lambda, points.last()?.lambda);
        let coefficients = points.iter().flat_map(|point| &point.coefficients);
        let mut on_path: Vec<usize> = coefficients.clone().map(|&(j, _)| j).collect();
        on_path.sort_unstable();
        on_path.dedup();
        let largest =
            coefficients.map(|&(_, value)| value).filter(|value| value.is_finite()).fold(0.0, f64::max);
        if points.len() < 2 || first <= last || largest <= 0.0 {
            return None;
        }
        let labelled: Vec<usize> = selection
            .order
            .iter()
            .copied()
            .filter(|j| on_path.binary_search(j).is_ok())
            .take(MOST_LABELLED)
            .collect();
        let others = on_path.into_iter().filter(|j| !labelled.contains(j)).collect();
        let bottom = TOP + (LABEL_GAP * labelled.len() as f64).max(300.0);
        Some(Self {
            x: Scale::logarithmic((first, last), (LEFT, RIGHT)),
            y: Scale::linear((0.0, largest), (bottom, TOP)),
            penalties: (last, first),
            points,
            labelled,
            others,
            largest,
            bottom,
        })
    }

    fn draw(&self, run: &RunInfo) -> Markup {
        let height = self.bottom + 48.0;
        html! {
            figure {
                svg.path viewBox=(format!("0 0 {WIDTH} {}", at(height))) role="img"
                    aria-label="Coefficients against the penalty" {
                    (self.axes())
                    g.others {
                        @for &j in &self.others { path d=(self.line(j)) { title { (run.data.name(j)) } } }
                    }
                    @for (i, &j) in self.labelled.iter().enumerate() {
                        path class=(format!("line c{}", i % COLOURS)) stroke-dasharray=[(i >= COLOURS).then_some("6 3")]
                            d=(self.line(j)) {
                            title { (run.data.name(j)) }
                        }
                    }
                    (self.labels(run))
                }
            }
        }
    }

    fn axes(&self) -> Markup {
        let (low, high) = self.penalties;
        let middle = (LEFT + RIGHT) / 2.0;
        html! {
            g.axes {
                @for value in ticks(0.0, self.largest, 5) {
                    @let y = at(self.y.place(value));
                    line.grid x1=(LEFT) x2=(RIGHT) y1=(y) y2=(y) {}
                    text x=(LEFT - 8.0) y=(y) dy="0.32em" text-anchor="end" { (text::short(value, 3)) }
                }
                @for value in logarithmic_ticks(low, high) {
                    @let x = at(self.x.place(value));
                    line.tick x1=(x) x2=(x) y1=(at(self.bottom)) y2=(at(self.bottom + 4.0)) {}
                    text x=(x) y=(at(self.bottom + 18.0)) text-anchor="middle" { (text::short(value, 3)) }
                }
                line.axis x1=(LEFT) x2=(RIGHT) y1=(at(self.bottom)) y2=(at(self.bottom)) {}
                text.title x=(middle) y=(at(self.bottom + 40.0)) text-anchor="middle" {
                    "penalty λ (logarithmic, decreasing)"
                }
            }
        }
    }

    /// The coefficient of feature `j` at point `i`.
    fn coefficient(&self, i: usize, j: usize) -> f64 {
        let found = self.points.get(i).and_then(|point| {
            point.coefficients.iter().find(|(feature, _)| *feature == j).map(|&(_, value)| value)
        });
        found.filter(|value| value.is_finite()).unwrap_or(0.0)
    }

    fn line(&self, j: usize) -> String {
        let mut d = String::new();
        let mut pen_down = false;
        for (i, pair) in self.points.windows(2).enumerate() {
            let (from, to) = (self.coefficient(i, j), self.coefficient(i + 1, j));
            if from == 0.0 && to == 0.0 {
                pen_down = false;
                continue;
            }
            let pieces =
                if self.x.place(pair[1].lambda) - self.x.place(pair[0].lambda) > 8.0 { PIECES } else { 1 };
            if !pen_down {
                d.push_str(&format!("M{} {}", at(self.x.place(pair[0].lambda)), at(self.y.place(from))));
                pen_down = true;
            }
            for piece in 1..=pieces {
                let share = piece as f64 / pieces as f64;
                let lambda = pair[0].lambda + share * (pair[1].lambda - pair[0].lambda);
                let value = from + share * (to - from);
                d.push_str(&format!("L{} {}", at(self.x.place(lambda)), at(self.y.place(value))));
            }
        }
        d
    }

    fn labels(&self, run: &RunInfo) -> Markup {
        let end = self.points.len() - 1;
        let mut ends: Vec<(f64, usize)> = self
            .labelled
            .iter()
            .enumerate()
            .map(|(i, &j)| (self.y.place(self.coefficient(end, j)), i))
            .collect();
        ends.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let places: Vec<f64> = ends.iter().map(|(y, _)| *y).collect();
        let spread = spread(&places, LABEL_GAP, TOP, self.bottom);
        html! {
            g.labels {
                @for (&(y, i), label) in ends.iter().zip(spread) {
                    @let name = self.labelled.get(i).map_or("", |&j| run.data.name(j));
                    path class=(format!("leader c{}", i % COLOURS))
                        d=(format!("M{} {}L{} {}", RIGHT + 2.0, at(y), RIGHT + 14.0, at(label))) {}
                    text class=(format!("c{}", i % COLOURS)) x=(RIGHT + 18.0) y=(at(label)) dy="0.32em" {
                        (text::shortened(name, LABEL))
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_without_two_penalties_draws_nothing() {
        let point = |lambda, value| PathPoint { lambda, coefficients: vec![(0, value)] };
        let selection = Selection::new(vec![0], vec![1.0], 1, fewest::core::Status::Converged);
        let draws = |points| Plot::new(&Path { points, entered: vec![0] }, &selection).is_some();
        assert!(!draws(vec![]));
        assert!(!draws(vec![point(1.0, 1.0)]));
        assert!(!draws(vec![point(1.0, 0.0), point(0.5, 0.0)]));
        assert!(!draws(vec![point(1.0, 0.0), point(0.0, 1.0)]));
        assert!(draws(vec![point(1.0, 0.0), point(0.5, 1.0), point(0.0, 2.0)]));
    }
}
