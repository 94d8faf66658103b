//! Samples that arrive.

use std::collections::VecDeque;
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};

use csv::{ByteRecord, WriterBuilder};

use super::Lines;
use super::schema::{Cells, SampleSchema, TargetCell};
use crate::error::RowLabel;
use crate::readers::delimited::{header_names, read_text};
use crate::source::Source;
use crate::{Error, Missing, Place, ReadOptions, TargetChoice};

/// A sample that arrived.
#[derive(Debug, Clone, PartialEq)]
pub struct ArrivedSample {
    /// Its first line in the file, from 1.
    pub line: u64,
    /// A hash of all lines up to this one.
    pub hash: u64,
    /// The values of the features; codes of categories.
    pub(super) values: Vec<f64>,
    pub(super) target: TargetCell,
    /// Whether it is left out, since a value is missing.
    pub left_out: bool,
}

/// The samples of a text table, read once.
///
/// The first lines decide what all columns are, as they do for [`Table::read`](crate::Table::read): their
/// kinds, the classes and the levels. A later line that does not agree is an error with its number. Missing
/// values are an error, or their sample is left out ([`Missing::DropRows`]); a mean would be known at the end
/// only.
///
/// ```
/// use fewest_data::{ArrivingSamples, Missing, ReadOptions};
/// let text = b"a,b,y\n1,2,no\n3,4,yes\n5,,no\n7,8,yes\n".as_slice();
/// let options = ReadOptions::with_target("y");
/// let mut samples = ArrivingSamples::open("stdin", text, &options, Missing::DropRows, 2)?;
/// assert_eq!(samples.schema().classes(), ["no", "yes"]);
/// let mut arrived = Vec::new();
/// while let Some(sample) = samples.next_sample()? {
///     arrived.extend((!sample.left_out).then_some(sample));
/// }
/// let arrived: Vec<_> = arrived.iter().collect();
/// assert_eq!(samples.schema().dataset(&arrived)?.n_samples(), 3);
/// # Ok::<(), fewest_data::Error>(())
/// ```
pub struct ArrivingSamples {
    path: PathBuf,
    lines: Lines,
    /// Records that were read to decide, with their lines and hashes.
    waiting: VecDeque<(u64, u64, ByteRecord)>,
    /// What is wrong after these.
    broken: Option<Error>,
    schema: SampleSchema,
    cells: Cells,
    missing: Missing,
}

impl ArrivingSamples {
    /// Reads the first `n_first` lines of values of `content`, which messages call `path`.
    ///
    /// # Errors
    /// As [`Table::read`](crate::Table::read), where not even the first line can be used;
    /// [`fewest_core::Error::InvalidParameter`] for a policy that needs all values.
    pub fn open(
        path: impl AsRef<Path>,
        content: impl Read + 'static,
        options: &ReadOptions,
        missing: Missing,
        n_first: usize,
    ) -> Result<Self, Error> {
        check_policy(missing)?;
        let path = path.as_ref();
        let (mut lines, delimiter) = Lines::open(path, content, options)?;
        let mut records = Vec::new();
        let mut broken = None;
        // One more, since the first may hold names.
        while records.len() <= n_first {
            match lines.next() {
                Ok(Some(line)) => records.push((line, lines.hash, lines.keep()?)),
                Ok(None) => break,
                Err(error) => {
                    broken = Some(error);
                    break;
                }
            }
        }
        let mut n_used = records.len();
        let (table, header) = loop {
            let text = text_of(&records[..n_used], delimiter, path)?;
            let known =
                ReadOptions { delimiter: Some(char::from(delimiter)), encoding: None, ..options.clone() };
            let length = text.len() as u64;
            match read_text(Source::of_stream(path, Cursor::new(text), length)?, &known) {
                Ok(table) => {
                    let has_header = table.n_samples() < n_used;
                    break (table, has_header);
                }
                Err(error) => {
                    // What stands before the fault can be used.
                    let line = line_of(&error);
                    let before = records[..n_used].iter().filter(|(at, ..)| Some(*at) < line).count();
                    if before < 2 || before >= n_used {
                        return Err(broken.filter(|_| n_used < 2).unwrap_or(error));
                    }
                    n_used = before;
                }
            }
        };
        let mut waiting: VecDeque<_> = records.into();
        let names = match header {
            true => {
                let first = waiting.pop_front();
                first.map(|(line, _, record)| names_of(path, line, &record)).transpose()?
            }
            false => None,
        };
        let is_named = matches!(options.target, TargetChoice::Columns(_));
        let schema = SampleSchema::of(&table, delimiter, names, lines.n_cells, is_named)?;
        // One class in the few lines before a fault says nothing: the fault is what to mend.
        if schema.classes().len() == 1
            && let Some(error) = broken
        {
            return Err(error);
        }
        let cells = Cells::new(&schema, &options.missing_tokens);
        Ok(Self { path: path.to_owned(), lines, waiting, broken, schema, cells, missing })
    }

