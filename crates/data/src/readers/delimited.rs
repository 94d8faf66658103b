//! Text tables: CSV, TSV and similar formats.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use csv::ByteRecord;

use super::cells::{Builder, Cell, Classifier};
use super::growing::{Growing, Head};
use super::lines::{TooLong, UnixLines};
use super::pieces;
use super::text;
use super::transpose;
use super::unread::Unread;
use crate::encoding::NAME_IT;
use crate::error::{ColumnLabel, RowLabel, quoted};
use crate::first_line::{Above, Quotes};
use crate::memory::Limit;
use crate::options::Header;
use crate::roles::Role;
use crate::source::Source;
use crate::table::Table;
use crate::write::write_csv_pieces;
use crate::{Error, Format, Place, ReadOptions, Sniff};

pub(crate) const DELIMITERS: [u8; 4] = [b',', b'\t', b';', b'|'];
pub(crate) const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Text tables.
pub(crate) const FORMAT: Format = Format::new("csv", &["csv", "tsv", "tab"], |_| Sniff::Possible, read)
    .with_transpose()
    .with_encoding()
    .in_pieces(pieces::open)
    .written_by(&["csv"], write_csv_pieces);

fn read(source: Source, options: &ReadOptions) -> Result<Table, Error> {
    let source = source.in_utf8(options)?;
    if options.transpose { transpose::read(source, options) } else { read_text(source, options) }
}

/// Reads text in UTF-8 with a sample a line.
pub(super) fn read_text(source: Source, options: &ReadOptions) -> Result<Table, Error> {
    check_text(&source)?;
    let delimiter = delimiter(&source, options.delimiter)?;
    let limit = Limit::of(&source.path, options);
    let estimated = estimate(&source, delimiter);
    let mut file = Unread::of(source, delimiter, limit.clone());
    let start = file.first_two()?;
    let Some((first_line, first)) = start.first() else {
        return Err(blank(&file.path));
    };
    let header = text::cells(&file.text[first.clone()], delimiter);
    let second = start.get(1).map(|(_, second)| text::cells(&file.text[second.clone()], delimiter));
    let classifier = Classifier::new(&options.missing_tokens, delimiter != b',');
    limit.check((header.len() as u64).saturating_mul(COLUMN))?;
    let is_header = has_header(&header, second.as_deref(), &classifier, options.header);
    let names = is_header.then(|| header_names(&file.path, *first_line, &header)).transpose()?;
    let head = Head { line: *first_line, names, n_columns: header.len(), delimiter };
    let header_end = first.end;
    let mut table = Growing::new(&file.path, head, options)?;
    limit.check((estimated * table.share_read()) as u64)?;
    if is_header {
        file.take(header_end);
    }
    loop {
        limit.check(table.read(&mut file)?)?;
        if !file.append(0)? {
            break;
        }
    }
    file.check_end()?;
    if table.n_rows() == 0 {
        let problem = "there is a header, but no line of values follows";
        return Err(Error::malformed(&file.path, Place::File, problem, "check how the file was made"));
    }
    table.finish(options)
}

/// The error about a file without a record.
pub(super) fn blank(path: &Path) -> Error {
    Error::malformed(path, Place::File, "the file holds only blank lines", "check how it was made")
}

/// The error about a line that has not as many cells as the first one, of which this is the number, `cut_off`
/// where the file ends in it.
pub(super) fn wrong_length(
    path: &Path,
    (line, n_cells): (u64, usize),
    (first_line, n_first): (u64, usize),
    cut_off: bool,
) -> Error {
    let what = if cut_off { ", and the file ends in it" } else { "" };
    let problem = format!("{n_cells} cells{what}, but line {first_line} has {n_first}");
    // Where the next line has more cells, the first one may be none of the table.
    let advice = match n_first < n_cells && line <= first_line + 1 {
        true => {
            "delete a title or a comment above the table, check the delimiter, or complete the first line"
        }
        false => "complete the line, and put cells that contain the delimiter in double quotes",
    };
    Error::malformed(path, Place::Line(line), problem, advice)
}

