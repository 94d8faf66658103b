//! Files too large for the memory are refused before they are read.

use std::path::{Path, PathBuf};

use crate::{Error, ReadOptions};

/// Bytes of memory this process may use: the machine's, or the limit of its control group or of its own
/// (`ulimit -v`) where that is lower.
///
/// Known on Linux (`/proc`, cgroup versions 1 and 2); `None` elsewhere, where only
/// [`ReadOptions::memory`] makes the check.
pub fn physical_memory() -> Option<u64> {
    let machine = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| total_memory(&text));
    let limits = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"];
    let limit =
        limits.iter().filter_map(|path| std::fs::read_to_string(path).ok()?.trim().parse::<u64>().ok()).min();
    let own = std::fs::read_to_string("/proc/self/limits").ok().and_then(|text| address_space(&text));
    [machine, limit, own].into_iter().flatten().min()
}

/// The soft limit of the address space, where there is one.
fn address_space(limits: &str) -> Option<u64> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}

fn total_memory(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// How much the values of a file may take.
///
/// Half of the memory, because columns that grow while a text file is read need up to twice their size, and a
/// method needs memory too; or [`ReadOptions::room`].
#[derive(Debug, Clone)]
pub struct Limit {
    path: PathBuf,
    /// Bytes of memory; 0 where they are not known.
    memory: u64,
    most: u64,
}

impl Limit {
    /// The limit for the values of this file.
    pub fn of(path: &Path, options: &ReadOptions) -> Self {
        let memory = options.memory.or_else(physical_memory);
        let most = options.room.or(memory.map(|memory| memory / 2)).filter(|_| !options.allow_large);
        let most = most.unwrap_or(u64::MAX);
        Self { path: path.to_owned(), memory: memory.unwrap_or(0), most }
    }

    /// # Errors
    /// [`Error::TooLarge`] when `needed` bytes are more than the values may take.
    pub fn check(&self, needed: u64) -> Result<(), Error> {
        if needed > self.most { Err(self.exceeded(needed)) } else { Ok(()) }
    }

    /// The error for values that take `needed` bytes or more: the system may give less than the limit.
    pub(crate) fn exceeded(&self, needed: u64) -> Error {
        Error::TooLarge { path: self.path.clone(), needed, most: self.most, memory: self.memory }
    }

    /// Bytes of memory; as many as there can be where they are not known.
    pub(crate) fn memory(&self) -> u64 {
        if self.memory == 0 { u64::MAX } else { self.memory }
    }

    /// The most bytes that the values may take.
    pub fn most(&self) -> u64 {
        self.most
    }
}

/// As [`Limit::check`], for a size that is known at once.
pub(crate) fn check(path: &Path, needed: u64, options: &ReadOptions) -> Result<(), Error> {
    Limit::of(path, options).check(needed)
}

/// Bytes of a dense table of numbers: of its values, and of its columns where they are many.
pub(crate) fn dense_bytes(rows: usize, columns: usize) -> u64 {
    table_bytes(rows, columns, 8).saturating_add((columns as u64).saturating_mul(COLUMN))
}

/// Bytes of a column beside its values: the vector, what the system needs for it, and a name in the output.
const COLUMN: u64 = 96;

/// `rows * columns * bytes` without overflow.
pub(crate) fn table_bytes(rows: usize, columns: usize, bytes: u64) -> u64 {
    (rows as u64).saturating_mul(columns as u64).saturating_mul(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meminfo_is_understood() {
        let text = "MemTotal:       24689764 kB\nMemFree:        100 kB\n";
        assert_eq!(total_memory(text), Some(24_689_764 * 1024));
        assert_eq!(total_memory("MemTotal: lots"), None);
        assert_eq!(total_memory(""), None);
    }

    #[test]
    fn limits_of_the_process_are_understood() {
        let line = "Max address space         8589934592           unlimited            bytes\n";
        assert_eq!(address_space(line), Some(8 << 30));
        assert_eq!(address_space("Max address space         unlimited            unlimited  bytes"), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_machine_has_memory() {
        assert!(physical_memory().unwrap() > 1 << 20);
    }

    #[test]
    fn more_than_half_of_the_memory_is_refused_unless_allowed() {
        let path = Path::new("wide.csv");
        let options = ReadOptions { memory: Some(1 << 30), ..ReadOptions::default() };
        assert!(check(path, 1 << 29, &options).is_ok());
        let message = check(path, (1 << 29) + 1, &options).unwrap_err().to_string();
        assert!(message.contains("512.0 MiB") && message.contains("1.0 GiB"), "{message}");
        let allowing = ReadOptions { allow_large: true, ..options };
        assert!(check(path, u64::MAX, &allowing).is_ok());
    }
}
