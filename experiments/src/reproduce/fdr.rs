//! Simulations: which share of the features that knockoffs select is irrelevant, and which share of the
//! relevant ones they find.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;
use fewest::core::method::Regularization;
use fewest::core::{Budget, Context, Dataset, DenseColumns, Selector, Target, derive_seed};
use fewest::eval::{
    Covariance, CrossValidatedDifference, KnockoffOptions, KnockoffStatistic, Knockoffs, ScoreDifference,
    StabilitySelection,
};
use fewest::filters::statistical::CorrelationScore;
use fewest::linear::Lasso;
use rand::rngs::ChaCha8Rng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::experiments::Protocol;
use crate::output::mean_and_error;
use crate::{Result, npy, workspace};

/// Samples, features, and those that matter.
const N: usize = 300;
const D: usize = 500;
const RELEVANT: usize = 30;

/// Their coefficients are `± AMPLITUDE / √n`, with noise of variance 1.
const AMPLITUDE: f64 = 5.0;

/// Correlation of neighbours, or of all pairs.
const RHO: f64 = 0.5;

const TARGETS: [f64; 2] = [0.1, 0.2];

/// Draws that vote by e-values.
const DRAWS: usize = 10;

/// Of so many data sets, stability selection, which takes many times as long, has one: the first ones.
const SLOWER: u64 = 4;

/// What to run.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    protocol: Protocol,
    /// A Python with the packages of experiments/peers/knockoffs-requirements.txt: knockpy on the same data.
    #[arg(long)]
    python: Option<PathBuf>,
}

/// How features are correlated.
#[derive(Debug, Clone, Copy)]
enum Design {
    /// `ρ^|i − j|`.
    Neighbours,
    /// `ρ` for every pair.
    Equal,
}

impl Design {
    const ALL: [Self; 2] = [Self::Neighbours, Self::Equal];

    fn name(self) -> &'static str {
        match self {
            Self::Neighbours => "AR(1)",
            Self::Equal => "equicorrelated",
        }
    }

    fn correlation(self, i: usize, j: usize) -> f64 {
        match self {
            _ if i == j => 1.0,
            Self::Neighbours => RHO.powi(i.abs_diff(j) as i32),
            Self::Equal => RHO,
        }
    }

    /// A data set and its relevant features.
    fn draw(self, seed: u64) -> Result<(Dataset, Vec<usize>)> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut columns = vec![vec![0.0; N]; D];
        for i in 0..N {
            let shared: f64 = rng.sample(StandardNormal);
            let mut before = shared;
            for column in &mut columns {
                let own: f64 = rng.sample(StandardNormal);
                column[i] = match self {
                    Self::Neighbours => {
                        before = RHO * before + (1.0 - RHO * RHO).sqrt() * own;
                        before
                    }
                    Self::Equal => RHO.sqrt() * shared + (1.0 - RHO).sqrt() * own,
                };
            }
        }
        let mut features: Vec<usize> = (0..D).collect();
        features.shuffle(&mut rng);
        features.truncate(RELEVANT);
        let weights: Vec<f64> = (0..RELEVANT)
            .map(|_| AMPLITUDE / (N as f64).sqrt() * if rng.random::<bool>() { 1.0 } else { -1.0 })
            .collect();
        let target = (0..N)
            .map(|i| {
                let noise: f64 = rng.sample(StandardNormal);
                features.iter().zip(&weights).map(|(&j, w)| w * columns[j][i]).sum::<f64>() + noise
            })
            .collect();
        Ok((Dataset::new(DenseColumns::from_columns(&columns)?, Target::real(target)?)?, features))
    }
}

/// A way to select.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Way {
    /// Coefficients of the lasso, with the covariance that the command uses.
    Lasso,
    /// As `Lasso`, with the true covariance.
    Known,
    /// As `Lasso`, with that of Ledoit and Wolf.
    Shrunk,
    /// As `Lasso`, with several draws.
    Derandomised,
    /// Differences of correlations.
    Correlation,
}

impl Way {
    const ALL: [Self; 5] = [Self::Lasso, Self::Known, Self::Shrunk, Self::Derandomised, Self::Correlation];

