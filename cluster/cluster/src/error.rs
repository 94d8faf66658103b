//! What can go wrong on the way to an answer.

use std::net::IpAddr;
use std::time::Duration;

use crate::StoreFault;

/// Why there is no answer. Each message is one line that says what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No scheduler listens there.
    #[error(
        "--cluster {address}: no scheduler answers ({problem}): start one by `fewest-cluster scheduler`, or name the \
         machine and the port of one that runs"
    )]
    NoScheduler {
        /// The address.
        address: String,
        /// What the system says.
        problem: String,
    },
    /// A scheduler that was not started by this program.
    #[error(
        "--cluster {address}: this scheduler does not know the function {function}: start it by `fewest-cluster \
         scheduler`"
    )]
    OtherScheduler {
        /// The address.
        address: String,
        /// The function.
        function: &'static str,
    },
    /// An executor of another version.
    #[error(
        "an executor of the cluster has version {executor} of fewest, and this command version {own}, so that sums may \
         mean something else: start executors of version {own}"
    )]
    OtherVersion {
        /// That of the executor.
        executor: String,
        /// That of this program.
        own: String,
    },
    /// The executors have another secret, or none.
    #[error(
        "--secret: the executors of the cluster have {theirs}: give all of them and this command the same file"
    )]
    Secret {
        /// What they have.
        theirs: &'static str,
    },
    /// A secret that can be guessed.
    #[error("--secret: {length} bytes can be guessed: write at least {least} random ones")]
    ShortSecret {
        /// Its bytes.
        length: usize,
        /// The fewest.
        least: usize,
    },
    /// An address that others reach, and no secret.
    #[error(
        "--bind {address}: other machines reach this address, and could have any table here read: give --secret \
         FILE, the same to the scheduler, the executors, `select` and `score`"
    )]
    NoSecret {
        /// The address.
        address: IpAddr,
    },
    /// What an executor says of the rows that it reads, in the words of the reader.
    #[error("{0}")]
    Rows(String),
    /// A pass that took too long.
    #[error(
        "--pass-limit: a pass was not over after {} s: is an executor running (`fewest-cluster executor`)? If so, allow \
         more time",
        limit.as_secs_f64()
    )]
    TooLate {
        /// The time allowed.
        limit: Duration,
    },
    /// The cluster gave up.
    #[error(
        "the cluster did not finish a pass, {attempts} times: {problem}: look whether executors run, and have room \
         on the disk for temporary files (TMPDIR)"
    )]
    Query {
        /// How often it was asked.
        attempts: usize,
        /// What it says, in one line.
        problem: String,
    },
    /// A method that needs all rows at once, or is none.
    #[error(
        "--method: {method} does not run on a cluster: use `fewest {command}` on one machine, or one of the methods whose \
         passes are sums over the rows of parts: {able}"
    )]
    NotInParts {
        /// The method, as it was called.
        method: String,
        /// The command that was called: `select` or `score`.
        command: &'static str,
        /// Those that can.
        able: String,
    },
    /// A method that selects, where scores are asked for.
    #[error("--method: {method} {problem}")]
    NoScores {
        /// The method.
        method: &'static str,
        /// Why it gives none, and what to do.
        problem: String,
    },
    /// A table that cannot be read in parts.
    #[error("{path}: {problem}")]
    Table {
        /// The file or folder.
        path: String,
        /// What is wrong with it, and what to do.
        problem: String,
    },
    /// A table in an object store that cannot be read.
    #[error("{path}: {fault}")]
    Store {
        /// The address.
        path: String,
        /// Why not, and what to do.
        fault: StoreFault,
    },
    /// A server that could not start or go on.
    #[error("{what}: {problem}")]
    Server {
        /// `scheduler` or `executor`, with its address.
        what: String,
        /// What Ballista says, in one line.
        problem: String,
    },
    /// Wrong arguments.
    #[error(transparent)]
    Core(#[from] fewest::core::Error),
    /// A table that cannot be read.
    #[error(transparent)]
    Data(#[from] fewest::data::Error),
    /// An answer that cannot be written.
    #[error(transparent)]
    Study(#[from] fewest_study::Error),
}

/// The text in one line: what servers say may have several.
pub(crate) fn one_line(text: impl std::fmt::Display) -> String {
    text.to_string().split_whitespace().collect::<Vec<_>>().join(" ")
}
