//! The coefficients against the penalty.

use fewest::core::{Path, PathChoice, PathPoint, Selection};
use fewest_study::RunInfo;
use maud::{Markup, html};

use super::chart::{self, Axis, WIDE};
use super::scale::{Scale, logarithmic_ticks, padded, ticks};
use super::{at, figure, section as wrap};
use crate::text;

/// Number of lines with their own colour and label; the others are grey.
const MOST_LABELLED: usize = 20;
/// Number of grey lines, those of the features that entered first.
const MOST_OTHERS: usize = 60;
/// Points of the path that are drawn: evenly spaced ones of a longer path.
const MOST_POINTS: usize = 60;
const HEIGHT: f64 = 300.0;
/// Of the criterion below it.
const CRITERION: f64 = 160.0;
const PENALTY: &str = "penalty λ (logarithmic, decreasing)";
/// Segments drawn between two points: the path is linear in the penalty, not in its logarithm.
const PIECES: usize = 8;

pub(super) fn section(path: &Path, selection: &Selection, run: &RunInfo) -> Markup {
    let Some(plot) = Plot::new(path, selection) else { return html! {} };
    let explanation = "Each line is the coefficient of a feature; the penalty decreases from left to right. \
                       Features that enter early are the most relevant ones; a line that falls shows a feature \
                       that others replace. Grey lines are features without a label: those that left the \
                       model again, and the last ranks.";
    let drawn = html! {
        (plot.draw(run))
        @if let Some(choice) = &path.choice { (criterion(path, choice)) }
    };
    wrap("path", "Coefficient path", explanation, drawn)
}

/// What was to be small against the penalty, with the point chosen; nothing for fewer than two points that
/// have a value.
fn criterion(path: &Path, choice: &PathChoice) -> Markup {
    let error = |at: usize| choice.standard_errors.get(at).copied().filter(|error| error.is_finite());
    let points: Vec<(usize, f64, f64)> = path
        .points
        .iter()
        .zip(&choice.values)
        .enumerate()
        .filter(|(_, (point, value))| point.lambda > 0.0 && value.is_finite())
        .map(|(at, (point, value))| (at, point.lambda, *value))
        .collect();
    let ([(_, first, _), .., (_, last, _)], Some(chosen)) = (&points[..], path.points.get(choice.chosen))
    else {
        return html! {};
    };
    let ends = |sign: f64| points.iter().map(move |&(at, _, value)| value + sign * error(at).unwrap_or(0.0));
    let least = ends(-1.0).fold(f64::INFINITY, f64::min);
    let most = ends(1.0).fold(f64::NEG_INFINITY, f64::max);
    let (low, high) = padded(least, most);
    let x = Scale::logarithmic((*first, *last), (0.0, WIDE));
    let y = Scale::linear((low, high), (CRITERION, 0.0));
    let (mut line, mut intervals) = (String::new(), String::new());
    for &(place, lambda, value) in &points {
        let pen = if line.is_empty() { 'M' } else { 'L' };
        line.push_str(&format!("{pen}{} {}", at(x.place(lambda)), at(y.place(value))));
        if let Some(error) = error(place) {
            let (top, bottom) = (at(y.place(value + error)), at(y.place(value - error)));
            intervals.push_str(&format!("M{} {bottom}V{top}", at(x.place(lambda))));
        }
    }
    let drawn = html! {
        g class=(chart::colour(0)) {
            path.interval d=(intervals) {}
            path.line d=(line) {}
        }
        path.level d=(format!("M{} 0V{CRITERION}", at(x.place(chosen.lambda)))) {}
    };
    let told = text::number(chosen.lambda, 3);
    figure(
        "chart",
        CRITERION,
        &format!("{} against the penalty; the penalty chosen is {told}", choice.criterion),
        html! {
            (chart::vertical(&Axis::new(y, ticks(low, high), &choice.criterion)))
            (chart::horizontal(&Axis::new(x, logarithmic_ticks(*last, *first), PENALTY), CRITERION))
            (chart::stretched(CRITERION, drawn))
        },
        html! { p { "The vertical line is the penalty that was chosen, " (told) "." } },
    )
}

struct Plot<'a> {
    points: Vec<&'a PathPoint>,
    labelled: Vec<usize>,
    others: Vec<usize>,
    x: Scale,
    y: Scale,
    penalties: (f64, f64),
    range: (f64, f64),
    /// The penalty that was chosen.
    chosen: Option<f64>,
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
        let values = coefficients.map(|&(_, value)| value).filter(|value| value.is_finite());
        let (least, most) = values.fold((0.0_f64, 0.0_f64), |(least, most), v| (least.min(v), most.max(v)));
        if points.len() < 2 || first <= last || most <= least {
            return None;
        }
        let chosen = path.choice.as_ref().and_then(|choice| path.points.get(choice.chosen));
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
            y: Scale::linear((least, most), (height, 0.0)),
            penalties: (last, first),
            range: (least, most),
            chosen: chosen.map(|point| point.lambda).filter(|lambda| *lambda > 0.0),
            points,
            labelled,
            others,
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
            @if let Some(lambda) = self.chosen {
                path.level d=(format!("M{} 0V{}", at(self.x.place(lambda)), at(self.height))) {}
            }
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
                (chart::vertical(&Axis::new(self.y, ticks(self.range.0, self.range.1), "coefficient")))
                (chart::horizontal(&Axis::new(self.x, penalties, PENALTY), self.height))
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
        let draws = |points: Vec<PathPoint>| {
            Plot::new(&Path { points, entered: vec![0], ..Path::default() }, &selection).is_some()
        };
        assert!(!draws(vec![]));
        assert!(!draws(vec![point(1.0, 1.0)]));
        assert!(!draws(vec![point(1.0, 0.0), point(0.5, 0.0)]));
        assert!(!draws(vec![point(1.0, 0.0), point(0.0, 1.0)]));
        assert!(draws(vec![point(1.0, 0.0), point(0.5, 1.0), point(0.0, 2.0)]));
    }

    /// Lines of negative coefficients are inside the drawing, and so is the penalty that was chosen, above
    /// the values that decided.
    #[test]
    fn negative_coefficients_and_the_choice_are_inside_the_drawing() {
        let mut path = Path::default();
        for (lambda, value) in [(1.0, 0.0), (0.5, -1.0), (0.25, -2.0)] {
            path.push(lambda, vec![(0, value)]);
        }
        let selection = Selection::new(vec![0], vec![-2.0], 1, fewest::core::Status::Converged);
        let Some(plot) = Plot::new(&path, &selection) else { panic!("no line") };
        assert_eq!(plot.range, (-2.0, 0.0));
        assert!((0.0..=plot.height).contains(&plot.y.place(-2.0)) && plot.chosen.is_none());
        path.choice = Some(PathChoice {
            criterion: "loss".to_owned(),
            values: vec![1.0, 0.5, f64::INFINITY],
            standard_errors: vec![0.1, 0.2, f64::NAN],
            chosen: 1,
        });
        let Some(plot) = Plot::new(&path, &selection) else { panic!("no line") };
        assert_eq!(plot.chosen, Some(0.5));
        let choice = path.choice.as_ref().map(|choice| criterion(&path, choice).into_string());
        let drawn = choice.unwrap_or_default();
        assert!(drawn.contains("the penalty chosen is 0.5") && !drawn.contains("inf"), "{drawn}");
        assert!(!drawn.contains("NaN"), "{drawn}");
    }
}
