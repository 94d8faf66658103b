//! `cargo xtask bench --linear`: the lasso, l1 logistic regression and group lassos against other packages.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use fewest::core::{OnDemand, Target, derive_seed};
use fewest::data::{Missing, ReadOptions, Table};
use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use super::cases::Files;
use super::measure::{CPU, Figure, SECONDS, TIMED, Timed, measure};
use super::programs::{list, number, read};
use super::{Arguments, Start};
use crate::output::{median, minimum};
use crate::{Result, machine, npy, workspace};

/// Where the data of a case come from.
enum Source {
    /// Standard normal features, each with this correlation with the one before. The target is the sum of
    /// `signal` of them, at equal distances and with signs that alternate, and standard normal noise.
    Drawn { n: usize, d: usize, signal: usize, correlation: f64 },
    /// Standard normal features and [`OUTPUTS`] outputs: each the sum of the same `signal` features with
    /// standard normal coefficients, and standard normal noise.
    Outputs { n: usize, d: usize, signal: usize },
    /// A file of the data folder: its first class against all others.
    File(&'static str),
}

/// What is minimised.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Problem {
    Lasso,
    /// With logistic loss and no intercept: liblinear would penalise it.
    Logistic,
    /// Least squares with an l2,1 norm.
    Outputs,
    /// Groups of [`GROUP`] columns.
    Group,
    /// The same, half of it the l1 norm.
    SparseGroup,
}

/// Columns of a group.
const GROUP: usize = 10;

/// Outputs of a table that has several.
const OUTPUTS: usize = 10;

impl Problem {
    fn name(self) -> &'static str {
        match self {
            Self::Lasso => "lasso",
            Self::Logistic => "logistic",
            Self::Outputs => "outputs",
            Self::Group => "group",
            Self::SparseGroup => "sparse-group",
        }
    }

    fn peers(self) -> &'static [&'static str] {
        match self {
            Self::Lasso => &["celer", "skglm"],
            Self::Logistic => &["skglm", "liblinear"],
            Self::Outputs => &["scikit-learn"],
            Self::Group => &["skglm", "adelie"],
            Self::SparseGroup => &["skglm"],
        }
    }

    /// The arguments of our program.
    fn arguments(self) -> &'static [&'static str] {
        match self {
            Self::Lasso => &["--regression", "--method", "lasso"],
            Self::Logistic => {
                &["--method", "lasso", "--param", "loss=logistic", "--param", "intercept=false"]
            }
            Self::Outputs => &["--regression", "--method", "l21"],
            Self::Group => &["--regression", "--method", "group-lasso"],
            Self::SparseGroup => &["--regression", "--method", "sparse-group-lasso"],
        }
    }

    fn group_size(self) -> usize {
        if matches!(self, Self::Group | Self::SparseGroup) { GROUP } else { 0 }
    }

    /// The objective at zero, which gaps are relative to.
    fn at_zero(self) -> f64 {
        match self {
            Self::Logistic => std::f64::consts::LN_2,
            Self::Outputs => 0.5 * OUTPUTS as f64,
            Self::Lasso | Self::Group | Self::SparseGroup => 0.5,
        }
    }
}

/// A table, and the penalties at which it is solved.
struct Case {
    name: &'static str,
    problem: Problem,
    source: Source,
    /// Shares of the smallest penalty that selects nothing.
    ratios: &'static [f64],
    /// The share at which a path of [`POINTS`] penalties ends, if there is one.
    path: Option<f64>,
}

/// Penalties of a path.
const POINTS: usize = 50;

const fn drawn(n: usize, d: usize, signal: usize, correlation: f64) -> Source {
    Source::Drawn { n, d, signal, correlation }
}

const fn file(
    problem: Problem,
    name: &'static str,
    file: &'static str,
    ratios: &'static [f64],
    path: Option<f64>,
) -> Case {
    Case { name, problem, source: Source::File(file), ratios, path }
}

const fn table(
    problem: Problem,
    name: &'static str,
    source: Source,
    ratios: &'static [f64],
    path: Option<f64>,
) -> Case {
    Case { name, problem, source, ratios, path }
}

