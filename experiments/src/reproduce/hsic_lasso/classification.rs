//! Tables 3 and 4 and Figure 2: accuracy and redundancy of the selected features on real data.

use std::fmt::Write;

use fewest::core::Dataset;
use fewest::eval::{Accuracy, HoldOut, KernelLogistic, Metric};

use super::blocks::runs_of;
use super::curves::{Value, datasets, mean, panels};
use super::printed::{PROBLEMS, Printed, Problem};
use super::published::{self, Scope};
use super::{
    FVM, HSIC_LASSO, KS, MRMR, MRMR_LEVELS, NOCCO_LARGER, NOCCO_LASSO, QPFS, REFERENCE, SPAM, TEST_FRACTION,
    Work, blocks, differences,
};
use crate::Result;
use crate::output::Documents;
use crate::plot::lines;
use crate::reproduce::experiments::{Method, Row, Setting};
use crate::reproduce::paired;

/// Runs of the paper.
const PAPER_RUNS: f64 = 100.0;

/// Means that differ by more than this many standard errors count as different.
const DIFFERENT: f64 = 2.0;

const METHODS: &[Method] = &[
    HSIC_LASSO,
    NOCCO_LASSO,
    SPAM,
    FVM,
    MRMR,
    QPFS,
    Method { name: "cKTA", id: "ckta", parameters: &[] },
    Method { name: "FHSIC", id: "fhsic", parameters: &[] },
    // Not in the paper: for comparison.
    NOCCO_LARGER,
    MRMR_LEVELS,
];

/// Runs every method on every data set there is; writes `classification.csv`, `table-3.md`, `table-4.md` and
/// `figure-2.svg`.
pub(super) fn run(work: &Work<'_>) -> Result<()> {
    let (rows, documents) = collect(work, METHODS, "classification")?;
    let figure = panels(&rows, "", METHODS, |row| row.scores[0], "mean accuracy");
    lines(&documents.path("figure-2.svg"), &figure)?;
    for table in [Table::Accuracy, Table::Redundancy] {
        documents.page(table.name(), table.text(&rows, work.protocol.runs)?)?;
    }
    Ok(())
}

/// The finished runs of `methods` on the data sets there are, in the paper's order, and their documents, of
/// which `{name}.csv` is written.
pub(super) fn collect(work: &Work<'_>, methods: &[Method], name: &str) -> Result<(Vec<Row>, Documents)> {
    let metrics: [&dyn Metric; 1] = [&Accuracy];
    let repeats = work.protocol.runs as usize;
    let setting = Setting {
        name: "hsic-lasso-classification",
        learner: &KernelLogistic::default(),
        splitter: &HoldOut { test_fraction: TEST_FRACTION, repeats, stratified: false },
        metrics: &metrics,
        ks: KS,
        nested: true,
    };
    let mut by_cost: Vec<&Problem> = PROBLEMS.iter().collect();
    by_cost.sort_by_key(|problem| problem.seconds);
    let mut data: Vec<(&str, Dataset)> = Vec::new();
    for problem in by_cost {
        data.extend(work.protocol.read(problem.name, problem.file)?.map(|data| (problem.name, data)));
    }
    let mut rows = blocks::run(work, &setting, &data, methods)?;
    let names: Vec<&str> = PROBLEMS.iter().map(|problem| problem.name).collect();
    let scope = Scope { datasets: &names, methods, metrics: &["accuracy"] };
    let documents = published::documents(work, name, &mut rows, &scope)?;
    Ok((rows, documents))
}

/// Which table.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Table {
    Accuracy,
    Redundancy,
}

