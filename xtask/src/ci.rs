//! `cargo xtask ci`: the only list of required checks. `.ci/run` calls it, with a lock file that must fit.

use std::ffi::OsString;
use std::time::Instant;

use crate::beside::Beside;
use crate::documented::AS_RUSTDOC;
use crate::{Result, extensions, python, tidy, workspace};

/// The command by which the README says that all tests run; `tidy` checks that the README still says so.
pub(crate) const TEST_COMMAND: &str = "cargo test --workspace";

struct Step {
    name: &'static str,
    arguments: &'static str,
    environment: &'static [(&'static str, &'static str)],
}

const fn step(name: &'static str, arguments: &'static str) -> Step {
    Step { name, arguments, environment: &[] }
}

const fn unoptimised(name: &'static str, arguments: &'static str) -> Step {
    Step { name, arguments, environment: &[("CARGO_PROFILE_DEV_OPT_LEVEL", "0")] }
}

/// After `tidy`, in this order: the fastest checks come first. Arguments are those of `cargo`.
///
/// Clippy reads what is compiled for the tests, and rustdoc writes pages of it ([`checked`]): by commands of
/// their own both would have everything compiled once more. What has no tests is left out by that: pages of
/// programs and of the package for Python.
const STEPS: &[Step] = &[
    step("format", "fmt --all --check"),
    // Without its tests, which use more of it.
    step("xtask", "clippy --package xtask -- -D warnings"),
    // The README's command; it runs the doc tests too.
    step("test", "test --workspace"),
    step("benchmarks", "build --workspace --bench fewest"),
    // The feature sets of the crates that others depend on with and without them.
    step("fewest without families", "clippy --package fewest --no-default-features -- -D warnings"),
    step(
        "fewest with linear",
        "clippy --package fewest --no-default-features --features linear -- -D warnings",
    ),
    step(
        "fewest with dependence",
        "clippy --package fewest --no-default-features --features dependence -- -D warnings",
    ),
    // usfs is off by default, since a patent is said to cover it: docs/methods/usfs.md. With `--workspace`
    // the other packages stay as the tests above have built them.
    step("with usfs", "test --workspace --features fewest-cli/usfs --bin fewest --test usfs"),
    step("arrow with batches", "test --workspace --features fewest-arrow/batches --test batches"),
    // polars takes minutes to compile, and more to optimise; what both need is compiled once.
    unoptimised("core without features", "test --package fewest-core --no-default-features"),
    unoptimised("core with ndarray and polars", "test --package fewest-core --features ndarray,polars"),
    // A workspace of its own, whose engine no other step compiles.
    step("cluster: format", "fmt --all --check --manifest-path cluster/Cargo.toml"),
];

/// After them; what it compiles is compiled beside them, with what they leave of the processors.
const CLUSTER: &str = "test --workspace --locked --manifest-path cluster/Cargo.toml";

/// The environment of all steps: cargo hands every crate of the workspace to Clippy, which tells what it
/// finds, as errors, and compiles it, but for a few of the compiler's own simplifications; and every
/// crate with examples to [`documented`](crate::documented).
pub(crate) fn checked() -> Result<Vec<(&'static str, OsString)>> {
    Ok(vec![
        ("RUSTC_WORKSPACE_WRAPPER", "clippy-driver".into()),
        ("CLIPPY_ARGS", "-Dwarnings".into()),
        ("RUSTDOC", std::env::current_exe()?.into()),
        (AS_RUSTDOC, "1".into()),
    ])
}

/// Runs every step, stops at the first failure, and prints how long each took.
pub(crate) fn run() -> Result<()> {
    let mut times = Vec::new();
    let start = Instant::now();
    let checked = checked()?;
    let mut outcome = timed("tidy", &mut times, tidy::run);
    let cluster = Beside::cargo(&format!("{CLUSTER} --no-run"), |command| {
        command.envs(checked.iter().cloned());
    })?;
    for step in STEPS {
        if outcome.is_err() {
            break;
        }
        outcome = timed(step.name, &mut times, || cargo(step.arguments, &checked, step.environment));
    }
    // Python's tests look at the clock.
    if outcome.is_ok() {
        outcome = timed("cluster: build", &mut times, || cluster.finish());
    }
    if outcome.is_ok() {
        outcome = timed("python", &mut times, || python::run(&[], &checked));
    }
    if outcome.is_ok() {
        outcome = timed("extensions", &mut times, extensions::run);
    }
    if outcome.is_ok() {
        outcome = timed("cluster: test", &mut times, || cargo(CLUSTER, &checked, &[]));
    }
    eprintln!("\nseconds  step");
    for (name, seconds) in &times {
        eprintln!("{seconds:7.1}  {name}");
    }
    eprintln!("{:7.1}  in all", start.elapsed().as_secs_f64());
    outcome
}

fn cargo(
    arguments: &str,
    checked: &[(&'static str, OsString)],
    environment: &[(&'static str, &'static str)],
) -> Result<()> {
    let mut command = workspace::cargo();
    command.args(arguments.split(' ')).envs(checked.iter().cloned()).envs(environment.iter().copied());
    workspace::run(&mut command)
}

fn timed(
    name: &'static str,
    times: &mut Vec<(&'static str, f64)>,
    work: impl FnOnce() -> Result<()>,
) -> Result<()> {
    eprintln!("\n== {name}");
    let start = Instant::now();
    let outcome = work().map_err(|error| format!("{name}: {error}").into());
    times.push((name, start.elapsed().as_secs_f64()));
    outcome
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_readme_command_is_a_step() {
        assert!(STEPS.iter().any(|step| format!("cargo {}", step.arguments) == TEST_COMMAND));
    }
}
