//! Streams as text.

use fewest::core::Arrives;
use fewest_study::json::StreamInfo;
use fewest_study::{Answer, DataInfo, Drift, Orders};

use super::{NAME, data_heading, notes};
use crate::text::{self, Align};

/// What is known at the first answer.
pub(crate) fn stream_heading(answer: &Answer, info: &StreamInfo) -> String {
    let what = match answer.arrives {
        Arrives::Features => {
            format!("features that arrive, of {}", text::counted(answer.n_samples, "sample", "samples"))
        }
        _ => format!("samples that arrive, of {}", text::counted(answer.n_features, "feature", "features")),
    };
    let names: Vec<String> =
        answer.target_names.iter().map(|name| format!("`{}`", text::one_line(name))).collect();
    let kind = match answer.task {
        "classification" => format!(", {}", text::counted(answer.n_classes, "class", "classes")),
        "none" => String::new(),
        _ => ", numbers".to_owned(),
    };
    let target = match names.is_empty() {
        true => String::new(),
        false => format!(", target {}{kind}", names.join(", ")),
    };
    let found = answer
        .target_found
        .as_ref()
        .map_or(String::new(), |found| format!(" ({found}; use --target to name another)"));
    format!("{}: {what}{target}{found}\n", text::one_line(&info.file))
}

/// The alarm that has just been, or at the end how many there were.
fn alarm(drift: &Drift, is_last: bool) -> String {
    let names = |names: &[String]| match names.is_empty() {
        true => "none".to_owned(),
        false => names.iter().map(|name| text::shortened(name, NAME)).collect::<Vec<_>>().join(", "),
    };
    match &drift.alarm {
        Some(alarm) if drift.is_new => format!(
            "alarm {} at {}: the selection holds up to sample {} only; left {}, new {}, rank correlation {:.2}\n",
            alarm.number,
            text::count(alarm.sample as usize),
            text::count(alarm.since as usize),
            names(&drift.left),
            names(&drift.entered),
            alarm.rank_correlation,
        ),
        Some(alarm) if is_last => {
            let alarms = text::counted(alarm.number as usize, "alarm", "alarms");
            format!("{alarms}: what counts are the samples behind {}\n", text::count(alarm.since as usize))
        }
        None if is_last => "no alarm: all samples count\n".to_owned(),
        _ => String::new(),
    }
}

/// An answer on one line, with its notes where it is the last.
pub(crate) fn stream_line(answer: &Answer) -> String {
    let (one, many) = match answer.arrives {
        Arrives::Features => ("feature", "features"),
        _ => ("sample", "samples"),
    };
    let names: Vec<String> = answer.names.iter().map(|name| text::shortened(name, NAME)).collect();
    let chosen = if names.is_empty() { "none selected".to_owned() } else { names.join(", ") };
    let left_out = match answer.left_out {
        0 => String::new(),
        count => format!("{} left out; ", text::count(count)),
    };
    let mut line = answer.drift.as_ref().map_or(String::new(), |drift| alarm(drift, answer.is_last));
    line += &format!(
        "{}{}: {chosen} ({left_out}{} held, {} bytes)\n",
        if answer.is_last { "at the end, " } else { "" },
        text::counted(answer.arrived, one, many),
        text::counted(answer.held.features, "feature", "features"),
        text::count(answer.held.bytes),
    );
    if answer.is_last {
        notes(&mut line, &answer.selection.notes);
        if let Some(solver) = &answer.selection.solver {
            line.push_str(&super::solver_line(solver));
        }
    }
    line
}

/// The answers in several orders.
pub(crate) fn orders(orders: &Orders, info: &StreamInfo, data: &DataInfo, seconds: f64) -> String {
    let mut out = data_heading(data);
    let n = orders.selections.len();
    out.push_str(&format!("{}: {n} shuffled orders in {}", info.method.id, text::duration(seconds)));
    if orders.status.is_stopped() {
        out.push_str(&format!(" ({})", orders.status.name()));
    }
    out.push_str("\n\n");
    let mut rows = vec![["feature", "orders", "share"].map(str::to_owned).to_vec()];
    for &(j, count) in &orders.chosen {
        let share = text::number(count as f64 / n as f64, 2);
        rows.push(vec![text::shortened(data.name(j), NAME), count.to_string(), share]);
    }
    out.push_str(&text::columns(&rows, &[Align::Left, Align::Right, Align::Right]));
    let sizes: Vec<usize> = orders.selections.iter().map(|selection| selection.order.len()).collect();
    let mean = sizes.iter().sum::<usize>() as f64 / n as f64;
    out.push_str(&format!("\nfeatures selected: {} on average", text::short(mean, 3)));
    if let Some(stability) = orders.stability {
        let interval = stability.interval.map_or(String::new(), |(low, high)| {
            format!(" ({} to {})", text::number(low, 2), text::number(high, 2))
        });
        out.push_str(&format!("\nstability (95 %): {}{interval}", text::number(stability.phi, 2)));
    }
    out.push_str(&format!("\nmean Jaccard index of two orders: {}\n", text::number(orders.jaccard, 2)));
    out
}
