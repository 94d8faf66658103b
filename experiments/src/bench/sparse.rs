//! `cargo xtask bench --sparse`: sparse learning beside the penalties of `--linear`, against other packages.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use fewest::core::derive_seed;
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};

use super::linear::draw;
use super::measure::{CPU, Figure, MEMORY, SECONDS, TIMED, Timed, measure};
use super::programs::{list, number, read};
use super::{Arguments, Start};
use crate::output::minimum;
use crate::{Result, machine, workspace};

/// One problem on data drawn here.
struct Case {
    name: &'static str,
    size: [usize; 2],
    /// The number of features in the sum that is the target, and the correlation of a feature with the next.
    signal: usize,
    correlation: f64,
    /// Whether the target is the sign of that sum.
    is_sign: bool,
    method: &'static str,
    parameters: &'static [&'static str],
    /// The number of features that are asked for; 0 for all.
    k: usize,
    /// The problem of `experiments/peers/sparse.py` and its value, if another package is measured.
    peer: Option<(&'static str, &'static str)>,
}

const CASE: Case = Case {
    name: "",
    size: [500, 20_000],
    signal: 10,
    correlation: 0.0,
    is_sign: false,
    method: "",
    parameters: &[],
    k: 0,
    peer: None,
};

/// Features, samples and values of a sample of the table that is all sparse.
const SPARSE: [usize; 3] = [10_000, 1_000_000, 100];

const CASES: &[Case] = &[
    Case {
        name: "Dantzig selector, λ 0.1 of the largest",
        size: [200, 2000],
        method: "dantzig",
        parameters: &["lambda_ratio=0.1"],
        peer: Some(("dantzig", "0.1")),
        ..CASE
    },
    Case {
        name: "Dantzig selector, λ 0.5 of the largest",
        method: "dantzig",
        parameters: &["lambda_ratio=0.5"],
        ..CASE
    },
    Case {
        name: "Dantzig selector, λ 0.1 of the largest",
        method: "dantzig",
        parameters: &["lambda_ratio=0.1"],
        ..CASE
    },
    Case {
        name: "l1 machine with hinge loss, C = 0.01",
        size: [200, 10_000],
        is_sign: true,
        method: "l1-svm",
        parameters: &["loss=hinge", "c=0.01"],
        peer: Some(("hinge", "0.01")),
        ..CASE
    },
    Case {
        name: "l1 machine with hinge loss, C = 1",
        size: [200, 10_000],
        is_sign: true,
        method: "l1-svm",
        parameters: &["loss=hinge", "c=1"],
        peer: Some(("hinge", "1")),
        ..CASE
    },
    Case {
        name: "best subset of 10",
        method: "best-subset",
        k: 10,
        peer: Some(("best-subset", "10")),
        ..CASE
    },
    Case {
        name: "best subset of 20, correlation 0.95",
        correlation: 0.95,
        method: "best-subset",
        k: 20,
        peer: Some(("best-subset", "20")),
        ..CASE
    },
    Case {
        name: "rfs, λ = 10",
        size: [200, 1000],
        is_sign: true,
        method: "rfs",
        parameters: &["lambda=10"],
        peer: Some(("rfs", "10")),
        ..CASE
    },
    Case {
        name: "rfs, λ = 10, to a gap of 1e-4",
        size: [200, 1000],
        is_sign: true,
        method: "rfs",
        parameters: &["lambda=10", "tolerance=1e-4"],
        peer: Some(("rfs", "10")),
        ..CASE
    },
    Case {
        name: "udfs, λ = 1",
        size: [200, 500],
        is_sign: true,
        method: "udfs",
        parameters: &["clusters=5", "neighbours=5", "ridge=1"],
        peer: Some(("udfs", "1")),
        ..CASE
    },
    Case {
        name: "udfs, λ = 1, its first point",
        size: [200, 500],
        is_sign: true,
        method: "udfs",
        parameters: &["clusters=5", "neighbours=5", "ridge=1", "tolerance=1"],
        peer: Some(("udfs", "1")),
        ..CASE
    },
    Case {
        name: "lasso, a path of 20 penalties to 0.01",
        size: [SPARSE[0], SPARSE[1]],
        method: "lasso",
        parameters: &["lambda_ratio=0.01", "lambda_path=20"],
        ..CASE
    },
];

