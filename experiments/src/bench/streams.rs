//! `cargo xtask bench --streams`: features and samples a second of methods to which data arrive, beside
//! river.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use clap::Args;
use fewest::core::{
    Arrives, Budget, Context, Dataset, DenseColumns, RowBatches, SampleStream, StreamSelector, Target,
    derive_seed,
};
use fewest::registry::{Parameters, Registry};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use serde_json::{Value, json};

use super::cpu;
use super::measure::{CPU, Figure, MEMORY, SECONDS, TIMED, Timed, measure};
use super::programs::{number, read};
use crate::output::{median, minimum};
use crate::{Result, machine, npy, workspace};

mod kept;

/// Methods to which features arrive.
const FEATURES: [&str; 3] = ["alpha-investing", "saola", "fast-osfs"];

/// How many arrive, of this number of samples; so many of them say something about the target.
const N_FEATURES: [usize; 3] = [10_000, 100_000, 1_000_000];
const SAMPLES_THAT_STAY: usize = 500;
const RELEVANT: usize = 20;

/// Features that arrive together, and what is drawn at a time: the process never holds more of them.
const GROUP: usize = 100;

/// A method to which samples arrive.
struct BySamples {
    method: &'static str,
    target: Kind,
    /// The nearest program of river, by its name in `experiments/peers/streams.py`, and how many samples it
    /// gets.
    river: Option<(&'static str, usize)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Kind {
    Classes,
    Numbers,
    None,
}

const fn samples(method: &'static str, target: Kind, river: Option<(&'static str, usize)>) -> BySamples {
    BySamples { method, target, river }
}

const SAMPLES: [BySamples; 8] = [
    samples("ofs", Kind::Classes, Some(("logistic-l1", DRAWN))),
    samples("fsds", Kind::None, Some(("covariance", 1000))),
    samples("f-score", Kind::Classes, Some(("select-k-best", DRAWN))),
    samples("correlation", Kind::Numbers, Some(("select-k-best", DRAWN))),
    samples("variance", Kind::None, Some(("variance-threshold", DRAWN))),
    samples("mim", Kind::Classes, None),
    samples("chi2", Kind::Classes, None),
    samples("hsic", Kind::Classes, None),
];

/// How many samples arrive, each with this many features, of which the first five make the target.
const N_SAMPLES: usize = 10_000_000;
const FEATURES_THAT_STAY: usize = 200;
const INFORMATIVE: usize = 5;

/// Samples of a batch, and drawn ones, which arrive again and again.
const BATCH: usize = 1000;
const DRAWN: usize = 20_000;

/// Features to select.
const K: usize = 10;

/// With `--quick`, what arrives is divided by this.
const QUICK: usize = 100;

const HEADER: &[&str] = &[
    "method",
    "program",
    "arrives",
    "arrived",
    "other_size",
    "repetition",
    "threads",
    "selected",
    "held_features",
    "held_bytes",
];

/// Draws a stream and gives it to a method once, for the benchmarks.
#[derive(Debug, Args)]
pub(crate) struct Worker {
    #[arg(long)]
    method: String,
    /// How many features, or samples, arrive.
    #[arg(long)]
    arrive: usize,
    #[arg(long, value_enum)]
    target: Kind,
    #[arg(long)]
    threads: usize,
    /// The answer.
    #[arg(long)]
    json: PathBuf,
}

/// Time of the method alone, summed over what arrives.
#[derive(Default)]
struct Clock {
    seconds: f64,
    cpu_seconds: Option<f64>,
}

impl Clock {
    fn update(&mut self, stream: &mut dyn StreamSelector, arrived: &Dataset) -> Result<()> {
        let (start, before) = (Instant::now(), cpu::of_this());
        stream.update(arrived, &Context::default())?;
        self.seconds += start.elapsed().as_secs_f64();
        let spent = cpu::of_this().zip(before).map(|(after, before)| after - before);
        self.cpu_seconds = spent.map(|spent| self.cpu_seconds.unwrap_or(0.0) + spent);
        Ok(())
    }
}

/// Runs the method; `seconds` and `cpu_seconds` of the answer are those of its updates, without drawing.
pub(crate) fn work(arguments: &Worker) -> Result<()> {
    let method = Registry::standard().find(&arguments.method)?;
    let parameters = Parameters::defaults(method);
    let mut stream = method.stream(&parameters, Budget::Count(K), 0)?;
    let mut clock = Clock::default();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(arguments.threads).build()?;
    pool.install(|| match method.arrives {
        Some(Arrives::Features) => feed_features(&mut *stream, arguments.arrive, &mut clock),
        _ => feed_samples(&mut *stream, arguments.arrive, arguments.target, &mut clock),
    })?;
    let budget = if method.arrives == Some(Arrives::Features) { Budget::Auto } else { Budget::Count(K) };
    let selection = stream.selection(budget)?;
    let held = stream.held();
    let answer = json!({
        "seconds": clock.seconds,
        "cpu_seconds": clock.cpu_seconds,
        "selected": selection.order.len(),
        "held_features": held.features,
        "held_bytes": held.bytes,
    });
    Ok(std::fs::write(&arguments.json, answer.to_string())?)
}

