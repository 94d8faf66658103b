//! `cargo xtask bench --machines`: support vector machines against scikit-learn and LIBSVM's own program, and
//! their objectives on many data sets.

mod cases;
mod document;
pub(crate) mod worker;

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use self::cases::{Case, DATA_SETS, EPSILON, Kind};
use super::cases::Files;
use super::measure::{CPU, Measured, Timed, measure};
use super::programs::{number, read};
use super::{Arguments, Start};
use crate::{Result, machine, workspace};

/// The duality gap, relative to the objective, of ours: as the objectives show, at least as exact as LIBSVM's
/// default.
const OUR_TOLERANCE: f64 = 1e-6;
/// LIBSVM's and scikit-learn's default: the largest violation of the optimality conditions.
const THEIR_TOLERANCE: f64 = 1e-3;

/// The result of one run of a program.
struct Run {
    /// The program itself counts the training alone; of LIBSVM's program it is everything.
    timed: Timed,
    /// The minimised dual, in double precision; LIBSVM's program prints six decimals of it, computed in
    /// its own precision.
    objective: f64,
    violation: Option<f64>,
    n_support: u64,
}

/// A program with all its runs.
struct Side {
    name: &'static str,
    is_ours: bool,
    runs: Vec<Run>,
}

/// A timed case.
struct Results {
    case: Case,
    sides: Vec<Side>,
}

/// Both objectives of a data set.
struct Objectives {
    case: Case,
    ours: Run,
    theirs: Run,
}

/// The cases that could not be run, and why.
type Skipped = Vec<String>;

/// Measures; writes `docs/benchmarks/machines.csv`, `.md` and `.svg`, or with `--only` into `target/bench`.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let Start { scratch, json, program, python } =
        arguments.start(".venv-peers-filters", "filters-requirements.txt")?;
    let mut facts = machine::facts();
    let mut skipped = Skipped::new();
    let has_libsvm = Command::new("svm-train").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok();
    if !has_libsvm {
        skipped.push("LIBSVM's own program: there is no `svm-train` on the path".to_owned());
    }
    let mut version = String::new();
    let mut timed = Vec::new();
    for kind in [Kind::Svc, Kind::Svr] {
        let (case, files) = cases::drawn(kind, &scratch)?;
        if !case.name.contains(&arguments.only) {
            continue;
        }
        let side = |name, is_ours| Side { name, is_ours, runs: Vec::new() };
        let mut sides = vec![side("fewest", true), side("scikit-learn", false)];
        if has_libsvm {
            sides.push(side("LIBSVM, svm-train", false));
            write_libsvm(&files, &scratch.join("machines.txt"))?;
        }
        for repetition in 1..=arguments.repetitions {
            for side in &mut sides {
                let run = match side.name {
                    "fewest" => run_ours(&program, &files, &case, OUR_TOLERANCE, &json)?,
                    "scikit-learn" => {
                        let (run, said) = run_sklearn(&python, &files, &case, THEIR_TOLERANCE, &json)?;
                        version = said;
                        run
                    }
                    _ => run_libsvm(&scratch, &case)?,
                };
                let cpu = CPU(&run.timed);
                eprintln!("{} {repetition}: {} {cpu:.3} CPU s", case.name, side.name);
                side.runs.push(run);
            }
        }
        files.remove()?;
        timed.push(Results { case, sides });
    }
    let mut objectives = Vec::new();
    match &arguments.data {
        None => skipped.push("the objectives: no folder of data sets was given".to_owned()),
        Some(folder) => {
            for &(kind, file) in DATA_SETS.iter().filter(|(_, file)| file.contains(&arguments.only)) {
                let Some((cases, files)) = cases::read(folder, kind, file, &scratch)? else {
                    skipped.push(format!("{file}: not in the data folder"));
                    continue;
                };
                for case in cases {
                    let ours = run_ours(&program, &files, &case, 1e-9, &json)?;
                    let (theirs, said) = run_sklearn(&python, &files, &case, 1e-6, &json)?;
                    version = said;
                    eprintln!("{} C = {}: {} {}", case.name, case.cost, ours.objective, theirs.objective);
                    objectives.push(Objectives { case, ours, theirs });
                }
                files.remove()?;
            }
        }
    }
    facts.push(("peer", version));
    facts.push(("threads of each program", "1".to_owned()));
    document::write_all(&arguments.documents(facts), &timed, &objectives, &skipped)
}

