//! Time and memory of a program.

use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::programs::number;
use super::{MEBIBYTE, cpu};
use crate::Result;

/// Time between two readings of the memory of a process.
const INTERVAL: Duration = Duration::from_millis(2);

/// Time and memory of a program.
#[derive(Debug, Clone, Copy)]
pub(super) struct Measured {
    /// From start to end, loading included.
    pub process_seconds: f64,
    /// Processor time of all its threads, user and system; `None` if the system does not report it.
    pub cpu_seconds: Option<f64>,
    /// The highest resident set of the process, without its children; `None` if the system does not report
    /// it.
    pub peak_bytes: Option<u64>,
}

/// Time and memory of a program, as it reports them and as measured from outside.
#[derive(Debug, Clone, Copy)]
pub(super) struct Timed {
    /// The time that the program itself reports: the work alone, if it reports it.
    pub seconds: f64,
    pub cpu_seconds: Option<f64>,
    /// The measurement from outside.
    pub measured: Measured,
}

/// A figure of a run; NaN if the system does not report it.
pub(super) type Figure = fn(&Timed) -> f64;

pub(super) const SECONDS: Figure = |run| run.seconds;
pub(super) const CPU: Figure = |run| run.cpu_seconds.unwrap_or(f64::NAN);
pub(super) const PROCESS: Figure = |run| run.measured.process_seconds;
pub(super) const PROCESS_CPU: Figure = |run| run.measured.cpu_seconds.unwrap_or(f64::NAN);
/// In units of 1024² bytes.
pub(super) const MEMORY: Figure =
    |run| run.measured.peak_bytes.map_or(f64::NAN, |bytes| bytes as f64 / MEBIBYTE);

/// The columns of [`Timed::cells`].
pub(super) const TIMED: &[&str] =
    &["seconds", "cpu_seconds", "process_seconds", "process_cpu_seconds", "peak_rss_bytes"];

impl Timed {
    /// The times in a program's answer, with the measurement from outside.
    pub(super) fn answered(answer: &Value, measured: Measured) -> Result<Self> {
        let cpu_seconds = answer["cpu_seconds"].as_f64();
        Ok(Self { seconds: number(answer, "seconds")?, cpu_seconds, measured })
    }

    /// A row of raw figures under [`TIMED`].
    pub(super) fn cells(&self) -> [String; 5] {
        let optional = |value: Option<f64>| value.map_or_else(String::new, |value| format!("{value:.6}"));
        [
            format!("{:.6}", self.seconds),
            optional(self.cpu_seconds),
            format!("{:.6}", self.measured.process_seconds),
            optional(self.measured.cpu_seconds),
            self.measured.peak_bytes.map_or_else(String::new, |bytes| bytes.to_string()),
        ]
    }
}

/// Runs a program to its end.
///
/// Memory is the kernel's own high-water mark, so that readings from time to time miss only a peak in the
/// last two milliseconds before the process ends.
pub(super) fn measure(command: &mut Command) -> Result<Measured> {
    let cpu_before = cpu::of_children();
    let start = Instant::now();
    let mut child = command.spawn().map_err(|error| format!("cannot run {command:?}: {error}"))?;
    let mut peak_bytes = None;
    let status = loop {
        peak_bytes = peak_bytes.max(high_water_mark(child.id()));
        match child.try_wait()? {
            Some(status) => break status,
            None => std::thread::sleep(INTERVAL),
        }
    };
    let process_seconds = start.elapsed().as_secs_f64();
    if status.success() {
        // One child at a time: the increase for all children is that of this one.
        let cpu_seconds = cpu::of_children().zip(cpu_before).map(|(after, before)| after - before);
        Ok(Measured { process_seconds, cpu_seconds, peak_bytes })
    } else {
        Err(format!("{command:?} failed: {status}").into())
    }
}

fn high_water_mark(process: u32) -> Option<u64> {
    parse_status(&std::fs::read_to_string(format!("/proc/{process}/status")).ok()?)
}

/// `VmHWM:    1234 kB` in bytes.
fn parse_status(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_high_water_mark_is_read() {
        assert_eq!(parse_status("Name: a\nVmHWM:\t    1234 kB\nVmRSS: 5 kB\n"), Some(1234 * 1024));
        assert_eq!(parse_status("Name: a\n"), None);
    }

    #[test]
    fn failures_are_errors() {
        assert!(measure(Command::new("cargo").arg("--version").stdout(std::process::Stdio::null())).is_ok());
        let mut failing = Command::new("cargo");
        failing.arg("no-such-command").stderr(std::process::Stdio::null());
        assert!(measure(&mut failing).is_err());
    }
}
