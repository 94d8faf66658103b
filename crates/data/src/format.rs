//! File formats: name, detection, reader and writer.

use std::borrow::Cow;
use std::fmt;
use std::path::Path;

use fewest_core::Dataset;

use crate::error::quoted;
use crate::passes::OpenPieces;
use crate::readers;
use crate::source::{self, Source};
use crate::write::{NextPiece, written_columns};
use crate::{Error, Folder, ReadOptions, Table};

/// How certain it is, from the first bytes of a file, that the file has a format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sniff {
    /// It does not.
    No,
    /// Possible, as any text may be a table.
    Possible,
    /// Probable, but the name of the file has priority.
    Likely,
    /// Certain, whatever its name.
    Certain,
}

type ReadFolder = fn(Folder, &ReadOptions) -> Result<Table, Error>;

/// Writes the rows of a table, piece after piece.
pub(crate) type WriteTable = fn(&Path, NextPiece<'_>) -> Result<(), Error>;

/// A file format. Its reader is a function that makes a [`Table`] of a [`Source`].
///
/// ```
/// use fewest_data::{Cells, Error, Format, Formats, ReadOptions, Sniff, Source, Table};
/// use std::io::Read;
///
/// /// One feature, one byte per sample.
/// const BYTES: Format = Format::new("bytes", &["bin"], |_| Sniff::No, read);
///
/// fn read(source: Source, options: &ReadOptions) -> Result<Table, Error> {
///     let path = source.path().to_owned();
///     let mut bytes = Vec::new();
///     source.into_reader().read_to_end(&mut bytes).map_err(|error| Error::reading(&path, error))?;
///     let values = bytes.into_iter().map(f64::from).collect();
///     Table::from_columns(&path, BYTES, vec![(None, Cells::Numbers(values))], options)
/// }
///
/// let options = ReadOptions { formats: Formats::standard().with(BYTES), ..ReadOptions::default() };
/// let table = Table::read_bytes("three.bin", b"\x01\x02\x07".as_slice().into(), &options)?;
/// assert_eq!(table.features().column(0, &mut Vec::new())?.to_vec(3), [1.0, 2.0, 7.0]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct Format {
    name: &'static str,
    extensions: &'static [&'static str],
    sniff: fn(&[u8]) -> Sniff,
    read: fn(Source, &ReadOptions) -> Result<Table, Error>,
    read_folder: Option<ReadFolder>,
    open_pieces: Option<OpenPieces>,
    write: Option<(&'static [&'static str], WriteTable)>,
    own_target: &'static str,
    has_variables: bool,
    is_transposable: bool,
    is_text: bool,
    has_indices: bool,
}

