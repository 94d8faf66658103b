//! What commands on a page print, and whether the page shows it.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A command on a page starts with one of these.
const PROMPTS: [&str; 2] = ["$ fewest ", "$ cargo run --release -p fewest-cli -- "];

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The words of a command behind its prompt.
fn words(line: &str) -> Option<&str> {
    PROMPTS.iter().find_map(|prompt| line.strip_prefix(prompt))
}

/// What the command with these words prints, run in the checkout; ` | head -N` at its end is obeyed.
fn answer(line: &str) -> Vec<String> {
    let (line, lines) = match line.split_once(" | head -") {
        Some((line, count)) => (line, count.parse().unwrap()),
        None => (line, usize::MAX),
    };
    let ran = Command::new(env!("CARGO_BIN_EXE_fewest"))
        .args(line.split(' '))
        .current_dir(root())
        .output()
        .unwrap();
    assert!(ran.status.success(), "{line}: {}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8(ran.stdout).unwrap().lines().take(lines).map(str::to_owned).collect()
}

/// What the numbers in a table are.
#[derive(Clone, Copy, PartialEq)]
enum Table {
    Results,
    /// The last column holds times.
    EndsWithSeconds,
    Seconds,
}

/// A line without what differs from run to run or from processor to processor: times, and what rounding left
/// of gaps and gradients.
fn lasting(line: &str, table: Table) -> String {
    let mut words: Vec<&str> = line.split_whitespace().collect();
    let number = |word: &str| word.trim_end_matches([',', ';', ')']).parse::<f64>().ok();
    for at in 1..words.len() {
        let is_time = at + 1 < words.len() && words[at - 1] == "in" && words[at + 1].starts_with('s');
        let may_be_rounding = line.starts_with("note:") || matches!(words[at - 1], "gap" | "stationarity");
        let is_rounding = |size: f64| may_be_rounding && size.abs() < 1e-6;
        if number(words[at]).is_some_and(|value| is_time || table == Table::Seconds || is_rounding(value)) {
            words[at] = "…";
        }
    }
    if table == Table::EndsWithSeconds && words.last().is_some_and(|word| number(word).is_some()) {
        words.pop();
    }
    words.join(" ")
}

fn lasting_lines(lines: &[String]) -> Vec<String> {
    let mut table = Table::Results;
    let mut all = Vec::new();
    for line in lines {
        if line.starts_with("seconds per fold") {
            table = Table::Seconds;
            all.push(line.split_whitespace().collect::<Vec<_>>().join(" "));
            continue;
        } else if line.ends_with("seconds") {
            table = Table::EndsWithSeconds;
        } else if line.is_empty() {
            table = Table::Results;
        }
        all.push(lasting(line, table));
    }
    all
}

/// The page with the answers of now; those that differ only in what does not last are kept.
fn with_answers(page: &str) -> (String, usize) {
    let lines: Vec<String> = page.lines().map(str::to_owned).collect();
    let (mut out, mut at, mut n_commands) = (Vec::new(), 0, 0);
    while at < lines.len() {
        out.push(lines[at].clone());
        at += 1;
        let Some(command) = words(&lines[at - 1]) else { continue };
        n_commands += 1;
        let end = |line: &String| line.starts_with("```") || line.starts_with("$ ");
        let length = lines[at..].iter().position(end).unwrap();
        let shown = lines[at..at + length].to_vec();
        let now = answer(command);
        out.extend(if lasting_lines(&shown) == lasting_lines(&now) { shown } else { now });
        at += length;
    }
    (out.join("\n") + "\n", n_commands)
}

/// Asserts that the page shows what its commands print, or writes that into it where `FEWEST_WRITE_PAGES` is
/// set. Returns the number of commands.
pub(crate) fn check(path: &Path) -> usize {
    let page = std::fs::read_to_string(path).unwrap();
    let (now, n_commands) = with_answers(&page);
    if std::env::var_os("FEWEST_WRITE_PAGES").is_some() && now != page {
        std::fs::write(path, now).unwrap();
    } else {
        assert_eq!(page, now, "{}", path.display());
    }
    n_commands
}
