//! A text table while its records come.

use std::io::BufRead;
use std::path::{Path, PathBuf};

use super::cells::{Builder, Classifier};
use super::delimited::{FORMAT, wrong_length};
use super::parts::{self, Shape, Wrong};
use super::text;
use super::unread::Unread;
use crate::assembly::Parts;
use crate::error::RowLabel;
use crate::memory::Limit;
use crate::roles::{self, Guess};
use crate::{Error, Place, ReadOptions, Table};

/// What the first record tells of a table.
#[derive(Debug, Clone)]
pub(super) struct Head {
    /// Its line.
    pub(super) line: u64,
    /// The names of the columns, if it has them.
    pub(super) names: Option<Vec<String>>,
    pub(super) n_columns: usize,
    pub(super) delimiter: u8,
}

/// The records that have come, as columns.
pub(super) struct Growing {
    path: PathBuf,
    head: Head,
    shape: Shape,
    guess: Option<Guess>,
    builders: Vec<Builder>,
    /// The first line of each record.
    lines: Vec<u64>,
    /// Bytes that the columns take.
    bytes: u64,
}

impl Growing {
    pub(super) fn new(path: &Path, head: Head, options: &ReadOptions) -> Result<Self, Error> {
        let names = head.names.as_deref();
        let (roles, guess) = roles::assign(path, names, head.n_columns, options)?;
        roles::check_names(path, &Place::Line(head.line), names, &roles)?;
        let classifier = Classifier::new(&options.missing_tokens, head.delimiter != b',');
        let builders = roles.iter().map(|&role| Builder::new(role, options.task)).collect();
        let shape = Shape { delimiter: head.delimiter, classifier, roles };
        Ok(Self { path: path.to_owned(), head, shape, guess, builders, lines: Vec::new(), bytes: 0 })
    }

    pub(super) fn n_rows(&self) -> usize {
        self.lines.len()
    }

    /// Bytes that texts take, beside the numbers.
    pub(super) fn text_bytes(&self) -> u64 {
        self.builders.iter().map(Builder::text_bytes).sum()
    }

    /// Which share of the columns is read.
    pub(super) fn share_read(&self) -> f64 {
        let n_read = self.shape.roles.iter().filter(|role| roles::is_read(role)).count();
        n_read as f64 / self.shape.roles.len().max(1) as f64
    }

    /// Reads the whole records that are in memory, and takes their text out. Returns how many bytes the
    /// columns take.
    pub(super) fn read<R: BufRead>(&mut self, file: &mut Unread<R>) -> Result<u64, Error> {
        let bounds = text::divide(&file.text, self.shape.delimiter);
        let lines = (&mut self.lines, file.line);
        let read = parts::read(&file.text, &bounds, &self.shape, &mut self.builders, lines);
        let (n_lines, bytes) =
            read.map_err(|(line, wrong)| self.fault(file.line + line, wrong, &file.limit))?;
        self.bytes = bytes;
        file.line += n_lines;
        file.text.drain(..bounds.last().copied().unwrap_or(0));
        Ok(bytes)
    }

    /// What is wrong with the record on this line.
    fn fault(&self, line: u64, wrong: Wrong, limit: &Limit) -> Error {
        match wrong {
            Wrong::Cell(column, (problem, advice)) => {
                let column = roles::label(self.head.names.as_deref(), column);
                let place = Place::Cell { row: RowLabel::Line(line), column };
                roles::explain(self.guess, Error::malformed(&self.path, place, problem, advice))
            }
            Wrong::Length(n_cells) => {
                wrong_length(&self.path, (line, n_cells), (self.head.line, self.head.n_columns), false)
            }
            Wrong::Memory => limit.exceeded(self.bytes),
        }
    }

    pub(super) fn finish(self, options: &ReadOptions) -> Result<Table, Error> {
        let parts = Parts {
            format: FORMAT,
            n_samples: self.lines.len(),
            columns: self.builders.into_iter().map(Builder::finish).collect(),
            names: self.head.names,
            roles: self.shape.roles,
            guess: self.guess,
            lines: Some(self.lines),
            separate_target: Vec::new(),
            path: self.path,
        };
        Table::assemble(parts, options)
    }
}
