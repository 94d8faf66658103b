//! Parts of a block of text, each read by one thread, and the columns that grow from them in order.

use super::cells::{Builder, Cell, Classifier, Fault};
use super::delimited::NAME_IT;
use super::text::{self, LONGEST_CELL};
use crate::error::quoted;
use crate::roles::Role;

/// Columns that one thread puts together.
const COLUMNS: usize = 16;

/// How the cells of a table are read.
pub(super) struct Shape {
    pub(super) delimiter: u8,
    pub(super) classifier: Classifier,
    pub(super) roles: Vec<Role>,
}

/// What is wrong with a record, and where.
pub(super) struct Wrong {
    /// Its first line, from 0 in the block.
    pub(super) line: u64,
    /// The column; `None` for the whole record, which has this many cells.
    pub(super) place: Result<usize, usize>,
    pub(super) fault: Fault,
}

/// A cell that is not simply a number or missing.
struct Other {
    column: usize,
    row: usize,
    kind: Kind,
    /// Its text, among those of the part.
    start: usize,
    end: usize,
}

enum Kind {
    Missing,
    Number(f64),
    Infinite,
    Text,
}

/// The records of a part of the text.
struct Part<'a> {
    text: &'a [u8],
    n_rows: usize,
    /// Cells of one more row, which is not whole.
    n_more: usize,
    /// Row after row: the numbers, NaN where missing and where there is something else.
    values: Vec<f64>,
    /// The first line of each row, from 0.
    lines: Vec<u64>,
    /// Where each row starts.
    starts: Vec<usize>,
    others: Vec<Other>,
    texts: String,
    n_lines: u64,
    wrong: Option<(Result<usize, usize>, Fault)>,
}

/// Reads all records of `text`, which is divided at `bounds`, into the columns, and adds the first line of
/// each to `lines`. Returns how many lines there were, and how many bytes the columns take.
///
/// # Errors
/// The first fault in the order of the text, or `None` where there is no memory left.
pub(super) fn read(
    text: &[u8],
    bounds: &[usize],
    shape: &Shape,
    builders: &mut [Builder],
    (lines, first_line): (&mut Vec<u64>, u64),
) -> Result<(u64, u64), Option<Wrong>> {
    let part = |at: usize| Part::read(&text[bounds[at]..bounds[at + 1]], shape);
    let parts = fewest_parallel::map(bounds.len().saturating_sub(1), part);
    // What stands behind a fault is not looked at.
    let n_parts = parts.iter().position(|part| part.wrong.is_some()).map_or(parts.len(), |at| at + 1);
    let parts = &parts[..n_parts];
    let merged = fewest_parallel::chunks(builders, COLUMNS, |at, builders| {
        let mut faults: Vec<Option<(usize, usize, Option<Fault>)>> = builders.iter().map(|_| None).collect();
        for (number, part) in parts.iter().enumerate() {
            for (column, (builder, fault)) in builders.iter_mut().zip(&mut faults).enumerate() {
                if fault.is_none()
                    && let Err((row, problem)) = part.give(builder, at * COLUMNS + column, shape)
                {
                    *fault = Some((number, row, problem));
                }
            }
        }
        let faults = faults.into_iter().enumerate();
        let first = faults
            .filter_map(|(column, fault)| {
                fault.map(|(part, row, fault)| (part, row, at * COLUMNS + column, fault))
            })
            .min_by_key(|(part, row, column, _)| (*part, *row, *column));
        (first, builders.iter().map(Builder::bytes).sum::<u64>())
    });
    let mut used = 0;
    let mut first: Option<(usize, usize, usize, Option<Fault>)> = None;
    for (fault, bytes) in merged {
        used += bytes;
        if let Some(fault) = fault
            && first.as_ref().is_none_or(|first| (fault.0, fault.1, fault.2) < (first.0, first.1, first.2))
        {
            first = Some(fault);
        }
    }
    let before = |part: usize| parts[..part].iter().map(|part| part.n_lines).sum::<u64>();
    if let Some((part, row, column, fault)) = first {
        let fault = fault.ok_or(None)?;
        let line = before(part) + parts[part].lines.get(row).copied().unwrap_or(0);
        return Err(Some(Wrong { line, place: Ok(column), fault }));
    }
    if let Some(last) = parts.last()
        && let Some((place, fault)) = &last.wrong
    {
        let line = before(n_parts - 1) + last.lines.get(last.n_rows).copied().unwrap_or(0);
        return Err(Some(Wrong { line, place: *place, fault: fault.clone() }));
    }
    let mut n_lines = 0;
    for part in parts {
        lines.try_reserve(part.n_rows).map_err(|_| None)?;
        lines.extend(part.lines.iter().map(|line| first_line + n_lines + line));
        n_lines += part.n_lines;
    }
    Ok((n_lines, used))
}

impl<'a> Part<'a> {
    fn read(text: &'a [u8], shape: &Shape) -> Self {
        let mut part = Self {
            text,
            n_rows: 0,
            n_more: 0,
            values: Vec::with_capacity(text.len() / 6),
            lines: Vec::new(),
            starts: Vec::new(),
            others: Vec::new(),
            texts: String::new(),
            n_lines: 0,
            wrong: None,
        };
        let mut pointed = vec![!shape.classifier.takes_commas(); shape.roles.len()];
        let mut at = 0;
        while at < text.len() {
            if text[at] == b'\n' {
                at += 1;
                part.n_lines += 1;
                continue;
            }
            part.lines.push(part.n_lines);
            part.starts.push(at);
            match part.record(at, shape, &mut pointed) {
                Ok(end) => at = end,
                Err(wrong) => {
                    part.wrong = Some(wrong);
                    break;
                }
            }
        }
        // By column, and in a column by row.
        part.others.sort_unstable_by_key(|other| (other.column, other.row));
        part
    }

