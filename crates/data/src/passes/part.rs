//! Some of the rows of a table: what one of several machines reads.

use std::ops::Range;

use fewest_core::{BATCH_ROWS, State};

use super::look::Looked;
use super::pieces::changed;
use super::{At, Known, Passes, Rows, add_classes};
use crate::roles;
use crate::{Complete, Error, Missing, Place};

/// The rows that are read.
#[derive(Debug, Clone)]
pub(super) struct OwnRows {
    rows: Range<u64>,
    /// The row that comes next.
    next: u64,
    /// Of these rows, without those that are left out, the ones that are used: all where none is left out.
    used: Range<u64>,
    /// How many rows that are not left out have come.
    n_come: u64,
}

/// What is known of a table once it was opened, for those who read parts of it.
struct Opened {
    n_rows: u64,
    n_columns: usize,
    /// Rows of a piece, and features of a part.
    rows: usize,
    width: usize,
    looked: Looked,
    /// Where rows with missing values are left out: how many of each [`BATCH_ROWS`] rows are not.
    complete: Option<Vec<u32>>,
}

fewest_core::state!(Opened { n_rows, n_columns, rows, width, looked, complete });

/// How many rows there are, and how many of them are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowCounts {
    /// All rows of the files.
    pub all: u64,
    /// Those without a missing value, where rows with one are left out, and else all.
    pub used: u64,
}

impl Rows {
    /// The number of rows, and what is known of the table, as bytes for [`Passes::part`]: it may be on
    /// another machine that has the same files. Where neither the format nor the first look tells the number
    /// of rows, or rows with missing values are left out, they are counted, which takes a pass.
    ///
    /// # Errors
    /// Those of reading; [`Error::NothingLeft`] where no row is used.
    pub fn known(&mut self) -> Result<(RowCounts, Vec<u8>), Error> {
        let complete = (self.missing == Missing::DropRows).then(|| self.count_complete()).transpose()?;
        let n_rows = match (self.pieces.n_rows(), self.looked.n_rows) {
            ((n_rows, true), _) | (_, Some(n_rows)) => n_rows,
            _ => self.count()?,
        };
        let used = complete.as_ref().map_or(n_rows, |counts| counts.iter().copied().map(u64::from).sum());
        if used == 0 {
            let n_samples = usize::try_from(n_rows).unwrap_or(usize::MAX);
            return Err(Error::NothingLeft { path: self.path.clone(), n_samples });
        }
        let (n_columns, rows, width) = (self.pieces.n_columns(), self.rows, self.width);
        let mut bytes = Vec::new();
        Opened { n_rows, n_columns, rows, width, looked: self.looked.clone(), complete }.save(&mut bytes);
        Ok((RowCounts { all: n_rows, used }, bytes))
    }

    fn count(&mut self) -> Result<u64, Error> {
        self.start_again()?;
        let mut n_rows = 0;
        while let Some(table) = self.pieces.next(self.rows, &self.options)? {
            n_rows += table.n_samples() as u64;
        }
        self.looked.n_rows = Some(n_rows);
        self.pieces.rewind()?;
        Ok(n_rows)
    }

    /// How many of each [`BATCH_ROWS`] rows have no missing value.
    fn count_complete(&mut self) -> Result<Vec<u32>, Error> {
        self.start_again()?;
        let (mut counts, mut n_rows, mut of_classes) = (Vec::<u32>::new(), 0, Vec::new());
        let next = |rows: &mut Self| {
            rows.pieces.next(rows.rows, &rows.options).map_err(|error| roles::explain(rows.guess, error))
        };
        while let Some(table) = next(self)? {
            let (n, path, first_row) = (table.n_samples(), table.path().to_owned(), table.first_row);
            let gone = match self.unified(table)?.complete(Missing::DropRows) {
                Ok(Complete { dataset, dropped, .. }) => {
                    add_classes(&mut of_classes, &self.classed(dataset, &path, first_row)?);
                    dropped
                }
                Err(Error::NothingLeft { .. } | Error::AllMissing { .. }) => (0..n).collect(),
                Err(error) => return Err(error),
            };
            let batch = |row: usize| ((n_rows + row as u64) / BATCH_ROWS as u64) as usize;
            counts.resize(batch(n.max(1) - 1) + 1, 0);
            (0..n).for_each(|row| counts[batch(row)] += 1);
            gone.into_iter().for_each(|row| counts[batch(row)] -= 1);
            n_rows += n as u64;
        }
        (self.looked.n_rows, self.of_classes) = (Some(n_rows), Some(of_classes));
        self.pieces.rewind()?;
        Ok(counts)
    }

