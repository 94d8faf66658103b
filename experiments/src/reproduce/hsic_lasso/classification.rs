//! Tables 3 and 4 and Figure 2: accuracy and redundancy of the selected features on real data.

use std::fmt::Write;

use fewest::eval::{Accuracy, HoldOut, KernelLogistic, Metric};

use super::{FOLDER, HSIC_LASSO, MRMR, MRMR_LEVELS, NOCCO_LARGER, NOCCO_LASSO};
use crate::Result;
use crate::plot::{Panel, Series, lines};
use crate::reproduce::experiments::{Method, Protocol, Row, Setting, mean_of};

/// Numbers of features; the tables are of the last.
const KS: &[usize] = &[10, 20, 30, 40, 50];

/// Runs of the paper.
const PAPER_RUNS: f64 = 100.0;

/// Means that differ by more than this many standard errors count as different.
const DIFFERENT: f64 = 2.0;

const METHODS: &[Method] = &[
    HSIC_LASSO,
    NOCCO_LASSO,
    Method { name: "SpAM", id: "spam", parameters: &[] },
    // The paper has mutual information in both, λ = 1 and γ = 0.5; here the number of features decides λ.
    Method { name: "FVM", id: "fvm", parameters: &["similarity=mutual-information"] },
    MRMR,
    Method { name: "QPFS", id: "qpfs", parameters: &["gamma=0.5"] },
    Method { name: "cKTA", id: "ckta", parameters: &[] },
    Method { name: "FHSIC", id: "fhsic", parameters: &[] },
    // Not in the paper: for comparison.
    NOCCO_LARGER,
    MRMR_LEVELS,
];

/// Mean and standard deviation.
type Printed = Option<(f64, f64)>;

/// A data set of Table 2, with the numbers of Tables 3 and 4 for the first methods, in their order.
struct Problem {
    name: &'static str,
    file: &'static str,
    accuracy: [Printed; 8],
    redundancy: [Printed; 8],
}

