//! Text tables in pieces of whole records, for tables larger than memory.

use std::io::BufRead;
use std::path::{Path, PathBuf};

use fewest_core::BATCH_ROWS;

use super::cells::Classifier;
use super::delimited::{blank, check_text, delimiter, has_header, header_names};
use super::growing::{Growing, Head};
use super::text::{self, BLOCK, LEAST_BLOCK};
use super::unread::Unread;
use crate::memory::Limit;
use crate::passes::{Pieces, Stamp};
use crate::source::Source;
use crate::{Error, Folder, Place, ReadOptions, Table};

/// A block has this share of the text of a piece, within bounds.
const SHARE: u64 = 32;

/// Bytes that a byte of a record takes while that is read, where it is longer than a block: its text, twice
/// where that grows, and its cells.
const TIMES: u64 = 8;

/// Opens text files of one table, each with the same first line of names, or none with one.
pub(super) fn open(folder: Folder, options: &ReadOptions) -> Result<Box<dyn Pieces>, Error> {
    folder.only_files("text")?;
    if options.encoding.is_some() {
        let what = "a text in this encoding, read in passes";
        return Err(Error::unsupported(folder.path(), what, "save it with the encoding UTF-8"));
    }
    if !folder.keys().is_empty() {
        let what = "text in folders called key=value";
        return Err(Error::unsupported(folder.path(), what, "write the key as a column, or write Parquet"));
    }
    let mut parts = Vec::new();
    let mut first: Option<Start> = None;
    let mut bytes = 0;
    for part in folder.parts() {
        let start = Start::of(part.path(), options)?;
        bytes += start.bytes;
        if let Some(first) = &first
            && (start.head.names != first.head.names || start.head.n_columns != first.head.n_columns)
        {
            let problem = format!("its columns are not those of {}", folder.parts()[0].path().display());
            let advice = "write all parts with the same columns, or leave this part out";
            return Err(Error::malformed(part.path(), Place::File, problem, advice));
        }
        let (line, delimiter) = (start.head.line, start.head.delimiter);
        parts.push(Part { stamp: Stamp::of(part)?, path: part.path().to_owned(), line, delimiter });
        first.get_or_insert(start);
    }
    let Some(start) = first else {
        return Err(Error::malformed(folder.path(), Place::File, "there is no file in it", "name a file"));
    };
    Ok(Box::new(Text { parts, start: Start { bytes, ..start }, at: 0, open: None }))
}

struct Part {
    path: PathBuf,
    stamp: Stamp,
    /// Its first line, and what is between its cells.
    line: u64,
    delimiter: u8,
}

/// What the first records of a file tell.
struct Start {
    head: Head,
    /// Bytes of text, decompressed, and of a record, both estimated.
    bytes: u64,
    record: u64,
}

impl Start {
    fn of(path: &Path, options: &ReadOptions) -> Result<Self, Error> {
        let source = Source::open(path)?;
        check_text(&source)?;
        let delimiter = delimiter(&source, options.delimiter)?;
        let bytes = if source.complete { source.prefix.len() as u64 } else { source.length };
        drop(source);
        let mut file = Unread::open(path, delimiter, Limit::of(path, options), LEAST_BLOCK)?;
        let first = file.first_two()?;
        let Some((line, record)) = first.first() else { return Err(blank(path)) };
        let cells = text::cells(&file.text[record.clone()], delimiter);
        let second = first.get(1).map(|(_, second)| text::cells(&file.text[second.clone()], delimiter));
        let classifier = Classifier::new(&options.missing_tokens, delimiter != b',');
        let is_header = has_header(&cells, second.as_deref(), &classifier, options.header);
        let names = is_header.then(|| header_names(path, *line, &cells)).transpose()?;
        let head = Head { line: *line, names, n_columns: cells.len(), delimiter };
        let (mut at, mut n_records) = (0, 0_u64);
        while let Some((_, _, end)) = text::next_record(&file.text, at, delimiter) {
            (at, n_records) = (end, n_records + 1);
        }
        Ok(Self { head, bytes, record: (at as u64 / n_records.max(1)).max(1) })
    }

