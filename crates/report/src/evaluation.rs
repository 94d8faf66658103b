//! The report of an evaluation or a comparison.

mod results;

use fewest::core::Status;
use fewest::eval::{AUTO_K, k_text};
use fewest_study::{Baseline, Evaluated, Report, Row, VERSION, differences};
use maud::{Markup, html};

use super::curves::{self, Level, Line, Point};
use super::{Origin, facts, header, names, page, section as wrap};
use crate::text::{self, UNCORRECTED, baseline_name, baseline_text, rule_text};

/// Names of a choice that are shown beside its list.
const MOST_NAMES: usize = 30;

/// The complete report of a study.
pub fn render(report: &Report, origin: &Origin) -> String {
    let ids: Vec<&str> = report.methods.iter().map(|method| method.name.as_str()).collect();
    let title = format!("{} of {}", ids.join(", "), report.data.file);
    let rows: Vec<Vec<Row>> = report.methods.iter().map(Evaluated::rows).collect();
    page(
        &title,
        html! {
            (heading(report))
            @for (m, metric) in report.metrics().iter().enumerate() { (metric_section(report, &rows, m, metric)) }
            (stability(report, &rows))
            (time(report, &rows))
            (chosen(report))
            (notes(report))
            (computed(report, origin))
        },
    )
}

fn heading(report: &Report) -> Markup {
    let by = match report.methods.as_slice() {
        [single] => single.method.title.to_owned(),
        several => text::counted(several.len(), "method", "methods"),
    };
    let best = best(report);
    html! {
        header {
            p.kicker { "Feature selection by " (by) ", evaluated on test samples" }
            @if let Some((method, metric, k, mean)) = best {
                h1 { strong { (text::number(mean, 4)) } " " (metric) " from " (how_many(k)) }
                @if report.methods.len() > 1 { p.source { "by " (method) } }
            }
            p.source { "from " span.file { (report.data.file) } }
            @if let Some(warning) = warning(report.status) { p.warning { (warning) } }
            dl.figures {
                (header::figure("Samples", &text::count(report.data.n_samples)))
                (header::figure("Features", &text::count(report.data.n_features)))
                (header::figure("Target", &report.data.target_text().replace('`', "")))
                (header::figure("Learner", &report.learner))
                (header::figure("Folds", &text::count(report.n_folds)))
                (header::figure("Time", &text::duration(report.seconds)))
            }
        }
    }
}

/// The best mean of the first metric: method, metric, number of features, mean.
fn best(report: &Report) -> Option<(&str, &str, usize, f64)> {
    let (i, best) = differences::best(report, 0)?;
    Some((report.methods.get(i)?.name.as_str(), report.metrics().first()?, best.k, best.mean))
}

fn how_many(k: usize) -> String {
    if k == AUTO_K {
        "as many features as it decides".to_owned()
    } else {
        text::counted(k, "feature", "features")
    }
}

fn warning(status: Status) -> Option<&'static str> {
    match status {
        Status::Converged => None,
        Status::Interrupted => Some("The evaluation was interrupted: these are the folds finished before."),
        _ => Some("The time limit ended the evaluation: these are the folds finished before."),
    }
}

/// A line for each method, with the points that `point` returns.
fn lines<'a>(
    report: &'a Report,
    rows: &[Vec<Row>],
    point: impl Fn(&Row) -> Option<(f64, f64, f64)>,
) -> Vec<Line<'a>> {
    report
        .methods
        .iter()
        .zip(rows)
        .map(|(method, rows)| Line {
            name: &method.name,
            points: rows
                .iter()
                .filter_map(|row| point(row).map(|(value, low, high)| Point { k: row.k, value, low, high }))
                .collect(),
        })
        .collect()
}

