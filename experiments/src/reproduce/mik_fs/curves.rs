//! Figure 1: accuracy by number of features.

use std::fmt::Write;

use fewest::eval::Accuracy;

use super::chosen::{Choice, Chosen};
use super::contenders::FOLDS;
use super::{FOLDER, Problem, REFERENCE, finish, halves};
use crate::Result;
use crate::plot::{Panel, Series, lines};
use crate::reproduce::comparison::{Comparison, Line};
use crate::reproduce::experiments::{Protocol, Row, Setting, cells, mean_of};
use crate::reproduce::machines::linear_classifier;

/// Numbers of features; the paper's figure ends at 60.
const KS: &[usize] = &[1, 2, 5, 10, 15, 20, 30, 40, 50, 60];

/// Costs of the machine that predicts.
const COSTS: &[f64] = &[0.01, 0.1, 1.0, 10.0, 100.0];

/// The methods, with what may be chosen where they are tuned: from the same five values as the kernels of
/// [Table 2](super::contenders), the smoothest first, and of the elastic net those shares of the l1 norm that
/// its pairs of penalties there have. The number of features decides on the penalty, and for the l1-SVM on
/// everything.
const METHODS: &[Choice] = &[
    Choice { name: "MIK-FS", id: "mik-fs", fixed: &[], choices: SCALES },
    Choice { name: "MIK-FS, Gaussian", id: "mik-fs", fixed: &["kernel=gaussian"], choices: WIDTHS },
    Choice { name: "l1-SVM", id: "l1-svm", fixed: &[], choices: &[] },
    Choice {
        name: "ElasticNet-SVM",
        id: "enet-svm",
        fixed: &[],
        choices: &["l1_ratio=0.999", "l1_ratio=0.99", "l1_ratio=0.91", "l1_ratio=0.5", "l1_ratio=0.09"],
    },
    Choice { name: "RFMKL", id: "rfmkl", fixed: &[], choices: WIDTHS },
    Choice { name: "GMKL", id: "gmkl", fixed: &[], choices: &["c=1", "c=10", "c=100"] },
    Choice { name: "IKPCA", id: "ikpca", fixed: &[], choices: SCALES },
];

const SCALES: &[&str] = &["scale=0.01", "scale=0.1", "scale=1", "scale=10", "scale=100"];
const WIDTHS: &[&str] = &["sigma=100", "sigma=10", "sigma=1", "sigma=0.1", "sigma=0.01"];

/// Whether methods have their defaults, or what the number of features leaves open is chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Version {
    Defaults,
    Tuned,
}

impl Version {
    fn file(self) -> &'static str {
        match self {
            Version::Defaults => "figure-1",
            Version::Tuned => "figure-1-tuned",
        }
    }

    /// How methods get their parameters.
    fn words(self) -> String {
        match self {
            Version::Defaults => "with its defaults".to_owned(),
            Version::Tuned => format!(
                "with the parameter that the number of features does not decide chosen on the training half, \
                 the same way for all: by the mean accuracy over the numbers of features of the figure, in \
                 {FOLDS} folds, with the machine below. For `tanh(a x x′)` of MIK-FS and IKPCA that is `a` \
                 from 0.01, 0.1, 1, 10, 100, for the Gaussian kernels of MIK-FS and RFMKL `sigma` from these, \
                 for the elastic net the share of the l1 norm from 0.999, 0.99, 0.91, 0.5, 0.09; the l1-SVM \
                 has no such parameter. The widths of GMKL are its weights; of it the cost is chosen, from 1, \
                 10, 100, as in [Table 2](table-2.md). Defaults are in [figure 1](figure-1.md)"
            ),
        }
    }
}

