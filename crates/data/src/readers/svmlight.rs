//! svmlight and libsvm: `label index:value …`, one sample per line.
//!
//! Indices count from 1, or from 0 where one of them is 0, and increase along a line. `qid:…` is accepted and
//! ignored: no method uses groups of queries. Text after `#` is a comment. Absent pairs are zeros;
//! `index:nan` is a missing value.

use std::io::{BufRead, Read};
use std::path::Path;

use nalgebra_sparse::CscMatrix;

use super::sparse::SparseColumns;
use crate::assembly::ReadColumn;
use crate::encoding::NAME_IT;
use crate::error::{ColumnLabel, quoted};
use crate::levels::Spellings;
use crate::memory::Limit;
use crate::source::Source;
use crate::table::Table;
use crate::target::MANY_CLASSES;
use crate::{Error, Format, Place, ReadOptions, Sniff, TargetChoice};

/// Bytes of a value, its row and its column while the file is read.
const ENTRY: u64 = 24;
/// Bytes that a value takes more while the values are put in the order of the columns.
const COPY: u64 = 16;
/// Bytes of a sample: its label and its line.
const SAMPLE: u64 = 16;
/// Bytes of a feature beside its values: where it starts, and its name and score in the output.
const FEATURE: u64 = 128;

/// svmlight and libsvm.
pub(crate) const FORMAT: Format =
    Format::new("svmlight", &["svm", "svmlight", "libsvm"], sniff, read).with_encoding().with_indices();

fn sniff(start: &[u8]) -> Sniff {
    if looks_like_svmlight(start) { Sniff::Likely } else { Sniff::No }
}

/// Whether the first line that is not a comment reads `label index:value …`.
fn looks_like_svmlight(start: &[u8]) -> bool {
    let line = start
        .split(|&byte| byte == b'\n')
        .map(|line| line.split(|&byte| byte == b'#').next().unwrap_or_default().trim_ascii())
        .find(|line| !line.is_empty());
    let Some(line) = line.and_then(|line| std::str::from_utf8(line).ok()) else { return false };
    let mut words = line.split_ascii_whitespace();
    let label = words.next().is_some_and(|label| label.parse::<f64>().is_ok());
    let pairs = words.next().and_then(|word| word.split_once(':')).is_some_and(|(index, value)| {
        index == "qid" || (index.parse::<u64>().is_ok() && value.parse::<f64>().is_ok())
    });
    label && pairs
}

fn read(source: Source, options: &ReadOptions) -> Result<Table, Error> {
    check_options(&source.path, options)?;
    let source = source.in_utf8(options)?;
    let limit = Limit::of(&source.path, options);
    limit.check(estimate(&source))?;
    let Source { path, mut reader, compressed, .. } = source;
    let mut samples = Samples::new(&path, &limit);
    let mut text = Vec::new();
    let mut line = 0;
    loop {
        line += 1;
        text.clear();
        // A line may be all there is of a large file.
        let count = Read::by_ref(&mut reader)
            .take(limit.most().saturating_add(1))
            .read_until(b'\n', &mut text)
            .map_err(|error| Source::failure(&path, compressed, Place::Line(line), error))?;
        if count == 0 {
            break;
        }
        samples.take(&text, line)?;
    }
    if samples.lines.is_empty() {
        return Err(Error::malformed(
            &path,
            Place::File,
            "there is no sample in it",
            "check how it was made",
        ));
    }
    let targets = match options.target {
        TargetChoice::None => Vec::new(),
        _ => {
            let column = ReadColumn::Numbers {
                values: std::mem::take(&mut samples.labels),
                spellings: std::mem::take(&mut samples.spellings),
                decimal_comma: None,
            };
            vec![(ColumnLabel { name: Some("label".to_owned()), number: None }, column)]
        }
    };
    let lines = std::mem::take(&mut samples.lines);
    let from_zero = samples.zero_line.is_some();
    let first_index = samples.first_index(options)?;
    let matrix = samples.into_matrix(lines.len(), first_index)?;
    let mut table = Table::sparse(path, FORMAT, matrix, targets, Some(lines), options)?;
    table.first_index = Some(first_index);
    if from_zero {
        table
            .notes
            .push("an index is 0: the indices of this file count from 0, and f0 is index 0".to_owned());
    }
    Ok(table)
}

