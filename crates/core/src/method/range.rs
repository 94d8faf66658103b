//! The values that a parameter may have.

use std::fmt;

/// The values a [`Parameter`](super::Parameter) may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Range {
    /// A number.
    Real,
    /// A number above 0.
    Positive,
    /// A number of at least 0.
    NonNegative,
    /// A number of at least 0 and below 1.
    BelowOne,
    /// A number above 0 and at most 1.
    Fraction,
    /// A number above 0 and below 1.
    ProperFraction,
    /// A number above 0 and below this.
    PositiveBelow(usize),
    /// A number from 0 to 1.
    Share,
    /// A number from 0 to 1, or one of these words.
    ShareOr(&'static [&'static str]),
    /// A whole number of at least this.
    Count(usize),
    /// A whole number from the first to the second of these.
    Between(usize, usize),
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// A number above 0, or one of these words.
    PositiveOr(&'static [&'static str]),
    /// Feature indices counted from 0, separated by commas.
    Features,
}

/// A parameter's value.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Value {
    /// A number.
    Real(f64),
    /// A whole number.
    Count(usize),
    /// A word of a list.
    Word(&'static str),
    /// Feature indices, from 0.
    Features(Vec<usize>),
}

/// The text for a [`Range`], for messages and for the documentation of fields.
#[doc(hidden)]
#[macro_export]
macro_rules! __range_words {
    (Real) => {
        "a number"
    };
    (Positive) => {
        "a number above 0"
    };
    (NonNegative) => {
        "a number of at least 0"
    };
    (BelowOne) => {
        "a number of at least 0 and below 1"
    };
    (Fraction) => {
        "a number above 0 and at most 1"
    };
    (ProperFraction) => {
        "a number above 0 and below 1"
    };
    (PositiveBelow) => {
        "a number above 0 and below "
    };
    (Share) => {
        "a number from 0 to 1"
    };
    (Count) => {
        "a whole number of at least "
    };
    (Between) => {
        "a whole number from "
    };
    (Features) => {
        "feature indices counted from 0, separated by commas"
    };
}

impl Range {
    /// The value written as `text`, or nothing if it is outside the range. The case of words is ignored.
    pub(crate) fn parse(self, text: &str) -> Option<Value> {
        let value = match self {
            Range::Count(_) | Range::Between(..) => Value::Count(text.parse().ok()?),
            Range::Features => {
                let indices: Result<Vec<usize>, _> =
                    text.split(',').map(|index| index.trim().parse()).collect();
                Value::Features(indices.ok()?)
            }
            other => {
                let words = other.words();
                match words.iter().find(|word| word.eq_ignore_ascii_case(text)) {
                    Some(word) => Value::Word(word),
                    None => Value::Real(text.parse().ok()?),
                }
            }
        };
        self.contains(&value).then_some(value)
    }

    /// Whether `value` is in the range.
    ///
    /// ```
    /// use fewest_core::method::{Range, Value};
    /// assert!(Range::PositiveOr(&["median"]).contains(&Value::Word("median")));
    /// assert!(!Range::Positive.contains(&Value::Real(f64::NAN)));
    /// ```
    pub fn contains(self, value: &Value) -> bool {
        match (self, value) {
            (Range::Count(least), Value::Count(value)) => *value >= least,
            (Range::Between(least, most), Value::Count(value)) => (least..=most).contains(value),
            (Range::Features, Value::Features(_)) => true,
            (range, Value::Word(word)) => range.words().contains(word),
            (range, Value::Real(value)) => value.is_finite() && range.contains_number(*value),
            _ => false,
        }
    }

    fn contains_number(self, value: f64) -> bool {
        match self {
            Range::Real => true,
            Range::Positive | Range::PositiveOr(_) => value > 0.0,
            Range::NonNegative => value >= 0.0,
            Range::BelowOne => (0.0..1.0).contains(&value),
            Range::Fraction => value > 0.0 && value <= 1.0,
            Range::ProperFraction => value > 0.0 && value < 1.0,
            Range::PositiveBelow(most) => value > 0.0 && value < most as f64,
            Range::Share | Range::ShareOr(_) => (0.0..=1.0).contains(&value),
            Range::Count(_) | Range::Between(..) | Range::OneOf(_) | Range::Features => false,
        }
    }

