//! Rows of an array in pieces, for arrays larger than memory.

use std::fs::File;
use std::io::{BufReader, Seek, SeekFrom};
use std::path::PathBuf;

use super::{FORMAT, Header, failure, read_header, target_file, tiles};
use crate::cells::from_numbers;
use crate::passes::{Pieces, Stamp};
use crate::roles::{self, Role};
use crate::source::Source;
use crate::{Error, Folder, ReadOptions, Table};

/// Opens one array, whose columns include the target.
pub(super) fn open(folder: Folder, options: &ReadOptions) -> Result<Box<dyn Pieces>, Error> {
    folder.only_files("npy")?;
    let [part] = folder.parts() else {
        let what = "several npy files are not read as one table";
        return Err(Error::unsupported(folder.path(), what, "name one file"));
    };
    let path = part.path().to_owned();
    let unsupported = |what: &str, advice: &str| Err(Error::unsupported(&path, what, advice));
    if target_file(options).is_some() {
        return unsupported(
            "a target in a file of its own, read in passes",
            "save it as a column of the array",
        );
    }
    let source = Source::open(&path)?;
    if source.compressed {
        return unsupported("a compressed array, read in passes", "decompress it");
    }
    let stamp = Stamp::of(part)?;
    let mut reader = source.into_reader();
    let failed = |place, error| failure(&path, false, place, error);
    let (header, start) = read_header(&path, &mut reader, &failed)?;
    if header.dimensions != 2 {
        return unsupported("an array of this shape", "save samples × features");
    }
    header.check(&path, stamp.length().checked_sub(start))?;
    Ok(Box::new(Array { path, stamp, header, start, at: 0 }))
}

/// The rows of an array.
struct Array {
    path: PathBuf,
    stamp: Stamp,
    header: Header,
    /// The byte at which the values start.
    start: u64,
    /// The next row.
    at: usize,
}

impl Array {
    /// The columns of the next `rows` rows, without values where they are not used.
    fn columns(&self, rows: usize, is_used: &[bool]) -> std::io::Result<Vec<Vec<f64>>> {
        let Header { element, fortran_order, n_rows, n_columns, .. } = self.header;
        let mut reader = BufReader::with_capacity(1 << 16, File::open(&self.path)?);
        let place = |value: u64| SeekFrom::Start(self.start + value * element.size() as u64);
        let mut columns: Vec<Vec<f64>> =
            is_used.iter().map(|used| Vec::with_capacity(if *used { rows } else { 0 })).collect();
        if fortran_order {
            for (j, column) in columns.iter_mut().enumerate().filter(|(j, _)| is_used[*j]) {
                reader.seek(place(j as u64 * n_rows as u64 + self.at as u64))?;
                element.read_into(&mut reader, rows, |value| column.push(value))?;
            }
            return Ok(columns);
        }
        reader.seek(place(self.at as u64 * n_columns as u64))?;
        let mut tile = Vec::new();
        for rows in tiles(rows, n_columns) {
            tile.clear();
            element.read_into(&mut reader, rows * n_columns, |value| tile.push(value))?;
            for (j, column) in columns.iter_mut().enumerate().filter(|(j, _)| is_used[*j]) {
                column.extend(tile[j..].iter().step_by(n_columns));
            }
        }
        Ok(columns)
    }
}

impl Pieces for Array {
    fn names(&self) -> Option<&[String]> {
        None
    }

    fn n_columns(&self) -> usize {
        self.header.n_columns
    }

    fn n_rows(&self) -> (u64, bool) {
        (self.header.n_rows as u64, true)
    }

    fn is_category(&self, _column: usize) -> Option<bool> {
        Some(false)
    }

    fn rewind(&mut self) -> Result<(), Error> {
        self.at = 0;
        self.stamp.check()
    }

    fn skip(&mut self, rows: u64) -> Result<u64, Error> {
        let left = self.header.n_rows - self.at;
        let skipped = usize::try_from(rows).unwrap_or(left).min(left);
        self.at += skipped;
        Ok(skipped as u64)
    }

    fn next(&mut self, rows: usize, options: &ReadOptions) -> Result<Option<Table>, Error> {
        let rows = rows.min(self.header.n_rows - self.at);
        if rows == 0 {
            self.stamp.check()?;
            return Ok(None);
        }
        let (roles, _) = roles::assign(&self.path, None, self.header.n_columns, options)?;
        let is_used: Vec<bool> = roles.iter().map(|role| *role != Role::Ignored).collect();
        let columns = self.columns(rows, &is_used).map_err(|error| Error::reading(&self.path, error))?;
        let first = self.at;
        self.at += rows;
        let read = from_numbers(&self.path, FORMAT, columns, Vec::new(), options);
        read.map(|table| table.behind(first, 0)).map_err(|error| error.behind(first, 0)).map(Some)
    }
}
