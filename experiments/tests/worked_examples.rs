//! The examples of the pages on solvers and machines: every line of their code stands on the page, and so
//! does what they print.

mod cd;
mod dal;
mod dca;
mod machines;
mod newton;
mod pgd;
mod simplex;
mod smo;

type Example = fn(&mut String) -> Result<(), Box<dyn std::error::Error>>;

/// A line of the page for a line of the source.
fn printed(line: &str) -> String {
    match line.strip_prefix("writeln!(out, ").and_then(|rest| rest.strip_suffix(")?;")) {
        Some(values) => format!("println!({values});"),
        None => line.to_owned(),
    }
}

/// Whether `page` shows the output of `example` and every line of its `source` from the line that starts with
/// `first`, in order, and nothing of the test. What the source writes to `out`, the page prints.
fn check(page: &str, source: &str, first: &str, example: Example) {
    let mut out = String::new();
    assert!(example(&mut out).is_ok(), "the example fails after:\n{out}");
    assert!(page.contains(&format!("```text\n{out}```")), "the page must show:\n{out}");
    assert!(!page.contains("super::check"), "the call of this check is no part of the example");
    let body = source.split(first).nth(1).and_then(|rest| rest.split("    Ok(())").next()).unwrap_or("");
    let is_shown = |line: &&str| !line.is_empty() && !line.contains("fn example");
    let lines: Vec<String> = body.lines().map(str::trim).filter(is_shown).map(printed).collect();
    assert!(lines.len() > 10, "hardly any code after `{first}`");
    let mut rest = page;
    for line in lines {
        let after = rest.split_once(&line).map(|(_, after)| after);
        assert!(after.is_some(), "not on the page, or not in this order: {line}");
        rest = after.unwrap_or_default();
    }
}
