//! The data behind each selected feature: its values by class, or against a real target.

use fewest::core::{Classes, Dataset, Error, FeatureKind, Selection, Target};
use fewest_study::RunInfo;
use maud::{Markup, html};

use super::chart::{self, Axis, WIDE};
use super::scale::{Scale, padded, ticks};
use super::{at, figure, sample, section as wrap};
use crate::text;

/// Features whose data are drawn.
const MOST_FEATURES: usize = 24;
/// Dots of all drawings together.
const MOST_DOTS: usize = 8000;
/// Dots of one drawing, and of one class in it.
const DOTS: usize = 600;
const LEAST_DOTS: usize = 20;
/// Classes with a row of their own.
const MOST_CLASSES: usize = 8;
/// Dots of a feature with at most this many values are spread to both sides of each, over this share of the
/// distance of two.
const MOST_VALUES: usize = 12;
const SHARE: f64 = 0.5;
/// Categories with their name at the axis.
const MOST_LEVELS: usize = 6;
/// Height of a row of dots with the name of its class.
const ROW: f64 = 40.0;
/// Largest distance of a dot from the middle of its row.
const ASIDE: f64 = 8.0;
const SCATTER: f64 = 170.0;

/// The drawings.
///
/// # Errors
/// When a column cannot be read.
pub(super) fn section(data: &Dataset, selection: &Selection, run: &RunInfo) -> Result<Markup, Error> {
    if selection.order.is_empty() {
        return Ok(html! {});
    }
    let drawn = selection.order.len().min(MOST_FEATURES);
    let dots = (MOST_DOTS / drawn).min(DOTS);
    let mut values = vec![0.0; data.n_samples()];
    let mut cards = Vec::new();
    for (i, &j) in selection.order.iter().enumerate().take(MOST_FEATURES) {
        data.x().copy_column(j, &mut values)?;
        let feature = Feature { name: run.data.name(j), kind: data.feature_kind(j), values: &values };
        let drawing = match data.target() {
            Target::Class(classes) => feature.strips(&rows(classes), classes.codes(), dots),
            Target::Real(outputs) => feature.scatter(outputs.output(0), target_name(run), dots),
            Target::Survival(survival) => feature.scatter(survival.times(), target_name(run), dots),
            _ => feature.strips(&[Row { code: 0, name: "all samples" }], &vec![0; values.len()], dots),
        };
        cards.push(html! { div.card { h3 { span.quiet { (i + 1) } " " (feature.name) } (drawing) } });
    }
    let explanation = explanation(data, run, selection.order.len(), dots);
    Ok(wrap(
        "data",
        "The data behind each feature",
        &explanation,
        html! { div.cards { @for card in cards { (card) } } },
    ))
}

pub(super) fn target_name(run: &RunInfo) -> &str {
    run.data.targets.first().map_or("target", String::as_str)
}

fn explanation(data: &Dataset, run: &RunInfo, n_selected: usize, dots: usize) -> String {
    let mut told = match data.target() {
        Target::Class(_) => "A dot is a sample, at its value of the feature; the line is the median of its \
                             class."
            .to_owned(),
        Target::Real(_) | Target::Survival(_) => format!(
            "A dot is a sample: its value of the feature from left to right, of {} from bottom to top.",
            target_name(run)
        ),
        _ => "A dot is a sample, at its value of the feature; the line is the median.".to_owned(),
    };
    if n_selected > MOST_FEATURES {
        told.push_str(&format!(" The {MOST_FEATURES} best features are drawn."));
    }
    if let Target::Class(classes) = data.target() {
        if classes.n_classes() > MOST_CLASSES {
            told.push_str(&format!(" The {MOST_CLASSES} largest classes are drawn."));
        }
        let most = per_row(dots, classes.n_classes().min(MOST_CLASSES));
        if classes.counts().iter().any(|&count| count > most) {
            told.push_str(&format!(
                " Of a class with more than {most} samples, as many evenly spaced by rank are drawn."
            ));
        }
    } else if data.n_samples() > dots {
        told.push_str(&format!(" Of the samples, {dots} evenly spaced by rank are drawn."));
    }
    if let Target::Real(outputs) = data.target()
        && outputs.n_outputs() > 1
    {
        told.push_str(&format!(" The first of {} outputs is drawn.", outputs.n_outputs()));
    }
    told
}

fn per_row(dots: usize, n_rows: usize) -> usize {
    (dots / n_rows.max(1)).max(LEAST_DOTS)
}

/// A row of dots: a class.
pub(super) struct Row<'a> {
    pub(super) code: usize,
    pub(super) name: &'a str,
}

