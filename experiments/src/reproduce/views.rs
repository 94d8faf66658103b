//! Generated views with known relevant features: what methods of several views find, and with which
//! parameters.

use std::fmt::Write;

use fewest::core::{Budget, Context, Dataset, DenseColumns, Target, Views, derive_seed};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;

use super::experiments::{Method, Protocol};
use crate::Result;
use crate::output::mean_and_error;

/// Clusters, of equal sizes.
const CLUSTERS: usize = 3;

/// Samples whose class is known to methods that use it, the same number of each cluster.
const LABELLED: usize = 30;

/// A way to draw views: every feature is standard normal noise, and the first of a view add a number for each
/// cluster, normal with deviation `signal`.
struct Setting {
    n: usize,
    /// Features and relevant features of each view.
    views: [(usize, usize); 3],
    signal: f64,
}

const SETTINGS: [Setting; 2] = [
    Setting { n: 90, views: [(20, 5), (15, 4), (10, 0)], signal: 1.2 },
    Setting { n: 90, views: [(20, 5), (15, 4), (10, 0)], signal: 1.6 },
];

/// A way to select.
struct Way {
    method: Method,
    /// Whether it looks at classes, of [`LABELLED`] samples.
    is_supervised: bool,
}

const fn way(id: &'static str, parameters: &'static [&'static str], is_supervised: bool) -> Way {
    Way { method: Method { name: id, id, parameters }, is_supervised }
}

const WAYS: [Way; 16] = [
    way("f-score", &[], true),
    way("l21", &[], true),
    way("group-l1-l21", &[], true),
    way("laplacian", &[], false),
    way("ndfs", &["clusters=3"], false),
    way("group-l1-l21-clusters", &["clusters=3"], false),
    way("aumfs", &["clusters=3"], false),
    way("aumfs", &["clusters=3", "alpha_ratio=0.1"], false),
    way("aumfs", &["clusters=3", "beta=0.1"], false),
    way("aumfs", &["clusters=3", "loss=l21", "beta=0.01"], false),
    way("aumfs", &["clusters=3", "loss=l21", "beta=0.1"], false),
    way("mvfs", &["clusters=3"], false),
    way("mvfs", &["clusters=3", "alpha_ratio=0.1"], false),
    way("mvfs", &["clusters=3", "beta=0.1"], false),
    way("mvfs", &["clusters=3", "loss=l21", "beta=0.01"], false),
    way("mvfs", &["clusters=3", "loss=l21", "beta=0.1"], false),
];

impl Setting {
    fn relevant(&self) -> Vec<usize> {
        let (mut first, mut relevant) = (0, Vec::new());
        for (size, own) in self.views {
            relevant.extend(first..first + own);
            first += size;
        }
        relevant
    }

    fn draw(&self, seed: u64) -> Result<Dataset> {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let (mut columns, mut views) = (Vec::new(), Vec::new());
        for (view, (size, relevant)) in self.views.into_iter().enumerate() {
            views.push((format!("view{view}"), (columns.len()..columns.len() + size).collect()));
            for feature in 0..size {
                let signal = if feature < relevant { self.signal } else { 0.0 };
                let centres: [f64; CLUSTERS] =
                    std::array::from_fn(|_| signal * random.sample::<f64, _>(StandardNormal));
                let value = |i: usize, random: &mut ChaCha8Rng| {
                    centres[i % CLUSTERS] + random.sample::<f64, _>(StandardNormal)
                };
                columns.push((0..self.n).map(|i| value(i, &mut random)).collect::<Vec<f64>>());
            }
        }
        let labels: Vec<usize> = (0..self.n).map(|i| i % CLUSTERS).collect();
        let views = Views::new(columns.len(), views)?;
        Ok(Dataset::new(DenseColumns::from_columns(&columns)?, Target::from_labels(&labels))?
            .with_views(views)?)
    }

    /// The share of the relevant features among as many selected ones.
    fn share_found(&self, way: &Way, seed: u64) -> Result<f64> {
        let all = self.draw(seed)?;
        let data = match way.is_supervised {
            true => all.subset(&(0..LABELLED).collect::<Vec<_>>())?,
            false => all.with_target(Target::None)?,
        };
        let relevant = self.relevant();
        let context = Context::seeded(derive_seed(seed, 1));
        let selected = way.method.selector()?.select(&data, Budget::Count(relevant.len()), &context)?.order;
        let found = selected.iter().filter(|feature| relevant.contains(feature)).count();
        Ok(found as f64 / relevant.len() as f64)
    }
}

/// Draws the views, and selects in each by every way; writes `views.csv` and `views.md`.
pub(super) fn run(protocol: &Protocol) -> Result<()> {
    let mut shares = Vec::new();
    for (at, setting) in SETTINGS.iter().enumerate() {
        for (number, way) in WAYS.iter().enumerate() {
            let Method { id, parameters, .. } = way.method;
            let name = format!("heterogeneous-views-{at}-{id}-{}", parameters.join("-"));
            let found = protocol.kept_runs(&name, |run| {
                // The same views for every way.
                let seed = derive_seed(derive_seed(protocol.seed, at as u64), run);
                setting.share_found(way, seed)
            })?;
            shares.push((at, number, found.unwrap_or_default()));
        }
    }
    let documents = protocol.documents("heterogeneous");
    let cells: Vec<Vec<String>> = shares.iter().flat_map(cells).collect();
    documents.csv("views", &["method", "parameters", "setting", "run", "found"], &cells)?;
    documents.page("views", summary(&shares, protocol.runs))
}

fn cells((setting, way, found): &(usize, usize, Vec<f64>)) -> Vec<Vec<String>> {
    let Method { id, parameters, .. } = WAYS[*way].method;
    let line = |(run, found): (usize, &f64)| {
        let (setting, run) = ((setting + 1).to_string(), run.to_string());
        vec![id.to_owned(), parameters.join(" "), setting, run, format!("{found:.4}")]
    };
    found.iter().enumerate().map(line).collect()
}

fn summary(shares: &[(usize, usize, Vec<f64>)], runs: u64) -> String {
    let mut text = format!(
        "# Relevant features of views\n\nOf {runs} tables each: the mean share of relevant features among as many \
         selected ones, with its standard error. There are {CLUSTERS} clusters of equal sizes and three views; \
         every feature is standard normal noise, and relevant ones add a number for each cluster, normal with the \
         deviation of the column's signal. Methods with classes know those of {LABELLED} samples and use no others; \
         the rest use all samples and no class. Every run is in [views.csv](views.csv).\n\n| method | classes |"
    );
    for Setting { n, views, signal } in &SETTINGS {
        let sizes = views.map(|(size, own)| format!("{own} of {size}")).join(", ");
        let _ = write!(text, " n = {n}, {sizes}, signal {signal} |");
    }
    let _ = writeln!(text, "\n|---|---|{}", "---|".repeat(SETTINGS.len()));
    for (number, way) in WAYS.iter().enumerate() {
        let parameters: Vec<String> = way.method.parameters.iter().map(|given| format!(" {given}")).collect();
        let word = if way.is_supervised { "yes" } else { "no" };
        let _ = write!(text, "| `{}{}` | {word} |", way.method.id, parameters.concat());
        for (_, _, found) in shares.iter().filter(|share| share.1 == number) {
            let (mean, error) = mean_and_error(found);
            let _ = write!(text, " {mean:.2} ± {error:.2} |");
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Relevant features, and no others, have other means in other clusters.
    #[test]
    fn relevant_features_are_those_with_a_signal() -> Result<()> {
        let setting = Setting { n: 3000, views: [(4, 2), (3, 1), (2, 0)], signal: 1.5 };
        let data = setting.draw(3)?;
        assert_eq!(setting.relevant(), [0, 1, 4]);
        let mut scratch = Vec::new();
        for j in 0..9 {
            let values = data.x().column(j, &mut scratch)?.to_vec(3000);
            let mean = |k: usize| values.iter().skip(k).step_by(3).sum::<f64>() / 1000.0;
            let means: [f64; 3] = std::array::from_fn(mean);
            let apart =
                means.iter().fold(f64::MIN, |a, &b| a.max(b)) - means.iter().fold(f64::MAX, |a, &b| a.min(b));
            assert_eq!(apart > 0.2, setting.relevant().contains(&j), "{j}: {means:?}");
        }
        Ok(())
    }
}
