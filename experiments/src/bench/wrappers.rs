//! `cargo xtask bench --wrappers`: recursive elimination against scikit-learn's, and alone.

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use fewest::core::{OnDemand, derive_seed};
use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use serde_json::Value;

use super::cases::Files;
use super::measure::{Measured, measure};
use super::programs::{list, number, read};
use super::{Arguments, MEBIBYTE, Start};
use crate::output::{median, minimum};
use crate::{Result, machine, npy, workspace};

/// One method on one table.
pub(super) struct Case {
    pub name: &'static str,
    pub method: &'static str,
    pub params: &'static [&'static str],
    pub n: usize,
    pub d: usize,
    /// The name of the other program in `experiments/peers/wrappers.py`.
    peer: Option<&'static str>,
}

/// All features are ranked, one removed at a time, or judged by forests.
pub(super) const CASES: &[Case] = &[
    Case {
        name: "svr-rfe-n200-d100",
        method: "dw-rfe",
        params: &["kernel=linear", "standardise_target=false"],
        n: 200,
        d: 100,
        peer: Some("svr-rfe"),
    },
    Case { name: "sd-l-rfe-n500-d50", method: "sd-l-rfe", params: &[], n: 500, d: 50, peer: None },
    Case { name: "sd-g-rfe-n500-d50", method: "sd-g-rfe", params: &[], n: 500, d: 50, peer: None },
    Case { name: "dw-rfe-n500-d50", method: "dw-rfe", params: &[], n: 500, d: 50, peer: None },
    Case { name: "hsic-rfe-n500-d50", method: "hsic-rfe", params: &[], n: 500, d: 50, peer: None },
    Case {
        name: "spanb-rfe-n200-d20",
        method: "spanb-rfe",
        params: &["retrain=true"],
        n: 200,
        d: 20,
        peer: None,
    },
    Case {
        name: "rmb-rfe-n200-d20",
        method: "rmb-rfe",
        params: &["retrain=true"],
        n: 200,
        d: 20,
        peer: None,
    },
    Case { name: "boruta-n200-d50", method: "boruta", params: &["rounds=20"], n: 200, d: 50, peer: None },
    Case {
        name: "permutation-importance-n200-d50",
        method: "permutation-importance",
        params: &["permutations=10"],
        n: 200,
        d: 50,
        peer: None,
    },
];

/// The target is the sum of this many first features, plus noise of this standard deviation.
const INFORMATIVE: usize = 5;
const NOISE: f64 = 0.1;

/// The result of one run of a program.
struct Run {
    seconds: f64,
    cpu_seconds: f64,
    measured: Measured,
    features: Vec<u64>,
}

/// A program with all its runs.
struct Side {
    name: &'static str,
    runs: Vec<Run>,
}

/// A case with all its runs.
struct Results {
    case: &'static Case,
    sides: Vec<Side>,
}

/// Measures every case; writes `docs/benchmarks/wrappers.csv` and `.md`, or with `--only` into
/// `target/bench`.
pub(super) fn run(arguments: &Arguments) -> Result<()> {
    let Start { scratch, json, program, python } =
        arguments.start(".venv-peers-filters", "filters-requirements.txt")?;
    let mut facts = machine::facts();
    let mut version = None;
    let mut all = Vec::new();
    for case in CASES.iter().filter(|case| case.name.contains(&arguments.only)) {
        let files = case.files(&scratch)?;
        let mut sides = vec![Side { name: "fewest", runs: Vec::new() }];
        if case.peer.is_some() {
            sides.push(Side { name: "scikit-learn", runs: Vec::new() });
        }
        for repetition in 1..=arguments.repetitions {
            for side in &mut sides {
                let mut command = match case.peer.filter(|_| side.name != "fewest") {
                    Some(peer) => {
                        let mut command = Command::new(&python);
                        command
                            .arg(workspace::root().join("experiments/peers/wrappers.py"))
                            .args(["--peer", peer]);
                        command.stderr(Stdio::null());
                        command
                    }
                    None => case.ours(&program),
                };
                command
                    .arg("--x")
                    .arg(&files.x)
                    .args(files.y.iter().flat_map(|y| ["--y".as_ref(), y.as_os_str()]));
                command.args(["--threads", &arguments.threads.to_string()]).arg("--json").arg(&json);
                let measured = measure(command.stdout(Stdio::null()))?;
                let answer = read(&json)?;
                if let Some(peer) = answer["peer"].as_str() {
                    let text = |key: &str| answer[key].as_str().unwrap_or("?").to_owned();
                    version = Some(format!(
                        "{peer} {} (Python {}, NumPy {})",
                        text("version"),
                        text("python"),
                        text("numpy")
                    ));
                }
                let seconds = number(&answer, "seconds")?;
                eprintln!("{} {repetition}: {} {seconds:.3} s", case.name, side.name);
                let cpu_seconds = answer["cpu_seconds"].as_f64().unwrap_or(f64::NAN);
                let features = list(&answer["features"]).filter_map(Value::as_u64).collect();
                side.runs.push(Run { seconds, cpu_seconds, measured, features });
            }
        }
        files.remove()?;
        all.push(Results { case, sides });
    }
    facts.extend(version.map(|version| ("peer", version)));
    facts.push(("threads of each program", arguments.threads.to_string()));
    let documents = arguments.documents(facts);
    documents.csv("wrappers", HEADER, &rows(&all, arguments.threads))?;
    documents.page("wrappers", summary(&all))
}