/// The largest classes, in their own order.
pub(super) fn rows(classes: &Classes) -> Vec<Row<'_>> {
    let counts = classes.counts();
    let mut largest: Vec<usize> = (0..counts.len()).collect();
    largest.sort_by_key(|&code| (std::cmp::Reverse(counts[code]), code));
    largest.truncate(MOST_CLASSES);
    largest.sort_unstable();
    let name = |code: usize| classes.names().get(code).map_or("", String::as_str);
    largest.into_iter().map(|code| Row { code, name: name(code) }).collect()
}

/// A feature with its values.
struct Feature<'a> {
    name: &'a str,
    kind: &'a FeatureKind,
    values: &'a [f64],
}

impl Feature<'_> {
    /// The horizontal axis: numbers, or the names of few categories.
    fn axis(&self) -> Axis<'static> {
        let finite = || self.values.iter().copied().filter(|value| value.is_finite());
        let (low, high) =
            padded(finite().fold(f64::INFINITY, f64::min), finite().fold(f64::NEG_INFINITY, f64::max));
        let scale = |(low, high)| Scale::linear((low, high), (0.0, WIDE));
        match self.kind {
            FeatureKind::Categorical { levels } if levels.len() <= MOST_LEVELS => {
                let name = |level: &String| text::shortened(level, 10);
                let ticks =
                    levels.iter().enumerate().map(|(code, level)| (code as f64, name(level))).collect();
                Axis { scale: scale((-0.5, levels.len() as f64 - 0.5)), ticks, title: "" }
            }
            // A table without samples has no values.
            _ if low > high => Axis::new(scale((0.0, 1.0)), Vec::new(), ""),
            _ => Axis::new(scale((low, high)), ticks(low, high), ""),
        }
    }

    /// How far dots of one value are spread to its sides: not at all unless there are few values.
    fn width(&self, scale: Scale) -> f64 {
        let mut places: Vec<f64> = Vec::new();
        for place in self.values.iter().map(|&value| scale.place(value)).filter(|place| place.is_finite()) {
            if !places.contains(&place) {
                places.push(place);
            }
            if places.len() > MOST_VALUES {
                return 0.0;
            }
        }
        places.sort_by(f64::total_cmp);
        let gaps = places.windows(2).map(|pair| pair[1] - pair[0]);
        SHARE * gaps.fold(WIDE / 5.0, f64::min)
    }

    fn strips(&self, rows: &[Row<'_>], codes: &[u32], dots: usize) -> Markup {
        let axis = self.axis();
        let height = ROW * rows.len() as f64;
        let most = per_row(dots, rows.len());
        let width = self.width(axis.scale);
        let mut told = Vec::new();
        let mut drawn = Vec::new();
        for (at_row, row) in rows.iter().enumerate() {
            let of_row = codes.iter().zip(self.values).filter(|(code, value)| {
                usize::try_from(**code).is_ok_and(|code| code == row.code) && value.is_finite()
            });
            let mut values: Vec<f64> = of_row.map(|(_, value)| *value).collect();
            values.sort_by(f64::total_cmp);
            let middle = ROW * at_row as f64 + 27.0;
            let mut d = String::new();
            for (i, at_value) in sample::evenly(values.len(), most).enumerate() {
                let x = axis.scale.place(values[at_value]) + width * aside(i);
                let y = middle + 2.0 * ASIDE * (sample::spread(i) - 0.5);
                d.push_str(&format!("M{} {}h0", at(x), at(y)));
            }
            let median = median(&values);
            if let Some(median) = median {
                told.push(format!("{} {}", row.name, text::number(median, 3)));
            }
            drawn.push((row, middle, d, values.len(), median));
        }
        figure(
            "chart strips",
            height,
            &format!("{}; medians: {}", self.name, told.join(", ")),
            html! {
                (chart::horizontal(&axis, height))
                @for (i, (row, middle, d, count, median)) in drawn.iter().enumerate() {
                    g class=(chart::colour(i)) {
                        (chart::stretched(height, html! { path.dots d=(d) {} }))
                        @if let Some(median) = median {
                            @let x = percent_of(axis.scale, *median);
                            line.median x1=(x) x2=(x) y1=(at(middle - 12.0)) y2=(at(middle + 12.0)) {
                                title { (row.name) ": median " (text::number(*median, 4)) }
                            }
                        }
                        text x="0" y=(at(middle - 15.0)) {
                            (text::shortened(row.name, 28)) " " tspan.quiet { "n = " (text::count(*count)) }
                        }
                    }
                }
            },
            html! {},
        )
    }

    fn scatter(&self, target: &[f64], target_name: &str, dots: usize) -> Markup {
        let axis = self.axis();
        let width = self.width(axis.scale);
        let mut pairs: Vec<(f64, f64)> = self.values.iter().copied().zip(target.iter().copied()).collect();
        pairs.retain(|(value, target)| value.is_finite() && target.is_finite());
        pairs.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let (low, high) = pairs
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), (_, y)| (low.min(*y), high.max(*y)));
        if low > high {
            return html! {};
        }
        let (low, high) = padded(low, high);
        let y = Axis::new(Scale::linear((low, high), (SCATTER, 0.0)), ticks(low, high), "");
        let mut d = String::new();
        for (i, at_pair) in sample::evenly(pairs.len(), dots).enumerate() {
            let (value, target) = pairs[at_pair];
            let x = axis.scale.place(value) + width * aside(i);
            d.push_str(&format!("M{} {}h0", at(x), at(y.scale.place(target))));
        }
        figure(
            "chart",
            SCATTER,
            &format!("{target_name} against {}, {} samples", self.name, text::count(pairs.len())),
            html! {
                (chart::vertical(&y))
                (chart::horizontal(&axis, SCATTER))
                g.c0 { (chart::stretched(SCATTER, html! { path.dots d=(d) {} })) }
            },
            html! {},
        )
    }
}

