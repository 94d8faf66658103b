//! Bytes of a file at any place, for any number of threads.

use std::collections::BTreeMap;
use std::io::{self, BufReader, Read};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use fewest_data::{Content, Remote};
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, Length};

/// Bytes that are read at once where the number wanted is not known: more than the head of a page has.
const BUFFER: usize = 1 << 12;

/// Bytes that are fetched before they are used, at most.
const AHEAD: u64 = 256 << 20;

/// A file, bytes in memory, or bytes elsewhere.
#[derive(Clone)]
pub(crate) struct BytesAt {
    from: From,
    length: u64,
}

#[derive(Clone)]
enum From {
    File(Arc<Content>),
    /// Those behind a place.
    Bytes(u64, Bytes),
    /// With those that were fetched before they are used, by their places.
    Remote(Arc<dyn Remote>, Arc<Mutex<BTreeMap<u64, Bytes>>>),
}

impl BytesAt {
    pub(crate) fn new(content: Content) -> io::Result<Self> {
        let length = content.length()?;
        let from = match content {
            Content::Bytes(bytes) => From::Bytes(0, bytes.into()),
            Content::Remote(remote) => From::Remote(remote, Arc::default()),
            file => From::File(Arc::new(file)),
        };
        Ok(Self { from, length })
    }

    /// Exactly `length` bytes; nothing is allocated for more than there are.
    pub(crate) fn bytes(&self, start: u64, length: u64) -> io::Result<Bytes> {
        match &self.from {
            From::File(file) => {
                let is_there = start.checked_add(length).is_some_and(|end| end <= self.length);
                let length = usize::try_from(length).ok().filter(|_| is_there);
                let mut out = vec![0; length.ok_or(io::ErrorKind::UnexpectedEof)?];
                file.read_at(start, &mut out)?;
                Ok(out.into())
            }
            From::Bytes(first, bytes) => {
                part(*first, bytes, start, length).ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
            }
            From::Remote(remote, ahead) => {
                let ahead = ahead.lock().unwrap_or_else(PoisonError::into_inner);
                let before = ahead.range(..=start).next_back();
                if let Some(found) = before.and_then(|(first, bytes)| part(*first, bytes, start, length)) {
                    return Ok(found);
                }
                drop(ahead);
                remote.read_at(start, length).map(Bytes::from)
            }
        }
    }

    /// Whether each read is a request, so that few large ones are better.
    pub(crate) fn is_remote(&self) -> bool {
        matches!(self.from, From::Remote(..))
    }

    /// Fetches what will be used next, all together, and forgets what was fetched before and is not among it.
    /// What is too much is left for when it is used.
    pub(crate) fn fetch(&self, mut next: Vec<Range<u64>>) -> io::Result<()> {
        let From::Remote(remote, ahead) = &self.from else { return Ok(()) };
        next.sort_by_key(|range| (range.start, range.end));
        next.dedup();
        let mut left = AHEAD;
        next.retain(|range| {
            let fits = length(range) <= left;
            left -= if fits { length(range) } else { 0 };
            fits
        });
        {
            let mut ahead = ahead.lock().unwrap_or_else(PoisonError::into_inner);
            ahead.retain(|start, _| next.binary_search_by_key(start, |range| range.start).is_ok());
            let is_there = |range: &Range<u64>| {
                ahead.get(&range.start).is_some_and(|bytes| bytes.len() as u64 >= length(range))
            };
            // What a damaged file says to be behind its end is an error where it is used.
            next.retain(|range| range.end <= self.length && !is_there(range));
        }
        let fetched = remote.read(&next)?;
        let fetched = next.iter().zip(fetched).map(|(range, bytes)| (range.start, bytes.into()));
        ahead.lock().unwrap_or_else(PoisonError::into_inner).extend(fetched);
        Ok(())
    }

    /// The bytes of a range, which are fetched at once where they lie elsewhere; others may then be missing.
    pub(crate) fn of(&self, range: Range<u64>) -> io::Result<Self> {
        match self.is_remote() {
            false => Ok(self.clone()),
            true => {
                let bytes = self.bytes(range.start, length(&range))?;
                Ok(Self { from: From::Bytes(range.start, bytes), length: range.end })
            }
        }
    }
}

fn length(range: &Range<u64>) -> u64 {
    range.end.saturating_sub(range.start)
}

/// Of the bytes behind `first` those at a place, where all of them are there.
fn part(first: u64, bytes: &Bytes, start: u64, length: u64) -> Option<Bytes> {
    let start = usize::try_from(start.checked_sub(first)?).ok()?;
    let end = start.checked_add(usize::try_from(length).ok()?).filter(|end| *end <= bytes.len())?;
    Some(bytes.slice(start..end))
}

impl Length for BytesAt {
    fn len(&self) -> u64 {
        self.length
    }
}

/// What follows a place.
pub(crate) struct Following {
    all: BytesAt,
    next: u64,
}

impl Read for Following {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let left = self.all.length.saturating_sub(self.next);
        let count = left.min(out.len() as u64);
        let bytes = self.all.bytes(self.next, count)?;
        out[..bytes.len()].copy_from_slice(&bytes);
        self.next += count;
        Ok(bytes.len())
    }
}

impl ChunkReader for BytesAt {
    type T = BufReader<Following>;

    fn get_read(&self, start: u64) -> parquet::errors::Result<Self::T> {
        Ok(BufReader::with_capacity(BUFFER, Following { all: self.clone(), next: start }))
    }

    fn get_bytes(&self, start: u64, length: usize) -> parquet::errors::Result<Bytes> {
        self.bytes(start, length as u64).map_err(|error| ParquetError::External(Box::new(error)))
    }
}
