//! The result for people.

pub(crate) mod evaluation;

use fewest::core::{Scores, Selection, Status};
use fewest_study::{DataInfo, RunInfo};

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
    if let Some(solver) = &selection.solver {
        let what = text::certificate(solver.certificate);
        let gap = text::number(solver.certificate.value(), 2);
        let about = solver.approximation.map_or(String::new(), |error| {
            format!(", scores to about {} of the largest", text::number(error.value(), 1))
        });
        out.push_str(&format!(" ({}, {}, {what} {gap}{about})", solver.name, solver.status.name()));
    } else if selection.status != Status::Converged {
        out.push_str(&format!(" ({})", selection.status.name()));
    }
    out.push_str("\n\n");
    if !selection.order.is_empty() {
        let has_related = selection.related.iter().any(|related| !related.is_empty());
        let mut rows = vec![heading_row(&["rank", "feature", "score", "most related"], has_related)];
        for (i, (&j, &score)) in selection.order.iter().zip(&selection.scores).enumerate() {
            let mut row = row(i, run.data.name(j), score);
            if has_related {
                row.push(related(selection, run, i));
            }
            rows.push(row);
        }
        out.push_str(&text::columns(&rows, &[Align::Right, Align::Left, Align::Right, Align::Left]));
    }
    notes(&mut out, &selection.notes);
    out
}

/// What `fewest score` prints.
pub(crate) fn scores(scores: &Scores, run: &RunInfo) -> String {
    let mut out = data_heading(&run.data);
    let better = if scores.higher_is_better { "larger" } else { "smaller" };
    let time = text::duration(run.seconds);
    out.push_str(&format!("{}: every feature in {time} ({better} is better)\n\n", run.method.id));
    let p_value = |j: usize| scores.p_values.as_ref().and_then(|values| values.get(j).copied());
    let mut rows = vec![heading_row(&["rank", "feature", "score", "p-value"], scores.p_values.is_some())];
    for (i, j) in scores.ranking().into_iter().enumerate() {
        let mut row = row(i, run.data.name(j), scores.values.get(j).copied().unwrap_or(f64::NAN));
        row.extend(p_value(j).map(|p| text::number(p, 3)));
        rows.push(row);
    }
    out.push_str(&text::columns(&rows, &[Align::Right, Align::Left, Align::Right, Align::Right]));
    notes(&mut out, &run.data.notes);
    out
}

/// One line about the data, and another about how missing values were handled.
fn data_heading(data: &DataInfo) -> String {
    let mut line = format!(
        "{}: {}, {}",
        text::one_line(&data.file),
        text::counted(data.n_samples, "sample", "samples"),
        text::counted(data.n_features, "feature", "features"),
    );
    if data.task != "none" {
        line.push_str(&format!(", target {}", text::one_line(&data.target_text())));
    }
    if let Some(found) = data.target_found {
        line.push_str(&format!(" ({found}; use --target to name another)"));
    }
    line.push('\n');
    if let Some(done) = &data.missing_done {
        line.push_str(done);
        line.push('\n');
    }
    line
}

fn heading_row(names: &[&str; 4], all: bool) -> Vec<String> {
    names.iter().take(if all { 4 } else { 3 }).map(|name| (*name).to_owned()).collect()
}

fn row(i: usize, name: &str, score: f64) -> Vec<String> {
    vec![(i + 1).to_string(), text::shortened(name, NAME), text::number(score, 4)]
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
