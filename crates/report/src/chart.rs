//! Axes and marks that keep their size at every width of the page.
//!
//! Horizontal places are shares of the width, from 0 to [`WIDE`]; vertical ones are pixels. Lines and dots
//! are drawn in a [`stretched`] picture, whose strokes are not scaled; text and points lie outside of it, at
//! a per cent of the width, so that neither ever shrinks.

use maud::{Markup, html};

use super::at;
use super::scale::Scale;
use crate::text;

/// Horizontal units of a drawing.
pub(super) const WIDE: f64 = 1000.0;
/// Colours and shapes in the style sheet.
const COLOURS: usize = 8;
/// Dashes: with the colours they tell 24 lines apart.
const DASHES: [Option<&str>; 3] = [None, Some("8 4"), Some("2 4")];
/// Labels nearer than this are left out on a narrow screen, in units.
const NARROW_GAP: f64 = 120.0;
/// Labels nearer than this are left out on any screen.
const LEAST_GAP: f64 = 34.0;
/// Vertical distance of two names.
pub(super) const LABEL_GAP: f64 = 18.0;
/// Longest name in characters.
const LABEL: usize = 24;

/// A horizontal place as an attribute.
pub(super) fn percent(x: f64) -> String {
    let text = format!("{:.2}", x / WIDE * 100.0);
    format!("{}%", text.trim_end_matches('0').trim_end_matches('.'))
}

/// The class that gives line `i` its colour.
pub(super) fn colour(i: usize) -> String {
    format!("c{}", i % COLOURS)
}

/// The dashes of line `i`.
pub(super) fn dash(i: usize) -> Option<&'static str> {
    DASHES[i % DASHES.len()]
}

/// The part of a drawing that takes the width of the page.
pub(super) fn stretched(height: f64, content: Markup) -> Markup {
    html! {
        svg.stretched viewBox=(format!("0 0 {WIDE} {}", at(height))) width="100%" height=(at(height))
            preserveAspectRatio="none" { (content) }
    }
}

/// The shapes that [`point`] and [`legend`] use; once on a page.
pub(super) fn shapes() -> Markup {
    const SHAPES: [&str; COLOURS] = [
        "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0",
        "M-4-4h8v8h-8z",
        "M0-5L5 4H-5z",
        "M0-5.5L5.5 0L0 5.5L-5.5 0z",
        "M0 5L-5-4H5z",
        "M-4.5-1.7h2.8v-2.8h3.4v2.8h2.8v3.4h-2.8v2.8h-3.4v-2.8h-2.8z",
        "M-5-4L-3-5L0-2L3-5L5-4L2 0L5 4L3 5L0 2L-3 5L-5 4L-2 0z",
        "M-2-5.5h4v11h-4z",
    ];
    html! {
        svg.shapes width="0" height="0" aria-hidden="true" {
            defs { @for (i, d) in SHAPES.iter().enumerate() { path id=(format!("shape{i}")) d=(d) {} } }
        }
    }
}

/// A point of line `i`, with what a pointer over it tells.
pub(super) fn point(i: usize, x: f64, y: f64, told: &str) -> Markup {
    html! {
        use class={ "point " (colour(i)) } href=(format!("#shape{}", i % COLOURS)) x=(percent(x)) y=(at(y)) {
            title { (told) }
        }
    }
}

/// An axis: from values to places, its ticks with their labels, what it shows.
pub(super) struct Axis<'a> {
    /// From values to places.
    pub scale: Scale,
    /// The values with a tick, and their labels.
    pub ticks: Vec<(f64, String)>,
    /// What it shows.
    pub title: &'a str,
}

impl<'a> Axis<'a> {
    /// An axis whose labels are the numbers.
    pub(super) fn new(scale: Scale, ticks: Vec<f64>, title: &'a str) -> Self {
        let ticks = ticks.into_iter().map(|value| (value, text::short(value, 4))).collect();
        Self { scale, ticks, title }
    }
}

