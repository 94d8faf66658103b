//! Where a report comes from: the command and its day.

use std::time::{SystemTime, UNIX_EPOCH};

/// Variable with the time that outputs are dated by, in seconds since 1970, for builds that must not differ.
const EPOCH: &str = "SOURCE_DATE_EPOCH";

/// What a report tells of the command that made it.
#[derive(Debug, Clone)]
pub struct Origin {
    /// The command line.
    pub command: String,
    /// The day, in UTC: `2026-11-22`.
    pub date: String,
}

impl Origin {
    /// Of a command that runs now, or at the time that `SOURCE_DATE_EPOCH` gives.
    pub fn new(command: impl Into<String>) -> Self {
        let given = std::env::var(EPOCH).ok().and_then(|seconds| seconds.trim().parse().ok());
        let now = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        Self { command: command.into(), date: date(given.unwrap_or_else(now)) }
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
}