fn parameters(command: &mut Command, files: &Files, case: &Case, tolerance: f64, json: &Path) {
    command.arg("--x").arg(&files.x);
    if let Some(y) = &files.y {
        command.arg("--y").arg(y);
    }
    command.args(["--kind", case.kind.name()]);
    let numbers =
        [("--cost", case.cost), ("--gamma", case.gamma), ("--epsilon", EPSILON), ("--tolerance", tolerance)];
    for (name, value) in numbers {
        command.args([name, &value.to_string()]);
    }
    command.arg("--json").arg(json).stdout(Stdio::null());
}

fn run_ours(program: &Path, files: &Files, case: &Case, tolerance: f64, json: &Path) -> Result<Run> {
    let mut command = Command::new(program);
    command.arg("run-machine");
    parameters(&mut command, files, case, tolerance, json);
    let measured = measure(&mut command)?;
    answered(&read(json)?, measured)
}

fn run_sklearn(
    python: &Path,
    files: &Files,
    case: &Case,
    tolerance: f64,
    json: &Path,
) -> Result<(Run, String)> {
    let mut command = Command::new(python);
    command.arg(workspace::root().join("experiments/peers/machines.py"));
    parameters(&mut command, files, case, tolerance, json);
    let measured = measure(command.stderr(Stdio::null()))?;
    let answer = read(json)?;
    let text = |key: &str| answer[key].as_str().unwrap_or("?").to_owned();
    let version =
        format!("{} {} (Python {}, NumPy {})", text("peer"), text("version"), text("python"), text("numpy"));
    Ok((answered(&answer, measured)?, version))
}

fn answered(answer: &Value, measured: Measured) -> Result<Run> {
    Ok(Run {
        timed: Timed::answered(answer, measured)?,
        objective: number(answer, "objective")?,
        violation: answer["violation"].as_f64(),
        n_support: answer["n_support"].as_u64().unwrap_or(0),
    })
}

/// The same numbers in LIBSVM's own format, all digits.
fn write_libsvm(files: &Files, path: &Path) -> Result<()> {
    use fewest::core::Target;
    use fewest::data::{Missing, ReadOptions, Table, Task};
    let target = files.y.as_ref().map(|y| y.display().to_string()).unwrap_or_default();
    let options = ReadOptions { task: Task::Regression, ..ReadOptions::with_target(&target) };
    let data = Table::read(&files.x, &options)?.complete(Missing::Error)?.dataset;
    let Target::Real(outputs) = data.target() else { return Err("the target must be numbers".into()) };
    let n = data.n_samples();
    let mut columns = vec![vec![0.0; n]; data.n_features()];
    for (j, column) in columns.iter_mut().enumerate() {
        data.x().copy_column(j, column)?;
    }
    let mut file = std::io::BufWriter::new(std::fs::File::create(path)?);
    for (i, y) in outputs.output(0).iter().enumerate() {
        write!(file, "{y}")?;
        for (j, column) in columns.iter().enumerate() {
            write!(file, " {}:{}", j + 1, column[i])?;
        }
        writeln!(file)?;
    }
    Ok(file.flush()?)
}

fn run_libsvm(scratch: &Path, case: &Case) -> Result<Run> {
    let said = scratch.join("svm-train.txt");
    let mut command = Command::new("svm-train");
    let kind = if case.kind == Kind::Svc { "0" } else { "3" };
    command.args(["-s", kind, "-t", "2", "-m", "256"]);
    let numbers = [("-c", case.cost), ("-g", case.gamma), ("-p", EPSILON), ("-e", THEIR_TOLERANCE)];
    for (name, value) in numbers {
        command.args([name, &value.to_string()]);
    }
    command.arg(scratch.join("machines.txt")).arg(scratch.join("machines.model"));
    let measured = measure(command.stdout(std::fs::File::create(&said)?))?;
    let text = std::fs::read_to_string(&said)?;
    let (objective, n_support) = parse_libsvm(&text).ok_or("svm-train named no objective")?;
    let (seconds, cpu_seconds) = (measured.process_seconds, measured.cpu_seconds);
    Ok(Run { timed: Timed { seconds, cpu_seconds, measured }, objective, violation: None, n_support })
}

/// The objective and the number of support vectors of `obj = -1.5, rho = 0.1` and `nSV = 3, nBSV = 1`.
fn parse_libsvm(text: &str) -> Option<(f64, u64)> {
    let after = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.split(',').next());
    Some((after("obj = ")?.parse().ok()?, after("nSV = ")?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_output_of_svm_train_is_parsed() {
        let text =
            "*\noptimization finished, #iter = 10\nnu = 0.5\nobj = -12.5, rho = 0.25\nnSV = 7, nBSV = 2\n";
        assert_eq!(parse_libsvm(text), Some((-12.5, 7)));
        assert_eq!(parse_libsvm("usage"), None);
    }
}