const PROBLEMS: &[Problem] = &[
    Problem {
        name: "AR10P",
        file: "warpAR10P.mat",
        accuracy: [
            Some((0.848, 0.111)),
            Some((0.846, 0.111)),
            Some((0.551, 0.109)),
            Some((0.795, 0.121)),
            Some((0.745, 0.136)),
            Some((0.743, 0.137)),
            Some((0.709, 0.207)),
            Some((0.773, 0.122)),
        ],
        redundancy: [
            Some((0.196, 0.028)),
            Some((0.195, 0.028)),
            Some((0.255, 0.036)),
            Some((0.260, 0.039)),
            Some((0.268, 0.038)),
            Some((0.217, 0.050)),
            Some((0.235, 0.034)),
            Some((0.350, 0.091)),
        ],
    },
    Problem {
        name: "PIE10P",
        file: "warpPIE10P.mat",
        accuracy: [
            Some((0.971, 0.032)),
            Some((0.972, 0.031)),
            Some((0.898, 0.109)),
            Some((0.955, 0.062)),
            Some((0.895, 0.118)),
            Some((0.952, 0.067)),
            Some((0.884, 0.218)),
            Some((0.908, 0.091)),
        ],
        redundancy: [
            Some((0.135, 0.014)),
            Some((0.139, 0.017)),
            Some((0.250, 0.042)),
            Some((0.193, 0.029)),
            Some((0.225, 0.036)),
            Some((0.183, 0.026)),
            Some((0.155, 0.021)),
            Some((0.285, 0.059)),
        ],
    },
    Problem {
        name: "PIX10P",
        file: "pixraw10P.mat",
        accuracy: [
            Some((0.964, 0.043)),
            Some((0.964, 0.042)),
            Some((0.857, 0.146)),
            None,
            Some((0.769, 0.124)),
            Some((0.924, 0.067)),
            Some((0.920, 0.090)),
            Some((0.920, 0.100)),
        ],
        redundancy: [
            Some((0.177, 0.023)),
            Some((0.174, 0.023)),
            Some((0.388, 0.105)),
            None,
            Some((0.200, 0.066)),
            Some((0.286, 0.057)),
            Some((0.198, 0.036)),
            Some((0.348, 0.064)),
        ],
    },
    Problem {
        name: "ORL10P",
        file: "orlraws10P.mat",
        accuracy: [
            Some((0.938, 0.068)),
            Some((0.941, 0.066)),
            Some((0.669, 0.120)),
            None,
            Some((0.782, 0.138)),
            Some((0.884, 0.096)),
            Some((0.848, 0.140)),
            Some((0.788, 0.132)),
        ],
        redundancy: [
            Some((0.192, 0.026)),
            Some((0.191, 0.025)),
            Some((0.300, 0.047)),
            None,
            Some((0.294, 0.095)),
            Some((0.204, 0.032)),
            Some((0.191, 0.034)),
            Some((0.225, 0.045)),
        ],
    },
    Problem {
        name: "TOX",
        file: "TOX-171.mat",
        accuracy: [
            Some((0.781, 0.119)),
            Some((0.788, 0.113)),
            Some((0.691, 0.087)),
            Some((0.686, 0.085)),
            Some((0.709, 0.084)),
            Some((0.769, 0.077)),
            Some((0.804, 0.110)),
            Some((0.715, 0.087)),
        ],
        redundancy: [
            Some((0.382, 0.027)),
            Some((0.381, 0.027)),
            Some((0.391, 0.028)),
            Some((0.422, 0.031)),
            Some((0.386, 0.032)),
            Some((0.384, 0.028)),
            Some((0.371, 0.040)),
            Some((0.396, 0.036)),
        ],
    },
    Problem {
        name: "CLL-SUB",
        file: "CLL-SUB-111.mat",
        accuracy: [
            Some((0.768, 0.087)),
            Some((0.769, 0.084)),
            Some((0.524, 0.112)),
            None,
            Some((0.640, 0.098)),
            Some((0.760, 0.116)),
            Some((0.709, 0.104)),
            Some((0.732, 0.141)),
        ],
        redundancy: [
            Some((0.344, 0.034)),
            Some((0.345, 0.034)),
            Some((0.403, 0.058)),
            None,
            Some((0.328, 0.039)),
            Some((0.322, 0.033)),
            Some((0.281, 0.050)),
            Some((0.352, 0.061)),
        ],
    },
];

