//! Tables 1 and 3 and Figure 2: accuracy of a linear machine on the selected features.

use std::collections::BTreeMap;
use std::fmt::Write;

use fewest::core::{Context, Dataset, Error};
use fewest::data::synthetic;
use fewest::eval::{Accuracy, HoldOut, Learner, Splitter};

use super::{FOLDER, REFERENCE};
use crate::Result;
use crate::plot::{Panel, Series, lines};
use crate::reproduce::comparison::{Comparison, LEGEND, Line, Printed};
use crate::reproduce::experiments::{Protocol, Row, Setting, mean_of};
use crate::reproduce::given::Batches;
use crate::reproduce::machines::linear_classifier;
use crate::reproduce::paired;
use crate::reproduce::tuned::{Own, Shared, Tuned};

/// The paper's methods in the order of its tables, with their ids here.
const METHODS: [(&str, &str); 7] = [
    ("NMMKL", "nmmkl"),
    ("SVM-LW", "svm-lw"),
    ("L0-appr", "l0-appr"),
    ("Fisher", "fisher"),
    ("R²W²", "r2w2"),
    ("FSV", "fsv"),
    ("L1-SVM", "l1-svm"),
];

/// Our own step beyond the paper: features swapped one for one as long as the machine's objective falls.
const SWAPS: (&str, &str) = ("NMMKL, swaps", "nmmkl");

/// The paper leaves these out of Figure 2 as too slow.
const NOT_IN_FIGURE_2: [&str; 2] = ["R²W²", "FSV"];

/// Costs to choose from for a machine on given features; the paper does not say which it tried.
const COSTS: &[f64] = &[0.01, 0.1, 1.0, 10.0, 100.0];

/// Costs of a method that selects, to choose from for each number of features. Of choices that are as good
/// the first is taken.
const OWN_COSTS: &[f64] = &[100.0, 10.0, 1.0, 0.1, 0.01, 0.001];

/// Ridges of NMMKL to choose from; the paper does not say which it tried.
const RIDGES: &[f64] = &[1.0, 0.1, 0.01];

/// Of the microarrays only as many features with the largest Fisher score are candidates.
const CANDIDATES: usize = 1000;

/// Share of the samples that are for the test.
const TEST_FRACTION: f64 = 0.2;

/// Runs of the paper.
const PAPER_RUNS: f64 = 30.0;

/// A data set of Table 2 with what Table 3 prints, by number of features.
struct Problem {
    name: &'static str,
    file: &'static str,
    printed: &'static [(usize, [(f64, f64); 7])],
}

const TABLE_1: &[(usize, [(f64, f64); 7])] = &[
    (1, [(93.9, 1.9), (86.4, 3.2), (85.7, 2.9), (93.9, 1.9), (90.3, 4.4), (86.3, 2.7), (86.3, 3.3)]),
    (2, [(99.7, 0.5), (99.7, 0.5), (99.7, 0.5), (94.7, 1.8), (97.5, 2.8), (99.4, 1.4), (99.7, 0.5)]),
];