    /// What the first records of a part tell, which has the columns of this one.
    fn head(&self, part: &Part) -> Head {
        Head { line: part.line, delimiter: part.delimiter, ..self.head.clone() }
    }

    /// The records of a part, in such blocks, behind the one with the names.
    fn open(&self, part: &Part, options: &ReadOptions, block: usize) -> Result<Records, Error> {
        let limit = Limit::of(&part.path, options);
        let mut file = Unread::open(&part.path, part.delimiter, limit, block)?;
        if self.head.names.is_some()
            && let Some((_, first)) = file.first_two()?.first()
        {
            file.take(first.end);
        }
        Ok(file)
    }
}

type Records = Unread<Box<dyn BufRead + Send>>;

/// The records of text files.
struct Text {
    parts: Vec<Part>,
    /// Of the first part, with the bytes of all.
    start: Start,
    /// The part that is read.
    at: usize,
    open: Option<Records>,
}

impl Text {
    /// The next rows of the part that is read; `None` at its end.
    fn rows(&mut self, rows: usize, options: &ReadOptions) -> Result<Option<Table>, Error> {
        let part = &self.parts[self.at];
        let block = (rows as u64).saturating_mul(self.start.record) / SHARE;
        let row = self.start.record.saturating_add(8 * self.start.head.n_columns as u64);
        let most = (rows as u64).saturating_mul(row).saturating_mul(2);
        let file = match &mut self.open {
            Some(file) => file,
            None => {
                let block = usize::try_from(block).unwrap_or(BLOCK).clamp(LEAST_BLOCK, BLOCK);
                self.open.insert(self.start.open(part, options, block)?)
            }
        };
        let mut table = Growing::new(&part.path, self.start.head(part), options)?;
        loop {
            // Also where texts are longer than the first ones.
            if table.read(file)? >= most || table.n_rows() >= rows {
                break;
            }
            if !file.append(0)? {
                file.check_end()?;
                break;
            }
        }
        (table.n_rows() > 0).then(|| table.finish(options)).transpose()
    }
}

impl Pieces for Text {
    fn names(&self) -> Option<&[String]> {
        self.start.head.names.as_deref()
    }

    fn n_columns(&self) -> usize {
        self.start.head.n_columns
    }

    fn n_rows(&self) -> (u64, bool) {
        (self.start.bytes / self.start.record, false)
    }

    fn text_bytes(&self, options: &ReadOptions) -> u64 {
        let first = || -> Result<u64, Error> {
            let mut file = self.start.open(&self.parts[0], options, LEAST_BLOCK)?;
            if file.text.is_empty() {
                file.append(0)?;
            }
            let mut table = Growing::new(&file.path, self.start.head.clone(), options)?;
            table.read(&mut file)?;
            // A small file has the texts of one batch, however few rows that are.
            let least = if file.append(0)? { 1 } else { BATCH_ROWS };
            Ok(table.text_bytes() / table.n_rows().max(least) as u64)
        };
        // What is wrong with these records is told where the table is read.
        first().unwrap_or(0)
    }

    fn beside(&self) -> u64 {
        self.start.record.saturating_mul(TIMES)
    }

    fn is_category(&self, _column: usize) -> Option<bool> {
        None
    }

    fn rewind(&mut self) -> Result<(), Error> {
        self.parts.iter().try_for_each(|part| part.stamp.check())?;
        (self.at, self.open) = (0, None);
        Ok(())
    }

    fn next(&mut self, rows: usize, options: &ReadOptions) -> Result<Option<Table>, Error> {
        while self.at < self.parts.len() {
            if let Some(table) = self.rows(rows, options)? {
                return Ok(Some(table));
            }
            self.parts[self.at].stamp.check()?;
            (self.at, self.open) = (self.at + 1, None);
        }
        Ok(None)
    }
}
