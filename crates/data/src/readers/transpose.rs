//! Tables of text with a feature a line.

use csv::{ByteRecord, WriterBuilder};

use super::delimited::{Rows, check_text, delimiter, read_text};
use crate::source::Source;
use crate::table::Table;
use crate::{Error, Header, Place, ReadOptions};

/// Reads the table with its lines as columns. Memory: the text twice, besides the table.
pub(super) fn read(source: Source, options: &ReadOptions) -> Result<Table, Error> {
    check_text(&source)?;
    let path = source.path.clone();
    let between = delimiter(&source, options.delimiter)?;
    let mut rows = Rows::new(source, between);
    let mut lines: Vec<ByteRecord> = Vec::new();
    let mut record = ByteRecord::new();
    while let Some(line) = rows.next(&mut record)? {
        if let Some(first) = lines.first().filter(|first| first.len() != record.len()) {
            let problem = format!("{} cells, but the first line has {}", record.len(), first.len());
            let advice = "complete the line, and put cells that contain the delimiter in double quotes";
            return Err(Error::malformed(&path, Place::Line(line), problem, advice));
        }
        lines.push(record.clone());
    }
    let names_samples = options.header != Header::No;
    let mut writer = WriterBuilder::new().from_writer(Vec::new());
    for column in 0..lines.first().map_or(0, ByteRecord::len) {
        for (line, cells) in lines.iter().enumerate() {
            // Without a name, the column of the samples' names holds their ids.
            let is_corner = (line, column) == (0, 0) && names_samples && options.id.is_none();
            let cell = if is_corner { &[][..] } else { cells.get(column).unwrap_or_default() };
            writer.write_field(cell).map_err(|error| unwritten(&path, &error))?;
        }
        writer.write_record(None::<&[u8]>).map_err(|error| unwritten(&path, &error))?;
    }
    drop(lines);
    let text = writer.into_inner().map_err(|error| unwritten(&path, &error.into_error().into()))?;
    let header = if options.header == Header::No { Header::Auto } else { options.header };
    let options = ReadOptions { header, delimiter: Some(','), transpose: false, ..options.clone() };
    let length = text.len() as u64;
    let source = Source::of_stream(&path, std::io::Cursor::new(text), length)?;
    let table = read_text(source, &options).map_err(after)?;
    // The lines of the file are columns now.
    Ok(Table { lines: None, ..table })
}

/// Writing to memory does not fail.
fn unwritten(path: &std::path::Path, error: &csv::Error) -> Error {
    Error::malformed(
        path,
        Place::File,
        format!("it cannot be transposed: {error}"),
        "save it with samples as rows",
    )
}

/// Says where lines and columns are counted.
fn after(error: Error) -> Error {
    match error {
        Error::Malformed { path, place, problem, advice } => {
            let advice = format!("{advice} (lines and columns are those of the transposed table)");
            Error::Malformed { path, place, problem, advice }
        }
        other => other,
    }
}
