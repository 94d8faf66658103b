//! Errors of files, and their messages.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::sizes::bytes_text;

/// A file that cannot be read or written, or with content that cannot be used.
///
/// Every message is one line that names the file, the line or row and the column where that makes sense,
/// and says what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A parameter or shape that the core refuses.
    #[error(transparent)]
    Core(#[from] fewest_core::Error),
    /// An error of the operating system.
    #[error("{}: cannot be {action}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What was tried: `read`, `written`.
        action: &'static str,
        /// The message of the system.
        source: io::Error,
    },
    /// A file of a known format, with content that is not supported.
    #[error("{}: {what}: {advice}", path.display())]
    Unsupported {
        /// The file.
        path: PathBuf,
        /// The unsupported content.
        what: String,
        /// What to do.
        advice: String,
    },
    /// A file that violates its format, or a cell of the wrong type.
    #[error("{}: {place}{problem}: {advice}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Where in the file.
        place: Box<Place>,
        /// What is wrong there.
        problem: String,
        /// What to do.
        advice: String,
    },
    /// A requested column or variable that does not exist.
    #[error("{}: there is no {what} {}: {expected}{}", path.display(), quoted(name), meant(near.as_deref()))]
    NotFound {
        /// The file.
        path: PathBuf,
        /// `column`, `variable`.
        what: &'static str,
        /// The requested name or number.
        name: String,
        /// The existing names, the first of them, and what else is understood.
        expected: String,
        /// An existing name that is nearly the same.
        near: Option<String>,
    },
    /// A sample or feature named in a file of links, groups or views that does not exist.
    #[error("{}: line {line}: there is no {what} {}: {expected}", path.display(), quoted(name))]
    Unknown {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: u64,
        /// `sample`, `feature`.
        what: &'static str,
        /// Its name in the file.
        name: String,
        /// The names expected.
        expected: String,
    },
    /// A missing cell under [`Missing::Error`](crate::Missing::Error).
    #[error(
        "{}: {place}the value is missing: drop the samples or fill in missing values \
         (on the command line: --missing drop-rows|mean|median)", path.display()
    )]
    MissingValue {
        /// The file.
        path: PathBuf,
        /// The first missing cell.
        place: Box<Place>,
    },
    /// A missing cell of a stream, whose lines are read once.
    #[error(
        "{}: {place}the value is missing: write it, or say what to do with missing values (on the command \
         line: --missing {instead})", path.display()
    )]
    MissingInStream {
        /// The file.
        path: PathBuf,
        /// The missing cell.
        place: Box<Place>,
        /// The policies that a stream can follow.
        instead: &'static str,
    },
    /// A missing cell of a table that is read in passes, under [`Missing::Error`](crate::Missing::Error).
    #[error(
        "{}: {place}the value is missing: drop the samples or fill in missing values \
         (on the command line: {instead})", path.display()
    )]
    MissingInPasses {
        /// The file.
        path: PathBuf,
        /// The first missing cell.
        place: Box<Place>,
        /// The policies that passes can follow, and the others.
        instead: &'static str,
    },
    /// A column without any value, which no policy for missing values can fill.
    #[error("{}: {column} has no value in any sample: leave it out (on the command line: --ignore)", path.display())]
    AllMissing {
        /// The file.
        path: PathBuf,
        /// The column.
        column: ColumnLabel,
    },
    /// No sample is left after dropping the samples with missing values.
    #[error(
        "{}: each of the {n_samples} samples has a missing value, so dropping them leaves no sample: \
         fill in missing values instead (on the command line: --missing mean|median)", path.display()
    )]
    NothingLeft {
        /// The file.
        path: PathBuf,
        /// The number of samples before.
        n_samples: usize,
    },
    /// A file whose values would need more memory than they may take, detected before it is read or while it
    /// is.
    #[error(
        "{}: its values need {}: keep fewer rows or \
         columns, give it more memory, or read it anyway (on the command line: --allow-large)",
        path.display(), need(*needed, *most, *memory)
    )]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Bytes that its values would take, estimated.
        needed: u64,
        /// Bytes that they may take.
        most: u64,
        /// Bytes of memory of the machine, or those that may be used of it.
        memory: u64,
    },
}

impl Error {
    /// An [`Error::Malformed`]. Line ends and other control characters in `problem`, which may repeat what a
    /// decoder says of the file's content, are escaped.
    pub fn malformed(
        path: &Path,
        place: Place,
        problem: impl Into<String>,
        advice: impl Into<String>,
    ) -> Self {
        Self::Malformed {
            path: path.to_owned(),
            place: Box::new(place),
            problem: on_one_line(problem.into()),
            advice: advice.into(),
        }
    }