    /// The words in it.
    pub fn words(self) -> &'static [&'static str] {
        match self {
            Range::OneOf(words) | Range::PositiveOr(words) | Range::ShareOr(words) => words,
            _ => &[],
        }
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Range::Real => f.write_str(__range_words!(Real)),
            Range::Positive => f.write_str(__range_words!(Positive)),
            Range::NonNegative => f.write_str(__range_words!(NonNegative)),
            Range::BelowOne => f.write_str(__range_words!(BelowOne)),
            Range::Fraction => f.write_str(__range_words!(Fraction)),
            Range::ProperFraction => f.write_str(__range_words!(ProperFraction)),
            Range::PositiveBelow(most) => write!(f, "{}{most}", __range_words!(PositiveBelow)),
            Range::Count(least) => write!(f, "{}{least}", __range_words!(Count)),
            Range::Between(least, most) => write!(f, "{}{least} to {most}", __range_words!(Between)),
            Range::OneOf(words) => f.write_str(&words.join("|")),
            Range::PositiveOr(words) => {
                write!(f, "{}, {}", __range_words!(Positive), alternatives(words))
            }
            Range::Share => f.write_str(__range_words!(Share)),
            Range::ShareOr(words) => write!(f, "{}, {}", __range_words!(Share), alternatives(words)),
            Range::Features => f.write_str(__range_words!(Features)),
        }
    }
}

/// `or median`, `median or dimension`.
fn alternatives(words: &[&str]) -> String {
    match words {
        [others @ .., last] if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        words => format!("or {}", words.concat()),
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Real(value) if *value != 0.0 && !(1e-4..1e7).contains(&value.abs()) => {
                write!(f, "{value:e}")
            }
            Value::Real(value) => write!(f, "{value}"),
            Value::Count(value) => write!(f, "{value}"),
            Value::Word(word) => f.write_str(word),
            Value::Features(indices) => {
                let indices: Vec<String> = indices.iter().map(usize::to_string).collect();
                f.write_str(&indices.join(","))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_or_words_read_as_a_list() {
        assert_eq!(Range::PositiveOr(&["median"]).to_string(), "a number above 0, or median");
        let two = Range::PositiveOr(&["median", "dimension"]);
        assert_eq!(two.to_string(), "a number above 0, median or dimension");
    }

    #[test]
    fn a_range_holds_what_it_says() {
        let inside = [
            (Range::Real, "-3"),
            (Range::Positive, "1e-300"),
            (Range::NonNegative, "0"),
            (Range::BelowOne, "0"),
            (Range::Fraction, "1"),
            (Range::ProperFraction, "0.5"),
            (Range::PositiveBelow(2), "1.9"),
            (Range::Share, "0"),
            (Range::ShareOr(&["auto"]), "AUTO"),
            (Range::ShareOr(&["auto"]), "1"),
            (Range::Count(2), "2"),
            (Range::Between(2, 4), "4"),
            (Range::OneOf(&["1", "2"]), "2"),
            (Range::PositiveOr(&["median"]), "3"),
            (Range::Features, "3, 1"),
        ];
        for (range, text) in inside {
            assert!(range.parse(text).is_some_and(|value| range.contains(&value)), "{range}: {text}");
        }
        let outside = [
            (Range::Real, "inf"),
            (Range::Positive, "0"),
            (Range::NonNegative, "-1"),
            (Range::BelowOne, "1"),
            (Range::Fraction, "0"),
            (Range::ProperFraction, "1"),
            (Range::PositiveBelow(2), "0"),
            (Range::PositiveBelow(2), "2"),
            (Range::Share, "1.5"),
            (Range::Share, ""),
            (Range::ShareOr(&["auto"]), "1.5"),
            (Range::Count(2), "1"),
            (Range::Count(2), "2.5"),
            (Range::Between(2, 4), "5"),
            (Range::OneOf(&["1", "2"]), "3"),
            (Range::PositiveOr(&["median"]), "mean"),
            (Range::Features, "x"),
            (Range::Positive, "nan"),
            (Range::Positive, ""),
        ];
        for (range, text) in outside {
            assert_eq!(range.parse(text), None, "{range}: {text}");
        }
    }

    #[test]
    fn numbers_are_written_as_they_are_read() {
        for (value, text) in [(1e-9, "1e-9"), (1e7, "1e7"), (0.001, "0.001"), (5.0, "5"), (0.0, "0")] {
            assert_eq!(Value::Real(value).to_string(), text);
            assert_eq!(Range::Real.parse(text), Some(Value::Real(value)));
        }
    }
}
