//! Data elements: a tag with type and length, the data, and padding to 8 bytes.

use std::io::{self, Read};

pub(super) const MATRIX: u32 = 14;
pub(super) const COMPRESSED: u32 = 15;

/// An error inside a variable.
#[derive(Debug)]
pub(super) enum Fault {
    /// The content violates the format.
    Broken(String),
    /// An error of the operating system.
    Io(io::Error),
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Fault::Broken("it ends too early".to_owned()),
            io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => {
                Fault::Broken(format!("the compressed data are damaged ({error})"))
            }
            _ => Fault::Io(error),
        }
    }
}

impl Fault {
    pub(super) fn broken<T>(problem: impl Into<String>) -> Result<T, Self> {
        Err(Fault::Broken(problem.into()))
    }
}

/// The type and length in front of an element's data.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tag {
    pub kind: u32,
    pub length: u32,
    /// The data of a small element, which are stored in the tag.
    small: Option<[u8; 4]>,
}

/// How a number is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Number {
    Signed(usize),
    Unsigned(usize),
    Float(usize),
}

impl Number {
    fn from_kind(kind: u32) -> Option<Self> {
        match kind {
            1 => Some(Number::Signed(1)),
            2 => Some(Number::Unsigned(1)),
            3 => Some(Number::Signed(2)),
            4 => Some(Number::Unsigned(2)),
            5 => Some(Number::Signed(4)),
            6 => Some(Number::Unsigned(4)),
            7 => Some(Number::Float(4)),
            9 => Some(Number::Float(8)),
            12 => Some(Number::Signed(8)),
            13 => Some(Number::Unsigned(8)),
            _ => None,
        }
    }

    fn size(self) -> usize {
        match self {
            Number::Signed(size) | Number::Unsigned(size) | Number::Float(size) => size,
        }
    }
}

/// Reads elements one after another.
pub(super) struct Elements<R> {
    inner: R,
    big_endian: bool,
}

impl<R: Read> Elements<R> {
    pub(super) fn new(inner: R, big_endian: bool) -> Self {
        Self { inner, big_endian }
    }

    /// The bytes as one unsigned number.
    fn bits(&self, bytes: &[u8]) -> u64 {
        let add = |number: u64, &byte: &u8| number << 8 | u64::from(byte);
        if self.big_endian { bytes.iter().fold(0, add) } else { bytes.iter().rev().fold(0, add) }
    }

    fn word(&mut self) -> Result<[u8; 4], Fault> {
        let mut bytes = [0; 4];
        self.inner.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    /// The tag of a variable, which never contains data.
    pub(super) fn outer_tag(&mut self) -> Result<Tag, Fault> {
        let (kind, length) = (self.word()?, self.word()?);
        Ok(Tag { kind: self.bits(&kind) as u32, length: self.bits(&length) as u32, small: None })
    }

    /// The tag of an element inside a variable. Small ones hold up to 4 bytes of data in place of the length.
    pub(super) fn tag(&mut self) -> Result<Tag, Fault> {
        let first = self.word()?;
        let second = self.word()?;
        let first = self.bits(&first) as u32;
        let small_length = first >> 16;
        match small_length {
            0 => Ok(Tag { kind: first, length: self.bits(&second) as u32, small: None }),
            1..=4 => Ok(Tag { kind: first & 0xFFFF, length: small_length, small: Some(second) }),
            _ => Fault::broken(format!("an element of type {} is damaged", first & 0xFFFF)),
        }
    }

    /// The data of a short element, at most `most` bytes.
    pub(super) fn short(&mut self, most: u32) -> Result<Vec<u8>, Fault> {
        let tag = self.tag()?;
        if tag.length > most {
            return Fault::broken(format!(
                "an element of {} bytes where at most {most} are allowed",
                tag.length
            ));
        }
        if let Some(bytes) = tag.small {
            return Ok(bytes.into_iter().take(tag.length as usize).collect());
        }
        let mut bytes = vec![0; tag.length as usize];
        self.inner.read_exact(&mut bytes)?;
        self.skip_padding(tag)?;
        Ok(bytes)
    }

    /// The data of a short element as 32-bit numbers.
    pub(super) fn short_words(&mut self, most: u32) -> Result<Vec<u32>, Fault> {
        let bytes = self.short(most * 4)?;
        if !bytes.len().is_multiple_of(4) {
            return Fault::broken("an element of whole numbers has a broken length");
        }
        Ok(bytes.chunks_exact(4).map(|bytes| self.bits(bytes) as u32).collect())
    }

    /// The tag of the next element, which must hold numbers, and how many it holds.
    pub(super) fn numbers(&mut self) -> Result<(Tag, Number, usize), Fault> {
        let tag = self.tag()?;
        let Some(number) = Number::from_kind(tag.kind) else {
            return Fault::broken(format!("an element of type {} where numbers should be", tag.kind));
        };
        let length = tag.length as usize;
        if !length.is_multiple_of(number.size()) {
            return Fault::broken("an element of numbers has a broken length");
        }
        Ok((tag, number, length / number.size()))
    }

    /// Reads the numbers of the element whose `tag` was just read, and passes each to `take`.
    pub(super) fn read_numbers(
        &mut self,
        tag: Tag,
        number: Number,
        mut take: impl FnMut(f64),
    ) -> Result<(), Fault> {
        let size = number.size();
        if let Some(bytes) = tag.small {
            let length = tag.length as usize;
            bytes[..length.min(bytes.len())]
                .chunks_exact(size)
                .for_each(|bytes| take(self.decode(number, bytes)));
            return Ok(());
        }
        let mut buffer = [0_u8; 1 << 13];
        let mut left = tag.length as usize;
        while left > 0 {
            let now = left.min(buffer.len());
            let bytes = &mut buffer[..now];
            self.inner.read_exact(bytes)?;
            for bytes in bytes.chunks_exact(size) {
                take(self.decode(number, bytes));
            }
            left -= now;
        }
        self.skip_padding(tag)
    }

    /// Skips to the next multiple of 8 bytes after the data of `tag`.
    fn skip_padding(&mut self, tag: Tag) -> Result<(), Fault> {
        let padding = if tag.small.is_some() { 0 } else { (8 - tag.length % 8) % 8 };
        let mut ignored = [0; 8];
        self.inner.read_exact(&mut ignored[..padding as usize])?;
        Ok(())
    }

    fn decode(&self, number: Number, bytes: &[u8]) -> f64 {
        let bits = self.bits(bytes);
        match number {
            Number::Unsigned(_) => bits as f64,
            Number::Signed(1) => f64::from(bits as u8 as i8),
            Number::Signed(2) => f64::from(bits as u16 as i16),
            Number::Signed(4) => f64::from(bits as u32 as i32),
            Number::Signed(_) => bits as i64 as f64,
            Number::Float(4) => f64::from(f32::from_bits(bits as u32)),
            Number::Float(_) => f64::from_bits(bits),
        }
    }
}
