//! A sheet as the CSV text that would be made of it.

use std::path::Path;

use calamine::ExcelDateTime;
use csv::{ByteRecord, WriterBuilder};
use fewest_data::{Error, Limit, Place};

use crate::{ASKED, Sheet, damaged, listed};

/// Milliseconds of a day.
const DAY: f64 = 86_400_000.0;

/// The largest sheet there is.
const MOST_ROWS: u32 = 1 << 20;
const MOST_COLUMNS: u32 = 1 << 14;

/// A row with a value.
struct Row {
    /// Counted from 0.
    number: u32,
    /// The column of its first cell.
    first: u32,
    cells: ByteRecord,
}

impl Row {
    /// The column behind its last cell.
    fn end(&self) -> u32 {
        self.first.saturating_add(self.cells.len() as u32)
    }
}

/// A sheet while its cells come, row by row.
pub(crate) struct Lines<'a> {
    path: &'a Path,
    sheet: String,
    limit: &'a Limit,
    rows: Vec<Row>,
    needed: u64,
}

impl<'a> Lines<'a> {
    /// Without a cell.
    pub(crate) fn new(path: &'a Path, sheet: &str, limit: &'a Limit) -> Self {
        Self { path, sheet: sheet.to_owned(), limit, rows: Vec::new(), needed: 0 }
    }

    /// Takes the next cell, row and column counted from 0. Line ends become spaces: lines are rows. An empty
    /// text is no cell.
    ///
    /// # Errors
    /// For a cell that is not behind the one before, or outside any sheet; [`Error::TooLarge`].
    pub(crate) fn push(&mut self, number: u32, column: u32, value: &str) -> Result<(), Error> {
        if value.is_empty() {
            return Ok(());
        }
        if number >= MOST_ROWS || column >= MOST_COLUMNS {
            return Err(self.damaged(format!("sheet {:?} has a cell outside any sheet", self.sheet)));
        }
        if self.rows.last().is_none_or(|row| row.number < number) {
            self.rows.push(Row { number, first: column, cells: ByteRecord::new() });
            self.needed = self.needed.saturating_add(size_of::<Row>() as u64);
        }
        let is_next = |row: &&mut Row| row.number == number && row.end() <= column;
        let Some(row) = self.rows.last_mut().filter(is_next) else {
            let problem = format!("a cell of row {} of sheet {:?} is out of order", number + 1, self.sheet);
            return Err(self.damaged(problem));
        };
        let gap = column - row.end();
        // A byte for a comma, and the place where a cell ends.
        self.needed = self.needed.saturating_add((u64::from(gap) + 1) * 9 + value.len() as u64);
        self.limit.check(self.needed.saturating_mul(2))?;
        (0..gap).for_each(|_| row.cells.push_field(b""));
        if value.contains(['\n', '\r']) {
            row.cells.push_field(value.replace(['\n', '\r'], " ").as_bytes());
        } else {
            row.cells.push_field(value.as_bytes());
        }
        Ok(())
    }

    /// The sheet as text, beside `others`. Rows without a value are blank lines, so that lines are rows;
    /// columns without one at either side are left out.
    ///
    /// # Errors
    /// For a sheet without a cell; [`Error::TooLarge`].
    pub(crate) fn finish(self, others: Vec<String>) -> Result<Sheet, Error> {
        let Self { path, sheet, limit, rows, needed } = self;
        let first = rows.iter().map(|row| row.first).min();
        let (Some(first), Some(end)) = (first, rows.iter().map(Row::end).max()) else {
            let problem = format!("sheet {sheet:?} is empty");
            let mut advice = format!("name the sheet that holds the table {ASKED}");
            if !others.is_empty() {
                advice.push_str(&format!(": {}", listed(&others)));
            }
            return Err(Error::malformed(path, Place::File, problem, advice));
        };
        let last = rows.last().map_or(0, |row| u64::from(row.number));
        let commas = (rows.len() as u64).saturating_mul(u64::from(end - first));
        limit.check(needed.saturating_add(commas).saturating_add(last))?;
        let text = write(&rows, first, end).map_err(|error| damaged(path, &error))?;
        Ok(Sheet { name: sheet, others, text })
    }

    fn damaged(&self, problem: String) -> Error {
        Error::malformed(self.path, Place::File, problem, "open the workbook and save it again")
    }
}

fn write(rows: &[Row], first: u32, end: u32) -> Result<Vec<u8>, csv::Error> {
    let mut text = Vec::new();
    let mut line = 0;
    for row in rows {
        text.resize(text.len() + (row.number - line) as usize, b'\n');
        let mut writer = WriterBuilder::new().from_writer(&mut text);
        let blank = |n: u32| (0..n).map(|_| &b""[..]);
        writer
            .write_record(blank(row.first - first).chain(row.cells.iter()).chain(blank(end - row.end())))?;
        writer.flush()?;
        drop(writer);
        line = row.number + 1;
    }
    Ok(text)
}

/// The first number that is a date, and the first one behind the last date there is.
const FIRST_DAY: f64 = 1.0;
const BEHIND_LAST_DAY: f64 = 2_958_466.0;

/// A date in ISO form, with the time of day where it has one; a duration or a time of day in days; what no
/// date has as the number it is.
pub(crate) fn date(moment: &ExcelDateTime) -> String {
    let days = moment.as_f64();
    if moment.is_duration() || !(FIRST_DAY..BEHIND_LAST_DAY).contains(&days) {
        return days.to_string();
    }
    let (year, month, day, hours, minutes, seconds, milliseconds) = moment.to_ymd_hms_milli();
    let date = format!("{year:04}-{month:02}-{day:02}");
    if (days.fract() * DAY).round() == 0.0 {
        return date;
    }
    match milliseconds {
        0 => format!("{date}T{hours:02}:{minutes:02}:{seconds:02}"),
        _ => format!("{date}T{hours:02}:{minutes:02}:{seconds:02}.{milliseconds:03}"),
    }
}