const TWO: &[f64] = &[0.1, 0.01];
const ONE: &[f64] = &[0.1];

const CASES: &[Case] = {
    use Problem::{Group, Lasso, Logistic, Outputs, SparseGroup};
    &[
        table(Lasso, "signal", drawn(500, 20_000, 10, 0.0), TWO, Some(0.01)),
        table(Lasso, "noise", drawn(500, 20_000, 0, 0.0), TWO, Some(0.1)),
        table(Lasso, "correlated", drawn(500, 20_000, 10, 0.95), TWO, None),
        table(Lasso, "tall", drawn(5000, 1000, 20, 0.0), &[0.1, 0.01, 0.001], None),
        file(Lasso, "colon", "colon.mat", TWO, Some(0.01)),
        file(Lasso, "ALLAML", "ALLAML.mat", TWO, Some(0.01)),
        file(Lasso, "Prostate-GE", "Prostate-GE.mat", TWO, None),
        file(Lasso, "TOX-171", "TOX-171.mat", TWO, None),
        file(Lasso, "PCMAC", "PCMAC.mat", TWO, None),
        file(Lasso, "BASEHOCK", "BASEHOCK.mat", TWO, None),
        table(Logistic, "signal", drawn(500, 20_000, 10, 0.0), ONE, None),
        file(Logistic, "colon", "colon.mat", TWO, None),
        file(Logistic, "ALLAML", "ALLAML.mat", ONE, None),
        file(Logistic, "Prostate-GE", "Prostate-GE.mat", TWO, None),
        file(Logistic, "TOX-171", "TOX-171.mat", ONE, None),
        file(Logistic, "PCMAC", "PCMAC.mat", ONE, None),
        file(Logistic, "BASEHOCK", "BASEHOCK.mat", ONE, None),
        table(Outputs, "signal", Source::Outputs { n: 500, d: 5000, signal: 10 }, &[0.3, 0.1, 0.03], None),
        table(Group, "signal", drawn(500, 20_000, 10, 0.0), TWO, None),
        table(Group, "many", drawn(500, 20_000, 100, 0.0), TWO, None),
        file(Group, "colon", "colon.mat", ONE, None),
        file(Group, "Prostate-GE", "Prostate-GE.mat", ONE, None),
        file(Group, "TOX-171", "TOX-171.mat", ONE, None),
        table(SparseGroup, "signal", drawn(500, 20_000, 10, 0.0), ONE, None),
        table(SparseGroup, "many", drawn(500, 20_000, 100, 0.0), TWO, None),
        file(SparseGroup, "colon", "colon.mat", ONE, None),
        file(SparseGroup, "Prostate-GE", "Prostate-GE.mat", ONE, None),
    ]
};

/// The result of one run of a program.
struct Run {
    timed: Timed,
    objective: f64,
    gap: f64,
    n_features: usize,
}

