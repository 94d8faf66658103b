//! A batch of rows: where its buffers are, and what is in them.

use std::io::Read;
use std::ops::Range;

use bytes::Bytes;
use fewest_data::Limit;

use super::flat::{Items, Table, i32_at, i64_at};
use super::schema::{Extent, Type};
use crate::bytes_at::BytesAt;
use crate::reading::Stop;

/// No compressed buffer is so many times smaller than its content.
const BEST_COMPRESSION: u64 = 1 << 16;

/// Bytes of a compressed buffer before its content: their number, or that it is not compressed.
const PREFIX: usize = 8;
const NOT_COMPRESSED: i64 = -1;

/// What the header of a message is about.
pub(super) const DICTIONARY: u8 = 2;
pub(super) const ROWS: u8 = 3;

/// A piece of a file: metadata, and a body behind them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Block {
    pub(super) start: u64,
    pub(super) metadata: u64,
    pub(super) body: u64,
}

impl Block {
    /// From the 24 bytes at a place.
    pub(super) fn at(bytes: &[u8], place: usize) -> Result<Self, Stop> {
        let number = |number: i64| u64::try_from(number).map_err(|_| Stop::damage("a place below zero"));
        Ok(Self {
            start: number(i64_at(bytes, place)?)?,
            metadata: number(i32_at(bytes, place + 8)?.into())?,
            body: number(i64_at(bytes, place + 16)?)?,
        })
    }

    /// Where the metadata are.
    pub(super) fn message(&self) -> Range<u64> {
        self.start..self.start.saturating_add(self.metadata)
    }
}

#[derive(Clone, Copy)]
enum Codec {
    Lz4,
    Zstd,
}

/// A dictionary's number, and whether its texts continue another.
pub(super) type Continues = Option<(i64, bool)>;

pub(super) struct Batch {
    pub(super) rows: usize,
    message: Bytes,
    nodes: Items,
    buffers: Items,
    /// How many buffers the arrays without a fixed number of them have before each.
    views: Vec<usize>,
    codec: Option<Codec>,
    body: (u64, u64),
}

impl Batch {
    /// The batch of a block, whose header is that of `expected`.
    pub(super) fn read(bytes: &BytesAt, block: Block, expected: u8) -> Result<(Self, Continues), Stop> {
        let body = block.start.checked_add(block.metadata).ok_or_else(|| Stop::damage("a place too far"))?;
        let whole = bytes.bytes(block.start, block.metadata).map_err(Stop::reading)?;
        // A length follows a mark, which older files do not have.
        let skip = if whole.starts_with(&[0xFF; 4]) { 8 } else { 4 };
        // Its own bytes: those of a file that is in memory would stay there with it.
        let message = Bytes::copy_from_slice(whole.get(skip..).unwrap_or_default());
        let root = Table::root(&message)?;
        let missing = || Stop::damage("a message is empty");
        if root.u8(1, 0)? != expected {
            return Err(Stop::damage("a message is of another kind"));
        }
        let header = root.table(2)?.ok_or_else(missing)?;
        let (header, continues) = match expected {
            DICTIONARY => {
                let continues = Some((header.i64(0, 0)?, header.u8(2, 0)? != 0));
                (header.table(1)?.ok_or_else(missing)?, continues)
            }
            _ => (header, None),
        };
        let rows = usize::try_from(header.i64(0, 0)?).map_err(|_| Stop::damage("rows below zero"))?;
        let codec = match header.table(3)?.map(|compression| compression.u8(0, 0)).transpose()? {
            None => None,
            Some(0) => Some(Codec::Lz4),
            Some(1) => Some(Codec::Zstd),
            Some(_) => return Err(Stop::damage("a compression that is not known")),
        };
        let counts = header.items(4, 8)?;
        let mut views = vec![0_usize];
        for i in 0..counts.count {
            let count = usize::try_from(i64_at(&message, counts.place(i)?)?).map_err(Stop::damage)?;
            let before = views.last().copied().unwrap_or(0);
            views.push(before.checked_add(count).ok_or_else(|| Stop::damage("too many buffers"))?);
        }
        let (nodes, buffers) = (header.items(1, 16)?, header.items(2, 16)?);
        let body = (body, block.body);
        Ok((Self { rows, nodes, buffers, views, codec, body, message: message.clone() }, continues))
    }

    /// Bytes of memory that its metadata take.
    pub(super) fn bytes(&self) -> u64 {
        (size_of::<Self>() + self.message.len() + size_of_val(&*self.views)) as u64
    }

