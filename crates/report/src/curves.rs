//! Values against the number of features, one line per method.

use fewest::eval::k_text;
use maud::{Markup, html};

use super::chart::{self, Axis, WIDE};
use super::scale::{Scale, padded, ticks};
use super::{at, figure};
use crate::text;

/// Share of the distance of two numbers of features that the intervals of all methods take.
const SHARE: f64 = 0.6;
/// Largest distance between the intervals of two methods at the same number of features.
const DODGE: f64 = 9.0;
const HEIGHT: f64 = 300.0;

/// A value with its interval.
pub(super) struct Point {
    /// The number of features.
    pub k: usize,
    /// The value.
    pub value: f64,
    /// The interval's lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

impl Point {
    fn has_place(&self) -> bool {
        [self.value, self.low, self.high].iter().all(|value| value.is_finite())
    }
}

/// The points of a method, by increasing number of features.
pub(super) struct Line<'a> {
    /// The method's name.
    pub name: &'a str,
    /// The points.
    pub points: Vec<Point>,
}

impl Line<'_> {
    fn drawn(&self) -> impl DoubleEndedIterator<Item = &Point> {
        self.points.iter().filter(|point| point.has_place())
    }
}

/// A value that does not depend on the number of features.
pub(super) struct Level<'a> {
    /// Its name.
    pub name: &'a str,
    /// The value.
    pub value: f64,
}

/// The drawing, with the vertical axis labelled `title`, and at most two levels across; nothing if no point
/// can be drawn.
pub(super) fn draw(lines: &[Line<'_>], levels: &[Level<'_>], title: &str) -> Markup {
    let points = || lines.iter().flat_map(Line::drawn);
    let levels: Vec<&Level<'_>> = levels.iter().filter(|level| level.value.is_finite()).collect();
    let values = || levels.iter().map(|level| level.value);
    let least = points().map(|point| point.low).chain(values()).fold(f64::INFINITY, f64::min);
    let most = points().map(|point| point.high).chain(values()).fold(f64::NEG_INFINITY, f64::max);
    let mut ks: Vec<usize> = points().map(|point| point.k).collect();
    ks.sort_unstable();
    ks.dedup();
    if ks.is_empty() {
        return html! {};
    }
    let (low, high) = padded(least, most);
    let drawn: Vec<(usize, &Line<'_>)> =
        lines.iter().enumerate().filter(|(_, line)| line.drawn().next().is_some()).collect();
    let height = (chart::LABEL_GAP * drawn.len() as f64).max(HEIGHT);
    let x = Places { ks: &ks };
    let y = Axis::new(Scale::linear((low, high), (height, 0.0)), ticks(low, high), title);
    let labels = ks.iter().map(|&k| (x.place(k), k_text(k))).collect();
    let step = (SHARE * x.gap() / drawn.len() as f64).min(DODGE);
    let middle = (drawn.len() as f64 - 1.0) / 2.0;
    let lines: Vec<Placed<'_>> = drawn
        .iter()
        .enumerate()
        .map(|(at, &(i, line))| Placed { i, line, x, y: y.scale, aside: (at as f64 - middle) * step })
        .collect();
    let told = lines.iter().map(Placed::told);
    let told_levels = levels.iter().map(|level| format!("{}: {}", level.name, text::number(level.value, 3)));
    let told: Vec<String> = told.chain(told_levels).collect();
    let ends = lines.iter().filter_map(|line| Some((line.line.name, line.i, line.end()?))).collect();
    figure(
        "chart with-names",
        height,
        &format!("{title} against the number of features. {}", told.join("; ")),
        html! {
            (chart::vertical(&y))
            (chart::horizontal(&Axis { scale: Scale::linear((0.0, WIDE), (0.0, WIDE)), ticks: labels, title: "number of features" }, height))
            (across(&levels, y.scale, height))
            @for line in &lines { (line.draw(height)) }
            (chart::names_at_ends(ends, height))
        },
        chart::legend(drawn.iter().map(|&(i, line)| (line.name, i)), true),
    )
}

/// The levels, with their names at the left and the right, so that these never meet.
fn across(levels: &[&Level<'_>], y: Scale, height: f64) -> Markup {
    let path = |level: &&Level<'_>| format!("M0 {}H{WIDE}", at(y.place(level.value)));
    let d: String = levels.iter().map(path).collect();
    html! {
        @if !levels.is_empty() { (chart::stretched(height, html! { path.level d=(d) {} })) }
        @for (i, level) in levels.iter().enumerate() {
            @let (x, anchor) = if i == 0 { ("0", "start") } else { ("100%", "end") };
            text.quiet x=(x) y=(at(y.place(level.value) - 5.0)) text-anchor=(anchor) { (level.name) }
        }
    }
}

/// Where the numbers of features lie: in equal distances, so that many fit, and neighbours never overlap.
#[derive(Clone, Copy)]
struct Places<'a> {
    ks: &'a [usize],
}

impl Places<'_> {
    fn gap(&self) -> f64 {
        WIDE / self.ks.len() as f64
    }

    fn place(&self, k: usize) -> f64 {
        (self.ks.partition_point(|&other| other < k) as f64 + 0.5) * self.gap()
    }
}

