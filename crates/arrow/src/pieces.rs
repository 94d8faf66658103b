//! Rows of files in pieces, for tables larger than memory.

use std::collections::BTreeMap;
use std::sync::Arc;

use fewest_core::BATCH_ROWS;
use fewest_data::{Cells, Error, Folder, Pieces, ReadOptions, Stamp, Table, Wanted};

use crate::builder::Builder;
use crate::kind::Kind;
use crate::reading::{self, Field, File, Part, ROW_NAMES};

/// Bytes of memory of the footers that are kept: most tables have less, and large footers are read again for
/// each pass.
const FOOTERS: u64 = 32 << 20;

/// Opens the files of a table, one after the other, and keeps none of them open but the last one read.
pub(crate) fn open<F: File + 'static>(
    folder: Folder,
    options: &ReadOptions,
) -> Result<Box<dyn Pieces>, Error> {
    // The footer of a single file is in memory anyway while it is read.
    let room = if folder.parts().len() == 1 { u64::MAX } else { FOOTERS };
    Ok(Box::new(InParts::<F>::of(Arc::new(files(folder, options, room)?))))
}

/// The files, with footers in so many bytes of memory.
fn files<F: File>(folder: Folder, options: &ReadOptions, mut room: u64) -> Result<Files<F>, Error> {
    let mut fields: Vec<Field> = Vec::new();
    let mut parts = Vec::with_capacity(folder.parts().len());
    let mut footers = BTreeMap::new();
    for (number, part) in folder.parts().iter().enumerate() {
        let stamp = Stamp::of(part)?;
        let (file, footer) = reading::open_known::<F>(part.path(), part.content(options)?, options, None)?;
        if let Some(left) = room.checked_sub(F::footer_bytes(&footer)) {
            footers.insert(number, footer);
            room = left;
        }
        match number {
            0 => fields = file.fields().to_vec(),
            _ => reading::agree((folder.parts()[0].path(), &mut fields), (part.path(), file.fields()))?,
        }
        parts.push((stamp, file.rows()));
    }
    let names = fields.iter().map(|field| &field.name).chain(folder.keys()).cloned().collect();
    let options = options.clone();
    Ok(Files { folder, options, fields, names, parts, footers })
}

/// What is known of the files once they were opened.
struct Files<F: File> {
    folder: Folder,
    options: ReadOptions,
    fields: Vec<Field>,
    /// Of the fields, and of the keys in the names of folders.
    names: Vec<String>,
    /// Each with its rows.
    parts: Vec<(Stamp, u64)>,
    /// Those that have room.
    footers: BTreeMap<usize, Arc<F::Footer>>,
}

struct InParts<F: File> {
    files: Arc<Files<F>>,
    /// The part and the row in it that come next.
    at: (usize, u64),
    /// Rows before it, in all parts.
    before: u64,
    /// The part that was read last, with its number: opening it takes long where it has many columns.
    file: Option<(usize, F)>,
}

impl<F: File> InParts<F> {
    fn of(files: Arc<Files<F>>) -> Self {
        Self { files, at: (0, 0), before: 0, file: None }
    }
}

