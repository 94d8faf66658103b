//! Counts in words, for notes and tables.

/// A whole number in groups of three.
///
/// ```
/// assert_eq!(fewest_study::text::count(10_304), "10,304");
/// ```
pub fn count(value: usize) -> String {
    let digits = value.to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// A count with its noun.
///
/// ```
/// use fewest_study::text::counted;
/// assert_eq!(counted(1, "sample", "samples"), "1 sample");
/// assert_eq!(counted(10_304, "sample", "samples"), "10,304 samples");
/// ```
pub fn counted(value: usize, one: &str, many: &str) -> String {
    format!("{} {}", count(value), if value == 1 { one } else { many })
}

/// What was done where samples with missing values were left out, so many; `None` for none.
pub fn left_out(n: usize) -> Option<String> {
    (n > 0).then(|| format!("{} with missing values left out", counted(n, "sample", "samples")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_grouped() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(10_304), "10,304");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(counted(1, "sample", "samples"), "1 sample");
    }
}
