//! The options of the reader.

use std::fmt;
use std::str::FromStr;

use crate::{Format, Formats, Missing, Reduction, Unknown};

/// How to read a file. `ReadOptions::default()` recognises the format, uses no column of a plain table as
/// target, and decides everything else by the rules given at each field.
///
/// # Naming columns
/// A column is given by a string: its name in the header, if it exists; otherwise its number in the file,
/// counted from 0; otherwise the word `last`. So a column named `3` has priority over column number 3.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadOptions {
    /// The formats that a file may have.
    pub formats: Formats,
    /// The format; `None` recognises it, see [`Table::read`](crate::Table::read).
    pub format: Option<Format>,
    /// Which column or variable is the target.
    pub target: TargetChoice,
    /// What kind of target it is.
    pub task: Task,
    /// Whether the first line of CSV and TSV files holds names.
    pub header: Header,
    /// The character between the cells of CSV and TSV files. `None`: what a line such as `sep=;` above the
    /// table tells, or a tab for `.tsv` and `.tab`, otherwise whichever of `,`, tab, `;` and `|` is most
    /// frequent in the first line outside quotes (the earlier one at a tie); commas between digits do not
    /// count if another of these occurs, since they are decimal marks.
    pub delimiter: Option<char>,
    /// The column with the names of the samples. `None`: a first column whose header is empty, as R and
    /// pandas write row names, and else none.
    pub id: Option<String>,
    /// The column with the weights of the samples: numbers of at least 0, one of them above. It is no
    /// feature.
    pub weights: Option<String>,
    /// The column with the group of each sample, such as its patient. It is no feature, and takes the place
    /// of the ids in the [`Dataset`](fewest_core::Dataset); links refer to the ids ([`Nodes::samples`]).
    ///
    /// [`Nodes::samples`]: crate::Nodes::samples
    pub sample_groups: Option<String>,
    /// Columns to leave out. In a name that no column has, `*` stands for any characters and `?` for one:
    /// `GENE*`. Of a transposed table, what names no line may name columns of the file that are no samples,
    /// such as a description of each gene.
    pub ignore: Vec<String>,
    /// Columns that are categories although they hold numbers; `*` and `?` as in [`ReadOptions::ignore`].
    pub categorical: Vec<String>,
    /// Read only these of the features, by their numbers among them, increasing; the others are left out. A
    /// [`reduction`](ReadOptions::reduction) says which itself.
    pub features: Option<Vec<usize>>,
    /// Read only the columns of this reduction, and no target: see [`Reduction::apply`]. Its first index and
    /// its cells that mean "missing" count; options that contradict them are an error.
    pub reduction: Option<Reduction>,
    /// Cells of text files that mean "missing": compared without regard to case and surrounding blanks, and
    /// by value where the token is a number (`-999` also matches `-999.0`). Default: the empty cell, `NA`,
    /// `N/A`, `NaN`, `null` and `?`. NaN is missing in any case.
    pub missing_tokens: Vec<String>,
    /// The encoding of a text file, by a name such as `latin1` or `utf-16le`; an error for other formats.
    /// `None`: UTF-16 where the file starts with a byte order mark, else UTF-8.
    pub encoding: Option<String>,
    /// Whether the lines of a CSV or TSV file are features and its columns are samples: the first column
    /// holds the names of the features, the first line those of the samples (unless [`Header::No`] says that
    /// it holds values).
    pub transpose: bool,
    /// The index of the first feature of svmlight files, 0 or 1; an error for other formats. `None`: 0 where
    /// an index of the file is 0, else 1.
    pub first_index: Option<usize>,
    /// The variable of `.mat` files that holds the features, samples by features (default: `X`), or the sheet
    /// of a workbook (default: the first); an error for formats without either.
    pub x_variable: Option<String>,
    /// Take the SHA-256 of a regular file, for [`Table::file_digest`](crate::Table::file_digest): it is then
    /// read twice, opened once.
    pub file_digest: bool,
    /// Read the file even if its values need more than half of the memory.
    pub allow_large: bool,
    /// Bytes of memory available; `None` asks the system, see
    /// [`physical_memory`](crate::physical_memory).
    pub memory: Option<u64>,
    /// Bytes that the values may take: half of the memory where this is `None`.
    pub room: Option<u64>,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            formats: Formats::standard(),
            format: None,
            target: TargetChoice::Auto,
            task: Task::Auto,
            header: Header::Auto,
            delimiter: None,
            id: None,
            weights: None,
            sample_groups: None,
            ignore: Vec::new(),
            categorical: Vec::new(),
            features: None,
            reduction: None,
            missing_tokens: usual_missing_tokens(),
            encoding: None,
            transpose: false,
            first_index: None,
            x_variable: None,
            file_digest: false,
            allow_large: false,
            memory: None,
            room: None,
        }
    }
}

