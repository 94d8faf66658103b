//! Files too large for the memory are refused before they are read.

use std::path::Path;

use crate::{Error, ReadOptions};

/// Bytes of memory this process may use: the machine's, or the limit of its control group where that is
/// lower.
///
/// Known on Linux (`/proc/meminfo`, cgroup versions 1 and 2); `None` elsewhere, where only
/// [`ReadOptions::memory`] makes the check.
pub fn physical_memory() -> Option<u64> {
    let machine = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| total_memory(&text));
    let limits = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"];
    let limit =
        limits.iter().filter_map(|path| std::fs::read_to_string(path).ok()?.trim().parse::<u64>().ok()).min();
    match (machine, limit) {
        (Some(machine), Some(limit)) => Some(machine.min(limit)),
        (machine, limit) => machine.or(limit),
    }
}

fn total_memory(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// [`Error::TooLarge`] when `needed` bytes are more than half of the memory and the options do not allow it.
///
/// Half, because columns that grow while a text file is read need up to twice their size, and a method needs
/// memory too.
pub(crate) fn check(path: &Path, needed: u64, options: &ReadOptions) -> Result<(), Error> {
    if options.allow_large {
        return Ok(());
    }
    match options.memory.or_else(physical_memory) {
        Some(memory) if needed > memory / 2 => Err(Error::TooLarge { path: path.to_owned(), needed, memory }),
        _ => Ok(()),
    }
}

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
