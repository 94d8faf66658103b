//! Machine, versions and commit of a measurement.

use std::process::Command;

use crate::Result;
use crate::workspace::{root, stdout_of};

/// An error where this program was built to be tested, not to be measured.
pub(crate) fn check_optimised() -> Result<()> {
    match cfg!(debug_assertions) {
        true => Err("not optimised, so times would mean nothing: start it as `cargo xtask …`".into()),
        false => Ok(()),
    }
}

/// Facts as `(name, value)`; `unknown` if the system does not report one.
pub(crate) fn facts() -> Vec<(&'static str, String)> {
    let cores = std::thread::available_parallelism().map_or_else(|_| unknown(), |cores| cores.to_string());
    vec![
        ("date", ask(Command::new("date").args(["-u", "+%Y-%m-%d"]))),
        ("command", command()),
        ("commit", commit()),
        ("fewest", env!("CARGO_PKG_VERSION").to_owned()),
        ("rustc", ask(Command::new("rustc").arg("--version"))),
        ("cpu", proc_value("/proc/cpuinfo", "model name")),
        ("cores", cores),
        ("memory", proc_value("/proc/meminfo", "MemTotal")),
        ("load before", load()),
        ("system", ask(Command::new("uname").args(["-srm"]))),
    ]
}

/// The command line of this run.
fn command() -> String {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    without_folders(&arguments)
}

/// Options whose values are paths on this machine, which are useless elsewhere.
const PLACES: &[&str] = &["--data", "--dir", "--python"];

fn without_folders(arguments: &[String]) -> String {
    let mut words = vec!["cargo xtask"];
    let mut is_place = false;
    for argument in arguments {
        let option = argument.split('=').next().unwrap_or(argument);
        if !is_place && !PLACES.contains(&option) {
            words.push(argument);
        }
        is_place = PLACES.contains(&argument.as_str());
    }
    words.join(" ")
}

/// The commit the checkout is at, and whether sources differ from it. Generated documents may.
fn commit() -> String {
    let git = |arguments: &[&str]| ask(Command::new("git").args(arguments).current_dir(root()));
    let changed = git(&["status", "--porcelain", "--untracked-files=no", "--", ".", ":!docs"]);
    let note = if changed.is_empty() { "" } else { " with changes" };
    format!("{}{note}", git(&["rev-parse", "--short=12", "HEAD"]))
}

fn ask(command: &mut Command) -> String {
    stdout_of(command).map_or_else(|_| unknown(), |text| text.trim().to_owned())
}

/// How many processes wanted to run, averaged over the last minute: times are reliable if it is near
/// 0.
fn load() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().filter(|load| !load.is_empty()).map_or_else(unknown, str::to_owned)
}

fn unknown() -> String {
    "unknown".to_owned()
}

/// The value of the first line `name : value` of a file under `/proc`.
fn proc_value(file: &str, name: &str) -> String {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    value_of(&text, name).map_or_else(unknown, str::to_owned)
}

fn value_of<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == name).then_some(value.trim())
    })
}

/// The facts as a Markdown list.
pub(crate) fn markdown(facts: &[(&str, String)]) -> String {
    facts.iter().map(|(name, value)| format!("- {name}: `{value}`\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_left_out() {
        let arguments = ["bench", "--peers", "--data", "/x", "--python=/y", "--only", "z"].map(str::to_owned);
        assert_eq!(without_folders(&arguments), "cargo xtask bench --peers --only z");
    }

    #[test]
    fn values_are_found_by_name() {
        let text = "model\t: 85\nmodel name\t: A CPU\nflags : x\n";
        assert_eq!(value_of(text, "model name"), Some("A CPU"));
        assert_eq!(value_of(text, "cache"), None);
    }
}
