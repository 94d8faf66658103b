//! The selected features of all samples as colours, samples of a class beside each other.

use fewest::core::{Dataset, Error, Selection, Target};
use fewest_study::RunInfo;
use maud::{Markup, html};

use super::chart;
use super::matrix::{self, LEVELS, ROW};
use super::{at, sample, section as wrap};

/// Features drawn.
const MOST_FEATURES: usize = 40;
/// Samples drawn.
const MOST_SAMPLES: usize = 200;
/// Classes with their name.
const MOST_CLASSES: usize = 12;
/// The colours end at this many standard deviations from the mean.
const REACH: f64 = 2.0;

/// The matrix; nothing for fewer than two features.
///
/// # Errors
/// When a column cannot be read.
pub(super) fn section(data: &Dataset, selection: &Selection, run: &RunInfo) -> Result<Markup, Error> {
    let n_features = selection.order.len().min(MOST_FEATURES);
    if n_features < 2 {
        return Ok(html! {});
    }
    let order = sample_order(data);
    let samples: Vec<usize> =
        sample::evenly(order.len(), MOST_SAMPLES).filter_map(|at| order.get(at).copied()).collect();
    let mut values = vec![0.0; data.n_samples()];
    let mut levels = Vec::new();
    for &j in selection.order.iter().take(n_features) {
        data.x().copy_column(j, &mut values)?;
        let (mean, deviation) = moments(&values);
        levels.push(samples.iter().map(|&i| level(values[i], mean, deviation)).collect::<Vec<usize>>());
    }
    let grouped = match data.target() {
        Target::Class(_) => "Samples of a class stand beside each other",
        Target::Real(_) => "Samples are ordered by the target, from small to large",
        Target::Survival(_) => "Samples are ordered by their time, from early to late",
        _ => "Samples are in the order of the file",
    };
    let mut explanation = format!(
        "A row is a feature, a column a sample; the colour is the sample's value, in standard deviations from \
         the feature's mean. {grouped}."
    );
    if n_features < selection.order.len() {
        explanation.push_str(&format!(" The {n_features} best features are drawn."));
    }
    if samples.len() < order.len() {
        explanation.push_str(&format!(" {} evenly spaced samples are drawn.", samples.len()));
    }
    let names = selection.order.iter().take(n_features).enumerate().map(|(i, &j)| (i + 1, run.data.name(j)));
    let label = format!("{n_features} selected features of {} samples. {grouped}.", samples.len());
    let drawing = html! {
        figure.matrix {
            (classes(data, &samples))
            svg height=(at(ROW * n_features as f64)) role="img" aria-label=(label) {
                (matrix::cells("d", n_features, samples.len(), |row, column| levels[row][column]))
            }
            (matrix::names(names))
        }
        (matrix::legend("d", "−2 or less", "2 or more"))
    };
    Ok(wrap("samples", "The selected features of all samples", &explanation, drawing))
}

/// The samples by class or by target, otherwise as they come.
fn sample_order(data: &Dataset) -> Vec<usize> {
    let mut order: Vec<usize> = (0..data.n_samples()).collect();
    match data.target() {
        Target::Class(classes) => order.sort_by_key(|&i| classes.codes().get(i)),
        Target::Real(outputs) => sort_by_value(&mut order, outputs.output(0)),
        Target::Survival(survival) => sort_by_value(&mut order, survival.times()),
        _ => {}
    }
    order
}

fn sort_by_value(order: &mut [usize], values: &[f64]) {
    let value = |i: usize| values.get(i).copied().unwrap_or(f64::NAN);
    order.sort_by(|&a, &b| value(a).total_cmp(&value(b)));
}

pub(super) fn moments(values: &[f64]) -> (f64, f64) {
    let n = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / n;
    (mean, (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / n).sqrt())
}

/// The level of a value; the middle for a feature without deviation.
pub(super) fn level(value: f64, mean: f64, deviation: f64) -> usize {
    let distance = (value - mean) / deviation;
    if distance.is_finite() { matrix::level(0.5 + distance / (2.0 * REACH)) } else { LEVELS / 2 }
}

/// The names of the classes above their samples, in the colours of their dots.
fn classes(data: &Dataset, samples: &[usize]) -> Markup {
    let Target::Class(classes) = data.target() else { return html! {} };
    let codes: Vec<u32> = samples.iter().filter_map(|&i| classes.codes().get(i).copied()).collect();
    let name = |code: u32| usize::try_from(code).ok().and_then(|code| classes.names().get(code));
    let groups: Vec<(usize, &str)> = codes
        .chunk_by(|a, b| a == b)
        .map(|group| (group.len(), name(group[0]).map_or("", String::as_str)))
        .collect();
    html! {
        div.classes {
            @for (i, &(count, name)) in groups.iter().enumerate() {
                span class=(chart::colour(i)) style=(format!("flex-grow:{count}")) title=(name) {
                    @if groups.len() <= MOST_CLASSES { (name) }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_count_standard_deviations() {
        let (mean, deviation) = moments(&[1.0, 3.0]);
        assert_eq!((mean, deviation), (2.0, 1.0));
        assert_eq!(
            [-9.0, 0.0, 1.0, 2.0, 3.0, 4.0].map(|value| level(value, mean, deviation)),
            [0, 0, 2, 4, 6, 8]
        );
        assert_eq!(level(2.0, 2.0, 0.0), LEVELS / 2);
        assert_eq!(level(f64::NAN, 2.0, 1.0), LEVELS / 2);
    }
}
