//! The command `fewest`: reads a table, runs a method of the registry, writes the answer.
//!
//! No algorithm lives here. `args` is the call, `input` makes a data set of it, `run` runs the method (`evaluation`
//! many times over), and `table`, `json` and `report` are three ways to tell the answer.

mod args;
mod commands;
mod evaluation;
mod failure;
mod input;
mod json;
mod output;
mod report;
mod run;
mod run_info;
mod table;
mod text;

use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use args::{Cli, Command};
use failure::{Failure, STATUS_WRONG};

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) if error.use_stderr() && !is_help(&error) => {
            output::complain(&in_one_line(&error));
            return ExitCode::from(STATUS_WRONG);
        }
        Err(help) => {
            // Help and version; that the reader closed early is no failure.
            let _ = help.print();
            return ExitCode::from(u8::try_from(help.exit_code()).unwrap_or(STATUS_WRONG));
        }
    };
    let done = match &cli.command {
        Command::Select(args) => commands::select(args),
        Command::Score(args) => commands::score(args),
        Command::Evaluate(args) => commands::evaluate(args),
        Command::Compare(args) => commands::compare(args),
        Command::Methods(args) => commands::methods(args).map(|()| ExitCode::SUCCESS),
        Command::Info(args) => commands::info(args).map(|()| ExitCode::SUCCESS),
    };
    done.unwrap_or_else(|failure: Failure| {
        output::complain(&failure.to_string());
        ExitCode::from(failure.status())
    })
}

/// Called without anything to do: the help is the answer.
fn is_help(error: &clap::Error) -> bool {
    error.kind() == clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
}

/// What is wrong with the call, without the usage that clap would add.
fn in_one_line(error: &clap::Error) -> String {
    let text = error.to_string();
    let told = text.lines().map(str::trim).take_while(|line| !line.starts_with("Usage:"));
    let told: Vec<&str> =
        told.filter(|line| !line.is_empty() && !line.starts_with("For more information")).collect();
    let line = told.join(" ");
    let line = line.strip_prefix("error: ").unwrap_or(&line);
    text::one_line(&format!("{} (see {} --help)", line.replace(" tip: ", "; "), command_called()))
}

/// The program with the subcommand that was called, if there is one like it.
fn command_called() -> String {
    let called = std::env::args().nth(1).unwrap_or_default();
    match Cli::command().find_subcommand(&called) {
        Some(subcommand) => format!("fewest {}", subcommand.get_name()),
        None => "fewest".to_owned(),
    }
}
