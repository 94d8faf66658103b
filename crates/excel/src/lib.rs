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
    let Sheet { text, others, name } = if bytes.starts_with(compound::MAGIC) {
        xls::sheet(&path, &bytes, options, &limit)?
    } else if bytes.starts_with(ZIP) {
        check_parts(&path, &bytes, &limit)?;
        if begins(&bytes, OPEN_DOCUMENT) {
            ods::sheet(&path, &bytes, options, &limit)?
        } else {
            xlsx::sheet(&path, bytes, options, &limit)?
        }
    } else {
        let advice = "give a file of text a name that ends in .csv";
        return Err(Error::malformed(&path, Place::File, "it does not begin like a workbook", advice));
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
    let table = Table::read_bytes(&path, text.into(), &options);
    if others.is_empty() {
        return table;
    }
    let note =
        format!("sheet {name:?} was read; another one is read by its name {ASKED}: {}", listed(&others));
    table.map(|table| table.with_note(&note)).map_err(|error| with_advice(error, &note))
}

/// A sheet as text.
struct Sheet {
    name: String,
    /// Those that were not read because none was named.
    others: Vec<String>,
    text: Vec<u8>,
}

/// How a sheet is named.
const ASKED: &str = "(on the command line: --x-variable)";

fn with_advice(mut error: Error, more: &str) -> Error {
    if let Error::Malformed { advice: text, .. } | Error::NotFound { expected: text, .. } = &mut error {
        text.push_str("; ");
        text.push_str(more);
    }
    error
}

/// Some of the names, on one line.
fn listed(names: &[String]) -> String {
    const MOST: usize = 8;
    let mut text = names.iter().take(MOST).map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ");
    if names.len() > MOST {
        text.push_str(&format!(" and {} more", names.len() - MOST));
    }
    text
}

/// Refuses archives that are no workbook, and those whose parts are too large for the memory when they are
/// unpacked: what they declare may be false, so all are unpacked once.
fn check_parts(path: &Path, bytes: &[u8], limit: &Limit) -> Result<(), Error> {
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(|error| damaged(path, &error))?;
    let names: Vec<_> = archive.file_names().filter_map(Result::ok).collect();
    if names.iter().any(|name| name == "xl/workbook.bin") {
        let advice = "save it as .xlsx or .csv";
        return Err(Error::malformed(path, Place::File, "it is a binary workbook, as .xlsb is", advice));
    }
    if !names.iter().any(|name| name.starts_with("xl/") || name == "content.xml") {
        let advice = "give a workbook of Excel or OpenDocument, or save the table as .csv";
        return Err(Error::malformed(path, Place::File, "it is no workbook", advice));
    }
    let mut needed = bytes.len() as u64;
    for index in 0..archive.len() {
        let part = archive.by_index(index).map_err(|error| damaged(path, &error))?;
        let name = part.name().map_err(|error| damaged(path, &error))?;
        let weight = if name.to_ascii_lowercase().ends_with(TEXTS) { BYTES_OF_A_TEXT } else { 1 };
        let rest = limit.most().saturating_sub(needed) / weight;
        let size = io::copy(&mut part.take(rest.saturating_add(1)), &mut io::sink())
            .map_err(|error| damaged(path, &error))?;
        needed = needed.saturating_add(size.saturating_mul(weight));
        if limit.check(needed).is_err() {
            let declared = (0..archive.len())
                .filter_map(|index| archive.by_index_raw(index).ok().map(|part| part.size()))
                .fold(bytes.len() as u64, u64::saturating_add);
            limit.check(needed.max(declared))?;
        }
    }
    Ok(())
}

/// The sheet that the options name, or the first that is not hidden, or the first; and the others, where none
/// is named. `sheets` are names, each with whether it is hidden.
fn chosen(
    path: &Path,
    sheets: Vec<(String, bool)>,
    options: &ReadOptions,
) -> Result<(String, Vec<String>), Error> {
    let first_shown = sheets.iter().position(|(_, is_hidden)| !is_hidden).unwrap_or(0);
    let mut names: Vec<String> = sheets.into_iter().map(|(name, _)| name).collect();
    if let Some(name) = &options.x_variable {
        if names.contains(name) {
            return Ok((name.clone(), Vec::new()));
        }
        let problem = format!("there is no sheet called {name:?}");
        let advice = format!("name one of its sheets: {}", listed(&names));
        return Err(Error::malformed(path, Place::File, problem, advice));
    }
    if names.is_empty() {
        let advice = "check how it was made";
        return Err(Error::malformed(path, Place::File, "the workbook has no sheet of cells", advice));
    }
    Ok((names.remove(first_shown), names))
}

/// The error for a file that is no workbook, or a damaged one.
fn damaged(path: &Path, error: &dyn std::fmt::Display) -> Error {
    let problem = format!("the workbook cannot be read ({error})");
    Error::malformed(path, Place::File, problem, "open it and save it again, or save the table as .csv")
}