    /// The array of a column whose buffers begin behind `first`.
    pub(super) fn array(
        &self,
        bytes: &BytesAt,
        first: Extent,
        stored: Type,
        limit: &Limit,
    ) -> Result<Array, Stop> {
        let node = self.nodes.place(first.nodes)?;
        let length = i64_at(&self.message, node)?;
        if usize::try_from(length) != Ok(self.rows) {
            return Err(Stop::damage("a column has another number of rows than its batch"));
        }
        let rows = self.rows;
        if stored == Type::Nothing {
            return Ok(Array { rows, stored, valid: None, buffers: Vec::new() });
        }
        let (start, count) = self.buffers_of(first, stored)?;
        let buffer = |i: usize| self.buffer(bytes, start + i, limit);
        let has_gaps = i64_at(&self.message, node + 8)? != 0;
        let valid = has_gaps.then(|| buffer(0)).transpose()?;
        if valid.as_ref().is_some_and(|valid| valid.len() < rows.div_ceil(8)) {
            return Err(Stop::damage("a buffer is too short"));
        }
        // More buffers than the batch has are told by the first that is not there.
        let buffers = (1..count).map(buffer).collect::<Result<Vec<_>, Stop>>()?;
        Ok(Array { rows, stored, valid, buffers })
    }

    /// The first buffer of a column, and how many it has.
    fn buffers_of(&self, first: Extent, stored: Type) -> Result<(usize, usize), Stop> {
        let before =
            self.views.get(first.views).ok_or_else(|| Stop::damage("a number of buffers is missing"))?;
        let count = match stored {
            Type::Nothing => 0,
            Type::Text(_) => 3,
            Type::TextView => {
                let next = self.views.get(first.views + 1);
                2 + next.ok_or_else(|| Stop::damage("a number of buffers is missing"))? - before
            }
            _ => 2,
        };
        Ok((first.buffers + before, count))
    }

    /// Where a column is, whose buffers lie one behind the other.
    pub(super) fn place(&self, first: Extent, stored: Type) -> Result<Range<u64>, Stop> {
        let (start, count) = self.buffers_of(first, stored)?;
        let mut all: Option<Range<u64>> = None;
        for number in start..start.saturating_add(count) {
            let place = self.buffer_place(number)?;
            if place.is_empty() {
                continue;
            }
            let before = all.get_or_insert_with(|| place.clone());
            *before = before.start.min(place.start)..before.end.max(place.end);
        }
        Ok(all.unwrap_or(0..0))
    }

    fn buffer_place(&self, number: usize) -> Result<Range<u64>, Stop> {
        let place = self.buffers.place(number)?;
        let (offset, length) = (i64_at(&self.message, place)?, i64_at(&self.message, place + 8)?);
        let inside = |number: i64| u64::try_from(number).ok().filter(|number| *number <= self.body.1);
        let within =
            inside(offset).zip(inside(length)).filter(|(offset, length)| offset + length <= self.body.1);
        let (offset, length) = within.ok_or_else(|| Stop::damage("a buffer is outside of its batch"))?;
        let start = self.body.0.checked_add(offset).ok_or_else(|| Stop::damage("a place too far"))?;
        Ok(start..start.saturating_add(length))
    }

    fn buffer(&self, bytes: &BytesAt, number: usize, limit: &Limit) -> Result<Bytes, Stop> {
        let place = self.buffer_place(number)?;
        let stored = bytes.bytes(place.start, place.end - place.start).map_err(Stop::reading)?;
        match self.codec {
            Some(codec) if !stored.is_empty() => unpacked(&stored, codec, limit),
            _ => Ok(stored),
        }
    }
}

fn unpacked(stored: &Bytes, codec: Codec, limit: &Limit) -> Result<Bytes, Stop> {
    let declared = i64_at(stored, 0)?;
    let packed = stored.slice(PREFIX..);
    if declared == NOT_COMPRESSED {
        return Ok(packed);
    }
    let most = (packed.len() as u64).saturating_mul(BEST_COMPRESSION);
    let declared = u64::try_from(declared).ok().filter(|declared| *declared <= most);
    let declared = declared.ok_or_else(|| Stop::damage("a buffer declares a length that it cannot have"))?;
    limit.check(declared)?;
    let length = usize::try_from(declared).map_err(Stop::damage)?;
    let content = match codec {
        Codec::Zstd => zstd::bulk::decompress(&packed, length).map_err(Stop::damage)?,
        Codec::Lz4 => {
            let mut content = Vec::new();
            let decoder = lz4_flex::frame::FrameDecoder::new(&packed[..]);
            decoder.take(declared + 1).read_to_end(&mut content).map_err(Stop::damage)?;
            content
        }
    };
    match content.len() == length {
        true => Ok(content.into()),
        false => Err(Stop::damage("a buffer has another length than it declares")),
    }
}

/// The values of a column in a batch.
pub(super) struct Array {
    pub(super) rows: usize,
    pub(super) stored: Type,
    /// A bit for each row, 0 where missing; `None` where none is.
    pub(super) valid: Option<Bytes>,
    /// Those behind the bits.
    pub(super) buffers: Vec<Bytes>,
}
