//! The command `fewest-cluster`.

mod args;

use std::fmt::Display;
use std::io::Write;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use clap::error::ErrorKind;
use fewest::core::Selection;
use fewest_cluster::{
    Asked, Cluster, Error, ExecutorOptions, SchedulerOptions, Secret, Table, executor, scheduler, score,
    select,
};
use fewest_study::RunInfo;
use futures::future::{FutureExt, select_all};

use args::{
    Cli, Command, ExecutorArgs, LocalArgs, QuestionArgs, SchedulerArgs, ScoreArgs, SelectArgs, WorkArgs,
};

/// The exit status of wrong arguments or data.
const STATUS_WRONG: u8 = 2;

/// The kind of the error that stands for a call without a command, which prints the help.
const HELP: ErrorKind = ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;

/// Starts of lines about wrong arguments that help nobody here: `--k` is no value of anything.
const NO_HELP: [&str; 2] = ["For more information", "tip: to pass"];

/// Stack of a thread: plans are walked by functions that call themselves.
const STACK: usize = 32 << 20;

fn main() -> ExitCode {
    fewest_arrow::hush_decoders();
    let called = match Cli::try_parse() {
        Ok(called) => called,
        Err(error) if error.use_stderr() && error.kind() != HELP => return failed(&in_one_line(&error)),
        // Help and version.
        Err(help) => help.exit(),
    };
    let done = match called.command {
        Command::Scheduler(args) => start_scheduler(&args),
        Command::Executor(args) => start_executor(&args),
        Command::Local(args) => local(&args),
        Command::Select(args) => selection(&args),
        Command::Score(args) => scores(&args),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failed(&error),
    }
}

fn failed(problem: &dyn Display) -> ExitCode {
    let _ = writeln!(std::io::stderr(), "fewest-cluster: {problem}");
    ExitCode::from(STATUS_WRONG)
}

/// What is wrong with the arguments, without the usage that clap adds.
fn in_one_line(error: &clap::Error) -> String {
    let text = error.to_string();
    let lines = text.lines().map(str::trim).take_while(|line| !line.starts_with("Usage:"));
    let helps = |line: &&str| !line.is_empty() && !NO_HELP.iter().any(|start| line.starts_with(start));
    let lines: Vec<&str> = lines.filter(helps).collect();
    let line = lines.join(" ").replace(" tip: ", "; ");
    format!("{} (see fewest-cluster --help)", line.strip_prefix("error: ").unwrap_or(&line))
}

/// Runs a server on threads of its own.
fn served(server: impl Future<Output = Result<(), Error>>) -> Result<(), Error> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().thread_stack_size(STACK).build();
    let runtime = runtime.map_err(|error| Error::Server {
        what: "this command".to_owned(),
        problem: format!("{error}: are there too many threads?"),
    })?;
    runtime.block_on(server)
}

fn secret(path: Option<&Path>) -> Result<Secret, Error> {
    let Some(path) = path else { return Ok(Secret::default()) };
    let bytes = std::fs::read(path).map_err(|error| Error::Table {
        path: format!("--secret {}", path.display()),
        problem: format!("{error}: name a file with the secret"),
    })?;
    Secret::new(&bytes)
}

/// A folder for sums that were not fetched yet; it is removed at the end.
fn work_folder() -> Result<tempfile::TempDir, Error> {
    tempfile::Builder::new().prefix("fewest-cluster-").tempdir().map_err(|error| Error::Server {
        what: "executor".to_owned(),
        problem: format!("{error}: the folder for temporary files must be writable (TMPDIR)"),
    })
}

fn options(work: &WorkArgs, folder: &Path) -> Result<ExecutorOptions, Error> {
    Ok(ExecutorOptions {
        slots: work.slots,
        interval: work.interval,
        secret: secret(work.secret.as_deref())?,
        pause: Duration::from_millis(work.pause),
        ..ExecutorOptions::new(folder.to_owned())
    })
}

fn start_scheduler(args: &SchedulerArgs) -> Result<(), Error> {
    served(scheduler(SchedulerOptions {
        address: SocketAddr::new(args.bind, args.port),
        lost_after: args.lost_after,
        secret: secret(args.secret.as_deref())?,
    }))
}

fn start_executor(args: &ExecutorArgs) -> Result<(), Error> {
    let folder = work_folder()?;
    served(executor(ExecutorOptions {
        scheduler: args.scheduler.clone(),
        address: SocketAddr::new(args.bind, args.port),
        host: args.host.clone(),
        ..options(&args.work, folder.path())?
    }))
}

