//! Pictures as SVG.

use std::path::Path;

use plotters::coord::Shift;
use plotters::coord::cartesian::Cartesian2d;
use plotters::coord::ranged1d::{KeyPointHint, KeyPointWeight, NoDefaultFormatting, Ranged, ValueFormatter};
use plotters::prelude::*;

use crate::Result;

const WIDTH: u32 = 560;
const HEIGHT: u32 = 380;
const BAR: u32 = 34;

/// Colours that are distinct in print and for colour-blind readers (Okabe and Ito).
const COLOURS: [RGBColor; 10] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(120, 94, 60),
    RGBColor(0, 0, 0),
    RGBColor(150, 75, 150),
    RGBColor(120, 160, 40),
];
const GUIDE: RGBColor = RGBColor(150, 150, 150);

/// A curve.
pub(crate) struct Series {
    /// Its name in the legend.
    pub name: String,
    /// Its points, by increasing first coordinate.
    pub points: Vec<(f64, f64)>,
    /// Half the length of each point's error bar; empty for none.
    pub errors: Vec<f64>,
    /// Drawn grey and without points, for comparison.
    pub is_guide: bool,
}

/// Curves in one pair of axes.
pub(crate) struct Panel {
    /// What it shows.
    pub title: String,
    /// The label of the horizontal axis.
    pub x_label: String,
    /// The label of the vertical axis.
    pub y_label: String,
    /// Whether both axes are logarithmic.
    pub logarithmic: bool,
    /// The vertical range; that of the points when `None`.
    pub y_range: Option<(f64, f64)>,
    /// The curves.
    pub series: Vec<Series>,
}

/// Points in one pair of axes that have the same unit, with the line on which both values are equal.
pub(crate) struct ScatterPanel {
    /// What it shows.
    pub title: String,
    /// The label of the horizontal axis.
    pub x_label: String,
    /// The label of the vertical axis.
    pub y_label: String,
    /// The points.
    pub points: Vec<(f64, f64)>,
}

/// A bar.
pub(crate) struct Bar {
    /// Its label.
    pub label: String,
    /// Its length, above 0.
    pub value: f64,
    /// Whether it is ours or another program's.
    pub is_ours: bool,
}

/// Bars on one scale.
pub(crate) struct BarPanel {
    /// What it shows.
    pub title: String,
    /// The unit of the values.
    pub unit: &'static str,
    /// The bars, from the top.
    pub bars: Vec<Bar>,
}

/// Draws panels side by side, two in a row.
pub(crate) fn lines(path: &Path, panels: &[Panel]) -> Result<()> {
    let (columns, rows) = (panels.len().clamp(1, 2), panels.len().div_ceil(2).max(1));
    draw(path, (WIDTH * columns as u32, HEIGHT * rows as u32), |root| {
        for (area, panel) in root.split_evenly((rows, columns)).iter().zip(panels) {
            draw_panel(area, panel)?;
        }
        Ok(())
    })
}

/// Draws panels of points side by side, two in a row, all with the same range.
pub(crate) fn scatter(path: &Path, panels: &[ScatterPanel]) -> Result<()> {
    let (columns, rows) = (panels.len().clamp(1, 2), panels.len().div_ceil(2).max(1));
    let values = panels.iter().flat_map(|panel| &panel.points).flat_map(|&(x, y)| [x, y]);
    let (low, high) = wider(values, false);
    draw(path, (WIDTH * columns as u32, HEIGHT * rows as u32), |root| {
        for (area, panel) in root.split_evenly((rows, columns)).iter().zip(panels) {
            draw_points(area, panel, (low, high))?;
        }
        Ok(())
    })
}

fn draw_points(
    area: &DrawingArea<SVGBackend<'_>, Shift>,
    panel: &ScatterPanel,
    (low, high): (f64, f64),
) -> Result<()> {
    let mut chart = axes(area, &panel.title, (&panel.x_label, &panel.y_label), [(low, high); 2], false)?;
    chart.draw_series(LineSeries::new([(low, low), (high, high)], GUIDE.stroke_width(1))).map_err(text)?;
    let colour = COLOURS[0].mix(0.45);
    let dots = panel.points.iter().map(|&point| Circle::new(point, 2, colour.filled()));
    chart.draw_series(dots).map_err(text)?;
    Ok(())
}

