#![doc = include_str!("../README.md")]

mod compound;
mod ods;
mod text;
mod xls;
mod xlsx;

use std::io::{self, Cursor, Read};
use std::path::Path;

use fewest_data::{Error, Format, Formats, Limit, Place, ReadOptions, Sniff, Source, Table};
use zip::ZipArchive;

/// Workbooks of Excel and of OpenDocument: one sheet is a table. A file is known by its first bytes; without
/// those of a workbook, one called `.xls` is text, as many programs write it.
///
/// Cost: linear in the size of the unpacked workbook, which is unpacked twice; memory for its text, twice,
/// beside the table.
pub const EXCEL: Format =
    Format::new("excel", &["xlsx", "xlsm", "ods"], sniff, read).with_variables().with_transpose();

/// The first bytes of a zip archive.
const ZIP: &[u8] = b"PK\x03\x04";

/// First parts of the archives that spreadsheet programs write: the last with what it says, in OpenDocument.
const FIRST_PARTS: [&[u8]; 5] = [b"[Content_Types].xml", b"_rels/", b"docProps/", b"xl/", OPEN_DOCUMENT];
const OPEN_DOCUMENT: &[u8] = b"mimetypeapplication/vnd.oasis.opendocument.spreadsheet";

/// Where the name of the first part is in a zip archive.
const FIRST_NAME: usize = 30;

/// The part of a workbook with its texts. Each is kept with its length and capacity, and an empty one is
/// written in few bytes.
const TEXTS: &str = "sharedstrings.xml";
const BYTES_OF_A_TEXT: u64 = 8;

/// Whether the first part of a zip archive begins like this.
fn begins(start: &[u8], part: &[u8]) -> bool {
    start.starts_with(ZIP) && start.get(FIRST_NAME..).is_some_and(|name| name.starts_with(part))
}

fn sniff(start: &[u8]) -> Sniff {
    let is_workbook =
        start.starts_with(compound::MAGIC) || FIRST_PARTS.iter().any(|part| begins(start, part));
    if is_workbook { Sniff::Certain } else { Sniff::No }
}

fn read(source: Source, options: &ReadOptions) -> Result<Table, Error> {
    let path = source.path().to_owned();
    let limit = Limit::of(&path, options);
    let mut bytes = Vec::new();
    let most = limit.most().saturating_add(1);
    source.into_reader().take(most).read_to_end(&mut bytes).map_err(|error| Error::reading(&path, error))?;
    limit.check(bytes.len() as u64)?;
    let text = if bytes.starts_with(compound::MAGIC) {
        xls::text(&path, &bytes, options, &limit)?
    } else {
        check_size(&path, &bytes, &limit)?;
        if begins(&bytes, OPEN_DOCUMENT) {
            ods::text(&path, &bytes, options, &limit)?
        } else {
            xlsx::text(&path, bytes, options, &limit)?
        }
    };
    // Text in UTF-8 with commas, whatever the options say of files.
    let csv = Formats::standard().named("csv")?;
    let options = ReadOptions {
        format: Some(csv),
        delimiter: Some(','),
        x_variable: None,
        encoding: None,
        ..options.clone()
    };
    Table::read_bytes(&path, text.into(), &options)
}

/// Refuses archives whose parts are too large for the memory when they are unpacked: what they declare may be
/// false, so all are unpacked once.
fn check_size(path: &Path, bytes: &[u8], limit: &Limit) -> Result<(), Error> {
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(|error| damaged(path, &error))?;
    let mut needed = bytes.len() as u64;
    for index in 0..archive.len() {
        let part = archive.by_index(index).map_err(|error| damaged(path, &error))?;
        let name = part.name().map_err(|error| damaged(path, &error))?;
        let weight = if name.to_ascii_lowercase().ends_with(TEXTS) { BYTES_OF_A_TEXT } else { 1 };
        let rest = limit.most().saturating_sub(needed) / weight;
        let size = io::copy(&mut part.take(rest.saturating_add(1)), &mut io::sink())
            .map_err(|error| damaged(path, &error))?;
        needed = needed.saturating_add(size.saturating_mul(weight));
        limit.check(needed)?;
    }
    Ok(())
}

/// The sheet that the options name, or the first.
fn chosen(path: &Path, sheets: Vec<String>, options: &ReadOptions) -> Result<String, Error> {
    let all = sheets.join(", ");
    match &options.x_variable {
        Some(name) => sheets.into_iter().find(|sheet| sheet == name).ok_or_else(|| {
            let problem = format!("there is no sheet called {name:?}");
            Error::malformed(path, Place::File, problem, format!("name one of its sheets: {all}"))
        }),
        None => sheets.into_iter().next().ok_or_else(|| {
            Error::malformed(path, Place::File, "the workbook has no sheet", "check how it was made")
        }),
    }
}

/// The error for a file that is no workbook, or a damaged one.
fn damaged(path: &Path, error: &dyn std::fmt::Display) -> Error {
    let problem = format!("the workbook cannot be read ({error})");
    Error::malformed(path, Place::File, problem, "open it and save it again, or save the table as .csv")
}