/// Writes `figure-1.md`, `.csv` and `.svg`, or `figure-1-tuned.*`.
pub(super) fn write_figure(protocol: &Protocol, problems: &[Problem], version: Version) -> Result<()> {
    let shown: Vec<&Problem> = problems.iter().filter(|problem| problem.printed.is_in_figures).collect();
    let learner = linear_classifier(COSTS);
    let file = version.file();
    let setting = Setting {
        name: &format!("mik-fs-{file}"),
        learner: &learner,
        splitter: &halves(protocol),
        metrics: &[&Accuracy],
        ks: KS,
        nested: true,
    };
    let mut rows: Vec<Row> = Vec::new();
    let mut left_out = String::new();
    for problem in &shown {
        for method in METHODS {
            let choices = if version == Version::Tuned { method.choices } else { &[] };
            let choice = Choice { choices, ..*method };
            let chosen = Chosen { choice: &choice, learner: &learner, ks: KS };
            let dataset = problem.printed.name;
            match protocol.run_selector(&setting, dataset, &problem.data, method.name, &chosen) {
                Ok(found) => rows.extend(found),
                Err(error) => {
                    eprintln!("{dataset}, {}: left out, {error}", method.name);
                    let _ = writeln!(left_out, "Left out: {} on {dataset} ({error}).\n", method.name);
                }
            }
        }
    }
    let names: Vec<&'static str> = METHODS.iter().map(|method| method.name).collect();
    let panels: Vec<Panel> = shown.iter().map(|problem| panel(problem.printed.name, &names, &rows)).collect();
    lines(&protocol.documents(FOLDER).path(&format!("{file}.svg")), &panels)?;
    let mut text = format!(
        "# MIK-FS, Figure 1: accuracy by number of features{}\n\n{REFERENCE}, Section 5.2, which prints \
         curves, no numbers. Every run is in [{file}.csv]({file}.csv). Data sets whose file is not there \
         are left out.\n\n![Accuracy by number of features]({file}.svg)\n\n\
         Half of the samples of each class train, the others test. Each method selects 60 features at once, \
         {}; the best so many of them are taken. From them a linear support vector machine \
         predicts, its cost chosen from 0.01, 0.1, 1, 10, 100 in 5 folds of the training half: the same for \
         all methods. IKPCA extracts, it does not select: its features are those with the largest share of \
         the first ten components ([`ikpca`](../../methods/ikpca.md)). How the paper predicts from a \
         prescribed number of features it does not say.\n\n\
         ## Accuracy (%)\n\nMean ± standard deviation over the runs. `▾`: MIK-FS is significantly better by \
         a paired t-test at 0.05, `▴`: significantly worse.\n\n",
        if version == Version::Tuned { ", tuned" } else { "" },
        version.words()
    );
    let table: Vec<Line<'_>> = shown
        .iter()
        .flat_map(|problem| {
            let dataset = problem.printed.name;
            KS.iter().map(move |&k| Line {
                title: format!("{dataset}, {k} selected"),
                dataset,
                k,
                printed: Vec::new(),
            })
        })
        .collect();
    let comparison = Comparison {
        methods: &names,
        metric: 0,
        unit: 0.01,
        digits: 1,
        greater_is_better: true,
        paper_runs: 10.0,
    };
    text.push_str(&comparison.table(&rows, &table)?);
    if !left_out.is_empty() {
        let _ = write!(text, "\n{left_out}");
    }
    let (header, cells) = cells(&rows, &["accuracy"]);
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let what = format!("--figure {}", file.trim_start_matches("figure-"));
    finish(protocol, file, &what, &header, &cells, &text)
}

fn panel(dataset: &str, methods: &[&str], rows: &[Row]) -> Panel {
    let series = methods.iter().map(|method| {
        let (mut points, mut errors) = (Vec::new(), Vec::new());
        for &k in KS {
            let chosen = |row: &Row| row.dataset == dataset && row.method == *method && row.k == k;
            if let Some((mean, error)) = mean_of(rows, chosen, |row| row.scores[0]) {
                points.push((k as f64, mean));
                errors.push(error);
            }
        }
        Series { name: (*method).to_owned(), points, errors, is_guide: false }
    });
    Panel {
        title: dataset.to_owned(),
        x_label: "selected features".to_owned(),
        y_label: "mean accuracy".to_owned(),
        logarithmic: false,
        y_range: None,
        series: series.collect(),
    }
}