fn check_options(path: &Path, options: &ReadOptions) -> Result<(), Error> {
    if let Some(first) = options.first_index.filter(|first| *first > 1) {
        return Err(fewest_core::Error::parameter("first_index", first, "0 or 1").into());
    }
    let unfit = if matches!(options.target, TargetChoice::Columns(_)) {
        "a target column"
    } else if options.id.is_some() {
        "a column of ids"
    } else if options.weights.is_some() {
        "a column of weights"
    } else if options.sample_groups.is_some() {
        "a column of groups"
    } else if !options.ignore.is_empty() || !options.categorical.is_empty() {
        "ignored and categorical columns"
    } else if options.features.is_some() {
        "some of the features"
    } else {
        return Ok(());
    };
    let advice = "leave that option out (the target is the label in front of each line)";
    Err(Error::unsupported(path, format!("{unfit} cannot be named in an svmlight file"), advice))
}

/// Estimated bytes of the values and samples, from the colons and lines in the file's start.
fn estimate(source: &Source) -> u64 {
    let count = |wanted: u8| source.prefix.iter().filter(|&&byte| byte == wanted).count() as u64;
    let bytes = count(b':') * (ENTRY + COPY) + count(b'\n') * SAMPLE;
    let length = if source.complete { source.prefix.len() as u64 } else { source.length };
    (bytes as f64 / source.prefix.len().max(1) as f64 * length as f64) as u64
}

/// The samples read so far.
struct Samples<'a> {
    path: &'a Path,
    limit: &'a Limit,
    labels: Vec<f64>,
    spellings: Spellings,
    lines: Vec<u64>,
    /// The stored values with their rows and columns, row after row.
    values: Vec<f64>,
    rows: Vec<usize>,
    columns: Vec<usize>,
    /// The largest index.
    largest: Option<usize>,
    /// The line with the largest index.
    widest_line: u64,
    /// The first line with the index 0.
    zero_line: Option<u64>,
}

impl<'a> Samples<'a> {
    fn new(path: &'a Path, limit: &'a Limit) -> Self {
        Self {
            path,
            limit,
            labels: Vec::new(),
            spellings: Spellings::default(),
            lines: Vec::new(),
            values: Vec::new(),
            rows: Vec::new(),
            columns: Vec::new(),
            largest: None,
            widest_line: 0,
            zero_line: None,
        }
    }

    /// Bytes that are held while the file is read, beside a line of this length.
    fn bytes(&self, line: &[u8]) -> u64 {
        line.len() as u64 + self.values.len() as u64 * ENTRY + self.lines.len() as u64 * SAMPLE
    }

    /// Adds the sample of a line; blank lines and comments have none.
    fn take(&mut self, line: &[u8], number: u64) -> Result<(), Error> {
        self.limit.check(self.bytes(line))?;
        let (path, limit) = (self.path, self.limit);
        let wrong =
            |problem: String, advice: &str| Err(Error::malformed(path, Place::Line(number), problem, advice));
        let content = line.split(|&byte| byte == b'#').next().unwrap_or_default();
        let Ok(content) = std::str::from_utf8(content) else {
            let advice = format!("check that this is an svmlight file, {NAME_IT}");
            return wrong("the line is not UTF-8 text".to_owned(), &advice);
        };
        let mut words = content.split_ascii_whitespace();
        let Some(label) = words.next() else { return Ok(()) };
        let Some(value) = label.parse::<f64>().ok().filter(|value| !value.is_infinite()) else {
            let advice = if label.contains(',') {
                "give each sample one label"
            } else {
                "start each line with a number: the class or the value to predict"
            };
            return wrong(format!("the label {} is not a number", quoted(label)), advice);
        };
        let row = self.lines.len();
        let mut previous: Option<usize> = None;
        for word in words {
            let pair = word.split_once(':');
            if pair.is_some_and(|(index, _)| index == "qid") {
                continue;
            }
            let pair = pair
                .and_then(|(index, value)| Some((index.parse::<usize>().ok()?, value.parse::<f64>().ok()?)))
                .filter(|(_, value)| !value.is_infinite());
            let Some((index, value)) = pair else {
                let advice = "write pairs such as 3:0.5, with a whole number as index and a finite value";
                return wrong(format!("{} is not a pair index:value", quoted(word)), advice);
            };
            if let Some(previous) = previous.filter(|previous| index <= *previous) {
                let problem = format!("the index {index} comes after {previous}");
                return wrong(problem, "sort the pairs of each line by index, each index once");
            }
            limit.check(self.bytes(line))?;
            if index == 0 && self.zero_line.is_none() {
                self.zero_line = Some(number);
            }
            previous = Some(index);
            self.rows.push(row);
            self.columns.push(index);
            self.values.push(value);
        }
        if previous > self.largest {
            self.largest = previous;
            self.widest_line = number;
        }
        if !value.is_nan() {
            self.spellings.note(value, label, MANY_CLASSES);
        }
        self.labels.push(value);
        self.lines.push(number);
        Ok(())
    }

