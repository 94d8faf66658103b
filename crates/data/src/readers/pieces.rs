//! Text tables in pieces of whole records, for tables larger than memory.

use std::fs::File;
use std::io::{BufRead, BufReader, Cursor};
use std::path::{Path, PathBuf};

use flate2::bufread::MultiGzDecoder;

use super::cells::Classifier;
use super::delimited::{BYTE_ORDER_MARK, check_text, delimiter, has_header, header_names, read_text};
use super::text::{self, Blocks};
use crate::options::Header;
use crate::passes::{Pieces, Stamp};
use crate::source::Source;
use crate::{Error, Folder, Place, ReadOptions, Table};

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
    for part in folder.parts() {
        let start = Start::of(part.path(), options)?;
        if let Some(first) = &first
            && (start.names != first.names || start.n_columns != first.n_columns)
        {
            let problem = format!("its columns are not those of {}", folder.parts()[0].path().display());
            let advice = "write all parts with the same columns, or leave this part out";
            return Err(Error::malformed(part.path(), Place::File, problem, advice));
        }
        parts.push(Part { stamp: Stamp::of(part)?, path: part.path().to_owned() });
        first.get_or_insert(start);
    }
    let Some(start) = first else {
        return Err(Error::malformed(folder.path(), Place::File, "there is no file in it", "name a file"));
    };
    Ok(Box::new(Text { parts, start, at: 0, open: None }))
}

struct Part {
    path: PathBuf,
    stamp: Stamp,
}

/// What the first records of a file tell.
struct Start {
    delimiter: u8,
    names: Option<Vec<String>>,
    /// The first record, where it has the names.
    header: Vec<u8>,
    n_columns: usize,
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
        let mut reading = Reading::open(path)?;
        reading.more()?;
        let mut records = Vec::new();
        let (mut at, mut n_records) = (0, 0_u64);
        loop {
            match text::next_record(&reading.text, at, delimiter) {
                Some((start, _, end)) => {
                    if records.len() < 2 {
                        records.push(start..end);
                    }
                    (at, n_records) = (end, n_records + 1);
                }
                // The names of many columns may be longer than a block.
                None if records.len() < 2 && reading.more()? => {}
                None => break,
            }
        }
        let Some(first) = records.first() else {
            let problem = "the file holds only blank lines";
            return Err(Error::malformed(path, Place::File, problem, "check how it was made"));
        };
        let cells = text::cells(&reading.text[first.clone()], delimiter);
        let second = records.get(1).map(|second| text::cells(&reading.text[second.clone()], delimiter));
        let classifier = Classifier::new(&options.missing_tokens, delimiter != b',');
        let is_header = has_header(&cells, second.as_deref(), &classifier, options.header);
        let names = is_header.then(|| header_names(path, 1, &cells)).transpose()?;
        let header = if is_header { reading.text[first.clone()].to_vec() } else { Vec::new() };
        let record = (at as u64 / n_records.max(1)).max(1);
        Ok(Self { delimiter, names, n_columns: cells.len(), header, bytes, record })
    }
}

/// A file while it is read.
struct Reading {
    path: PathBuf,
    compressed: bool,
    blocks: Blocks<Box<dyn BufRead + Send>>,
    /// What was read and not used.
    text: Vec<u8>,
    /// Lines before it.
    lines: u64,
    /// Whether a record was used.
    begun: bool,
}

impl Reading {
    fn open(path: &Path) -> Result<Self, Error> {
        let failed = |error| Error::reading(path, error);
        let mut file = BufReader::with_capacity(1 << 16, File::open(path).map_err(failed)?);
        let start = file.fill_buf().map_err(failed)?;
        let compressed = start.starts_with(&[0x1F, 0x8B]);
        let mut inner: Box<dyn BufRead + Send> = match compressed {
            true => Box::new(BufReader::new(MultiGzDecoder::new(file))),
            false => Box::new(file),
        };
        let place = || Place::Line(1);
        let start = inner.fill_buf().map_err(|error| Source::failure(path, compressed, place(), error))?;
        let skip = if start.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
        let blocks = Blocks::new(inner, skip);
        Ok(Self { path: path.to_owned(), compressed, blocks, text: Vec::new(), lines: 0, begun: false })
    }

