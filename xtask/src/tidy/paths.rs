//! Rules about paths in any tracked text.

use super::Finding;
use super::lexer::line_of;

/// First parts of absolute paths that exist on somebody's machine only.
const MACHINE_FOLDERS: &[&str] = &["home", "Users", "root", "work"];

/// The only file that may name the data folder beside the checkout.
const MAY_NAME_SHARED: &str = ".ci/run";

/// Absolute machine paths in `text`, and relative paths out of the checkout.
pub(super) fn check(file: &str, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for folder in MACHINE_FOLDERS {
        let path = format!("/{folder}/");
        for (at, _) in text.match_indices(&path) {
            // Part of a longer path or of an address: not absolute.
            let before = text[..at].chars().next_back();
            if before.is_some_and(|before| before.is_alphanumeric() || "._-/~}*$".contains(before)) {
                continue;
            }
            findings.push(Finding::new(
                file,
                line_of(text, at),
                format!("`{path}` exists on one machine only"),
            ));
        }
    }
    let shared = ["..", "shared"].join("/");
    if file != MAY_NAME_SHARED {
        for (at, _) in text.match_indices(&shared) {
            let message = format!(
                "`{shared}` lies outside the checkout: take the folder from FEWEST_DATA or FEWEST_GOLDEN"
            );
            findings.push(Finding::new(file, line_of(text, at), message));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absolute_paths_fire() {
        let text = format!("a\nopen(\"/{}/me/x.csv\")", "home");
        assert_eq!(check("a.rs", &text).len(), 1);
        assert_eq!(check("a.rs", &text)[0].line, 2);
    }

    #[test]
    fn addresses_and_relative_paths_do_not() {
        let text = format!("https://example.org/{0}/x and crates/{0}/y and ~/{0}/", "work");
        assert_eq!(check("a.md", &text), []);
    }

    #[test]
    fn the_shared_folder_is_named_in_one_place() {
        let text = ["..", "shared/data"].join("/");
        assert_eq!(check("crates/data/tests/a.rs", &text).len(), 1);
        assert_eq!(check(".ci/run", &text), []);
    }
}
