//! The result for people.

pub(crate) mod evaluation;
mod stream;

pub(crate) use stream::{orders, stream_heading, stream_line};

use fewest::core::{Scores, Selection, SolverReport, Status};
use fewest_study::{DataInfo, RunInfo};

use crate::commands::passes;
use crate::text::{self, Align};

/// Widest name in a table.
const NAME: usize = 40;
/// Related features named in a table.
const RELATED: usize = 3;

/// What `fewest select` prints.
pub(crate) fn selection(selection: &Selection, run: &RunInfo) -> String {
    let mut out = data_heading(&run.data);
    let chosen = text::counted(selection.order.len(), "feature", "features");
    out.push_str(&format!("{}: {chosen} in {}", run.method.id, text::duration(run.seconds)));
    // What has ended as it was to says so in its notes.
    if !matches!(selection.status, Status::Converged | Status::Ended) {
        out.push_str(&format!(" ({})", selection.status.name()));
    }
    out.push_str("\n\n");
    out.push_str(&features(selection, run));
    notes(&mut out, &selection.notes);
    if !selection.views.is_empty() {
        let views = text::views(&selection.views);
        let told: Vec<String> = views.iter().map(|(name, weight)| format!("{name} {weight}")).collect();
        out.push_str(&format!("\nweights of views: {}\n", told.join(", ")));
    }
    if let Some(bound) = selection.false_discoveries {
        out.push_str(&format!("\n{}\n", text::false_discoveries(bound)));
    }
    // For those who know what it means.
    if let Some(solver) = &selection.solver {
        out.push_str(&solver_line(solver));
    }
    out
}

/// How the solver ended, after a blank line.
fn solver_line(solver: &SolverReport) -> String {
    let certificate = text::certificate(solver.certificate);
    let certificate = certificate.map_or(String::new(), |(name, value)| format!(", {name} {value}"));
    let about = solver.approximation.map_or(String::new(), |error| match error.value() {
        value if value.is_finite() => format!("; scores to about {} of the largest", text::number(value, 1)),
        _ => "; how exact the scores are is not known".to_owned(),
    });
    format!("\nsolver: {}, {}{certificate}{about}\n", solver.name, solver.status.name())
}

/// What `fewest score` prints: the `most` best features, or all.
pub(crate) fn scores(scores: &Scores, most: Option<usize>, run: &RunInfo) -> String {
    let mut out = data_heading(&run.data);
    let better = if scores.higher_is_better { "larger" } else { "smaller" };
    let time = text::duration(run.seconds);
    let listed = scores.best(most);
    let what = match most {
        Some(_) => {
            format!("best {} of {}", text::count(listed.order.len()), text::count(scores.values.len()))
        }
        None => "every feature".to_owned(),
    };
    let ended = match scores.status {
        Status::Converged => String::new(),
        other => format!(", {}", other.name()),
    };
    out.push_str(&format!("{}: {what} in {time} ({better} is better{ended})\n\n", run.method.id));
    out.push_str(&features(&listed, run));
    notes(&mut out, &[&run.data.notes[..], &listed.notes].concat());
    out
}

/// The features with scores, and what else is known of them.
fn features(selection: &Selection, run: &RunInfo) -> String {
    let has_related = selection.related.iter().any(|related| !related.is_empty());
    let tested = [("p-value", &selection.p_values), ("q-value", &selection.q_values)];
    let tested = tested.iter().filter_map(|(name, values)| Some((*name, values.as_ref()?)));
    let mut heading = vec!["rank", "feature", "score"];
    let mut align = vec![Align::Right, Align::Left, Align::Right];
    heading.extend(tested.clone().map(|(name, _)| name));
    align.extend(tested.clone().map(|_| Align::Right));
    if has_related {
        heading.push("most related");
        align.push(Align::Left);
    }
    let mut rows = vec![heading.into_iter().map(str::to_owned).collect()];
    for (i, (&j, &score)) in selection.order.iter().zip(&selection.scores).enumerate() {
        let name = text::shortened(run.data.name(j), NAME);
        let mut row = vec![(i + 1).to_string(), name, text::number(score, 4)];
        row.extend(
            tested.clone().map(|(_, values)| text::p_value(values.get(i).copied().unwrap_or(f64::NAN), 3)),
        );
        if has_related {
            row.push(related(selection, run, i));
        }
        rows.push(row);
    }
    text::columns(&rows, &align)
}

/// One line about the data, and another about how missing values were handled.
fn data_heading(data: &DataInfo) -> String {
    let mut line = format!(
        "{}: {}, {}",
        text::one_line(&data.file),
        text::counted(data.n_samples, "sample", "samples"),
        text::counted(data.n_features, "feature", "features"),
    );
    match data.task {
        "none" => line.push_str(", no target (--target NAME takes a column out of the features)"),
        _ => line.push_str(&format!(", target {}", text::one_line(&data.target_text()))),
    }
    if let Some(found) = data.target_found {
        line.push_str(&format!(" ({found}; use --target to name another)"));
    }
    line.push('\n');
    if let Some(read) = &data.passes {
        line.push_str(&passes::line(read));
        line.push('\n');
    }
    if let Some(done) = &data.missing_done {
        line.push_str(done);
        line.push('\n');
    }
    line
}

fn related(selection: &Selection, run: &RunInfo, i: usize) -> String {
    let related = selection.related.get(i).map_or(&[][..], Vec::as_slice);
    let one = |other: &fewest::core::Related| {
        format!(
            "{} {}",
            text::shortened(run.data.name(other.feature), NAME),
            text::number(other.relatedness, 2)
        )
    };
    related.iter().take(RELATED).map(one).collect::<Vec<_>>().join(", ")
}

/// A line for each, after a blank one.
pub(crate) fn notes(out: &mut String, notes: &[String]) {
    if !notes.is_empty() {
        out.push('\n');
    }
    for note in notes {
        out.push_str(&format!("note: {}\n", text::one_line(note)));
    }
}