/// The cells that mean "missing" where nobody says otherwise.
pub(crate) fn usual_missing_tokens() -> Vec<String> {
    ["", "NA", "N/A", "NaN", "null", "?"].map(str::to_owned).to_vec()
}

impl ReadOptions {
    /// The default with this column or variable as the target.
    ///
    /// ```
    /// use fewest_data::{ReadOptions, TargetChoice};
    /// assert_eq!(ReadOptions::with_target("last").target, TargetChoice::Columns(vec!["last".to_owned()]));
    /// ```
    pub fn with_target(column: impl Into<String>) -> Self {
        Self { target: TargetChoice::Columns(vec![column.into()]), ..Self::default() }
    }
}

/// Which column or variable is the target.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum TargetChoice {
    /// The one that the format provides: the labels of svmlight, the variable `Y` of a `.mat` file if there
    /// is one. Other formats provide none.
    #[default]
    Auto,
    /// As [`TargetChoice::Auto`]; where the format provides none, the column called `target`, `label`,
    /// `class` or `y` (the first of these, in any case), and otherwise, with `or_last`, the last column. The
    /// only column is no target. [`Table::guess`](crate::Table::guess) tells what was found.
    Guess {
        /// Whether the last column is the target where no name says so.
        or_last: bool,
    },
    /// None at all.
    None,
    /// These columns; several make a target with several real outputs. For `.mat` files the name of a
    /// variable, for `.npy` files the path of a second `.npy` file with the target, are supported too, and
    /// have priority over columns.
    Columns(Vec<String>),
}

/// How the target was found that [`TargetChoice::Guess`] left open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TargetFound {
    /// It has one of the usual names.
    ByName,
    /// It is the last column.
    Last,
    /// It is what files of this format have as their own; what that is called.
    Own(&'static str),
}

impl TargetFound {
    /// In words: "the column of that name", "the last column", "the file's labels".
    pub fn words(self) -> &'static str {
        match self {
            Self::ByName => "the column of that name",
            Self::Last => "the last column",
            Self::Own(words) => words,
        }
    }
}

/// The kind of target.
///
/// `Auto` reads a target as classes if it is text, or if all its values are integers and there are
/// - at most 10 different ones, fewer than samples; or
/// - at most 100 different ones, each of at least two samples (a level that occurs only once suggests a
///   count or a measurement).
///
/// Everything else is a real output. The other variants ignore this rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Task {
    /// By the rule above.
    #[default]
    Auto,
    /// Every different value is a class.
    Classification,
    /// The values are real outputs; text is an error.
    Regression,
    /// Two columns: the time until an event, and whether it happened (1) or the sample was last seen then
    /// without one (0).
    Survival,
}

/// Whether a table starts with a line of names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Header {
    /// Yes when some column has text in the first line over a number in the second, or when the first line
    /// holds no number at all. (Column names that are all numbers therefore need `Yes`.)
    #[default]
    Auto,
    /// The first line holds the names.
    Yes,
    /// The first line holds values.
    No,
}

macro_rules! names {
    ($type:ty, $parameter:literal, $($variant:path => $name:literal),+ $(,)?) => {
        impl $type {
            /// The name used on the command line.
            pub fn name(self) -> &'static str {
                match self { $($variant => $name),+ }
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.name())
            }
        }

        impl FromStr for $type {
            type Err = fewest_core::Error;

            fn from_str(name: &str) -> Result<Self, Self::Err> {
                match name {
                    $($name => Ok($variant),)+
                    _ => Err(fewest_core::Error::parameter(
                        $parameter,
                        crate::error::quoted(name),
                        format!("one of {}", [$($name),+].join(", ")),
                    )),
                }
            }
        }
    };
}

names!(
    Task, "task",
    Task::Auto => "auto", Task::Classification => "classification", Task::Regression => "regression",
    Task::Survival => "survival",
);
names!(Header, "header", Header::Auto => "auto", Header::Yes => "yes", Header::No => "no");
names!(
    Missing, "missing",
    Missing::Error => "error", Missing::DropRows => "drop-rows", Missing::Mean => "mean", Missing::Median => "median",
);
names!(Unknown, "unknown", Unknown::Error => "error", Unknown::Missing => "missing");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_parse_back_and_unknown_names_list_the_known_ones() {
        for task in [Task::Auto, Task::Classification, Task::Regression, Task::Survival] {
            assert_eq!(task.name().parse::<Task>().unwrap(), task);
        }
        for missing in [Missing::Error, Missing::DropRows, Missing::Mean, Missing::Median] {
            assert_eq!(missing.to_string().parse::<Missing>().unwrap(), missing);
        }
        let message = "drop".parse::<Missing>().unwrap_err().to_string();
        assert_eq!(
            message,
            "parameter `missing` is `drop`, but must be one of error, drop-rows, mean, median"
        );
        assert!("maybe".parse::<Header>().is_err());
    }
}
