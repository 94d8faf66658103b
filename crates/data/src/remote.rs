//! Bytes that lie elsewhere than in files.

use std::fmt::Debug;
use std::io::{self, Read};
use std::ops::Range;
use std::sync::Arc;

/// Bytes at another place than in a file, such as an object of a store: read at any place, by any thread.
///
/// Each call may be a request over a network, so that readers ask for much at a time.
pub trait Remote: Debug + Send + Sync {
    /// How many bytes there are.
    fn length(&self) -> u64;

    /// What tells this content from any other that the same name had or will have: reading anything else is
    /// an error.
    fn version(&self) -> &str;

    /// Exactly the bytes of each range, whose order says nothing. Who implements this joins ranges that are
    /// near each other.
    ///
    /// # Errors
    /// Those of the network, which say what to do; [`io::ErrorKind::UnexpectedEof`] for a range that is not
    /// there, for which nothing is allocated.
    fn read(&self, ranges: &[Range<u64>]) -> io::Result<Vec<Vec<u8>>>;
}

impl dyn Remote {
    /// Exactly `length` bytes from `start` on.
    ///
    /// # Errors
    /// Those of [`read`](Remote::read).
    pub fn read_at(&self, start: u64, length: u64) -> io::Result<Vec<u8>> {
        let end = start.checked_add(length).ok_or(io::ErrorKind::UnexpectedEof)?;
        self.read(std::slice::from_ref(&(start..end)))?
            .pop()
            .ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }
}

/// The bytes one after the other.
pub(crate) struct InOrder {
    pub(crate) remote: Arc<dyn Remote>,
    pub(crate) next: u64,
}

impl Read for InOrder {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = self.remote.length().saturating_sub(self.next).min(out.len() as u64);
        let bytes = self.remote.read_at(self.next, count)?;
        let (Some(out), true) = (out.get_mut(..bytes.len()), count > 0) else { return Ok(0) };
        out.copy_from_slice(&bytes);
        self.next += count;
        Ok(bytes.len())
    }
}
