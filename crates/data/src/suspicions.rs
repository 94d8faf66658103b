//! Columns that are valid, but possibly not what the user intended.

use std::path::Path;

use crate::error::{ColumnLabel, RowLabel, quoted};
use crate::{Error, Place};

/// Smallest number of samples for which a separate level for each sample is suspicious.
pub(crate) const FEW_SAMPLES: usize = 10;

/// The probable intended type of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meant {
    Number,
    Percentage,
    Date,
}

/// The suspicion about a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Suspicion {
    /// Its numbers have decimal commas.
    DecimalComma,
    /// It is text, but most of its cells look like something else.
    Text(Meant),
    /// It has nearly as many levels as there are samples.
    Names,
}

impl Meant {
    fn of(text: &str) -> Option<Self> {
        if let Some(number) = text.strip_suffix('%') {
            let number = number.trim_end();
            return (number.parse::<f64>().is_ok() || is_number_with_marks(number))
                .then_some(Self::Percentage);
        }
        if is_number_with_marks(text) {
            return Some(Self::Number);
        }
        is_date(text).then_some(Self::Date)
    }

    fn name(self) -> &'static str {
        match self {
            Self::Number => "a number with commas or other marks",
            Self::Percentage => "a percentage",
            Self::Date => "a date",
        }
    }

    fn advice(self) -> &'static str {
        match self {
            Self::Number => "write numbers with a decimal point, nothing between thousands and no currency",
            Self::Percentage => "write it as a number, without the sign",
            Self::Date => "write it as a number, such as days or years",
        }
    }
}

/// Digits with commas, apostrophes or no-break spaces between them: `307,0`, `1,234.5`, `1'000`.
fn is_number_with_marks(text: &str) -> bool {
    const MARKS: [char; 4] = [',', '\'', '\u{a0}', '\u{202f}'];
    const CURRENCIES: [char; 5] = ['$', '€', '£', '¥', '₹'];
    let amount = text.trim_start_matches(CURRENCIES).trim_end_matches(CURRENCIES).trim();
    if amount.len() < text.len() && amount.parse::<f64>().is_ok() {
        return true;
    }
    let digits = amount.strip_prefix(['+', '-']).unwrap_or(amount);
    digits.contains(MARKS)
        && digits.starts_with(|c: char| c.is_ascii_digit() || c == ',')
        && digits.ends_with(|c: char| c.is_ascii_digit())
        && digits.chars().all(|c| c.is_ascii_digit() || c == '.' || MARKS.contains(&c))
}

/// Day, month and year in some order, with or without a time: `2021-03-04`, `4.3.2021 10:15`.
fn is_date(text: &str) -> bool {
    let date = text.split(['T', ' ']).next().unwrap_or(text);
    ['-', '/', '.'].into_iter().any(|mark| {
        let parts: Vec<&str> = date.split(mark).collect();
        let digits = |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
        parts.iter().all(digits) && matches!(lengths[..], [1 | 2, 1 | 2, 2 | 4] | [4, 1 | 2, 1 | 2])
    })
}

/// A level of a column of text: in how many samples it occurs, and the number of the first of them.
pub(crate) struct Level<'a> {
    pub name: &'a str,
    pub count: usize,
    pub first: usize,
}

/// The levels `names` that occur among `codes`, NaN where missing.
pub(crate) fn levels<'a>(codes: &[f64], names: &'a [String]) -> Vec<Level<'a>> {
    let mut levels: Vec<Level<'a>> = names.iter().map(|name| Level { name, count: 0, first: 0 }).collect();
    for (i, code) in codes.iter().enumerate().filter(|(_, code)| !code.is_nan()) {
        let level = &mut levels[*code as usize];
        if level.count == 0 {
            level.first = i;
        }
        level.count += 1;
    }
    levels.retain(|level| level.count > 0);
    levels
}

/// What most of the cells look like, and the level of the first such cell.
fn meant<'a, 'b>(levels: &'b [Level<'a>]) -> Option<(Meant, &'b Level<'a>)> {
    let meant = || levels.iter().filter_map(|level| Some((Meant::of(level.name)?, level)));
    let first = meant().min_by_key(|(_, level)| level.first)?;
    let n_present: usize = levels.iter().map(|level| level.count).sum();
    let n_meant: usize = meant().map(|(_, level)| level.count).sum();
    Some(first).filter(|_| 2 * n_meant > n_present)
}

