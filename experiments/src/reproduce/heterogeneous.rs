//! Generated networks with known relevant features: where links help to find them, and where not.

use std::fmt::Write;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use fewest::core::{Budget, Context, Dataset, Target, derive_seed};
use fewest::data::synthetic::NetworkProblem;
use serde::{Deserialize, Serialize};

use super::experiments::{Method, Protocol};
use super::{public, views};
use crate::Result;
use crate::output::mean_and_error;
use crate::plot::{Panel, Series, lines};

/// Samples of the networks.
const SIZES: [usize; 3] = [200, 400, 800];

/// Shares of the links that are drawn at random.
const NOISE: [f64; 6] = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5];

/// Links of a sample, on average.
const DEGREE: usize = 10;

/// Samples whose class is known to methods that use it, the same number of each community.
const LABELLED: usize = 40;

/// What all networks have.
const PROBLEM: NetworkProblem = NetworkProblem {
    n_samples: 0,
    n_links: 0,
    n_features: 200,
    n_relevant: 20,
    communities: 4,
    words: 20,
    signal: 0.15,
    noise: 0.0,
};

/// A way to select.
struct Way {
    method: Method,
    /// Whether it looks at classes, of [`LABELLED`] samples.
    is_supervised: bool,
    /// Whether it looks at links.
    is_linked: bool,
}

const fn way(
    id: &'static str,
    parameters: &'static [&'static str],
    is_supervised: bool,
    is_linked: bool,
) -> Way {
    Way { method: Method { name: id, id, parameters }, is_supervised, is_linked }
}

const WAYS: [Way; 9] = [
    way("fsnet", &[], true, true),
    way("linkedfs", &["following=0.5"], true, true),
    way("l21", &[], true, false),
    way("lasso", &["loss=multinomial"], true, false),
    way("netfs", &["clusters=4", "alpha_ratio=0.02"], false, true),
    way("lufs", &["clusters=3"], false, true),
    way("ndfs", &["clusters=4"], false, false),
    way("udfs", &["clusters=4"], false, false),
    way("laplacian", &[], false, false),
];

/// What to run.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// One of them alone.
    #[arg(long)]
    only: Option<Kind>,
    /// The folder with the tables of experiments/peers/public_networks.py; without, they are left out.
    #[arg(long)]
    public: Option<PathBuf>,
    #[command(flatten)]
    protocol: Protocol,
}

/// What is drawn, or read.
#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
enum Kind {
    Networks,
    Views,
    Public,
}

/// The shares of the relevant features that a way finds in the networks of one size and noise.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Part {
    way: usize,
    n: usize,
    noise: f64,
    found: Vec<f64>,
}

/// A network as methods see it: `is_supervised`, samples with a class among all, whose classes are hidden.
fn seen(all: &Dataset, is_supervised: bool) -> Result<Dataset> {
    if !is_supervised {
        return Ok(all.clone().with_target(Target::None)?);
    }
    let Target::Class(classes) = all.target() else { return Err("the target is classes".into()) };
    let mut left = vec![LABELLED / classes.names().len(); classes.names().len()];
    let mut rows = Vec::with_capacity(LABELLED);
    for (row, &code) in classes.codes().iter().enumerate() {
        let left = &mut left[code as usize];
        if *left > 0 {
            *left -= 1;
            rows.push(row);
        }
    }
    Ok(all.subset(&rows)?.with_surroundings(all, rows)?)
}

/// The share of the relevant features among as many selected ones.
fn share_found(way: &Way, n: usize, noise: f64, seed: u64) -> Result<f64> {
    let all = NetworkProblem { n_samples: n, n_links: DEGREE * n / 2, noise, ..PROBLEM }.draw(seed)?;
    let data = seen(&all, way.is_supervised)?;
    let relevant = PROBLEM.n_relevant;
    let context = Context::seeded(derive_seed(seed, 1));
    let selected = way.method.selector()?.select(&data, Budget::Count(relevant), &context)?.order;
    Ok(selected.iter().filter(|feature| **feature < relevant).count() as f64 / relevant as f64)
}

/// Selects in generated networks and views, and in public ones.
pub(super) fn run(arguments: &Arguments) -> Result<()> {
    let Arguments { only, public: folder, protocol } = arguments;
    let is_wanted = |kind: Kind| only.is_none_or(|only| only == kind);
    protocol.with_threads(|| {
        if is_wanted(Kind::Networks) {
            networks(protocol)?;
        }
        if is_wanted(Kind::Views) {
            views::run(protocol)?;
        }
        match folder {
            Some(folder) if is_wanted(Kind::Public) => public::run(protocol, folder),
            None if *only == Some(Kind::Public) => {
                Err("where are the public tables? give --public DIR".into())
            }
            _ => Ok(()),
        }
    })
}

