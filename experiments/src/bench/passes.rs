//! `cargo xtask bench --passes`: tables larger than memory, in passes over Parquet files, beside polars and
//! DuckDB for plain statistics.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::Arguments;
use super::measure::{CPU, MEMORY, PROCESS, TIMED, Timed, measure};
use super::programs::{build_ours, list, number, prepare_python, read};
use crate::output::Documents;
use crate::{Result, machine, workspace};

/// Memory that the command may use.
const MEMORY_LIMIT: &str = "2GiB";

/// Rows whose answer in passes is compared with that of the table in memory, and memory that makes them
/// larger.
const COMPARED: usize = 100_000;
const LITTLE: &str = "100MiB";

/// Rows and columns of the two tables, and of those of a trial.
const LONG: [usize; 2] = [10_000_000, 100];
const WIDE: [usize; 2] = [20_000, 50_000];
const LONG_TRIAL: [usize; 2] = [1_500_000, 100];
const WIDE_TRIAL: [usize; 2] = [3000, 50_000];

/// What is computed, on which table.
struct Case {
    name: &'static str,
    words: &'static [&'static str],
    is_wide: bool,
    /// The statistic that other packages compute, too.
    statistic: Option<&'static str>,
}

const CASES: &[Case] = &[
    Case { name: "F", words: &["score", "--method", "f-score"], is_wide: false, statistic: Some("f") },
    Case {
        name: "chi-square",
        words: &["score", "--method", "chi2"],
        is_wide: false,
        statistic: Some("chi2"),
    },
    Case {
        name: "mutual information, bins of equally many samples",
        words: &["score", "--method", "mim", "--param", "discretisation=equal-frequency"],
        is_wide: false,
        statistic: None,
    },
    Case {
        name: "mRMR, k = 20",
        words: &["select", "--method", "mrmr", "-k", "20"],
        is_wide: false,
        statistic: None,
    },
    Case {
        name: "lasso, k = 20",
        words: &["select", "--method", "lasso", "-k", "20"],
        is_wide: false,
        statistic: None,
    },
    Case {
        name: "HSIC Lasso, k = 20",
        words: &["select", "--method", "hsic-lasso", "-k", "20", "--param", "related=0"],
        is_wide: false,
        statistic: None,
    },
    Case { name: "F", words: &["score", "--method", "f-score"], is_wide: true, statistic: None },
    Case { name: "chi-square", words: &["score", "--method", "chi2"], is_wide: true, statistic: None },
    Case { name: "mutual information", words: &["score", "--method", "mim"], is_wide: true, statistic: None },
    Case {
        name: "lasso by a working set, k = 20",
        words: &["select", "--method", "lasso", "-k", "20"],
        is_wide: true,
        statistic: None,
    },
];

/// One run of a program.
struct Run {
    case: &'static Case,
    side: String,
    timed: Timed,
    passes: Option<u64>,
    parts: Option<u64>,
    rows: Option<u64>,
}

/// Runs every case; writes `docs/benchmarks/passes.csv` and `.md`, or with `--quick` or `--only`, of
/// smaller tables, into `target/bench`.
pub(super) fn run(arguments: &Arguments) -> Result<()> {
    let scratch = workspace::root().join("target/bench");
    fs::create_dir_all(&scratch)?;
    let json = scratch.join("answer.json");
    let program = build_ours()?;
    let python = match &arguments.python {
        Some(python) => python.clone(),
        None => prepare_python(".venv-peers-passes", "passes-requirements.txt")?,
    };
    let (long, wide) = if arguments.quick { (LONG_TRIAL, WIDE_TRIAL) } else { (LONG, WIDE) };
    let mut facts = machine::facts();
    facts.push(("threads of each program", arguments.threads.to_string()));
    facts.push(("--memory", MEMORY_LIMIT.to_owned()));
    let mut all: Vec<Run> = Vec::new();
    let mut sizes = Vec::new();
    let mut same = String::new();
    for (is_wide, size) in [(false, long), (true, wide)] {
        let cases: Vec<&Case> = CASES
            .iter()
            .filter(|case| case.is_wide == is_wide && case.name.contains(&arguments.only))
            .collect();
        if cases.is_empty() {
            continue;
        }
        let folder = scratch.join(if is_wide { "wide" } else { "long" });
        draw(&folder, size, 1.0)?;
        let bytes: u64 =
            files(&folder)?.iter().map(|file| file.metadata().map_or(0, |data| data.len())).sum();
        sizes.push((is_wide, size, bytes));
        for case in cases {
            for _ in 0..arguments.repetitions {
                let (run, own) = ours(case, &program, &folder, arguments.threads, &json)?;
                all.push(run);
                let Some(statistic) = case.statistic else { continue };
                for package in ["polars", "duckdb"] {
                    let (run, values) =
                        theirs(case, (package, statistic), &python, &folder, arguments.threads, &json)?;
                    check_same(&own, &values)
                        .map_err(|error| format!("{}: {package}: {error}", case.name))?;
                    all.push(run);
                }
            }
        }
        if !is_wide {
            same = compared(&program, &folder, &json)?;
        }
        fs::remove_dir_all(&folder)?;
    }
    let documents = arguments.documents_unless(arguments.quick, facts);
    let header: Vec<&str> = ["table", "case", "side"]
        .into_iter()
        .chain(TIMED.iter().copied())
        .chain(["passes", "parts", "rows"])
        .collect();
    documents.csv("passes", &header, &all.iter().map(Run::cells).collect::<Vec<_>>())?;
    page(&documents, &all, &sizes, &same)
}

