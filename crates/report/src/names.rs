//! A list of names to copy.

use maud::{Markup, html};

use crate::text;

/// Lines that are seen at once.
const MOST_LINES: usize = 8;

/// The names, one a line, in a field that a reader can select as a whole; `told` names the field.
pub(super) fn to_copy<'a>(names: impl Iterator<Item = &'a str>, told: &str) -> Markup {
    let names: Vec<String> = names.map(text::one_line).collect();
    html! {
        details {
            summary { "Names to copy" }
            textarea readonly="" aria-label=(told) rows=(names.len().clamp(2, MOST_LINES)) { (names.join("\n")) }
        }
    }
}
