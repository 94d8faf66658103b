//! Workbooks of Excel since 2007: parts in XML, in a zip archive.

use std::borrow::Cow;
use std::io::Cursor;
use std::path::Path;

use calamine::{DataRef, Reader, Xlsx};
use fewest_data::{Error, Limit, ReadOptions};

use crate::text::{Lines, date};
use crate::{chosen, damaged};

/// The sheet that the options name as text.
pub(crate) fn text(
    path: &Path,
    bytes: Vec<u8>,
    options: &ReadOptions,
    limit: &Limit,
) -> Result<Vec<u8>, Error> {
    let mut workbook: Xlsx<_> = Xlsx::new(Cursor::new(bytes)).map_err(|error| damaged(path, &error))?;
    let sheet = chosen(path, workbook.sheet_names(), options)?;
    let mut cells = workbook.worksheet_cells_reader(&sheet).map_err(|error| damaged(path, &error))?;
    let mut lines = Lines::new(path, &sheet, limit);
    while let Some(cell) = cells.next_cell().map_err(|error| damaged(path, &error))? {
        let (row, column) = cell.get_position();
        lines.push(row, column, &content(cell.get_value()))?;
    }
    lines.finish()
}

/// The text of a value.
fn content<'a>(value: &'a DataRef<'_>) -> Cow<'a, str> {
    match value {
        DataRef::Int(number) => number.to_string().into(),
        DataRef::Float(number) => number.to_string().into(),
        DataRef::String(text) | DataRef::DateTimeIso(text) | DataRef::DurationIso(text) => text.into(),
        DataRef::SharedString(text) => (*text).into(),
        DataRef::Bool(truth) => truth.to_string().into(),
        DataRef::DateTime(moment) => date(moment).into(),
        DataRef::Error(error) => error.to_string().into(),
        DataRef::Empty => "".into(),
    }
}
