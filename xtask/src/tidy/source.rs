//! Rules about Rust source.

use super::Finding;
use super::lexer::{closing, line_of, views, without_tests};

/// Crates and commands that print. The testkit reports which tests were skipped without data, and is never
/// published.
const MAY_PRINT: &[&str] = &["crates/cli/", "crates/testkit/", "cluster/cluster/src/main.rs"];

/// Crates and commands that read and write files. The testkit finds the corpus and is never published.
const MAY_TOUCH_FILES: &[&str] = &[
    "crates/data/",
    "crates/cli/",
    "crates/testkit/",
    "cluster/cluster/src/main.rs",
    // The folder of --resume.
    "cluster/cluster/src/finished.rs",
];

const PRINTING: &[&str] = &[
    "println!",
    "eprintln!",
    "print!",
    "eprint!",
    "dbg!",
    "io::stdout",
    "io::stderr",
    "stdout()",
    "stderr()",
];

const FILES: &[&str] = &["std::fs", "fs::", "File::open", "File::create", "OpenOptions"];

/// Broken rules in the Rust source `file`.
pub(super) fn check(file: &str, text: &str) -> Vec<Finding> {
    let views = views(text);
    let shipped = without_tests(&views.code);
    let mut findings = Vec::new();
    let mut report = |text: &str, words: &[&str], message: &str| {
        for word in words {
            for at in words_in(text, word) {
                findings.push(Finding::new(file, line_of(text, at), format!("`{word}`: {message}")));
            }
        }
    };
    if is_library(file) && !starts_with_any(file, MAY_PRINT) {
        report(
            &shipped,
            PRINTING,
            "libraries do not print; return it, or report it to the context's Progress",
        );
    }
    if is_library(file) && !starts_with_any(file, MAY_TOUCH_FILES) {
        report(
            &shipped,
            FILES,
            "of the crates only data and cli touch files; take values or a reader instead",
        );
    }
    report(
        &views.code,
        &["build_global"],
        "the caller decides the threads; build a pool of your own and `install` into it",
    );
    report(&views.code, &["todo!", "unimplemented!", "#[ignore"], "finish it or leave it out");
    report(
        &views.comments,
        &[concat!("FIX", "ME"), concat!("TO", "DO"), concat!("XX", "X")],
        "finish it or open an issue",
    );
    findings.extend(one_sided_tolerances(file, &views.code));
    findings
}

/// Sources that become part of programs, as opposed to tests, examples and benches.
fn is_library(file: &str) -> bool {
    starts_with_any(file, &["crates/", "cluster/"]) && file.contains("/src/")
}

fn starts_with_any(file: &str, folders: &[&str]) -> bool {
    folders.iter().any(|folder| file.starts_with(folder))
}

/// Where `word` occurs in `text`, not as the end of a longer word.
fn words_in(text: &str, word: &str) -> Vec<usize> {
    let inside_word = |at: usize| {
        let before = text[..at].chars().next_back();
        before.is_some_and(|before| before.is_alphanumeric() || before == '_')
    };
    text.match_indices(word).map(|(at, _)| at).filter(|&at| !inside_word(at)).collect()
}

/// `assert!(a - b < tolerance)`: true for every `a` far below `b`, so it cannot catch half of the errors.
///
/// Fires on an assertion `left < right` or `left <= right` whose left side is a difference outside any call,
/// and whose right side looks like a tolerance. Where a one-sided bound is meant, `a < b + tolerance` says
/// so.
fn one_sided_tolerances(file: &str, code: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (start, _) in code.match_indices("assert!(") {
        let open = start + "assert!".len();
        let Some(end) = closing(code, open) else { continue };
        let condition = first_argument(&code[open + 1..end - 1]);
        for part in condition.split("&&") {
            let Some((left, right)) = part.split_once('<') else { continue };
            let (left, right) = (left.trim(), right.trim_start_matches('=').trim());
            if looks_like_tolerance(right) && is_bare_difference(left) {
                findings.push(Finding::new(
                    file,
                    line_of(code, start),
                    "a tolerance without abs() passes for any value far below: compare `(a - b).abs()`, or \
                     write `a < b + tolerance` if a bound is meant",
                ));
            }
        }
    }
    findings
}

/// Up to the first comma outside brackets.
fn first_argument(arguments: &str) -> &str {
    let mut depth = 0_i32;
    for (at, byte) in arguments.bytes().enumerate() {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth -= 1,
            b',' if depth == 0 => return &arguments[..at],
            _ => {}
        }
    }
    arguments
}

