//! Workbooks of Excel 97 to 2003: a stream of records ([MS-XLS]) in a compound file.
//!
//! Read here and not by calamine, which takes the lengths and positions that a file declares as they are:
//! damaged ones end in a panic there, or in more memory than there is.

use std::path::Path;

use calamine::{ExcelDateTime, ExcelDateTimeType};
use fewest_data::{Error, Limit, ReadOptions};

use crate::compound::{Compound, u16_at, u32_at};
use crate::text::{Lines, date};
use crate::{Sheet, chosen, damaged};

/// Records, by what they hold.
mod kind {
    pub(super) const FORMULA: u16 = 0x0006;
    pub(super) const END: u16 = 0x000A;
    pub(super) const DATE_MODE: u16 = 0x0022;
    pub(super) const PASSWORD: u16 = 0x002F;
    pub(super) const CONTINUE: u16 = 0x003C;
    pub(super) const SHEET: u16 = 0x0085;
    pub(super) const RKS: u16 = 0x00BD;
    pub(super) const RICH_TEXT: u16 = 0x00D6;
    pub(super) const STYLE: u16 = 0x00E0;
    pub(super) const TEXTS: u16 = 0x00FC;
    pub(super) const SHARED_TEXT: u16 = 0x00FD;
    pub(super) const NUMBER: u16 = 0x0203;
    pub(super) const TEXT: u16 = 0x0204;
    pub(super) const TRUTH: u16 = 0x0205;
    pub(super) const FORMULA_TEXT: u16 = 0x0207;
    pub(super) const RK: u16 = 0x027E;
    pub(super) const FORMAT: u16 = 0x041E;
    pub(super) const BEGIN: u16 = 0x0809;
}

/// The version of records of Excel 97 to 2003.
const VERSION: u16 = 0x0600;

const CUT_OFF: &str = "it is cut off";
const SHORT: &str = "a record is too short";

/// Why a workbook cannot be read.
type Damage = &'static str;

/// A record with those that go on with it.
struct Record<'a> {
    kind: u16,
    data: &'a [u8],
    more: Vec<&'a [u8]>,
}

/// The records of a stream, as far as it goes.
struct Records<'a>(&'a [u8]);

impl<'a> Records<'a> {
    fn piece(&mut self) -> Result<(u16, &'a [u8]), Damage> {
        let kind = u16_at(self.0, 0).ok_or(CUT_OFF)?;
        let end = 4 + usize::from(u16_at(self.0, 2).ok_or(CUT_OFF)?);
        let data = self.0.get(4..end).ok_or(CUT_OFF)?;
        self.0 = self.0.get(end..).unwrap_or_default();
        Ok((kind, data))
    }

    fn next(&mut self) -> Result<Record<'a>, Damage> {
        let (kind, data) = self.piece()?;
        let mut more = Vec::new();
        while u16_at(self.0, 0) == Some(kind::CONTINUE) {
            more.push(self.piece()?.1);
        }
        Ok(Record { kind, data, more })
    }
}

impl<'a> Record<'a> {
    fn u16(&self, at: usize) -> Result<u16, Damage> {
        u16_at(self.data, at).ok_or(SHORT)
    }

    fn u32(&self, at: usize) -> Result<u32, Damage> {
        u32_at(self.data, at).ok_or(SHORT)
    }

    fn f64(&self, at: usize) -> Result<f64, Damage> {
        let bytes = self.data.get(at..at + 8).and_then(|bytes| bytes.try_into().ok());
        bytes.map(f64::from_le_bytes).ok_or(SHORT)
    }

    /// What follows `at` bytes, over the records that go on.
    fn pieces(&self, at: usize) -> Result<Pieces<'a, '_>, Damage> {
        Ok(Pieces { now: self.data.get(at..).ok_or(SHORT)?, more: &self.more })
    }

    /// The text at that place: its length in two bytes, flags, characters.
    fn text(&self, at: usize) -> Result<String, Damage> {
        let mut pieces = self.pieces(at)?;
        let (length, flags) = (pieces.u16()?, pieces.u8()?);
        pieces.characters(usize::from(length), flags)
    }
}

/// Bytes that may go on in further records.
struct Pieces<'a, 'r> {
    now: &'a [u8],
    more: &'r [&'a [u8]],
}

impl Pieces<'_, '_> {
    /// Whether there is anything left.
    fn go_on(&mut self) -> bool {
        while self.now.is_empty() {
            let Some((next, more)) = self.more.split_first() else { return false };
            (self.now, self.more) = (next, more);
        }
        true
    }

