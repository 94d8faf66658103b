//! The arguments of the command.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use fewest::data::{Missing, Task, bytes_of};

/// Feature selection on many machines: the answers of `fewest select` and `fewest score`, with the same bits
///
/// A scheduler hands tasks to executors, which read some of the rows each: all machines need the table at the
/// same path, or the credentials of an object store in their environment (AWS_ACCESS_KEY_ID and others).
/// Everything listens on the loopback interface unless --bind says otherwise. What goes over the network is
/// not encrypted, and the scheduler asks nobody who they are: bind to networks that you trust. With a
/// --secret executors compute for those only who have it; without one they open any table that is asked for,
/// and listen on the loopback interface only.
#[derive(Parser)]
#[command(name = "fewest-cluster", version)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Start a scheduler
    Scheduler(SchedulerArgs),
    /// Start an executor, on each machine that is to compute
    Executor(ExecutorArgs),
    /// Start a scheduler and executors in one process, to try it on one machine
    Local(LocalArgs),
    /// Select features of a table by a cluster
    Select(SelectArgs),
    /// Score all features of a table by a cluster
    ///
    /// By methods that score each feature by itself; others say so, and what to do.
    Score(ScoreArgs),
}

#[derive(Args)]
pub(crate) struct SchedulerArgs {
    /// The address to listen on; all machines that reach it can give it work. Others than the loopback
    /// interface need --secret
    #[arg(long, default_value = "127.0.0.1")]
    pub(crate) bind: IpAddr,
    /// The port
    #[arg(long, default_value_t = 50050)]
    pub(crate) port: u16,
    /// Seconds without a sign of life after which an executor is lost
    #[arg(long, value_name = "SECONDS", default_value_t = 15, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) lost_after: u64,
    /// The file with the secret of the executors, who look at it: the scheduler itself takes any work
    #[arg(long, value_name = "FILE")]
    pub(crate) secret: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct ExecutorArgs {
    /// The scheduler
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:50050", value_parser = host_and_port)]
    pub(crate) scheduler: (String, u16),
    /// The address to listen on; others than the loopback interface need --secret
    #[arg(long, default_value = "127.0.0.1")]
    pub(crate) bind: IpAddr,
    /// The port; the next one is used, too
    #[arg(long, default_value_t = 50051)]
    pub(crate) port: u16,
    /// The name or address by which other machines reach this one [default: that of --bind]
    #[arg(long)]
    pub(crate) host: Option<String>,
    #[command(flatten)]
    pub(crate) work: WorkArgs,
}

#[derive(Args)]
pub(crate) struct WorkArgs {
    /// Tasks at a time; 0: as many as there are cores
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) slots: usize,
    /// Seconds between signs of life
    #[arg(long, value_name = "SECONDS", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) interval: u64,
    /// A file with a secret: only requests of those who have the same are answered
    #[arg(long, value_name = "FILE")]
    pub(crate) secret: Option<PathBuf>,
    /// Milliseconds to wait before each task, to see what happens when an executor ends within
    #[arg(long, value_name = "MILLISECONDS", default_value_t = 0, hide = true)]
    pub(crate) pause: u64,
}

#[derive(Args)]
pub(crate) struct LocalArgs {
    /// The number of executors
    #[arg(value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) executors: u16,
    /// The port of the scheduler; executors use the next ones, two each
    #[arg(long, default_value_t = 50050)]
    pub(crate) port: u16,
    #[command(flatten)]
    pub(crate) work: WorkArgs,
}

/// What is asked, of which table, and of which cluster.
#[derive(Args)]
pub(crate) struct QuestionArgs {
    /// A file or a folder of files, which all machines have at this path: Parquet, Arrow, .npy or CSV; or
    /// s3://BUCKET/KEY, of an object or of all below it: Parquet or Arrow
    pub(crate) path: PathBuf,
    /// The scheduler
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:50050")]
    pub(crate) cluster: String,
    /// The column of the target, or several, separated by commas [default: one called target, label, class or
    /// y, or the last]
    #[arg(short, long, value_name = "COLUMN", value_delimiter = ',')]
    pub(crate) target: Vec<String>,
    /// The kind of target: auto, classification or regression
    #[arg(long, default_value = "auto", value_parser = task)]
    pub(crate) task: Task,
    /// Columns to leave out, such as id or GENE*
    #[arg(long, value_name = "COLUMN,…", value_delimiter = ',')]
    pub(crate) ignore: Vec<String>,
    /// Columns of numbers that are categories
    #[arg(long, value_name = "COLUMN,…", value_delimiter = ',')]
    pub(crate) categorical: Vec<String>,
    /// What to do about missing values: error, or drop-rows to leave out rows that have one
    #[arg(long, default_value = "error", value_parser = missing)]
    pub(crate) missing: Missing,
    /// The method, one of those that `fewest methods` lists
    #[arg(short, long, value_name = "ID", default_value = "hsic-lasso")]
    pub(crate) method: String,
    /// A parameter of the method; may be repeated
    #[arg(short, long, value_name = "NAME=VALUE")]
    pub(crate) param: Vec<String>,
    /// Write the result as JSON to this file, or to stdout for -
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Parts in which rows are summed at most; 64 or fewer where products are summed [default: 64; 4 for
    /// text, which each reads from the start]
    #[arg(long, value_name = "N", value_parser = positive)]
    pub(crate) tasks: Option<usize>,
    /// Memory that a task may use, such as 1GiB or 500M
    #[arg(long, value_name = "SIZE", default_value = "1GiB", value_parser = bytes_of)]
    pub(crate) memory: u64,
    /// Seconds that a pass over the rows may take
    #[arg(long, value_name = "SECONDS", default_value_t = 3600)]
    pub(crate) pass_limit: u64,
    /// A folder that keeps the sums of finished passes: the same command continues after them
    #[arg(long, value_name = "FOLDER")]
    pub(crate) resume: Option<PathBuf>,
    /// The file with the secret of the executors
    #[arg(long, value_name = "FILE")]
    pub(crate) secret: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct SelectArgs {
    #[command(flatten)]
    pub(crate) question: QuestionArgs,
    /// How many features [default: 10, or as many as a parameter such as the penalty decides]
    #[arg(short, value_name = "N", value_parser = count)]
    pub(crate) k: Option<usize>,
}

#[derive(Args)]
pub(crate) struct ScoreArgs {
    #[command(flatten)]
    pub(crate) question: QuestionArgs,
    /// List only the best N features, in every output [default: all]
    ///
    /// q-values are over all features that were tested, also those that are not listed.
    #[arg(short = 'k', long, alias = "k", value_name = "N", value_parser = positive)]
    pub(crate) top: Option<usize>,
}

fn count(text: &str) -> Result<usize, String> {
    if text.eq_ignore_ascii_case("auto") {
        return Err("give a number, or leave -k out where a parameter decides it".to_owned());
    }
    positive(text)
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