/// The horizontal axis, below a drawing of this height.
pub(super) fn horizontal(axis: &Axis<'_>, height: f64) -> Markup {
    let mut places: Vec<(f64, &str)> =
        axis.ticks.iter().map(|(value, label)| (axis.scale.place(*value), label.as_str())).collect();
    places.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut ticks = Vec::new();
    let (mut last, mut last_narrow) = (f64::NEG_INFINITY, f64::NEG_INFINITY);
    for (place, label) in places {
        let is_narrow = place - last_narrow >= NARROW_GAP;
        let is_shown = is_narrow || place - last >= LEAST_GAP;
        if is_shown {
            last = place;
        }
        if is_narrow {
            last_narrow = place;
        }
        ticks.push((place, is_shown.then_some((label, is_narrow))));
    }
    html! {
        g.axis.x {
            line.rule x1="0" x2="100%" y1=(at(height)) y2=(at(height)) {}
            @for (place, label) in ticks {
                @let x = percent(place);
                line.tick x1=(x) x2=(x) y1=(at(height)) y2=(at(height + 4.0)) {}
                @if let Some((label, is_narrow)) = label {
                    text.if-wide[!is_narrow] x=(x) y=(at(height + 18.0)) text-anchor="middle" { (label) }
                }
            }
            @if !axis.title.is_empty() {
                text.title x="100%" y=(at(height + 36.0)) text-anchor="end" { (axis.title) }
            }
        }
    }
}

/// The vertical axis, with a line across the drawing for each tick.
pub(super) fn vertical(axis: &Axis<'_>) -> Markup {
    html! {
        g.axis.y {
            @for (value, label) in &axis.ticks {
                @let y = at(axis.scale.place(*value));
                line.tick x1="0" x2="100%" y1=(y) y2=(y) {}
                text x="-8" y=(y) dy="0.32em" text-anchor="end" { (label) }
            }
            text.title x="-8" y="-10" { (axis.title) }
        }
    }
}

/// The names of lines at the right of a wide drawing, each `(name, line, place of its end)`, moved apart.
pub(super) fn names_at_ends(mut ends: Vec<(&str, usize, f64)>, height: f64) -> Markup {
    ends.sort_by(|a, b| a.2.total_cmp(&b.2).then(a.1.cmp(&b.1)));
    let places: Vec<f64> = ends.iter().map(|end| end.2).collect();
    let spread = super::scale::spread(&places, LABEL_GAP, 0.0, height);
    html! {
        svg.ends x="100%" overflow="visible" {
            @for (&(name, i, place), label) in ends.iter().zip(spread) {
                path class={ "leader " (colour(i)) } d=(format!("M2 {}L16 {}", at(place), at(label))) {}
                text x="20" y=(at(label)) dy="0.32em" { (text::shortened(name, LABEL)) }
            }
        }
    }
}

/// The names of lines below a narrow drawing, each `(name, line)`.
pub(super) fn legend<'a>(lines: impl Iterator<Item = (&'a str, usize)>, has_points: bool) -> Markup {
    html! {
        ul.legend {
            @for (name, i) in lines {
                li {
                    svg class=(colour(i)) width="26" height="12" aria-hidden="true" {
                        line.line x1="0" x2="26" y1="6" y2="6" stroke-dasharray=[dash(i)] {}
                        @if has_points { use.point href=(format!("#shape{}", i % COLOURS)) x="13" y="6" {} }
                    }
                    " " (name)
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_short_shares_of_the_width() {
        assert_eq!([0.0, 125.0, 333.333, 1000.0].map(percent), ["0%", "12.5%", "33.33%", "100%"]);
    }

    #[test]
    fn labels_never_overlap() {
        let axis =
            Axis::new(Scale::linear((0.0, 100.0), (0.0, WIDE)), (0..=100).map(f64::from).collect(), "value");
        let drawn = horizontal(&axis, 10.0).into_string();
        assert_eq!(drawn.matches("class=\"tick\"").count(), 101);
        assert_eq!(
            drawn.matches("text-anchor=\"middle\"").count() - 17,
            9,
            "every 12 per cent on a narrow screen"
        );
        assert_eq!(drawn.matches("class=\"if-wide\"").count(), 17);
    }
}
