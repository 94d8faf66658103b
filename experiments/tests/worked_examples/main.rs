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

/// Whether `page` shows the output of `example` and every line of its `source` from the line that starts with
/// `first`, except those that write the output, and nothing of the test.
fn check(page: &str, source: &str, first: &str, example: Example) {
    let mut out = String::new();
    assert!(example(&mut out).is_ok(), "the example fails after:\n{out}");
    assert!(page.contains(&format!("```text\n{out}```")), "the page must show:\n{out}");
    assert!(!page.contains("crate::check"), "the call of this check is no part of the example");
    let body = source.split(first).nth(1).and_then(|rest| rest.split("    Ok(())").next()).unwrap_or("");
    let is_shown =
        |line: &&str| !line.is_empty() && !line.contains("writeln!") && !line.contains("fn example");
    let lines: Vec<&str> = body.lines().map(str::trim).filter(is_shown).collect();
    assert!(lines.len() > 10, "hardly any code after `{first}`");
    for line in lines {
        assert!(page.contains(line), "not on the page: {line}");
    }
}
