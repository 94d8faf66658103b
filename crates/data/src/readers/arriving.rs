//! Text tables whose lines arrive one after the other and are read once: lines are samples, or features.

mod features;
mod samples;
mod schema;

use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

use csv::ByteRecord;
use fewest_core::derive_seed;

use super::delimited::{Rows, check_text, delimiter, wrong_length};
use crate::memory::Limit;
use crate::source::Source;
use crate::{Error, Place, ReadOptions};

pub use features::{ArrivedFeature, ArrivingFeatures, FeatureTarget};
pub use samples::{ArrivedSample, ArrivingSamples};
pub use schema::SampleSchema;

/// How long is waited before it is looked whether there is more, or an end.
const WAIT: Duration = Duration::from_millis(20);

/// Content that may grow: where it ends now, reading waits for more, until it is told to end.
///
/// ```
/// use std::io::Read;
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicBool, Ordering};
///
/// let end = Arc::new(AtomicBool::new(false));
/// let mut growing = fewest_data::Growing::new(b"a,b\n".as_slice(), Arc::clone(&end));
/// let mut text = [0; 4];
/// growing.read_exact(&mut text)?;
/// end.store(true, Ordering::Relaxed);
/// assert_eq!(growing.read(&mut text)?, 0);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Growing<R> {
    inner: R,
    end: Arc<AtomicBool>,
}

impl<R> Growing<R> {
    /// Reads `inner` until `end` is true and nothing more is there.
    pub fn new(inner: R, end: Arc<AtomicBool>) -> Self {
        Self { inner, end }
    }
}

impl<R: Read> Read for Growing<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            let is_end = self.end.load(Ordering::Relaxed);
            match self.inner.read(out)? {
                0 if !is_end => std::thread::sleep(WAIT),
                count => return Ok(count),
            }
        }
    }
}

/// Chunks of a pipe that may wait to be parsed.
const CHUNKS: usize = 4;

/// A pipe that can be told to end: a thread of its own waits for what comes.
#[derive(Debug)]
pub struct Piped {
    chunks: Receiver<io::Result<Vec<u8>>>,
    chunk: Vec<u8>,
    used: usize,
    end: Arc<AtomicBool>,
}

impl Piped {
    /// Reads `inner` to its end, or until `end` is true and nothing more has come.
    ///
    /// # Errors
    /// Where no thread can be started.
    pub fn new(mut inner: impl Read + Send + 'static, end: Arc<AtomicBool>) -> io::Result<Self> {
        let (sender, chunks) = sync_channel(CHUNKS);
        let work = move || {
            let mut buffer = vec![0; 1 << 16];
            loop {
                let chunk = match inner.read(&mut buffer) {
                    Ok(0) => return,
                    Ok(count) => Ok(buffer[..count].to_vec()),
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    Err(error) => Err(error),
                };
                let is_error = chunk.is_err();
                if sender.send(chunk).is_err() || is_error {
                    return;
                }
            }
        };
        std::thread::Builder::new().name("pipe".to_owned()).spawn(work)?;
        Ok(Self { chunks, chunk: Vec::new(), used: 0, end })
    }
}

impl Read for Piped {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while self.used == self.chunk.len() {
            let is_end = self.end.load(Ordering::Relaxed);
            match self.chunks.recv_timeout(WAIT) {
                Ok(chunk) => (self.chunk, self.used) = (chunk?, 0),
                Err(RecvTimeoutError::Timeout) if !is_end => {}
                Err(_) => return Ok(0),
            }
        }
        let count = (self.chunk.len() - self.used).min(out.len());
        out[..count].copy_from_slice(&self.chunk[self.used..self.used + count]);
        self.used += count;
        Ok(count)
    }
}

/// Lines, and what all before them were.
struct Lines {
    rows: Rows,
    record: ByteRecord,
    /// Of all records so far.
    hash: u64,
    n_cells: usize,
    /// The line of the first record.
    first_line: u64,
    /// How much may be kept, and what is.
    limit: Limit,
    kept: u64,
}

/// Bytes of a record that is kept beside those of its cells.
const RECORD: u64 = 128;

impl Lines {
    fn open(path: &Path, content: impl Read + 'static, options: &ReadOptions) -> Result<(Self, u8), Error> {
        let source = Source::of_lines(path, content, options)?;
        if let Some(format) = options.formats.certain(&source).filter(|format| !format.is_text()) {
            return Err(Error::unsupported(
                path,
                format!("a stream of a {} file", format.name()),
                "it is no text with a sample or a feature a line: read the whole table (on the command line: fewest \
                 select, or fewest stream --orders), or write it as CSV",
            ));
        }
        check_text(&source)?;
        let between = delimiter(&source, options.delimiter)?;
        let limit = Limit::of(path, options);
        let rows = Rows::new(source, between);
        let record = ByteRecord::new();
        Ok((Self { rows, record, hash: 0, n_cells: 0, first_line: 0, limit, kept: 0 }, between))
    }

    /// The record, to be kept with others: of content that does not end, no more than there is room for.
    fn keep(&mut self) -> Result<ByteRecord, Error> {
        let cells = (self.record.len() * size_of::<usize>()) as u64;
        self.kept += self.record.as_slice().len() as u64 + cells + RECORD;
        if self.kept > self.limit.most() {
            let problem = "the lines that are kept take more than half of the memory";
            let advice = "let fewer lines decide (on the command line: --first-rows); a table with the target has \
                          one for each sample";
            return Err(Error::malformed(self.rows.path(), Place::File, problem, advice));
        }
        Ok(self.record.clone())
    }

    /// The next record is in `self.record`; its first line, or `None` at the end.
    fn next(&mut self) -> Result<Option<u64>, Error> {
        let Some(line) = self.rows.next(&mut self.record)? else { return Ok(None) };
        let n_cells = self.record.len();
        if self.first_line == 0 {
            (self.n_cells, self.first_line) = (n_cells, line);
        } else if n_cells != self.n_cells {
            let first = (self.first_line, self.n_cells);
            return Err(wrong_length(self.rows.path(), (line, n_cells), first, self.rows.is_cut_off()));
        }
        if self.record.as_slice().contains(&0) {
            let advice =
                "remove it, or name the encoding of the text (on the command line: --encoding utf-16le)";
            return Err(Error::malformed(
                self.rows.path(),
                Place::Line(line),
                "a zero byte, which is no text",
                advice,
            ));
        }
        self.hash = hashed(self.hash, &self.record);
        Ok(Some(line))
    }
}

/// The hash of records, one after the other: it tells whether lines that come again are the same, not who
/// wrote them.
fn hashed(before: u64, record: &ByteRecord) -> u64 {
    let mut hash = derive_seed(before, record.len() as u64);
    for cell in record {
        hash = derive_seed(hash, cell.len() as u64);
        for word in cell.chunks(8) {
            let mut bytes = [0; 8];
            bytes[..word.len()].copy_from_slice(word);
            hash = derive_seed(hash, u64::from_le_bytes(bytes));
        }
    }
    hash
}