const TABLE_3: &[Problem] = &[
    Problem {
        name: "Sonar",
        file: "sonar.csv",
        printed: &[
            (10, [(75.0, 2.3), (71.4, 4.6), (69.8, 5.9), (69.3, 5.9), (64.3, 7.1), (71.4, 5.1), (70.0, 6.0)]),
            (20, [(75.0, 5.8), (72.1, 5.8), (74.1, 4.8), (72.4, 3.4), (70.7, 4.6), (73.1, 4.2), (72.1, 4.4)]),
        ],
    },
    Problem {
        name: "Iono",
        file: "ionosphere.csv",
        printed: &[
            (10, [(86.1, 3.7), (85.3, 5.2), (85.6, 5.0), (84.3, 5.0), (86.0, 4.3), (82.4, 5.6), (86.6, 4.0)]),
            (20, [(87.3, 4.1), (86.4, 4.7), (85.7, 4.7), (85.1, 3.8), (85.1, 4.8), (86.7, 3.4), (86.6, 3.8)]),
        ],
    },
    Problem {
        name: "Wdbc",
        file: "wdbc.csv",
        printed: &[
            (10, [(97.0, 1.0), (95.1, 0.8), (96.0, 0.8), (94.6, 1.7), (93.5, 1.2), (94.2, 1.0), (96.3, 0.4)]),
            (20, [(97.4, 0.6), (97.4, 0.5), (97.2, 1.0), (97.4, 0.6), (94.6, 1.0), (96.5, 1.0), (97.0, 0.5)]),
        ],
    },
    Problem {
        name: "Wpbc",
        file: "wpbc.csv",
        printed: &[
            (10, [(79.5, 4.8), (78.3, 4.7), (79.8, 6.0), (78.2, 5.2), (78.0, 5.1), (78.0, 5.1), (79.0, 6.4)]),
            (20, [(81.2, 5.0), (80.7, 5.2), (80.4, 4.7), (80.1, 4.7), (79.3, 3.9), (78.6, 4.6), (78.0, 6.7)]),
        ],
    },
];

/// The data sets of Figure 2, which prints curves and no numbers, and whether parameters are chosen for each
/// number of features: for two both ways, since there it takes minutes.
const FIGURE_2: &[(&str, &str, bool)] = &[
    ("Bci", "ssl_bci.csv", false),
    ("Bci, a cost each", "ssl_bci.csv", true),
    ("Digit1", "ssl_digit1.csv.gz", false),
    ("Usps", "ssl_usps.csv.gz", false),
    ("Colon", "colon.mat", false),
    ("Colon, a cost each", "colon.mat", true),
    ("Lym", "lymphoma.mat", false),
];

/// The runs on each data set.
struct Plan<'a> {
    /// Names the files.
    name: &'static str,
    methods: &'a [(&'static str, &'static str)],
    splitter: &'a dyn Splitter,
    ks: &'a [usize],
    /// Methods whose cost is chosen for each number of features; the others have one for all.
    chosen: &'a [&'static str],
}

/// What the method with this id may choose from: costs where `by_number`, and ridges.
///
/// FSV has no cost, but weighs weights by λ and errors by 1 − λ: `λ = 1/(1 + C)`.
fn choices(id: &str, by_number: bool) -> Vec<Vec<String>> {
    let ridges = || RIDGES.iter().map(|ridge| format!("tau={ridge}"));
    match (id, by_number) {
        ("nmmkl", false) => ridges().map(|ridge| vec![ridge]).collect(),
        ("nmmkl", true) => {
            let with = |cost: &'static f64| ridges().map(move |ridge| vec![format!("c={cost}"), ridge]);
            OWN_COSTS.iter().flat_map(with).collect()
        }
        ("fsv", true) => {
            OWN_COSTS.iter().map(|cost| vec![format!("lambda={}", 1.0 / (1.0 + cost))]).collect()
        }
        ("svm-lw" | "l0-appr" | "r2w2" | "l1-svm", true) => {
            OWN_COSTS.iter().map(|cost| vec![format!("c={cost}")]).collect()
        }
        _ => Vec::new(),
    }
}

/// All methods, ours beyond the paper last.
fn with_swaps() -> Vec<(&'static str, &'static str)> {
    METHODS.into_iter().chain([SWAPS]).collect()
}

