//! Values against the number of features, one line per method.

use maud::{Markup, html};

use super::at;
use super::scale::{Scale, spread, ticks};
use crate::text;

/// Colours in the style sheet.
const COLOURS: usize = 10;
/// Longest label in characters.
const LABEL: usize = 26;
const WIDTH: f64 = 960.0;
const LEFT: f64 = 72.0;
const RIGHT: f64 = 760.0;
const TOP: f64 = 16.0;
const LABEL_GAP: f64 = 16.0;
const TICK_GAP: f64 = 28.0;

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

/// The points of a method, by increasing number of features.
pub(super) struct Line<'a> {
    /// The method's name.
    pub name: &'a str,
    /// The points.
    pub points: Vec<Point>,
}

/// The drawing, with the vertical axis labelled `title`; nothing if no point can be drawn.
pub(super) fn draw(lines: &[Line<'_>], title: &str) -> Markup {
    let finite = |point: &&Point| [point.value, point.low, point.high].iter().all(|value| value.is_finite());
    let points = || lines.iter().flat_map(|line| &line.points).filter(finite);
    let least = points().map(|point| point.low).fold(f64::INFINITY, f64::min);
    let most = points().map(|point| point.high).fold(f64::NEG_INFINITY, f64::max);
    let mut ks: Vec<usize> = points().map(|point| point.k).collect();
    ks.sort_unstable();
    ks.dedup();
    let (Some(&first), Some(&last)) = (ks.first(), ks.last()) else { return html! {} };
    let (low, high) = padded(least, most);
    let bottom = TOP + (LABEL_GAP * lines.len() as f64).max(300.0);
    let x = Scale::logarithmic((first as f64, last as f64), (LEFT + 16.0, RIGHT - 16.0));
    let y = Scale::linear((low, high), (bottom, TOP));
    let drawn: Vec<(usize, &Line<'_>)> =
        lines.iter().enumerate().filter(|(_, line)| line.points.iter().any(|point| finite(&point))).collect();
    html! {
        figure {
            svg.path viewBox=(format!("0 0 {WIDTH} {}", at(bottom + 48.0))) role="img"
                aria-label={ (title) " against the number of features" } {
                (axes(title, (low, high), &ks, x, y, bottom))
                @for &(i, line) in &drawn {
                    @let colour = i % COLOURS;
                    g {
                        title { (line.name) }
                        @for point in line.points.iter().filter(finite) {
                            @let place = at(x.place(point.k as f64));
                            path class=(format!("leader c{colour}"))
                                d=(format!("M{place} {}L{place} {}", at(y.place(point.low)), at(y.place(point.high)))) {}
                            circle class=(format!("point c{colour}")) cx=(place) cy=(at(y.place(point.value))) r="3.5" {
                                title {
                                    (line.name) ", k = " (point.k) ": " (text::number(point.value, 4)) ", "
                                    (text::number(point.low, 4)) " to " (text::number(point.high, 4))
                                }
                            }
                        }
                        path class=(format!("line c{colour}")) stroke-dasharray=[(i >= COLOURS).then_some("6 3")]
                            d=(polyline(line.points.iter().filter(finite), x, y)) {}
                    }
                }
                (labels(&drawn, finite, y, bottom))
            }
        }
    }
}

/// The range with a small margin; for a single value, a margin around it.
fn padded(least: f64, most: f64) -> (f64, f64) {
    let room = if most > least { 0.05 * (most - least) } else { 0.05 * most.abs().max(1e-3) };
    (least - room, most + room)
}

fn axes(title: &str, (low, high): (f64, f64), ks: &[usize], x: Scale, y: Scale, bottom: f64) -> Markup {
    // Numbers of features too close to the previous label have no label.
    let mut counts: Vec<(usize, f64)> = Vec::new();
    for &k in ks {
        let place = x.place(k as f64);
        if counts.last().is_none_or(|(_, before)| place - before >= TICK_GAP) {
            counts.push((k, place));
        }
    }
    html! {
        g.axes {
            @for value in ticks(low, high, 5) {
                @let place = at(y.place(value));
                line.grid x1=(LEFT) x2=(RIGHT) y1=(place) y2=(place) {}
                text x=(LEFT - 8.0) y=(place) dy="0.32em" text-anchor="end" { (text::short(value, 4)) }
            }
            @for (k, place) in counts {
                @let place = at(place);
                line.tick x1=(place) x2=(place) y1=(at(bottom)) y2=(at(bottom + 4.0)) {}
                text x=(place) y=(at(bottom + 18.0)) text-anchor="middle" { (k) }
            }
            line.axis x1=(LEFT) x2=(RIGHT) y1=(at(bottom)) y2=(at(bottom)) {}
            text.title x=((LEFT + RIGHT) / 2.0) y=(at(bottom + 40.0)) text-anchor="middle" {
                (title) " against the number of features"
            }
        }
    }
}

fn polyline<'a>(points: impl Iterator<Item = &'a Point>, x: Scale, y: Scale) -> String {
    let mut d = String::new();
    for point in points {
        let pen = if d.is_empty() { 'M' } else { 'L' };
        d.push_str(&format!("{pen}{} {}", at(x.place(point.k as f64)), at(y.place(point.value))));
    }
    d
}

fn labels(drawn: &[(usize, &Line<'_>)], finite: impl Fn(&&Point) -> bool, y: Scale, bottom: f64) -> Markup {
    let mut ends: Vec<(f64, usize, &str)> = drawn
        .iter()
        .filter_map(|(i, line)| {
            let last = line.points.iter().rev().find(|point| finite(point))?;
            Some((y.place(last.value), *i, line.name))
        })
        .collect();
    ends.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let places: Vec<f64> = ends.iter().map(|(place, ..)| *place).collect();
    let spread = spread(&places, LABEL_GAP, TOP, bottom);
    html! {
        g.labels {
            @for (&(place, i, name), label) in ends.iter().zip(spread) {
                path class=(format!("leader c{}", i % COLOURS))
                    d=(format!("M{} {}L{} {}", RIGHT + 2.0, at(place), RIGHT + 14.0, at(label))) {}
                text class=(format!("c{}", i % COLOURS)) x=(RIGHT + 18.0) y=(at(label)) dy="0.32em" {
                    (text::shortened(name, LABEL))
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
        assert_eq!(draw(&[], "x").into_string(), "");
        assert_eq!(draw(&[line(&[])], "x").into_string(), "");
        assert_eq!(draw(&[line(&[(1, f64::NAN)])], "x").into_string(), "");
        let drawn = draw(&[line(&[(1, 0.5), (2, f64::INFINITY), (4, 0.75)])], "x").into_string();
        assert!(!drawn.contains("NaN") && !drawn.contains("inf"), "{drawn}");
        assert_eq!(drawn.matches("<circle").count(), 2);
    }

    #[test]
    fn a_single_point_has_a_place() {
        let drawn = draw(&[line(&[(5, 0.5)])], "x").into_string();
        assert!(!drawn.contains("NaN") && !drawn.contains("inf"), "{drawn}");
        assert_eq!(padded(0.0, 0.0), (-5e-5, 5e-5));
    }
}
