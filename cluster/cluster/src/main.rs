//! The command `fewest-cluster`.

use std::io::Write;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};
use fewest::data::{Missing, Task};
use fewest_cluster::{
    Answer, Cluster, Error, ExecutorOptions, SchedulerOptions, Secret, Table, executor, scheduler, select,
};
use futures::future::{FutureExt, select_all};

/// The exit status of wrong arguments or data.
const STATUS_WRONG: u8 = 2;

/// Stack of a thread: plans are walked by functions that call themselves.
const STACK: usize = 32 << 20;

/// Feature selection on many machines: the features and scores of `fewest select`, with the same bits
///
/// A scheduler hands tasks to executors, which read some of the rows each: all machines need the table at the
/// same path, or the credentials of an object store in their environment (AWS_ACCESS_KEY_ID and others).
/// Everything listens on the loopback interface unless --bind says otherwise. What goes over the network is
/// not encrypted, and the scheduler asks nobody who they are: bind to networks that you trust. With a
/// --secret executors compute for those only who have it; without one they open any table that is asked for,
/// and listen on the loopback interface only.
#[derive(Parser)]
#[command(name = "fewest-cluster", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Start a scheduler
    Scheduler(SchedulerArgs),
    /// Start an executor, on each machine that is to compute
    Executor(ExecutorArgs),
    /// Start a scheduler and executors in one process, to try it on one machine
    Local(LocalArgs),
    /// Select features of a table by a cluster
    Select(SelectArgs),
}

#[derive(Args)]
struct SchedulerArgs {
    /// The address to listen on; all machines that reach it can give it work. Others than the loopback
    /// interface need --secret
    #[arg(long, default_value = "127.0.0.1")]
    bind: IpAddr,
    /// The port
    #[arg(long, default_value_t = 50050)]
    port: u16,
    /// Seconds without a sign of life after which an executor is lost
    #[arg(long, value_name = "SECONDS", default_value_t = 15, value_parser = clap::value_parser!(u64).range(1..))]
    lost_after: u64,
    /// The file with the secret of the executors, who look at it: the scheduler itself takes any work
    #[arg(long, value_name = "FILE")]
    secret: Option<PathBuf>,
}

#[derive(Args)]
struct ExecutorArgs {
    /// The scheduler
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:50050", value_parser = host_and_port)]
    scheduler: (String, u16),
    /// The address to listen on; others than the loopback interface need --secret
    #[arg(long, default_value = "127.0.0.1")]
    bind: IpAddr,
    /// The port; the next one is used, too
    #[arg(long, default_value_t = 50051)]
    port: u16,
    /// The name or address by which other machines reach this one [default: that of --bind]
    #[arg(long)]
    host: Option<String>,
    #[command(flatten)]
    work: WorkArgs,
}

#[derive(Args)]
struct WorkArgs {
    /// Tasks at a time; 0: as many as there are cores
    #[arg(long, value_name = "N", default_value_t = 0)]
    slots: usize,
    /// Seconds between signs of life
    #[arg(long, value_name = "SECONDS", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..))]
    interval: u64,
    /// A file with a secret: only requests of those who have the same are answered
    #[arg(long, value_name = "FILE")]
    secret: Option<PathBuf>,
    /// Milliseconds to wait before each task, to see what happens when an executor ends within
    #[arg(long, value_name = "MILLISECONDS", default_value_t = 0, hide = true)]
    pause: u64,
}

#[derive(Args)]
struct LocalArgs {
    /// The number of executors
    #[arg(value_parser = clap::value_parser!(u16).range(1..=1000))]
    executors: u16,
    /// The port of the scheduler; executors use the next ones, two each
    #[arg(long, default_value_t = 50050)]
    port: u16,
    #[command(flatten)]
    work: WorkArgs,
}