/// Bytes of a column beside its values, while it is read.
const COLUMN: u64 = (size_of::<Builder>() + size_of::<Role>() + 64) as u64;

/// Most bytes of a record that is read by itself: what reads a stream holds no more of one that does not end,
/// such as all that follows a quote.
const LONGEST_RECORD: u64 = 1 << 27;

/// The rows of the file, each with the number of its first line.
pub(crate) struct Rows {
    reader: csv::Reader<UnixLines>,
    path: PathBuf,
    compressed: bool,
}

impl Rows {
    pub(crate) fn new(source: Source, delimiter: u8) -> Self {
        let Source { path, reader, prefix, compressed, .. } = source;
        let skip = Above::of(&prefix).length;
        let reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(delimiter)
            .buffer_capacity(1 << 16)
            .from_reader(UnixLines::new(reader, skip));
        Self { reader, path, compressed }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the content has ended without a line feed.
    pub(crate) fn is_cut_off(&self) -> bool {
        self.reader.get_ref().ended_without_line_feed()
    }

    pub(crate) fn next(&mut self, record: &mut ByteRecord) -> Result<Option<u64>, Error> {
        let start = self.reader.position().line();
        self.reader.get_mut().allow(LONGEST_RECORD);
        match self.reader.read_byte_record(record) {
            Ok(true) => {}
            Ok(false) => return Ok(None),
            Err(error) => {
                let place = Place::Line(self.reader.position().line());
                return Err(match error.into_kind() {
                    csv::ErrorKind::Io(error)
                        if error.get_ref().is_some_and(|inner| inner.is::<TooLong>()) =>
                    {
                        let problem = format!("a line of more than {} MiB", LONGEST_RECORD >> 20);
                        let advice =
                            "check the line ends, the delimiter, and whether a double quote is never closed";
                        Error::malformed(&self.path, Place::Line(start), problem, advice)
                    }
                    csv::ErrorKind::Io(error) => Source::failure(&self.path, self.compressed, place, error),
                    _ => Error::malformed(&self.path, place, "the line cannot be read", "check the quotes"),
                });
            }
        }
        // Every line ends in one line feed here, so the position after a record gives the record's first
        // line. The position before it does not: blank lines may follow that.
        let after = self.reader.position();
        let inside = record.as_slice().iter().filter(|&&byte| byte == b'\n').count() as u64;
        if record.as_slice().ends_with(b"\n") && self.reader.get_ref().ends_inside_quotes(after.byte()) {
            let place = Place::Line(after.line().saturating_sub(inside).max(1));
            let problem = "a double quote is opened here and never closed";
            return Err(Error::malformed(&self.path, place, problem, "close it or remove it"));
        }
        Ok(Some(after.line().saturating_sub(inside + 1).max(1)))
    }
}

pub(crate) fn check_text(source: &Source) -> Result<(), Error> {
    let start = &source.prefix;
    if let Some(byte) = start.iter().position(|&byte| byte == 0) {
        let advice = "give a .csv, .tsv, .mat, .npy or svmlight file, or name the encoding of the text (on the \
                      command line: --encoding utf-16le)";
        return Err(Error::malformed(
            &source.path,
            Place::Byte(byte as u64),
            "a zero byte, so the file is neither text nor of a known format",
            advice,
        ));
    }
    Ok(())
}

/// The delimiter: `asked` if given, otherwise what a line above the table tells, or the file's extension.
pub(crate) fn told_delimiter(source: &Source, asked: Option<char>) -> Result<Option<u8>, Error> {
    if let Some(delimiter) = asked {
        return match u8::try_from(delimiter) {
            Ok(byte) if byte.is_ascii() && !matches!(byte, b'"' | b'\n' | b'\r' | 0) => Ok(Some(byte)),
            _ => Err(fewest_core::Error::parameter(
                "delimiter",
                quoted(&delimiter.to_string()),
                "one ASCII character, and neither a quote nor a line end",
            )
            .into()),
        };
    }
    let by_extension = || matches!(source.extension().as_deref(), Some("tsv" | "tab")).then_some(b'\t');
    Ok(Above::of(&source.prefix).delimiter.or_else(by_extension))
}

/// The delimiter that is told, otherwise that of the first line.
pub(crate) fn delimiter(source: &Source, asked: Option<char>) -> Result<u8, Error> {
    if let Some(told) = told_delimiter(source, asked)? {
        return Ok(told);
    }
    let text = &source.prefix[Above::of(&source.prefix).length..];
    let mut counts = [0_usize; DELIMITERS.len()];
    let mut between_digits = 0;
    let mut quotes = Quotes::default();
    let blank = |byte: &u8| byte.is_ascii_whitespace() && *byte != b'\t';
    let start = text.iter().position(|byte| !blank(byte)).unwrap_or(0);
    for (at, &byte) in text.iter().enumerate().skip(start) {
        let quoted = quotes.have(byte, &DELIMITERS);
        match byte {
            _ if quoted => {}
            b'\n' | b'\r' => break,
            _ => {
                if let Some(which) = DELIMITERS.iter().position(|&delimiter| delimiter == byte) {
                    counts[which] += 1;
                    let digit = |at: usize| text.get(at).is_some_and(u8::is_ascii_digit);
                    between_digits += usize::from(byte == b',' && at > 0 && digit(at - 1) && digit(at + 1));
                }
            }
        }
    }
    // If another delimiter occurs, a comma between digits is a decimal mark.
    if counts[1..].iter().any(|count| *count > 0) {
        counts[0] -= between_digits;
    }
    let most = counts.iter().copied().max().unwrap_or(0);
    let which = counts.iter().position(|&count| count == most).unwrap_or(0);
    Ok(DELIMITERS[which])
}

/// Estimated bytes of the values of all columns: 8 for each delimiter and line end, extrapolated from the
/// file's start.
fn estimate(source: &Source, delimiter: u8) -> f64 {
    let cells = source.prefix.iter().filter(|&&byte| byte == delimiter || byte == b'\n').count();
    let length = if source.complete { source.prefix.len() as u64 } else { source.length };
    let cells = cells as f64 / source.prefix.len().max(1) as f64 * length as f64;
    cells * 8.0
}

pub(super) fn has_header(
    first: &[Cow<'_, [u8]>],
    second: Option<&[Cow<'_, [u8]>]>,
    classifier: &Classifier,
    header: Header,
) -> bool {
    match header {
        Header::Yes => return true,
        Header::No => return false,
        Header::Auto => {}
    }
    let number = |cell: &[u8]| matches!(classifier.classify(cell), Ok(Cell::Number(..)));
    let text = |cell: &[u8]| matches!(classifier.classify(cell), Ok(Cell::Text(_)) | Err(_));
    let text_over_number = second
        .is_some_and(|second| first.iter().zip(second).any(|(name, value)| text(name) && number(value)));
    text_over_number || !first.iter().any(|cell| number(cell))
}

pub(super) fn header_names(path: &Path, line: u64, record: &[Cow<'_, [u8]>]) -> Result<Vec<String>, Error> {
    let name = |(number, cell): (usize, &Cow<'_, [u8]>)| match std::str::from_utf8(cell) {
        Ok(name) => Ok(name.trim().to_owned()),
        Err(_) => Err(Error::malformed(
            path,
            Place::Cell {
                row: RowLabel::Line(line),
                column: ColumnLabel { name: None, number: Some(number) },
            },
            format!("the name {} is not UTF-8 text", quoted(&String::from_utf8_lossy(cell))),
            format!("save the file with the encoding UTF-8, {NAME_IT}"),
        )),
    };
    record.iter().enumerate().map(name).collect()
}
