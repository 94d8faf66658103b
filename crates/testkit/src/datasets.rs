//! The data sets that tests and the README use.
//!
//! A few small ones with a free licence are in the folder `data` of this crate, with their origins in its
//! `README.md`. All others are looked for in the folder that the environment variable `FEWEST_DATA` names.
//!
//! It returns paths only, so that this crate needs no reader and the tests of every crate may use it.

use std::path::PathBuf;

/// The environment variable that names a folder with more data sets.
const FOLDER_VARIABLE: &str = "FEWEST_DATA";

/// The names of the data sets that are in the repository.
pub const SHIPPED: [&str; 6] =
    ["auto_mpg.csv", "heart_failure.csv", "ionosphere.csv", "sonar.csv", "wdbc.csv", "wine.csv"];

/// The path of a data set that is in the repository, one of [`SHIPPED`].
pub fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("data").join(name)
}

/// The folder that `FEWEST_DATA` names; `None` when the variable is not set.
pub fn folder() -> Option<PathBuf> {
    std::env::var_os(FOLDER_VARIABLE).filter(|folder| !folder.is_empty()).map(PathBuf::from)
}

/// Where the data set `name` is: in the folder that `FEWEST_DATA` names, or else in the repository, or else
/// `None`. A test without its file prints a message on stderr and returns.
pub fn find(name: &str) -> Option<PathBuf> {
    let candidates = folder().map(|folder| folder.join(name)).into_iter().chain([path(name)]);
    candidates.into_iter().find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shipped_data_sets_are_there() {
        for name in SHIPPED {
            assert!(path(name).is_file(), "{name}");
            assert!(find(name).is_some(), "{name}");
        }
        assert_eq!(find("no such file.csv"), None);
    }
}
