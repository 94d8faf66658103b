//! What the tests of this crate share.

use std::fs;
use std::path::{Path, PathBuf};

use fewest_core::Columns;
use fewest_data::{Error, Format, Formats, ReadOptions, Table};

/// A folder that goes away with the test.
pub(crate) struct Folder(tempfile::TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(name);
        // Writing over a file that is there makes some file systems wait for the disk.
        let _ = fs::remove_file(&path);
        fs::write(&path, content).unwrap();
        path
    }

    /// Reads a file with this content.
    pub(crate) fn read(
        &self,
        name: &str,
        content: impl AsRef<[u8]>,
        options: &ReadOptions,
    ) -> Result<Table, Error> {
        Table::read(self.write(name, content), options)
    }
}

/// Reads a CSV file with this content.
pub(crate) fn read_csv(content: impl AsRef<[u8]>, options: &ReadOptions) -> Result<Table, Error> {
    Folder::new().read("table.csv", content, options)
}

/// A file that was written by NumPy or SciPy.
pub(crate) fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files").join(name)
}

/// All values, column after column.
pub(crate) fn columns(table: &dyn Columns) -> Vec<Vec<f64>> {
    let column = |j| table.column(j, &mut Vec::new()).unwrap().to_vec(table.n_samples());
    (0..table.n_features()).map(column).collect()
}

/// The message of the error, which must be one line that starts with the file.
pub(crate) fn message(result: Result<Table, Error>) -> String {
    let message = match result {
        Ok(_) => panic!("the file was read, although it should not"),
        Err(error) => error.to_string(),
    };
    assert_eq!(message.lines().count(), 1, "{message}");
    message
}

/// Asserts that the message holds each of these.
#[track_caller]
pub(crate) fn assert_says(message: &str, fragments: &[&str]) {
    for fragment in fragments {
        assert!(message.contains(fragment), "`{fragment}` is not in: {message}");
    }
}

pub(crate) fn gzip(content: impl AsRef<[u8]>) -> Vec<u8> {
    use std::io::Write;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(content.as_ref()).unwrap();
    encoder.finish().unwrap()
}

/// The format of that name.
pub(crate) fn format(name: &str) -> Format {
    Formats::standard().named(name).unwrap()
}