    /// An [`Error::Unsupported`].
    pub fn unsupported(path: &Path, what: impl Into<String>, advice: impl Into<String>) -> Self {
        Self::Unsupported { path: path.to_owned(), what: what.into(), advice: advice.into() }
    }

    /// An [`Error::Io`] of reading.
    pub fn reading(path: &Path, source: io::Error) -> Self {
        Self::Io { path: path.to_owned(), action: "read", source }
    }

    /// The error of the system that says why a file cannot be written.
    pub fn writing(path: &Path, source: io::Error) -> Self {
        Self::Io { path: path.to_owned(), action: "written", source }
    }
}

/// Where in a file something was found.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Place {
    /// The whole file.
    File,
    /// A line of a text file, counted from 1.
    Line(u64),
    /// A column.
    Column(ColumnLabel),
    /// A cell of a table.
    Cell {
        /// The row.
        row: RowLabel,
        /// The column.
        column: ColumnLabel,
    },
    /// A variable of a MATLAB file.
    Variable(String),
    /// A position in a binary file, in bytes from its start.
    Byte(u64),
}

impl fmt::Display for Place {
    /// The place followed by a colon and a space; empty for the whole file.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::File => Ok(()),
            Place::Line(line) => write!(f, "line {line}: "),
            Place::Column(column) => write!(f, "{column}: "),
            Place::Cell { row, column } => write!(f, "{row}, {column}: "),
            Place::Variable(name) => write!(f, "variable {}: ", quoted(name)),
            Place::Byte(byte) => write!(f, "at byte {byte}: "),
        }
    }
}

/// The label of a row: its line in text files, its number in other files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowLabel {
    /// The line it starts on, counted from 1.
    Line(u64),
    /// Its number, counted from 0.
    Sample(usize),
}

impl fmt::Display for RowLabel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RowLabel::Line(line) => write!(f, "line {line}"),
            RowLabel::Sample(row) => write!(f, "row {row} (counted from 0)"),
        }
    }
}

/// The label of a column: its name, if it has one, and its number in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnLabel {
    /// The name, from the header.
    pub name: Option<String>,
    /// The number in the file, counted from 0; `None` if it has none, such as the labels of svmlight.
    pub number: Option<usize>,
}

impl fmt::Display for ColumnLabel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.name, self.number) {
            (Some(name), Some(number)) => write!(f, "column {} ({number}, counted from 0)", quoted(name)),
            (Some(name), None) => write!(f, "the {name}"),
            (None, Some(number)) => write!(f, "column {number} (counted from 0)"),
            (None, None) => write!(f, "a column"),
        }
    }
}

/// `text` with its control characters escaped.
fn on_one_line(text: String) -> String {
    if !text.contains(char::is_control) {
        return text;
    }
    text.chars().fold(String::new(), |mut line, c| {
        if c.is_control() {
            line.extend(c.escape_default());
        } else {
            line.push(c);
        }
        line
    })
}

/// Text from a file, prepared for a message: in backticks, on one line, shortened.
pub(crate) fn quoted(text: &str) -> String {
    const LONGEST: usize = 40;
    let mut shown: String = text.chars().take(LONGEST).flat_map(char::escape_debug).collect();
    // `escape_debug` also escapes quotes, which need none between backticks.
    shown = shown.replace("\\\"", "\"").replace("\\'", "'");
    if text.chars().nth(LONGEST).is_some() {
        shown.push('…');
    }
    format!("`{shown}`")
}

/// The first few of `names`, for messages.
pub(crate) fn listed<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> String {
    const MOST: usize = 8;
    let total = names.len();
    let mut text = names.take(MOST).map(quoted).collect::<Vec<_>>().join(", ");
    if total > MOST {
        text.push_str(&format!(" and {} more", total - MOST));
    }
    text
}

/// What values need. A number at the limit is where counting ended: they need that or more.
fn need(needed: u64, most: u64, memory: u64) -> String {
    let (bytes, share) = (bytes_text(needed), share(most, memory));
    if needed <= most.saturating_add(most / 64).saturating_add(1) {
        format!("{bytes} of memory or more, more than {share}")
    } else {
        format!("about {bytes} of memory, more than {share}")
    }
}

/// Bytes that values may take, of all; where any number was allowed, the system has no more.
fn share(most: u64, memory: u64) -> String {
    match (most, memory) {
        (u64::MAX, _) => "the system has".to_owned(),
        _ if most == memory / 2 => format!("half of the {} it may use", bytes_text(memory)),
        _ => format!("the {} it may use", bytes_text(most)),
    }
}

/// A hint at the name that may be meant.
fn meant(near: Option<&str>) -> String {
    near.map_or(String::new(), |near| format!("; did you mean {}?", quoted(near)))
}
