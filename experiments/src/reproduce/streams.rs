//! Methods to which data arrive, on real data: accuracy, number of features, time, and how much all of that
//! depends on the order of arrival.

use std::fmt::Write;
use std::time::Instant;

use clap::Args;
use fewest::core::{Arrives, Budget, Context, Dataset, derive_seed};
use fewest::eval::stability::nogueira;
use fewest::eval::{Accuracy, KFold, Learner, LinearSvm, Metric, Split, Splitter};
use fewest::registry::Registry;
use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use rand::seq::SliceRandom;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::experiments::{Method, Protocol};
use crate::Result;
use crate::output::mean_and_error;

/// Data sets of two classes, by file.
const DATA: [(&str, &str); 8] = [
    ("colon", "colon.mat"),
    ("ALLAML", "ALLAML.mat"),
    ("leukemia", "leukemia.mat"),
    ("Prostate-GE", "Prostate-GE.mat"),
    ("madelon", "madelon.mat"),
    ("dbworld", "dbworld.csv"),
    ("ionosphere", "ionosphere.csv"),
    ("wdbc", "wdbc.csv"),
];

const fn method(id: &'static str, parameters: &'static [&'static str]) -> Method {
    Method { name: id, id, parameters }
}

/// Five where features arrive, which decide how many they keep; then those where samples arrive.
const METHODS: [Method; 9] = [
    method("alpha-investing", &[]),
    method("grafting", &["lambda_ratio=0.2"]),
    method("osfs", &[]),
    method("fast-osfs", &[]),
    method("saola", &[]),
    method("ofs", &[]),
    method("fsds", &[]),
    method("f-score", &[]),
    method("mim", &[]),
];

const FOLDS: usize = 5;

/// Features of methods to which samples arrive.
const K: usize = 10;

/// What to run.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Data sets, by name; without, all eight.
    #[arg(long, value_delimiter = ',')]
    datasets: Vec<String>,
    /// Ids of methods; without, all.
    #[arg(long, value_delimiter = ',')]
    methods: Vec<String>,
    #[command(flatten)]
    protocol: Protocol,
}

/// What one order of arrival gave in one fold.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Outcome {
    features: Vec<usize>,
    accuracy: f64,
    seconds: f64,
}

/// A method on a data set: by order, then by fold.
struct Part {
    dataset: &'static str,
    n_features: usize,
    method: &'static str,
    outcomes: Vec<Vec<Outcome>>,
}

/// What arrives at the method of this id.
fn arrives(id: &str) -> Result<Arrives> {
    Registry::standard().find(id)?.arrives.ok_or_else(|| format!("{id}: no data arrive at it").into())
}

/// The features that `method` selects of `train` in the order that `seed` draws.
fn select(method: &Method, train: &Dataset, seed: u64) -> Result<(Vec<usize>, f64)> {
    let by_features = arrives(method.id)? == Arrives::Features;
    let mut order: Vec<usize> =
        (0..if by_features { train.n_features() } else { train.n_samples() }).collect();
    order.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
    let shuffled = if by_features { train.feature_subset(&order)? } else { train.subset(&order)? };
    let budget = if by_features { Budget::Auto } else { Budget::Count(K.min(train.n_features())) };
    let selector = method.selector()?;
    let start = Instant::now();
    let mut selected = selector.select(&shuffled, budget, &Context::seeded(seed))?.order;
    let seconds = start.elapsed().as_secs_f64();
    if by_features {
        selected.iter_mut().for_each(|feature| *feature = order[*feature]);
    }
    Ok((selected, seconds))
}

/// The accuracy of a linear machine on these features; without any, of the larger class.
fn accuracy(data: &Dataset, split: &Split, features: &[usize]) -> Result<f64> {
    let (train, test) = (data.subset(&split.train)?, data.subset(&split.test)?);
    if features.is_empty() {
        let (counts, codes) = (train.classes("accuracy")?.counts(), test.classes("accuracy")?);
        let larger = (0..counts.len()).max_by_key(|&class| counts[class]).unwrap_or(0);
        let right = codes.codes().iter().filter(|&&code| code as usize == larger).count();
        return Ok(right as f64 / test.n_samples() as f64);
    }
    let context = Context::default();
    let model = LinearSvm::default().fit_to_predict(&train.feature_subset(features)?, &context)?;
    let predicted = model.predict(test.feature_subset(features)?.x())?;
    Ok(Accuracy.score(test.target(), &predicted)?)
}

/// Runs the methods; writes `streams.csv` and `.md`.
pub(super) fn run(arguments: &Arguments) -> Result<()> {
    arguments.protocol.with_threads(|| compute(arguments))
}

fn compute(arguments: &Arguments) -> Result<()> {
    let protocol = &arguments.protocol;
    let wanted = |names: &[String], name: &str| names.is_empty() || names.iter().any(|other| other == name);
    let mut parts = Vec::new();
    for (dataset, file) in DATA.into_iter().filter(|(name, _)| wanted(&arguments.datasets, name)) {
        let Some(data) = protocol.read(dataset, file)? else { continue };
        let splits = KFold { folds: FOLDS, stratified: true }.splits(&data, protocol.seed)?;
        for method in METHODS.iter().filter(|method| wanted(&arguments.methods, method.id)) {
            let outcomes = protocol.kept(&format!("streams-{dataset}-{}", method.id), |_| {
                let one = |run: u64| -> Result<Vec<Outcome>> {
                    let of_fold = |split: &Split| {
                        let train = data.subset(&split.train)?;
                        let (features, seconds) = select(method, &train, derive_seed(protocol.seed, run))?;
                        Ok(Outcome { accuracy: accuracy(&data, split, &features)?, features, seconds })
                    };
                    splits.iter().map(of_fold).collect()
                };
                (0..protocol.runs).into_par_iter().map(one).collect::<Result<Vec<_>>>()
            })?;
            let Some(outcomes) = outcomes else { continue };
            let part = Part { dataset, n_features: data.n_features(), method: method.id, outcomes };
            eprintln!("{dataset}, {}: {}", method.id, line(&part));
            parts.push(part);
        }
    }
    if parts.is_empty() {
        return Err("nothing was run: none of the data sets is there, or no method of that name".into());
    }
    let documents = protocol.documents("streams");
    let header = ["dataset", "method", "order", "fold", "features", "accuracy", "seconds"];
    documents.csv("streams", &header, &parts.iter().flat_map(cells).collect::<Vec<_>>())?;
    documents.page("streams", summary(&parts, protocol.runs)?)
}