    fn u8(&mut self) -> Result<u8, Damage> {
        self.go_on();
        let (&byte, rest) = self.now.split_first().ok_or(SHORT)?;
        self.now = rest;
        Ok(byte)
    }

    fn u16(&mut self) -> Result<u16, Damage> {
        Ok(u16::from_le_bytes([self.u8()?, self.u8()?]))
    }

    fn u32(&mut self) -> Result<u32, Damage> {
        Ok(u32::from(self.u16()?) | u32::from(self.u16()?) << 16)
    }

    fn skip(&mut self, mut n: u64) -> Result<(), Damage> {
        while n > 0 {
            if !self.go_on() {
                return Err(SHORT);
            }
            let taken = n.min(self.now.len() as u64);
            self.now = self.now.get(taken as usize..).unwrap_or_default();
            n -= taken;
        }
        Ok(())
    }

    /// `length` characters: UTF-16, or its lower bytes only. A record that goes on in the middle says anew
    /// which.
    fn characters(&mut self, length: usize, flags: u8) -> Result<String, Damage> {
        let mut wide = flags & 1 != 0;
        let mut units: Vec<u16> = Vec::new();
        while units.len() < length {
            if self.now.is_empty() {
                if !self.go_on() {
                    return Err(SHORT);
                }
                wide = self.u8()? & 1 != 0;
            }
            let unit = if wide { self.u16()? } else { u16::from(self.u8()?) };
            units.push(unit);
        }
        Ok(String::from_utf16_lossy(&units))
    }

    /// A shared text: its length, flags, how much follows of formatting and of pronunciation, characters,
    /// these.
    fn shared_text(&mut self) -> Result<String, Damage> {
        let (length, flags) = (self.u16()?, self.u8()?);
        let runs = if flags & 8 != 0 { self.u16()? } else { 0 };
        let spoken = if flags & 4 != 0 { self.u32()? } else { 0 };
        let text = self.characters(usize::from(length), flags)?;
        self.skip(4 * u64::from(runs) + u64::from(spoken))?;
        Ok(text)
    }
}

/// What a style makes of a number.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Shown {
    Number,
    Date,
    Duration,
}

/// What comes before the sheets.
#[derive(Default)]
struct Globals {
    /// Name, whether it is hidden, and where it begins.
    sheets: Vec<(String, bool, usize)>,
    texts: Vec<String>,
    styles: Vec<Shown>,
    is_1904: bool,
}

impl Globals {
    fn new(stream: &[u8], path: &Path, limit: &Limit) -> Result<Self, Error> {
        let mut globals = Self::default();
        let mut formats: Vec<(u16, Shown)> = Vec::new();
        let mut styles: Vec<u16> = Vec::new();
        let mut records = Records(stream);
        let broken = |what: Damage| damaged(path, &what);
        let first = records.next().map_err(broken)?;
        if first.kind != kind::BEGIN || first.u16(0) != Ok(VERSION) {
            return Err(broken("it is older than Excel 97"));
        }
        loop {
            let record = records.next().map_err(broken)?;
            match record.kind {
                kind::END => break,
                kind::PASSWORD => return Err(broken("it is protected by a password")),
                kind::TEXTS => {
                    let mut pieces = record.pieces(8).map_err(broken)?;
                    let mut needed = 0;
                    while pieces.go_on() {
                        let text = pieces.shared_text().map_err(broken)?;
                        needed += (text.len() + size_of::<String>()) as u64;
                        limit.check(needed)?;
                        globals.texts.push(text);
                    }
                }
                _ => globals.take(&record, &mut formats, &mut styles).map_err(broken)?,
            }
        }
        let shown = |id: &u16| match formats.iter().rev().find(|format| format.0 == *id) {
            Some((_, shown)) => *shown,
            None => built_in(*id),
        };
        globals.styles = styles.iter().map(shown).collect();
        Ok(globals)
    }

    fn take(
        &mut self,
        record: &Record<'_>,
        formats: &mut Vec<(u16, Shown)>,
        styles: &mut Vec<u16>,
    ) -> Result<(), Damage> {
        match record.kind {
            kind::DATE_MODE => self.is_1904 = record.u16(0)? == 1,
            kind::FORMAT => formats.push((record.u16(0)?, shown(&record.text(2)?))),
            kind::STYLE => styles.push(record.u16(2)?),
            // Sheets of cells only: no charts, no macros.
            kind::SHEET if record.data.get(5) == Some(&0) => {
                let mut pieces = record.pieces(6)?;
                let (length, flags) = (pieces.u8()?, pieces.u8()?);
                let name = pieces.characters(usize::from(length), flags)?;
                let is_hidden = record.data.get(4).is_some_and(|state| state & 3 != 0);
                self.sheets.push((name, is_hidden, record.u32(0)? as usize));
            }
            _ => {}
        }
        Ok(())
    }

