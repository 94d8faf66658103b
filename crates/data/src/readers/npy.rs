//! NumPy's `.npy`: one array of numbers, versions 1 to 3 of the format.

mod columns;
mod pieces;

use std::io::{self, Read};
use std::path::Path;

use crate::assembly::check_infinite;
use crate::cells::from_numbers;
use crate::error::{ColumnLabel, quoted};
use crate::memory;
use crate::source::Source;
use crate::table::Table;
use crate::target::plain;
use crate::{Error, Format, Place, ReadOptions, Sniff, TargetChoice};

pub use columns::NpyColumns;

const MAGIC: &[u8] = b"\x93NUMPY";
/// Longest supported header; NumPy reads more than 10 000 characters only on request.
const LONGEST_HEADER: usize = 1 << 16;
/// Most rows of an array stored row by row, and about as many values, that are read before they are dealt to
/// their columns.
const TILE_ROWS: usize = 64;
const TILE_VALUES: usize = 1 << 20;
const COPY_AGAIN: &str = "save the array again with numpy.save";

/// NumPy's `.npy`.
pub(crate) const FORMAT: Format = Format::new("npy", &["npy"], sniff, read).in_pieces(pieces::open);

fn sniff(start: &[u8]) -> Sniff {
    if start.starts_with(MAGIC) { Sniff::Certain } else { Sniff::No }
}

/// Reads the features, and the target if it is in a separate file.
fn read(source: Source, options: &ReadOptions) -> Result<Table, Error> {
    let path = source.path.clone();
    let features = read_array(source, options)?;
    if features.dimensions != 2 {
        let what = format!("an array of shape ({},)", features.n_rows);
        return Err(Error::unsupported(
            &path,
            what,
            "save samples × features, reshaped with x.reshape(-1, 1) for one feature",
        ));
    }
    let Some(file) = target_file(options) else {
        return from_numbers(&path, FORMAT, features.columns, Vec::new(), options);
    };
    let target_path = Path::new(file);
    let target = read_array(Source::open(target_path)?, options)?;
    if target.n_rows != features.n_rows {
        return Err(Error::malformed(
            target_path,
            Place::File,
            format!(
                "{} target values for the {} samples of {}",
                target.n_rows,
                features.n_rows,
                path.display()
            ),
            "give one row for each sample",
        ));
    }
    let single = target.columns.len() == 1;
    let mut targets = Vec::new();
    for (number, values) in target.columns.into_iter().enumerate() {
        let label = ColumnLabel { name: None, number: (!single).then_some(number) };
        check_infinite(target_path, &values, &ColumnLabel { name: None, number: Some(number) })?;
        targets.push((label, plain(values)));
    }
    let rest = ReadOptions { target: TargetChoice::None, ..options.clone() };
    from_numbers(&path, FORMAT, features.columns, targets, &rest)
}

/// The file with the target, where it is one of its own.
fn target_file(options: &ReadOptions) -> Option<&str> {
    match &options.target {
        TargetChoice::Columns(names) => match names.as_slice() {
            [name] if name.to_ascii_lowercase().ends_with(".npy") => Some(name),
            _ => None,
        },
        _ => None,
    }
}

struct Array {
    columns: Vec<Vec<f64>>,
    n_rows: usize,
    dimensions: usize,
}