fn draw_panel(area: &DrawingArea<SVGBackend<'_>, Shift>, panel: &Panel) -> Result<()> {
    let (x, y) = ranges(panel);
    let mut chart = axes(area, &panel.title, (&panel.x_label, &panel.y_label), [x, y], panel.logarithmic)?;
    let mut colours = COLOURS.iter().cycle();
    for series in &panel.series {
        let colour = if series.is_guide { GUIDE } else { *colours.next().unwrap_or(&GUIDE) };
        let width = if series.is_guide { 1 } else { 2 };
        chart
            .draw_series(LineSeries::new(series.points.iter().copied(), colour.stroke_width(width)))
            .map_err(text)?
            .label(&series.name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], colour.stroke_width(width)));
        if !series.is_guide {
            let dots = series.points.iter().map(|&point| Circle::new(point, 3, colour.filled()));
            chart.draw_series(dots).map_err(text)?;
        }
        let bars = series.points.iter().zip(&series.errors).map(|(&(x, y), error)| {
            PathElement::new([(x, y - error), (x, y + error)], colour.stroke_width(1))
        });
        chart.draw_series(bars).map_err(text)?;
    }
    chart
        .configure_series_labels()
        // Increasing curves leave this corner free.
        .position(SeriesLabelPosition::LowerRight)
        .label_font(("sans-serif", 14))
        .background_style(WHITE.mix(0.85))
        .border_style(RGBColor(200, 200, 200))
        .draw()
        .map_err(text)?;
    Ok(())
}

type Chart<'a> = ChartContext<'a, SVGBackend<'a>, Cartesian2d<Axis, Axis>>;

/// A title and axes with a grid, for what is drawn on them.
fn axes<'a>(
    area: &DrawingArea<SVGBackend<'a>, Shift>,
    title: &str,
    (x_label, y_label): (&str, &str),
    [x, y]: [(f64, f64); 2],
    logarithmic: bool,
) -> Result<Chart<'a>> {
    let axis = |(low, high)| Axis { low, high, logarithmic };
    let mut chart = ChartBuilder::on(area)
        .caption(title, ("sans-serif", 19))
        .margin(12)
        .x_label_area_size(44)
        .y_label_area_size(62)
        .build_cartesian_2d(axis(x), axis(y))
        .map_err(text)?;
    chart
        .configure_mesh()
        .x_desc(x_label)
        .y_desc(y_label)
        .bold_line_style(RGBColor(225, 225, 225))
        .label_style(("sans-serif", 14))
        .axis_desc_style(("sans-serif", 15))
        .max_light_lines(0)
        .draw()
        .map_err(text)?;
    Ok(chart)
}

/// An axis with few round ticks; the library's own logarithmic one prints one tick over the other.
struct Axis {
    low: f64,
    high: f64,
    logarithmic: bool,
}

impl Axis {
    /// Where `value` lies between the ends: 0 at the lower, 1 at the upper.
    fn place(&self, value: f64) -> f64 {
        if self.logarithmic {
            (value / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        }
    }
}

impl Ranged for Axis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (from, to): (i32, i32)) -> i32 {
        from + (self.place(*value) * f64::from(to - from)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        // The light lines between the ticks are left out.
        match hint.weight() {
            KeyPointWeight::Bold => ticks(self.low, self.high, self.logarithmic),
            KeyPointWeight::Any => Vec::new(),
        }
    }

    fn range(&self) -> std::ops::Range<f64> {
        self.low..self.high
    }
}

impl ValueFormatter<f64> for Axis {
    fn format(value: &f64) -> String {
        label(value)
    }
}

/// The ranges of both coordinates, a little wider than the points.
fn ranges(panel: &Panel) -> ((f64, f64), (f64, f64)) {
    let points = || panel.series.iter().flat_map(|series| &series.points);
    let x = wider(points().map(|point| point.0), panel.logarithmic);
    let y = panel.y_range.unwrap_or_else(|| wider(points().map(|point| point.1), panel.logarithmic));
    (x, y)
}

/// A range that is a little wider than `values`.
fn wider(values: impl Iterator<Item = f64>, logarithmic: bool) -> (f64, f64) {
    let (low, high) = values
        .filter(|value| value.is_finite())
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
    match (low <= high, logarithmic) {
        (false, _) => (1.0, 10.0),
        (true, true) => (low / 1.3, high * 1.3),
        (true, false) => {
            let margin = 0.05 * (high - low).max(1e-12);
            (low - margin, high + margin)
        }
    }
}

/// Few round numbers from `low` to `high`: 1, 2 and 5 times powers of ten, or multiples of one of them.
fn ticks(low: f64, high: f64, logarithmic: bool) -> Vec<f64> {
    let powers =
        |from: f64, to: f64| (from.log10().floor() as i32..=to.log10().ceil() as i32).map(|p| 10_f64.powi(p));
    if logarithmic {
        let all = powers(low, high).flat_map(|power| [power, 2.0 * power, 5.0 * power]);
        return all.filter(|tick| (low..=high).contains(tick)).collect();
    }
    let rough = ((high - low) / 6.0).max(f64::MIN_POSITIVE);
    let step = powers(rough, rough)
        .flat_map(|power| [power, 2.0 * power, 5.0 * power])
        .find(|step| *step >= rough)
        .unwrap_or(rough);
    let first = (low / step).ceil() as i64;
    (first..=(high / step).floor() as i64).map(|multiple| multiple as f64 * step).collect()
}

