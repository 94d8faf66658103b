//! Li, Cheng, Wang, Morstatter, Trevino, Tang and Liu, *Feature selection: a data perspective*, 2016, Section
//! 6: any data set × any method × three learners, or k-means for methods that take no target.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write;

use clap::Args;
use fewest::core::{Dataset, Target};
use fewest::eval::{Accuracy, Clustering, DecisionTree, KFold, Learner, LinearSvm, Metric, NaiveBayes};
use fewest::registry::{self, Parameters, Registry, TargetKind};

use super::experiments::{Method, Protocol, Row, Setting, mean_of};
use crate::Result;
use crate::output::mean_and_error;
use crate::plot::{Panel, Series, lines};

/// Folds of the cross-validation.
const FOLDS: usize = 10;

/// Starts of k-means.
const STARTS: usize = 20;

/// Numbers of features: the survey's 5, 10, …, 300 in wider steps at the end, where accuracies hardly change.
const KS: &[usize] = &[5, 10, 15, 20, 25, 30, 40, 50, 75, 100, 150, 200, 250, 300];

/// Classification data sets of the survey's Table 2, by file.
const DATA: &[(&str, &str)] = &[
    ("ALLAML", "ALLAML.mat"),
    ("BASEHOCK", "BASEHOCK.mat"),
    ("colon", "colon.mat"),
    ("COIL20", "COIL20.mat"),
    ("Isolet", "Isolet.mat"),
    ("leukemia", "leukemia.mat"),
    ("lung_small", "lung_small.mat"),
    ("madelon", "madelon.mat"),
    ("ORL", "ORL.mat"),
    ("orlraws10P", "orlraws10P.mat"),
    ("PCMAC", "PCMAC.mat"),
    ("pixraw10P", "pixraw10P.mat"),
    ("Prostate-GE", "Prostate-GE.mat"),
    ("TOX-171", "TOX-171.mat"),
    ("warpAR10P", "warpAR10P.mat"),
    ("warpPIE10P", "warpPIE10P.mat"),
];

/// What to recompute.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The table: 2, the data sets, each with every method.
    #[arg(long, value_parser = clap::value_parser!(u8).range(2..=2))]
    table: u8,
    /// Data sets of Table 2.
    #[arg(long, value_delimiter = ',', default_value = "colon,lung_small,warpAR10P,ALLAML")]
    datasets: Vec<String>,
    /// Ids of methods; without, all that take classes or no target at all.
    #[arg(long, value_delimiter = ',')]
    methods: Vec<String>,
    #[command(flatten)]
    protocol: Protocol,
}

/// Runs the methods on the data sets; writes `table-2.csv`, `.md` and an `.svg` for each data set.
pub(super) fn run(arguments: &Arguments) -> Result<()> {
    arguments.protocol.with_threads(|| compute(arguments))
}

fn compute(arguments: &Arguments) -> Result<()> {
    let protocol = &arguments.protocol;
    let methods = methods(&arguments.methods)?;
    let learners: [&dyn Learner; 3] =
        [&LinearSvm::default(), &DecisionTree::default(), &NaiveBayes::default()];
    let metrics: [&dyn Metric; 1] = [&Accuracy];
    let mut rows = Vec::new();
    let mut clusters = Vec::new();
    let mut failures = Vec::new();
    for wanted in &arguments.datasets {
        let names: Vec<&str> = DATA.iter().map(|(name, _)| *name).collect();
        let &(name, file) = DATA
            .iter()
            .find(|(name, _)| name == wanted)
            .ok_or_else(|| format!("--datasets {wanted}: give some of {}", names.join(",")))?;
        let Some(data) = protocol.read(name, file)? else { continue };
        let ks: Vec<usize> = KS.iter().copied().filter(|&k| k < data.n_features()).collect();
        for method in &methods {
            if method.supervised {
                let setting = Setting {
                    name: "survey-each-k",
                    learner: learners[0],
                    splitter: &KFold { folds: FOLDS, stratified: true },
                    metrics: &metrics,
                    ks: &ks,
                    nested: method.is_nested,
                };
                // A method that does not fit the data, such as a two-class score on ten classes, is reported
                // and left out.
                match protocol.run_learners(&setting, &learners, name, &data, &method.method) {
                    Ok(found) => rows.extend(found),
                    Err(error) => {
                        eprintln!("{name}, {}: left out, {error}", method.method.name);
                        failures.push((name, method.method.name, error.to_string()));
                    }
                }
            } else {
                match cluster(protocol, name, &data, method, &ks) {
                    Ok(found) => clusters.extend(found),
                    Err(error) => {
                        eprintln!("{name}, {}: left out, {error}", method.method.name);
                        failures.push((name, method.method.name, error.to_string()));
                    }
                }
            }
        }
    }
    if rows.is_empty() && clusters.is_empty() {
        return Err("nothing was run: none of the data sets is there, or no method fits".into());
    }
    tell(protocol, &rows, &clusters, &failures)
}