fn read_array(source: Source, options: &ReadOptions) -> Result<Array, Error> {
    let Source { path, mut reader, length, compressed, .. } = source;
    let failed = |place, error| failure(&path, compressed, place, error);
    let (header, start) = read_header(&path, &mut reader, &failed)?;
    let Header { element, fortran_order, n_rows, n_columns, dimensions } = header;
    // The length of a stream, or of what is decompressed, is known at its end only.
    let is_checked = !compressed && length > 0;
    header.check(&path, if is_checked { length.checked_sub(start) } else { Some(header.bytes()) })?;
    memory::check(&path, memory::dense_bytes(n_rows, n_columns), options)?;

    // No memory is reserved for sizes that only the header declares: unless the length of the file agrees,
    // the first column grows as bytes are read, and later ones reserve its length.
    let mut columns: Vec<Vec<f64>> = Vec::new();
    let values = Place::Byte(start);
    if fortran_order {
        for _ in 0..n_columns {
            let mut column = Vec::with_capacity(columns.first().map_or(0, Vec::len));
            element
                .read_into(&mut reader, n_rows, |value| column.push(value))
                .map_err(|e| failed(values.clone(), e))?;
            columns.push(column);
        }
    } else {
        // One value at a time would visit all columns, far apart in memory, for each row.
        let mut tile = Vec::new();
        for rows in tiles(n_rows, n_columns) {
            tile.clear();
            element
                .read_into(&mut reader, rows * n_columns, |value| tile.push(value))
                .map_err(|e| failed(values.clone(), e))?;
            columns.resize_with(n_columns, || Vec::with_capacity(if is_checked { n_rows } else { 0 }));
            for (j, column) in columns.iter_mut().enumerate() {
                column.extend(tile[j..].iter().step_by(n_columns));
            }
        }
    }
    let mut more = [0];
    if reader.read(&mut more).map_err(|error| failed(values, error))? > 0 {
        let problem = format!("more bytes follow the {n_rows} × {n_columns} values that are declared");
        return Err(Error::malformed(&path, Place::File, problem, COPY_AGAIN));
    }
    Ok(Array { columns, n_rows, dimensions })
}

/// Why values or the header cannot be read.
fn failure(path: &Path, compressed: bool, place: Place, error: io::Error) -> Error {
    if error.kind() == io::ErrorKind::UnexpectedEof && !compressed {
        return Error::malformed(path, place, "the file ends too early", COPY_AGAIN);
    }
    Source::failure(path, compressed, place, error)
}

/// How many rows are read at a time: few where they are long.
fn tiles(n_rows: usize, n_columns: usize) -> impl Iterator<Item = usize> {
    let height = (TILE_VALUES / n_columns).clamp(1, TILE_ROWS);
    (0..n_rows).step_by(height).map(move |first| height.min(n_rows - first))
}

#[derive(Debug, Clone, Copy)]
struct Header {
    element: Element,
    fortran_order: bool,
    n_rows: usize,
    n_columns: usize,
    dimensions: usize,
}

impl Header {
    /// The bytes of all values.
    fn bytes(&self) -> u64 {
        memory::table_bytes(self.n_rows, self.n_columns, self.element.size() as u64)
    }

    /// Whether there are values, and as many bytes behind the header as they have.
    fn check(&self, path: &Path, behind: Option<u64>) -> Result<(), Error> {
        let Self { element, n_rows, n_columns, .. } = self;
        if *n_rows == 0 || *n_columns == 0 {
            let problem = format!("the array is empty ({n_rows} × {n_columns})");
            return Err(Error::malformed(path, Place::File, problem, "save samples × features"));
        }
        if behind != Some(self.bytes()) {
            let problem = format!(
                "{n_rows} × {n_columns} values of {} bytes are declared, but {} bytes follow the header",
                element.size(),
                behind.unwrap_or(0)
            );
            return Err(Error::malformed(path, Place::File, problem, COPY_AGAIN));
        }
        Ok(())
    }
}

