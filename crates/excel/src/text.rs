//! A sheet as the CSV text that would be made of it.

use std::borrow::Cow;
use std::io::{Read, Seek};
use std::path::Path;

use calamine::{DataRef, ExcelDateTime, XlsxCellReader};
use csv::{ByteRecord, WriterBuilder};
use fewest_data::{Error, Limit, Place};

use crate::damaged;

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

/// The sheet as text. Rows without a value are blank lines, so that lines are rows; columns without one at
/// either side are left out.
pub(crate) fn of_sheet<R: Read + Seek>(
    mut cells: XlsxCellReader<'_, R>,
    path: &Path,
    sheet: &str,
    limit: &Limit,
) -> Result<Vec<u8>, Error> {
    let mut rows: Vec<Row> = Vec::new();
    let mut needed = 0_u64;
    while let Some(cell) = cells.next_cell().map_err(|error| damaged(path, &error))? {
        let (number, column) = cell.get_position();
        if number >= MOST_ROWS || column >= MOST_COLUMNS {
            let problem = format!("sheet {sheet:?} has a cell outside any sheet");
            return Err(Error::malformed(path, Place::File, problem, "open the workbook and save it again"));
        }
        let Some(value) = content(cell.get_value()) else { continue };
        if rows.last().is_none_or(|row| row.number < number) {
            rows.push(Row { number, first: column, cells: ByteRecord::new() });
            needed = needed.saturating_add(size_of::<Row>() as u64);
        }
        let Some(row) = rows.last_mut().filter(|row| row.number == number && row.end() <= column) else {
            let problem = format!("a cell of row {} of sheet {sheet:?} is out of order", number + 1);
            return Err(Error::malformed(path, Place::File, problem, "open the workbook and save it again"));
        };
        let gap = column - row.end();
        // A byte for a comma, and the place where a cell ends.
        needed = needed.saturating_add((u64::from(gap) + 1) * 9 + value.len() as u64);
        limit.check(needed.saturating_mul(2))?;
        (0..gap).for_each(|_| row.cells.push_field(b""));
        row.cells.push_field(value.as_bytes());
    }
    let (Some(first), Some(end)) = (rows.iter().map(|row| row.first).min(), rows.iter().map(Row::end).max())
    else {
        let problem = format!("sheet {sheet:?} is empty");
        return Err(Error::malformed(path, Place::File, problem, "name the sheet that holds the table"));
    };
    let last = rows.last().map_or(0, |row| u64::from(row.number));
    let commas = (rows.len() as u64).saturating_mul(u64::from(end - first));
    limit.check(needed.saturating_add(commas).saturating_add(last))?;
    write(&rows, first, end).map_err(|error| damaged(path, &error))
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

/// The text of a value; `None` for an empty cell. Line ends become spaces: lines are rows.
fn content<'a>(value: &'a DataRef<'_>) -> Option<Cow<'a, str>> {
    let text: Cow<'a, str> = match value {
        DataRef::Int(number) => number.to_string().into(),
        DataRef::Float(number) => number.to_string().into(),
        DataRef::String(text) | DataRef::DateTimeIso(text) | DataRef::DurationIso(text) => text.into(),
        DataRef::SharedString(text) => (*text).into(),
        DataRef::Bool(truth) => truth.to_string().into(),
        DataRef::DateTime(moment) => date(moment).into(),
        DataRef::Error(error) => error.to_string().into(),
        DataRef::Empty => return None,
    };
    if text.contains(['\n', '\r']) { Some(text.replace(['\n', '\r'], " ").into()) } else { Some(text) }
        .filter(|text| !text.is_empty())
}

/// A date in ISO form, with the time of day where it has one; a duration in days.
fn date(moment: &ExcelDateTime) -> String {
    if moment.is_duration() {
        return moment.as_f64().to_string();
    }
    let (year, month, day, hours, minutes, seconds, milliseconds) = moment.to_ymd_hms_milli();
    let date = format!("{year:04}-{month:02}-{day:02}");
    if (moment.as_f64().fract() * DAY).round() == 0.0 {
        return date;
    }
    match milliseconds {
        0 => format!("{date}T{hours:02}:{minutes:02}:{seconds:02}"),
        _ => format!("{date}T{hours:02}:{minutes:02}:{seconds:02}.{milliseconds:03}"),
    }
}