fn percent_of(scale: Scale, value: f64) -> String {
    chart::percent(scale.place(value))
}

/// The place of the `i`-th dot to the side, in `[-0.5, 0.5)`: another sequence than that of its height (the
/// multiples of the golden ratio).
fn aside(i: usize) -> f64 {
    (i as f64 * 0.618_033_988_749_895 + 0.5).fract() - 0.5
}

/// The middle of sorted values; `None` where there are none.
fn median(sorted: &[f64]) -> Option<f64> {
    let (low, high) = (sorted.get(sorted.len().checked_sub(1)? / 2)?, sorted.get(sorted.len() / 2)?);
    Some(0.5 * low + 0.5 * high)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn feature<'a>(kind: &'a FeatureKind, values: &'a [f64]) -> Feature<'a> {
        Feature { name: "area", kind, values }
    }

    const ROWS: [Row<'static>; 2] = [Row { code: 0, name: "benign" }, Row { code: 1, name: "malignant" }];

    #[test]
    fn every_sample_is_a_dot_until_there_are_too_many() {
        let numeric = FeatureKind::Numeric;
        let values: Vec<f64> = (0..1000).map(f64::from).collect();
        let codes: Vec<u32> = (0..1000).map(|i| u32::from(i >= 100)).collect();
        let drawn = feature(&numeric, &values).strips(&ROWS, &codes, 400).into_string();
        assert_eq!(drawn.matches("h0").count(), 100 + 200);
        assert!(drawn.contains("medians: benign 49.5, malignant 550"), "{drawn}");
        assert!(drawn.contains(">n = 900<"), "the number of samples of the class, not of dots");
        let drawn = feature(&numeric, &values).scatter(&values, "y", 400).into_string();
        assert_eq!(drawn.matches("h0").count(), 400);
    }

    #[test]
    fn values_without_a_place_draw_nothing() {
        let numeric = FeatureKind::Numeric;
        let values = [f64::NAN, f64::INFINITY, 2.0];
        for drawn in [
            feature(&numeric, &values).strips(&ROWS, &[0, 1, 1], 100).into_string(),
            feature(&numeric, &values).scatter(&[1.0, 2.0, 3.0], "y", 100).into_string(),
            feature(&numeric, &values[..2]).strips(&ROWS, &[0, 1], 100).into_string(),
            feature(&numeric, &values).scatter(&[1.0, 2.0, f64::NAN], "y", 100).into_string(),
        ] {
            assert!(!drawn.contains("NaN") && !drawn.contains("inf"), "{drawn}");
        }
    }

    #[test]
    fn categories_have_their_names() {
        let kind = FeatureKind::Categorical { levels: vec!["no".to_owned(), "yes".to_owned()] };
        let drawn = feature(&kind, &[0.0, 1.0, 1.0]).strips(&ROWS, &[0, 1, 1], 100).into_string();
        assert!(drawn.contains(">no<") && drawn.contains(">yes<"), "{drawn}");
    }

    #[test]
    fn medians_of_few() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0]), Some(3.0));
        assert_eq!(median(&[1.0, 2.0, 4.0, 9.0]), Some(3.0));
    }
}