/// The header, and the byte at which the values start.
fn read_header(
    path: &Path,
    reader: &mut dyn Read,
    failed: &dyn Fn(Place, io::Error) -> Error,
) -> Result<(Header, u64), Error> {
    let mut start = [0; 8];
    reader.read_exact(&mut start).map_err(|error| failed(Place::Byte(0), error))?;
    if !start.starts_with(MAGIC) {
        let problem = "the file does not start as .npy files do";
        return Err(Error::malformed(path, Place::File, problem, COPY_AGAIN));
    }
    let (length, before) = match start[6] {
        1 => {
            let mut length = [0; 2];
            reader.read_exact(&mut length).map_err(|error| failed(Place::Byte(8), error))?;
            (usize::from(u16::from_le_bytes(length)), 10)
        }
        2 | 3 => {
            let mut length = [0; 4];
            reader.read_exact(&mut length).map_err(|error| failed(Place::Byte(8), error))?;
            (u32::from_le_bytes(length) as usize, 12)
        }
        version => {
            let what = format!("version {version} of the .npy format");
            return Err(Error::unsupported(path, what, "save the array with version 1, 2 or 3"));
        }
    };
    if length > LONGEST_HEADER {
        let problem = format!("the declared header length of {length} bytes is too large");
        return Err(Error::malformed(path, Place::Byte(8), problem, COPY_AGAIN));
    }
    let mut text = vec![0; length];
    reader.read_exact(&mut text).map_err(|error| failed(Place::Byte(before), error))?;
    let text = String::from_utf8_lossy(&text).into_owned();
    let broken = |what: &str| {
        let problem = format!("the header {} has no valid `{what}`", quoted(text.trim()));
        Error::malformed(path, Place::Byte(before), problem, COPY_AGAIN)
    };
    let descr = entry(&text, "descr").ok_or_else(|| broken("descr"))?;
    let element = Element::parse(descr).ok_or_else(|| {
        let what = format!("an array of type {}", quoted(descr));
        Error::unsupported(path, what, "save numbers, such as x.astype(float)")
    })?;
    let fortran_order = match entry(&text, "fortran_order") {
        Some("True") => true,
        Some("False") => false,
        _ => return Err(broken("fortran_order")),
    };
    let shape: Option<Vec<usize>> = entry(&text, "shape").and_then(|shape| {
        let sizes = shape.strip_prefix('(')?.strip_suffix(')')?;
        sizes
            .split(',')
            .map(str::trim)
            .filter(|size| !size.is_empty())
            .map(|size| size.parse().ok())
            .collect()
    });
    let (n_rows, n_columns, dimensions) = match shape.ok_or_else(|| broken("shape"))?.as_slice() {
        [rows] => (*rows, 1, 1),
        [rows, columns] => (*rows, *columns, 2),
        other => {
            let what = format!("an array with {} dimensions", other.len());
            return Err(Error::unsupported(path, what, "save samples × features"));
        }
    };
    Ok((Header { element, fortran_order, n_rows, n_columns, dimensions }, before + length as u64))
}

/// The value of `'key': value` in the header, a Python dictionary: a quoted text without its quotes, a tuple
/// or list with its brackets, or a word.
fn entry<'a>(header: &'a str, key: &str) -> Option<&'a str> {
    let quotes = ['\'', '"'];
    let at = quotes.iter().find_map(|quote| {
        let quoted = format!("{quote}{key}{quote}");
        header.find(&quoted).map(|at| at + quoted.len())
    })?;
    let rest = header.get(at..)?.trim_start().strip_prefix(':')?.trim_start();
    let first = rest.chars().next()?;
    if quotes.contains(&first) {
        return rest.get(1..)?.split(first).next();
    }
    if let Some(close) =
        [('(', ')'), ('[', ']')].iter().find(|(open, _)| *open == first).map(|(_, close)| *close)
    {
        return rest.get(..=rest.find(close)?);
    }
    rest.split([',', '}']).next().map(str::trim)
}

/// The type of the stored values.
#[derive(Debug, Clone, Copy)]
struct Element {
    kind: Kind,
    big_endian: bool,
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    Bool,
    Signed(usize),
    Unsigned(usize),
    Float(usize),
}