/// Draws a table of this size, with this share of values that are not 0, by the example of `fewest-arrow`.
pub(super) fn draw(folder: &Path, [rows, columns]: [usize; 2], share: f64) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    let mut command = workspace::cargo();
    command.args(["run", "--release", "--package", "fewest-arrow", "--example", "many_rows", "--"]);
    command.arg(folder).args([rows.to_string(), columns.to_string(), share.to_string()]);
    workspace::run(&mut command)
}

fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect::<std::io::Result<_>>()?;
    files.sort();
    Ok(files)
}

/// A run of our command, and the score of each feature that it tells, in the order of the features.
fn ours(
    case: &'static Case,
    program: &Path,
    folder: &Path,
    threads: u32,
    json: &Path,
) -> Result<(Run, Vec<f64>)> {
    let mut command = Command::new(program);
    command.arg(case.words[0]).arg(folder).args(&case.words[1..]);
    command.args(["--target", "outcome", "--memory", MEMORY_LIMIT, "--threads", &threads.to_string()]);
    command.args(["--quiet", "--json"]).arg(json).stdout(Stdio::null());
    let measured = measure(&mut command)?;
    let answer = read(json)?;
    let timed = Timed { seconds: number(&answer, "seconds")?, cpu_seconds: measured.cpu_seconds, measured };
    let read = |key: &str| answer["data"]["passes"][key].as_u64();
    eprintln!("{}: fewest {:.1} CPU s", case.name, CPU(&timed));
    let run = Run {
        case,
        side: "fewest".to_owned(),
        timed,
        passes: read("passes"),
        parts: read("parts"),
        rows: read("rows"),
    };
    Ok((run, by_feature(&answer)))
}

/// The score of each feature, in the order of the features; NaN where it is no number.
fn by_feature(answer: &Value) -> Vec<f64> {
    let mut scores: Vec<(Option<u64>, f64)> = list(&answer["features"])
        .map(|one| (one["index"].as_u64(), one["score"].as_f64().unwrap_or(f64::NAN)))
        .collect();
    scores.sort_unstable_by_key(|(index, _)| *index);
    scores.into_iter().map(|(_, score)| score).collect()
}

/// Who sums squares without centring loses some digits.
const SAME: f64 = 1e-6;

/// Times of another statistic would say nothing.
fn check_same(own: &[f64], other: &[f64]) -> Result<()> {
    let largest = own.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
    let is_same = |(a, b): (&f64, &f64)| (a - b).abs() <= SAME * largest;
    match own.len() == other.len() && own.iter().zip(other).all(is_same) {
        true => Ok(()),
        false => Err("it computes another statistic".into()),
    }
}

/// A run of another package, and the statistic of each feature.
fn theirs(
    case: &'static Case,
    (package, statistic): (&str, &str),
    python: &Path,
    folder: &Path,
    threads: u32,
    json: &Path,
) -> Result<(Run, Vec<f64>)> {
    let mut command = Command::new(python);
    command.arg(workspace::root().join("experiments/peers/passes.py")).arg("--folder").arg(folder);
    command.args(["--package", package, "--statistic", statistic, "--threads", &threads.to_string()]);
    command.env("POLARS_MAX_THREADS", threads.to_string());
    command.args(["--memory", MEMORY_LIMIT, "--json"]).arg(json).stdout(Stdio::null()).stderr(Stdio::null());
    let measured = measure(&mut command)?;
    let answer = read(json)?;
    let timed = Timed { seconds: number(&answer, "seconds")?, cpu_seconds: measured.cpu_seconds, measured };
    eprintln!("{}: {package} {:.1} CPU s", case.name, CPU(&timed));
    let side = answer["peer"].as_str().unwrap_or(package).to_owned();
    let values = list(&answer["values"]).map(|value| value.as_f64().unwrap_or(f64::NAN)).collect();
    Ok((Run { case, side, timed, passes: None, parts: None, rows: None }, values))
}

