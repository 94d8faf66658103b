//! Buffers as cells.

use std::ops::Range;

use bytes::Bytes;
use half::f16;

use super::batch::Array;
use super::schema::Type;
use crate::builder::{Builder, Cell};
use crate::kind::{decimal, divided, whole};
use crate::reading::Stop;

/// Bytes of a view of a text: its length, and the text, or its first letters, a buffer and a place in it.
const VIEW: usize = 16;
/// Most bytes of a text that is in its view.
const SHORT: usize = 12;

fn short() -> Stop {
    Stop::damage("a buffer is too short")
}

impl Array {
    fn is_there(&self, row: usize) -> bool {
        let bit = |valid: &Bytes| valid.get(row / 8).is_some_and(|byte| byte >> (row % 8) & 1 == 1);
        self.valid.as_ref().is_none_or(bit)
    }

    /// A buffer behind the bits.
    fn buffer(&self, number: usize) -> Result<&[u8], Stop> {
        self.buffers.get(number).map(|buffer| &buffer[..]).ok_or_else(short)
    }

    /// The values, of this many bytes each.
    fn fixed(&self, width: usize) -> Result<std::slice::ChunksExact<'_, u8>, Stop> {
        let length = self.rows.checked_mul(width).ok_or_else(short)?;
        Ok(self.buffer(0)?.get(..length).ok_or_else(short)?.chunks_exact(width))
    }

    /// Adds these rows.
    pub(super) fn add_to(&self, rows: Range<usize>, out: &mut Builder) -> Result<(), Stop> {
        if let (Type::Float(8), None) = (self.stored, &self.valid) {
            // What nearly all columns hold, without a look at the type for each value.
            let number = |bytes: &[u8]| bytes.try_into().map_or(f64::NAN, f64::from_le_bytes);
            out.push_numbers(self.fixed(8)?.skip(rows.start).take(rows.len()).map(number));
            return Ok(());
        }
        self.each(rows, &mut |cell| out.push(cell))
    }

    /// Adds rows that are places in a list of texts.
    pub(super) fn add_coded_to(
        &self,
        list: &[Option<String>],
        rows: Range<usize>,
        out: &mut Builder,
    ) -> Result<(), Stop> {
        let list: Vec<Cell<'_>> =
            list.iter().map(|text| text.as_deref().map_or(Cell::Missing, Cell::Text)).collect();
        let mut places = Vec::with_capacity(rows.len().min(list.len()));
        let mut is_outside = false;
        self.each(rows, &mut |cell| {
            let place = match cell {
                Cell::Missing => None,
                Cell::Signed(place) => Some(usize::try_from(place).unwrap_or(usize::MAX)),
                Cell::Unsigned(place) => Some(usize::try_from(place).unwrap_or(usize::MAX)),
                Cell::Number(_) | Cell::Text(_) => Some(usize::MAX),
            };
            is_outside |= place.is_some_and(|place| place >= list.len());
            places.push(place);
        })?;
        if is_outside {
            return Err(Stop::damage("a category is not in its dictionary"));
        }
        out.push_coded(&list, places.into_iter());
        Ok(())
    }

    /// Gives the cells of these rows to `take`, in their order.
    fn each(&self, rows: Range<usize>, take: &mut dyn FnMut(Cell<'_>)) -> Result<(), Stop> {
        match self.stored {
            Type::Nothing => rows.for_each(|_| take(Cell::Missing)),
            Type::Truth => {
                let bits = self.buffer(0)?.get(..self.rows.div_ceil(8)).ok_or_else(short)?;
                for row in rows {
                    let truth = bits[row / 8] >> (row % 8) & 1 == 1;
                    let text = if truth { "true" } else { "false" };
                    take(if self.is_there(row) { Cell::Text(text) } else { Cell::Missing });
                }
            }
            Type::Text(width) => return self.each_text(width, rows, take),
            Type::TextView => return self.each_view(rows, take),
            Type::Signed(width)
            | Type::Unsigned(width)
            | Type::Float(width)
            | Type::Decimal { width, .. }
            | Type::Divided { width, .. } => {
                for (row, bytes) in self.fixed(width)?.enumerate().skip(rows.start).take(rows.len()) {
                    take(if self.is_there(row) { self.cell(bytes)? } else { Cell::Missing });
                }
            }
        }
        Ok(())
    }

    /// The cell of some bytes, the lowest first.
    fn cell(&self, bytes: &[u8]) -> Result<Cell<'static>, Stop> {
        Ok(match self.stored {
            Type::Signed(_) => Cell::Signed(signed(bytes)),
            Type::Unsigned(_) => Cell::Unsigned(unsigned(bytes)),
            Type::Float(_) => Cell::Number(match *bytes {
                [a, b] => f16::from_le_bytes([a, b]).to_f64(),
                [a, b, c, d] => f64::from(f32::from_le_bytes([a, b, c, d])),
                _ => f64::from_bits(unsigned(bytes)),
            }),
            Type::Decimal { scale, .. } => Cell::Number(decimal(digits(bytes)?, scale)),
            Type::Divided { by, .. } => Cell::Number(divided(signed(bytes), by)),
            Type::Nothing | Type::Truth | Type::Text(_) | Type::TextView => Cell::Missing,
        })
    }

    fn each_text(
        &self,
        width: usize,
        rows: Range<usize>,
        take: &mut dyn FnMut(Cell<'_>),
    ) -> Result<(), Stop> {
        if self.rows == 0 {
            return Ok(());
        }
        let (places, letters) = (self.buffer(0)?, self.buffer(1)?);
        let place = |row: usize| {
            let bytes = places.get(row * width..(row + 1) * width).ok_or_else(short)?;
            usize::try_from(unsigned(bytes)).map_err(Stop::damage)
        };
        for row in rows {
            let text = letters.get(place(row)?..place(row + 1)?).ok_or_else(short)?;
            take(if self.is_there(row) { text_cell(text)? } else { Cell::Missing });
        }
        Ok(())
    }

    fn each_view(&self, rows: Range<usize>, take: &mut dyn FnMut(Cell<'_>)) -> Result<(), Stop> {
        for (row, view) in self.fixed(VIEW)?.enumerate().skip(rows.start).take(rows.len()) {
            if !self.is_there(row) {
                take(Cell::Missing);
                continue;
            }
            let part = |at: usize| {
                let bytes: [u8; 4] = view[at..at + 4].try_into().map_err(|_| short())?;
                usize::try_from(u32::from_le_bytes(bytes)).map_err(Stop::damage)
            };
            let length = part(0)?;
            let text = if length <= SHORT {
                &view[4..4 + length]
            } else {
                let (number, start) = (part(8)?, part(12)?);
                let buffer = self.buffer(number.checked_add(1).ok_or_else(short)?)?;
                let end = start.checked_add(length).ok_or_else(short)?;
                buffer.get(start..end).ok_or_else(short)?
            };
            take(text_cell(text)?);
        }
        Ok(())
    }
}

/// A whole number of at most 8 bytes.
fn unsigned(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte))
}

/// The same with its sign.
fn signed(bytes: &[u8]) -> i64 {
    let above = 64_usize.saturating_sub(8 * bytes.len());
    (unsigned(bytes) << above) as i64 >> above
}

/// The digits of a decimal number.
fn digits(bytes: &[u8]) -> Result<i128, Stop> {
    let highest_first: Vec<u8> = bytes.iter().rev().copied().collect();
    whole(&highest_first).ok_or_else(|| Stop::damage("a decimal number has more than 38 digits"))
}

fn text_cell(text: &[u8]) -> Result<Cell<'_>, Stop> {
    std::str::from_utf8(text).map(Cell::Text).map_err(|_| Stop::damage("a text is not UTF-8"))
}
