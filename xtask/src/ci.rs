//! `cargo xtask ci`: the only list of required checks. `.ci/run` only calls it.

use std::time::Instant;

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

/// After `tidy`, in this order: the fastest checks come first. Arguments are those of `cargo`.
const STEPS: &[Step] = &[
    step("format", "fmt --all --check"),
    step("clippy", "clippy --workspace --all-targets --locked -- -D warnings"),
    // The README's command; it runs the doc tests too.
    step("test", "test --workspace"),
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
    // usfs is off by default, since a patent is said to cover it: docs/methods/usfs.md.
    step(
        "command with workbooks and usfs",
        "clippy --workspace --features fewest-cli/excel,fewest-cli/usfs -- -D warnings",
    ),
    // With `--workspace` the other packages stay as the tests above have built them.
    step("streams with usfs", "test --workspace --features fewest-streams/usfs --test usfs"),
    step("arrow with batches", "test --workspace --features fewest-arrow/batches --test batches"),
    step("core without features", "test --package fewest-core --no-default-features"),
    step(
        "core with ndarray: clippy",
        "clippy --package fewest-core --all-targets --features ndarray -- -D warnings",
    ),
    // polars takes minutes to compile, and more to optimise: it is compiled once, by the tests. Clippy does
    // not look at this feature, but the compiler's warnings count.
    Step {
        name: "core with ndarray and polars",
        arguments: "test --package fewest-core --features ndarray,polars",
        environment: &[("CARGO_PROFILE_DEV_OPT_LEVEL", "0"), ("RUSTFLAGS", "-D warnings")],
    },
    Step {
        name: "rustdoc",
        arguments: "doc --workspace --no-deps",
        environment: &[("RUSTDOCFLAGS", "-D warnings")],
    },
    // A workspace of its own, whose engine no other step compiles.
    step("cluster: format", "fmt --all --check --manifest-path cluster/Cargo.toml"),
    step(
        "cluster: clippy",
        "clippy --workspace --all-targets --locked --manifest-path cluster/Cargo.toml -- -D warnings",
    ),
    step("cluster: test", "test --workspace --locked --manifest-path cluster/Cargo.toml"),
    Step {
        name: "cluster: rustdoc",
        arguments: "doc --workspace --no-deps --locked --manifest-path cluster/Cargo.toml",
        environment: &[("RUSTDOCFLAGS", "-D warnings")],
    },
];

/// Runs every step, stops at the first failure, and prints how long each took.
pub(crate) fn run() -> Result<()> {
    let mut times = Vec::new();
    let start = Instant::now();
    let mut outcome = timed("tidy", &mut times, tidy::run);
    for step in STEPS {
        if outcome.is_err() {
            break;
        }
        outcome = timed(step.name, &mut times, || {
            let mut command = workspace::cargo();
            command.args(step.arguments.split(' ')).envs(step.environment.iter().copied());
            workspace::run(&mut command)
        });
    }
    if outcome.is_ok() {
        outcome = timed("python", &mut times, || python::run(&[]));
    }
    if outcome.is_ok() {
        outcome = timed("extensions", &mut times, extensions::run);
    }
    eprintln!("\nseconds  step");
    for (name, seconds) in &times {
        eprintln!("{seconds:7.1}  {name}");
    }
    eprintln!("{:7.1}  in all", start.elapsed().as_secs_f64());
    outcome
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