/// Draws the networks, and selects in each by every way; writes `networks.csv`, `.md` and `.svg`.
fn networks(protocol: &Protocol) -> Result<()> {
    let mut parts: Vec<Part> = Vec::new();
    for n in SIZES {
        for noise in NOISE {
            for (at, way) in WAYS.iter().enumerate() {
                // Only links have noise: what does not look at them finds the same at any.
                let same = |part: &&Part| !way.is_linked && (part.way, part.n) == (at, n);
                if let Some(part) = parts.iter().find(same).cloned() {
                    parts.push(Part { noise, ..part });
                    continue;
                }
                let name = format!("heterogeneous-{n}-{noise}-{}", way.method.id);
                let found = protocol.kept_runs(&name, |run| {
                    // The same networks for every way, and the same attributes at every noise.
                    let seed = derive_seed(derive_seed(protocol.seed, n as u64), run);
                    share_found(way, n, noise, seed)
                })?;
                parts.extend(found.map(|found| Part { way: at, n, noise, found }));
            }
        }
    }
    let documents = protocol.documents("heterogeneous");
    let header = ["method", "supervised", "links", "n", "noise", "run", "found"];
    documents.csv("networks", &header, &parts.iter().flat_map(cells).collect::<Vec<_>>())?;
    documents.page("networks", summary(&parts, protocol.runs))?;
    lines(&documents.path("networks.svg"), &SIZES.map(|n| panel(&parts, n)))
}

fn cells(part: &Part) -> Vec<Vec<String>> {
    let way = &WAYS[part.way];
    let line = |(run, found): (usize, &f64)| {
        vec![
            way.method.id.to_owned(),
            way.is_supervised.to_string(),
            way.is_linked.to_string(),
            part.n.to_string(),
            part.noise.to_string(),
            run.to_string(),
            format!("{found:.4}"),
        ]
    };
    part.found.iter().enumerate().map(line).collect()
}

fn of(parts: &[Part], way: usize, n: usize, noise: f64) -> Option<(f64, f64)> {
    let part = parts.iter().find(|part| (part.way, part.n) == (way, n) && part.noise == noise)?;
    Some(mean_and_error(&part.found))
}

fn name(way: &Way) -> String {
    let parameters: Vec<String> = way.method.parameters.iter().map(|given| format!(" {given}")).collect();
    format!("`{}{}`", way.method.id, parameters.concat())
}

fn summary(parts: &[Part], runs: u64) -> String {
    let NetworkProblem { n_features, n_relevant, communities, words, signal, .. } = PROBLEM;
    let mut text = format!(
        "# Relevant features of networks\n\nOf {runs} networks each, drawn by `synthetic::NetworkProblem`: the mean \
         share of relevant features among the {n_relevant} best of {n_features}, with its standard error. There are \
         {communities} communities; a sample has {words} words, {} % of them of its community, {DEGREE} links on \
         average, and an author who follows others. Noise is the share of links, and of those whom authors follow, \
         that is drawn at random instead of in the community. The networks of one size have the same words and \
         communities at every noise, and every method gets the same. Guessing finds {:.2}. Every run is in \
         [networks.csv](networks.csv).\n\n![Share of relevant features against the noise of links](networks.svg)\n\n\
         Methods with classes know those of {LABELLED} samples, and among them `fsnet` and `linkedfs` see all other \
         samples, too, without their classes (`evaluate --network transductive`); the others use the samples with \
         a class. Methods without classes use all samples. A method that selects fewer than {n_relevant} features \
         has missed the others.\n",
        100.0 * signal,
        n_relevant as f64 / n_features as f64,
    );
    for n in SIZES {
        let _ = write!(text, "\n## {n} samples\n\n| method | classes | links |");
        NOISE.iter().for_each(|noise| text.push_str(&format!(" noise {noise} |")));
        let _ = writeln!(text, "\n|---|---|---|{}", "---|".repeat(NOISE.len()));
        for (at, way) in WAYS.iter().enumerate() {
            let word = |is: bool| if is { "yes" } else { "no" };
            let _ = write!(text, "| {} | {} | {} |", name(way), word(way.is_supervised), word(way.is_linked));
            for noise in NOISE {
                let cell = of(parts, at, n, noise);
                let cell = cell.map_or("–".to_owned(), |(mean, error)| format!("{mean:.3} ± {error:.3}"));
                let _ = write!(text, " {cell} |");
            }
            text.push('\n');
        }
    }
    text
}

fn panel(parts: &[Part], n: usize) -> Panel {
    let mut series = Vec::new();
    for (at, way) in WAYS.iter().enumerate() {
        let found: Vec<(f64, (f64, f64))> =
            NOISE.iter().filter_map(|&noise| Some((noise, of(parts, at, n, noise)?))).collect();
        if !found.is_empty() {
            series.push(Series {
                name: way.method.id.to_owned(),
                points: found.iter().map(|(noise, (mean, _))| (*noise, *mean)).collect(),
                errors: found.iter().map(|(_, (_, error))| *error).collect(),
                is_guide: false,
            });
        }
    }
    Panel {
        title: format!("{n} samples"),
        x_label: "share of links at random".to_owned(),
        y_label: "relevant features found".to_owned(),
        logarithmic: false,
        y_range: Some((0.0, 1.0)),
        series,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Labels are known of as many samples of each community, and nothing else has one.
    #[test]
    fn labels_of_others_are_hidden() -> Result<()> {
        let all = NetworkProblem { n_samples: 200, n_links: 1000, noise: 0.1, ..PROBLEM }.draw(1)?;
        let data = seen(&all, true)?;
        let Target::Class(classes) = data.target() else { panic!("classes") };
        assert_eq!(classes.counts(), [LABELLED / 4; 4]);
        let Some((around, rows)) = data.surroundings() else { panic!("surroundings") };
        assert_eq!((around.n_samples(), rows.len()), (200, LABELLED));
        assert_eq!(*around.target(), Target::None);
        assert_eq!(*seen(&all, false)?.target(), Target::None);
        Ok(())
    }
}
