//! Some of the rows of a table: what one of several machines reads.

use std::ops::Range;

use fewest_core::{BATCH_ROWS, State};

use super::look::Looked;
use super::pieces::changed;
use super::{At, Known, Passes, Rows};
use crate::roles;
use crate::{Error, Missing, Place};

/// The rows that are read.
#[derive(Debug, Clone)]
pub(super) struct OwnRows {
    rows: Range<u64>,
    /// The row that comes next.
    next: u64,
}

/// What is known of a table once it was opened, for those who read parts of it.
struct Opened {
    n_rows: u64,
    n_columns: usize,
    /// Rows of a piece, and features of a part.
    rows: usize,
    width: usize,
    looked: Looked,
}

fewest_core::state!(Opened { n_rows, n_columns, rows, width, looked });

impl Rows {
    /// The number of rows, and what is known of the table, as bytes for [`Passes::part`]: it may be on
    /// another machine that has the same files. Where neither the format nor the first look tells the number
    /// of rows, they are counted.
    ///
    /// # Errors
    /// Those of reading.
    pub fn known(&mut self) -> Result<(u64, Vec<u8>), Error> {
        let n_rows = match (self.pieces.n_rows(), self.looked.n_rows) {
            ((n_rows, true), _) | (_, Some(n_rows)) => n_rows,
            _ => self.count()?,
        };
        let (n_columns, rows, width) = (self.pieces.n_columns(), self.rows, self.width);
        let mut bytes = Vec::new();
        Opened { n_rows, n_columns, rows, width, looked: self.looked.clone() }.save(&mut bytes);
        Ok((n_rows, bytes))
    }

    fn count(&mut self) -> Result<u64, Error> {
        // A pass that had begun is lost with its place in the pieces.
        (self.at, self.counted) = (At::Start, (0, 0));
        self.pieces.rewind()?;
        let mut n_rows = 0;
        while let Some(table) = self.pieces.next(self.rows, &self.options)? {
            n_rows += table.n_samples() as u64;
        }
        self.looked.n_rows = Some(n_rows);
        self.pieces.rewind()?;
        Ok(n_rows)
    }

    /// Passes over the rows before the first that is read, where that needs no reading.
    pub(super) fn skip(&mut self) -> Result<(), Error> {
        if let Some(part) = &mut self.part {
            part.next = self.pieces.skip(part.rows.start)?;
        }
        Ok(())
    }

    /// How many rows to read next; 0 at the end.
    pub(super) fn rows_to_read(&self) -> usize {
        match &self.part {
            None => self.rows,
            Some(part) => {
                let left = part.rows.end.saturating_sub(part.next);
                usize::try_from(left).map_or(self.rows, |left| left.min(self.rows))
            }
        }
    }

    /// Which of the `n` rows that were read are among those to be read.
    pub(super) fn own(&mut self, n: usize) -> Range<usize> {
        let Some(OwnRows { rows, next }) = &mut self.part else { return 0..n };
        let first = *next;
        *next += n as u64;
        let within = |row: u64| usize::try_from(row.saturating_sub(first)).map_or(n, |row| row.min(n));
        within(rows.start)..within(rows.end)
    }

    /// That all rows of the part have come, and that the files are what they were.
    pub(super) fn check_part(&mut self, found: usize) -> Result<(), Error> {
        let Some(part) = &self.part else { return Ok(()) };
        if part.rows.end - part.rows.start != found as u64 {
            return Err(changed(&self.path));
        }
        self.pieces.rewind()
    }
}

impl Passes {
    /// The rows `rows` of the table, which has at least one of them, in pieces and parts of the features as
    /// those of which `known` was written ([`Rows::known`]): without a look at the others.
    ///
    /// Rows with a missing value are an error: no part can tell the others which rows it left out.
    ///
    /// # Errors
    /// [`fewest_core::Error::InvalidParameter`] for bytes that are not what was written, and for rows that
    /// are not those of a table; [`Error::Malformed`] where this table has other rows or columns than that
    /// one.
    pub fn part(self, known: &[u8], rows: Range<u64>) -> Result<Rows, Error> {
        let Self { path, pieces, options, roles, guess } = self;
        let opened = Opened::load(&mut &*known)?;
        if rows.is_empty() || rows.end > opened.n_rows || opened.rows < BATCH_ROWS || opened.width == 0 {
            let expected = format!("some of the {} rows of the table", opened.n_rows);
            return Err(fewest_core::Error::parameter("rows", format!("{rows:?}"), expected).into());
        }
        let other = |what: &str, here: u64, there: u64| {
            let problem = format!("it has {here} {what} here, and {there} where the run was started");
            Error::malformed(&path, Place::File, problem, "give all machines the same files at this path")
        };
        if let (here, true) = pieces.n_rows()
            && here != opened.n_rows
        {
            return Err(other("rows", here, opened.n_rows));
        }
        if pieces.n_columns() != opened.n_columns {
            return Err(other("columns", pieces.n_columns() as u64, opened.n_columns as u64));
        }
        let features: Vec<usize> = (0..roles.len()).filter(|&j| roles::is_feature(&roles[j])).collect();
        let part = (opened.width < features.len()).then(|| (0..opened.width).collect());
        let mut opened = Rows {
            path,
            pieces,
            options: crate::ReadOptions {
                task: opened.looked.task,
                features: part,
                memory: None,
                allow_large: true,
                ..options
            },
            n_taken: opened.width.min(features.len()),
            features,
            width: opened.width,
            missing: Missing::Error,
            guess,
            rows: opened.rows,
            n_cells: opened.rows.saturating_mul(opened.width),
            looked: opened.looked,
            known: Known::default(),
            n_passes: 0,
            n_read: 0,
            n_used: None,
            counted: (0, 0),
            at: At::Start,
            part: Some(OwnRows { next: 0, rows }),
            failure: None,
        };
        opened.know()?;
        Ok(opened)
    }
}

#[cfg(test)]
mod tests {
    use fewest_core::SampleStream;

    use super::*;
    use crate::ReadOptions;

    #[test]
    fn rows_counted_after_a_pass_began_come_from_the_first_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("long.csv");
        let lines: String = (0..9000).map(|i| format!("{i},{}\n", i % 3)).collect();
        std::fs::write(&path, format!("x,y\n{lines}")).unwrap();
        let passes = Passes::open(&path, &ReadOptions::with_target("y")).unwrap().unwrap();
        let mut rows = passes.rows(Missing::Error, 70 << 20).unwrap();
        assert!(rows.next_batch().unwrap().is_some());
        // As for a format whose columns need no look.
        rows.looked.n_rows = None;
        assert_eq!(rows.known().unwrap().0, 9000);
        let mut n_rows = 0;
        while let Some(batch) = rows.next_batch().unwrap() {
            n_rows += batch.n_samples();
        }
        assert_eq!((n_rows, rows.n_used()), (9000, Some((9000, 0))));
    }
}