impl Format {
    /// A format that is read by `read`. `extensions` are in lower case, without the point. A final `.gz` is
    /// removed before they are compared, and `read` gets the content decompressed.
    pub const fn new(
        name: &'static str,
        extensions: &'static [&'static str],
        sniff: fn(&[u8]) -> Sniff,
        read: fn(Source, &ReadOptions) -> Result<Table, Error>,
    ) -> Self {
        let own_target = "the file's labels";
        Self {
            name,
            extensions,
            sniff,
            read,
            read_folder: None,
            open_pieces: None,
            write: None,
            own_target,
            has_variables: false,
            is_transposable: false,
            is_text: false,
            has_indices: false,
        }
    }

    /// Adds a writer for files with one of these extensions.
    pub const fn written_by(mut self, extensions: &'static [&'static str], write: WriteTable) -> Self {
        self.write = Some((extensions, write));
        self
    }

    /// Adds a reader of tables in several files.
    pub const fn with_folders(mut self, read: fn(Folder, &ReadOptions) -> Result<Table, Error>) -> Self {
        self.read_folder = Some(read);
        self
    }

    /// Adds a reader of rows in pieces, for tables larger than memory: see
    /// [`Passes`](crate::Passes).
    pub const fn in_pieces(mut self, open: OpenPieces) -> Self {
        self.open_pieces = Some(open);
        self
    }

    /// With the name of the target that a file contains, for messages. Default: "the file's labels".
    pub const fn with_own_target(mut self, words: &'static str) -> Self {
        self.own_target = words;
        self
    }

    /// Declares that a file holds named variables or sheets: [`ReadOptions::x_variable`] selects one.
    pub const fn with_variables(mut self) -> Self {
        self.has_variables = true;
        self
    }

    /// Declares that the reader heeds [`ReadOptions::transpose`]; otherwise it is refused.
    pub const fn with_transpose(mut self) -> Self {
        self.is_transposable = true;
        self
    }

    /// Declares that the reader heeds [`ReadOptions::encoding`]; otherwise it is refused.
    pub const fn with_encoding(mut self) -> Self {
        self.is_text = true;
        self
    }

    /// Declares that a file numbers its features, and that the reader heeds [`ReadOptions::first_index`];
    /// otherwise it is refused.
    pub const fn with_indices(mut self) -> Self {
        self.has_indices = true;
        self
    }

    /// The name used on the command line.
    pub fn name(self) -> &'static str {
        self.name
    }

    /// The name of the target that a file contains.
    pub fn own_target(self) -> &'static str {
        self.own_target
    }

    /// Whether it is text.
    pub(crate) fn is_text(self) -> bool {
        self.is_text
    }

    /// The rows of a table in pieces; `None` where there is no reader of such.
    pub(crate) fn open_pieces(self, path: &Path, options: &ReadOptions) -> Result<Option<OpenPieces>, Error> {
        self.check(path, options).map(|()| self.open_pieces)
    }

    /// Reads a file.
    pub(crate) fn read(self, source: Source, options: &ReadOptions) -> Result<Table, Error> {
        self.check(&source.path, options)?;
        (self.read)(source, &*self.settled(options)?)
    }

    /// Whether a table in several files is read as one.
    pub(crate) fn reads_folders(self) -> bool {
        self.read_folder.is_some()
    }

    /// Reads a table in several files.
    pub(crate) fn read_folder(self, folder: Folder, options: &ReadOptions) -> Result<Table, Error> {
        let Some(read) = self.read_folder else {
            let what = format!("several {self} files are not read as one table");
            let advice = "name one file; of several text files the command reads what comes in passes \
                          (on the command line: select or score with --memory SIZE)";
            return Err(Error::unsupported(folder.path(), what, advice));
        };
        self.check(folder.path(), options)?;
        read(folder, &*self.settled(options)?)
    }

    /// The options with what a reduction settles.
    fn settled(self, options: &ReadOptions) -> Result<Cow<'_, ReadOptions>, Error> {
        match &options.reduction {
            None => Ok(Cow::Borrowed(options)),
            Some(reduction) => reduction.settle(options, self.has_indices).map(Cow::Owned),
        }
    }

    /// Refuses options without an effect on files of this format.
    fn check(self, path: &Path, options: &ReadOptions) -> Result<(), Error> {
        if let (Some(name), false) = (&options.x_variable, self.has_variables) {
            let expected = format!("left out for {self} files, which have neither variables nor sheets");
            return Err(fewest_core::Error::parameter("x_variable", quoted(name), expected).into());
        }
        if options.transpose && !self.is_transposable {
            let what = format!("{self} files cannot be transposed");
            return Err(Error::unsupported(path, what, "save the table as .csv"));
        }
        if let (Some(name), false) = (&options.encoding, self.is_text) {
            let expected = format!("left out for {self} files, which are not text");
            return Err(fewest_core::Error::parameter("encoding", quoted(name), expected).into());
        }
        if let (Some(first), false) = (options.first_index, self.has_indices) {
            let expected = format!("left out for {self} files, which do not number their features");
            return Err(fewest_core::Error::parameter("first_index", first, expected).into());
        }
        Ok(())
    }

    /// Writes the given features, in that order, and the target, with the given names of its columns:
    /// completely or not at all.
    ///
    /// # Errors
    /// As [`write_csv`](crate::write_csv), and those of the writer; [`Error::Unsupported`] where there is
    /// none.
    pub fn write(
        self,
        path: &Path,
        dataset: &Dataset,
        features: &[usize],
        target_names: &[String],
    ) -> Result<(), Error> {
        let mut columns = Some(written_columns(dataset, features, target_names)?);
        self.write_pieces(path, &mut || Ok(columns.take()))
    }

    /// Writes a table whose rows come in pieces, completely or not at all.
    ///
    /// # Errors
    /// Those of the pieces and of the writer; [`Error::Unsupported`] where there is none.
    pub fn write_pieces(self, path: &Path, next: NextPiece<'_>) -> Result<(), Error> {
        match self.write {
            Some((_, write)) => write(path, next),
            None => {
                Err(Error::unsupported(path, format!("{self} files are not written"), "write a .csv file"))
            }
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl fmt::Debug for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Format").field(&self.name).finish()
    }
}