    /// Goes to the first row: a pass that had begun is lost with its place in the pieces.
    pub(super) fn start_again(&mut self) -> Result<(), Error> {
        (self.at, self.counted) = (At::Start, (0, 0));
        self.counted_of.clear();
        self.pieces.rewind()
    }

    /// Passes over the rows before the first that is read, where that needs no reading.
    pub(super) fn skip(&mut self) -> Result<(), Error> {
        if let Some(part) = &mut self.part {
            (part.next, part.n_come) = (self.pieces.skip(part.rows.start)?, 0);
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
        let Some(OwnRows { rows, next, .. }) = &mut self.part else { return 0..n };
        let first = *next;
        *next += n as u64;
        let within = |row: u64| usize::try_from(row.saturating_sub(first)).map_or(n, |row| row.min(n));
        within(rows.start)..within(rows.end)
    }

    /// Of `n` more rows of the part that are not left out, those that are used.
    pub(super) fn used(&mut self, n: usize) -> Range<usize> {
        let Some(OwnRows { used, n_come, .. }) = &mut self.part else { return 0..n };
        let first = *n_come;
        *n_come += n as u64;
        let within = |row: u64| usize::try_from(row.saturating_sub(first)).map_or(n, |row| row.min(n));
        within(used.start)..within(used.end)
    }

    /// That all rows of the part have come, and that the files are what they were.
    pub(super) fn check_part(&mut self, found: usize) -> Result<(), Error> {
        let Some(part) = &self.part else { return Ok(()) };
        if part.used.end - part.used.start != found as u64 {
            return Err(changed(&self.path));
        }
        self.pieces.rewind()
    }
}

impl Passes {
    /// The rows `rows` of those of the table that are used, at least one of them, in pieces and parts of the
    /// features as those of which `known` was written ([`Rows::known`]): without a look at the others, but
    /// for up to [`BATCH_ROWS`] before and after them where rows are left out.
    ///
    /// # Errors
    /// [`fewest_core::Error::InvalidParameter`] for bytes that are not what was written, and for rows that
    /// are not those of a table; [`Error::Malformed`] where this table has other rows or columns than that
    /// one.
    pub fn part(self, known: &[u8], rows: Range<u64>) -> Result<Rows, Error> {
        let Self { path, pieces, options, id, roles, guess, .. } = self;
        let opened = Opened::load(&mut &*known)?;
        let own = opened.own_rows(&rows);
        let Some(own) = own.filter(|_| opened.rows >= BATCH_ROWS && opened.width > 0) else {
            let expected =
                format!("some of the rows of the table that are used, of {} in all", opened.n_rows);
            return Err(fewest_core::Error::parameter("rows", format!("{rows:?}"), expected).into());
        };
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
        let n_others = roles.iter().filter(|role| roles::is_read(role)).count() - features.len();
        let part = (opened.width < features.len()).then(|| (0..opened.width).collect());
        let mut opened = Rows {
            path,
            pieces,
            asked_task: options.task,
            row_numbers: Vec::new(),
            options: crate::ReadOptions {
                task: opened.looked.task,
                features: part,
                memory: None,
                allow_large: true,
                ..options
            },
            id,
            n_taken: opened.width.min(features.len()),
            features,
            width: opened.width,
            missing: if opened.complete.is_some() { Missing::DropRows } else { Missing::Error },
            guess,
            rows: opened.rows,
            n_others,
            n_cells: opened.rows.saturating_mul(opened.width.saturating_add(n_others)),
            looked: opened.looked,
            known: Known::default(),
            n_passes: 0,
            n_read: 0,
            n_used: None,
            of_classes: None,
            counted: (0, 0),
            counted_of: Vec::new(),
            at: At::Start,
            part: Some(own),
            failure: None,
        };
        // No row is read before it is asked for: each takes opening its columns.
        let columns = opened.features.get(..opened.n_taken).unwrap_or_default().to_vec();
        opened.know_columns(columns);
        Ok(opened)
    }
}

impl Opened {
    /// Where the rows `used` are, of those that are used; `None` where there are not so many.
    fn own_rows(&self, used: &Range<u64>) -> Option<OwnRows> {
        if used.is_empty() {
            return None;
        }
        let Some(complete) = &self.complete else {
            let rows = used.clone();
            let all = OwnRows { next: 0, used: 0..rows.end - rows.start, n_come: 0, rows };
            return (used.end <= self.n_rows).then_some(all);
        };
        // The batches from that of the first row on to that of the last, and how many come before them.
        let (mut before, mut first, mut end) = (0_u64, None, None);
        for (batch, &count) in complete.iter().enumerate() {
            let after = before.checked_add(u64::from(count))?;
            if first.is_none() && used.start < after {
                first = Some((batch as u64, before));
            }
            if used.end <= after {
                end = Some(batch as u64 + 1);
                break;
            }
            before = after;
        }
        let ((first, before), end) = first.zip(end)?;
        let batch_rows = BATCH_ROWS as u64;
        let rows = first * batch_rows..end.saturating_mul(batch_rows).min(self.n_rows);
        Some(OwnRows { next: 0, rows, used: used.start - before..used.end - before, n_come: 0 })
    }
}

#[cfg(test)]
mod tests {
    use fewest_core::SampleStream;