impl Case {
    fn ours(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.args(["run-method", "--regression", "--method", self.method, "--k", &self.d.to_string()]);
        for param in self.params {
            command.args(["--param", param]);
        }
        command
    }

    /// Standard normal features and the sum of the first ones, with noise.
    pub(super) fn files(&self, scratch: &Path) -> Result<Files> {
        let (n, d) = (self.n, self.d);
        let draw = move |j: usize, out: &mut [f64]| {
            let mut rng = ChaCha8Rng::seed_from_u64(derive_seed(0, j as u64));
            out.iter_mut().for_each(|value| *value = StandardNormal.sample(&mut rng));
        };
        let (mut target, mut column) = (vec![0.0; n], vec![0.0; n]);
        // The noise is one more feature, which the table does not hold.
        for (j, factor) in (0..INFORMATIVE).map(|j| (j, 1.0)).chain([(d, NOISE)]) {
            draw(j, &mut column);
            target.iter_mut().zip(&column).for_each(|(sum, value)| *sum += factor * value);
        }
        let (x, y) = (scratch.join("wrappers-x.npy"), scratch.join("wrappers-y.npy"));
        let table = OnDemand::new(n, d, |j, out: &mut [f64]| {
            draw(j, out);
            Ok(())
        });
        npy::write_table(&x, &table)?;
        npy::write_vector(&y, &target)?;
        Ok(Files { x, y: Some(y) })
    }
}

const HEADER: &[&str] = &[
    "case",
    "side",
    "repetition",
    "threads",
    "seconds",
    "cpu_seconds",
    "process_seconds",
    "peak_rss_bytes",
    "features",
];

fn rows(all: &[Results], threads: u32) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for Results { case, sides } in all {
        for side in sides {
            for (repetition, run) in side.runs.iter().enumerate() {
                let features: Vec<String> = run.features.iter().map(u64::to_string).collect();
                rows.push(vec![
                    case.name.to_owned(),
                    side.name.to_owned(),
                    (repetition + 1).to_string(),
                    threads.to_string(),
                    format!("{:.6}", run.seconds),
                    format!("{:.6}", run.cpu_seconds),
                    format!("{:.6}", run.measured.process_seconds),
                    run.measured.peak_bytes.map_or_else(String::new, |bytes| bytes.to_string()),
                    features.join(" "),
                ]);
            }
        }
    }
    rows
}

fn summary(all: &[Results]) -> String {
    let mut text = format!(
        "# Recursive elimination\n\n\
         Median (smallest) of the runs; the programs of a case were run in turn in one session, on the same \
         files, with the same number of threads. Features are standard normal, the target is the sum of the \
         first {INFORMATIVE} with noise of standard deviation {NOISE}; all features are ranked, one going at \
         a time, or judged by forests. The seconds are those of the ranking alone, from the data in memory. On a machine that \
         others use too, CPU seconds (user and system, all threads) are the figure to compare. Every run is \
         in [wrappers.csv](wrappers.csv).\n\n\
         | case | method | program | seconds | CPU seconds | memory, MiB |\n|---|---|---|---|---|---|\n"
    );
    for Results { case, sides } in all {
        for side in sides {
            let figures = |of: fn(&Run) -> f64| -> Vec<f64> { side.runs.iter().map(of).collect() };
            let cell =
                |of: fn(&Run) -> f64| format!("{:.3} ({:.3})", median(&figures(of)), minimum(&figures(of)));
            let memory =
                |run: &Run| run.measured.peak_bytes.map_or(f64::NAN, |bytes| bytes as f64 / MEBIBYTE);
            let params = case.params.iter().map(|param| format!(" {param}")).collect::<String>();
            let _ = writeln!(
                text,
                "| {} | `{}{params}` | {} | {} | {} | {:.0} |",
                case.name,
                case.method,
                side.name,
                cell(|run| run.seconds),
                cell(|run| run.cpu_seconds),
                median(&figures(memory))
            );
        }
    }
    text.push('\n');
    for Results { case, sides } in all {
        let [ours, theirs] = &sides[..] else { continue };
        let least = |side: &Side| minimum(&side.runs.iter().map(|run| run.cpu_seconds).collect::<Vec<_>>());
        let (Some(a), Some(b)) = (ours.runs.first(), theirs.runs.first()) else { continue };
        let same = a.features.iter().zip(&b.features).take_while(|(a, b)| a == b).count();
        let _ = writeln!(
            text,
            "- {}: scikit-learn takes {:.0} times our CPU seconds (smallest of each). The rankings agree in \
             the first {same} of {} features; theirs ends training at a violation of 1e-3, ours at a \
             relative duality gap of 1e-12.",
            case.name,
            least(theirs) / least(ours),
            case.d
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_and_their_parameters_exist() {
        for case in CASES {
            let method = fewest::registry::Registry::standard().find(case.method).unwrap();
            fewest::registry::Parameters::parse(method, case.params).unwrap();
        }
    }
}