/// Standard normal features; [`RELEVANT`] of them, at even distances, are the target with noise of the same
/// size.
fn feed_features(stream: &mut dyn StreamSelector, arrive: usize, clock: &mut Clock) -> Result<()> {
    let mut rng = ChaCha8Rng::seed_from_u64(derive_seed(1, 0));
    let target: Vec<f64> = (0..SAMPLES_THAT_STAY).map(|_| rng.sample(StandardNormal)).collect();
    let distance = arrive.div_ceil(RELEVANT).max(1);
    for first in (0..arrive).step_by(GROUP) {
        let features = first..arrive.min(first + GROUP);
        let draw = |j: usize| {
            let mut rng = ChaCha8Rng::seed_from_u64(derive_seed(2, j as u64));
            let share = if j % distance == distance / 2 { 1.0 } else { 0.0 };
            target.iter().map(|y| share * y + rng.sample::<f64, _>(StandardNormal)).collect()
        };
        let columns: Vec<Vec<f64>> = features.clone().map(draw).collect();
        let group = Dataset::new(DenseColumns::from_columns(&columns)?, Target::real(target.clone())?)?
            .with_feature_names(features.map(|j| format!("x{j}")).collect())?;
        clock.update(stream, &group)?;
    }
    Ok(())
}

/// Standard normal features, and a target that the first ones make with noise.
fn draw_samples(kind: Kind) -> Result<Dataset> {
    let mut rng = ChaCha8Rng::seed_from_u64(derive_seed(3, 0));
    let mut column = || (0..DRAWN).map(|_| rng.sample(StandardNormal)).collect::<Vec<f64>>();
    let mut sums = column();
    let columns: Vec<Vec<f64>> = (0..FEATURES_THAT_STAY).map(|_| column()).collect();
    for column in &columns[..INFORMATIVE] {
        sums.iter_mut().zip(column).for_each(|(sum, value)| *sum += value);
    }
    let target = match kind {
        Kind::Numbers => Target::real(sums)?,
        Kind::Classes => Target::from_labels(
            &sums.iter().map(|sum| if *sum > 0.0 { "1" } else { "0" }).collect::<Vec<_>>(),
        ),
        Kind::None => Target::None,
    };
    Ok(Dataset::new(DenseColumns::from_columns(&columns)?, target)?)
}

fn feed_samples(stream: &mut dyn StreamSelector, arrive: usize, kind: Kind, clock: &mut Clock) -> Result<()> {
    let drawn = draw_samples(kind)?;
    let mut rows = RowBatches::new(&drawn, BATCH)?;
    let mut batches = Vec::with_capacity(DRAWN / BATCH);
    while let Some(batch) = rows.next_batch()? {
        batches.push(batch);
    }
    for batch in batches.iter().cycle().take(arrive.div_ceil(BATCH)) {
        clock.update(stream, batch)?;
    }
    Ok(())
}

/// One run of a program.
struct Run {
    timed: Timed,
    selected: f64,
    held_features: f64,
    held_bytes: f64,
}

/// A program with its runs on as much that arrives.
struct Side {
    method: &'static str,
    program: String,
    arrives: Arrives,
    arrived: usize,
    runs: Vec<Run>,
}

impl Side {
    fn figure(&self, figure: Figure) -> Vec<f64> {
        self.runs.iter().map(|run| figure(&run.timed)).collect()
    }

    fn of_runs(&self, figure: fn(&Run) -> f64) -> f64 {
        self.runs.first().map_or(f64::NAN, figure)
    }

    /// What arrived, by CPU second.
    fn rate(&self) -> f64 {
        self.arrived as f64 / minimum(&self.figure(CPU))
    }

    /// Runs the program, and returns its answer.
    fn measure(&mut self, command: &mut Command, json: &Path) -> Result<Value> {
        let measured = measure(command.stdout(Stdio::null()))?;
        let answer = read(json)?;
        let optional = |key: &str| answer[key].as_f64().unwrap_or(f64::NAN);
        self.runs.push(Run {
            timed: Timed::answered(&answer, measured)?,
            selected: number(&answer, "selected")?,
            held_features: optional("held_features"),
            held_bytes: optional("held_bytes"),
        });
        let (method, program) = (self.method, &self.program);
        eprintln!(
            "{method}, {} {}: {program} {:.2} s",
            self.arrived,
            self.arrives.name(),
            self.figure(SECONDS).last().copied().unwrap_or(f64::NAN)
        );
        Ok(answer)
    }
}