    use super::*;
    use crate::ReadOptions;

    /// Rows with missing values, in runs and alone, are left out by those who read parts as by who reads all.
    #[test]
    fn parts_without_incomplete_rows_are_those_of_the_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("gaps.csv");
        let is_gone = |i: usize| i % 7 == 3 || (5000..15_000).contains(&i) || i >= 29_990;
        let cell = |i: usize| if is_gone(i) { String::new() } else { i.to_string() };
        let lines: String = (0..30_000).map(|i| format!("{},{}\n", cell(i), i % 3)).collect();
        std::fs::write(&path, format!("x,y\n{lines}")).unwrap();
        let open = || Passes::open(&path, &ReadOptions::with_target("y")).unwrap().unwrap();
        let values = |rows: &mut Rows| {
            let mut values = Vec::new();
            while let Some(batch) = rows.next_batch().unwrap() {
                let mut column = vec![0.0; batch.n_samples()];
                batch.x().copy_column(0, &mut column).unwrap();
                values.extend(column);
            }
            values
        };
        let mut all = open().rows(Missing::DropRows, 70 << 20).unwrap();
        let (counts, known) = all.known().unwrap();
        let expected: Vec<f64> = (0..30_000).filter(|&i| !is_gone(i)).map(|i| i as f64).collect();
        assert_eq!((counts.all, counts.used), (30_000, expected.len() as u64));
        assert_eq!(values(&mut all), expected);
        // Without the others, other rows would be complete.
        assert!(!all.take_features(&[0]).unwrap());
        for size in [1, 1000, 4096, 8192, expected.len()] {
            let starts = (0..expected.len()).step_by(size);
            // Of single rows some are enough.
            for start in starts.step_by(if size == 1 { 1777 } else { 1 }) {
                let end = expected.len().min(start + size);
                let mut part = open().part(&known, start as u64..end as u64).unwrap();
                for _ in 0..2 {
                    assert_eq!(values(&mut part), expected[start..end], "{start} {end}");
                    assert!(part.rewind().unwrap());
                }
            }
        }
        let beyond = expected.len() as u64;
        assert!(open().part(&known, beyond - 1..beyond + 1).is_err());
        assert!(open().part(&known, 5..5).is_err());
    }

    #[test]
    fn a_table_without_a_complete_row_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("gaps.csv");
        let lines: String = (0..9000).map(|i| if i < 10 { "1,2,0\n" } else { ",1,1\n" }).collect();
        std::fs::write(&path, format!("a,b,y\n{lines}")).unwrap();
        let options = ReadOptions { ignore: vec!["b".into()], ..ReadOptions::with_target("y") };
        let mut rows =
            Passes::open(&path, &options).unwrap().unwrap().rows(Missing::DropRows, 70 << 20).unwrap();
        assert_eq!(rows.known().unwrap().0, RowCounts { all: 9000, used: 10 });
        std::fs::write(&path, format!("a,b,y\n{}", ",1,1\n".repeat(9000))).unwrap();
        let opened = Passes::open(&path, &options).unwrap().unwrap().rows(Missing::DropRows, 70 << 20);
        let error = opened.and_then(|mut rows| rows.known()).unwrap_err();
        assert!(matches!(error, Error::NothingLeft { n_samples: 9000, .. }), "{error}");
    }

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
        assert_eq!(rows.known().unwrap().0, RowCounts { all: 9000, used: 9000 });
        let mut n_rows = 0;
        while let Some(batch) = rows.next_batch().unwrap() {
            n_rows += batch.n_samples();
        }
        assert_eq!((n_rows, rows.n_used()), (9000, Some((9000, 0))));
        assert_eq!(rows.class_counts(), ["0", "1", "2"].map(|class| (class.to_owned(), 3000)));
    }
}
