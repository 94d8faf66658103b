//! The commands on the pages are run, and the pages must show what they print.
//!
//! `FEWEST_WRITE_PAGES=1 cargo test -p fewest-cli pages::` writes the answers into the pages.

use std::path::PathBuf;

use crate::shown::{check, root};

/// All pages with commands.
fn pages() -> Vec<PathBuf> {
    let mut pages = vec![root().join("README.md")];
    for folder in ["docs", "docs/methods"] {
        let entries = std::fs::read_dir(root().join(folder)).unwrap();
        pages.extend(entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_file()));
    }
    let crates = std::fs::read_dir(root().join("crates")).unwrap();
    pages.extend(crates.map(|entry| entry.unwrap().path().join("README.md")).filter(|path| path.is_file()));
    pages.retain(|page| page.extension().is_some_and(|extension| extension == "md"));
    // Its commands need the feature `usfs`, with which they are run by a test of their own.
    pages.retain(|page| page.file_stem().is_none_or(|stem| stem != "usfs"));
    pages.sort();
    pages
}

#[test]
fn pages_show_what_their_commands_print() {
    let n_commands: usize = pages().iter().map(|page| check(page)).sum();
    assert!(n_commands > 125, "only {n_commands} commands");
}
