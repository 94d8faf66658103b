//! Workbooks of Excel since 2007: parts in XML, in a zip archive.

use std::borrow::Cow;
use std::io::Cursor;
use std::path::Path;

use calamine::{DataRef, Reader, SheetType, SheetVisible, Xlsx};
use fewest_data::{Error, Limit, ReadOptions};

use crate::text::{Lines, date};
use crate::{Sheet, chosen, damaged};

/// The sheet that the options name as text.
pub(crate) fn sheet(
    path: &Path,
    bytes: Vec<u8>,
    options: &ReadOptions,
    limit: &Limit,
) -> Result<Sheet, Error> {
    let mut workbook: Xlsx<_> = Xlsx::new(Cursor::new(bytes)).map_err(|error| damaged(path, &error))?;
    let with_cells = workbook.sheets_metadata().iter().filter(|sheet| sheet.typ == SheetType::WorkSheet);
    let sheets = with_cells.map(|sheet| (sheet.name.clone(), sheet.visible != SheetVisible::Visible));
    let (name, others) = chosen(path, sheets.collect(), options)?;
    let mut cells = workbook.worksheet_cells_reader(&name).map_err(|error| damaged(path, &error))?;
    let mut lines = Lines::new(path, &name, limit);
    while let Some(cell) = cells.next_cell().map_err(|error| damaged(path, &error))? {
        let (row, column) = cell.get_position();
        lines.push(row, column, &content(cell.get_value()))?;
    }
    lines.finish(others)
}

/// The text of a value.
fn content<'a>(value: &'a DataRef<'_>) -> Cow<'a, str> {
    match value {
        DataRef::Int(number) => number.to_string().into(),
        DataRef::Float(number) => number.to_string().into(),
        // A date, and the first moment of a day, as `date` writes them.
        DataRef::DateTimeIso(text) => text.strip_suffix("T00:00:00").unwrap_or(text).into(),
        DataRef::String(text) | DataRef::DurationIso(text) => text.into(),
        DataRef::SharedString(text) => (*text).into(),
        DataRef::Bool(truth) => truth.to_string().into(),
        DataRef::DateTime(moment) => date(moment).into(),
        DataRef::Error(error) => error.to_string().into(),
        DataRef::Empty => "".into(),
    }
}
