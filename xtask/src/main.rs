//! Automation of the fewest workspace: `cargo xtask --help`.

mod bench;
mod ci;
mod data;
mod golden;
mod machine;
mod npy;
mod output;
mod plot;
mod reproduce;
mod tidy;
mod workspace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// What every command returns; the message is one line for a person.
type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Automation of the fewest workspace")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Bench(bench::Arguments),
    /// Everything that must hold before a change is merged, with the time each step took.
    Ci,
    Data(data::Arguments),
    Golden(golden::Arguments),
    Reproduce(reproduce::Arguments),
    #[command(hide = true)]
    RunMethod(bench::worker::Arguments),
    #[command(hide = true)]
    RunMachine(bench::machines::worker::Arguments),
    /// The house rules: dependency edges, no printing in libraries, pages for methods, links that resolve, …
    Tidy,
}

fn main() -> ExitCode {
    let outcome = match Arguments::parse().command {
        Command::Bench(arguments) => bench::run(&arguments),
        Command::Ci => ci::run(),
        Command::Data(arguments) => data::run(&arguments),
        Command::Golden(arguments) => optimised(|| golden::run(&arguments)),
        Command::Reproduce(arguments) => optimised(|| reproduce::run(&arguments)),
        Command::RunMethod(arguments) => bench::worker::run(&arguments),
        Command::RunMachine(arguments) => bench::machines::worker::run(&arguments),
        Command::Tidy => tidy::run(),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs `work` in an optimised build: this one, or else by building one and passing the call on to it.
fn optimised(work: impl FnOnce() -> Result<()>) -> Result<()> {
    if !cfg!(debug_assertions) {
        return work();
    }
    let mut command = workspace::cargo();
    command
        .args(["run", "--quiet", "--release", "--package", "xtask", "--"])
        .args(std::env::args_os().skip(1));
    workspace::run(&mut command)
}