impl<F: File + 'static> Pieces for InParts<F> {
    fn names(&self) -> Option<&[String]> {
        Some(&self.files.names)
    }

    fn again(&self) -> Option<Box<dyn Pieces>> {
        Some(Box::new(Self::of(self.files.clone())))
    }

    fn n_columns(&self) -> usize {
        self.files.names.len()
    }

    fn n_rows(&self) -> (u64, bool) {
        (self.files.parts.iter().map(|(_, rows)| rows).fold(0, |sum, rows| sum.saturating_add(*rows)), true)
    }

    fn row_names(&self) -> Option<&str> {
        self.files.names.iter().find(|name| *name == ROW_NAMES).map(String::as_str)
    }

    fn is_category(&self, column: usize) -> Option<bool> {
        Some(match self.files.fields.get(column) {
            Some(field) => matches!(field.kind, Ok(Kind::Truth | Kind::Category)),
            None => true,
        })
    }

    fn rewind(&mut self) -> Result<(), Error> {
        (self.at, self.before) = ((0, 0), 0);
        self.files.parts.iter().try_for_each(|(stamp, _)| stamp.check())
    }

    fn skip(&mut self, rows: u64) -> Result<u64, Error> {
        let mut left = rows;
        while let Some((_, n_rows)) = self.files.parts.get(self.at.0) {
            let (number, first) = self.at;
            let own = left.min(n_rows.saturating_sub(first));
            (self.at, left) = ((number, first + own), left - own);
            if left == 0 {
                break;
            }
            self.at = (number + 1, 0);
        }
        self.before += rows - left;
        Ok(rows - left)
    }

    fn next(&mut self, rows: usize, options: &ReadOptions) -> Result<Option<Table>, Error> {
        let ((number, first), stamp, n_rows) = loop {
            let (number, first) = self.at;
            let Some((stamp, n_rows)) = self.files.parts.get(number) else { return Ok(None) };
            if first < *n_rows {
                break (self.at, stamp, *n_rows);
            }
            // What was read of it was that file.
            stamp.check()?;
            self.at = (number + 1, 0);
        };
        let part = &self.files.folder.parts()[number];
        let path = part.path();
        let file = match self.file.take() {
            Some((open, file)) if open == number => file,
            _ => {
                let options = &self.files.options;
                let content = part.content(options)?;
                // What is known is known of the file that was just opened.
                stamp.check()?;
                let known = self.files.footers.get(&number).cloned();
                reading::open_known(path, content, options, known)?.0
            }
        };
        let mut end = n_rows;
        let read = |wanted: &[Wanted]| {
            reading::check_kinds(path, &self.files.fields, wanted)?;
            end = n_rows.min(first + n_cached(&file, rows, wanted.len(), self.before));
            reading::fetch(&file, path, wanted, &(first..end))?;
            let part = Part { path, rows: n_rows, values: part.values() };
            let column = |at: usize| -> Result<Cells, Error> {
                let mut builder: Builder = reading::builder(&self.files.fields, &wanted[at]);
                let of = (&file, &self.files.fields[..]);
                reading::add_rows(of, &part, wanted[at].column, first..end, &mut builder, &mut |_| Ok(()))?;
                Ok(builder.finish())
            };
            // Text takes longest: begun last, it would be waited for.
            let is_text = |at: &usize| reading::builder(&self.files.fields, &wanted[*at]).numbers().is_none();
            let mut order: Vec<usize> = (0..wanted.len()).collect();
            order.sort_by_key(|at| !is_text(at));
            let read = fewest_parallel::try_map(order.len(), |task| column(order[task]))?;
            let mut cells: Vec<(usize, Cells)> = order.into_iter().zip(read).collect();
            cells.sort_unstable_by_key(|(at, _)| *at);
            Ok(cells.into_iter().map(|(_, cells)| cells).collect())
        };
        let table = Table::from_reader(path, F::FORMAT, self.files.names.clone(), options, read);
        let behind = first as usize;
        let table = table.map_err(|error| error.behind(behind, 0))?.behind(behind, 0);
        (self.at, self.before) = ((number, end), self.before + end - first);
        self.file = Some((number, file));
        Ok(Some(table))
    }
}

/// Values of a piece that stays in the cache of a processor while it is worked on.
const CACHED: usize = 1 << 18;

/// Bytes of open columns that have room beside all pieces.
const BESIDE: u64 = 16 << 20;

