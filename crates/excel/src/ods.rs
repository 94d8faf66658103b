//! OpenDocument spreadsheets: one XML part in a zip archive.
//!
//! Read here and not by calamine, which makes every repetition of a cell before anyone can count the memory.

use std::io::{Cursor, Read};
use std::path::Path;

use fewest_data::{Error, Limit, ReadOptions};
use quick_xml::XmlVersion;
use quick_xml::escape::resolve_xml_entity;
use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;
use zip::ZipArchive;

use crate::text::Lines;
use crate::{Sheet, chosen, damaged};

const CELL: &str = "table:table-cell";
const COVERED: &str = "table:covered-table-cell";
const ROW: &str = "table:table-row";
const TABLE: &str = "table:table";

/// Why a workbook cannot be read.
type Damage = Box<dyn std::error::Error>;

/// The value of a cell that is not empty, its first column, and how many columns have it.
struct Cell {
    value: String,
    column: u64,
    times: u64,
}

/// The sheet that the options name as text.
pub(crate) fn sheet(path: &Path, bytes: &[u8], options: &ReadOptions, limit: &Limit) -> Result<Sheet, Error> {
    let broken = |error: Damage| damaged(path, &error);
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(|error| damaged(path, &error))?;
    if part(&mut archive, "META-INF/manifest.xml").is_ok_and(|text| text.contains("encryption-data")) {
        return Err(broken("it is protected by a password".into()));
    }
    let content = part(&mut archive, "content.xml").map_err(broken)?;
    let mut reader = Reader::from_str(&content);
    reader.config_mut().expand_empty_elements = true;
    let mut names = Vec::new();
    let mut found: Option<Lines<'_>> = None;
    loop {
        match reader.read_event().map_err(|error| damaged(path, &error))? {
            Event::Start(start) if start.name().0 == TABLE => {
                let name = attribute(&start, "table:name").map_err(broken)?.unwrap_or_default();
                let is_asked = options.x_variable.as_ref().is_none_or(|asked| *asked == name);
                names.push(name.clone());
                if is_asked && found.is_none() {
                    let mut lines = Lines::new(path, &name, limit);
                    rows(&mut reader, &mut lines, path)?;
                    found = Some(lines);
                } else {
                    reader.read_to_end(start.name()).map_err(|error| damaged(path, &error))?;
                }
            }
            Event::Eof => break,
            _ => {}
        }
    }
    let (_, others) = chosen(path, names.into_iter().map(|name| (name, false)).collect(), options)?;
    match found {
        Some(lines) => lines.finish(others),
        None => Err(broken("it has no sheet".into())),
    }
}

fn part(archive: &mut ZipArchive<Cursor<&[u8]>>, name: &str) -> Result<String, Damage> {
    let mut text = String::new();
    archive.by_name(name)?.read_to_string(&mut text)?;
    Ok(text)
}

/// The rows of a table up to its end, without those of tables inside it.
fn rows(reader: &mut Reader<&[u8]>, lines: &mut Lines<'_>, path: &Path) -> Result<(), Error> {
    let mut row = 0_u64;
    loop {
        match reader.read_event().map_err(|error| damaged(path, &error))? {
            Event::Start(start) if start.name().0 == TABLE => {
                reader.read_to_end(start.name()).map_err(|error| damaged(path, &error))?;
            }
            Event::Start(start) if start.name().0 == ROW => {
                let times =
                    times(&start, "table:number-rows-repeated").map_err(|error| damaged(path, &error))?;
                let cells = cells(reader).map_err(|error| damaged(path, &error))?;
                if !cells.is_empty() {
                    for row in row..row.saturating_add(times) {
                        for Cell { value, column, times } in &cells {
                            for column in *column..column.saturating_add(*times) {
                                lines.push(number(row), number(column), value)?;
                            }
                        }
                    }
                }
                row = row.saturating_add(times);
            }
            Event::End(end) if end.name().0 == TABLE => return Ok(()),
            Event::Eof => return Err(damaged(path, &"it is cut off")),
            _ => {}
        }
    }
}

/// A row or column; outside any sheet where it is too large.
fn number(value: u64) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

