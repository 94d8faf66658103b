//! Numbers of bytes as users write and read them.

/// A number of bytes in words: `1.5 GiB`.
pub fn bytes_text(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let mut amount = bytes as f64 / 1024.0;
    let mut unit = 0;
    while amount >= 1024.0 && unit + 1 < UNITS.len() {
        amount /= 1024.0;
        unit += 1;
    }
    format!("{amount:.1} {}", UNITS[unit])
}

/// The smallest size, in bytes.
const LEAST: f64 = 1_048_576.0;

/// The number of bytes of a size with a unit: `2GiB`, `500M`, …; K, M, G and T are powers of 1000, KiB, MiB,
/// GiB and TiB of 1024. At least 1 MiB.
///
/// # Errors
/// What to give instead.
///
/// ```
/// assert_eq!(fewest_data::bytes_of("1.5GiB"), Ok(3 << 29));
/// assert!(fewest_data::bytes_of("67").is_err());
/// ```
pub fn bytes_of(text: &str) -> Result<u64, String> {
    const UNITS: [(&str, f64); 17] = [
        ("kib", 1024.0),
        ("mib", 1_048_576.0),
        ("gib", 1_073_741_824.0),
        ("tib", 1_099_511_627_776.0),
        ("kb", 1e3),
        ("mb", 1e6),
        ("gb", 1e9),
        ("tb", 1e12),
        ("ki", 1024.0),
        ("mi", 1_048_576.0),
        ("gi", 1_073_741_824.0),
        ("ti", 1_099_511_627_776.0),
        ("k", 1e3),
        ("m", 1e6),
        ("g", 1e9),
        ("t", 1e12),
        ("b", 1.0),
    ];
    let lower = text.trim().to_lowercase();
    let found = UNITS.iter().find_map(|(unit, size)| Some((lower.strip_suffix(unit)?, *size)));
    let (number, size) = found.unwrap_or((&lower, 1.0));
    let amount = number.trim().parse().ok().filter(|amount: &f64| amount.is_finite() && *amount > 0.0);
    match amount.map(|amount| amount * size) {
        // No table is read with so little: who gives a number alone means another unit.
        Some(bytes) if bytes < LEAST && found.is_none() => {
            Err(format!("that is in bytes, and less than 1MiB: did you mean {}MiB?", number.trim()))
        }
        Some(bytes) if bytes < LEAST => Err("give at least 1MiB".to_owned()),
        Some(bytes) if (1.0..9e18).contains(&bytes) => Ok(bytes as u64),
        _ => Err("give a size such as 2GiB, 500MiB or 4G".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units_of_both_kinds() {
        for (text, expected) in [
            ("2GiB", 2 << 30),
            ("1.5 GiB", 3 << 29),
            ("500M", 500_000_000),
            ("500mb", 500_000_000),
            ("6400Ki", 6_553_600),
            ("1T", 1_000_000_000_000),
            ("67108864", 67_108_864),
            ("67108864B", 67_108_864),
        ] {
            assert_eq!(bytes_of(text), Ok(expected), "{text}");
        }
        for text in ["", "GiB", "-1G", "0", "inf", "nanG", "1e30", "2 GiB of it", "two"] {
            assert!(bytes_of(text).is_err(), "{text}");
        }
        assert_eq!(bytes_of("67").unwrap_err(), "that is in bytes, and less than 1MiB: did you mean 67MiB?");
        assert_eq!(bytes_of("1000KiB").unwrap_err(), "give at least 1MiB");
    }
}
