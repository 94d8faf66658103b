//! Errors that end the program.

use std::fmt;
use std::path::Path;

use fewest::core::Status;

use crate::text;

/// Exit status for wrong arguments or data.
pub(crate) const STATUS_WRONG: u8 = 2;
/// Exit status after Ctrl-C, as shells expect it.
pub(crate) const STATUS_INTERRUPTED: u8 = 130;
/// Exit status of a run that the time limit cut short, as that of `timeout`.
pub(crate) const STATUS_TIME_LIMIT: u8 = 124;

/// Wrong arguments or data, in one line that says what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    message: String,
    status: u8,
}

impl Failure {
    /// With this message.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), status: STATUS_WRONG }
    }

    /// Ctrl-C came before there was a result.
    pub(crate) fn interrupted() -> Self {
        Self { message: "interrupted before there was a result".to_owned(), status: STATUS_INTERRUPTED }
    }

    /// Ctrl-C came while files were read.
    pub(crate) fn interrupted_early() -> Self {
        Self { message: "interrupted while files were read".to_owned(), status: STATUS_INTERRUPTED }
    }

    /// The time limit came while files were read.
    pub(crate) fn too_late_to_read() -> Self {
        Self::too_late("the limit was reached while files were read: allow more time")
    }

    /// Ctrl-C came before an output was written; the result is there.
    pub(crate) fn interrupted_before(output: &str) -> Self {
        Self {
            message: format!("{output}: not written, since it was interrupted"),
            status: STATUS_INTERRUPTED,
        }
    }

    /// The time limit came before there was a result.
    fn too_late(message: impl Into<String>) -> Self {
        Self { message: format!("--time-limit: {}", message.into()), status: STATUS_TIME_LIMIT }
    }

    /// `-k auto` for a method that decides the number only by a parameter of `deciding`, or not at all.
    pub(crate) fn no_number(method: &str, deciding: &[&str]) -> Self {
        let deciding: String = deciding.iter().map(|name| format!(" or --param {name}")).collect();
        Self::new(format!(
            "-k auto: {method} does not decide the number of features by itself: give -k N{deciding}; \
             `fewest evaluate` without -k measures which N predicts best"
        ))
    }

    /// `-k` above the number of features that can be selected, which are not all.
    pub(crate) fn too_many(k: usize, selectable: usize, n_features: usize) -> Self {
        let features = text::counted(n_features, "feature", "features");
        Self::new(match selectable {
            0 => format!(
                "nothing is left to be selected: all of {features} are covariates or offset: name fewer of them"
            ),
            _ => format!(
                "-k is {k}, but must be at most {selectable}: of {features}, {} given as covariates or offset, \
                 which are not selected",
                match n_features - selectable {
                    1 => "1 is".to_owned(),
                    left_out => format!("{left_out} are"),
                }
            ),
        })
    }

    /// The exit status.
    pub(crate) fn status(&self) -> u8 {
        self.status
    }

    /// An error of the core about the data of `file`.
    ///
    /// An error in a parameter does not come from the file, so only the other errors name the file.
    pub(crate) fn in_file(file: &Path, error: &fewest::core::Error) -> Self {
        match error {
            fewest::core::Error::InvalidParameter { name: "k", .. } => Self::from(error.clone()),
            fewest::core::Error::InvalidParameter { .. }
            | fewest::core::Error::Unsupported { .. }
            | fewest::core::Error::Indefinite { .. } => Self::new(error.to_string()),
            fewest::core::Error::Stopped { .. } => Self::too_late(error.to_string()),
            fewest::core::Error::UnsupportedTarget { found, .. } if found == "missing" => {
                Self::new(format!("{}: {error}: name its column with --target", file.display()))
            }
            fewest::core::Error::UnsupportedTarget { .. } => Self::new(format!(
                "{}: {error}: use another method (`fewest methods ID` shows its targets), or set the kind of \
                 target with --task",
                file.display()
            )),
            fewest::core::Error::TooFew { what, .. } => {
                let check = match *what {
                    "samples" | "features" => {
                        ": check that samples are rows, and the options --delimiter, --header and --ignore"
                    }
                    "counts above 0" => ": check --target and --task",
                    _ if what.contains("class") || what.contains("target") => {
                        ": check --target and --task, and in which rows the target is missing"
                    }
                    _ => "",
                };
                Self::new(format!("{}: {error}{check}", file.display()))
            }
            _ => Self::new(format!("{}: {error}", file.display())),
        }
    }
}