/// A method and what it says of itself.
struct Chosen {
    method: Method,
    /// Whether it uses the classes.
    supervised: bool,
    /// Whether the best `k` features are the first `k` of any larger number.
    is_nested: bool,
}

fn methods(wanted: &[String]) -> Result<Vec<Chosen>> {
    let chosen = |method: &'static registry::Method| Chosen {
        method: Method { name: method.id, id: method.id, parameters: &[] },
        supervised: method.is_supervised(),
        is_nested: method.is_nested(),
    };
    if wanted.is_empty() {
        let usable = |method: &&'static registry::Method| {
            method.targets.contains(&TargetKind::Classes) || !method.is_supervised()
        };
        return Ok(Registry::standard().methods().iter().filter(usable).map(chosen).collect());
    }
    wanted.iter().map(|id| Ok(chosen(Registry::standard().find(id)?))).collect()
}

/// Selects without classes and clusters: one row per number of features and start, with mutual information
/// and accuracy.
fn cluster(
    protocol: &Protocol,
    dataset: &'static str,
    data: &Dataset,
    Chosen { method, is_nested, .. }: &Chosen,
    ks: &[usize],
) -> Result<Vec<Row>> {
    let Target::Class(classes) = data.target() else { return Err("the data have no classes".into()) };
    // As many clusters as classes, for k-means and for methods that look for clusters themselves.
    let registered = Registry::standard().find(method.id)?;
    let counts = registered.parameters().iter().any(|parameter| parameter.name == "clusters");
    let assignments: Vec<String> =
        counts.then(|| format!("clusters={}", classes.n_classes())).into_iter().collect();
    let selector = registered.build(&Parameters::parse(registered, &assignments)?)?.into_selector();
    let clustering = Clustering {
        selector: &*selector,
        ks: ks.to_vec(),
        nested: *is_nested,
        clusters: Some(classes.n_classes()),
        repeats: STARTS,
    };
    let outcomes = clustering.run(data, &protocol.context())?;
    let mut rows = Vec::new();
    for outcome in outcomes {
        let (accuracy, _) = mean_and_error(&outcome.accuracy);
        if Some(&outcome.k) == ks.last() {
            eprintln!("{dataset}, {}, k-means: {accuracy:.3} with {} features", method.name, outcome.k);
        }
        for run in 0..outcome.accuracy.len() {
            rows.push(Row {
                dataset,
                method: method.name,
                learner: "k-means".to_owned(),
                run,
                k: outcome.k,
                features: outcome.features.clone(),
                scores: vec![outcome.accuracy[run], outcome.mutual_information[run]],
                redundancy: f64::NAN,
                seconds: outcome.selection_seconds,
            });
        }
    }
    Ok(rows)
}

type Failure = (&'static str, &'static str, String);