impl Element {
    fn parse(descr: &str) -> Option<Self> {
        let (order, kind) = descr.split_at_checked(1)?;
        let big_endian = match order {
            "<" | "|" => false,
            ">" => true,
            // `=` is the byte order of the machine that wrote the file; NumPy never writes it.
            _ => return None,
        };
        let kind = match kind {
            "b1" => Kind::Bool,
            "i1" => Kind::Signed(1),
            "i2" => Kind::Signed(2),
            "i4" => Kind::Signed(4),
            "i8" => Kind::Signed(8),
            "u1" => Kind::Unsigned(1),
            "u2" => Kind::Unsigned(2),
            "u4" => Kind::Unsigned(4),
            "u8" => Kind::Unsigned(8),
            "f4" => Kind::Float(4),
            "f8" => Kind::Float(8),
            _ => return None,
        };
        Some(Self { kind, big_endian })
    }

    fn size(self) -> usize {
        match self.kind {
            Kind::Bool => 1,
            Kind::Signed(size) | Kind::Unsigned(size) | Kind::Float(size) => size,
        }
    }

    /// Reads `count` values and passes each to `take`.
    fn read_into(self, reader: &mut dyn Read, count: usize, mut take: impl FnMut(f64)) -> io::Result<()> {
        let size = self.size();
        let mut buffer = [0_u8; 1 << 13];
        let mut left = count;
        while left > 0 {
            let now = left.min(buffer.len() / size);
            let bytes = &mut buffer[..now * size];
            reader.read_exact(bytes)?;
            match self {
                // What nearly all files hold, without a look at the type for each value.
                Element { kind: Kind::Float(8), big_endian: false } => {
                    let (values, _) = bytes.as_chunks();
                    values.iter().for_each(|bytes| take(f64::from_le_bytes(*bytes)));
                }
                _ => bytes.chunks_exact(size).for_each(|bytes| take(self.decode(bytes))),
            }
            left -= now;
        }
        Ok(())
    }

    fn decode(self, bytes: &[u8]) -> f64 {
        // The bytes as one unsigned number, the least significant first.
        let add = |number: u64, &byte: &u8| number << 8 | u64::from(byte);
        let bits = if self.big_endian { bytes.iter().fold(0, add) } else { bytes.iter().rev().fold(0, add) };
        match self.kind {
            Kind::Bool => f64::from(u8::from(bits != 0)),
            Kind::Unsigned(_) => bits as f64,
            Kind::Signed(1) => f64::from(bits as u8 as i8),
            Kind::Signed(2) => f64::from(bits as u16 as i16),
            Kind::Signed(4) => f64::from(bits as u32 as i32),
            Kind::Signed(_) => bits as i64 as f64,
            Kind::Float(4) => f64::from(f32::from_bits(bits as u32)),
            Kind::Float(_) => f64::from_bits(bits),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    /// More rows than a tile, and rows longer than one.
    #[test]
    fn an_array_stored_row_by_row_is_dealt_to_its_columns() {
        for (n_rows, n_columns) in [(1, 3), (64, 2), (150, 3), (2, TILE_VALUES + 1)] {
            let mut text =
                format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({n_rows}, {n_columns}), }}");
            text.push('\n');
            let mut bytes = [MAGIC, &[1, 0]].concat();
            bytes.extend((text.len() as u16).to_le_bytes());
            bytes.extend(text.as_bytes());
            let value = |i: usize, j: usize| (i * n_columns + j) as f64;
            for i in 0..n_rows {
                (0..n_columns).for_each(|j| bytes.extend(value(i, j).to_le_bytes()));
            }
            // The length of a stream is not known before its end.
            for length in [bytes.len() as u64, 0] {
                let source =
                    Source::of_stream(Path::new("x.npy"), Cursor::new(bytes.clone()), length).unwrap();
                let found = read_array(source, &ReadOptions::default()).unwrap();
                assert_eq!((found.n_rows, found.columns.len()), (n_rows, n_columns));
                for (j, column) in found.columns.iter().enumerate() {
                    assert!(column.len() == n_rows && (0..n_rows).all(|i| column[i] == value(i, j)));
                }
            }
        }
    }
}