fn metric_section(report: &Report, rows: &[Vec<Row>], m: usize, metric: &str) -> Markup {
    let better = if report.greater_is_better(m) { "Larger is better" } else { "Smaller is better" };
    let tested = match differences::columns(report, m).iter().any(|column| column.best.is_some()) {
        false => String::new(),
        true => format!(
            " The best mean for each number of features is bold; p is the p-value of the difference from it \
             (corrected resampled t-test). Above 0.05, the difference may well be chance. {}.",
            text::capitalised(UNCORRECTED)
        ),
    };
    let explanation = format!(
        "Mean over the folds, with its standard error. {better}. Features were selected on the training samples of each \
         fold only.{tested}{}",
        match report.baselines.as_slice() {
            [] => String::new(),
            known => format!(
                " Without a selection: {}.",
                known.iter().map(baseline_text).collect::<Vec<_>>().join("; ")
            ),
        }
    );
    let level = |known: &'_ Baseline| Some((baseline_name(known), known.summaries.get(m)?.mean));
    let levels: Vec<Level<'_>> =
        report.baselines.iter().filter_map(level).map(|(name, value)| Level { name, value }).collect();
    let lines = lines(report, rows, |row| {
        let summary = row.summaries.get(m)?;
        let error = summary.standard_error.unwrap_or(0.0);
        Some((summary.mean, summary.mean - error, summary.mean + error))
    });
    wrap(
        &format!("metric-{metric}"),
        metric,
        &explanation,
        html! {
            (curves::draw(&lines, &levels, metric))
            (results::of_metric(report, m, metric))
        },
    )
}

fn stability(report: &Report, rows: &[Vec<Row>]) -> Markup {
    let lines = lines(report, rows, |row| {
        let stability = row.stability?;
        let (lower, upper) = stability.interval.unwrap_or((stability.phi, stability.phi));
        Some((stability.phi, lower, upper))
    });
    if lines.iter().all(|line| line.points.is_empty()) {
        return html! {};
    }
    let explanation = "Agreement of the selections of the folds (Nogueira, Sechidis and Brown 2018), with its \
                       95 % confidence interval: 1 if all folds select the same features, about 0 for random \
                       selections.";
    wrap("stability", "Stability", explanation, curves::draw(&lines, &[], "stability Φ"))
}

fn time(report: &Report, rows: &[Vec<Row>]) -> Markup {
    let explanation = "Mean seconds per fold on one thread: time of the selection + time to learn and predict. \
                       If one selection serves several numbers of features, its full time is shown for each \
                       of them.";
    wrap("time", "Time", explanation, results::of_time(report, rows))
}

fn chosen(report: &Report) -> Markup {
    let metric = report.metrics().first().map_or("", String::as_str);
    wrap(
        "chosen",
        "How many features, and which",
        &format!(
            "By {metric}. Features are selected on all samples. The best of several means is slightly \
             optimistic: the same folds were used to choose it."
        ),
        html! {
                div.cards {
                    @for method in &report.methods {
                        @for chosen in method.chosen.chunk_by(|a, b| a.k == b.k) {
                        @if let Some(first) = chosen.first() {
                            @let rules: Vec<&str> = chosen.iter().map(|chosen| rule_text(chosen.rule)).collect();
                            div.card {
                                h3 { (method.name) ": k = " (k_text(first.k)) }
                                p.quiet { (rules.join("; ")) }
                                @if let Some(features) = &first.features {
                                    ol { @for &j in features.iter().take(MOST_NAMES) { li.name { (report.data.name(j)) } } }
                                    @if features.len() > MOST_NAMES {
                                        p.quiet { "and " (text::count(features.len() - MOST_NAMES)) " more, in the list:" }
                                    }
                                    (names::to_copy(features.iter().map(|&j| report.data.name(j)),
                                        &format!("Features selected by {}, one a line", method.name)))
                                }
                            }
                        }
                    }
                }
            }
        },
    )
}

fn notes(report: &Report) -> Markup {
    html! {
        @if !report.notes.is_empty() || report.data.missing_done.is_some() {
            (wrap("notes", "Notes", "", html! {
                ul {
                    @if let Some(done) = &report.data.missing_done { li { (done) } }
                    @for note in &report.notes { li { (note) } }
                }
            }))
        }
    }
}

fn computed(report: &Report, origin: &Origin) -> Markup {
    let evaluation = [
        facts::row("learner", &report.learner),
        facts::row("samples divided", &report.splitter),
        facts::row("folds", report.n_folds),
        facts::row("metrics", report.metrics().join(", ")),
        facts::row("seed", report.seed),
        facts::row("fewest", VERSION),
    ];
    wrap(
        "run",
        "How this was computed",
        "",
        html! {
            (facts::cited(report.methods.iter().map(|method| &method.method), &report.data, report.seed, origin))
            pre.command { (origin.command) }
            div.columns {
                (facts::table("Evaluation", &evaluation))
                (facts::table("Data", &facts::data(&report.data)))
                @for method in &report.methods {
                    (facts::table(&method.name, &facts::parameters(&method.parameters)))
                }
            }
        },
    )
}

#[cfg(test)]
mod tests;
