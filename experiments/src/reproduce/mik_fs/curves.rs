//! Figure 1: accuracy by number of features.

use fewest::eval::Accuracy;

use super::{FOLDER, Problem, REFERENCE, finish, halves};
use crate::Result;
use crate::plot::{Panel, Series, lines};
use crate::reproduce::comparison::{Comparison, Line};
use crate::reproduce::experiments::{Method, Protocol, Row, Setting, cells, mean_of};
use crate::reproduce::machines::linear_classifier;

/// Numbers of features; the paper's figure ends at 60.
const KS: &[usize] = &[1, 2, 5, 10, 15, 20, 30, 40, 50, 60];

/// Costs of the machine that predicts.
const COSTS: &[f64] = &[0.01, 0.1, 1.0, 10.0, 100.0];

const METHODS: &[Method] = &[
    Method { name: "MIK-FS", id: "mik-fs", parameters: &[] },
    Method { name: "MIK-FS, Gaussian", id: "mik-fs", parameters: &["kernel=gaussian"] },
    Method { name: "l1-SVM", id: "l1-svm", parameters: &[] },
    Method { name: "ElasticNet-SVM", id: "enet-svm", parameters: &[] },
    Method { name: "RFMKL", id: "rfmkl", parameters: &[] },
    Method { name: "GMKL", id: "gmkl", parameters: &[] },
    Method { name: "IKPCA", id: "ikpca", parameters: &[] },
];

/// Writes `figure-1.md`, `figure-1.csv` and `figure-1.svg`.
pub(super) fn write_figure(protocol: &Protocol, problems: &[Problem]) -> Result<()> {
    let shown: Vec<&Problem> = problems.iter().filter(|problem| problem.printed.is_in_figures).collect();
    let learner = linear_classifier(COSTS);
    let setting = Setting {
        name: "mik-fs-figure-1",
        learner: &learner,
        splitter: &halves(protocol),
        metrics: &[&Accuracy],
        ks: KS,
        nested: true,
    };
    let mut rows: Vec<Row> = Vec::new();
    for problem in &shown {
        for method in METHODS {
            rows.extend(protocol.run(&setting, problem.printed.name, &problem.data, method)?);
        }
    }
    let names: Vec<&'static str> = METHODS.iter().map(|method| method.name).collect();
    let panels: Vec<Panel> = shown.iter().map(|problem| panel(problem.printed.name, &names, &rows)).collect();
    lines(&protocol.documents(FOLDER).path("figure-1.svg"), &panels)?;
    let mut text = format!(
        "# MIK-FS, Figure 1: accuracy by number of features\n\n{REFERENCE}, Section 5.2, which prints \
         curves, no numbers. Every run is in [figure-1.csv](figure-1.csv). Data sets whose file is not there \
         are left out.\n\n![Accuracy by number of features](figure-1.svg)\n\n\
         Half of the samples of each class train, the others test. Each method selects 60 features at once, \
         with its defaults, of which the best so many are taken. From them a linear support vector machine \
         predicts, its cost chosen from 0.01, 0.1, 1, 10, 100 in 5 folds of the training half: the same for \
         all methods. IKPCA extracts, it does not select: its features are those with the largest share of \
         the first ten components ([`ikpca`](../../methods/ikpca.md)). How the paper predicts from a \
         prescribed number of features it does not say.\n\n\
         ## Accuracy (%)\n\nMean ± standard deviation over the runs. `▾`: MIK-FS is significantly better by \
         a paired t-test at 0.05, `▴`: significantly worse.\n\n"
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
    let (header, cells) = cells(&rows, &["accuracy"]);
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    finish(protocol, "figure-1", "--figure 1", &header, &cells, &text)
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