/// One problem with the runs of each program, ours first.
struct Results {
    name: String,
    problem: Problem,
    sides: Vec<(&'static str, Vec<Run>)>,
}

/// Measures every case; writes `docs/benchmarks/linear.csv` and `.md`, or with `--only` into `target/bench`.
pub(super) fn run(arguments: &Arguments) -> Result<()> {
    let Start { scratch, json, program, python } =
        arguments.start(".venv-peers-linear", "linear-requirements.txt")?;
    let mut versions = BTreeMap::new();
    let mut all = Vec::new();
    for case in CASES.iter().filter(|case| case.title().contains(&arguments.only)) {
        let (files, d) = case.files(&scratch, arguments.data.as_deref())?;
        let singles = case.ratios.iter().map(|&ratio| (ratio, 1));
        for (ratio, points) in singles.chain(case.path.map(|ratio| (ratio, POINTS))) {
            let what = if points > 1 { "path to " } else { "" };
            let name = format!("{}, {what}{ratio}", case.title());
            let mut results = Results { name, problem: case.problem, sides: vec![("fewest", Vec::new())] };
            results.sides.extend(case.problem.peers().iter().map(|&peer| (peer, Vec::new())));
            for repetition in 1..=arguments.repetitions {
                for (at, (side, runs)) in results.sides.iter_mut().enumerate() {
                    let mut command = match at {
                        0 => case.ours(&program, d, ratio, points),
                        _ => case.theirs(&python, side, ratio, points),
                    };
                    if case.problem.group_size() > 0 {
                        command.args(["--group-size", &case.problem.group_size().to_string()]);
                    }
                    command.arg("--x").arg(&files.x);
                    command.args(files.y.iter().flat_map(|y| ["--y".as_ref(), y.as_os_str()]));
                    command.args(["--threads", &arguments.threads.to_string()]).arg("--json").arg(&json);
                    let measured = measure(command.stdout(Stdio::null()).stderr(Stdio::null()))?;
                    let answer = read(&json)?;
                    if let Some(version) = answer["version"].as_str() {
                        versions.insert(*side, format!("{side} {version}"));
                    }
                    let timed = Timed::answered(&answer, measured)?;
                    eprintln!("{} {repetition}: {side} {:.3} CPU s", results.name, CPU(&timed));
                    runs.push(Run {
                        timed,
                        objective: number(&answer, "objective")?,
                        gap: number(&answer, "gap")?,
                        n_features: list(&answer["features"]).count(),
                    });
                }
            }
            all.push(results);
        }
        files.remove()?;
    }
    let mut facts = machine::facts();
    facts.extend(versions.into_values().map(|version| ("peer", version)));
    facts.push(("threads of each program", arguments.threads.to_string()));
    let documents = arguments.documents(facts);
    documents.csv("linear", &[HEADER, TIMED, &["objective", "gap", "features"]].concat(), &rows(&all))?;
    documents.page("linear", summary(&all))
}

impl Case {
    fn title(&self) -> String {
        match self.problem {
            Problem::Lasso => self.name.to_owned(),
            problem => format!("{} {}", problem.name(), self.name),
        }
    }

    fn ours(&self, program: &Path, d: usize, ratio: f64, points: usize) -> Command {
        let mut command = Command::new(program);
        command.arg("run-method").args(self.problem.arguments()).args(["--k", &d.to_string()]);
        command.args(["--param", &format!("lambda_ratio={ratio}")]);
        if points > 1 {
            command.args(["--param", &format!("lambda_path={points}")]);
        }
        command
    }

    fn theirs(&self, python: &Path, peer: &str, ratio: f64, points: usize) -> Command {
        let mut command = Command::new(python);
        command.arg(workspace::root().join("experiments/peers/linear.py"));
        command.args(["--peer", peer, "--problem", self.problem.name()]);
        command.args(["--ratio", &ratio.to_string(), "--points", &points.to_string()]);
        command
    }

