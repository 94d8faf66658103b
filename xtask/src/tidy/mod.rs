//! `cargo xtask tidy`: the house rules as code. Each rule is a function over text, with tests that show it
//! fires.

mod dependencies;
mod edges;
mod lexer;
mod lines;
mod links;
mod manifests;
mod pages;
mod paths;
mod programs;
mod source;

use std::fmt;

use crate::{Result, ci, metadata, workspace};

/// A rule broken at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    /// The file, relative to the root.
    pub file: String,
    /// The line, from 1; 0 for the file as a whole.
    pub line: usize,
    /// What is wrong and what to do.
    pub message: String,
}

impl Finding {
    fn new(file: &str, line: usize, message: impl Into<String>) -> Self {
        Self { file: file.to_owned(), line, message: message.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(out, "{}: {}", self.file, self.message),
            line => write!(out, "{}:{line}: {}", self.file, self.message),
        }
    }
}

/// Checks every rule; prints what is broken.
pub(crate) fn run() -> Result<()> {
    let files = metadata::tracked_files()?;
    let members = metadata::members()?;
    let mut findings = edges::check(&members);
    findings.extend(dependencies::check(&members));
    let mut long_lines = Vec::new();
    for file in &files {
        // Binary files (pictures, compressed data) hold no text to check.
        let Ok(text) = std::fs::read_to_string(workspace::root().join(file)) else { continue };
        findings.extend(paths::check(file, &text));
        long_lines.extend(lines::check(file, &text));
        if file.ends_with(".rs") {
            findings.extend(source::check(file, &text));
        }
        if file.ends_with(".md") {
            findings.extend(links::check(file, &text, &files, read));
        }
        if file.ends_with("Cargo.toml") {
            findings.extend(manifests::check(file, &text));
        }
        if file == "README.md" && !text.contains(ci::TEST_COMMAND) {
            let message = format!("must say how all tests run: `{}`", ci::TEST_COMMAND);
            findings.push(Finding::new(file, 0, message));
        }
    }
    findings.extend(manifests::unused(&files, read));
    findings.extend(lines::not_waived(long_lines));
    findings.extend(pages::check(&files));
    findings.extend(programs::check(&files, read));
    for finding in &findings {
        println!("{finding}");
    }
    match findings.len() {
        0 => Ok(()),
        count => Err(format!("{count} house rules broken").into()),
    }
}

fn read(file: &str) -> Option<String> {
    std::fs::read_to_string(workspace::root().join(file)).ok()
}
