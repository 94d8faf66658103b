//! The golden corpus: reference results computed from the papers' formulas, independent of the code they
//! check.
//!
//! One JSON file for each case. [`Case`] is one file; [`compare`] compares the result of a method with it,
//! with the tolerances of the case, and reports the deviation of each part, also if it is within them.
//! [`committed`] lists the cases that are part of this repository, on data that may be redistributed.
//!
//! The registry's method ids and parameter names are those of the corpus with `-` for `_`, so
//! [`Case::method_id`] and [`Case::assignments`] suffice to run one.

mod case;
mod compare;

pub use case::{Case, Error, Ranking, Tolerance};
pub use compare::{CaseComparison, Deviation, Observed, compare};

use std::path::{Path, PathBuf};

/// The folder of the cases that are part of this repository.
pub fn committed() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("golden")
}

/// The cases of a folder whose method starts with `prefix`, by file name.
///
/// # Errors
/// [`Error`] when the folder cannot be listed or a case cannot be read, naming the file.
pub fn load(folder: &Path, prefix: &str) -> Result<Vec<Case>, Error> {
    let unreadable = |error: std::io::Error| Error::File { file: folder.to_owned(), why: error.to_string() };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if name.starts_with(prefix) && name.ends_with(".json") {
            files.push(path);
        }
    }
    files.sort();
    files.iter().map(|file| Case::read(file)).collect()
}