    /// The data as arrays that every program reads, and the number of features.
    fn files(&self, scratch: &Path, data: Option<&Path>) -> Result<(Files, usize)> {
        let (x, y) = (scratch.join("linear-x.npy"), scratch.join("linear-y.npy"));
        let n_features = match self.source {
            Source::Drawn { n, d, signal, correlation } => {
                draw((n, d, signal, correlation), self.problem == Problem::Logistic, &x, &y)?;
                d
            }
            Source::Outputs { n, d, signal } => {
                draw_outputs(n, d, signal, &x, &y)?;
                d
            }
            Source::File(name) => {
                let folder = data.ok_or("give the data folder: --data DIR or FEWEST_DATA")?;
                let table = Table::read(folder.join(name), &ReadOptions::default())?;
                let dataset = table.complete(Missing::Error)?.dataset;
                let Target::Class(classes) = dataset.target() else {
                    return Err(format!("{name} has no classes").into());
                };
                let sign = |code: &u32| if *code == 0 { 1.0 } else { -1.0 };
                npy::write_table(&x, dataset.x())?;
                npy::write_vector(&y, &classes.codes().iter().map(sign).collect::<Vec<f64>>())?;
                dataset.n_features()
            }
        };
        Ok((Files { x, y: Some(y) }, n_features))
    }
}

/// Fills `out` with standard normal numbers.
fn normal(seed: usize, out: &mut [f64]) {
    let mut rng = ChaCha8Rng::seed_from_u64(derive_seed(0, seed as u64));
    out.iter_mut().for_each(|value| *value = StandardNormal.sample(&mut rng));
}

fn draw_outputs(n: usize, d: usize, signal: usize, x: &Path, y: &Path) -> Result<()> {
    let column = |j: usize, out: &mut [f64]| {
        normal(j, out);
        Ok(())
    };
    let output = |k: usize, out: &mut [f64]| {
        normal(d + k, out);
        let mut weights = vec![0.0; signal];
        normal(d + OUTPUTS + k, &mut weights);
        let mut feature = vec![0.0; n];
        for (s, weight) in weights.iter().enumerate() {
            normal(s * (d / signal), &mut feature);
            out.iter_mut().zip(&feature).for_each(|(sum, value)| *sum += weight * value);
        }
        Ok(())
    };
    npy::write_table(x, &OnDemand::new(n, d, column))?;
    npy::write_table(y, &OnDemand::new(n, OUTPUTS, output))
}

/// Samples, features, those with a signal, and correlation.
type Drawn = (usize, usize, usize, f64);

/// With `signs` the target is the sign alone.
pub(super) fn draw((n, d, signal, correlation): Drawn, signs: bool, x: &Path, y: &Path) -> Result<()> {
    let mut values = vec![0.0; n * d];
    for j in 0..d {
        let (before, own) = values.split_at_mut(j * n);
        normal(j, &mut own[..n]);
        if j > 0 && correlation > 0.0 {
            let rest = (1.0 - correlation * correlation).sqrt();
            let before = &before[(j - 1) * n..];
            own.iter_mut().zip(before).for_each(|(own, before)| *own = correlation * before + rest * *own);
        }
    }
    let mut target = vec![0.0; n];
    normal(d, &mut target);
    for s in 0..signal {
        let (j, sign) = (s * (d / signal), if s % 2 == 0 { 1.0 } else { -1.0 });
        target.iter_mut().zip(&values[j * n..]).for_each(|(sum, value)| *sum += sign * value);
    }
    if signs {
        target.iter_mut().for_each(|value| *value = value.signum());
    }
    let table = OnDemand::new(n, d, |j, out: &mut [f64]| {
        out.copy_from_slice(&values[j * n..(j + 1) * n]);
        Ok(())
    });
    npy::write_table(x, &table)?;
    npy::write_vector(y, &target)
}

const HEADER: &[&str] = &["case", "side", "repetition"];

fn rows(all: &[Results]) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for Results { name, sides, .. } in all {
        for (side, runs) in sides {
            for (repetition, run) in runs.iter().enumerate() {
                let mut row = vec![name.clone(), (*side).to_owned(), (repetition + 1).to_string()];
                row.extend(run.timed.cells());
                row.push(format!("{:.15}", run.objective));
                row.push(format!("{:.1e}", run.gap));
                row.push(run.n_features.to_string());
                rows.push(row);
            }
        }
    }
    rows
}

const INTRODUCTION: &str = "\
    # Penalised linear models against other packages\n\n\
    CPU seconds (user and system, all threads) and, in brackets, seconds: the smallest of the runs. The \
    programs of a case were run in turn in one session, on the same files, with the same number of \
    threads. Ours go from the table in memory to the coefficients and include standardising; those of the \
    others are for a table that was standardised before, and begin after everything is compiled. The \
    others stop by criteria of their own: their tolerance is the largest power of ten with which the \
    duality gap, relative to the objective at zero, is at most 1e-9, unless a fit takes more than 20 seconds \
    (`experiments/peers/linear.py`); a gap that is larger is told. A number after the name of a table is the \
    share of the smallest penalty that selects nothing. *signal*, *many*, *noise* and *correlated* are \
    500 × 20 000, *tall* is 5000 × 1000, with standard normal features and noise; 100 features of *many* make \
    its target, 20 of *tall*, 10 of *signal* and *correlated*, none of *noise*. The other tables are the first \
    class of a data set against all others. Every run is in [linear.csv](linear.csv).\n";