fn cells(part: &Part) -> Vec<Vec<String>> {
    let mut all = Vec::new();
    for (order, folds) in part.outcomes.iter().enumerate() {
        for (fold, outcome) in folds.iter().enumerate() {
            let Outcome { features, accuracy, seconds } = outcome;
            all.push(vec![
                part.dataset.to_owned(),
                part.method.to_owned(),
                order.to_string(),
                fold.to_string(),
                features.len().to_string(),
                format!("{accuracy:.4}"),
                format!("{seconds:.6}"),
            ]);
        }
    }
    all
}

/// The mean over folds of the stability over orders, where it is defined.
fn stability(part: &Part) -> Option<f64> {
    let of_fold = |fold: usize| {
        let selections: Vec<&[usize]> = part.outcomes.iter().map(|folds| &folds[fold].features[..]).collect();
        nogueira(&selections, part.n_features, 0.95).ok().map(|stability| stability.phi)
    };
    let all: Vec<f64> = (0..FOLDS).filter_map(of_fold).collect();
    (!all.is_empty()).then(|| all.iter().sum::<f64>() / all.len() as f64)
}

fn line(part: &Part) -> String {
    let all = || part.outcomes.iter().flatten();
    let mean = |figure: fn(&Outcome) -> f64| mean_and_error(&all().map(figure).collect::<Vec<_>>()).0;
    let by_order: Vec<f64> = part
        .outcomes
        .iter()
        .map(|folds| folds.iter().map(|outcome| outcome.accuracy).sum::<f64>() / folds.len() as f64)
        .collect();
    let (accuracy, error) = mean_and_error(&by_order);
    let deviation = error * (by_order.len() as f64).sqrt();
    let stability = stability(part).map_or("–".to_owned(), |phi| format!("{phi:.2}"));
    format!(
        "{:.1} | {accuracy:.3} | {deviation:.3} | {stability} | {:.4}",
        mean(|outcome| outcome.features.len() as f64),
        mean(|outcome| outcome.seconds)
    )
}

fn summary(parts: &[Part], runs: u64) -> Result<String> {
    let mut text = format!(
        "# Methods to which data arrive\n\n\
         Each method selects from the training samples of {FOLDS} folds, in {runs} random orders of arrival that \
         are the same for all methods of a kind; a linear support vector machine (the learner's defaults) is then \
         fitted to the selected features, and its accuracy is that on the other samples. Parameters are the \
         defaults, but `lambda_ratio=0.2` of grafting, which has none. Methods to which features arrive decide \
         how many they keep; of the others the first {K} \
         features are taken. No feature selected counts as the accuracy of the larger class.\n\n\
         *Accuracy* is the mean over folds and orders, *deviation* the standard deviation over orders of the mean \
         over folds: what the order alone does. *Stability* is that of the sets of features over the orders \
         (Nogueira and Brown, as in `evaluate`), in the mean over folds: 1 is the same set for every order, 0 is \
         drawing at random. *Seconds* are those of one selection from a table in memory. Every run is in \
         [streams.csv](streams.csv).\n"
    );
    for (dataset, _) in DATA {
        let of: Vec<&Part> = parts.iter().filter(|part| part.dataset == dataset).collect();
        let Some(first) = of.first() else { continue };
        let _ = write!(
            text,
            "\n## {dataset}, {} features\n\n| method | arrives | features kept | accuracy | deviation | \
             stability | seconds |\n|---|---|---|---|---|---|---|\n",
            first.n_features
        );
        for part in of {
            let _ = writeln!(text, "| {} | {} | {} |", part.method, arrives(part.method)?.name(), line(part));
        }
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use fewest::core::{DenseColumns, Target};

    use super::*;

    /// Scores that are sums over samples do not depend on their order; features have their own numbers again.
    #[test]
    fn orders_are_undone() -> Result<()> {
        let n = 60;
        let class = |i: usize| i % 2;
        let noise = |i: usize, j: usize| ((i * 7919 + j * 104_729) % 1009) as f64 / 1009.0;
        let columns: Vec<Vec<f64>> = (0..20)
            .map(|j| {
                (0..n).map(|i| noise(i, j) + if j == 13 { 3.0 * class(i) as f64 } else { 0.0 }).collect()
            })
            .collect();
        let labels: Vec<&str> = (0..n).map(|i| ["a", "b"][class(i)]).collect();
        let data = Dataset::new(DenseColumns::from_columns(&columns)?, Target::from_labels(&labels))?;
        let orders = |id: &'static str| -> Result<Vec<Vec<usize>>> {
            (0..4).map(|seed| Ok(select(&method(id, &[]), &data, seed)?.0)).collect()
        };
        let by_sums = orders("f-score")?;
        assert!(by_sums.iter().all(|selected| *selected == by_sums[0]));
        assert_eq!(by_sums[0][0], 13);
        assert!(orders("saola")?.iter().all(|selected| selected.contains(&13)));
        Ok(())
    }
}
