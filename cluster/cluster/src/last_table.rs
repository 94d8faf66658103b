//! The table that was opened last.

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fewest::data::{Error, Folder, Passes, ReadOptions};

use crate::objects::Object;
use crate::request::Table;

/// The table of the last task, opened: what its files tell of their columns is read once for all tasks of a
/// run, which takes longer than a task where columns are many.
#[derive(Default)]
pub(crate) struct LastTable(Mutex<Option<(Of, Arc<Mutex<Opened>>)>>);

/// A table that tasks open. The first one is waited for.
#[derive(Default)]
enum Opened {
    #[default]
    Never,
    Kept(Box<Passes>),
    /// Each task opens it by itself: this was in vain, or takes no longer than for a table that is kept.
    Apart,
}

/// What says that a table is the same, whose files say by themselves whether they have changed.
#[derive(PartialEq)]
pub(crate) struct Of {
    pub(crate) table: Table,
    pub(crate) needs_target: bool,
    /// In a store.
    pub(crate) objects: Vec<Object>,
    /// Elsewhere.
    pub(crate) files: Vec<PathBuf>,
}

impl LastTable {
    /// This table; `None` for a format without a reader of pieces.
    ///
    /// # Errors
    /// Those of [`Passes::open_folder`].
    pub(crate) fn open(
        &self,
        of: Of,
        folder: Folder,
        options: &ReadOptions,
    ) -> Result<Option<Passes>, Error> {
        let entry = self.of(of);
        let mut opened = locked(&entry);
        // Files that have changed are opened again, which tells how they differ.
        if let Opened::Kept(kept) = &*opened
            && let Some(mut again) = kept.again()
            && again.check().is_ok()
        {
            return Ok(Some(again));
        }
        let before = std::mem::replace(&mut *opened, Opened::Apart);
        let waited_for = (!matches!(before, Opened::Apart)).then_some(opened);
        let new = Passes::open_folder(folder, options)?;
        if let Some(again) = new.as_ref().and_then(Passes::again) {
            *waited_for.unwrap_or_else(|| locked(&entry)) = Opened::Kept(Box::new(again));
        }
        Ok(new)
    }

    /// Where this table is kept, which is the last one now.
    fn of(&self, of: Of) -> Arc<Mutex<Opened>> {
        let mut last = locked(&self.0);
        if let Some((_, opened)) = last.as_ref().filter(|(known, _)| *known == of) {
            return opened.clone();
        }
        let opened = Arc::<Mutex<Opened>>::default();
        let before = last.replace((of, opened.clone()));
        drop(last);
        // What its files told may be much: nobody waits until that is given back.
        drop(before);
        opened
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl fmt::Debug for LastTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LastTable")
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::path::Path;

    use fewest::data::{Formats, ReadOptions};

    use super::*;

    fn of(path: &Path) -> Of {
        let table = Table { path: path.to_owned(), target: vec!["y".to_owned()], ..Table::default() };
        Of { table, needs_target: true, objects: Vec::new(), files: vec![path.to_owned()] }
    }

    /// What a file tells is read again where another table was read since, or another use is made of it, or
    /// the file has changed; and not otherwise, as a file shows that is damaged under the same stamp.
    #[test]
    fn what_files_tell_is_read_once() {
        let folder = tempfile::tempdir().unwrap();
        let paths = ["a.parquet", "b.parquet"].map(|name| folder.path().join(name));
        let options = ReadOptions {
            formats: Formats::standard().with(fewest_arrow::PARQUET),
            ..ReadOptions::with_target("y")
        };
        let csv = b"x,y\n1,0\n2,1\n3,0\n".to_vec();
        let table = fewest::data::Table::read_bytes("t.csv", csv.into(), &options).unwrap();
        let data = table.complete(fewest::data::Missing::Error).unwrap().dataset;
        for path in &paths {
            fewest_arrow::PARQUET.write(path, &data, &[0], &["y".to_owned()]).unwrap();
        }
        let last = LastTable::default();
        let open = |of: Of| {
            let folder = Folder::or_file(&of.table.path).unwrap();
            last.open(of, folder, &options).map(|passes| passes.unwrap().n_rows())
        };
        let [a, b] = &paths;
        let good = fs::read(a).unwrap();
        let written = fs::metadata(a).unwrap().modified().unwrap();
        // The magic at both ends stays, and so does the stamp.
        let mut damaged = good.clone();
        damaged[4..good.len() - 4].fill(0xA5);
        let write = |content: &[u8]| {
            fs::write(a, content).unwrap();
            File::options().write(true).open(a).unwrap().set_modified(written).unwrap();
        };

        assert_eq!(open(of(a)).unwrap(), (3, true));
        write(&damaged);
        assert_eq!(open(of(a)).unwrap(), (3, true));
        let others = [
            Of { needs_target: false, ..of(a) },
            Of { table: Table { ignore: vec!["x".to_owned()], ..of(a).table }, ..of(a) },
            Of { table: Table { categorical: vec!["x".to_owned()], ..of(a).table }, ..of(a) },
            Of { files: paths.to_vec(), ..of(a) },
        ];
        for other in others {
            assert!(open(other).is_err());
            write(&good);
            assert_eq!(open(of(a)).unwrap(), (3, true));
            write(&damaged);
        }
        assert_eq!(open(of(b)).unwrap(), (3, true));
        assert!(open(of(a)).is_err());

        write(&good);
        assert_eq!(open(of(a)).unwrap(), (3, true));
        fs::write(a, &damaged).unwrap();
        File::options()
            .write(true)
            .open(a)
            .unwrap()
            .set_modified(written + std::time::Duration::from_secs(1))
            .unwrap();
        assert!(open(of(a)).is_err());
    }
}