/// Writes `table-1.md` and `table-1.csv`.
pub(super) fn table_1(protocol: &Protocol) -> Result<()> {
    let batches = Batches { train: 400, test: 100 };
    let n_samples = (batches.train + batches.test) * protocol.runs as usize;
    let data = synthetic::better_together(n_samples, protocol.seed)?.dataset;
    let ks = &[1, 2];
    let plan = Plan { name: "table-1-by-number", methods: &METHODS, splitter: &batches, ks, chosen: &ALL };
    let rows = plan.run(protocol, BY_NUMBER, &data)?;
    let methods = with_swaps();
    let plan = Plan { name: "table-1-one", methods: &methods, splitter: &batches, ks, chosen: &[] };
    let with_one = plan.run(protocol, ONE_FOR_ALL, &data)?;
    let mut text = format!(
        "# NMMKL, Table 1: the best feature alone is not one of the best two\n\n{REFERENCE}, Section 4.1. \
         Every run is in [table-1.csv](table-1.csv).\n\nThe problem is \
         `fewest_data::synthetic::better_together`, which says how it is drawn (the paper does not). Each \
         run draws 400 samples to train and 100 to test. {PROTOCOL}\n{LEGEND}"
    );
    let own: Vec<&'static str> = METHODS.iter().map(|(name, _)| *name).collect();
    let all: Vec<&'static str> = methods.iter().map(|(name, _)| *name).collect();
    for (title, dataset, about, names, rows) in [
        (
            "Parameters chosen for each number of features",
            BY_NUMBER,
            &format!("{EACH} {COST_OF_FSV}"),
            &own,
            &rows,
        ),
        ("One cost for all methods and numbers", ONE_FOR_ALL, &format!("{ONE} {BESIDE}"), &all, &with_one),
    ] {
        let line = |(k, printed): &(usize, [(f64, f64); 7])| Line {
            title: format!("{k} selected"),
            dataset,
            k: *k,
            printed: printed.iter().copied().map(Printed::mean_and_deviation).collect(),
        };
        let lines: Vec<Line<'_>> = TABLE_1.iter().map(line).collect();
        let _ = write!(text, "\n## {title}\n\n{about}\n\nAccuracy (%):\n\n");
        text.push_str(&comparison(names).table(rows, &lines)?);
        text.push_str("\nWhat was selected in how many runs:\n\n");
        text.push_str(&selected(rows, names, &["X", "Y", "Z"], ks));
    }
    let rows: Vec<Row> = rows.into_iter().chain(with_one).collect();
    finish(protocol, "table-1", &rows, text)
}

/// Writes `table-3.md` and `table-3.csv`.
pub(super) fn table_3(protocol: &Protocol) -> Result<()> {
    let splitter = hold_out(protocol);
    let plan = Plan {
        name: "table-3-by-number",
        methods: &METHODS,
        splitter: &splitter,
        ks: &[10, 20],
        chosen: &ALL,
    };
    let mut rows = Vec::new();
    for problem in TABLE_3 {
        let Some(data) = protocol.read(problem.name, problem.file)? else { continue };
        rows.extend(plan.run(protocol, problem.name, &data)?);
    }
    let mut text = format!(
        "# NMMKL, Table 3: classification\n\n{REFERENCE}, Section 4.2. Every run is in \
         [table-3.csv](table-3.csv). Data sets whose file is not there are left out.\n\nEach run draws 80 % \
         of the samples to train. {EACH} {COST_OF_FSV} {PROTOCOL}\n## Accuracy (%)\n\n{LEGEND}\n"
    );
    let lines: Vec<Line<'_>> = TABLE_3
        .iter()
        .flat_map(|problem| {
            problem.printed.iter().map(|(k, printed)| Line {
                title: format!("{}, {k} selected", problem.name),
                dataset: problem.name,
                k: *k,
                printed: printed.iter().copied().map(Printed::mean_and_deviation).collect(),
            })
        })
        .collect();
    let names: Vec<&'static str> = METHODS.iter().map(|(name, _)| *name).collect();
    text.push_str(&comparison(&names).table(&rows, &lines)?);
    finish(protocol, "table-3", &rows, text)
}

