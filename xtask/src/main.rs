//! Automation of the fewest workspace: `cargo xtask --help`.

mod ci;
mod data;
mod golden;
mod tidy;
mod workspace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// What every command returns; the message is one line for a person.
type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Automation of the fewest workspace")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Everything that must hold before a change is merged, with the time each step took.
    Ci,
    Data(data::Arguments),
    Golden(golden::Arguments),
    /// The house rules: dependency edges, no printing in libraries, pages for methods, links that resolve, …
    Tidy,
}

fn main() -> ExitCode {
    let outcome = match Arguments::parse().command {
        Command::Ci => ci::run(),
        Command::Data(arguments) => data::run(&arguments),
        Command::Golden(arguments) => golden::run(&arguments),
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
