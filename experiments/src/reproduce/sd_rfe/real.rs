//! Table 3: real data.

use std::fmt::Write;

use fewest::eval::{MeanSquaredError, SquaredCorrelation};

use super::printed::{Cell, TABLE_3};
use super::{FOLDER, METHODS, OTHER_LOSS, REFERENCE};
use crate::Result;
use crate::reproduce::comparison::{Comparison, LEGEND, Line, Printed};
use crate::reproduce::experiments::{Protocol, Row, Setting};
use crate::reproduce::given::Portions;
use crate::reproduce::machines::Regression;

/// A data set of Table 2, with the machine's parameters that it gives.
struct Problem {
    name: &'static str,
    file: &'static str,
    train: usize,
    test: usize,
    regression: Regression,
}

const fn problem(
    name: &'static str,
    file: &'static str,
    train: usize,
    test: usize,
    (c, kappa, epsilon): (f64, f64, f64),
) -> Problem {
    Problem { name, file, train, test, regression: Regression { c, kappa, epsilon } }
}

const PROBLEMS: [Problem; 6] = [
    problem("mpg", "auto_mpg.csv", 353, 39, (64.0, 0.0625, 2.0)),
    problem("abalone", "abalone.csv", 1254, 2923, (64.0, 0.03125, 2.0)),
    problem("cpusmall", "cpusmall.csv", 820, 7372, (64.0, 0.03125, 2.0)),
    problem("housing", "boston_housing.csv", 456, 50, (64.0, 0.0625, 2.0)),
    problem("bodyfat", "bodyfat.csv", 227, 25, (0.25, 0.015_625, 0.03125)),
    problem("triazines", "triazines.csv", 168, 18, (0.5, 0.015_625, 0.125)),
];

/// Writes `table-3.md` and `table-3.csv`.
pub(super) fn run(protocol: &Protocol) -> Result<()> {
    let mut rows = Vec::new();
    for problem in &PROBLEMS {
        let Some(data) = protocol.read(problem.name, problem.file)? else { continue };
        let ks: Vec<usize> =
            TABLE_3.iter().filter(|(name, ..)| *name == problem.name).map(|(_, k, ..)| *k).collect();
        let portions = Portions { train: problem.train, test: problem.test, runs: protocol.runs as usize };
        let setting = Setting {
            name: "sd-rfe-real",
            learner: &problem.regression.learner(),
            splitter: &portions,
            metrics: &[&MeanSquaredError, &SquaredCorrelation],
            ks: &ks,
            nested: true,
        };
        for method in METHODS.iter().chain(&OTHER_LOSS) {
            let selector = problem.regression.selector(method)?;
            rows.extend(protocol.run_selector(&setting, problem.name, &data, method.name, &*selector)?);
        }
    }
    let documents = protocol.documents_of(FOLDER, &rows)?;
    documents.csv("table-3", &HEADER, &cells(&rows))?;
    documents.page("table-3", summary(&rows)?)
}

const HEADER: [&str; 7] = [
    "dataset",
    "method",
    "run",
    "n_features",
    "mean_squared_error",
    "squared_correlation",
    "selection_seconds",
];

/// One line per run: the numbers of features, and the scores with each of them.
fn cells(rows: &[Row]) -> Vec<Vec<String>> {
    let runs = rows
        .chunk_by(|row, next| (row.dataset, row.method, row.run) == (next.dataset, next.method, next.run));
    runs.filter_map(|rows| {
        let first = rows.first()?;
        let joined = |value: &dyn Fn(&Row) -> String| -> String {
            rows.iter().map(value).collect::<Vec<_>>().join(" ")
        };
        Some(vec![
            first.dataset.to_owned(),
            first.method.to_owned(),
            first.run.to_string(),
            joined(&|row| row.k.to_string()),
            joined(&|row| significant(row.scores[0])),
            joined(&|row| significant(row.scores[1])),
            format!("{:.4}", first.seconds),
        ])
    })
    .collect()
}

/// A number with five significant digits.
fn significant(value: f64) -> String {
    let digits = if value == 0.0 { 0.0 } else { 4.0 - value.abs().log10().floor() };
    format!("{value:.*}", digits.clamp(0.0, 12.0) as usize)
}

fn summary(rows: &[Row]) -> Result<String> {
    let mut text = format!(
        "# SD-RFE, Table 3: real data\n\n{REFERENCE}, Section V-B. Every run is in \
         [table-3.csv](table-3.csv), a line each, with the scores at every number of features. Data sets whose file is not there are left out.\n\nAs in the paper: the \
         numbers of samples to train and to test, C, κ and ε of its Table 2; features are ranked once, and a \
         machine with the same parameters is trained on the first N; everything is standardised by the \
         training samples, the target is not.\n\n{LEGEND}The paper prints means, p-values and \
         marks. Its p-values are not repeated here; `▾` and `▴` inside the brackets are its own. It does not say which loss the machines of RMB-RFE* and SpanB-RFE* \
         have: the last two columns compare the other one with the same printed numbers.\n"
    );
    let names: Vec<&str> = METHODS.iter().chain(&OTHER_LOSS).map(|method| method.name).collect();
    for (metric, title) in ["Mean squared error", "Squared correlation"].into_iter().enumerate() {
        let _ = write!(text, "\n## {title}\n\n");
        let lines: Vec<Line<'_>> = TABLE_3
            .iter()
            .map(|(dataset, k, errors, correlations)| Line {
                title: format!("{dataset}, N = {k}"),
                dataset,
                k: *k,
                printed: {
                    let cells = if metric == 0 { errors } else { correlations };
                    // The two bounds with the other loss are beside the same printed numbers.
                    let of_bounds = &cells[METHODS.len() - OTHER_LOSS.len()..];
                    cells.iter().chain(of_bounds).map(printed).collect()
                },
            })
            .collect();
        let comparison = Comparison {
            methods: &names,
            metric,
            unit: 1.0,
            digits: 4,
            greater_is_better: metric == 1,
            paper_runs: 30.0,
        };
        text.push_str(&comparison.table(rows, &lines)?);
        let _ = write!(text, "\n### {title}: p-values of the tests against {}\n\n", names[0]);
        text.push_str(&comparison.p_values(rows, &lines)?);
    }
    Ok(text)
}

fn printed(cell: &Cell) -> Option<Printed> {
    let mark = match cell.1 {
        '+' => " ▾",
        '-' => " ▴",
        _ => "",
    };
    Some(Printed { mean: cell.0, deviation: None, mark })
}