/// A line with its places.
struct Placed<'a> {
    i: usize,
    line: &'a Line<'a>,
    x: Places<'a>,
    y: Scale,
    /// Moves the line aside, so that intervals do not hide each other.
    aside: f64,
}

impl Placed<'_> {
    fn place(&self, point: &Point) -> f64 {
        self.x.place(point.k) + self.aside
    }

    fn end(&self) -> Option<f64> {
        self.line.drawn().next_back().map(|point| self.y.place(point.value))
    }

    fn told(&self) -> String {
        let told = |point: &Point| format!("{} at {}", text::number(point.value, 3), k_text(point.k));
        let ends = [self.line.drawn().next(), self.line.drawn().next_back()];
        format!("{}: {}", self.line.name, ends.into_iter().flatten().map(told).collect::<Vec<_>>().join(", "))
    }

    fn draw(&self, height: f64) -> Markup {
        let (mut line, mut intervals) = (String::new(), String::new());
        for point in self.line.drawn() {
            let x = at(self.place(point));
            let pen = if line.is_empty() { 'M' } else { 'L' };
            line.push_str(&format!("{pen}{x} {}", at(self.y.place(point.value))));
            intervals.push_str(&format!(
                "M{x} {}V{}",
                at(self.y.place(point.low)),
                at(self.y.place(point.high))
            ));
        }
        let stretched = html! {
            path.interval d=(intervals) {}
            path.line d=(line) stroke-dasharray=[chart::dash(self.i)] {}
        };
        html! {
            g class=(chart::colour(self.i)) {
                (chart::stretched(height, stretched))
                @for point in self.line.drawn() {
                    (chart::point(self.i, self.place(point), self.y.place(point.value), &format!(
                        "{}, k = {}: {}, {} to {}", self.line.name, k_text(point.k), text::number(point.value, 4),
                        text::number(point.low, 4), text::number(point.high, 4)
                    )))
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(points: &[(usize, f64)]) -> Line<'static> {
        let points = points.iter().map(|&(k, value)| Point { k, value, low: value - 0.1, high: value + 0.1 });
        Line { name: "a", points: points.collect() }
    }

    #[test]
    fn points_without_a_place_are_left_out() {
        assert_eq!(draw(&[], &[], "x").into_string(), "");
        assert_eq!(draw(&[line(&[])], &[], "x").into_string(), "");
        assert_eq!(draw(&[line(&[(1, f64::NAN)])], &[], "x").into_string(), "");
        let drawn = draw(&[line(&[(1, 0.5), (2, f64::INFINITY), (4, 0.75)])], &[], "x").into_string();
        assert!(!drawn.contains("NaN") && !drawn.contains("inf"), "{drawn}");
        assert_eq!(drawn.matches("<title>").count(), 2);
    }

    #[test]
    fn a_single_point_has_a_place() {
        let drawn = draw(&[line(&[(5, 0.5)])], &[], "x").into_string();
        assert!(!drawn.contains("NaN") && !drawn.contains("inf"), "{drawn}");
    }

    /// A level far from all points has a place in the drawing; one without a value has none.
    #[test]
    fn levels_are_inside_the_drawing() {
        let levels = [Level { name: "none", value: 20.0 }, Level { name: "all", value: f64::INFINITY }];
        let drawn = draw(&[line(&[(1, 0.5)])], &levels, "x").into_string();
        let Some((_, path)) = drawn.split_once("<path class=\"level\" d=\"M0 ") else { panic!("{drawn}") };
        let place: f64 = path.split('H').next().and_then(|place| place.parse().ok()).unwrap_or(f64::NAN);
        assert!((0.0..=HEIGHT).contains(&place) && !drawn.contains("inf"), "{drawn}");
        assert!(drawn.contains(">none</text>") && !drawn.contains("all") && drawn.contains("none: 20"));
        assert!(!draw(&[line(&[(1, 0.5)])], &[], "x").into_string().contains("level"));
    }

    #[test]
    fn intervals_of_methods_do_not_hide_each_other() {
        let drawn = draw(&[line(&[(1, 0.5)]), line(&[(1, 0.5)])], &[], "x").into_string();
        let places: Vec<&str> = drawn.split("<path class=\"interval\" d=\"M").skip(1).collect();
        assert_ne!(places[0].split(' ').next(), places[1].split(' ').next());
    }
}