impl Table {
    fn name(self) -> &'static str {
        match self {
            Table::Accuracy => "table-3",
            Table::Redundancy => "table-4",
        }
    }

    fn value(self) -> Value {
        match self {
            Table::Accuracy => |row| row.scores[0],
            Table::Redundancy => |row| row.redundancy,
        }
    }

    fn printed(self, problem: &Problem) -> &[Printed; 8] {
        match self {
            Table::Accuracy => &problem.accuracy,
            Table::Redundancy => &problem.redundancy,
        }
    }

    fn text(self, rows: &[Row], runs: u64) -> Result<String> {
        let largest = KS.iter().copied().max().unwrap_or(0);
        let mut text = String::from(match self {
            Table::Accuracy => "# HSIC Lasso, Table 3 and Figure 2: mean classification accuracy\n\n",
            Table::Redundancy => "# HSIC Lasso, Table 4: mean redundancy rate\n\n",
        });
        let _ = write!(
            text,
            "{REFERENCE}, Section 4.3.1. Every run is in [classification.csv](classification.csv).\n\n\
             As in the paper: 80 % of the samples for training, drawn at random for every run, the same for \
             all methods; 50 features are selected on them once, and the first m are used; kernel logistic \
             regression with a Gaussian kernel predicts, its width and regularisation chosen by 3-fold \
             cross-validation on the training samples. Each cell is our mean ± standard error, then the \
             paper's mean ± standard error (its standard deviation over 100 runs, divided by 10), then `=` \
             where the two are within two standard errors of their difference, `+` where ours is larger and \
             `−` where ours is smaller.\n\n{}\n",
            runs_of(rows, METHODS, runs, "--table 3")
        );
        if self == Table::Accuracy {
            text.push_str("![Accuracy against the number of features](figure-2.svg)\n\n");
        } else {
            text.push_str(
                "The rate is half the mean absolute correlation between the selected features, as printed, \
                 over the training samples.\n\n",
            );
        }
        let _ = writeln!(text, "With {largest} features:\n");
        let names: Vec<&str> = METHODS.iter().map(|method| method.name).collect();
        let _ = writeln!(text, "| data set | {} |", names.join(" | "));
        let _ = writeln!(text, "|---|{}", "---|".repeat(names.len()));
        let (mut same, mut compared) = (0, 0);
        let there = datasets(rows);
        for problem in PROBLEMS.iter().filter(|problem| there.contains(&problem.name)) {
            let mut line = vec![problem.name.to_owned()];
            for (at, method) in METHODS.iter().enumerate() {
                let ours = mean(rows, problem.name, method, largest, self.value());
                let printed = self.printed(problem).get(at).copied().flatten();
                if let (Some(ours), Some(printed)) = (ours, printed) {
                    compared += 1;
                    same += usize::from(verdict(ours, printed) == "=");
                }
                line.push(cell(ours, printed));
            }
            let _ = writeln!(text, "| {} |", line.join(" | "));
        }
        let _ = writeln!(text, "\n{same} of {compared} cells agree with the paper by this measure.");
        let _ = write!(text, "\n## Differences with {largest} features\n\n{}", paired::LEGEND);
        for first in [HSIC_LASSO, NOCCO_LASSO] {
            let mut methods = vec![first];
            methods.extend(METHODS.iter().filter(|method| method.name != first.name));
            let _ = write!(text, "\n{}", differences::table(rows, &methods, self.value(), 3)?);
        }
        Ok(text)
    }
}

fn cell(ours: Option<(f64, f64)>, printed: Printed) -> String {
    let Some(ours) = ours else { return "—".to_owned() };
    let left = format!("{:.3} ± {:.3}", ours.0, ours.1);
    match printed {
        None => left,
        Some(printed) => {
            let error = printed.1 / PAPER_RUNS.sqrt();
            format!("{left} ({:.3} ± {error:.3} {})", printed.0, verdict(ours, printed))
        }
    }
}

/// Whether our mean is like the printed one: `=`, `+` or `−`.
fn verdict(ours: (f64, f64), printed: (f64, f64)) -> &'static str {
    let error = (ours.1.powi(2) + printed.1.powi(2) / PAPER_RUNS).sqrt();
    match ours.0 - printed.0 {
        difference if difference.abs() <= DIFFERENT * error => "=",
        difference if difference > 0.0 => "+",
        _ => "−",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::hsic_lasso::curves::tests::row;

    #[test]
    fn means_are_compared_with_the_printed_ones() {
        assert_eq!(verdict((0.848, 0.02), (0.848, 0.111)), "=");
        assert_eq!(verdict((0.900, 0.02), (0.848, 0.111)), "+");
        assert_eq!(verdict((0.700, 0.02), (0.848, 0.111)), "−");
        let rows = [
            row("AR10P", "HSIC Lasso", 0, 0.80),
            row("AR10P", "HSIC Lasso", 1, 0.90),
            row("AR10P", "mRMR", 1, 0.85),
            row("AR10P", "mRMR", 0, 0.70),
        ];
        let text = Table::Accuracy.text(&rows, 2).unwrap();
        assert!(text.contains("| AR10P | 0.850 ± 0.050 (0.848 ± 0.011 =) | — |"), "{text}");
        assert!(text.contains("2 of 2 cells agree"), "{text}");
        assert!(text.contains("- AR10P: HSIC Lasso 2, NOCCO Lasso 0, SpAM 0,"), "{text}");
        assert!(text.contains("| HSIC Lasso minus | NOCCO Lasso | SpAM |"), "{text}");
        assert!(Table::Redundancy.text(&rows, 2).unwrap().contains("0.200 ± 0.000 (0.196 ± 0.003 =)"));
    }
}