/// One run of a program.
struct Run {
    timed: Timed,
    objective: f64,
    gap: Option<f64>,
    n_features: usize,
}

/// A case with the runs of both sides.
struct Results {
    case: &'static Case,
    peer: String,
    theirs: Vec<Run>,
    ours: Vec<Run>,
}

impl Case {
    fn title(&self) -> String {
        format!("{}, {} × {}", self.name, self.size[0], self.size[1])
    }

    fn is_sparse(&self) -> bool {
        self.size[1] == SPARSE[1]
    }
}

/// Runs every case; writes `docs/benchmarks/sparse.csv` and `.md`, or with `--only` into `target/bench`.
pub(super) fn run(arguments: &Arguments) -> Result<()> {
    let Start { scratch, json, program, python } =
        arguments.start(".venv-peers-linear", "linear-requirements.txt")?;
    let mut all = Vec::new();
    for case in CASES.iter().filter(|case| case.title().contains(&arguments.only)) {
        let x = scratch.join(if case.is_sparse() { "sparse-x.svm" } else { "sparse-x.npy" });
        let y = scratch.join("sparse-y.npy");
        let [n, d] = case.size;
        if case.is_sparse() {
            draw_sparse(&x)?;
        } else {
            draw((n, d, case.signal, case.correlation), case.is_sign, &x, &y)?;
        }
        let mut results = Results { case, peer: String::new(), theirs: Vec::new(), ours: Vec::new() };
        for repetition in 1..=arguments.repetitions {
            let mut parameters: Vec<String> = case.parameters.iter().map(|&p| p.to_owned()).collect();
            let time = |command: &mut Command, side: &str| -> Result<_> {
                command.arg("--x").arg(&x).args(["--threads", &arguments.threads.to_string()]);
                if !case.is_sparse() {
                    command.arg("--y").arg(&y);
                }
                command.arg("--json").arg(&json);
                let measured = measure(command.stdout(Stdio::null()).stderr(Stdio::null()))?;
                let answer = read(&json)?;
                let timed = Timed::answered(&answer, measured)?;
                eprintln!("{} {repetition}: {side} {:.3} CPU s", case.title(), CPU(&timed));
                let objective = number(&answer, "objective")?;
                let n_features = list(&answer["features"]).count();
                Ok((Run { timed, objective, gap: answer["gap"].as_f64(), n_features }, answer))
            };
            if let Some((problem, value)) = case.peer {
                let mut command = Command::new(&python);
                command.arg(workspace::root().join("experiments/peers/sparse.py"));
                command.args(["--problem", problem, "--value", value]);
                let (run, answer) = time(&mut command, "other")?;
                results.theirs.push(run);
                results.peer = answer["peer"].as_str().unwrap_or_default().to_owned();
                parameters.extend(list(&answer["parameters"]).filter_map(|p| p.as_str().map(str::to_owned)));
            }
            let mut command = Command::new(&program);
            let k = if case.k > 0 { case.k } else { d };
            command.args(["run-method", "--method", case.method, "--k", &k.to_string()]);
            if !case.is_sign {
                command.arg("--regression");
            }
            command.args(parameters.iter().flat_map(|parameter| ["--param", parameter]));
            results.ours.push(time(&mut command, "fewest")?.0);
        }
        std::fs::remove_file(&x)?;
        all.push(results);
    }
    let mut facts = machine::facts();
    facts.push(("threads of each program", arguments.threads.to_string()));
    let documents = arguments.documents(facts);
    documents.csv("sparse", &[HEADER, TIMED, &["objective", "gap", "features"]].concat(), &rows(&all))?;
    documents.page("sparse", summary(&all))
}

