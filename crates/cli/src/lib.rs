#![doc = include_str!("../README.md")]

mod args;
mod commands;
mod failure;
mod input;
mod output;
mod report;
mod runner;
mod table;
mod text;

use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches};
use fewest::registry::Registry;

use args::{Cli, Command};
use failure::{Failure, STATUS_WRONG};

/// Does what the arguments of the process say, and tells the status to end with: 0 done, 2 the call or the
/// data is wrong, 130 interrupted. Answers go to stdout and to the files named, one line on what is wrong to
/// stderr. Handles Ctrl-C. Methods, learners, metrics and file formats are those of `registry`.
pub fn run(registry: &Registry) -> ExitCode {
    let called = args::command(registry).try_get_matches();
    let cli = match called.and_then(|matches| Cli::from_arg_matches(&matches)) {
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
        Command::Select(args) => commands::select(registry, args),
        Command::Score(args) => commands::score(registry, args),
        Command::Evaluate(args) => commands::evaluate(registry, args),
        Command::Compare(args) => commands::compare(registry, args),
        Command::Methods(args) => commands::methods(registry, args).map(|()| ExitCode::SUCCESS),
        Command::Info(args) => commands::info(registry, args).map(|()| ExitCode::SUCCESS),
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
