//! Bytes of a file at any place, for any number of threads.

use std::io::{self, BufReader, Read};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use fewest_data::Content;
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, Length};

/// Bytes that are read at once where the number wanted is not known.
const BUFFER: usize = 1 << 16;

/// A file or bytes in memory.
#[derive(Clone)]
pub(crate) struct BytesAt {
    from: From,
    length: u64,
}

#[derive(Clone)]
enum From {
    /// A file has one position, so that only one thread at a time may move it.
    File(Arc<Mutex<Content>>),
    Bytes(Bytes),
}

impl BytesAt {
    pub(crate) fn new(content: Content) -> io::Result<Self> {
        let length = content.length()?;
        let from = match content {
            Content::Bytes(bytes) => From::Bytes(bytes.into()),
            file => From::File(Arc::new(Mutex::new(file))),
        };
        Ok(Self { from, length })
    }

    /// Exactly `length` bytes; nothing is allocated for more than there are.
    pub(crate) fn bytes(&self, start: u64, length: u64) -> io::Result<Bytes> {
        match &self.from {
            From::File(file) => {
                let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
                file.read_at(start, length).map(Bytes::from)
            }
            From::Bytes(bytes) => {
                let end = start.checked_add(length).filter(|end| *end <= self.length);
                let end = end.ok_or_else(|| io::Error::from(io::ErrorKind::UnexpectedEof))?;
                Ok(bytes.slice(start as usize..end as usize))
            }
        }
    }
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