#[derive(Args)]
struct SelectArgs {
    /// A file or a folder of files, which all machines have at this path: Parquet, Arrow, .npy or CSV; or
    /// s3://BUCKET/KEY, of an object or of all below it: Parquet or Arrow
    path: PathBuf,
    /// The scheduler
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:50050")]
    cluster: String,
    /// The column of the target; may be repeated [default: one called target, label, class or y, or the last]
    #[arg(long, value_name = "NAME")]
    target: Vec<String>,
    /// The kind of target: auto, classification or regression
    #[arg(long, default_value = "auto", value_parser = task)]
    task: Task,
    /// A column to leave out, such as id or GENE*; may be repeated
    #[arg(long, value_name = "NAME")]
    ignore: Vec<String>,
    /// A column of numbers that are categories; may be repeated
    #[arg(long, value_name = "NAME")]
    categorical: Vec<String>,
    /// What to do about missing values: error, or drop-rows to leave out rows that have one
    #[arg(long, default_value = "error", value_parser = missing)]
    missing: Missing,
    /// The method, by the name that `fewest methods` lists
    #[arg(short, long)]
    method: String,
    /// A parameter of the method; may be repeated
    #[arg(short, long, value_name = "NAME=VALUE")]
    param: Vec<String>,
    /// How many features [default: 10]
    #[arg(short, value_name = "N")]
    k: Option<usize>,
    /// Write the result as JSON to this file, or to stdout for -
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Parts in which rows are summed at most; 64 or fewer where products are summed [default: 64; 4 for
    /// text, which each reads from the start]
    #[arg(long, value_name = "N", value_parser = positive)]
    tasks: Option<usize>,
    /// MiB of memory that a task may use
    #[arg(long, value_name = "MIB", default_value_t = 1024)]
    memory: u64,
    /// Seconds that a pass over the rows may take
    #[arg(long, value_name = "SECONDS", default_value_t = 3600)]
    pass_limit: u64,
    /// A folder that keeps the sums of finished passes: the same command continues after them
    #[arg(long, value_name = "FOLDER")]
    resume: Option<PathBuf>,
    /// The file with the secret of the executors
    #[arg(long, value_name = "FILE")]
    secret: Option<PathBuf>,
}

fn positive(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| "give a whole number of at least 1".to_owned())
}

fn host_and_port(text: &str) -> Result<(String, u16), String> {
    let found = text.rsplit_once(':').and_then(|(host, port)| Some((host.to_owned(), port.parse().ok()?)));
    found
        .filter(|(host, _)| !host.is_empty())
        .ok_or_else(|| "give HOST:PORT, such as 127.0.0.1:50050".to_owned())
}

fn task(text: &str) -> Result<Task, String> {
    match text.parse() {
        Ok(Task::Survival) => Err("survival times need the whole table: use `fewest select`".to_owned()),
        Ok(task) => Ok(task),
        Err(_) => Err("give auto, classification or regression".to_owned()),
    }
}

fn missing(text: &str) -> Result<Missing, String> {
    match text.parse() {
        Ok(missing @ (Missing::Error | Missing::DropRows)) => Ok(missing),
        _ => Err("give error or drop-rows: other policies need the whole table".to_owned()),
    }
}

fn main() -> ExitCode {
    fewest_arrow::hush_decoders();
    let done = match Cli::parse().command {
        Command::Scheduler(args) => start_scheduler(&args),
        Command::Executor(args) => start_executor(&args),
        Command::Local(args) => local(&args),
        Command::Select(args) => answer(&args),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "fewest-cluster: {error}");
            ExitCode::from(STATUS_WRONG)
        }
    }
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

fn answer(args: &SelectArgs) -> Result<(), Error> {
    let cluster = Cluster {
        secret: secret(args.secret.as_deref())?,
        tasks: args.tasks,
        memory: args.memory.saturating_mul(1 << 20),
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
    let answer = select(&cluster, &table, &args.method, &args.param, args.k)?;
    let mut out = std::io::stdout().lock();
    let written = match args.json.as_deref() {
        Some(path) if path != Path::new("-") => {
            fewest::data::write_atomically(path, answer.json()?.as_bytes())?;
            out.write_all(listed(&answer).as_bytes())
        }
        Some(_) => out.write_all(answer.json()?.as_bytes()),
        None => out.write_all(listed(&answer).as_bytes()),
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
fn listed(answer: &Answer) -> String {
    let (selection, asked, data) = (&answer.selection, answer.asked, &answer.run.data);
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
        answer.run.method.id,
        passes(asked.passes),
        data.n_samples,
        answer.run.seconds,
        asked.bytes.0,
        asked.bytes.1
    );
    data.missing_done.iter().chain(&selection.notes).for_each(|note| text += &format!("note: {note}\n"));
    text
}