/// A scheduler and executors, until one of them ends.
fn local(args: &LocalArgs) -> Result<(), Error> {
    let loopback = ExecutorOptions::new(PathBuf::new()).address.ip();
    let address = SocketAddr::new(loopback, args.port);
    let mut servers = vec![scheduler(SchedulerOptions { address, ..SchedulerOptions::default() }).boxed()];
    let mut folders = Vec::new();
    for number in 0..args.executors {
        let port = number.checked_mul(2).and_then(|ports| args.port.checked_add(ports)?.checked_add(1));
        let port = port.ok_or_else(|| Error::Server {
            what: format!("executor {number}"),
            problem: "there is no port so high: take a lower --port".to_owned(),
        })?;
        let folder = work_folder()?;
        let options = ExecutorOptions {
            scheduler: (loopback.to_string(), args.port),
            address: SocketAddr::new(loopback, port),
            ..options(&args.work, folder.path())?
        };
        folders.push(folder);
        servers.push(executor(options).boxed());
    }
    let _ = writeln!(
        std::io::stderr(),
        "a scheduler at {address}, and {} executors; Ctrl-C ends them",
        args.executors
    );
    served(select_all(servers).map(|(ended, ..)| ended))
}

/// The cluster and the table that are meant.
fn asked_of(args: &QuestionArgs) -> Result<(Cluster, Table), Error> {
    let cluster = Cluster {
        secret: secret(args.secret.as_deref())?,
        tasks: args.tasks,
        memory: args.memory,
        pass_limit: Duration::from_secs(args.pass_limit),
        resume: args.resume.clone(),
        ..Cluster::new(args.cluster.clone())
    };
    let table = Table {
        path: args.path.clone(),
        target: args.target.clone(),
        task: args.task,
        ignore: args.ignore.clone(),
        categorical: args.categorical.clone(),
        missing: args.missing,
    };
    Ok((cluster, table))
}

fn selection(args: &SelectArgs) -> Result<(), Error> {
    let (cluster, table) = asked_of(&args.question)?;
    let answer = select(&cluster, &table, &args.question.method, &args.question.param, args.k)?;
    let text = listed(&answer.selection, &answer.run, answer.asked);
    tell(args.question.json.as_deref(), &text, || answer.json())
}

fn scores(args: &ScoreArgs) -> Result<(), Error> {
    let (cluster, table) = asked_of(&args.question)?;
    let answer = score(&cluster, &table, &args.question.method, &args.question.param)?;
    let mut best = answer.scores.best(args.top);
    best.notes.splice(0..0, answer.run.data.notes.iter().cloned());
    let text = listed(&best, &answer.run, answer.asked);
    tell(args.question.json.as_deref(), &text, || answer.json(args.top))
}

/// Writes an answer as `text`, as the document to a file, or both.
fn tell(
    path: Option<&Path>,
    text: &str,
    document: impl FnOnce() -> Result<String, Error>,
) -> Result<(), Error> {
    let mut out = std::io::stdout().lock();
    let written = match path {
        Some(path) if path != Path::new("-") => {
            fewest::data::write_atomically(path, document()?.as_bytes())?;
            out.write_all(text.as_bytes())
        }
        Some(_) => out.write_all(document()?.as_bytes()),
        None => out.write_all(text.as_bytes()),
    };
    // A reader that closes the pipe early is no error.
    match written.and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(Error::Server {
            what: "stdout".to_owned(),
            problem: format!("{error}: write to a file by --json"),
        }),
        _ => Ok(()),
    }
}

/// The features in a table.
fn listed(selection: &Selection, run: &RunInfo, asked: Asked) -> String {
    let data = &run.data;
    let width = selection.order.iter().map(|&j| data.name(j).chars().count()).max().unwrap_or(0).max(7);
    let mut text = format!("{:>4}  {:<width$}  score\n", "rank", "feature");
    for (rank, (&j, score)) in selection.order.iter().zip(&selection.scores).enumerate() {
        text += &format!("{:>4}  {:<width$}  {score}\n", rank + 1, data.name(j));
    }
    let passes = |n: usize| if n == 1 { "1 pass".to_owned() } else { format!("{n} passes") };
    let before = match asked.resumed {
        0 => String::new(),
        n => format!(" after {} of --resume", passes(n)),
    };
    text += &format!(
        "{} by {}: {}{before} over {} rows in {:.2} s; {} bytes sent to tasks, {} bytes received\n",
        data.file,
        run.method.id,
        passes(asked.passes),
        data.n_samples,
        run.seconds,
        asked.bytes.0,
        asked.bytes.1
    );
    data.missing_done.iter().chain(&selection.notes).for_each(|note| text += &format!("note: {note}\n"));
    text
}
