//! Text in encodings other than UTF-8.

use std::io::{self, BufRead, BufReader, Read};

use encoding_rs::{Decoder, DecoderResult, Encoding};

use crate::error::quoted;
use crate::source::Source;
use crate::{Error, ReadOptions};

/// What to do about text in an unknown encoding, beside saving it as UTF-8.
pub(crate) const NAME_IT: &str = "or name its encoding (on the command line: --encoding latin1)";

/// Bytes that are no text in the encoding of that name.
#[derive(Debug, thiserror::Error)]
#[error("the text is not {0}")]
pub(crate) struct Undecodable(&'static str);

impl Source {
    /// Whether its first bytes say that it is text in UTF-16.
    pub(crate) fn is_utf_16(&self) -> bool {
        Encoding::for_bom(&self.prefix).is_some_and(|(encoding, _)| encoding != encoding_rs::UTF_8)
    }

    /// The same content in UTF-8: decoded from the encoding that is asked for, or from UTF-16 where the first
    /// bytes say so (a byte order mark); anything else is left as it is.
    pub(crate) fn in_utf8(mut self, options: &ReadOptions) -> Result<Self, Error> {
        let told = Encoding::for_bom(&self.prefix).map(|(encoding, _)| encoding);
        let encoding = match (&options.encoding, told) {
            (_, Some(told)) => told,
            (Some(name), None) => named(name)?,
            (None, None) => return Ok(self),
        };
        if encoding == encoding_rs::UTF_8 {
            return Ok(self);
        }
        let (decoded, _) = encoding.decode_with_bom_removal(&self.prefix);
        // As many bytes more or less in the whole file as in its start.
        let growth = decoded.len() as f64 / self.prefix.len().max(1) as f64;
        self.length = (self.length as f64 * growth) as u64;
        self.prefix = decoded.into_owned().into_bytes();
        let decoder = encoding.new_decoder_with_bom_removal();
        let name = encoding.name();
        let inner = self.reader;
        let (ready, used) = (Vec::new(), 0);
        let text = Decoded { inner, decoder, name, ready, used, ended: false, malformed: false };
        self.reader = Box::new(BufReader::new(text));
        Ok(self)
    }
}

/// The encoding of that name.
fn named(name: &str) -> Result<&'static Encoding, Error> {
    Encoding::for_label(name.as_bytes()).ok_or_else(|| {
        let expected = "the name of an encoding, such as utf-8, latin1, utf-16le or shift_jis";
        fewest_core::Error::parameter("encoding", quoted(name), expected).into()
    })
}

/// Bytes of another encoding, read as UTF-8.
struct Decoded {
    inner: Box<dyn BufRead>,
    decoder: Decoder,
    name: &'static str,
    /// Decoded, of which `used` bytes were given away.
    ready: Vec<u8>,
    used: usize,
    ended: bool,
    /// Whether what follows is not in this encoding.
    malformed: bool,
}

impl Read for Decoded {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while self.used == self.ready.len() && !self.ended {
            if self.malformed {
                return Err(io::Error::new(io::ErrorKind::InvalidData, Undecodable(self.name)));
            }
            let input = self.inner.fill_buf()?;
            let is_last = input.is_empty();
            // A byte becomes at most three; the rest is what the decoder may hold back.
            self.ready.resize(3 * input.len() + 16, 0);
            let (result, read, written) =
                self.decoder.decode_to_utf8_without_replacement(input, &mut self.ready, is_last);
            self.inner.consume(read);
            self.ready.truncate(written);
            self.used = 0;
            match result {
                DecoderResult::InputEmpty => self.ended = is_last,
                DecoderResult::OutputFull => {}
                // What comes before it is read first, so that its line is known.
                DecoderResult::Malformed(..) => self.malformed = true,
            }
        }
        let count = (self.ready.len() - self.used).min(out.len());
        out[..count].copy_from_slice(&self.ready[self.used..self.used + count]);
        self.used += count;
        Ok(count)
    }
}
