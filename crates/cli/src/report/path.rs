//! The coefficients against the penalty.

use fewest::core::{Path, PathPoint, Selection};
use fewest_study::RunInfo;
use maud::{Markup, html};

use super::chart::{self, Axis, WIDE};
use super::scale::{Scale, logarithmic_ticks, ticks};
use super::{at, figure, section as wrap};

/// Number of lines with their own colour and label; the others are grey.
const MOST_LABELLED: usize = 20;
/// Number of grey lines, those of the features that entered first.
const MOST_OTHERS: usize = 60;
/// Points of the path that are drawn: evenly spaced ones of a longer path.
const MOST_POINTS: usize = 60;
const HEIGHT: f64 = 300.0;
/// Segments drawn between two points: the path is linear in the penalty, not in its logarithm.
const PIECES: usize = 8;

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
    height: f64,
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
        let mut others: Vec<usize> = path.entered.iter().copied().filter(|j| !labelled.contains(j)).collect();
        others.truncate(MOST_OTHERS);
        let height = (chart::LABEL_GAP * labelled.len() as f64).max(HEIGHT);
        let points = thinned(points);
        Some(Self {
            x: Scale::logarithmic((first, last), (0.0, WIDE)),
            y: Scale::linear((0.0, largest), (height, 0.0)),
            penalties: (last, first),
            points,
            labelled,
            others,
            largest,
            height,
        })
    }

    fn draw(&self, run: &RunInfo) -> Markup {
        let name = |j: usize| run.data.name(j);
        let labelled = || self.labelled.iter().enumerate().map(|(i, &j)| (name(j), i));
        let end = self.points.len() - 1;
        let places = self.labelled.iter().map(|&j| self.y.place(self.coefficient(end, j)));
        let ends = labelled().zip(places).map(|((name, i), place)| (name, i, place)).collect();
        let (low, high) = self.penalties;
        let penalties = logarithmic_ticks(low, high);
        let lines = html! {
            g.others { @for &j in &self.others { path d=(self.line(j)) { title { (name(j)) } } } }
            @for (i, &j) in self.labelled.iter().enumerate() {
                path class={ "line " (chart::colour(i)) } stroke-dasharray=[chart::dash(i)] d=(self.line(j)) {
                    title { (name(j)) }
                }
            }
        };
        let told: Vec<&str> = labelled().map(|(name, _)| name).collect();
        figure(
            "chart with-names",
            self.height,
            &format!("Coefficients against the penalty, for {}", told.join(", ")),
            html! {
                (chart::vertical(&Axis::new(self.y, ticks(0.0, self.largest), "coefficient")))
                (chart::horizontal(&Axis::new(self.x, penalties, "penalty λ (logarithmic, decreasing)"), self.height))
                (chart::stretched(self.height, lines))
                (chart::names_at_ends(ends, self.height))
            },
            chart::legend(labelled(), false),
        )
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
                if self.x.place(pair[1].lambda) - self.x.place(pair[0].lambda) > 30.0 { PIECES } else { 1 };
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
}

/// The first, the last, and evenly spaced ones between them.
fn thinned(points: Vec<&PathPoint>) -> Vec<&PathPoint> {
    super::sample::evenly(points.len(), MOST_POINTS).filter_map(|at| points.get(at).copied()).collect()
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