/// An error for a target of text most of whose cells look like numbers, percentages or dates.
pub(crate) fn check_target(
    path: &Path,
    column: &ColumnLabel,
    levels: &[Level<'_>],
    row: impl Fn(&Level<'_>) -> RowLabel,
) -> Result<(), Error> {
    let Some((meant, first)) = meant(levels) else { return Ok(()) };
    Err(Error::malformed(
        path,
        Place::Cell { row: row(first), column: column.clone() },
        format!("{} looks like {}, but is text in the target", quoted(first.name), meant.name()),
        format!("{}, or say that it is a class (on the command line: --task classification)", meant.advice()),
    ))
}

/// Suspicious columns: one note for each kind of suspicion.
#[derive(Debug, Default)]
pub(crate) struct Suspicions {
    /// The suspicion, the first column in words, and how many columns there are.
    entries: Vec<(Suspicion, String, usize)>,
}

impl Suspicions {
    fn add(&mut self, suspicion: Suspicion, first: impl FnOnce() -> String) {
        match self.entries.iter_mut().find(|(known, ..)| *known == suspicion) {
            Some((.., count)) => *count += 1,
            None => self.entries.push((suspicion, first(), 1)),
        }
    }

    /// Notes a column of numbers in which the cell `text` has a decimal comma.
    pub(crate) fn decimal_comma(&mut self, text: &str, row: RowLabel, column: ColumnLabel) {
        self.add(Suspicion::DecimalComma, || format!("{}{}", Place::Cell { row, column }, quoted(text)));
    }

    /// Checks a column of text that was not declared as a category.
    pub(crate) fn text(
        &mut self,
        levels: &[Level<'_>],
        column: ColumnLabel,
        row: impl Fn(&Level<'_>) -> RowLabel,
    ) {
        match meant(levels) {
            Some((meant, first)) => self.add(Suspicion::Text(meant), || {
                format!("{}{}", Place::Cell { row: row(first), column }, quoted(first.name))
            }),
            None => self.categories(levels, column),
        }
    }

    /// Checks a column of categories. If most levels cannot occur twice, it identifies samples, not groups
    /// of them.
    pub(crate) fn categories(&mut self, levels: &[Level<'_>], column: ColumnLabel) {
        let n_present: usize = levels.iter().map(|level| level.count).sum();
        if n_present >= FEW_SAMPLES && 2 * levels.len() > n_present {
            self.add(Suspicion::Names, || {
                format!("{column} has {} levels in {n_present} samples", levels.len())
            });
        }
    }

    /// A line for each kind of suspicion.
    pub(crate) fn into_notes(self) -> Vec<String> {
        self.entries.into_iter().map(|(suspicion, first, count)| note(suspicion, &first, count - 1)).collect()
    }
}

fn note(suspicion: Suspicion, first: &str, n_more: usize) -> String {
    let more = match n_more {
        0 => String::new(),
        1 => " (the same in 1 more column)".to_owned(),
        _ => format!(" (the same in {n_more} more columns)"),
    };
    match suspicion {
        Suspicion::DecimalComma => format!(
            "{first} counts as a number with a decimal comma{more}: if these are categories, say so (on the command \
             line: --categorical)"
        ),
        Suspicion::Text(meant) => format!(
            "{first} looks like {}, but counts as a category{more}: {}, or say that these are categories (on the command \
             line: --categorical)",
            meant.name(),
            meant.advice()
        ),
        Suspicion::Names => format!(
            "{first}, so that most levels occur once{more}: if these are the samples' names, say so, or leave the column out; \
             if they are the names of features (genes), transpose the table (on the command line: --id-column, --ignore, \
             --transpose)"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_intended_type_of_text_is_recognised() {
        for text in
            ["307,0", ",5", "-1,234.5", "1'000", "1.234,5", "1\u{a0}000", "$12", "€ 1,234", "12.5 €", "$-3"]
        {
            assert_eq!(Meant::of(text), Some(Meant::Number), "{text}");
        }
        for text in ["12%", "12.5 %", "1,5%"] {
            assert_eq!(Meant::of(text), Some(Meant::Percentage), "{text}");
        }
        for text in ["2021-03-04", "4.3.2021", "03/04/21", "2021-03-04T10:15:00", "4.3.2021 10:15"] {
            assert_eq!(Meant::of(text), Some(Meant::Date), "{text}");
        }
        for text in [
            "red",
            "$",
            "US$ a",
            "10-19",
            "a,b",
            "1,",
            ",",
            "%",
            "-",
            "",
            "1.2",
            "0/1",
            "192.168.1.17",
            "O'Neill",
        ] {
            assert_eq!(Meant::of(text), None, "{text}");
        }
    }
}