fn tell(protocol: &Protocol, rows: &[Row], clusters: &[Row], failures: &[Failure]) -> Result<()> {
    let documents = protocol.documents("survey");
    for (name, rows, metrics) in [
        ("table-2", rows, &["accuracy"][..]),
        ("table-2-clustering", clusters, &["clustering_accuracy", "normalised_mutual_information"][..]),
    ] {
        documents.rows(name, &means(rows), metrics)?;
    }
    let datasets: BTreeSet<&str> = rows.iter().chain(clusters).map(|row| row.dataset).collect();
    for dataset in &datasets {
        lines(&documents.path(&format!("{dataset}.svg")), &panels(rows, clusters, dataset))?;
    }
    documents.page("table-2", summary(rows, clusters, failures, &datasets))
}

/// The mean over folds of each experiment and number of features, as rows.
fn means(rows: &[Row]) -> Vec<Row> {
    let mut alike: Vec<Vec<&Row>> = Vec::new();
    let mut known = HashMap::new();
    for row in rows {
        let at = *known.entry((row.dataset, row.method, &row.learner, row.k)).or_insert(alike.len());
        if at == alike.len() {
            alike.push(Vec::new());
        }
        alike[at].push(row);
    }
    let mut means: Vec<Row> = Vec::new();
    for alike in alike {
        let row = alike[0];
        let mean = |value: &dyn Fn(&Row) -> f64| {
            mean_and_error(&alike.iter().map(|row| value(row)).collect::<Vec<_>>()).0
        };
        let scores = (0..row.scores.len()).map(|at| mean(&|row: &Row| row.scores[at])).collect();
        means.push(Row {
            run: alike.len(),
            scores,
            redundancy: mean(&|row: &Row| row.redundancy),
            seconds: mean(&|row: &Row| row.seconds),
            ..row.clone()
        });
    }
    means
}

/// Methods and learners in the order met.
fn distinct<T: PartialEq>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut distinct = Vec::new();
    for value in values {
        if !distinct.contains(&value) {
            distinct.push(value);
        }
    }
    distinct
}

/// Curves of the five best methods of each learner.
fn panels(rows: &[Row], clusters: &[Row], dataset: &str) -> Vec<Panel> {
    let mine: Vec<Row> = rows.iter().chain(clusters).filter(|row| row.dataset == dataset).cloned().collect();
    distinct(mine.iter().map(|row| row.learner.clone()))
        .into_iter()
        .map(|learner| {
            let of_learner: Vec<Row> = mine.iter().filter(|row| row.learner == learner).cloned().collect();
            let mut series: Vec<(f64, Series)> = distinct(of_learner.iter().map(|row| row.method))
                .into_iter()
                .map(|method| {
                    let of_method = |row: &Row| row.method == method;
                    let overall =
                        mean_of(&of_learner, of_method, |row| row.scores[0]).map_or(0.0, |(mean, _)| mean);
                    let points = distinct(of_learner.iter().map(|row| row.k))
                        .into_iter()
                        .filter_map(|k| {
                            let chosen = |row: &Row| of_method(row) && row.k == k;
                            mean_of(&of_learner, chosen, |row| row.scores[0])
                                .map(|(mean, _)| (k as f64, mean))
                        })
                        .collect();
                    (overall, Series { name: method.to_owned(), points, errors: Vec::new(), is_guide: false })
                })
                .collect();
            series.sort_by(|a, b| b.0.total_cmp(&a.0));
            series.truncate(5);
            Panel {
                title: format!("{dataset}, {learner}: the five best on average"),
                x_label: "selected features".to_owned(),
                y_label: "accuracy".to_owned(),
                logarithmic: false,
                y_range: None,
                series: series.into_iter().map(|(_, series)| series).collect(),
            }
        })
        .collect()
}

