//! Text that was not read yet, in blocks.

use std::io::{BufRead, Cursor, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::text::{self, BLOCK, Blocks, LEAST_BLOCK, LONGEST_CELL};
use crate::first_line::Above;
use crate::memory::Limit;
use crate::source::Source;
use crate::{Error, Place};

/// A block has this share of the memory, within bounds.
const SHARE: u64 = 128;

/// The part of a file that was not read yet.
pub(super) struct Unread<R = Box<dyn BufRead>> {
    pub(super) path: PathBuf,
    compressed: bool,
    pub(super) delimiter: u8,
    pub(super) limit: Limit,
    blocks: Blocks<R>,
    /// Bytes of a block.
    block: usize,
    /// What is in memory of it.
    pub(super) text: Vec<u8>,
    /// The line at which the text starts, from 1.
    pub(super) line: u64,
}

impl Unread {
    /// All of a file, in blocks that are little of the memory.
    pub(super) fn of(source: Source, delimiter: u8, limit: Limit) -> Self {
        let block = usize::try_from(limit.memory() / SHARE).unwrap_or(BLOCK).clamp(LEAST_BLOCK, BLOCK);
        let Source { path, reader, prefix, compressed, .. } = source;
        let blocks = Blocks::new(reader, Above::of(&prefix).length);
        Self { path, compressed, delimiter, limit, blocks, block, text: Vec::new(), line: 1 }
    }
}

impl Unread<Box<dyn BufRead + Send>> {
    /// All of a file, in blocks of so many bytes.
    pub(super) fn open(path: &Path, delimiter: u8, limit: Limit, block: usize) -> Result<Self, Error> {
        let (mut reader, compressed) = Source::reader(path)?;
        let mut start = Vec::new();
        let read = reader.by_ref().take(Above::MOST as u64).read_to_end(&mut start);
        read.map_err(|error| Source::failure(path, compressed, Place::Line(1), error))?;
        let skip = Above::of(&start).length;
        let reader: Box<dyn BufRead + Send> = Box::new(Cursor::new(start).chain(reader));
        let (path, blocks) = (path.to_owned(), Blocks::new(reader, skip));
        Ok(Self { path, compressed, delimiter, limit, blocks, block, text: Vec::new(), line: 1 })
    }
}

impl<R: BufRead> Unread<R> {
    /// Where the first two records are, each with its first line; fewer where there are fewer.
    pub(super) fn first_two(&mut self) -> Result<Vec<(u64, Range<usize>)>, Error> {
        loop {
            let mut found = Vec::new();
            let (mut at, mut line) = (0, self.line);
            while found.len() < 2
                && let Some((start, blank, end)) = text::next_record(&self.text, at, self.delimiter)
            {
                found.push((line + blank, start..end));
                line += blank + text::line_feeds(&self.text[start..end]);
                at = end;
            }
            if found.len() == 2 {
                return Ok(found);
            }
            if !self.append(at)? {
                if found.is_empty() {
                    self.check_end()?;
                }
                return Ok(found);
            }
        }
    }

    /// Leaves out the text before `end`.
    pub(super) fn take(&mut self, end: usize) {
        self.line += text::line_feeds(&self.text[..end]);
        self.text.drain(..end);
    }

    /// Reads a block more behind the record that starts at `start` and is not whole, or as much as there is
    /// of it, so that long records are looked at a few times only; false where there is nothing.
    pub(super) fn append(&mut self, start: usize) -> Result<bool, Error> {
        let begun = self.text.len() - start;
        // A record that is not whole after a block is long: of a table with many columns, or of no table.
        if begun >= self.block {
            self.limit.check(self.text.len() as u64)?;
            if text::longest_cell(&self.text[start..], self.delimiter) > LONGEST_CELL {
                let problem = format!("a cell of more than {} MiB", LONGEST_CELL >> 20);
                let advice = "check the quotes and the delimiter";
                let place = Place::Line(self.line + text::line_feeds(&self.text[..start]));
                return Err(Error::malformed(&self.path, place, problem, advice));
            }
        }
        self.blocks.append_to(&mut self.text, self.block.max(begun)).map_err(|error| {
            let line = self.line + text::line_feeds(&self.text);
            Source::failure(&self.path, self.compressed, Place::Line(line), error)
        })
    }

    /// An error unless only blank lines are left of a file that was read to its end: every record ends with a
    /// line feed, but for one inside quotes.
    pub(super) fn check_end(&self) -> Result<(), Error> {
        let Some(start) = self.text.iter().position(|&byte| byte != b'\n') else { return Ok(()) };
        let problem = "a double quote is opened here and never closed";
        let place = Place::Line(self.line + start as u64);
        Err(Error::malformed(&self.path, place, problem, "close it or remove it"))
    }
}
