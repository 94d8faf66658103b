//! `rustdoc` for `cargo test`: beside testing the examples of a crate, it writes the crate's pages, where any
//! warning is an error.
//!
//! `cargo doc` would have all dependencies compiled once more, only to know what is in them: minutes, and
//! for the engines of `cluster/` ten of them. The examples are tested with crates that are there already.
//! Those that only tests use are among them: a link to one of these is not found here to lead nowhere.

use std::ffi::{OsStr, OsString};
use std::process::Command;

use crate::{Result, workspace};

/// Set where this program is called as `rustdoc`.
pub(crate) const AS_RUSTDOC: &str = "FEWEST_AS_RUSTDOC";

/// What `cargo` asks of rustdoc, and the pages of the same crate.
pub(crate) fn run(arguments: &[OsString]) -> Result<()> {
    let rustdoc = |arguments: &[OsString]| {
        let mut rustdoc = Command::new("rustdoc");
        rustdoc.args(arguments);
        rustdoc
    };
    // Both at the same time: each is busy with one crate.
    let pages = of_pages(arguments).map(|arguments| rustdoc(&arguments).spawn()).transpose()?;
    let tested = workspace::run(&mut rustdoc(arguments));
    if let Some(mut pages) = pages
        && !pages.wait()?.success()
    {
        return Err("the pages have warnings".into());
    }
    tested
}

/// The arguments for the pages, where `arguments` are those for the examples.
fn of_pages(arguments: &[OsString]) -> Option<Vec<OsString>> {
    let is = |argument: &OsStr, text: &str| argument == OsStr::new(text);
    if !arguments.iter().any(|argument| is(argument, "--test")) {
        return None;
    }
    let own = arguments.windows(2).find(|pair| is(&pair[0], "--crate-name")).map(|pair| &pair[1])?;
    let mut pages: Vec<OsString> = ["-D", "warnings", "-o", "target/doc"].map(OsString::from).to_vec();
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let text = argument.to_string_lossy();
        match &*text {
            "--test" => {}
            // The crate itself, which its examples use, and which its pages do not see by that name.
            "--extern" if rest.as_slice().first().is_some_and(|value| is_of(value, own)) => {
                rest.next();
            }
            _ if text.starts_with("--test-") => {
                // With its value, if that is an argument of its own.
                if !text.contains('=') {
                    rest.next();
                }
            }
            _ => pages.push(argument.clone()),
        }
    }
    Some(pages)
}

/// Whether the value of `--extern` is for the crate of this name.
fn is_of(value: &OsStr, name: &OsStr) -> bool {
    let value = value.to_string_lossy();
    value.split_once('=').is_some_and(|(of, _)| OsStr::new(of) == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<OsString> {
        text.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn pages_are_of_the_crate_whose_examples_are_tested() {
        let asked = "--crate-name a --test src/lib.rs --test-run-directory /a --test-args=b --extern a=a.rlib \
                     --extern b=b.rlib -L deps";
        let pages = "-D warnings -o target/doc --crate-name a src/lib.rs --extern b=b.rlib -L deps";
        assert_eq!(of_pages(&words(asked)), Some(words(pages)));
        assert_eq!(of_pages(&words("-vV")), None);
    }
}