/// Runs every method on every data set there is; writes `classification.csv`, `table-3.md`, `table-4.md` and
/// `figure-2.svg`.
pub(super) fn run(protocol: &Protocol) -> Result<()> {
    let metrics: [&dyn Metric; 1] = [&Accuracy];
    let setting = Setting {
        name: "hsic-lasso-classification",
        learner: &KernelLogistic::default(),
        splitter: &HoldOut { test_fraction: 0.2, repeats: protocol.runs as usize, stratified: false },
        metrics: &metrics,
        ks: KS,
        nested: true,
    };
    let mut rows = Vec::new();
    for problem in PROBLEMS {
        let Some(data) = protocol.read(problem.name, problem.file)? else { continue };
        for method in METHODS {
            rows.extend(protocol.run(&setting, problem.name, &data, method)?);
        }
    }
    let documents = protocol.documents_of(FOLDER, &rows)?;
    documents.rows("classification", &rows, &["accuracy"])?;
    lines(&documents.path("figure-2.svg"), &panels(&rows))?;
    for table in [Table::Accuracy, Table::Redundancy] {
        documents.page(table.name(), table.text(&rows))?;
    }
    Ok(())
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

    fn value(self, row: &Row) -> f64 {
        match self {
            Table::Accuracy => row.scores[0],
            Table::Redundancy => row.redundancy,
        }
    }

    fn printed(self, problem: &Problem) -> &[Printed; 8] {
        match self {
            Table::Accuracy => &problem.accuracy,
            Table::Redundancy => &problem.redundancy,
        }
    }

    fn text(self, rows: &[Row]) -> String {
        let largest = KS.iter().copied().max().unwrap_or(0);
        let mut text = String::from(match self {
            Table::Accuracy => "# HSIC Lasso, Table 3 and Figure 2: mean classification accuracy\n\n",
            Table::Redundancy => "# HSIC Lasso, Table 4: mean redundancy rate\n\n",
        });
        text.push_str(
            "Yamada, Jitkrittum, Sigal, Xing and Sugiyama, *High-dimensional feature selection by \
             feature-wise kernelized Lasso*, Neural Computation 2014, Section 4.3.1. Every run is in \
             [classification.csv](classification.csv).\n\n\
             As in the paper: 80 % of the samples for training, drawn at random for every run, the same for \
             all methods; 50 features are selected on them once, and the first m are used; kernel logistic \
             regression with a Gaussian kernel predicts, its width and regularisation chosen by 3-fold \
             cross-validation on the training samples. Each cell is our mean ± standard error, then the \
             paper's mean ± standard error (its standard deviation over 100 runs, divided by 10), then `=` \
             where the two are within two standard errors of their difference, `+` where ours is larger and \
             `−` where ours is smaller.\n\n",
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
        for problem in PROBLEMS.iter().filter(|problem| rows.iter().any(|row| row.dataset == problem.name)) {
            let mut line = vec![problem.name.to_owned()];
            for (at, method) in METHODS.iter().enumerate() {
                let chosen =
                    |row: &Row| row.dataset == problem.name && row.method == method.name && row.k == largest;
                let ours = mean_of(rows, chosen, |row| self.value(row));
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
        text
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

fn panels(rows: &[Row]) -> Vec<Panel> {
    PROBLEMS
        .iter()
        .filter(|problem| rows.iter().any(|row| row.dataset == problem.name))
        .map(|problem| {
            let series = METHODS.iter().filter_map(|method| {
                let (mut points, mut errors) = (Vec::new(), Vec::new());
                for &k in KS {
                    let chosen =
                        |row: &Row| row.dataset == problem.name && row.method == method.name && row.k == k;
                    let (mean, error) = mean_of(rows, chosen, |row| row.scores[0])?;
                    points.push((k as f64, mean));
                    errors.push(error);
                }
                Some(Series { name: method.name.to_owned(), points, errors, is_guide: false })
            });
            Panel {
                title: problem.name.to_owned(),
                x_label: "selected features".to_owned(),
                y_label: "mean accuracy".to_owned(),
                logarithmic: false,
                y_range: None,
                series: series.collect(),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(method: &'static str, run: usize, accuracy: f64) -> Row {
        Row {
            dataset: "AR10P",
            method,
            learner: "kernel-logistic".to_owned(),
            run,
            k: 50,
            features: Vec::new(),
            scores: vec![accuracy],
            redundancy: 0.2,
            seconds: 1.0,
        }
    }

    #[test]
    fn means_are_compared_with_the_printed_ones() {
        assert_eq!(verdict((0.848, 0.02), (0.848, 0.111)), "=");
        assert_eq!(verdict((0.900, 0.02), (0.848, 0.111)), "+");
        assert_eq!(verdict((0.700, 0.02), (0.848, 0.111)), "−");
        let rows = [row("HSIC Lasso", 0, 0.80), row("HSIC Lasso", 1, 0.90)];
        let text = Table::Accuracy.text(&rows);
        assert!(text.contains("| AR10P | 0.850 ± 0.050 (0.848 ± 0.011 =) | — |"), "{text}");
        assert!(text.contains("1 of 1 cells agree"), "{text}");
        assert!(Table::Redundancy.text(&rows).contains("0.200 ± 0.000 (0.196 ± 0.003 =)"));
    }
}
