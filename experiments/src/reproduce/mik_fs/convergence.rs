//! Figure 2: by how much the objective falls in every alternation.

use std::fmt::Write;

use fewest::mkl::MikFs;

use super::contenders::{ALTERNATIONS, Descent, MIK_FS};
use super::table::Cell;
use super::{FOLDER, Problem, REFERENCE, finish};
use crate::Result;
use crate::output::median;
use crate::plot::{Panel, Series, lines};
use crate::reproduce::experiments::Protocol;

/// Runs whose curves are drawn.
const DRAWN: usize = 3;

/// Writes `figure-2.md`, `figure-2.csv` and `figure-2.svg`.
pub(super) fn write_figure(protocol: &Protocol, problems: &[Problem], cells: &[Cell]) -> Result<()> {
    let mut text = format!(
        "# MIK-FS, Figure 2: convergence\n\n{REFERENCE}, Section 5.2: the decrease `F(k) − F(k + 1)` of the \
         objective in alternation `k`, and the claim that ten alternations are enough. Data, halves and the \
         choice of parameters are those of [table 2](table-2.md); the run at the penalty chosen starts from \
         where the penalty before has ended. When the relative decrease is at most 1e-5, or half of the steps \
         are used, Newton steps on weights and machine together, which the paper does not have, go on to \
         where both are stationary to 1e-6; there are at most {ALTERNATIONS} alternations and Newton steps. \
         All objectives are in [figure-2.csv](figure-2.csv), those of Newton steps at the end of a run.\n\n![Decrease by alternation](figure-2.svg)\n\nOver all runs: the \
         median and the largest number of the alternation after which the objective falls by no more than \
         1e-3 of itself, and of all alternations; the median and the largest number of Newton steps; how \
         many runs ever rise; how many end stationary to 1e-6; the median and the largest of the \
         stationarity at the model that is returned: the larger of the projected gradient of the weights, \
         relative to their penalty, and the gradient of the machine, relative to that at zero.\n\n\
         | data | method | 1e-3: median | most | alternations: median | most | Newton steps: median | most \
         | runs that rise | stationary | stationarity: median | most |\n\
         |---|---|---|---|---|---|---|---|---|---|---|---|\n"
    );
    let mut rows = Vec::new();
    let mut panels = Vec::new();
    for cell in cells {
        let descents: Vec<&Descent> =
            cell.outcomes.iter().filter_map(|outcome| outcome.descent.as_ref()).collect();
        if descents.is_empty() {
            continue;
        }
        for (run, descent) in descents.iter().enumerate() {
            rows.extend(descent.history.iter().enumerate().map(|(alternation, value)| {
                vec![
                    cell.dataset.to_owned(),
                    cell.method.to_owned(),
                    run.to_string(),
                    alternation.to_string(),
                    format!("{value:.12e}"),
                ]
            }));
        }
        // Newton steps come last.
        let alternations = |descent: &Descent| descent.history.len() - 1 - descent.newton_steps;
        let soon: Vec<f64> = descents
            .iter()
            .map(|descent| settled(&descent.history[..=alternations(descent)], 1e-3) as f64)
            .collect();
        let newton: Vec<f64> = descents.iter().map(|descent| descent.newton_steps as f64).collect();
        let end: Vec<f64> = descents.iter().map(|descent| alternations(descent) as f64).collect();
        let violations: Vec<f64> =
            descents.iter().map(|descent| descent.weight_violation.max(descent.machine_violation)).collect();
        let rises = |descent: &&&Descent| descent.history.windows(2).any(|pair| pair[1] > pair[0]);
        let most = |values: &mut dyn Iterator<Item = f64>| values.fold(0.0, f64::max);
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} of {} | {:.0e} | {:.0e} |",
            cell.dataset,
            cell.method,
            median(&soon),
            most(&mut soon.iter().copied()),
            median(&end),
            most(&mut end.iter().copied()),
            median(&newton),
            most(&mut newton.iter().copied()),
            descents.iter().filter(rises).count(),
            violations.iter().filter(|violation| **violation <= MikFs::default().tolerance).count(),
            violations.len(),
            median(&violations),
            most(&mut violations.iter().copied())
        );
        let is_drawn =
            |problem: &Problem| problem.printed.name == cell.dataset && problem.printed.is_in_figures;
        if cell.method == MIK_FS && problems.iter().any(is_drawn) {
            panels.push(panel(cell.dataset, &descents));
        }
    }
    lines(&protocol.documents(FOLDER).path("figure-2.svg"), &panels)?;
    let header = ["dataset", "method", "run", "alternation", "objective"];
    finish(protocol, "figure-2", "--figure 2", &header, &rows, &text)
}

fn panel(dataset: &str, descents: &[&Descent]) -> Panel {
    let series = descents.iter().take(DRAWN).enumerate().map(|(run, descent)| {
        let falls = descent.history.windows(2).enumerate();
        let points = falls.map(|(k, pair)| ((k + 1) as f64, pair[0] - pair[1]));
        Series {
            name: format!("run {run}"),
            points: points.filter(|point| point.1 > 0.0).collect(),
            errors: Vec::new(),
            is_guide: false,
        }
    });
    Panel {
        title: dataset.to_owned(),
        x_label: "alternation".to_owned(),
        y_label: "decrease of the objective".to_owned(),
        logarithmic: true,
        y_range: None,
        series: series.collect(),
    }
}

/// The alternation after which the objective falls by at most `share` of itself in each.
fn settled(history: &[f64], share: f64) -> usize {
    let falls = |pair: &[f64]| pair[0] - pair[1] > share * pair[1].abs();
    history.windows(2).rposition(falls).map_or(0, |last| last + 1)
}

#[cfg(test)]
mod tests {
    use super::settled;

    #[test]
    fn settling_counts_alternations() {
        let history = [100.0, 50.0, 49.0, 48.99, 48.99];
        assert_eq!(settled(&history, 1e-1), 1);
        assert_eq!(settled(&history, 1e-3), 2);
        assert_eq!(settled(&[1.0, 1.0], 1e-3), 0);
    }
}
