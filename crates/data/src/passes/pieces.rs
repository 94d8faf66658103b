//! Files whose rows come in pieces, and what is known of them before the first.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::{Error, Folder, Part, Place, ReadOptions, RowLabel, Table};

/// A file, or several with the same columns, whose rows are read in pieces, and again from the start.
///
/// A reader of a format makes one: see [`Format::in_pieces`](crate::Format::in_pieces). It holds no more than
/// a piece in memory.
pub trait Pieces: Send {
    /// The names of the columns, where they have names.
    fn names(&self) -> Option<&[String]>;

    /// Number of columns.
    fn n_columns(&self) -> usize;

    /// Number of rows, and whether that is exact: otherwise it is estimated from the size of the file.
    fn n_rows(&self) -> (u64, bool);

    /// Bytes that the texts of a row take in memory beside its numbers, of a table of these options, as the
    /// first rows tell: 0 where that is not known.
    fn text_bytes(&self, options: &ReadOptions) -> u64 {
        let _ = options;
        0
    }

    /// Bytes that reading takes at once for a row, however few are asked for, where that may be much.
    fn beside(&self) -> u64 {
        0
    }

    /// The column with the names of the samples, where a name says that it is.
    fn row_names(&self) -> Option<&str> {
        None
    }

    /// Whether this column is one of categories: `None` where only its cells tell.
    fn is_category(&self, column: usize) -> Option<bool>;

    /// The same files for another reader, from the first row, without looking again at what they tell of
    /// their columns; `None`, the default, where opening them takes no longer.
    fn again(&self) -> Option<Box<dyn Pieces>> {
        None
    }

    /// Starts again from the first row.
    ///
    /// # Errors
    /// For files that cannot be opened, or have changed since they were opened first.
    fn rewind(&mut self) -> Result<(), Error>;

    /// Passes over up to `rows` rows without reading them; returns over how many. 0 where rows can only be
    /// found by reading those before, as in text: the default.
    ///
    /// # Errors
    /// Those of the system.
    fn skip(&mut self, rows: u64) -> Result<u64, Error> {
        let _ = rows;
        Ok(0)
    }

    /// The next rows, at least one and about `rows` of them, as a table of these options; `None` at the end.
    /// Rows in errors are those of the file.
    ///
    /// # Errors
    /// As [`Table::read`].
    fn next(&mut self, rows: usize, options: &ReadOptions) -> Result<Option<Table>, Error>;
}

/// Opens the pieces of the files of a table.
pub type OpenPieces = fn(Folder, &ReadOptions) -> Result<Box<dyn Pieces>, Error>;

/// What tells whether a file was changed: its length, and when it was written last; of what lies elsewhere
/// its version, which each read checks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stamp {
    path: PathBuf,
    length: u64,
    written: Option<SystemTime>,
    version: Option<String>,
}

impl Stamp {
    /// That of a file now.
    ///
    /// # Errors
    /// Those of the system.
    pub fn of(part: &Part) -> Result<Self, Error> {
        match part.remote() {
            None => Self::of_file(part.path()),
            Some(remote) => {
                let version = Some(remote.version().to_owned());
                Ok(Self { path: part.path().to_owned(), length: remote.length(), written: None, version })
            }
        }
    }

    fn of_file(path: &Path) -> Result<Self, Error> {
        let metadata = fs::metadata(path).map_err(|error| Error::reading(path, error))?;
        let (path, written) = (path.to_owned(), metadata.modified().ok());
        Ok(Self { path, length: metadata.len(), written, version: None })
    }

    /// Length of the file in bytes.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// # Errors
    /// [`Error::Malformed`] where the file is another now; those of the system.
    pub fn check(&self) -> Result<(), Error> {
        let is_same = self.version.is_some() || *self == Self::of_file(&self.path)?;
        if is_same { Ok(()) } else { Err(changed(&self.path)) }
    }
}

/// The error about a file that is not what it was in an earlier pass.
pub(super) fn changed(path: &Path) -> Error {
    let problem = "the file has changed while it was read";
    Error::malformed(path, Place::File, problem, "start again once nothing writes to it")
}

impl Error {
    /// The error about a piece of a file whose first row has `samples` rows and `lines` lines before it: with
    /// the rows and lines of the file.
    #[must_use]
    pub fn behind(mut self, samples: usize, lines: u64) -> Self {
        if let Self::Malformed { place, .. }
        | Self::MissingValue { place, .. }
        | Self::MissingInPasses { place, .. } = &mut self
        {
            match &mut **place {
                Place::Line(line) => *line = line.wrapping_add(lines),
                Place::Cell { row: RowLabel::Line(line), .. } => *line = line.wrapping_add(lines),
                Place::Cell { row: RowLabel::Sample(row), .. } => *row += samples,
                _ => {}
            }
        }
        self
    }
}

impl Table {
    /// The table as a piece of a file, with so many rows and lines of text before it, for messages.
    #[must_use]
    pub fn behind(mut self, samples: usize, lines: u64) -> Self {
        self.first_row = samples;
        self.lines.iter_mut().flatten().for_each(|line| *line = line.wrapping_add(lines));
        self
    }
}