/// Feeds every method; writes `docs/benchmarks/streams.csv` and `.md`, or with `--only` (a part of a method's
/// name) or `--quick` into `target/bench`; with `--keep`, other lines are kept as they are.
pub(super) fn run(arguments: &super::Arguments) -> Result<()> {
    let super::Start { scratch, json, program, python } =
        arguments.start(".venv-peers-streams", "streams-requirements.txt")?;
    let divisor = if arguments.quick { QUICK } else { 1 };
    let mut facts = machine::facts();
    let ours = |method: &str, arrive: usize, target: Kind| {
        let mut command = Command::new(&program);
        command.args(["run-stream", "--method", method, "--arrive", &arrive.to_string()]);
        let kind = format!("{target:?}").to_lowercase();
        command
            .args(["--target", &kind, "--threads", &arguments.threads.to_string()])
            .arg("--json")
            .arg(&json);
        command
    };
    let mut sides = Vec::new();
    for method in FEATURES.into_iter().filter(|method| method.contains(&arguments.only)) {
        for n in N_FEATURES {
            let (program, arrives, arrived) = ("fewest".to_owned(), Arrives::Features, n / divisor);
            let mut side = Side { method, program, arrives, arrived, runs: Vec::new() };
            for _ in 0..arguments.repetitions {
                side.measure(&mut ours(method, arrived, Kind::Numbers), &json)?;
            }
            sides.push(side);
        }
    }
    for case in SAMPLES.iter().filter(|case| case.method.contains(&arguments.only)) {
        let side = |program: String, arrived| {
            let (arrives, runs) = (Arrives::Samples, Vec::new());
            Side { method: case.method, program, arrives, arrived, runs }
        };
        let mut own = side("fewest".to_owned(), N_SAMPLES / divisor);
        let mut river = case.river.map(|(peer, count)| (peer, side(format!("river, {peer}"), count)));
        let (x, y) = (scratch.join("streams-x.npy"), scratch.join("streams-y.npy"));
        if river.is_some() {
            let drawn = draw_samples(case.target)?;
            npy::write_table(&x, drawn.x())?;
            let target = match drawn.target() {
                Target::Real(values) => values.output(0).to_vec(),
                Target::Class(classes) => classes.codes().iter().map(|&code| f64::from(code)).collect(),
                _ => vec![0.0; DRAWN],
            };
            npy::write_vector(&y, &target)?;
        }
        for _ in 0..arguments.repetitions {
            own.measure(&mut ours(case.method, own.arrived, case.target), &json)?;
            if let Some((peer, side)) = &mut river {
                let mut command = Command::new(&python);
                command.arg(workspace::root().join("experiments/peers/streams.py")).args(["--peer", peer]);
                command.arg("--x").arg(&x).arg("--y").arg(&y).args(["--k", &K.to_string()]);
                command.args(["--samples", &side.arrived.to_string()]);
                let answer = side.measure(command.arg("--json").arg(&json), &json)?;
                let text = |key: &str| answer[key].as_str().unwrap_or("?").to_owned();
                facts.retain(|(name, _)| *name != "peer");
                facts.push(("peer", format!("river {} (Python {})", text("version"), text("python"))));
            }
        }
        if river.is_some() {
            std::fs::remove_file(&x)?;
            std::fs::remove_file(&y)?;
        }
        sides.push(own);
        sides.extend(river.map(|(_, side)| side));
    }
    facts.push(("threads of each program", arguments.threads.to_string()));
    if arguments.keep {
        let written = std::fs::read_to_string(workspace::root().join("docs/benchmarks/streams.csv"))?;
        let kept = kept::read(&written, |method| method.contains(&arguments.only))?;
        facts.push(("other lines", format!("all but those of {}: {}", arguments.only, kept.made)));
        sides.extend(kept.sides);
        sides.sort_by_key(kept::place);
    }
    let documents = arguments.documents_unless(arguments.quick, facts);
    documents.csv("streams", &[HEADER, TIMED].concat(), &rows(&sides, arguments.threads))?;
    documents.page("streams", summary(&sides))
}