fn looks_like_tolerance(right: &str) -> bool {
    let lower = right.to_ascii_lowercase();
    lower.contains("e-") || lower.contains("tol") || lower.contains("eps") || lower.starts_with("0.0")
}

/// Whether `left` is `a - b` (perhaps in brackets, perhaps scaled) rather than a call on such a difference.
fn is_bare_difference(left: &str) -> bool {
    if left.contains("abs") || left.contains("norm") {
        return false;
    }
    let mut depth = 0_usize;
    let mut in_call = 0_usize;
    let bytes = left.as_bytes();
    let mut difference = false;
    for (at, &byte) in bytes.iter().enumerate() {
        match byte {
            b'(' | b'[' | b'{' => {
                let called =
                    at > 0 && (bytes[at - 1].is_ascii_alphanumeric() || b"_>!".contains(&bytes[at - 1]));
                if called || in_call > 0 || byte != b'(' {
                    in_call += 1;
                } else {
                    depth += 1;
                }
            }
            b')' | b']' | b'}' => {
                if in_call > 0 {
                    in_call -= 1;
                } else {
                    depth = depth.saturating_sub(1);
                    // What follows the bracket is a method on the difference, such as `.powi(2)`: not bare.
                    if depth == 0 && left[at + 1..].trim_start().starts_with('.') {
                        difference = false;
                    }
                }
            }
            b'-' if in_call == 0 && at > 0 && bytes[at - 1] == b' ' && bytes.get(at + 1) == Some(&b' ') => {
                difference = true;
            }
            _ => {}
        }
    }
    difference
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(file: &str, text: &str) -> Vec<usize> {
        check(file, text).iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn libraries_do_not_print() {
        let text = "fn a() {\n    println!(\"x\");\n}\n#[cfg(test)]\nmod tests { fn b() { println!() } }\n";
        assert_eq!(lines("crates/solver/src/lib.rs", text), [2]);
        assert_eq!(lines("crates/cli/src/main.rs", text), [0_usize; 0]);
        assert_eq!(lines("crates/solver/tests/laws.rs", text), [0_usize; 0]);
        assert_eq!(lines("crates/core/src/a.rs", "use std::io::stdout;"), [1]);
        assert_eq!(
            lines("crates/core/src/a.rs", "// println!\nlet a = \"println!\"; my_println!();"),
            [0_usize; 0]
        );
    }

    #[test]
    fn only_some_crates_touch_files() {
        let text = "\nuse std::fs;";
        assert_eq!(lines("crates/kernels/src/lib.rs", text), [2]);
        assert_eq!(lines("crates/data/src/csv.rs", text), [0_usize; 0]);
        assert_eq!(lines("crates/linear/src/a.rs", "let f = File::open(path);"), [1]);
    }

    #[test]
    fn no_global_pool_anywhere() {
        assert_eq!(lines("crates/cli/src/main.rs", "builder.build_global()"), [1]);
    }

    #[test]
    fn nothing_unfinished() {
        assert_eq!(lines("xtask/src/a.rs", "fn a() { todo!() }"), [1]);
        assert_eq!(lines("crates/core/tests/a.rs", "#[ignore]\n#[test]\nfn a() {}"), [1]);
        assert_eq!(lines("crates/core/src/a.rs", concat!("// FIX", "ME: later")), [1]);
    }

    #[test]
    fn tolerances_have_two_sides() {
        let fires = [
            "assert!(a - b < 1e-9)",
            "assert!((a - b) < 1e-9, \"far: {a}\")",
            "prop_assert!(a - b <= tolerance)",
            "assert!((a - b) / scale < 1e-6)",
            "assert!(fine && x[i] - y[i] < EPSILON)",
        ];
        for text in fires {
            assert_eq!(lines("crates/core/tests/a.rs", text), [1], "{text}");
        }
        let silent = [
            "assert!((a - b).abs() < 1e-9)",
            "assert!(a < b + 1e-9)",
            "assert!((a - b).powi(2) < 1e-9)",
            "assert!(distance(a - b, c) < 1e-9)",
            "assert!(n - 1 < m)",
            "assert!(gap < 1e-8)",
        ];
        for text in silent {
            assert_eq!(lines("crates/core/tests/a.rs", text), [0_usize; 0], "{text}");
        }
    }
}
