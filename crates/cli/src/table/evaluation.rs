//! Evaluations for people.

use fewest::eval::{AUTO_K, KRule, k_text};
use fewest_study::{Baseline, Evaluated, Report, Row, differences};

use super::{NAME, data_heading, notes};
use crate::text::{self, Align, UNCORRECTED, baseline_name, baseline_text, error, rule_text};

/// What `fewest evaluate` prints.
pub(crate) fn evaluation(report: &Report) -> String {
    let mut out = data_heading(&report.data);
    let Some(method) = report.methods.first() else { return out };
    out.push_str(&format!("{}, then {}: {}\n\n", method.method.id, report.learner, folds(report)));
    let mut heading = vec!["k".to_owned()];
    heading.extend(report.metrics().iter().cloned());
    heading.extend(["stability (95 %)", "seconds"].map(str::to_owned));
    let judged = method.rows();
    let fewer = judged.iter().any(|row| row.mean_features() < row.k as f64);
    if fewer {
        heading.push("features".to_owned());
    }
    let align = vec![Align::Right; heading.len()];
    let mut rows = vec![heading];
    let baseline = |known: &Baseline| {
        let name = baseline_name(known);
        let means = known.summaries.iter().map(|summary| mean(summary.mean, summary.standard_error));
        std::iter::once(name.to_owned()).chain(means).collect::<Vec<String>>()
    };
    let (without, with_all): (Vec<&Baseline>, Vec<&Baseline>) =
        report.baselines.iter().partition(|known| known.n_features == 0);
    rows.extend(without.into_iter().map(baseline));
    rows.extend(judged.iter().map(|row| {
        let mut cells = vec![k_text(row.k)];
        let summaries = row.summaries.iter();
        cells.extend(summaries.map(|summary| mean(summary.mean, summary.standard_error)));
        cells.extend([stability(row), text::number(row.selection_seconds + row.fit_seconds, 2)]);
        if fewer {
            cells.push(text::short(row.mean_features(), 4));
        }
        cells
    }));
    rows.extend(with_all.into_iter().map(baseline));
    out.push_str(&text::columns(&rows, &align));
    out.push_str("\nmean ± standard error over the folds");
    out.push_str(&directions(report));
    out.push_str("; seconds per fold to select, learn and predict");
    out.push_str(&baselines_text(report));
    if fewer {
        out.push_str("; mean number of features found, ");
        out.push_str(match report.ks().contains(&AUTO_K) {
            true => "with auto as many as the method decides",
            false => "if the method finds fewer than k",
        });
    }
    out.push_str("\n\n");
    chosen(&mut out, method, report);
    notes(&mut out, &report.notes);
    out
}

/// What `fewest compare` prints.
pub(crate) fn comparison(report: &Report) -> String {
    let mut out = data_heading(&report.data);
    let methods = text::counted(report.methods.len(), "method", "methods");
    out.push_str(&format!("{methods}, then {}: {}\n", report.learner, folds(report)));
    let mut is_compared = false;
    for (m, metric) in report.metrics().iter().enumerate() {
        let columns = differences::columns(report, m);
        let mut rows = vec![k_heading(metric, columns.iter().map(|column| column.k))];
        let mut tested = vec![k_heading("p-value", columns.iter().map(|column| column.k))];
        for (i, method) in report.methods.iter().enumerate() {
            let id = method.method.id.to_owned();
            let (mut row, mut test) = (vec![id.clone()], vec![id]);
            for column in &columns {
                let Some(cell) = column.cells.get(i) else { continue };
                let mark = if cell.is_best { " *" } else { "  " };
                row.push(format!("{}{mark}", mean(cell.mean, cell.standard_error)));
                test.push(match &cell.difference {
                    Some(difference) => text::p_value(difference.corrected_t.p_value, 2),
                    None if column.best == Some(i) => "best".to_owned(),
                    None => "-".to_owned(),
                });
            }
            rows.push(row);
            tested.push(test);
        }
        for known in &report.baselines {
            let Some(summary) = known.summaries.get(m) else { continue };
            let name = format!("({})", baseline_name(known));
            // Without a mark, but as wide.
            let cell = format!("{}  ", mean(summary.mean, summary.standard_error));
            rows.push(std::iter::once(name).chain(columns.iter().map(|_| cell.clone())).collect());
        }
        out.push_str(&format!("\n{}", aligned(&rows)));
        is_compared = columns.iter().any(|column| column.best.is_some());
        if is_compared {
            out.push_str(&format!("\n{}", aligned(&tested)));
        }
    }
    out.push_str("\nmean ± standard error over the folds");
    out.push_str(&directions(report));
    if is_compared {
        out.push_str("; * marks the best mean for each k");
    }
    out.push_str(&baselines_text(report));
    if is_compared {
        out.push_str(
            "\np-value of the difference from that mean (corrected resampled t-test): above 0.05, it may well be \
             chance",
        );
        out.push_str(&format!("\n{UNCORRECTED}"));
    }
    out.push_str("\n\n");
    let mut rows = vec![k_heading("stability", report.ks().iter().copied())];
    let mut seconds = vec![k_heading("seconds per fold", report.ks().iter().copied())];
    for method in &report.methods {
        let id = || vec![method.method.id.to_owned()];
        let (mut row, mut time) = (id(), id());
        for all in method.rows() {
            row.push(all.stability.map_or("-".to_owned(), |stability| format!("{:.2}", stability.phi)));
            time.push(text::number(all.selection_seconds + all.fit_seconds, 2));
        }
        rows.push(row);
        seconds.push(time);
    }
    out.push_str(&format!("{}\n{}\n", aligned(&rows), aligned(&seconds)));
    out.push_str(&best_of_each(report));
    notes(&mut out, &report.notes);
    out
}

