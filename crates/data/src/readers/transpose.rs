//! Tables of text with a feature a line.

use std::collections::HashSet;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use csv::{ByteRecord, WriterBuilder};

use super::cells::IF_FEATURES;
use super::delimited::{Rows, check_text, delimiter, read_text, wrong_length};
use crate::error::listed;
use crate::memory::Limit;
use crate::source::Source;
use crate::table::Table;
use crate::{Error, Header, Place, ReadOptions};

/// Bytes of a line besides its cells, and of a cell besides its text, there and in the text written.
const LINE: u64 = 96;
const CELL: u64 = 9;

/// Reads the table with its lines as columns. Memory: the text twice, besides the table.
pub(super) fn read(mut source: Source, options: &ReadOptions) -> Result<Table, Error> {
    check_text(&source)?;
    let path = source.path.clone();
    let between = delimiter(&source, options.delimiter)?;
    let limit = Limit::of(&path, options);
    // A single line may have no end.
    let is_over = Arc::new(AtomicBool::new(false));
    let reader = std::mem::replace(&mut source.reader, Box::new(io::empty()));
    let limited = Limited { reader, left: limit.most(), is_over: Arc::clone(&is_over) };
    source.reader = Box::new(io::BufReader::new(limited));
    let mut rows = Rows::new(source, between);
    let mut lines: Vec<ByteRecord> = Vec::new();
    let mut first_line = 0;
    let mut record = ByteRecord::new();
    let mut used = 0_u64;
    loop {
        let line = match rows.next(&mut record) {
            Err(_) if is_over.load(Ordering::Relaxed) => {
                return Err(limit.exceeded(limit.most().saturating_add(1)));
            }
            Err(error) => return Err(error),
            Ok(None) => break,
            Ok(Some(line)) => line,
        };
        used += 2 * record.as_slice().len() as u64 + CELL * record.len() as u64 + LINE;
        limit.check(used)?;
        match lines.first() {
            None => first_line = line,
            Some(first) if first.len() == record.len() => {}
            Some(first) => {
                let first = (first_line, first.len());
                return Err(wrong_length(&path, (line, record.len()), first, rows.is_cut_off()));
            }
        }
        lines.push(record.clone());
    }
    let names_samples = options.header != Header::No;
    let (is_sample, ignore) = samples(&lines, options);
    let not_samples = (1..is_sample.len()).filter(|&column| !is_sample[column]);
    let not_samples: Vec<String> = not_samples.map(|column| name(lines.first(), column)).collect();
    let mut writer = WriterBuilder::new().from_writer(Vec::new());
    for column in (0..is_sample.len()).filter(|&column| is_sample[column]) {
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
    // The names of the features, even where they are all numbers.
    let header = Header::Yes;
    let options = ReadOptions { header, delimiter: Some(','), transpose: false, ignore, ..options.clone() };
    let length = text.len() as u64;
    let source = Source::of_stream(&path, std::io::Cursor::new(text), length)?;
    let table = read_text(source, &options).map_err(after)?;
    let mut notes = table.notes;
    if !not_samples.is_empty() {
        let names = listed(not_samples.iter().map(String::as_str));
        notes.push(format!("left out, as columns of the file that are no samples: {names}"));
    }
    // The lines of the file are columns now.
    Ok(Table { lines: None, not_samples, notes, ..table })
}

/// The cell of a line, a name, as names are read.
fn name(line: Option<&ByteRecord>, column: usize) -> String {
    let cell = line.and_then(|line| line.get(column)).unwrap_or_default();
    String::from_utf8_lossy(cell).trim().to_owned()
}

/// Which columns hold the names of the features or a sample, and what is to be ignored besides the others:
/// a name that no feature has may be that of a column, such as a description of each feature.
fn samples(lines: &[ByteRecord], options: &ReadOptions) -> (Vec<bool>, Vec<String>) {
    let first = lines.first();
    let mut is_sample = vec![true; first.map_or(0, ByteRecord::len)];
    if options.header == Header::No {
        return (is_sample, options.ignore.clone());
    }
    let features: HashSet<String> = lines.iter().skip(1).map(|line| name(Some(line), 0)).collect();
    let columns: Vec<String> = (0..is_sample.len()).map(|column| name(first, column)).collect();
    let there: HashSet<&String> = columns.iter().skip(1).collect();
    // A number is that of a feature.
    let is_column = |wanted: &String| {
        there.contains(wanted) && !features.contains(wanted) && wanted.parse::<usize>().is_err()
    };
    let (out, ignore): (Vec<String>, Vec<String>) = options.ignore.iter().cloned().partition(is_column);
    // And those of the training table, which a new one need not have.
    let known = options.reduction.iter().flat_map(|reduction| reduction.not_samples.iter().cloned());
    let out: HashSet<String> = out.into_iter().chain(known).collect();
    for (is_sample, column) in is_sample.iter_mut().zip(&columns).skip(1) {
        *is_sample = !out.contains(column);
    }
    (is_sample, ignore)
}

/// A reader that fails where it gives more than a number of bytes.
struct Limited<R> {
    reader: R,
    left: u64,
    is_over: Arc<AtomicBool>,
}

impl<R: Read> Read for Limited<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(out)?;
        match self.left.checked_sub(read as u64) {
            Some(left) => self.left = left,
            None => {
                self.is_over.store(true, Ordering::Relaxed);
                return Err(io::ErrorKind::OutOfMemory.into());
            }
        }
        Ok(read)
    }
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
            // It is transposed: where that was wrong, it is not.
            let instead = "leave out a column of the file that is no sample, or do without --transpose";
            let advice = advice.replace(IF_FEATURES, instead).replace(", --transpose)", ", --ignore)");
            let advice = format!("{advice} (lines and columns are those of the transposed table)");
            Error::Malformed { path, place, problem, advice }
        }
        other => other,
    }
}
