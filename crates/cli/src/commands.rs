//! The commands.

mod compare;
mod evaluate;
mod info;
mod methods;
mod score;
mod select;

pub(crate) use compare::compare;
pub(crate) use evaluate::evaluate;
pub(crate) use info::info;
pub(crate) use methods::methods;
pub(crate) use score::score;
pub(crate) use select::select;

use std::path::Path;

use crate::failure::Failure;
use crate::output;
use crate::report::Origin;

/// The command line with its arguments, quoted for a POSIX shell.
fn command_line() -> String {
    let quote = |word: String| {
        let plain = |c: char| c.is_alphanumeric() || "-_=./,:@%+".contains(c);
        if !word.is_empty() && word.chars().all(plain) {
            word
        } else {
            format!("'{}'", word.replace('\'', r"'\''"))
        }
    };
    let words = std::env::args_os().skip(1).map(|word| quote(word.to_string_lossy().into_owned()));
    std::iter::once("fewest".to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}

/// What a report tells of this command about `file`.
fn origin(file: &Path) -> Origin {
    Origin::new(command_line(), file)
}

/// Whether an output goes to stdout.
fn is_stdout(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Writes the result: `json`, if requested, to `path` or to stdout, and the table unless JSON goes to stdout.
fn tell(path: Option<&Path>, json: Option<String>, table: &str) -> Result<(), Failure> {
    match (path, json) {
        (Some(path), Some(json)) if is_stdout(path) => output::print(&json),
        (Some(path), Some(json)) => {
            output::write("--json", path, json.as_bytes())?;
            output::print(table)
        }
        _ => output::print(table),
    }
}
