//! Lines that fit on a screen beside another.

use super::Finding;

/// Characters of a line; `rustfmt.toml` says the same to rustfmt, which leaves comments and strings alone.
const MOST: usize = 110;

/// Pages written by programs: an entry is removed when its program writes shorter lines. An entry without a
/// long line is a finding.
const WAIVED: &[&str] = &["docs/benchmarks/", "docs/reproduction/"];

/// Lines of the Rust or Markdown `file` that are too long and could be broken.
///
/// In Rust that is comments: code is left to rustfmt, which breaks what it can. Lines cannot be broken in
/// tables, in what a page or a comment quotes between fences, and where there is one word only, such as an
/// address.
pub(super) fn check(file: &str, text: &str) -> Vec<Finding> {
    let is_rust = match file.rsplit('.').next() {
        Some("rs") => true,
        Some("md") => false,
        _ => return Vec::new(),
    };
    let fenced = fenced_lines(text);
    let mut findings = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let length = line.chars().count();
        let is_prose = !is_rust || line.trim_start().starts_with("//");
        if length > MOST && is_prose && !fenced.contains(&at) && can_be_broken(line) {
            let message = format!("{length} characters, at most {MOST} are allowed");
            findings.push(Finding::new(file, at + 1, message));
        }
    }
    findings
}

/// The findings outside waived places, and the waived places without a finding.
pub(super) fn not_waived(long_lines: Vec<Finding>) -> Vec<Finding> {
    without(WAIVED, long_lines)
}

fn without(waived: &[&str], long_lines: Vec<Finding>) -> Vec<Finding> {
    let is_in = |finding: &Finding, place: &str| finding.file.starts_with(place);
    let unused = waived.iter().filter(|place| !long_lines.iter().any(|finding| is_in(finding, place)));
    let mut findings: Vec<Finding> = unused
        .map(|place| Finding::new(place, 0, "has no long lines: drop it from xtask/src/tidy/lines.rs"))
        .collect();
    let outside = |finding: &Finding| !waived.iter().any(|place| is_in(finding, place));
    findings.extend(long_lines.into_iter().filter(outside));
    findings
}

/// Neither a row of a table nor a single word, after the marker of a comment, a quotation or an item of a
/// list.
fn can_be_broken(line: &str) -> bool {
    let content =
        line.trim_start_matches(|character: char| character.is_whitespace() || "/!>-*".contains(character));
    !content.starts_with('|') && content.split_whitespace().nth(1).is_some()
}

/// The lines, from 0, between the fences of a page or of comments.
fn fenced_lines(text: &str) -> Vec<usize> {
    let mut fenced = false;
    let mut lines = Vec::new();
    for (at, line) in text.lines().enumerate() {
        if line
            .trim_start_matches(|character: char| character.is_whitespace() || "/!".contains(character))
            .starts_with("```")
        {
            fenced = !fenced;
        } else if fenced {
            lines.push(at);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn long(start: &str) -> String {
        format!("{start}{}", "ab ".repeat(40))
    }

    fn lines(file: &str, text: &str) -> Vec<usize> {
        check(file, text).iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn long_lines_fire() {
        let exact = "// ".to_owned() + &"é".repeat(51) + " " + &"é".repeat(55);
        assert_eq!(lines("a.rs", &format!("{exact}\n{exact}é\n")), [2]);
        assert_eq!(lines("a.rs", &format!("fn a() {{}}\n{}\n{}", long("// "), long("    /// "))), [2, 3]);
        assert_eq!(lines("a.rs", &long("    let a = ")), [0; 0]);
        assert_eq!(lines("a.md", &format!("\n{}\n", long("- "))), [2]);
        assert_eq!(lines("a.csv", &long("")), [0; 0]);
    }

    #[test]
    fn what_cannot_be_broken_is_left_alone() {
        let word = "x".repeat(120);
        for start in ["    /// ", "- ", "> ", "//! "] {
            assert_eq!(lines("a.rs", &format!("{start}{word}")), [0; 0], "{start}");
        }
        assert_eq!(lines("a.md", &format!("{}\n```\n{}\n```\n{}", long("| "), long(""), long(""))), [5]);
    }

    #[test]
    fn waived_places_are_needed() {
        let found = || check("crates/a/b.rs", &long("// "));
        assert_eq!(without(&[], found()).len(), 1);
        assert_eq!(without(&["crates/a/"], found()), []);
        let files: Vec<_> =
            without(&["crates/c/"], found()).into_iter().map(|finding| finding.file).collect();
        assert_eq!(files, ["crates/c/", "crates/a/b.rs"]);
    }
}