    fn number(&self, value: f64, style: u16) -> String {
        let as_date = |kind| date(&ExcelDateTime::new(value, kind, self.is_1904));
        match self.styles.get(usize::from(style)) {
            Some(Shown::Date) => as_date(ExcelDateTimeType::DateTime),
            Some(Shown::Duration) => as_date(ExcelDateTimeType::TimeDelta),
            Some(Shown::Number) | None => value.to_string(),
        }
    }
}

/// The formats that have a number and no text.
fn built_in(id: u16) -> Shown {
    match id {
        14..=22 | 27..=36 | 45 | 47 | 50..=58 => Shown::Date,
        46 => Shown::Duration,
        _ => Shown::Number,
    }
}

/// What a format makes of a positive number, by its letters outside of quotes: `[h]:mm` a duration,
/// `yyyy-mm-dd` a date.
fn shown(format: &str) -> Shown {
    let mut characters = format.chars();
    while let Some(character) = characters.next() {
        match character.to_ascii_lowercase() {
            // The next one is taken as it is, or as a width.
            '\\' | '_' | '*' => drop(characters.next()),
            '"' => drop(characters.by_ref().find(|other| *other == '"')),
            // A colour, a condition or a language, or hours over a day.
            '[' => {
                let inside: String = characters.by_ref().take_while(|other| *other != ']').collect();
                let inside = inside.to_ascii_lowercase();
                let mut letters = inside.chars();
                let unit = letters.next();
                if matches!(unit, Some('h' | 'm' | 's')) && letters.all(|letter| Some(letter) == unit) {
                    return Shown::Duration;
                }
            }
            'd' | 'm' | 'y' | 'h' | 's' => return Shown::Date,
            ';' => break,
            _ => {}
        }
    }
    Shown::Number
}

/// A cell's value, its text made when it is its turn.
enum Value {
    Number(f64, u16),
    Shared(usize),
    Text(String),
}

struct Cell {
    row: u16,
    column: u16,
    value: Value,
}

/// The sheet that the options name as text.
pub(crate) fn sheet(path: &Path, bytes: &[u8], options: &ReadOptions, limit: &Limit) -> Result<Sheet, Error> {
    let broken = |what: Damage| damaged(path, &what);
    let file = Compound::new(bytes).map_err(broken)?;
    let stream = match file.stream("Workbook").map_err(broken)? {
        Some(stream) => stream,
        None if file.stream("Book").map_err(broken)?.is_some() => {
            return Err(broken("it is older than Excel 97"));
        }
        None if file.stream("EncryptedPackage").map_err(broken)?.is_some() => {
            return Err(broken("it is protected by a password"));
        }
        None => return Err(broken("it holds no workbook")),
    };
    let globals = Globals::new(&stream, path, limit)?;
    let sheets = globals.sheets.iter().map(|(name, is_hidden, _)| (name.clone(), *is_hidden)).collect();
    let (name, others) = chosen(path, sheets, options)?;
    let start = globals.sheets.iter().find(|(other, ..)| *other == name).map_or(usize::MAX, |sheet| sheet.2);
    let stream = stream.get(start..).ok_or(CUT_OFF).map_err(broken)?;
    let mut cells = cells(stream, path, limit)?;
    // Some programs write them in another order.
    cells.sort_by_key(|cell| (cell.row, cell.column));
    let mut lines = Lines::new(path, &name, limit);
    for Cell { row, column, value } in cells {
        let (row, column) = (u32::from(row), u32::from(column));
        match value {
            Value::Number(value, style) => lines.push(row, column, &globals.number(value, style))?,
            Value::Shared(at) => {
                let text = globals.texts.get(at).ok_or("a shared text is missing").map_err(broken)?;
                lines.push(row, column, text)?;
            }
            Value::Text(text) => lines.push(row, column, &text)?,
        }
    }
    lines.finish(others)
}

/// The cells of a sheet, without those of charts inside it.
fn cells(stream: &[u8], path: &Path, limit: &Limit) -> Result<Vec<Cell>, Error> {
    let broken = |what: Damage| damaged(path, &what);
    let mut records = Records(stream);
    let mut cells = Vec::new();
    let (mut depth, mut texts) = (0_u32, 0);
    loop {
        let record = records.next().map_err(broken)?;
        match record.kind {
            kind::BEGIN => depth += 1,
            kind::END if depth <= 1 => return Ok(cells),
            kind::END => depth -= 1,
            _ if depth == 1 => texts += take(&record, &mut cells).map_err(broken)?,
            _ => {}
        }
        limit.check((cells.len() * size_of::<Cell>() + texts) as u64)?;
    }
}