/// Writes `figure-2.md`, `figure-2.csv` and `figure-2.svg`.
pub(super) fn figure_2(protocol: &Protocol) -> Result<()> {
    const KS: &[usize] = &[10, 20, 40, 60];
    let methods: Vec<(&str, &str)> =
        METHODS.into_iter().filter(|(name, _)| !NOT_IN_FIGURE_2.contains(name)).collect();
    let names: Vec<&'static str> = methods.iter().map(|(name, _)| *name).collect();
    let splitter = hold_out(protocol);
    let mut rows = Vec::new();
    for &(name, file, is_chosen) in FIGURE_2 {
        let Some(data) = protocol.read(name, file)? else { continue };
        let chosen: &[&str] = if is_chosen { &ALL } else { &[] };
        let plan = Plan { name: "figure-2", methods: &methods, splitter: &splitter, ks: KS, chosen };
        rows.extend(plan.run(protocol, name, &data)?);
    }
    let there = |name: &str| rows.iter().any(|row| row.dataset == name);
    let panels: Vec<Panel> = FIGURE_2
        .iter()
        .filter(|(name, ..)| there(name))
        .map(|(name, ..)| {
            let series = names.iter().filter_map(|method| {
                let (mut points, mut errors) = (Vec::new(), Vec::new());
                for &k in KS {
                    let chosen = |row: &Row| row.dataset == *name && row.method == *method && row.k == k;
                    let (mean, error) = mean_of(&rows, chosen, |row| row.scores[0])?;
                    points.push((k as f64, mean));
                    errors.push(error);
                }
                Some(Series { name: (*method).to_owned(), points, errors, is_guide: false })
            });
            Panel {
                title: (*name).to_owned(),
                x_label: "selected features".to_owned(),
                y_label: "mean accuracy".to_owned(),
                logarithmic: false,
                y_range: None,
                series: series.collect(),
            }
        })
        .collect();
    lines(&protocol.documents(FOLDER).path("figure-2.svg"), &panels)?;
    let mut text = format!(
        "# NMMKL, Figure 2: classification with many features\n\n{REFERENCE}, Section 4.2. Every run is in \
         [figure-2.csv](figure-2.csv). The paper prints curves, no numbers, and leaves out R²W² and FSV. \
         Data sets whose file is not there are left out.\n\n![Accuracy against the number of \
         features](figure-2.svg)\n\nEach run draws 80 % of the samples to train. Of the microarrays the \
         {CANDIDATES} features with the largest Fisher score on the training samples are candidates. \
         {ONE} {PROTOCOL}\n*A cost each*: {EACH}\n\n\
         ## Accuracy (%)\n\n{LEGEND}\n"
    );
    let table: Vec<Line<'_>> = FIGURE_2
        .iter()
        .flat_map(|&(name, ..)| {
            KS.iter().map(move |&k| Line {
                title: format!("{name}, {k} selected"),
                dataset: name,
                k,
                printed: Vec::new(),
            })
        })
        .collect();
    text.push_str(&comparison(&names).table(&rows, &table)?);
    let _ =
        write!(text, "\n## Differences, in points\n\nNMMKL minus each other method. {}\n", paired::LEGEND);
    text.push_str(&comparison(&names).differences(&rows, &table, TEST_FRACTION)?);
    finish(protocol, "figure-2", &rows, text)
}

const PROTOCOL: &str = "A linear support vector machine predicts from the selected features, standardised by \
                        the training samples, its own C chosen on them in the same way. Features are \
                        selected anew for every number of them.\n";

/// How parameters are chosen for each number of features.
const EACH: &str = "Every method but Fisher, which has no parameter, has C chosen from 0.001, 0.01, 0.1, 1, \
                    10, 100 (the paper prints no grid) for each number of features, by the accuracy in 5 folds \
                    of the training samples on the features it selects with it; NMMKL's τ from 0.01, 0.1, 1 in the same way.";

/// The cost of FSV, which is beside the others where all are.
const COST_OF_FSV: &str = "FSV's λ is 1/(1 + C).";

/// How one cost is chosen for all.
const ONE: &str = "The cost C, one for all methods, is chosen from 0.01, 0.1, 1, 10, 100 (the paper prints no \
                   grid) by the accuracy of a linear support vector machine on all features, in 5 folds of the training samples; \
                   NMMKL's τ from 0.01, 0.1, 1 by the accuracy in 5 folds on the features it \
                   selects with it.";

/// What Table 1 has beyond [`ONE`].
const BESIDE: &str = "FSV has λ = 0.05. *NMMKL, swaps* is our own: NMMKL with τ = 0.1, its features swapped one \
                      for one as long as ω falls.";

