#![doc = include_str!("../README.md")]

mod args;
mod cluster;
mod commands;
mod failure;
mod input;
mod output;
mod runner;
mod table;
mod text;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, FromArgMatches};
use fewest::registry::Registry;

use args::{Cli, Command};
use failure::{Failure, STATUS_WRONG};

/// Runs the command that the arguments of the process give, and returns the exit status: 0 success, 2 wrong
/// arguments or data, 124 cut short by the time limit, 130 interrupted. Writes results to stdout and to the
/// files named, and an error as one line to stderr. Methods, learners, metrics and file formats are those of
/// `registry`.
///
/// Handles Ctrl-C, SIGTERM and SIGHUP. Where one of them, or the time limit, comes while files are read, and
/// where one comes a second time, this function does not return: it ends the process.
///
/// With `--cluster`, and for `fewest cluster`, the arguments go to the program `fewest-cluster`, which knows
/// nothing of `registry`. On Unix it takes the place of this process, so that this function does not return.
pub fn run(registry: &Registry) -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    if let Some(arguments) = cluster::asked(&arguments) {
        return ended(cluster::call(arguments));
    }
    let called = args::command(registry).try_get_matches();
    let cli = match called.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(error) if error.use_stderr() && !is_help(&error) => {
            output::complain(&in_one_line(&error));
            return ExitCode::from(STATUS_WRONG);
        }
        Err(help) => {
            // Help and version; a closed pipe is not an error.
            let _ = help.print();
            return ExitCode::from(u8::try_from(help.exit_code()).unwrap_or(STATUS_WRONG));
        }
    };
    runner::hear_signals();
    let done = match &cli.command {
        Command::Select(args) => commands::select(registry, args),
        Command::Score(args) => commands::score(registry, args),
        Command::Evaluate(args) => commands::evaluate(registry, args),
        Command::Compare(args) => commands::compare(registry, args),
        Command::Stream(args) => commands::stream(registry, args),
        Command::Apply(args) => commands::apply(registry, args),
        Command::Methods(args) => commands::methods(registry, args).map(|()| ExitCode::SUCCESS),
        Command::Info(args) => commands::info(registry, args).map(|()| ExitCode::SUCCESS),
    };
    ended(done)
}

fn ended(done: Result<ExitCode, Failure>) -> ExitCode {
    done.unwrap_or_else(|failure| {
        output::complain(&failure.to_string());
        ExitCode::from(failure.status())
    })
}

/// Called without a command: print the help.
fn is_help(error: &clap::Error) -> bool {
    error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
}

/// The error message for wrong arguments, without the usage text that clap would add.
fn in_one_line(error: &clap::Error) -> String {
    let text = error.to_string();
    let lines = text.lines().map(str::trim).take_while(|line| !line.starts_with("Usage:"));
    let lines: Vec<&str> = lines
        .filter(|line| !line.is_empty() && !NO_HELP.iter().any(|start| line.starts_with(start)))
        .collect();
    let line = lines.join(" ");
    let line = line.strip_prefix("error: ").unwrap_or(&line);
    // A word without an option: most often the target, or a part of a table.
    let stray = match (error.kind(), error.get(ContextKind::InvalidArg)) {
        (ErrorKind::UnknownArgument, Some(ContextValue::String(word))) if Path::new(word).is_file() => {
            "; several files of one table are named by their folder, or by a pattern in quotes".to_owned()
        }
        (ErrorKind::UnknownArgument, Some(ContextValue::String(word))) if !word.starts_with('-') => {
            format!("; columns are named by options, such as --target {word}")
        }
        _ => String::new(),
    };
    text::one_line(&format!("{}{stray} (see {} --help)", line.replace(" tip: ", "; "), command_called()))
}

/// Starts of lines that help nobody here: `-k` is no value of anything.
const NO_HELP: [&str; 2] = ["For more information", "tip: to pass"];

/// The program with the subcommand that was called, if it exists.
fn command_called() -> String {
    let called = std::env::args().nth(1).unwrap_or_default();
    match Cli::command().find_subcommand(&called) {
        Some(subcommand) => format!("fewest {}", subcommand.get_name()),
        None => "fewest".to_owned(),
    }
}