/// Two formats are equal if their names are.
impl PartialEq for Format {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Format {}

/// The formats that files may have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Formats {
    list: Vec<Format>,
}

impl Default for Formats {
    fn default() -> Self {
        Self::standard()
    }
}

impl Formats {
    /// Those of this crate.
    pub fn standard() -> Self {
        Self { list: readers::FORMATS.to_vec() }
    }

    /// With one more format, which replaces one of the same name.
    #[must_use]
    pub fn with(mut self, format: Format) -> Self {
        self.list.retain(|other| *other != format);
        self.list.push(format);
        self
    }

    /// All of them.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Format> {
        self.list.iter().copied()
    }

    /// The format of that name.
    ///
    /// # Errors
    /// [`fewest_core::Error::InvalidParameter`] lists the known names.
    pub fn named(&self, name: &str) -> Result<Format, fewest_core::Error> {
        self.iter().find(|format| format.name == name).ok_or_else(|| {
            let names: Vec<&str> = self.iter().map(Format::name).collect();
            fewest_core::Error::parameter("format", quoted(name), format!("one of {}", names.join(", ")))
        })
    }

    /// The format that the first bytes of a file leave no doubt about.
    pub(crate) fn certain(&self, source: &Source) -> Option<Format> {
        self.list.iter().rev().find(|format| (format.sniff)(&source.prefix) == Sniff::Certain).copied()
    }

    /// The format of a file: from its first bytes if they are certain, then from the extension of its name
    /// (before `.gz`), then from the probable format of its first bytes. If several match, the last one
    /// added.
    pub(crate) fn recognise(&self, source: &Source) -> Result<Format, Error> {
        let sniffed: Vec<(Sniff, Format)> =
            self.iter().map(|format| ((format.sniff)(&source.prefix), format)).collect();
        let best = sniffed.iter().max_by_key(|(sniff, _)| *sniff).filter(|(sniff, _)| *sniff != Sniff::No);
        if let Some((Sniff::Certain, format)) = best {
            return Ok(*format);
        }
        source::refuse_foreign(source)?;
        let extension = source.extension();
        let by_name = extension.as_deref().and_then(|extension| {
            self.list.iter().rev().find(|format| format.extensions.contains(&extension)).copied()
        });
        by_name.or(best.map(|(_, format)| *format)).ok_or_else(|| {
            let names: Vec<&str> = self.iter().map(Format::name).collect();
            let advice = format!("give a file of one of the formats {}", names.join(", "));
            Error::unsupported(&source.path, "a file of an unknown format", advice)
        })
    }

    /// The format for writing a file of this name: from its extension; CSV if there is none or it is
    /// unknown. If several match, the last one added.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for an extension of files that are not written.
    pub fn to_write(&self, path: &Path) -> Result<Format, Error> {
        let written = |format: &Format| format.write.map_or(&[] as &[&str], |(extensions, _)| extensions);
        let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
        if let Some(extension) = extension.as_deref() {
            let mut last_first = self.list.iter().rev();
            if let Some(format) = last_first.find(|format| written(format).contains(&extension)) {
                return Ok(*format);
            }
            if source::FOREIGN_EXTENSIONS.contains(&extension)
                || self.iter().any(|format| format.extensions.contains(&extension))
            {
                let what = format!("files whose name ends in .{extension} are not written");
                return Err(Error::unsupported(
                    path,
                    what,
                    "the table is written as CSV: end the name in .csv",
                ));
            }
        }
        let advice = "add a format that has a writer";
        let mut any = self.list.iter().rev().filter(|format| format.write.is_some());
        let csv = any.clone().find(|format| format.name == "csv");
        csv.or_else(|| any.next())
            .copied()
            .ok_or_else(|| Error::unsupported(path, "no format has a writer", advice))
    }
}
