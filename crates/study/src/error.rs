//! Errors of studies.

use std::fmt;
use std::path::PathBuf;

use fewest::core::Status;
use fewest::eval::{ClassScoring, ExperimentError};

use crate::catalogue::TargetKind;

/// Why a study cannot be run, or has no result. Every message is one line.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A wrong parameter or wrong data.
    #[error(transparent)]
    Core(#[from] fewest::core::Error),
    /// A method or metric that is listed twice.
    #[error("{what} {id} is listed twice: list it once")]
    Twice {
        /// `method`, `metric`.
        what: &'static str,
        /// Its id.
        id: String,
    },
    /// Zero repeats.
    #[error("repeats is 0: divide the samples at least once")]
    NoRepeats,
    /// Several repeats of a division that is not random.
    #[error(
        "leaving out one group at a time gives the same folds each time: use a number of folds, or 1 repeat"
    )]
    SameFolds,
    /// A share of test samples out of range.
    #[error("the share held out is {0}, but must be above 0 and below 1")]
    Share(f64),
    /// Folds that together take too much memory.
    #[error(
        "{repeats} repeats: folds of {n_samples} samples need more than 1 GiB in total: use fewer repeats, \
         or fewer folds"
    )]
    TooManyFolds {
        /// The number of repeats.
        repeats: usize,
        /// The number of samples.
        n_samples: usize,
    },
    /// A method that does not support the target.
    #[error(
        "{method} needs {} as target, but the target is {}: use another method",
        known(needs),
        found.name()
    )]
    Method {
        /// The method's id.
        method: &'static str,
        /// The targets it works with.
        needs: &'static [TargetKind],
        /// The given target.
        found: TargetKind,
    },
    /// A learner or metric that does not support the target.
    #[error("{id} does not support {} as target: use one of {}", target.name(), instead.join(", "))]
    NotForTarget {
        /// `learner`, `metric`.
        what: &'static str,
        /// Its id.
        id: &'static str,
        /// The given target.
        target: TargetKind,
        /// The ids of learners or metrics that support it.
        instead: Vec<&'static str>,
    },
    /// A metric that needs more than the learner says of the classes.
    #[error(
        "{metric} needs {}, which {learner} does not give: use one of {}",
        scoring_text(*needs), instead.join(", ")
    )]
    NoScores {
        /// The metric's id.
        metric: &'static str,
        /// What it needs.
        needs: ClassScoring,
        /// The learner's id.
        learner: &'static str,
        /// The ids of learners that give it for this target.
        instead: Vec<&'static str>,
    },
    /// A class with too few samples for training and testing.
    #[error(
        "class `{0}` has 1 sample, which cannot be in training and test samples: leave it out, or put it \
         into another class"
    )]
    SingleSample(String),
    /// A sample without a group.
    #[error("sample {row} (counted from 0) has no group of `{name}`: add one, or remove the sample")]
    NoGroup {
        /// The name of the groups.
        name: String,
        /// The sample.
        row: usize,
    },
    /// A file of finished folds that cannot be read, or not as it was written.
    #[error(transparent)]
    Unreadable(fewest::data::Error),
    /// A file that contains something else than finished folds.
    #[error("{}: contains no finished folds of this program ({source}): name a new file", path.display())]
    NoFolds {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// Finished folds of another study.
    #[error(
        "{}: the file contains folds of another evaluation ({mismatch}): repeat that one, or name a new file",
        path.display()
    )]
    OtherFolds {
        /// The file.
        path: PathBuf,
        /// What is different.
        mismatch: Mismatch,
    },
    /// Finished folds of a method that this study would not have stored.
    #[error("the finished folds of {method} are {found}: repeat the evaluation that stored them")]
    BrokenFolds {
        /// The method's id.
        method: &'static str,
        /// What they are.
        found: String,
    },
    /// A method that is to decide the number of features, and does not.
    #[error(
        "{method} does not decide the number of features by itself: give numbers{}",
        deciding.iter().map(|name| format!(", or the parameter {name}")).collect::<String>()
    )]
    NoOwnNumber {
        /// The method's id.
        method: &'static str,
        /// The parameters that decide the number.
        deciding: Vec<&'static str>,
    },
    /// Methods with different covariates: their learners would know different things.
    #[error(
        "{first} and {second} have different {what}: methods that are compared need the same ones (on the command \
         line: --{what})"
    )]
    OtherTerms {
        /// `covariates` or `offset`.
        what: &'static str,
        /// A method's id.
        first: &'static str,
        /// The other one's.
        second: &'static str,
    },
    /// A number of features above that of those that can be selected.
    #[error(
        "the number of features is {k}, but must be at most {selectable}: of {n_features} features {left_out} are \
         covariates or offset, which are not selected"
    )]
    NotSelectable {
        /// The number.
        k: usize,
        /// How many can be selected.
        selectable: usize,
        /// How many there are.
        n_features: usize,
        /// How many are covariates or offset.
        left_out: usize,
    },
    /// A fold that failed.
    #[error("{method}: {source}")]
    Fold {
        /// The method's id.
        method: &'static str,
        /// The fold, the step in it, and the error.
        source: Box<ExperimentError>,
    },
    /// A stop came before any fold was finished.
    #[error("{} before a fold was finished", why(*.0))]
    NothingFinished(Status),
    /// Input of a stream that cannot be read, or with a line that cannot be used.
    #[error(transparent)]
    Input(fewest::data::Error),
    /// A line of a stream that the method refuses.
    #[error("{}: line {line}: {source}", path.display())]
    AtLine {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// What the method says.
        source: fewest::core::Error,
    },
    /// A stream whose first samples, which decide what the classes are, have one class only.
    #[error(
        "{}: the first {n_first} samples all have the class `{class}`, but at least two classes are needed: let more \
         samples decide (on the command line: --first-rows), mix the lines, or name another target", path.display()
    )]
    OneClass {
        /// The file.
        path: PathBuf,
        /// The class.
        class: String,
        /// The number of samples that decided.
        n_first: usize,
    },
    /// Links of samples that have no names.
    #[error(
        "{}: the samples have no names, by which links are given: start the file with a line of their names",
        .0.display()
    )]
    NoSampleNames(PathBuf),
    /// A stream without a line of values.
    #[error("{}: nothing arrived: check how the lines are made", .0.display())]
    NothingArrived(PathBuf),
    /// A stream that was stopped before a line of values came.
    #[error("{} before anything arrived", why(*.0))]
    NothingArrivedBefore(Status),
    /// Lines that are not those that a checkpoint was made of.
    #[error(
        "{}: the first {lines} lines of values are not those that the checkpoint was made of: give the same data \
         from their start, or name a new file for the checkpoint", path.display()
    )]
    OtherLines {
        /// The file that was read.
        path: PathBuf,
        /// The number of lines that had been used.
        lines: u64,
    },
    /// A checkpoint that cannot be read, was changed, or cannot be written.
    #[error(transparent)]
    Checkpoint(fewest::data::Error),
    /// A file that is no checkpoint.
    #[error("{}: this is no checkpoint of a stream: name a new file", .0.display())]
    NoCheckpoint(PathBuf),
    /// A checkpoint of another command.
    #[error(
        "{}: this is the checkpoint of another command ({what} {saved}, not {own}): repeat that command, or name a new \
         file", path.display()
    )]
    OtherCommand {
        /// The file of the checkpoint.
        path: PathBuf,
        /// What is different: `--method`, `--param alpha`.
        what: String,
        /// As it was.
        saved: String,
        /// As it is.
        own: String,
    },
    /// A document that does not say how to make the selected features from other rows.
    #[error("this is no result of a selection that can be applied: write one by `fewest select --json`")]
    NoReduction,
    /// A document whose part about making the selected features from other rows is of another shape.
    #[error("its `reduction` is not as `fewest select --json` writes it: {0}: write the result again")]
    WrongReduction(serde_json::Error),
    /// A document that cannot be written or read.
    #[error("the result is not valid JSON: {0}")]
    Json(#[from] serde_json::Error),
}

/// The difference between stored folds and the study.
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
    /// Selected features that the data do not have.
    Features,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Mismatch::Data => {
                "other data, another division of the samples, or other parameters of the learner"
            }
            Mismatch::Ks => "other numbers of features",
            Mismatch::Learner => "another learner",
            Mismatch::Metrics => "other metrics",
            Mismatch::Seed => "another seed",
            Mismatch::Features => "features that do not exist",
        })
    }
}

fn scoring_text(needs: ClassScoring) -> &'static str {
    match needs {
        ClassScoring::Probabilities => "probabilities of the classes",
        _ => "scores of the classes",
    }
}

/// What stopped it, in words.
pub(crate) fn why(stopped: Status) -> &'static str {
    if stopped == Status::Interrupted { "interrupted" } else { "time limit reached" }
}

fn known(targets: &[TargetKind]) -> String {
    let names: Vec<&str> = targets.iter().map(|target| target.name()).collect();
    names.join(" or ")
}