    /// Reads a block more; false at the end.
    fn more(&mut self) -> Result<bool, Error> {
        self.blocks.append_to(&mut self.text).map_err(|error| {
            let line = self.lines + text::line_feeds(&self.text) + 1;
            Source::failure(&self.path, self.compressed, Place::Line(line), error)
        })
    }

    /// Takes the text up to `end` out, with the lines before it.
    fn take(&mut self, end: usize) -> (Vec<u8>, u64) {
        let rest = self.text.split_off(end);
        let taken = std::mem::replace(&mut self.text, rest);
        let before = self.lines;
        self.lines += text::line_feeds(&taken);
        (taken, before)
    }
}

/// The records of text files.
struct Text {
    parts: Vec<Part>,
    start: Start,
    /// The part that is read.
    at: usize,
    open: Option<Reading>,
}

impl Text {
    /// The text of the next records of the part that is read, with the lines before it; empty at its end.
    fn records(&mut self, bytes: u64) -> Result<(Vec<u8>, u64), Error> {
        let path = &self.parts[self.at].path;
        let reading = match &mut self.open {
            Some(reading) => reading,
            None => self.open.insert(Reading::open(path)?),
        };
        loop {
            let ended = (reading.text.len() as u64) < bytes && !reading.more()?;
            if !ended && (reading.text.len() as u64) < bytes {
                continue;
            }
            if !reading.begun {
                reading.begun = true;
                if self.start.names.is_some()
                    && let Some((_, _, end)) = text::next_record(&reading.text, 0, self.start.delimiter)
                {
                    reading.take(end);
                }
            }
            let whole = text::divide(&reading.text, self.start.delimiter).last().copied().unwrap_or(0);
            // What is left at the end is a record that is not whole: reading it says what is wrong.
            let end = if ended { reading.text.len() } else { whole };
            if end > 0 || ended {
                return Ok(reading.take(end));
            }
            // A record longer than a piece.
            if !reading.more()? {
                let end = reading.text.len();
                return Ok(reading.take(end));
            }
        }
    }
}

impl Pieces for Text {
    fn names(&self) -> Option<&[String]> {
        self.start.names.as_deref()
    }

    fn n_columns(&self) -> usize {
        self.start.n_columns
    }

    fn n_rows(&self) -> (u64, bool) {
        let others: u64 = self.parts[1..].iter().map(|part| part.stamp.length()).sum();
        ((self.start.bytes + others) / self.start.record, false)
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
        let bytes = (rows as u64).saturating_mul(self.start.record);
        while self.at < self.parts.len() {
            let (records, lines) = self.records(bytes)?;
            if records.iter().all(|byte| *byte == b'\n') {
                if records.is_empty() {
                    self.parts[self.at].stamp.check()?;
                    (self.at, self.open) = (self.at + 1, None);
                }
                continue;
            }
            let path = &self.parts[self.at].path;
            let (header, head) = match self.start.names {
                Some(_) => (Header::Yes, &self.start.header[..]),
                None => (Header::No, &[][..]),
            };
            let own = text::line_feeds(head);
            let delimiter = Some(char::from(self.start.delimiter));
            let options = ReadOptions { header, delimiter, ..options.clone() };
            let text = [head, &records].concat();
            drop(records);
            let length = text.len() as u64;
            let read = Source::of_stream(path, Cursor::new(text), length);
            // Lines are counted from the names, which stand before each piece.
            let behind = lines.wrapping_sub(own);
            let read = read.and_then(|source| read_text(source, &options));
            return match read {
                Ok(table) => Ok(Some(table.behind(0, behind))),
                Err(error) => Err(error.behind(0, behind)),
            };
        }
        Ok(None)
    }
}
