//! Converts the line ends of all systems to line feeds.

use std::io::{self, BufRead, Read};

/// More bytes of one record than are read: it ends nowhere, say.
#[derive(Debug, thiserror::Error)]
#[error("the record is too long")]
pub(super) struct TooLong;

/// Text in which every line, including the last, ends in one line feed.
pub(super) struct UnixLines {
    inner: Box<dyn BufRead>,
    skip: usize,
    after_return: bool,
    last: u8,
    before_last: u8,
    emitted: u64,
    /// Behind so many bytes reading is an error.
    end: u64,
    ended: bool,
    added_feed: bool,
}

impl UnixLines {
    /// Reads `inner` after its first `skip` bytes.
    pub(super) fn new(inner: Box<dyn BufRead>, skip: usize) -> Self {
        Self {
            inner,
            skip,
            after_return: false,
            last: b'\n',
            before_last: b'\n',
            emitted: 0,
            end: u64::MAX,
            ended: false,
            added_feed: false,
        }
    }

    /// Allows as many bytes more to be read, and about as many as a buffer holds.
    pub(super) fn allow(&mut self, bytes: u64) {
        self.end = self.emitted.saturating_add(bytes);
    }

    /// For a record that contains the final line feed: whether `position` is the end of the text and no
    /// closing quote precedes that line feed.
    pub(super) fn ends_inside_quotes(&self, position: u64) -> bool {
        self.ended && position == self.emitted && self.before_last != b'"'
    }

    /// Whether the last line had no end of its own.
    pub(super) fn ended_without_line_feed(&self) -> bool {
        self.added_feed
    }

    fn emit(&mut self, byte: u8) -> u8 {
        self.before_last = self.last;
        self.last = byte;
        self.emitted += 1;
        byte
    }
}

impl Read for UnixLines {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if out.is_empty() || self.ended {
            return Ok(0);
        }
        if self.emitted > self.end {
            return Err(io::Error::other(TooLong));
        }
        let mut written = 0;
        while written == 0 {
            let available = self.inner.fill_buf()?;
            if available.is_empty() {
                self.ended = true;
                if self.last != b'\n' {
                    self.added_feed = true;
                    out[0] = self.emit(b'\n');
                    written = 1;
                }
                break;
            }
            // Copied first, because `emit` borrows all of `self`.
            let count = available.len().min(out.len());
            out[..count].copy_from_slice(&available[..count]);
            self.inner.consume(count);
            for at in 0..count {
                let byte = out[at];
                let second_half = byte == b'\n' && self.after_return;
                self.after_return = byte == b'\r';
                if self.skip > 0 {
                    self.skip -= 1;
                } else if !second_half {
                    out[written] = self.emit(if byte == b'\r' { b'\n' } else { byte });
                    written += 1;
                }
            }
        }
        Ok(written)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_is_read_than_is_allowed() {
        let text = || io::BufReader::with_capacity(16, io::repeat(b'x'));
        let mut lines = UnixLines::new(Box::new(text()), 0);
        lines.allow(100);
        let mut read = Vec::new();
        let error = lines.read_to_end(&mut read).unwrap_err();
        assert!(error.get_ref().is_some_and(|inner| inner.is::<TooLong>()), "{error}");
        assert!((101..=116).contains(&read.len()), "{}", read.len());
        lines.allow(10);
        assert!(lines.read(&mut [0; 16]).is_ok());
    }

    #[test]
    fn every_line_ends_in_one_line_feed() {
        for (given, expected) in [
            ("a\r\nb\r\n", "a\nb\n"),
            ("a\rb", "a\nb\n"),
            ("a\n\nb\n", "a\n\nb\n"),
            ("a\r\n\r\nb", "a\n\nb\n"),
            ("", ""),
        ] {
            for capacity in [1, 2, 3, 100] {
                let reader = io::BufReader::with_capacity(capacity, io::Cursor::new(given));
                let mut text = String::new();
                UnixLines::new(Box::new(reader), 0).read_to_string(&mut text).unwrap();
                assert_eq!(text, expected, "{given:?} through {capacity} bytes");
            }
        }
    }
}
