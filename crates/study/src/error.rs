//! Why there is no study.

use std::fmt;
use std::path::PathBuf;

use fewest::core::Status;
use fewest::eval::ExperimentError;

use crate::catalogue::TargetKind;

/// Why a study cannot be made, or has no result. Every message is one line.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A parameter or data that no method can work with.
    #[error(transparent)]
    Core(#[from] fewest::core::Error),
    /// A method or metric that is listed twice.
    #[error("{what} {id} is listed twice: once is enough")]
    Twice {
        /// `method`, `metric`.
        what: &'static str,
        /// Its id.
        id: String,
    },
    /// Samples are to be divided not once.
    #[error("repeats is 0: divide the samples at least once")]
    NoRepeats,
    /// A division without chance, several times.
    #[error(
        "to leave out one group at a time gives the same folds each time: give a number of folds, or 1 repeat"
    )]
    SameFolds,
    /// A share of test samples out of range.
    #[error("the share held out is {0}, but must be above 0 and below 1")]
    Share(f64),
    /// Folds that together take too much memory.
    #[error(
        "{repeats} repeats: folds of {n_samples} samples take more than 1 GiB together: give fewer repeats, \
         or fewer folds"
    )]
    TooManyFolds {
        /// How many times the samples are to be divided.
        repeats: usize,
        /// How many samples there are.
        n_samples: usize,
    },
    /// A method that has no use for the target.
    #[error(
        "{method} needs {} as target, but the target is {}: take another method",
        known(needs),
        found.name()
    )]
    Method {
        /// The method's id.
        method: &'static str,
        /// The targets it works with.
        needs: &'static [TargetKind],
        /// The target there is.
        found: TargetKind,
    },
    /// A learner or metric that is not for the target.
    #[error("{id} is not for {} as target: take one of {}", target.name(), instead.join(", "))]
    NotForTarget {
        /// `learner`, `metric`.
        what: &'static str,
        /// Its id.
        id: &'static str,
        /// The target there is.
        target: TargetKind,
        /// The ids of those that are for it.
        instead: Vec<&'static str>,
    },
    /// A class that cannot be both learnt and judged.
    #[error(
        "class `{0}` has 1 sample, which cannot be in training and test samples: leave it out, or put it \
         into another class"
    )]
    SingleSample(String),
    /// A sample that is of no group.
    #[error("sample {row} (counted from 0) is of no group of `{name}`: name one, or leave the sample out")]
    NoGroup {
        /// What the groups are called.
        name: String,
        /// The sample.
        row: usize,
    },
    /// A file of finished folds that cannot be read.
    #[error(transparent)]
    Unreadable(fewest::data::Error),
    /// A file that holds something else than finished folds.
    #[error("{}: holds no finished folds of this program ({source}): give another name", path.display())]
    NoFolds {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// Finished folds of another study.
    #[error(
        "{}: the file holds folds of another evaluation ({mismatch}): repeat that one, or name a new file",
        path.display()
    )]
    OtherFolds {
        /// The file.
        path: PathBuf,
        /// What is different.
        mismatch: Mismatch,
    },
    /// Finished folds of a method that are not what the same study would have stored.
    #[error("the finished folds of {method} are {found}: repeat the evaluation that stored them")]
    BrokenFolds {
        /// The method's id.
        method: &'static str,
        /// What they are.
        found: String,
    },
    /// A fold that failed.
    #[error("{method}: {source}")]
    Fold {
        /// The method's id.
        method: &'static str,
        /// Which fold, where in it, and why.
        source: Box<ExperimentError>,
    },
    /// A stop came before any fold was finished.
    #[error("{} before a fold was finished", why(*.0))]
    NothingFinished(Status),
    /// A document that cannot be written.
    #[error("the answer cannot be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
}

/// What stored folds were made with that a study is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mismatch {
    /// The data, the division of the samples or the parameters of the learner.
    Data,
    /// The numbers of features.
    Ks,
    /// The learner.
    Learner,
    /// The metrics.
    Metrics,
    /// The seed.
    Seed,
    /// Features were selected that the data do not have.
    Features,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Mismatch::Data => "other data, samples divided otherwise, or other parameters of the learner",
            Mismatch::Ks => "other numbers of features",
            Mismatch::Learner => "another learner",
            Mismatch::Metrics => "other metrics",
            Mismatch::Seed => "another seed",
            Mismatch::Features => "features that do not exist",
        })
    }
}

fn why(stopped: Status) -> &'static str {
    if stopped == Status::Interrupted { "interrupted" } else { "the time was up" }
}

fn known(targets: &[TargetKind]) -> String {
    let names: Vec<&str> = targets.iter().map(|target| target.name()).collect();
    names.join(" or ")
}