/// Samples of about 100 features that are not zero, of a million: the more often, the smaller their number.
/// The target is the sum of ten of them, with signs that alternate, and standard normal noise.
fn draw_sparse(path: &Path) -> Result<()> {
    let [n, d, values] = SPARSE;
    let mut file = std::io::BufWriter::new(std::fs::File::create(path)?);
    let mut rng = ChaCha8Rng::seed_from_u64(derive_seed(0, 0));
    for sample in 0..n {
        let mut features: Vec<usize> =
            (0..values).map(|_| (d as f64 * rng.random::<f64>().powi(3)) as usize).collect();
        // The file has as many features as its largest number says.
        features.extend((sample == 0).then_some(d - 1));
        features.sort_unstable();
        features.dedup();
        let mut target: f64 = StandardNormal.sample(&mut rng);
        let mut line = String::new();
        for feature in features {
            let value: f64 = StandardNormal.sample(&mut rng);
            if feature % 10 == 0 && feature < 100 {
                target += if feature % 20 == 0 { value } else { -value };
            }
            let _ = write!(line, " {}:{value}", feature + 1);
        }
        writeln!(file, "{target}{line}")?;
    }
    Ok(file.flush()?)
}

const HEADER: &[&str] = &["case", "side", "repetition"];

fn rows(all: &[Results]) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for Results { case, peer, theirs, ours } in all {
        for (side, runs) in [(peer.as_str(), theirs), ("fewest", ours)] {
            for (repetition, run) in runs.iter().enumerate() {
                let mut row = vec![case.title(), side.to_owned(), (repetition + 1).to_string()];
                row.extend(run.timed.cells());
                row.push(format!("{:.12}", run.objective));
                row.push(run.gap.map_or_else(String::new, |gap| format!("{gap:.1e}")));
                row.push(run.n_features.to_string());
                rows.push(row);
            }
        }
    }
    rows
}

const INTRODUCTION: &str = "\
    # Sparse learning against other packages\n\n\
    CPU seconds (user and system, all threads) and, in brackets, seconds: the smallest of the runs, both programs \
    in turn on the same files; *other ÷ fewest* is of CPU seconds. Ours go from the table in memory to the answer \
    and include standardising; those of the other are for a table that was standardised before. Memory is the \
    largest resident set of our whole process, in the run that needs least. Features are standard normal, and \
    independent unless a correlation of each with the one before is told; ten make the target. The linear \
    programs of the Dantzig selector and of the hinge loss are HiGHS's, as SciPy calls it; best subsets are \
    abess's, whose objective is computed anew by least squares; `rfs` and `udfs` are scikit-feature's, \
    which stop where the objective falls by less than 1e-3 (`experiments/peers/sparse.py` says what is solved). For \
    `udfs` rounding decides when that is. The second line of each has ours stop early too, `udfs` at the point \
    where it starts: the objective is already the smaller one there. The \
    lasso of a million features has 10 000 samples with about 100 values each. An objective that is smaller is \
    better; the gap is what our answer tells: a duality gap, or for best subsets and `udfs` how far it is from \
    stationary. [Penalties](linear.md) are on a page of their own. Every run is in [sparse.csv](sparse.csv).\n\n\
    | case | fewest | other | other ÷ fewest | objective | other's objective | gap | features | memory, MiB |\n\
    |---|---|---|---|---|---|---|---|---|\n";

fn summary(all: &[Results]) -> String {
    let mut text = INTRODUCTION.to_owned();
    let least = |runs: &[Run], figure: Figure| {
        minimum(&runs.iter().map(|run| figure(&run.timed)).collect::<Vec<_>>())
    };
    for Results { case, peer, theirs, ours } in all {
        let Some(our) = ours.first() else { continue };
        let (cpu, seconds) = (least(ours, CPU), least(ours, SECONDS));
        let _ = write!(text, "| {} | {cpu:.3} ({seconds:.3}) |", case.title());
        match theirs.first() {
            Some(their) => {
                let cpu_of_other = least(theirs, CPU);
                let _ = write!(
                    text,
                    " {peer}: {cpu_of_other:.3} ({:.3}) | {:.1} | {:.9} | {:.9} |",
                    least(theirs, SECONDS),
                    cpu_of_other / cpu,
                    our.objective,
                    their.objective
                );
            }
            None => {
                let _ = write!(text, " | | {:.9} | |", our.objective);
            }
        }
        let gap = our.gap.map_or_else(String::new, |gap| format!("{gap:.0e}"));
        let _ = writeln!(text, " {gap} | {} | {:.0} |", our.n_features, least(ours, MEMORY));
    }
    text
}