/// Takes what is a cell. Returns the bytes of its text.
fn take(record: &Record<'_>, cells: &mut Vec<Cell>) -> Result<usize, Damage> {
    let value = match record.kind {
        kind::NUMBER => Value::Number(record.f64(6)?, record.u16(4)?),
        kind::RK => Value::Number(rk(record.u32(6)?), record.u16(4)?),
        kind::SHARED_TEXT => Value::Shared(record.u32(6)? as usize),
        kind::TEXT | kind::RICH_TEXT => Value::Text(record.text(6)?),
        kind::TRUTH => {
            let (code, is_error) = (record.data.get(6).ok_or(SHORT)?, record.data.get(7).ok_or(SHORT)?);
            Value::Text(if *is_error == 0 { (*code != 0).to_string() } else { fault(*code).to_owned() })
        }
        kind::FORMULA => {
            let value = record.data.get(6..14).ok_or(SHORT)?;
            match value {
                // A text comes in a record of its own.
                [0 | 3, .., 0xFF, 0xFF] => Value::Text(String::new()),
                [1, _, truth, .., 0xFF, 0xFF] => Value::Text((*truth != 0).to_string()),
                [2, _, code, .., 0xFF, 0xFF] => Value::Text(fault(*code).to_owned()),
                _ => Value::Number(record.f64(6)?, record.u16(4)?),
            }
        }
        kind::FORMULA_TEXT => {
            let text = record.text(0)?;
            let bytes = text.len();
            if let Some(cell) = cells.last_mut() {
                cell.value = Value::Text(text);
            }
            return Ok(bytes);
        }
        kind::RKS => {
            let (row, first) = (record.u16(0)?, record.u16(2)?);
            let pairs = record.data.get(4..record.data.len() - 2).unwrap_or_default().chunks_exact(6);
            for (i, pair) in pairs.enumerate() {
                let column = u16::try_from(usize::from(first) + i).map_err(|_| "a column is out of range")?;
                let (style, value) = (u16_at(pair, 0).ok_or(SHORT)?, u32_at(pair, 2).ok_or(SHORT)?);
                cells.push(Cell { row, column, value: Value::Number(rk(value), style) });
            }
            return Ok(0);
        }
        _ => return Ok(0),
    };
    let bytes = if let Value::Text(text) = &value { text.len() } else { 0 };
    cells.push(Cell { row: record.u16(0)?, column: record.u16(2)?, value });
    Ok(bytes)
}

/// A number in four bytes: the upper half of a float or a whole number, as it is or in hundredths.
fn rk(value: u32) -> f64 {
    let number = if value & 2 != 0 {
        f64::from(value as i32 >> 2)
    } else {
        f64::from_bits(u64::from(value & !3) << 32)
    };
    if value & 1 != 0 { number / 100.0 } else { number }
}

/// What a sheet shows for an error.
fn fault(code: u8) -> &'static str {
    match code {
        0x00 => "#NULL!",
        0x07 => "#DIV/0!",
        0x0F => "#VALUE!",
        0x17 => "#REF!",
        0x1D => "#NAME?",
        0x24 => "#NUM!",
        _ => "#N/A",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_of_dates_are_known() {
        for format in ["yyyy-mm-dd", "d.m.yy", "h:mm AM/PM", "[$-407]d. mmmm", "\"on\" dd"] {
            assert_eq!(shown(format), Shown::Date, "{format}");
        }
        for format in ["[h]:mm", "[mm]:ss", "[SS]"] {
            assert_eq!(shown(format), Shown::Duration, "{format}");
        }
        for format in ["General", "0.00", "#,##0\\ \\d", "\"days\" 0", "[Red]0.0", "0;yyyy", "0.0E+00", "_d0"]
        {
            assert_eq!(shown(format), Shown::Number, "{format}");
        }
    }

    #[test]
    fn short_numbers_are_exact() {
        // [MS-XLS] 2.5.217: 1 as the upper half of a float, in hundredths 1.23, whole 1234, in hundredths
        // 12.34, below zero.
        assert_eq!(rk(0x3FF0_0000), 1.0);
        assert_eq!(rk(0x405E_C001), 1.23);
        assert_eq!(rk(1234 << 2 | 2), 1234.0);
        assert_eq!(rk(1234 << 2 | 3), 12.34);
        assert_eq!(rk((-5_i32 << 2) as u32 | 2), -5.0);
    }
}
