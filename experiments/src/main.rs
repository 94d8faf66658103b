//! Commands that need the whole library and take long to compile: published results, measurements, reference
//! results, data sets. `cargo xtask bench`, `data`, `golden` and `reproduce` build this program optimised and
//! start it.

mod bench;
mod data;
mod golden;
mod machine;
mod npy;
mod output;
mod plot;
mod reproduce;
// The root of the checkout and how to run cargo in it: the two programs share this file.
#[path = "../../xtask/src/workspace.rs"]
mod workspace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// What every command returns; the message is one line for a person.
type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", about = "Experiments of the fewest workspace")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Bench(bench::Arguments),
    Data(data::Arguments),
    Golden(golden::Arguments),
    Reproduce(reproduce::Arguments),
    #[command(hide = true)]
    RunMethod(bench::worker::Arguments),
    /// Runs a method of linked samples once, for `bench --networks`.
    #[command(hide = true)]
    RunNetwork(bench::networks::Worker),
    /// Gives a stream to a method once, for `bench --streams`.
    #[command(hide = true)]
    RunStream(bench::streams::Worker),
    #[command(hide = true)]
    RunMachine(bench::machines::worker::Arguments),
}

fn main() -> ExitCode {
    match run(Arguments::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> Result<()> {
    // What is reproduced is refused where it would be published.
    if !matches!(command, Command::Reproduce(_)) {
        machine::check_optimised()?;
    }
    match command {
        Command::Bench(arguments) => bench::run(&arguments),
        Command::Data(arguments) => data::run(&arguments),
        Command::Golden(arguments) => golden::run(&arguments),
        Command::Reproduce(arguments) => reproduce::run(&arguments),
        Command::RunMethod(arguments) => bench::worker::run(&arguments),
        Command::RunNetwork(arguments) => bench::networks::work(&arguments),
        Command::RunStream(arguments) => bench::streams::work(&arguments),
        Command::RunMachine(arguments) => bench::machines::worker::run(&arguments),
    }
}
