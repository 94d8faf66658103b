//! Where a report comes from: the command, its day and its file.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use sha2::{Digest, Sha256};

/// Variable with the time that outputs are dated by, in seconds since 1970, for builds that must not differ.
const EPOCH: &str = "SOURCE_DATE_EPOCH";

/// What a report tells of the command that made it.
#[derive(Debug, Clone)]
pub(crate) struct Origin {
    /// The command line.
    pub command: String,
    /// The day, in UTC: `2026-11-22`.
    pub date: String,
    /// SHA-256 of the file as it lies on disk, as `sha256sum` prints it; `None` for a pipe.
    pub digest: Option<String>,
}

impl Origin {
    /// Of a command about `file` that runs now, or at the time that `SOURCE_DATE_EPOCH` gives.
    pub(crate) fn new(command: String, file: &Path) -> Self {
        let given = std::env::var(EPOCH).ok().and_then(|seconds| seconds.trim().parse().ok());
        let now = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        Self { command, date: date(given.unwrap_or_else(now)), digest: digest(file) }
    }
}

/// The day in UTC, so many seconds after 1970 began (Hinnant's algorithm for the Gregorian calendar).
fn date(seconds: u64) -> String {
    let days = seconds / 86_400 + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    // Years begin in March here, so that the leap day is their last.
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, later) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    format!("{:04}-{month:02}-{day:02}", 400 * era + year + later)
}

/// SHA-256 of a regular file that can be read; `-` is stdin, whatever file has that name.
fn digest(path: &Path) -> Option<String> {
    if path.as_os_str() == "-" {
        return None;
    }
    // Asked before it is opened: to open a pipe is to wait for its writer, who is gone.
    std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?;
    let mut file = File::open(path).ok()?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer).ok()? {
            0 => return Some(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()),
            read => hash.update(&buffer[..read]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_the_calendar() {
        for (seconds, day) in [
            (0, "1970-01-01"),
            (951_782_399, "2000-02-28"),
            (951_782_400, "2000-02-29"),
            (951_868_800, "2000-03-01"),
            (1_735_689_599, "2024-12-31"),
            (1_735_689_600, "2025-01-01"),
            (4_107_542_400, "2100-03-01"),
        ] {
            assert_eq!(date(seconds), day);
        }
    }

    #[test]
    fn the_digest_is_that_of_the_bytes() -> std::io::Result<()> {
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("abc");
        std::fs::write(&file, "abc")?;
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(digest(&file).as_deref(), Some(abc));
        assert_eq!(digest(folder.path()), None);
        Ok(())
    }
}