/// The answers for the first rows, in passes and in memory: which are equal bit for bit, in words.
fn compared(program: &Path, folder: &Path, json: &Path) -> Result<String> {
    let part = folder.with_extension("part");
    draw(&part, [COMPARED, LONG[1]], 1.0)?;
    let mut words = String::new();
    for case in CASES.iter().filter(|case| !case.is_wide) {
        let answer = |memory: &[&str]| -> Result<Value> {
            let mut command = Command::new(program);
            command.arg(case.words[0]).arg(&part).args(&case.words[1..]);
            command.args(["--target", "outcome", "--quiet"]).args(memory).arg("--json").arg(json);
            measure(command.stdout(Stdio::null()))?;
            read(json)
        };
        let (in_passes, whole) = (answer(&["--memory", LITTLE])?, answer(&[])?);
        if in_passes["data"]["passes"].is_null() || !whole["data"]["passes"].is_null() {
            return Err("the rows compared were not read in passes, or were in memory too".into());
        }
        let names =
            |answer: &Value| list(&answer["features"]).map(|one| one["name"].clone()).collect::<Vec<_>>();
        let scores = |answer: &Value| -> Vec<f64> {
            list(&answer["features"]).filter_map(|one| one["score"].as_f64()).collect()
        };
        let (own, other) = (scores(&in_passes), scores(&whole));
        let largest = other.iter().fold(0.0_f64, |most, score| most.max(score.abs()));
        let difference =
            own.iter().zip(&other).fold(0.0_f64, |most, (own, other)| most.max((own - other).abs()))
                / largest;
        let features =
            if names(&in_passes) == names(&whole) { "the same features" } else { "OTHER FEATURES" };
        let _ = match own == other {
            true => writeln!(words, "| {} | {features} | the same bits |", case.name),
            false => writeln!(words, "| {} | {features} | {difference:.0e} of the largest |", case.name),
        };
    }
    fs::remove_dir_all(&part)?;
    Ok(words)
}

impl Run {
    fn table(&self) -> &'static str {
        if self.case.is_wide { "wide" } else { "long" }
    }

    fn cells(&self) -> Vec<String> {
        let optional = |value: Option<u64>| value.map_or_else(String::new, |value| value.to_string());
        let own = [self.table().to_owned(), self.case.name.to_owned(), self.side.clone()];
        own.into_iter()
            .chain(self.timed.cells())
            .chain([optional(self.passes), optional(self.parts), optional(self.rows)])
            .collect()
    }
}

fn page(documents: &Documents, all: &[Run], sizes: &[(bool, [usize; 2], u64)], same: &str) -> Result<()> {
    let mut text = format!(
        "# Tables larger than memory\n\n\
         What `--memory {MEMORY_LIMIT}` takes on Parquet files, in turn with other packages on the same files. *Wall* and \
         *CPU* are of the whole process, *memory* is its highest resident set. *Passes* count the first look, which \
         reads the target alone; of a table that comes in *parts*, each pass reads one part of the columns. *Rows* are \
         those read in all of these passes and parts. Every run is in [passes.csv](passes.csv). \
         The statistics of all programs agree to {SAME:.0e} of the largest.\n"
    );
    for &(is_wide, [rows, columns], bytes) in sizes {
        let _ = write!(
            text,
            "\n## {rows} rows × {columns} columns\n\n{:.1} GiB of Parquet, {:.1} GiB in memory.\n\n\
             | case | program | wall, s | CPU, s | memory, MiB | passes | parts | rows |\n|---|---|---|---|---|---|---|---|\n",
            bytes as f64 / 2_f64.powi(30),
            8.0 * rows as f64 * columns as f64 / 2_f64.powi(30),
        );
        for run in all.iter().filter(|run| run.case.is_wide == is_wide) {
            let optional = |value: Option<u64>| value.map_or_else(String::new, |value| value.to_string());
            let side = match run.passes {
                Some(_) => format!("`fewest {}`", run.case.words.join(" ")),
                None => run.side.clone(),
            };
            let _ = writeln!(
                text,
                "| {} | {side} | {:.1} | {:.1} | {:.0} | {} | {} | {} |",
                run.case.name,
                PROCESS(&run.timed),
                run.timed.measured.cpu_seconds.unwrap_or(f64::NAN),
                MEMORY(&run.timed),
                optional(run.passes),
                optional(run.parts),
                optional(run.rows),
            );
        }
    }
    if !same.is_empty() {
        let _ = write!(
            text,
            "\n## The first {COMPARED} rows, in passes and in memory\n\n\
             With `--memory {LITTLE}`, and without.\n\n\
             | case | features | scores |\n|---|---|---|\n{same}"
        );
    }
    documents.page("passes", text)
}