/// Of `rows` rows, those that are best read now, where a file goes on without beginning again: few, up to a
/// whole batch of all rows. What is held open takes the memory of the others, and what is [`BESIDE`].
fn n_cached<F: File>(file: &F, rows: usize, width: usize, before: u64) -> u64 {
    let few = (CACHED / BATCH_ROWS / width.max(1)).max(1) * BATCH_ROWS;
    let others = (rows.saturating_sub(few) as u64).saturating_mul(8 * width as u64);
    match file.goes_on(width, others.saturating_add(BESIDE)) && few <= rows {
        true => few as u64 - before % BATCH_ROWS as u64,
        false => rows as u64,
    }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use fewest_core::FeatureKind;
    use fewest_data::{Formats, TargetChoice};

    use super::*;
    use crate::ipc::IpcFile;
    use crate::parquet_file::ParquetFile;
    use crate::{ARROW, PARQUET};

    fn file(name: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files").join(name)
    }

    fn options(target: TargetChoice) -> ReadOptions {
        ReadOptions {
            formats: Formats::standard().with(PARQUET).with(ARROW),
            target,
            ..ReadOptions::default()
        }
    }

    /// The numbers of a feature, or the names of its levels; nothing where they are missing.
    fn cells(table: &Table, j: usize) -> Vec<Option<String>> {
        let mut scratch = Vec::new();
        let column = table.features().column(j, &mut scratch).unwrap().to_vec(table.n_samples());
        let text = |value: f64| match table.feature_kind(j) {
            FeatureKind::Categorical { levels } => levels[value as usize].clone(),
            _ => format!("{value:?}"),
        };
        column.into_iter().map(|value| (!value.is_nan()).then(|| text(value))).collect()
    }

    /// Of a batch those rows are decoded that a piece has: of every kind, compression and length.
    #[test]
    fn parts_of_batches_have_the_cells_of_the_whole() {
        let files = ["kinds.arrow", "kinds_lz4.arrow", "kinds_zstd.arrow", "polars.arrow", "mixed.arrow"];
        for path in files.map(file) {
            let mut options = options(TargetChoice::None);
            // Lists and the like are told, and left out here.
            let opened = super::files::<IpcFile>(Folder::or_file(&path).unwrap(), &options, 0).unwrap();
            let other = opened.fields.iter().filter(|field| field.kind.is_err());
            options.ignore = other.map(|field| field.name.clone()).collect();
            let whole = Table::read(&path, &options).unwrap();
            assert!(whole.n_samples() > 2 && whole.n_features() > 2);
            for size in [1, 2, 7, 100] {
                let folder = Folder::or_file(&path).unwrap();
                let mut pieces = InParts::of(Arc::new(super::files::<IpcFile>(folder, &options, 0).unwrap()));
                let mut found = vec![Vec::new(); whole.n_features()];
                while let Some(piece) = pieces.next(size, &options).unwrap() {
                    found.iter_mut().enumerate().for_each(|(j, found)| found.extend(cells(&piece, j)));
                }
                for (j, found) in found.iter().enumerate() {
                    let name = whole.feature_name(j);
                    assert_eq!(*found, cells(&whole, j), "{name} of {} by {size}", path.display());
                }
            }
        }
    }

    /// Footers without room are read again in each pass.
    #[test]
    fn rows_are_the_same_with_whatever_room_for_footers() {
        let path = file("parts");
        let options = options(TargetChoice::Columns(vec!["y".to_owned()]));
        let open = |room: u64| files::<ParquetFile>(Folder::or_file(&path).unwrap(), &options, room).unwrap();
        let all = open(u64::MAX);
        let bytes: Vec<u64> = all.footers.values().map(|footer| ParquetFile::footer_bytes(footer)).collect();
        assert!(bytes.len() == 4 && bytes.iter().all(|bytes| (1000..100_000).contains(bytes)), "{bytes:?}");
        let rows = |files: Files<ParquetFile>| {
            let mut pieces = InParts::of(Arc::new(files));
            let mut found = Vec::new();
            for _ in 0..2 {
                while let Some(table) = pieces.next(2, &options).unwrap() {
                    found.push((0..table.n_features()).map(|j| cells(&table, j)).collect::<Vec<_>>());
                }
                pieces.rewind().unwrap();
            }
            found
        };
        let expected = rows(all);
        for (room, n_kept) in [(0, 0), (bytes[0] - 1, 0), (bytes[0], 1), (bytes.iter().sum(), 4)] {
            let files = open(room);
            assert_eq!(files.footers.len(), n_kept, "{room}");
            assert_eq!(rows(files), expected, "{room}");
        }
    }
}