impl Problem {
    const ALL: [Self; 5] = [Self::Lasso, Self::Logistic, Self::Outputs, Self::Group, Self::SparseGroup];

    fn heading(self) -> String {
        match self {
            Self::Lasso => format!("## Lasso\n\nA path has {POINTS} penalties."),
            Self::Logistic => "## Logistic regression with an l1 norm\n\nWithout an intercept.".to_owned(),
            Self::Outputs => format!(
                "## Several outputs with an l2,1 norm\n\n{OUTPUTS} outputs of ten features; 500 × 5000."
            ),
            Self::Group => format!("## Group lasso\n\nGroups of {GROUP} features that follow each other."),
            Self::SparseGroup => {
                "## Sparse group lasso\n\nThe same groups; half of the penalty is the l1 norm.".to_owned()
            }
        }
    }
}

fn summary(all: &[Results]) -> String {
    let mut text = INTRODUCTION.to_owned();
    for problem in Problem::ALL {
        let own: Vec<&Results> = all.iter().filter(|results| results.problem == problem).collect();
        if !own.is_empty() {
            section(&mut text, problem, &own);
        }
    }
    text
}

/// The gap that runs are expected to reach.
const GAP: f64 = 1e-9;

fn section(text: &mut String, problem: Problem, all: &[&Results]) {
    let Some(first) = all.first() else { return };
    let _ = write!(text, "\n{}\n\n| case | features |", problem.heading());
    for (side, _) in &first.sides {
        let _ = write!(text, " {side} |");
    }
    let _ = writeln!(text, " fastest other ÷ fewest |\n|---|---|{}---|", "---|".repeat(first.sides.len()));
    for Results { name, sides, .. } in all {
        let least = |runs: &[Run], figure: Figure| {
            minimum(&runs.iter().map(|run| figure(&run.timed)).collect::<Vec<f64>>())
        };
        let features: Vec<f64> =
            sides.iter().flat_map(|(_, runs)| runs).map(|run| run.n_features as f64).collect();
        let _ = write!(text, "| {name} | {:.0} |", median(&features));
        for (_, runs) in sides {
            let _ = write!(text, " {:.3} ({:.3})", least(runs, CPU), least(runs, SECONDS));
            let gap = runs.iter().map(|run| run.gap).fold(0.0, f64::max);
            let told = if gap > GAP { format!(", gap {gap:.0e} |") } else { " |".to_owned() };
            text.push_str(&told);
        }
        let [(_, ours), theirs @ ..] = &sides[..] else { continue };
        let fastest = minimum(&theirs.iter().map(|(_, runs)| least(runs, CPU)).collect::<Vec<f64>>());
        let _ = writeln!(text, " {:.1} |", fastest / least(ours, CPU));
    }
    let largest = |figure: fn(&Run) -> f64, at: fn(usize) -> bool| {
        let sides = all.iter().flat_map(|results| results.sides.iter().enumerate());
        let runs = sides.filter(|(side, _)| at(*side)).flat_map(|(_, (_, runs))| runs);
        runs.map(figure).fold(0.0, f64::max)
    };
    let difference = all.iter().flat_map(|results| {
        let runs = results.sides.iter().flat_map(|(_, runs)| runs).filter(|run| run.gap <= GAP);
        let objectives = runs.map(|run| run.objective);
        let least = objectives.clone().fold(f64::INFINITY, f64::min);
        objectives.map(move |objective| (objective - least) / problem.at_zero())
    });
    let _ = writeln!(
        text,
        "\nThe largest gap is {:.0e} of ours and {:.0e} of the others; where it is at most {GAP:.0e}, the \
         objectives of a case differ by at most {:.0e} of the objective at zero.",
        largest(|run| run.gap, |side| side == 0),
        largest(|run| run.gap, |side| side > 0),
        difference.fold(0.0, f64::max)
    );
}