    /// Reads the record that starts at `start`; where it ends.
    fn record(
        &mut self,
        start: usize,
        shape: &Shape,
        pointed: &mut [bool],
    ) -> Result<usize, (Result<usize, usize>, Fault)> {
        let (text, delimiter, n_columns) = (self.text, shape.delimiter, shape.roles.len());
        let simple = text::is_outside_numbers(delimiter);
        let mut at = start;
        let mut column = 0;
        loop {
            let role = shape.roles.get(column).copied().unwrap_or(Role::Ignored);
            let fast = if simple && role == Role::Feature { text::number(text, at, delimiter) } else { None };
            let end = match fast {
                // The first point of each column is looked at in full: beside a comma it is an error.
                Some((value, end, point)) if !point || pointed[column] => {
                    let missing = shape.classifier.is_missing(value);
                    self.values.push(if missing { f64::NAN } else { value });
                    end
                }
                _ => {
                    // Every part ends with a line feed, so that the cell ends.
                    let end = text::cell_end(text, at, delimiter).unwrap_or(text.len() - 1);
                    if column < n_columns {
                        let wrong = |fault| (Ok(column), fault);
                        self.cell(&text[at..end], (column, role), shape).map_err(wrong)?;
                        pointed[column] |= fast.is_some();
                    }
                    end
                }
            };
            column += 1;
            at = end + 1;
            if text[end] == b'\n' {
                break;
            }
        }
        if column != n_columns {
            self.values.truncate(self.n_rows * n_columns);
            self.n_more = 0;
            return Err((Err(column), Fault::default()));
        }
        self.n_lines += 1;
        self.n_rows += 1;
        self.n_more = 0;
        Ok(at)
    }

    fn cell(&mut self, cell: &[u8], (column, role): (usize, Role), shape: &Shape) -> Result<(), Fault> {
        self.n_more = column;
        if cell.len() > LONGEST_CELL {
            let problem = format!("a cell of {} bytes", cell.len());
            return Err((problem, "check the quotes and the delimiter".to_owned()));
        }
        if cell.first() == Some(&b'"') {
            self.n_lines += text::line_feeds(cell);
        }
        if role == Role::Ignored {
            self.values.push(f64::NAN);
            return Ok(());
        }
        let content = text::content(cell);
        let cell = shape.classifier.classify(&content).map_err(|text| {
            let advice = format!("save the file with the encoding UTF-8, {NAME_IT}");
            (format!("{} is not UTF-8 text", quoted(&text)), advice)
        })?;
        let (kind, text) = match cell {
            Cell::Missing(_) if role == Role::Feature => {
                self.values.push(f64::NAN);
                return Ok(());
            }
            Cell::Missing(text) => (Kind::Missing, text),
            Cell::Number(value, text) => (Kind::Number(value), text),
            Cell::Infinite(text) => (Kind::Infinite, text),
            Cell::Text(text) => (Kind::Text, text),
        };
        let start = self.texts.len();
        self.texts.push_str(text);
        let (row, end) = (self.n_rows, self.texts.len());
        self.others.push(Other { column, row, kind, start, end });
        self.values.push(f64::NAN);
        Ok(())
    }

    /// Gives a column its cells.
    ///
    /// # Errors
    /// The row of the first cell that does not fit and what is wrong with it; nothing where there is no
    /// memory left.
    fn give(
        &self,
        builder: &mut Builder,
        column: usize,
        shape: &Shape,
    ) -> Result<(), (usize, Option<Fault>)> {
        let n_columns = shape.roles.len();
        let n_rows = self.n_rows + usize::from(self.wrong.is_some() && column < self.n_more);
        if shape.roles[column] == Role::Ignored {
            return Ok(());
        }
        builder.reserve(n_rows).map_err(|()| (0, None))?;
        let from = self.others.partition_point(|other| other.column < column);
        let to = self.others.partition_point(|other| other.column <= column);
        let mut others = self.others[from..to].iter().peekable();
        let mut row = 0;
        while row < n_rows {
            let until = others.peek().map_or(n_rows, |other| other.row.min(n_rows));
            let plain = self.values[..].iter().skip(row * n_columns + column).step_by(n_columns);
            match builder.push_numbers(plain.take(until - row).copied()) {
                None => row = until,
                // A number where there was text: only its text can tell what is wrong.
                Some(taken) => {
                    let text = self.text_of(row + taken, column, shape.delimiter);
                    let cell = shape.classifier.classify(&text).unwrap_or(Cell::Text(""));
                    builder.push(cell).map_err(|fault| (row + taken, Some(fault)))?;
                    row += taken + 1;
                }
            }
            if row == until
                && let Some(other) = others.next_if(|other| other.row == row && row < n_rows)
            {
                let text = &self.texts[other.start..other.end];
                let cell = match other.kind {
                    Kind::Missing => Cell::Missing(text),
                    Kind::Number(value) => Cell::Number(value, text),
                    Kind::Infinite => Cell::Infinite(text),
                    Kind::Text => Cell::Text(text),
                };
                builder.push(cell).map_err(|fault| (row, Some(fault)))?;
                row += 1;
            }
        }
        Ok(())
    }

    fn text_of(&self, row: usize, column: usize, delimiter: u8) -> Vec<u8> {
        let mut at = self.starts.get(row).copied().unwrap_or(0);
        for _ in 0..column {
            at = text::cell_end(self.text, at, delimiter).unwrap_or(at) + 1;
        }
        let end = text::cell_end(self.text, at, delimiter).unwrap_or(at);
        text::content(&self.text[at..end]).into_owned()
    }
}