    fn name(self) -> &'static str {
        match self {
            Self::Lasso => "lasso",
            Self::Known => "lasso, known covariance",
            Self::Shrunk => "lasso, Ledoit and Wolf",
            Self::Derandomised => "lasso, 10 draws",
            Self::Correlation => "correlation",
        }
    }

    /// By bound, the features that are selected.
    fn select(self, design: Design, data: &Dataset, seed: u64) -> Result<Vec<Vec<usize>>> {
        let mut options = KnockoffOptions::default();
        match self {
            Self::Known => {
                let entries = (0..D * D).map(|at| design.correlation(at % D, at / D));
                options.covariance = Covariance::Given(entries.collect());
            }
            Self::Shrunk => options.covariance = Covariance::LedoitWolf,
            Self::Derandomised => options.draws = DRAWS,
            Self::Lasso | Self::Correlation => {}
        }
        let statistic: Box<dyn KnockoffStatistic> = match self {
            Self::Correlation => Box::new(ScoreDifference(CorrelationScore::default())),
            _ => Box::new(CrossValidatedDifference {
                selector: Lasso {
                    regularization: Regularization::Ratio(0.02),
                    lambda_path: 30,
                    tolerance: 1e-6,
                    ..Lasso::default()
                },
                folds: 5,
            }),
        };
        let knockoffs = Knockoffs { statistic, options };
        let selections = knockoffs.select_for(data, &TARGETS, &Context::seeded(seed))?;
        Ok(selections.into_iter().map(|selection| selection.order).collect())
    }
}

/// What one way selected of one data set.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Outcome {
    selected: usize,
    /// Share of irrelevant features among them, 0 for none.
    wrong: f64,
    /// Share of the relevant features that are among them.
    found: f64,
}

impl Outcome {
    fn of(selected: &[usize], relevant: &[usize]) -> Self {
        let right = selected.iter().filter(|j| relevant.contains(j)).count();
        Self {
            selected: selected.len(),
            wrong: (selected.len() - right) as f64 / selected.len().max(1) as f64,
            found: right as f64 / relevant.len() as f64,
        }
    }
}

/// A design, a way and a bound, with the outcome of every run.
struct Part {
    design: Design,
    way: &'static str,
    target: String,
    outcomes: Vec<Outcome>,
}

/// Writes `simulations.md` and `simulations.csv` to the folder `fdr`.
pub(super) fn run(arguments: &Arguments) -> Result<()> {
    arguments.protocol.with_threads(|| compute(&arguments.protocol, arguments.python.as_deref()))
}

fn compute(protocol: &Protocol, python: Option<&Path>) -> Result<()> {
    let mut parts = Vec::new();
    for (stream, design) in Design::ALL.into_iter().enumerate() {
        let seed = derive_seed(protocol.seed, stream as u64);
        let shares = |way: &'static str, found: Option<Vec<Vec<Outcome>>>| {
            TARGETS.into_iter().zip(found.into_iter().flatten()).map(move |(target, outcomes)| Part {
                design,
                way,
                target: format!("share {target}"),
                outcomes,
            })
        };
        for way in Way::ALL {
            let select = |data: &Dataset, seed| way.select(design, data, seed);
            let name = format!("fdr-{}-{}", design.name(), way.name());
            parts.extend(shares(way.name(), part(protocol, protocol.runs, (design, seed), &name, &select)?));
        }
        let select = |data: &Dataset, seed| {
            let stable = StabilitySelection::with_error(Lasso::default(), 1.0, 0.75, D)?;
            Ok(vec![stable.select(data, Budget::Auto, &Context::seeded(seed))?.order])
        };
        let name = format!("fdr-{}-stability", design.name());
        let runs = protocol.runs.div_ceil(SLOWER);
        let found = part(protocol, runs, (design, seed), &name, &select)?.into_iter().flatten();
        parts.extend(found.map(|outcomes| Part {
            design,
            way: "stability of the lasso",
            target: "number 1".to_owned(),
            outcomes,
        }));
        for is_known in python.map_or(&[][..], |_| &[false, true]) {
            let name = format!("fdr-{}-knockpy-{is_known}", design.name());
            let found = protocol.kept(&name, |_| knockpy(protocol, design, seed, python, *is_known))?;
            let way = if *is_known { "knockpy, lasso, known covariance" } else { "knockpy, lasso" };
            parts.extend(shares(way, found));
        }
    }
    let documents = protocol.documents("fdr");
    documents.csv("simulations", &HEADER, &parts.iter().flat_map(cells).collect::<Vec<_>>())?;
    documents.page("simulations", summary(&parts, protocol.runs))
}