fn summary(rows: &[Row], clusters: &[Row], failures: &[Failure], datasets: &BTreeSet<&str>) -> String {
    let mut text = format!(
        "# Feature selection: a data perspective, Section 6\n\n\
         Li, Cheng, Wang, Morstatter, Trevino, Tang and Liu 2016. Supervised methods: {FOLDS}-fold \
         stratified cross-validation with selection inside every fold, then a linear support vector machine, \
         a decision tree and naive Bayes on the selected features. Methods without a target: features are \
         selected from all samples, with as many clusters as classes where a method looks for clusters; \
         k-means is started {STARTS} times, accuracy is that of the best matching \
         of clusters and classes. Every method is asked for each number of features by itself; one whose \
         best k features are the first k of any larger number selects once. `seconds` are those of such a \
         selection, or the mean over the numbers of features. The survey shows its results on a web page only, so there are no printed numbers to hold these \
         against. Means of every number of features are in [table-2.csv](table-2.csv) and \
         [table-2-clustering.csv](table-2-clustering.csv), where `run` is the number of folds or starts.\n",
    );
    for dataset in datasets {
        let _ =
            write!(text, "\n## {dataset}\n\n![Accuracy against the number of features]({dataset}.svg)\n\n");
        let mine: Vec<Row> =
            rows.iter().chain(clusters).filter(|row| row.dataset == *dataset).cloned().collect();
        let learners = distinct(mine.iter().map(|row| row.learner.clone()));
        let ks: Vec<usize> = [10, 50].into_iter().filter(|k| mine.iter().any(|row| row.k == *k)).collect();
        let _ = write!(text, "| method |");
        for learner in &learners {
            for k in &ks {
                let _ = write!(text, " {learner}, k = {k} |");
            }
        }
        let _ = writeln!(text, " seconds |\n|---|{}---|", "---|".repeat(learners.len() * ks.len()));
        for method in distinct(mine.iter().map(|row| row.method)) {
            let _ = write!(text, "| {method} |");
            for learner in &learners {
                for &k in &ks {
                    let chosen = |row: &Row| row.method == method && row.learner == *learner && row.k == k;
                    match mean_of(&mine, chosen, |row| row.scores[0]) {
                        Some((mean, error)) => {
                            let _ = write!(text, " {mean:.3} ± {error:.3} |");
                        }
                        None => text.push_str(" |"),
                    }
                }
            }
            let seconds =
                mean_of(&mine, |row| row.method == method, |row| row.seconds).map_or(0.0, |(mean, _)| mean);
            let _ = writeln!(text, " {seconds:.3} |");
        }
        for (_, method, why) in failures.iter().filter(|(name, ..)| name == dataset) {
            let _ = writeln!(text, "\nLeft out: {method} ({why}).");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_are_over_folds() {
        let row = |run, accuracy| Row {
            dataset: "colon",
            method: "mrmr",
            learner: "svm".to_owned(),
            run,
            k: 10,
            features: Vec::new(),
            scores: vec![accuracy],
            redundancy: 0.1,
            seconds: 1.0,
        };
        let rows = [row(0, 0.5), row(1, 1.0)];
        let means = means(&rows);
        assert_eq!((means.len(), means[0].run, means[0].scores[0]), (1, 2, 0.75));
        let text = summary(&rows, &[], &[("colon", "t-score", "why".to_owned())], &BTreeSet::from(["colon"]));
        assert!(text.contains("| mrmr | 0.750 ± 0.250 | 1.000 |"), "{text}");
        assert!(text.contains("Left out: t-score (why)."));
    }

    #[test]
    fn unknown_methods_are_errors_and_unsupervised_ones_are_known() {
        assert!(methods(&["nonsense".to_owned()]).is_err());
        let all = methods(&[]).unwrap();
        let find = |id: &str| all.iter().find(|chosen| chosen.method.id == id).unwrap();
        assert!(find("mrmr").supervised && !find("laplacian").supervised);
        // One ranking serves all numbers of features, or each has a selection of its own.
        assert!(find("mrmr").is_nested && find("fisher").is_nested);
        assert!(!find("hsic-lasso").is_nested && !find("l1-svm").is_nested && !find("trace-ratio").is_nested);
    }
}