    /// As [`open`](Self::open), with what other lines decided before.
    ///
    /// # Errors
    /// As there; [`Error::Malformed`] for other names of columns.
    pub fn with_schema(
        path: impl AsRef<Path>,
        content: impl Read + 'static,
        options: &ReadOptions,
        missing: Missing,
        schema: SampleSchema,
    ) -> Result<Self, Error> {
        check_policy(missing)?;
        let path = path.as_ref();
        let options = ReadOptions { delimiter: Some(schema.delimiter), ..options.clone() };
        let (mut lines, _) = Lines::open(path, content, &options)?;
        if let Some(names) = &schema.header {
            let advice = "give the same data again, or name a new file for the checkpoint";
            match lines.next()? {
                Some(line) if names_of(path, line, &lines.record)? == *names => {}
                _ => {
                    let problem = "the names of the columns are not those of the checkpoint";
                    return Err(Error::malformed(path, Place::File, problem, advice));
                }
            }
        } else {
            (lines.n_cells, lines.first_line) = (schema.n_columns, 1);
        }
        let cells = Cells::new(&schema, &options.missing_tokens);
        let (path, waiting) = (path.to_owned(), VecDeque::new());
        Ok(Self { path, lines, waiting, broken: None, schema, cells, missing })
    }

    /// What the columns are.
    pub fn schema(&self) -> &SampleSchema {
        &self.schema
    }

    /// The next sample, or `None` at the end.
    ///
    /// # Errors
    /// [`Error::Malformed`] with the line for one with another number of cells, a cell of another type, a
    /// class or level that the first lines do not have; [`Error::MissingInStream`].
    pub fn next_sample(&mut self) -> Result<Option<ArrivedSample>, Error> {
        let (line, hash, record) = match self.waiting.pop_front() {
            Some(record) => record,
            None => {
                if let Some(error) = self.broken.take() {
                    return Err(error);
                }
                match self.lines.next()? {
                    None => return Ok(None),
                    Some(line) => return self.sample(line, self.lines.hash, &self.lines.record).map(Some),
                }
            }
        };
        self.sample(line, hash, &record).map(Some)
    }

    fn sample(&self, line: u64, hash: u64, record: &ByteRecord) -> Result<ArrivedSample, Error> {
        match self.cells.read(&self.schema, &self.path, line, record)? {
            Ok((values, target)) => Ok(ArrivedSample { line, hash, values, target, left_out: false }),
            Err(_) if self.missing == Missing::DropRows => {
                let (values, target) = (Vec::new(), TargetCell::None);
                Ok(ArrivedSample { line, hash, values, target, left_out: true })
            }
            Err(column) => {
                let place = Box::new(Place::Cell { row: RowLabel::Line(line), column });
                Err(Error::MissingInStream { path: self.path.clone(), place, instead: "drop-rows" })
            }
        }
    }

    /// Passes over `n` lines that were read before, and returns the hash of all of them.
    ///
    /// # Errors
    /// As [`next_sample`](Self::next_sample); [`Error::Malformed`] where there are fewer.
    pub fn skip(&mut self, n: u64) -> Result<u64, Error> {
        let mut hash = self.lines.hash;
        for done in 0..n {
            hash = match self.waiting.pop_front() {
                Some((_, hash, _)) => hash,
                None => match self.lines.next()? {
                    Some(_) => self.lines.hash,
                    None => return Err(too_short(&self.path, n, done)),
                },
            };
        }
        Ok(hash)
    }
}

/// The error for content that is shorter than what was read of it before.
pub(super) fn too_short(path: &Path, n: u64, done: u64) -> Error {
    let problem = format!("{n} lines of it were read before, but it has {done}");
    Error::malformed(
        path,
        Place::File,
        problem,
        "give the same data again from their start, or name a new file for the checkpoint",
    )
}

fn check_policy(missing: Missing) -> Result<(), Error> {
    match missing {
        Missing::Error | Missing::DropRows => Ok(()),
        Missing::Mean | Missing::Median => {
            let expected = format!(
                "error or drop-rows: samples are read once, and the {} of a feature is known at the end only",
                missing.name()
            );
            Err(fewest_core::Error::parameter("missing", missing.name(), expected).into())
        }
    }
}

fn names_of(path: &Path, line: u64, record: &ByteRecord) -> Result<Vec<String>, Error> {
    let cells: Vec<_> = record.iter().map(std::borrow::Cow::Borrowed).collect();
    header_names(path, line, &cells)
}

/// The line at which something is wrong.
fn line_of(error: &Error) -> Option<u64> {
    let Error::Malformed { place, .. } = error else { return None };
    match **place {
        Place::Line(line) | Place::Cell { row: RowLabel::Line(line), .. } => Some(line),
        _ => None,
    }
}

/// Records as text, each at its line.
fn text_of(records: &[(u64, u64, ByteRecord)], delimiter: u8, path: &Path) -> Result<Vec<u8>, Error> {
    let mut text = Vec::new();
    let mut at = 1;
    for (line, _, record) in records {
        while at < *line {
            text.push(b'\n');
            at += 1;
        }
        let start = text.len();
        let mut writer = WriterBuilder::new().delimiter(delimiter).flexible(true).from_writer(&mut text);
        let written = writer.write_byte_record(record).and_then(|()| Ok(writer.flush()?));
        drop(writer);
        written.map_err(|error| {
            let problem = format!("the line cannot be written again: {error}");
            Error::malformed(path, Place::Line(*line), problem, "check the quotes")
        })?;
        at += text[start..].iter().filter(|byte| **byte == b'\n').count() as u64;
    }
    Ok(text)
}