    /// The index of the first feature.
    ///
    /// # Errors
    /// [`Error::Malformed`] for an index 0 where they count from 1.
    fn first_index(&self, options: &ReadOptions) -> Result<usize, Error> {
        let first = options.first_index.unwrap_or(if self.zero_line.is_some() { 0 } else { 1 });
        match self.zero_line.filter(|_| first > 0) {
            None => Ok(first),
            Some(line) => {
                let trained = options.reduction.as_ref().and_then(|reduction| reduction.first_index);
                let advice = match trained {
                    Some(_) => "add 1 to all of them: those of the training table count from 1",
                    None => {
                        "let indices count from 0 (on the command line: --first-index 0), or add 1 to all of \
                         them"
                    }
                };
                Err(Error::malformed(self.path, Place::Line(line), "the index 0", advice))
            }
        }
    }

    /// The values column by column: a counting sort by column keeps the order of the rows.
    fn into_matrix(self, n_samples: usize, first: usize) -> Result<CscMatrix<f64>, Error> {
        let (path, limit) = (self.path, self.limit);
        let Some(n_features) =
            self.largest.and_then(|largest| Some(largest.checked_sub(first)?.saturating_add(1)))
        else {
            let advice = "give each line pairs index:value after its label";
            return Err(Error::malformed(path, Place::File, "no line holds a feature", advice));
        };
        let needed = (n_features as u64)
            .saturating_mul(FEATURE)
            .saturating_add(self.values.len() as u64 * (ENTRY + COPY))
            .saturating_add(n_samples as u64 * SAMPLE);
        limit.check(needed)?;
        let mut offsets: Vec<usize> = Vec::new();
        let room = n_features.checked_add(1).map(|length| offsets.try_reserve_exact(length));
        if !matches!(room, Some(Ok(()))) {
            let problem = format!(
                "the index {} makes the table too wide",
                n_features.saturating_sub(1).saturating_add(first)
            );
            return Err(Error::malformed(
                path,
                Place::Line(self.widest_line),
                problem,
                "number the features without gaps",
            ));
        }
        offsets.resize(n_features + 1, 0);
        for &column in &self.columns {
            offsets[column - first + 1] += 1;
        }
        for column in 0..n_features {
            offsets[column + 1] += offsets[column];
        }
        // Three more vectors of sizes that were checked; the system may still say no.
        let mut next: Vec<usize> = Vec::new();
        let (mut rows, mut values): (Vec<usize>, Vec<f64>) = (Vec::new(), Vec::new());
        let n_values = self.values.len();
        if next.try_reserve_exact(offsets.len()).is_err()
            || rows.try_reserve_exact(n_values).is_err()
            || values.try_reserve_exact(n_values).is_err()
        {
            return Err(limit.exceeded(needed));
        }
        next.extend_from_slice(&offsets);
        rows.resize(n_values, 0);
        values.resize(n_values, 0.0);
        for ((column, row), value) in self.columns.into_iter().zip(self.rows).zip(self.values) {
            let at = &mut next[column - first];
            rows[*at] = row;
            values[*at] = value;
            *at += 1;
        }
        SparseColumns { offsets, rows, values }.into_matrix(path, n_samples)
    }
}