/// A number in its shortest form.
fn label(value: &f64) -> String {
    let size = value.abs();
    if size >= 1e4 {
        format!("{:.0}k", value / 1e3)
    } else if size >= 10.0 {
        format!("{value:.0}")
    } else if size >= 0.01 || size == 0.0 {
        let text = format!("{value:.2}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        format!("{value:.0e}")
    }
}

/// Draws bar panels below each other.
pub(crate) fn bars(path: &Path, panels: &[BarPanel]) -> Result<()> {
    let height = |panel: &BarPanel| 50 + BAR * panel.bars.len() as u32;
    let total: u32 = panels.iter().map(height).sum();
    draw(path, (940, total), |root| {
        let mut rest = root.clone();
        for panel in panels {
            let (area, below) = rest.split_vertically(height(panel));
            rest = below;
            bar_panel(&area, panel)?;
        }
        Ok(())
    })
}

fn bar_panel(area: &DrawingArea<SVGBackend<'_>, Shift>, panel: &BarPanel) -> Result<()> {
    const LEFT: i32 = 420;
    const LONGEST: f64 = 410.0;
    let longest =
        panel.bars.iter().map(|bar| bar.value).filter(|value| value.is_finite()).fold(0.0, f64::max);
    let title = ("sans-serif", 19).into_text_style(area);
    area.draw_text(&panel.title, &title, (16, 14)).map_err(text)?;
    let style = ("sans-serif", 16).into_text_style(area);
    for (index, bar) in panel.bars.iter().enumerate() {
        let top = 40 + (index as u32 * BAR) as i32;
        let length = (LONGEST * bar.value / longest).max(1.0) as i32;
        let colour = if bar.is_ours { COLOURS[0] } else { COLOURS[1] };
        let corners = [(LEFT, top), (LEFT + length, top + BAR as i32 - 10)];
        area.draw(&Rectangle::new(corners, colour.filled())).map_err(text)?;
        area.draw_text(&bar.label, &style, (16, top + 5)).map_err(text)?;
        area.draw_text(
            &format!("{} {}", label(&bar.value), panel.unit),
            &style,
            (LEFT + length + 6, top + 5),
        )
        .map_err(text)?;
    }
    Ok(())
}

fn draw(
    path: &Path,
    size: (u32, u32),
    content: impl FnOnce(&DrawingArea<SVGBackend<'_>, Shift>) -> Result<()>,
) -> Result<()> {
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        root.fill(&WHITE).map_err(text)?;
        content(&root)?;
        root.present().map_err(text)?;
    }
    crate::output::write(path, svg.as_bytes())
}

/// Errors of the plotting library hold references; their words are enough.
fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_short() {
        assert_eq!(
            [0.0, 0.5, 0.012, 3.0, 250.0, 64_000.0, 0.001].map(|value| label(&value)),
            ["0", "0.5", "0.01", "3", "250", "64k", "1e-3"]
        );
    }

    #[test]
    fn ticks_are_round_and_inside() {
        assert_eq!(ticks(90.0, 1300.0, true), [100.0, 200.0, 500.0, 1000.0]);
        assert_eq!(ticks(0.0, 300.0, false), [0.0, 50.0, 100.0, 150.0, 200.0, 250.0, 300.0]);
        assert_eq!(ticks(-0.3, 1.05, false).len(), 3);
    }

    #[test]
    fn pictures_hold_their_curves_and_bars() {
        let folder = std::env::temp_dir().join(format!("experiments-plot-{}", std::process::id()));
        let series = Series {
            name: "a curve".to_owned(),
            points: vec![(1.0, 2.0), (10.0, 30.0)],
            errors: vec![0.1, 0.2],
            is_guide: false,
        };
        let panel = |logarithmic| Panel {
            title: "both axes".to_owned(),
            x_label: "x".to_owned(),
            y_label: "y".to_owned(),
            logarithmic,
            y_range: None,
            series: vec![Series {
                points: series.points.clone(),
                errors: series.errors.clone(),
                name: series.name.clone(),
                is_guide: false,
            }],
        };
        let file = folder.join("lines.svg");
        lines(&file, &[panel(true), panel(false)]).unwrap();
        let svg = std::fs::read_to_string(&file).unwrap();
        assert_eq!(svg.matches("a curve").count(), 2);
        assert!(svg.matches("<circle").count() >= 4);
        let bar = |label: &str, value, is_ours| Bar { label: label.to_owned(), value, is_ours };
        let points = ScatterPanel {
            title: "cloud".to_owned(),
            x_label: "observed".to_owned(),
            y_label: "predicted".to_owned(),
            points: vec![(0.0, 1.0), (2.0, 2.0), (3.0, 1.0)],
        };
        scatter(&file, &[points]).unwrap();
        let svg = std::fs::read_to_string(&file).unwrap();
        assert_eq!((svg.matches("cloud").count(), svg.matches("<circle").count()), (1, 3));
        let panel = BarPanel {
            title: "t".to_owned(),
            unit: "s",
            bars: vec![bar("u", 0.5, true), bar("v", 50.0, false)],
        };
        bars(&file, &[panel]).unwrap();
        let svg = std::fs::read_to_string(&file).unwrap();
        assert!(svg.contains("0.5") && svg.contains("50"));
        std::fs::remove_dir_all(folder).unwrap();
    }
}
