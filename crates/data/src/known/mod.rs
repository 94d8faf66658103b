//! Links, groups and views of samples and features, from separate files.

mod authors;
mod groups;
mod links;
mod views;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use csv::ByteRecord;

use crate::error::quoted;
use crate::readers::delimited::{self, Rows};
use crate::source::Source;
use crate::{Error, Place, Table};

pub use authors::read_authors;
pub use groups::{GroupTable, read_groups};
pub use links::{LinkOptions, Links, read_links};
pub use views::{parse_views, read_views};

/// The names of samples or features in these files.
pub struct Nodes {
    what: &'static str,
    len: usize,
    by_name: HashMap<String, usize>,
    /// Whether a text that is no name may be a number.
    numbers: bool,
}

impl Nodes {
    /// The samples of a table: by their ids, which must be unique, or by their numbers from 0 if the table
    /// has no ids. A table with ids accepts no numbers, since ids may be numbers themselves.
    ///
    /// # Errors
    /// [`Error::Malformed`] for an id that two samples have.
    pub fn samples(table: &Table) -> Result<Self, Error> {
        let ids = table.ids.as_deref().unwrap_or_default();
        let nodes = Self::new("sample", table.n_samples(), ids, ids.is_empty());
        if nodes.by_name.len() < ids.len() {
            let twice = ids.iter().enumerate().find(|(i, id)| nodes.by_name.get(*id) != Some(i));
            let name = twice.map_or("", |(_, id)| id);
            let problem = format!("two samples have the id {}", quoted(name));
            let advice = "give each sample a different id";
            return Err(Error::malformed(table.path(), Place::File, problem, advice));
        }
        Ok(nodes)
    }

    /// Features of these names: by name or else by number from 0.
    pub fn features(names: &[String]) -> Self {
        Self::new("feature", names.len(), names, true)
    }

    /// The samples of features that arrive, by their names in the first line, which must be unique.
    ///
    /// # Errors
    /// [`Error::Malformed`] for a name that two samples have.
    pub fn arriving(path: &Path, names: &[String]) -> Result<Self, Error> {
        let nodes = Self::new("sample", names.len(), names, false);
        match names.iter().enumerate().find(|(i, name)| nodes.by_name.get(*name) != Some(i)) {
            None => Ok(nodes),
            Some((_, name)) => {
                let problem = format!("two samples have the name {}", quoted(name));
                Err(Error::malformed(path, Place::File, problem, "give each sample a different name"))
            }
        }
    }

    fn new(what: &'static str, len: usize, names: &[String], numbers: bool) -> Self {
        // If several have the same name, the first counts.
        let by_name = names.iter().enumerate().rev().map(|(i, name)| (name.clone(), i)).collect();
        Self { what, len, by_name, numbers }
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The one called `text`.
    fn find(&self, text: &str) -> Option<usize> {
        let number = || text.parse().ok().filter(|number: &usize| self.numbers && *number < self.len);
        self.by_name.get(text).copied().or_else(number)
    }

    /// The one called `text`; else what is wrong, and what to do.
    fn get(&self, text: &str) -> Result<usize, Fault> {
        let ways = match (self.by_name.is_empty(), self.numbers) {
            (true, _) => "use its number",
            (false, true) => "use its name or its number",
            (false, false) => "use its id",
        };
        self.find(text).ok_or_else(|| {
            let numbers = if self.numbers {
                format!(", 0 to {}", self.len.saturating_sub(1))
            } else {
                format!(" (there are {})", self.len)
            };
            Fault::Unknown { what: self.what, name: text.to_owned(), expected: format!("{ways}{numbers}") }
        })
    }
}

/// What is wrong with a line.
enum Fault {
    /// What it is, and what to do.
    Wrong { problem: String, advice: String },
    /// The name of a sample or feature that does not exist.
    Unknown { what: &'static str, name: String, expected: String },
}

fn wrong(problem: impl Into<String>, advice: impl Into<String>) -> Fault {
    Fault::Wrong { problem: problem.into(), advice: advice.into() }
}

/// A small table of text, line by line.
struct Lines {
    path: PathBuf,
    rows: Rows,
    record: ByteRecord,
}

impl Lines {
    fn open(path: &Path, delimiter: Option<char>) -> Result<Self, Error> {
        let source = Source::open(path)?.in_utf8(&crate::ReadOptions::default())?;
        delimited::check_text(&source)?;
        let delimiter = delimited::delimiter(&source, delimiter)?;
        Ok(Self { path: path.to_owned(), rows: Rows::new(source, delimiter), record: ByteRecord::new() })
    }

    /// The next line: its number and its cells, without the blanks around them.
    fn next(&mut self) -> Result<Option<(u64, Vec<&str>)>, Error> {
        let Some(line) = self.rows.next(&mut self.record)? else { return Ok(None) };
        let mut cells = Vec::with_capacity(self.record.len());
        for cell in &self.record {
            let Ok(text) = std::str::from_utf8(cell) else {
                let problem = format!("{} is not UTF-8 text", quoted(&String::from_utf8_lossy(cell)));
                let advice = "save the file with the encoding UTF-8";
                return Err(Error::malformed(&self.path, Place::Line(line), problem, advice));
            };
            cells.push(text.trim());
        }
        Ok(Some((line, cells)))
    }
}

/// The error for a fault on a line.
fn at(path: &Path, line: u64) -> impl Fn(Fault) -> Error + '_ {
    move |fault| match fault {
        Fault::Wrong { problem, advice } => Error::malformed(path, Place::Line(line), problem, advice),
        Fault::Unknown { what, name, expected } => {
            Error::Unknown { path: path.to_owned(), line, what, name, expected }
        }
    }
}

/// An error of the core, with the line of the link or group that it names. `lines` has the line of each.
fn placed(path: &Path, lines: &[u64], error: fewest_core::Error) -> Error {
    match error {
        fewest_core::Error::InvalidPart { part, number, problem } => {
            let place = lines.get(number).map_or(Place::File, |line| Place::Line(*line));
            let (problem, advice) = problem.split_once(": ").unwrap_or((&problem, "check the line"));
            Error::malformed(path, place, format!("the {part} {problem}"), advice)
        }
        other => other.into(),
    }
}