fn rows(sides: &[Side], threads: u32) -> Vec<Vec<String>> {
    let row = |side: &Side, repetition: usize, run: &Run| {
        let other = match side.arrives {
            Arrives::Features => SAMPLES_THAT_STAY,
            _ => FEATURES_THAT_STAY,
        };
        let mut row = vec![side.method.to_owned(), side.program.clone(), side.arrives.name().to_owned()];
        row.extend([side.arrived, other, repetition + 1, threads as usize].map(|number| number.to_string()));
        row.extend(
            [run.selected, run.held_features, run.held_bytes]
                .map(|number| if number.is_nan() { String::new() } else { format!("{number:.0}") }),
        );
        row.extend(run.timed.cells());
        row
    };
    let of_side = |side: &Side| -> Vec<Vec<String>> {
        side.runs.iter().enumerate().map(|(repetition, run)| row(side, repetition, run)).collect()
    };
    sides.iter().flat_map(of_side).collect()
}

/// `1234567` as `1 234 567`.
fn spaced(number: f64) -> String {
    let digits = format!("{number:.0}");
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at) % 3 == 0 {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

fn summary(sides: &[Side]) -> String {
    let mut text = format!(
        "# Methods to which data arrive\n\n\
         Median seconds of the updates alone, without drawing the data; memory is the largest resident set of \
         the whole process, and what is held is what the method itself tells at the end. What arrives a second \
         is by CPU seconds (user and system, all threads; the smallest of the runs), since other programs use \
         the machine, too. Every run is in [streams.csv](streams.csv); `cargo xtask bench --streams` measures \
         again.\n\n\
         ## Features arrive\n\n\
         {SAMPLES_THAT_STAY} samples; standard normal features in groups of {GROUP}, of which {RELEVANT}, at even \
         distances, are the target with noise of the same size; parameters are the defaults.\n\n\
         | method | features | seconds | CPU seconds | features a second | selected | held features | held, KiB \
         | memory, MiB |\n|---|---|---|---|---|---|---|---|---|\n"
    );
    for side in sides.iter().filter(|side| side.arrives == Arrives::Features) {
        let _ = writeln!(text, "| {} | {} |", side.method, line(side));
    }
    let _ = write!(
        text,
        "\n## Samples arrive\n\n\
         {FEATURES_THAT_STAY} standard normal features, in batches of {BATCH} samples; k = {K}. {DRAWN} samples \
         are drawn and given again and again, to river once or in part. The classes, or numbers, are the sum of the \
         first {INFORMATIVE} features with noise of standard deviation 1 (classes: its sign). River's nearest: \
         `SelectKBest(PearsonCorr())`, `VarianceThreshold` and `LogisticRegression` with an l1 penalty, each \
         by `learn_one`. For fsds it has no equivalent: nearest is `EmpiricalCovariance`, the matrix of which fsds \
         keeps a sketch, and which selects nothing. To mim, chi2 and hsic it has nothing near.\n\n\
         | method | program | samples | seconds | CPU seconds | samples a second | selected | held features | \
         held, KiB | memory, MiB | times river |\n|---|---|---|---|---|---|---|---|---|---|---|\n"
    );
    let by_samples: Vec<&Side> = sides.iter().filter(|side| side.arrives == Arrives::Samples).collect();
    for side in &by_samples {
        let same = |other: &&&Side| other.method == side.method && other.program != "fewest";
        let ratio = match by_samples.iter().find(same) {
            Some(river) if side.program == "fewest" => format!("{:.0}", side.rate() / river.rate()),
            _ => String::new(),
        };
        let _ = writeln!(text, "| {} | {} | {} | {ratio} |", side.method, side.program, line(side));
    }
    text
}

fn line(side: &Side) -> String {
    let held = |number: f64| if number.is_nan() { String::new() } else { format!("{number:.0}") };
    format!(
        "{} | {:.2} | {:.2} | {} | {:.0} | {} | {} | {:.0}",
        spaced(side.arrived as f64),
        median(&side.figure(SECONDS)),
        median(&side.figure(CPU)),
        spaced(side.rate()),
        side.of_runs(|run| run.selected),
        held(side.of_runs(|run| run.held_features)),
        held(side.of_runs(|run| run.held_bytes / 1024.0)),
        side.figure(MEMORY).into_iter().fold(0.0, f64::max),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_arrive_at_all_methods() {
        let by_samples = SAMPLES.iter().map(|case| (case.method, Arrives::Samples));
        let by_features = FEATURES.iter().map(|&method| (method, Arrives::Features));
        for (id, arrives) in by_samples.chain(by_features) {
            let method = Registry::standard().find(id).unwrap();
            assert!(method.stream(&Parameters::defaults(method), Budget::Count(K), 0).is_ok(), "{id}");
            assert_eq!(method.arrives, Some(arrives), "{id}");
        }
    }

    #[test]
    fn large_numbers_are_read_in_threes() {
        assert_eq!([0.0, 999.0, 1000.0, 1_234_567.0].map(spaced), ["0", "999", "1 000", "1 234 567"]);
    }
}
