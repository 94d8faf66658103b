//! The things the program does.

mod compare;
mod evaluate;
mod info;
mod methods;
mod score;
mod select;

pub use compare::compare;
pub use evaluate::evaluate;
pub use info::info;
pub use methods::methods;
pub use score::score;
pub use select::select;

use std::path::Path;

use fewest::registry::{Parameters, Value};

/// Parameters that have a value, as the outputs tell them.
pub fn told(parameters: &Parameters) -> Vec<(&'static str, Value)> {
    parameters.iter().map(|(name, value)| (name, value.clone())).collect()
}

/// The call, as it can be pasted into a POSIX shell.
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

/// Whether an output goes to stdout.
fn is_stdout(path: &Path) -> bool {
    path.as_os_str() == "-"
}