/// By bound, what is selected of a data set with a seed.
type Select<'a> = dyn Fn(&Dataset, u64) -> Result<Vec<Vec<usize>>> + Sync + 'a;

/// By bound, the outcome of every run.
fn part(
    protocol: &Protocol,
    runs: u64,
    (design, seed): (Design, u64),
    name: &str,
    select: &Select<'_>,
) -> Result<Option<Vec<Vec<Outcome>>>> {
    protocol.kept(name, |_| {
        let outcomes = |run: u64| -> std::result::Result<Vec<Outcome>, String> {
            let seed = derive_seed(seed, run);
            let (data, relevant) = design.draw(seed).map_err(|error| error.to_string())?;
            let selected = select(&data, derive_seed(seed, 1)).map_err(|error| error.to_string())?;
            Ok(selected.iter().map(|selected| Outcome::of(selected, &relevant)).collect())
        };
        let runs: std::result::Result<Vec<Vec<Outcome>>, String> =
            (0..runs).into_par_iter().map(outcomes).collect();
        let runs = runs?;
        let n_bounds = runs.first().map_or(0, Vec::len);
        Ok((0..n_bounds).map(|bound| runs.iter().map(|run| run[bound].clone()).collect()).collect())
    })
}

/// For each bound the outcomes of knockpy on the same data sets.
fn knockpy(
    protocol: &Protocol,
    design: Design,
    seed: u64,
    python: Option<&Path>,
    is_known: bool,
) -> Result<Vec<Vec<Outcome>>> {
    let python = python.ok_or("knockpy needs a Python")?;
    let folder = workspace::root().join("target/reproduce/knockpy");
    std::fs::create_dir_all(&folder)?;
    let mut relevant = Vec::new();
    let runs = protocol.runs;
    for run in 0..runs {
        let (data, features) = design.draw(derive_seed(seed, run))?;
        let Target::Real(target) = data.target() else { return Err("the target is real".into()) };
        npy::write_table(&folder.join(format!("x-{run}.npy")), data.x())?;
        npy::write_vector(&folder.join(format!("y-{run}.npy")), target.output(0))?;
        relevant.push(features);
    }
    let (json, covariance) = (folder.join("selected.json"), folder.join("covariance.npy"));
    let mut command = Command::new(python);
    command.arg(workspace::root().join("experiments/peers/knockoffs.py")).arg("--folder").arg(&folder);
    command.args(["--runs", &runs.to_string(), "--fdr"]).args(TARGETS.map(|fdr| fdr.to_string()));
    if is_known {
        let column = |j: usize| (0..D).map(|i| design.correlation(i, j)).collect::<Vec<f64>>();
        let columns: Vec<Vec<f64>> = (0..D).map(column).collect();
        npy::write_table(&covariance, &DenseColumns::from_columns(&columns)?)?;
        command.arg("--covariance").arg(&covariance);
    }
    workspace::run(command.arg("--json").arg(&json))?;
    let answer: Answer = serde_json::from_str(&std::fs::read_to_string(&json)?)?;
    std::fs::remove_dir_all(&folder)?;
    let of_bound = |bound: usize| {
        let runs = answer.selected.iter().zip(&relevant);
        runs.map(|(selected, relevant)| Outcome::of(&selected[bound], relevant)).collect()
    };
    Ok((0..TARGETS.len()).map(of_bound).collect())
}

/// By run and bound, the selected features.
#[derive(Deserialize)]
struct Answer {
    selected: Vec<[Vec<usize>; TARGETS.len()]>,
}