impl Failure {
    /// An error of a study of the data of `file`, in terms of the command line arguments.
    pub(crate) fn in_study(file: &Path, error: &fewest_study::Error) -> Self {
        use fewest_study::{Error, Mismatch};
        let shown = file.display();
        Self::new(match error {
            Error::Core(fewest::core::Error::InvalidParameter { name: "folds", value, expected }) => {
                format!("--folds is {value}, but must be {expected}")
            }
            Error::Core(error) => return Self::in_file(file, error),
            Error::Twice { what, id } => {
                let option = if *what == "method" { "--methods" } else { "--metric" };
                format!("{option}: {id} is listed twice: list it once")
            }
            Error::NoRepeats => format!("--{error}"),
            Error::SameFolds => {
                "--repeats: leaving out one group at a time gives the same folds each time: add --folds"
                    .to_owned()
            }
            Error::Share(share) => format!("--test-share is {share}, but must be above 0 and below 1"),
            Error::TooManyFolds { repeats, n_samples } => format!(
                "--repeats is {repeats}: folds of {} samples need more than 1 GiB in total: use fewer \
                 repeats, or fewer folds",
                text::count(*n_samples)
            ),
            Error::Method { .. } => format!(
                "{error} (`fewest methods ID` shows its targets), or set the kind of target with --task"
            ),
            Error::NotForTarget { what, id, target, instead } => format!(
                "--{what}: {id} does not support the target of {shown}, {}: use one of {} (or set the kind of \
                 target with --task)",
                target.name(),
                instead.join(", ")
            ),
            Error::NoScores { .. } => format!("--metric: {error} (--learner)"),
            Error::SingleSample(_) => format!("{shown}: {error}"),
            Error::NoGroup { name, row } => format!(
                "{shown}: --group-column {name}: sample {row} (counted from 0) has no group: add one, or \
                 remove the sample"
            ),
            Error::Unreadable(_) | Error::NoFolds { .. } => format!("--resume {error}"),
            Error::OtherFolds { path, mismatch } => {
                let difference = match mismatch {
                    Mismatch::Data => {
                        "other data, another division of the samples, or another --learner-param".to_owned()
                    }
                    other => other.to_string(),
                };
                format!(
                    "--resume {}: the file contains folds of another evaluation ({difference}): repeat the command \
                     of that evaluation, or name a new file",
                    path.display()
                )
            }
            Error::BrokenFolds { method, found } => format!(
                "--resume: the folds of {method} in the file are {found}: repeat the command that wrote it, or \
                 name a new file"
            ),
            &Error::NotSelectable { k, selectable, n_features, .. } => {
                return Self::too_many(k, selectable, n_features);
            }
            Error::OtherTerms { what, first, second } => format!(
                "{first} and {second} have different {what}: to compare methods, give the same ones to all by \
                 --{what}"
            ),
            Error::NoOwnNumber { method, deciding } => return Self::no_number(method, deciding),
            Error::Fold { .. } => format!("{shown}: {error}"),
            Error::NothingFinished(Status::Interrupted) => return Self::interrupted(),
            Error::NothingFinished(_) => {
                return Self::too_late("the limit was reached before a fold was finished: allow more time");
            }
            Error::NothingArrivedBefore(Status::Interrupted) => return Self::interrupted(),
            Error::NothingArrivedBefore(_) => {
                return Self::too_late("the limit was reached before anything arrived: allow more time");
            }
            Error::Input(error) => return crate::input::wrong_file(error),
            Error::Checkpoint(_) | Error::NoCheckpoint(_) | Error::OtherCommand { .. } => {
                format!("--checkpoint {error}")
            }
            Error::Json(_) => format!("--json: {error}"),
            other => other.to_string(),
        })
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&text::one_line(&self.message))
    }
}

impl From<fewest::core::Error> for Failure {
    fn from(error: fewest::core::Error) -> Self {
        match &error {
            // No --param, but an option.
            fewest::core::Error::InvalidParameter { name: "k", value, expected } => {
                Self::new(format!("-k is {value}, but must be {expected}"))
            }
            fewest::core::Error::InvalidParameter { name: "method", value, expected } => {
                Self::new(format!("there is no method `{value}`: it must be {expected}"))
            }
            // The example that the library has may be of another method.
            fewest::core::Error::InvalidParameter { name: "param", value, .. } => Self::new(format!(
                "--param is {value}, but must be NAME=VALUE: `fewest methods ID` shows the names of a method"
            )),
            _ => Self::new(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_one_line() {
        assert_eq!(Failure::new("no column `a\nb`").to_string(), "no column `a\\nb`");
    }

    #[test]
    fn errors_of_the_data_name_the_file_and_errors_of_the_call_do_not() {
        let shape = fewest::core::Error::TooFew { what: "samples", minimum: 2, found: 1 };
        let told = Failure::in_file(Path::new("x.csv"), &shape).to_string();
        assert!(told.starts_with("x.csv: samples") && told.contains("--delimiter"), "{told}");
        let target = fewest::core::Error::UnsupportedTarget {
            method: "m",
            expected: "classes",
            found: "1 real output".to_owned(),
        };
        assert!(Failure::in_file(Path::new("x.csv"), &target).to_string().contains("--task"));
        let parameter = fewest::core::Error::parameter("k", 0, "at least 1");
        assert!(
            Failure::in_file(Path::new("x.csv"), &parameter).to_string().starts_with("-k is 0, but must be")
        );
    }
}