/// The metrics of which smaller is better.
fn directions(report: &Report) -> String {
    let metrics = report.metrics().iter().enumerate();
    let smaller: Vec<&str> =
        metrics.filter(|(m, _)| !report.greater_is_better(*m)).map(|(_, metric)| metric.as_str()).collect();
    match smaller.is_empty() {
        true => String::new(),
        false => format!("; {}: smaller is better", smaller.join(", ")),
    }
}

fn baselines_text(report: &Report) -> String {
    report.baselines.iter().map(|known| format!("; {}", baseline_text(known))).collect()
}

fn folds(report: &Report) -> String {
    let finished = report.methods.iter().map(|method| method.evaluation.folds.len()).min().unwrap_or(0);
    let early = match finished < report.n_folds {
        true => format!(", {} finished", text::count(finished)),
        false => String::new(),
    };
    format!("{}{early}, in {}", report.splitter, text::duration(report.seconds))
}

/// `0.9543 ± 0.0071`: the mean to the second digit of its error, but at least four digits, so that methods
/// can be distinguished. `0.9543 ± -` if there is only one fold, so no error.
fn mean(mean: f64, standard_error: Option<f64>) -> String {
    format!("{} ± {}", text::number(mean, 4), error(standard_error))
}

fn stability(row: &Row) -> String {
    let Some(stability) = &row.stability else { return "-".to_owned() };
    match stability.interval {
        Some((lower, upper)) => format!("{:.2} ({lower:.2} to {upper:.2})", stability.phi),
        None => format!("{:.2} (-)", stability.phi),
    }
}

fn k_heading(first: &str, ks: impl Iterator<Item = usize>) -> Vec<String> {
    std::iter::once(first.to_owned()).chain(ks.map(|k| format!("k = {}", k_text(k)))).collect()
}

/// Names at the left, numbers at the right.
fn aligned(rows: &[Vec<String>]) -> String {
    let n_columns = rows.first().map_or(0, Vec::len);
    let align: Vec<Align> =
        (0..n_columns).map(|at| if at == 0 { Align::Left } else { Align::Right }).collect();
    text::columns(rows, &align)
}

/// The features that each rule chooses, side by side.
fn chosen(out: &mut String, method: &Evaluated, report: &Report) {
    let Some(metric) = report.metrics().first() else { return };
    let mut heading = vec!["rank".to_owned()];
    let mut lists: Vec<&[usize]> = Vec::new();
    for chosen in &method.chosen {
        out.push_str(&format!("by {metric}, {}: k = {}\n", rule_text(chosen.rule), k_text(chosen.k)));
        if let Some(features) = &chosen.features
            && !lists.contains(&features.as_slice())
        {
            heading.push(format!("k = {}", k_text(chosen.k)));
            lists.push(features);
        }
    }
    let longest = lists.iter().map(|features| features.len()).max().unwrap_or(0);
    if longest == 0 {
        return;
    }
    let mut rows = vec![heading];
    rows.extend((0..longest).map(|rank| {
        let name = |features: &&[usize]| {
            features.get(rank).map_or(String::new(), |&j| text::shortened(report.data.name(j), NAME))
        };
        std::iter::once((rank + 1).to_string()).chain(lists.iter().map(name)).collect()
    }));
    let mut align = vec![Align::Left; lists.len() + 1];
    align[0] = Align::Right;
    out.push_str(&format!("\nselected on all samples:\n\n{}", text::columns(&rows, &align)));
}

/// A line for each method: its best number of features, and the smallest number within one standard error.
fn best_of_each(report: &Report) -> String {
    let metric = report.metrics().first().map_or("", String::as_str);
    let mut rows = vec![vec![
        "method".to_owned(),
        format!("best k by {metric}"),
        "within one standard error".to_owned(),
    ]];
    let k = |method: &Evaluated, rule: KRule| {
        method.chosen(rule).map_or("-".to_owned(), |chosen| format!("k = {}", k_text(chosen.k)))
    };
    rows.extend(report.methods.iter().map(|method| {
        vec![method.method.id.to_owned(), k(method, KRule::Best), k(method, KRule::OneStandardError)]
    }));
    aligned(&rows)
}
