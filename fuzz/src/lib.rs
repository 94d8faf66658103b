//! Damaged and hostile input for everything that reads.
//!
//! Each target takes any bytes and panics where a promise of `docs/reliability.md` is broken. The files in
//! `corpus/TARGET` are where damage begins; the tests give each of them, and many damaged ones, to the target
//! of its name. `cargo run -p fewest-fuzz -- TARGET SECONDS` goes on for longer, and `cargo fuzz run TARGET
//! --features guided` prefers input that reaches code which no input before it did.

mod arriving;
mod damage;
mod known;
mod targets;
mod workbooks;

use std::fs;
use std::path::{Path, PathBuf};

pub use arriving::state;
pub use damage::Damage;
pub use targets::{TARGETS, Target};

/// Gives any bytes to the target of this name.
///
/// # Panics
/// Where a promise is broken, and where there is no such target.
pub fn run(target: &str, bytes: &[u8]) {
    let target = TARGETS.iter().find(|known| known.name == target).expect("a target of this name");
    (target.run)(bytes);
}

/// The files of a target that damage begins with, in the order of their names.
///
/// # Panics
/// Where the folder is not there or a file cannot be read: without them nothing would be tested.
pub fn corpus(target: &Target) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = folder(target.name);
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.map(|entry| entry.path()).unwrap()).collect();
    files.sort();
    assert!(!files.is_empty(), "{} is empty", folder.display());
    files.into_iter().map(|path| (path.clone(), fs::read(path).unwrap())).collect()
}

/// The folder with the files of the target of this name.
pub fn folder(target: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target)
}
