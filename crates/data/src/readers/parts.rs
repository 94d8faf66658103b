//! Parts of a block of text, each read by one thread, and the columns that grow from them in order.

use std::ops::Range;

use super::cells::{Builder, Cell, Classifier, Fault};
use super::text::{self, LONGEST_CELL};
use crate::encoding::NAME_IT;
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

/// What ends the reading of a block.
#[derive(Clone)]
pub(super) enum Wrong {
    /// There is no memory left.
    Memory,
    /// The record has this many cells.
    Length(usize),
    /// The cell in this column does not fit.
    Cell(usize, Fault),
}

/// A cell whose text counts too.
struct Told {
    column: usize,
    row: usize,
    /// Its text is here among those of the part.
    cell: Cell<Range<usize>>,
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
    told: Vec<Told>,
    texts: String,
    n_lines: u64,
    /// What is wrong with the record behind the last row.
    wrong: Option<Wrong>,
}

/// Reads all records of `text`, which is divided at `bounds`, into the columns, and adds the first line of
/// each to `lines`. Returns how many lines there were, and how many bytes the columns take.
///
/// # Errors
/// The first one in the order of the text, with the first line of its record, from 0 in the block.
pub(super) fn read(
    text: &[u8],
    bounds: &[usize],
    shape: &Shape,
    builders: &mut [Builder],
    (lines, first_line): (&mut Vec<u64>, u64),
) -> Result<(u64, u64), (u64, Wrong)> {
    let part = |at: usize| Part::read(&text[bounds[at]..bounds[at + 1]], shape);
    let parts = fewest_parallel::map(bounds.len().saturating_sub(1), part);
    // What stands behind a fault is not looked at.
    let n_parts = parts.iter().position(|part| part.wrong.is_some()).map_or(parts.len(), |at| at + 1);
    let parts = &parts[..n_parts];
    let merged = fewest_parallel::chunks(builders, COLUMNS, |at, builders| {
        let mut wrong: Vec<Option<(Position, Wrong)>> = builders.iter().map(|_| None).collect();
        // A part stays in the cache for all of these columns.
        for (number, part) in parts.iter().enumerate() {
            for (column, (builder, wrong)) in builders.iter_mut().zip(&mut wrong).enumerate() {
                let column = at * COLUMNS + column;
                if wrong.is_none()
                    && let Err((row, problem)) = part.give(builder, column, shape)
                {
                    *wrong = Some(((number, row, column), problem));
                }
            }
        }
        let first = wrong.into_iter().flatten().min_by_key(|(position, _)| *position);
        (first, builders.iter().map(Builder::bytes).sum::<u64>())
    });
    let used = merged.iter().map(|(_, bytes)| bytes).sum();
    let first = merged.into_iter().filter_map(|(first, _)| first).min_by_key(|(position, _)| *position);
    let before = |part: usize| parts[..part].iter().map(|part| part.n_lines).sum::<u64>();
    let line = |part: usize, row: usize| before(part) + parts[part].lines.get(row).copied().unwrap_or(0);
    if let Some(((part, row, _), wrong)) = first {
        return Err((line(part, row), wrong));
    }
    if let Some(last) = parts.last()
        && let Some(wrong) = &last.wrong
    {
        return Err((line(n_parts - 1, last.n_rows), wrong.clone()));
    }
    let mut n_lines = 0;
    for part in parts {
        lines.try_reserve(part.n_rows).map_err(|_| (0, Wrong::Memory))?;
        lines.extend(part.lines.iter().map(|line| first_line + n_lines + line));
        n_lines += part.n_lines;
    }
    Ok((n_lines, used))
}

/// A part, a row in it, and a column.
type Position = (usize, usize, usize);

impl<'a> Part<'a> {
    fn read(text: &'a [u8], shape: &Shape) -> Self {
        let mut part = Self {
            text,
            n_rows: 0,
            n_more: 0,
            values: Vec::with_capacity(text.len() / 6),
            lines: Vec::new(),
            starts: Vec::new(),
            told: Vec::new(),
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
        part.told.sort_unstable_by_key(|told| (told.column, told.row));
        part
    }

    /// Reads the record that starts at `start`; where it ends.
    fn record(&mut self, start: usize, shape: &Shape, pointed: &mut [bool]) -> Result<usize, Wrong> {
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
                        let wrong = |fault| Wrong::Cell(column, fault);
                        self.cell(&text[at..end], (column, role), shape).map_err(wrong)?;
                        // Of a cell that means "missing", nothing is said to the column.
                        pointed[column] |=
                            fast.is_some_and(|(value, ..)| !shape.classifier.is_missing(value));
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
            return Err(Wrong::Length(column));
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
        self.values.push(f64::NAN);
        if !matches!(cell, Cell::Missing(_)) || role != Role::Feature {
            let start = self.texts.len();
            self.texts.push_str(cell.text());
            let cell = cell.with(start..self.texts.len());
            self.told.push(Told { column, row: self.n_rows, cell });
        }
        Ok(())
    }

    /// Gives a column its cells.
    ///
    /// # Errors
    /// The row of the first cell that does not fit, and what is wrong.
    fn give(&self, builder: &mut Builder, column: usize, shape: &Shape) -> Result<(), (usize, Wrong)> {
        let n_columns = shape.roles.len();
        let n_rows = self.n_rows + usize::from(self.wrong.is_some() && column < self.n_more);
        if shape.roles[column] == Role::Ignored {
            return Ok(());
        }
        builder.reserve(n_rows).map_err(|()| (0, Wrong::Memory))?;
        let wrong = |row: usize| move |fault: Fault| (row, Wrong::Cell(column, fault));
        let from = self.told.partition_point(|told| told.column < column);
        let to = self.told.partition_point(|told| told.column <= column);
        let mut told = self.told[from..to].iter().peekable();
        let mut row = 0;
        while row < n_rows {
            let until = told.peek().map_or(n_rows, |told| told.row.min(n_rows));
            let plain = self.values[..].iter().skip(row * n_columns + column).step_by(n_columns);
            match builder.push_numbers(plain.take(until - row).copied()) {
                None => row = until,
                // A number where there was text: only its text can tell what is wrong.
                Some(taken) => {
                    let text = self.text_of(row + taken, column, shape.delimiter);
                    let cell = shape.classifier.classify(&text).unwrap_or(Cell::Text(""));
                    builder.push(cell).map_err(wrong(row + taken))?;
                    row += taken + 1;
                }
            }
            if row == until
                && let Some(told) = told.next_if(|told| told.row == row && row < n_rows)
            {
                let text = &self.texts[told.cell.text().clone()];
                builder.push(told.cell.with(text)).map_err(wrong(row))?;
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
