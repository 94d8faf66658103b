//! What columns hold.

/// What a column holds for a table. Files of one table agree in this, not in how wide their numbers are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Missing cells only, which fit any other kind.
    Nothing,
    Number,
    /// Days since 1970-01-01.
    Date,
    /// Seconds since 1970-01-01.
    Moment,
    /// Seconds since midnight.
    TimeOfDay,
    /// Seconds.
    Duration,
    /// The categories `false` and `true`.
    Truth,
    Category,
}

impl Kind {
    /// In words, for a message.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Kind::Nothing => "missing cells only",
            Kind::Number => "numbers",
            Kind::Date => "dates",
            Kind::Moment => "moments of time",
            Kind::TimeOfDay => "times of day",
            Kind::Duration => "durations",
            Kind::Truth => "truth values",
            Kind::Category => "text",
        }
    }

    /// Whether columns of both kinds are one column of a table.
    pub(crate) fn fits(self, other: Self) -> bool {
        self == other || self == Kind::Nothing || other == Kind::Nothing
    }

    /// The kind of a column of both.
    pub(crate) fn with(self, other: Self) -> Self {
        if self == Kind::Nothing { other } else { self }
    }
}

/// Digits up to here, and powers of ten up to this one, are exact, so that one division is rounded once.
const EXACT: u128 = 1 << 53;
const EXACT_POWER: u32 = 22;

/// A whole number times a power of ten, as the nearest number: as if it were read from text.
pub(crate) fn decimal(digits: i128, scale: i32) -> f64 {
    if digits.unsigned_abs() > EXACT || scale.unsigned_abs() > EXACT_POWER {
        return format!("{digits}e{}", -i64::from(scale)).parse().unwrap_or(f64::NAN);
    }
    let power = (0..scale.unsigned_abs()).fold(1.0, |power, _| power * 10.0);
    if scale < 0 { digits as f64 * power } else { digits as f64 / power }
}

/// A count of parts, so many of which are one, such as nanoseconds as seconds.
pub(crate) fn divided(count: i64, by: f64) -> f64 {
    if u128::from(count.unsigned_abs()) <= EXACT {
        return count as f64 / by;
    }
    // Rounded before the division, it would be some hundred nanoseconds off.
    let parts = by as i64;
    count.div_euclid(parts) as f64 + count.rem_euclid(parts) as f64 / by
}

/// A whole number in bytes, the highest first, negative where its first bit says so; `None` for one that 16
/// bytes do not hold.
pub(crate) fn whole(bytes: &[u8]) -> Option<i128> {
    let sign = if bytes.first().is_some_and(|byte| byte & 0x80 != 0) { -1 } else { 0 };
    let (above, low) = bytes.split_at(bytes.len().saturating_sub(16));
    let number = low.iter().fold(sign, |number: i128, byte| number << 8 | i128::from(*byte));
    (above.iter().all(|byte| *byte == sign as u8) && (number < 0) == (sign < 0)).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_the_numbers_of_their_text() {
        let digits = [0, 1, -1, 7, 12_345, -99_999, 1 << 53, (1 << 53) + 1, -(1 << 60), i128::MAX, i128::MIN];
        for digits in digits {
            for scale in [-40, -22, -3, 0, 1, 2, 9, 22, 23, 38, 76] {
                let text = format!("{digits}e{}", -scale);
                assert_eq!(
                    decimal(digits, scale).to_bits(),
                    text.parse::<f64>().unwrap().to_bits(),
                    "{text}"
                );
            }
        }
    }

    #[test]
    fn nanoseconds_are_not_rounded_before_they_are_seconds() {
        assert_eq!(divided(1_709_209_815_250_000_000, 1e9), 1_709_209_815.25);
        assert_eq!(divided(-1_709_209_815_250_000_000, 1e9), -1_709_209_815.25);
        assert_eq!(divided(-1500, 1e3), -1.5);
        assert_eq!([divided(i64::MIN, 1.0), divided(i64::MAX, 1.0)], [i64::MIN as f64, i64::MAX as f64]);
    }

    #[test]
    fn whole_numbers_keep_their_sign_in_any_width() {
        assert_eq!(whole(&[]), Some(0));
        assert_eq!([whole(&[0x7F]), whole(&[0x80]), whole(&[0xFF, 0xFE])], [Some(127), Some(-128), Some(-2)]);
        assert_eq!(whole(&i128::MIN.to_be_bytes()), Some(i128::MIN));
        let wide = |number: i128, above: u8| whole(&[&[above; 16][..], &number.to_be_bytes()].concat());
        assert_eq!([wide(-5, 0xFF), wide(7, 0)], [Some(-5), Some(7)]);
        assert_eq!([wide(-5, 0), wide(7, 0xFF), wide(7, 1)], [None; 3]);
    }
}
