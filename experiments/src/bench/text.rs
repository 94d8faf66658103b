//! `cargo xtask bench --text`: reading a table of text, beside polars.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use fewest::core::derive_seed;

use super::Arguments;
use super::measure::{MEMORY, PROCESS, PROCESS_CPU, TIMED, Timed, measure};
use super::programs::{build_ours, prepare_python, read};
use crate::output::{Documents, minimum};
use crate::{Result, machine, workspace};

/// Rows and columns of the table, and of that of a trial.
const SIZE: [usize; 2] = [200_000, 100];
const TRIAL: [usize; 2] = [10_000, 100];

/// What numbers look like.
const CASES: &[Case] = &[
    Case { name: "numbers of 16 digits", draw: |noise| format!("{noise:.16}") },
    Case { name: "numbers of 4 digits", draw: |noise| format!("{noise:.4}") },
];

struct Case {
    name: &'static str,
    /// A cell from a number between 0 and 1.
    draw: fn(f64) -> String,
}

/// One run of a program.
struct Run {
    case: &'static str,
    side: String,
    threads: u32,
    timed: Timed,
}

/// Runs every case with one thread and with all; writes `docs/benchmarks/text.csv` and `.md`, or with
/// `--quick` or `--only`, into `target/bench`.
pub(super) fn run(arguments: &Arguments) -> Result<()> {
    let scratch = workspace::root().join("target/bench");
    fs::create_dir_all(&scratch)?;
    let (json, path) = (scratch.join("answer.json"), scratch.join("text.csv"));
    let program = build_ours()?;
    let python = match &arguments.python {
        Some(python) => python.clone(),
        None => prepare_python(".venv-peers-passes", "passes-requirements.txt")?,
    };
    let size = if arguments.quick { TRIAL } else { SIZE };
    let (mut all, mut sizes): (Vec<Run>, Vec<u64>) = (Vec::new(), Vec::new());
    let cases: Vec<&Case> = CASES.iter().filter(|case| case.name.contains(&arguments.only)).collect();
    for case in &cases {
        draw(case, size, &path)?;
        sizes.push(fs::metadata(&path)?.len());
        for threads in [1, arguments.threads] {
            for _ in 0..arguments.repetitions {
                for (side, target) in [("fewest", &[][..]), ("fewest --target", &["--target", "target"])] {
                    let mut command = Command::new(&program);
                    command.arg("score").arg(&path).args(["--method", "variance", "--quiet"]).args(target);
                    command.args(["--threads", &threads.to_string(), "--json"]).arg(&json);
                    all.push(timed(case, side, threads, command, &json)?);
                }
                let mut command = Command::new(&python);
                command.arg(workspace::root().join("experiments/peers/text.py")).arg(&path).arg(&json);
                command.env("POLARS_MAX_THREADS", threads.to_string());
                all.push(timed(case, "polars", threads, command, &json)?);
            }
        }
        fs::remove_file(&path)?;
    }
    let documents = arguments.documents_unless(arguments.quick, machine::facts());
    let header: Vec<&str> = ["case", "side", "threads"].into_iter().chain(TIMED.iter().copied()).collect();
    documents.csv("text", &header, &all.iter().map(Run::cells).collect::<Vec<_>>())?;
    page(&documents, &cases, size, &sizes, &all)
}

/// Writes a table of numbers, with a target of three classes as the last column.
fn draw(case: &Case, [rows, columns]: [usize; 2], path: &Path) -> Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    let mut line: String = (0..columns).map(|j| format!("x{j},")).collect();
    line.push_str("target\n");
    file.write_all(line.as_bytes())?;
    for i in 0..rows as u64 {
        line.clear();
        for j in 0..columns as u64 {
            let noise = (derive_seed(j, i) >> 11) as f64 / 2_f64.powi(53);
            line.push_str(&(case.draw)(noise));
            line.push(',');
        }
        line.push_str(["low\n", "middle\n", "high\n"][i as usize % 3]);
        file.write_all(line.as_bytes())?;
    }
    Ok(file.flush()?)
}

fn timed(case: &Case, side: &str, threads: u32, mut command: Command, json: &Path) -> Result<Run> {
    let measured = measure(command.stdout(Stdio::null()).stderr(Stdio::null()))?;
    let answer = read(json)?;
    let side = answer["peer"].as_str().unwrap_or(side).to_owned();
    let run = Run { case: case.name, side, threads, timed: Timed::answered(&answer, measured)? };
    eprintln!("{}, {}, {threads} threads: {:.2} CPU s", run.case, run.side, PROCESS_CPU(&run.timed));
    Ok(run)
}

impl Run {
    fn cells(&self) -> Vec<String> {
        let own = [self.case.to_owned(), self.side.clone(), self.threads.to_string()];
        own.into_iter().chain(self.timed.cells()).collect()
    }
}

fn page(
    documents: &Documents,
    cases: &[&Case],
    [rows, columns]: [usize; 2],
    sizes: &[u64],
    all: &[Run],
) -> Result<()> {
    let mut text = format!(
        "# Reading text\n\n\
         A CSV table of {rows} rows × {columns} columns and a target of three classes: `fewest score TABLE --method \
         variance`, without and with `--target`, and `polars.read_csv` on the same file, in turn. Times are the smallest \
         of the runs, of the whole process: of fewest with the variances and the output, of polars with its start. \
         *Memory* is the highest resident set. Every run is in [text.csv](text.csv).\n"
    );
    for (case, bytes) in cases.iter().zip(sizes) {
        let megabytes = *bytes as f64 / 1e6;
        let _ = write!(
            text,
            "\n## {}\n\n{megabytes:.0} MB of text, {:.0} MB as numbers.\n\n\
             | program | threads | CPU, s | MB a CPU second | wall, s | memory, MiB |\n|---|---|---|---|---|---|\n",
            case.name,
            8e-6 * rows as f64 * columns as f64,
        );
        let mut sides: Vec<(&str, u32)> = Vec::new();
        for run in all.iter().filter(|run| run.case == case.name) {
            if !sides.contains(&(&run.side, run.threads)) {
                sides.push((&run.side, run.threads));
            }
        }
        for (side, threads) in sides {
            let own = |run: &&Run| run.case == case.name && run.side == side && run.threads == threads;
            let least = |figure: super::measure::Figure| {
                minimum(&all.iter().filter(own).map(|run| figure(&run.timed)).collect::<Vec<_>>())
            };
            let cpu = least(PROCESS_CPU);
            let _ = writeln!(
                text,
                "| {side} | {threads} | {cpu:.2} | {:.0} | {:.2} | {:.0} |",
                megabytes / cpu,
                least(PROCESS),
                least(MEMORY),
            );
        }
    }
    documents.page("text", text)
}