/// How often a row or cell is there.
fn times(start: &BytesStart<'_>, name: &str) -> Result<u64, Damage> {
    Ok(attribute(start, name)?.map_or(Ok(1), |times| times.parse())?)
}

fn attribute(start: &BytesStart<'_>, name: &str) -> Result<Option<String>, Damage> {
    let Some(found) = start.try_get_attribute(name)? else { return Ok(None) };
    Ok(Some(found.normalized_value(XmlVersion::Implicit1_0)?.into_owned()))
}

/// The cells of a row that are not empty, up to its end.
fn cells(reader: &mut Reader<&[u8]>) -> Result<Vec<Cell>, Damage> {
    let mut cells = Vec::new();
    let mut column = 0_u64;
    loop {
        match reader.read_event()? {
            Event::Start(start) if [CELL, COVERED].contains(&start.name().0) => {
                let times = times(&start, "table:number-columns-repeated")?;
                let value = value(&start, reader)?;
                if !value.is_empty() {
                    cells.push(Cell { value, column, times });
                }
                column = column.saturating_add(times);
            }
            Event::Start(start) => {
                reader.read_to_end(start.name())?;
            }
            Event::End(_) => return Ok(cells),
            Event::Eof => return Err("it is cut off".into()),
            _ => {}
        }
    }
}

/// The value of a cell: of the attribute for its type, or what it shows.
fn value(start: &BytesStart<'_>, reader: &mut Reader<&[u8]>) -> Result<String, Damage> {
    let kind = attribute(start, "office:value-type")?.unwrap_or_default();
    let given = match kind.as_str() {
        "float" | "percentage" | "currency" => attribute(start, "office:value")?,
        "date" => attribute(start, "office:date-value")?,
        "time" => attribute(start, "office:time-value")?.map(|text| in_days(&text).unwrap_or(text)),
        "boolean" => attribute(start, "office:boolean-value")?,
        _ => attribute(start, "office:string-value")?,
    };
    let shown = paragraphs(reader)?;
    Ok(given.filter(|text| !text.is_empty()).unwrap_or(shown))
}

/// The paragraphs of a cell up to its end, without those of comments and drawings.
fn paragraphs(reader: &mut Reader<&[u8]>) -> Result<String, Damage> {
    let mut text = String::new();
    // How many elements of the cell are open.
    let mut depth = 0;
    loop {
        match reader.read_event()? {
            Event::Start(start) => match start.name().0 {
                "text:p" if depth == 0 => {
                    if !text.is_empty() {
                        text.push(' ');
                    }
                    depth = 1;
                }
                _ if depth == 0 => {
                    reader.read_to_end(start.name())?;
                }
                "office:annotation" | "text:note" => {
                    reader.read_to_end(start.name())?;
                }
                name => {
                    if ["text:s", "text:tab", "text:line-break"].contains(&name) {
                        text.push(' ');
                    }
                    depth += 1;
                }
            },
            Event::End(_) if depth == 0 => return Ok(text),
            Event::End(_) => depth -= 1,
            Event::Text(part) if depth > 0 => text.push_str(&part.xml10_content()),
            Event::CData(part) if depth > 0 => text.push_str(&part.xml10_content()),
            Event::GeneralRef(entity) if depth > 0 => {
                match (resolve_xml_entity(&entity), entity.resolve_char_ref()?) {
                    (Some(known), _) => text.push_str(known),
                    (None, Some(character)) => text.push(character),
                    (None, None) => return Err(format!("&{}; is not known", &*entity).into()),
                }
            }
            Event::Eof => return Err("it is cut off".into()),
            _ => {}
        }
    }
}

/// A duration such as `PT1H30M` in days, as it is in other workbooks.
fn in_days(text: &str) -> Option<String> {
    let mut rest = text.strip_prefix("PT")?;
    let mut seconds = 0.0;
    while !rest.is_empty() {
        let (at, unit) = rest.char_indices().find(|(_, character)| character.is_ascii_alphabetic())?;
        let size = match unit {
            'H' => 3600.0,
            'M' => 60.0,
            'S' => 1.0,
            _ => return None,
        };
        seconds += size * rest.get(..at)?.parse::<f64>().ok()?;
        rest = rest.get(at + 1..)?;
    }
    Some((seconds / 86_400.0).to_string())
}
