//! Both sides as programs: started the same way, measured the same way, answering in JSON.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::cases::{Files, PeerOptions, Source};
use super::measure::{Measured, measure};
use crate::{Result, workspace};

/// The result of one run of a program.
#[derive(Debug, Clone)]
pub(super) struct Run {
    /// The time that the program itself reports: kernels and lasso, without starting and reading.
    pub seconds: f64,
    /// The measurement from outside.
    pub measured: Measured,
    /// The highest resident set among worker processes, 0 without any.
    pub worker_peak_bytes: u64,
    /// The features, best first.
    pub features: Vec<u64>,
}

/// The optimised command line, built if need be.
pub(super) fn build_ours() -> Result<PathBuf> {
    workspace::run(workspace::cargo().args(["build", "--release", "--package", "fewest-cli"]))?;
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| workspace::root().join("target"), PathBuf::from);
    Ok(target.join("release").join(format!("fewest{}", std::env::consts::EXE_SUFFIX)))
}

/// Runs the command line: HSIC Lasso, full estimator, Gram matrices of unit norm.
pub(super) fn run_ours(
    program: &Path,
    files: &Files,
    source: Source,
    k: usize,
    threads: u32,
    json: &Path,
) -> Result<Run> {
    let mut command = Command::new(program);
    command.arg("select").arg(&files.x);
    if let Some(y) = &files.y {
        command.arg("--target").arg(y);
    }
    command.args(["--task", source.task(), "--method", "hsic-lasso", "-k", &k.to_string()]);
    command.args(["--param", "normalization=unit", "--threads", &threads.to_string(), "--quiet", "--json"]);
    command.arg(json).stdout(Stdio::null());
    let measured = measure(&mut command)?;
    let answer = read(json)?;
    let features = list(&answer["features"]).filter_map(|feature| feature["index"].as_u64()).collect();
    Ok(Run { seconds: number(&answer, "seconds")?, measured, worker_peak_bytes: 0, features })
}

/// Makes the virtual environment `name` with the versions pinned in `experiments/peers/{requirements}`,
/// unless it is there with the same ones. Not all peers can live in one: pyHSICLasso needs NumPy 1, pyarrow,
/// which mrmrs needs, NumPy 2.
pub(super) fn prepare_python(name: &str, requirements: &str) -> Result<PathBuf> {
    let root = workspace::root();
    let (environment, pinned) = (root.join(name), root.join("experiments/peers").join(requirements));
    let python = environment.join("bin/python");
    let installed = environment.join("installed-requirements.txt");
    let wanted = std::fs::read_to_string(&pinned)?;
    if std::fs::read_to_string(&installed).is_ok_and(|there| there == wanted) {
        return Ok(python);
    }
    workspace::run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&environment))?;
    workspace::run(
        Command::new(&python).args(["-m", "pip", "install", "--quiet", "--requirement"]).arg(&pinned),
    )?;
    std::fs::write(installed, wanted)?;
    Ok(python)
}

/// Runs pyHSICLasso; the second value is its version and that of its Python and NumPy.
pub(super) fn run_peer(
    python: &Path,
    files: &Files,
    source: Source,
    k: usize,
    options: PeerOptions,
    threads: u32,
    json: &Path,
) -> Result<(Run, String)> {
    let mut command = Command::new(python);
    command.arg(workspace::root().join("experiments/peers/pyhsiclasso.py"));
    match &files.y {
        Some(y) => command.arg("--x").arg(&files.x).arg("--y").arg(y),
        None => command.arg("--mat").arg(&files.x),
    };
    command.args(["--task", source.task(), "--k", &k.to_string(), "--threads", &threads.to_string()]);
    command.args([
        "--block",
        &options.block.to_string(),
        "--permutations",
        &options.permutations.to_string(),
    ]);
    // The progress and warnings of the peer are not shown.
    command.arg("--json").arg(json).stdout(Stdio::null()).stderr(Stdio::null());
    let measured = measure(&mut command)?;
    let answer = read(json)?;
    let text = |key: &str| answer[key].as_str().unwrap_or("?").to_owned();
    let version =
        format!("{} {} (Python {}, NumPy {})", text("peer"), text("version"), text("python"), text("numpy"));
    let run = Run {
        seconds: number(&answer, "seconds")?,
        measured,
        worker_peak_bytes: answer["worker_peak_rss_bytes"].as_u64().unwrap_or(0),
        features: list(&answer["features"]).filter_map(Value::as_u64).collect(),
    };
    Ok((run, version))
}

/// Reads an answer and removes its file.
pub(super) fn read(json: &Path) -> Result<Value> {
    let text = std::fs::read_to_string(json).map_err(|error| format!("{}: {error}", json.display()))?;
    std::fs::remove_file(json)?;
    Ok(serde_json::from_str(&text)?)
}

/// The elements of an array; empty for anything else.
pub(super) fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// A number that must be there.
pub(super) fn number(answer: &Value, key: &str) -> Result<f64> {
    answer[key].as_f64().ok_or_else(|| format!("the answer has no number `{key}`").into())
}