/// The problem of Table 1 with parameters chosen for each number of features, and with one cost.
const BY_NUMBER: &str = "X, Y, Z";
const ONE_FOR_ALL: &str = "X, Y, Z, one cost";

/// Methods whose cost is chosen for each number of features.
const ALL: [&str; 6] = ["nmmkl", "svm-lw", "l0-appr", "r2w2", "fsv", "l1-svm"];

fn hold_out(protocol: &Protocol) -> HoldOut {
    HoldOut { test_fraction: TEST_FRACTION, repeats: protocol.runs as usize, stratified: false }
}

fn comparison<'a>(methods: &'a [&'static str]) -> Comparison<'a> {
    Comparison { methods, metric: 0, unit: 0.01, digits: 1, greater_is_better: true, paper_runs: PAPER_RUNS }
}

impl Plan<'_> {
    fn run(&self, protocol: &Protocol, dataset: &'static str, data: &Dataset) -> Result<Vec<Row>> {
        let shared = Shared::new(&choose_cost);
        let name = format!("nmmkl-{}", self.name);
        let setting = Setting {
            name: &name,
            learner: &linear_classifier(COSTS),
            splitter: self.splitter,
            metrics: &[&Accuracy],
            ks: self.ks,
            nested: false,
        };
        let mut rows = Vec::new();
        for &(method, id) in self.methods {
            let is_ours = method == SWAPS.0;
            let choices = if is_ours { Vec::new() } else { choices(id, self.chosen.contains(&id)) };
            let own = Own { choices: &choices, learner: &with_cost, metric: &Accuracy };
            let own = (!choices.is_empty()).then_some(own);
            let fixed: &[&str] = if is_ours { &["refine=true"] } else { &[] };
            let selector = Tuned { id, fixed, shared: &shared, own, most_candidates: Some(CANDIDATES) };
            rows.extend(protocol.run_selector(&setting, dataset, data, method, &selector)?);
        }
        Ok(rows)
    }
}

/// The cost with which a machine on all features predicts best.
fn choose_cost(data: &Dataset, context: &Context<'_>) -> std::result::Result<Vec<String>, Error> {
    Ok(vec![format!("c={}", linear_classifier(COSTS).train(data, context)?.cost)])
}

/// The machine with the cost among `parameters`.
fn with_cost(parameters: &[String]) -> std::result::Result<Box<dyn Learner>, Error> {
    let cost = parameters.iter().find_map(|parameter| parameter.strip_prefix("c=")?.parse().ok());
    Ok(Box::new(linear_classifier(&[cost.unwrap_or(1.0)])))
}

fn finish(protocol: &Protocol, name: &str, rows: &[Row], text: String) -> Result<()> {
    let documents = protocol.documents_of(FOLDER, rows)?;
    documents.rows(name, rows, &["accuracy"])?;
    documents.page(name, text)
}

/// How often each set of features was selected, the most frequent first.
fn selected(rows: &[Row], methods: &[&str], names: &[&str], ks: &[usize]) -> String {
    let mut text = String::from("| method |");
    for k in ks {
        let _ = write!(text, " {k} selected |");
    }
    let _ = writeln!(text, "\n|---|{}", "---|".repeat(ks.len()));
    for method in methods {
        let _ = write!(text, "| {method} |");
        for &k in ks {
            let mut counts: BTreeMap<String, usize> = BTreeMap::new();
            for row in rows.iter().filter(|row| row.method == *method && row.k == k) {
                let mut features = row.features.clone();
                features.sort_unstable();
                let set: Vec<&str> = features.iter().filter_map(|&j| names.get(j).copied()).collect();
                *counts.entry(set.join(", ")).or_default() += 1;
            }
            let mut counts: Vec<(String, usize)> = counts.into_iter().collect();
            counts.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
            let counts: Vec<String> =
                counts.iter().map(|(set, count)| format!("{{{set}}} {count}")).collect();
            let _ = write!(text, " {} |", counts.join(", "));
        }
        text.push('\n');
    }
    text
}