const HEADER: [&str; 7] =
    ["design", "way", "bound", "run", "selected", "false_discovery_proportion", "power"];

fn cells(part: &Part) -> Vec<Vec<String>> {
    let line = |(run, outcome): (usize, &Outcome)| {
        vec![
            part.design.name().to_owned(),
            part.way.to_owned(),
            part.target.clone(),
            run.to_string(),
            outcome.selected.to_string(),
            format!("{:.4}", outcome.wrong),
            format!("{:.4}", outcome.found),
        ]
    };
    part.outcomes.iter().enumerate().map(line).collect()
}

fn summary(parts: &[Part], runs: u64) -> String {
    let mut text = format!(
        "# Bounds on false discoveries: simulations\n\nOf {runs} data sets each, with {N} samples and {D} normal \
         features, of which {RELEVANT} matter with coefficients ± {AMPLITUDE}/√n and noise of variance 1: the mean \
         share of irrelevant features among the selected ones (0 where nothing is selected), the mean share of \
         relevant ones that are selected, each with its standard error, and the mean number of irrelevant ones; \
         stability selection has the first quarter of the data sets. \
         Every run is in [simulations.csv](simulations.csv).\n\nFeatures are correlated by {RHO} with their \
         neighbours and by its powers with others (AR(1)), or by {RHO} with all (equicorrelated). Knockoffs are \
         made by `mvr` with the covariance that the command uses, with the true one, or with that of Ledoit and \
         Wolf; offset 1. The penalty of the lasso is chosen by cross-validation. Stability selection has 50 pairs \
         of halves and π = 0.75; its bound is on the number of irrelevant features. knockpy \
         (`experiments/peers/knockoffs.py`) has the same data, `mvr` and bound, the covariance of Ledoit and Wolf \
         or the true one, and its own lasso.\n\n\
         | design | statistic | bound | false discoveries | power | irrelevant features | empty |\n\
         |---|---|---|---|---|---|---|\n"
    );
    for part in parts {
        let of = |value: &dyn Fn(&Outcome) -> f64| {
            let values: Vec<f64> = part.outcomes.iter().map(value).collect();
            let (mean, error) = mean_and_error(&values);
            format!("{mean:.3} ± {error:.3}")
        };
        let empty = part.outcomes.iter().filter(|outcome| outcome.selected == 0).count();
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {empty} |",
            part.design.name(),
            part.way,
            part.target,
            of(&|outcome| outcome.wrong),
            of(&|outcome| outcome.found),
            of(&|outcome| outcome.wrong * outcome.selected as f64),
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Columns have the correlations that the known covariance says.
    #[test]
    fn designs_have_their_correlations() -> Result<()> {
        for design in Design::ALL {
            let mut sums = [0.0; 3];
            for seed in 0..8 {
                let (data, relevant) = design.draw(seed)?;
                assert_eq!(relevant.len(), RELEVANT);
                let column =
                    |j: usize| -> Result<Vec<f64>> { Ok(data.x().column(j, &mut Vec::new())?.to_vec(N)) };
                for j in (0..400).step_by(10) {
                    let a = column(j)?;
                    for (sum, step) in sums.iter_mut().zip([0, 1, 2]) {
                        let b = column(j + step)?;
                        *sum += a.iter().zip(&b).map(|(a, b)| a * b).sum::<f64>() / (N * 8 * 40) as f64;
                    }
                }
            }
            for (sum, step) in sums.iter().zip([0, 1, 2]) {
                let expected = design.correlation(0, step);
                assert!((sum - expected).abs() < 0.06, "{design:?} {step}: {sum} {expected}");
            }
        }
        Ok(())
    }

    #[test]
    fn outcomes_are_shares() {
        let outcome = Outcome::of(&[1, 2, 3, 4], &[1, 2, 9]);
        assert_eq!((outcome.selected, outcome.wrong), (4, 0.5));
        assert!((outcome.found - 2.0 / 3.0).abs() < 1e-15);
        let none = Outcome::of(&[], &[1]);
        assert_eq!((none.wrong, none.found), (0.0, 0.0));
    }
}
